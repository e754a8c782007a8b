"""Check that the libraries that torch opens at run time exist, and that each is from the environment or the system."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib
import os
import typing as t

from ..._shared.module_utils._elf import providers
from ..._shared.module_utils._wheel import installed as packages
from ...check import X86, X86_LAST, Context, Failed, Measured, Skipped, check
from . import origins
from .identity import LIST_LIMIT, MODULES, NO_LIBRARY, Facts, import_error, is_installed, provide, receipt_of, reinstall


@check("closure.runtime", family="identity", devices=("none",), numeric=False, seconds=120, measured=(X86,))
def runtime(context: Context) -> Measured:
    """Check that libraries that torch and its libraries open by name at run time exist, and NVRTC finds its built-ins.

    No library lists cuDNN's engines, torch's linear algebra, NVRTC or nvJitLink as needed, so a program starts without
    them.
    """
    torch = importlib.import_module("torch")
    if not torch.version.cuda:
        raise Skipped("torch is a CPU build, which opens no CUDA libraries.")
    directory = os.path.join(os.path.dirname(str(torch.__file__)), "lib")
    opened, problems = open_all(origins.openings(origins.mapped(), directory, str(torch.version.cuda)))
    is_required = bool(context.reference.get("gpu_required"))
    driver_problems = [problem for problem in problems if problem.is_driver and not is_required]
    problems = [problem for problem in problems if problem not in driver_problems]
    left_out = [problem.opening.soname for problem in problems if problem.opening.is_optional]
    problems = [problem for problem in problems if not problem.opening.is_optional]
    bound = "each opens"
    measured = f"{len(opened)} opened: {', '.join(opened)}"
    measured += f"; not from this release: {', '.join(left_out)}" if left_out else ""
    if problems:
        raise Failed(
            " ".join(problem.cause for problem in problems),
            problems[0].remedy(context.reference.get("cuda_version")),
            f"{len(problems)} do not open, {len(opened)} open",
            bound,
        )
    mixed = origins.mixed(origins.mapped())
    if mixed:
        raise Failed(
            f"{mixed[0].name}, a part of cuDNN, comes from {os.path.dirname(mixed[0].path)}, but libcudnn from "
            f"elsewhere: cuDNN refuses to mix parts of two releases.",
            "Lock a cuDNN wheel that has all parts (wheel.override of the stack), or remove the host's cuDNN packages "
            "if nothing else needs them.",
            measured,
            "all parts of cuDNN from one directory",
        )
    compiled = nvrtc_error(f"libnvrtc.so.{str(torch.version.cuda).partition('.')[0]}")
    if compiled:
        raise Failed(
            f"NVRTC cannot compile a kernel: {compiled}.",
            "Install libnvrtc-builtins of the same version as libnvrtc: run playbooks/libraries.yml, or "
            "playbooks/deploy.yml if the environment includes it.",
            measured,
            bound,
        )
    if driver_problems:
        measured += f"; {len(driver_problems)} only with the driver"
    return Measured(measured, bound)


@dataclasses.dataclass(frozen=True)
class Unopened:
    """A library that cannot be opened by its name.

    :ivar missing: the soname that the loader does not find, which may be that of another library.
    """

    opening: origins.Opening
    error: str
    missing: str

    @property
    def is_driver(self) -> bool:
        return providers.is_driver(self.missing)

    @property
    def cause(self) -> str:
        opener = os.path.basename(self.opening.opener.path)
        return f"{self.opening.soname}, which {opener} opens by name, does not open: {self.error.rstrip('.')}."

    def remedy(self, cuda_version: str | None) -> str:
        # An official torch finds CUDA's libraries in NVIDIA's wheels; one that was built here finds them on the host.
        from_wheels = any(name.startswith("nvidia-") for name in packages.distributions())
        return reinstall() if from_wheels and not self.is_driver else provide(self.missing, cuda_version)


def open_all(openings: t.Sequence[origins.Opening]) -> tuple[list[str], list[Unopened]]:
    """Open each library; return the names of those that could be opened, and the others."""
    opened: list[str] = []
    problems: list[Unopened] = []
    for opening in openings:
        error = origins.open_named(opening)
        if error is None:
            opened.append(opening.soname)
        else:
            library = NO_LIBRARY.search(error)
            problems.append(Unopened(opening, error, library[1] if library else opening.soname))
    return opened, problems


def nvrtc_error(soname: str) -> str | None:
    """Compile an empty kernel, for which no GPU is needed; return NVRTC's error, if any."""
    library = ctypes.CDLL(soname)
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()
    status = library.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void nothing() {}", b"a.cu", 0, None, None)
    if status == 0:
        status = library.nvrtcCompileProgram(program, 0, None)
        library.nvrtcDestroyProgram(ctypes.byref(program))
    return None if status == 0 else library.nvrtcGetErrorString(status).decode(errors="replace")


@check("closure.origins", family="identity", devices=("none",), numeric=False, seconds=180, measured=(X86_LAST,))
def origin(context: Context) -> Measured:
    """Check that every library loaded with torch or opened by name is from the environment, the stack or the system.

    A stray copy that comes first on the loader's path would raise no error, but have the bugs of its version.
    """
    torch = importlib.import_module("torch")
    for module in MODULES:
        if is_installed(module):
            import_error(module)
    if torch.version.cuda:
        directory = os.path.join(os.path.dirname(str(torch.__file__)), "lib")
        open_all(origins.openings(origins.mapped(), directory, str(torch.version.cuda)))
    unopened = unopened_of_the_stack(context.reference)
    libraries = origins.mapped()
    allowed = origins.allowed_paths({**context.reference, "receipt": receipt_of(context.reference)}, torch.version.cuda)
    strays = origins.strays(libraries, allowed)
    bound = "the environment, the stack's directories, the system's packages"
    if unopened:
        causes = " ".join(cause for cause, _remedy in unopened[:LIST_LIMIT])
        raise Failed(causes, unopened[0][1], f"{len(unopened)} of the stack's libraries do not open", bound)
    if strays:
        raise Failed(
            " ".join(stray.cause for stray in strays[:LIST_LIMIT]),
            strays[0].remedy,
            f"{len({stray.path for stray in strays})} of {len(libraries)} from elsewhere",
            bound,
        )
    return Measured(f"{len(libraries)} libraries, none from elsewhere", bound)


def unopened_of_the_stack(reference: Facts) -> list[tuple[str, str]]:
    """Open the stack's libraries; return the cause and remedy for each one that cannot be opened."""
    problems = []
    for soname in map(str, reference.get("sonames") or []):
        try:
            # Lazy binding would hide a missing symbol.
            ctypes.CDLL(soname, mode=os.RTLD_NOW)
        except OSError as error:
            library = NO_LIBRARY.search(str(error))
            missing = library[1] if library else soname
            # A host without a GPU does not need the driver.
            if reference.get("gpu_required") or not providers.is_driver(missing):
                cause = f"dlopen cannot open {soname}: {str(error).rstrip('.')}."
                problems.append((cause, provide(missing, reference.get("cuda_version"))))
    return problems
