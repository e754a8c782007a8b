"""Check that torch and its companions can be imported, and that their versions and builds match the stack."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import importlib
import importlib.util
import os
import platform
import re
import sys
import typing as t

from ..._shared.module_utils._core.versions import public
from ..._shared.module_utils._elf import providers
from ..._shared.module_utils._wheel import installed as packages
from ..._shared.module_utils._wheel.names import normalised
from ...check import ABSENT, X86, X86_LAST, Context, Failed, Measured, Unanswered, check, cpu_build

Facts = t.Mapping[str, t.Any]

#: The possible names for each module's distribution.
MODULES: dict[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "triton": ("triton", "pytorch-triton"),
    "torchvision": ("torchvision",),
    "torchaudio": ("torchaudio",),
    "flash_attn": ("flash-attn",),
}
#: The distributions of torch, its companions and CUDA's libraries.
STACK = re.compile(r"torch|torchvision|torchaudio|triton|pytorch-triton|flash-attn|nvidia-.*|cuda-.*")

#: The number of files or problems that a message lists.
LIST_LIMIT = 5

#: The messages of the loader and of Python about files that an import needs.
_OF_LOADER = re.compile(r"cannot open shared object file|undefined symbol|version .+ not found|No module named")
NO_LIBRARY = re.compile(r"(lib[\w+.-]+\.so[\w.]*): cannot open shared object file")


def software() -> dict[str, t.Any]:
    """Return the versions of the stack's packages for the report."""
    torch = importlib.import_module("torch")
    return {
        **{name: package.version for name, package in packages.distributions().items() if STACK.fullmatch(name)},
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "cuda": getattr(torch.version, "cuda", None),
    }


@check("identity.import", devices=("none",), numeric=False, seconds=300, measured=(X86_LAST,))
def imports(context: Context) -> Measured:
    """Check that torch and each companion that is installed or in the receipt can be imported with compiled code."""
    problems: list[tuple[str, str]] = []
    imported: list[str] = []
    recorded = {normalised(str(name)) for name in (receipt_of(context.reference) or {}).get("packages") or {}}
    for module, names in MODULES.items():
        if module != "torch" and not is_installed(module) and recorded.isdisjoint(names):
            continue
        error = import_error(module)
        if error:
            problems.append(explain(module, error))
        else:
            imported.append(f"{module} {getattr(sys.modules[module], '__version__', 'without a version')}")
    if problems:
        raise Failed(
            " ".join(cause for cause, _remedy in problems),
            problems[0][1],
            f"{len(problems)} fail, {len(imported)} import",
            "all installed modules import",
        )
    return Measured(", ".join(imported), "all installed modules import")


def is_installed(module: str) -> bool:
    """Tell whether a module can be found, without importing it; a mere directory with that name does not count."""
    try:
        spec = importlib.util.find_spec(module)
    except ValueError:
        # The module is already loaded and has no __spec__.
        return True
    return spec is not None and spec.origin is not None


def import_error(module: str) -> str | None:
    """Import a module and return the error, if any."""
    try:
        loaded = importlib.import_module(module)
        has_code = getattr(sys.modules.get(f"{module}.extension"), "_has_ops", None)
        if has_code is not None and not has_code():
            # torchvision can be imported even without its compiled code.
            return extension_error(os.path.dirname(str(loaded.__file__))) or "its compiled code was not loaded"
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        if not _OF_LOADER.search(message):
            # The module may have replaced the loader's message with its own.
            spec = importlib.util.find_spec(module)
            for directory in (spec.submodule_search_locations if spec else None) or []:
                message = extension_error(directory) or message
        return message
    return None


def extension_error(directory: str) -> str | None:
    """Return the loader's message about the first library in a package that it cannot load."""
    for path in sorted(glob.glob(os.path.join(directory, "*.so")) + glob.glob(os.path.join(directory, "lib", "*.so"))):
        try:
            ctypes.CDLL(path)
        except OSError as error:
            return str(error)
    return None


def explain(module: str, error: str) -> tuple[str, str]:
    """Return the cause of a failed import and its remedy, from the table of diagnoses if it has this error."""
    from ..._shared.module_utils._diagnosis import scan  # slow to import, and needed only for failures

    error = " ".join(error.split())[:400].rstrip(".")
    known, cause = scan.diagnose(f"{error}\n"), f"import {module} fails: {error}."
    return (f"{cause} {known.cause}", known.remedy) if known.rule else (cause, reinstall())


def provide(soname: str, cuda_version: str | None = None) -> str:
    """Return a sentence that explains how to provide a library."""
    return providers.provider(soname, platform.machine(), cuda_version).remedy


@check("identity.versions", devices=("none",), numeric=False, seconds=120, measured=(X86_LAST,))
def versions(context: Context) -> Measured:
    """Check that the versions match the stack and the receipt, meet each other's requirements, and share one CUDA."""
    installed = {name: package for name, package in packages.distributions().items() if STACK.fullmatch(name)}
    torch = importlib.import_module("torch")
    problems = [
        *version_problems(installed, context.reference),
        *shadowing_problems({"torch": str(torch.__version__)}, installed),
        *unsatisfied(installed, (receipt_of(context.reference) or {}).get("override") or ()),
    ]
    cuda = getattr(torch.version, "cuda", None)
    builds = {name: cuda_of(name) for name in ("torchvision", "torchaudio") if is_installed(name)}
    problems += cuda_problems(cuda, builds, bool(context.reference.get("gpu_required")))
    present = [name for names in MODULES.values() for name in names if name in installed]
    listed = ", ".join(f"{name} {installed[name].version}" for name in present)
    if problems:
        raise Failed(
            sentences(problems),
            f"{reinstall()} If it recurs, renew the stack's lock (playbooks/lock.yml), or correct its versions.",
            listed,
            "the stack's versions, without conflicts",
        )
    return Measured(listed, "the stack's versions, without conflicts")


def unsatisfied(installed: t.Mapping[str, packages.Distribution], override: t.Iterable[t.Any]) -> list[str]:
    """Return the distributions' unmet requirements, except those that the stack overrides."""
    names = [normalised(str(name)) for name in override]
    checked = {name: package for name, package in installed.items() if name not in names}
    return [problem for package in installed.values() for problem in packages.unsatisfied(package, checked)]


def distribution(module: str, installed: t.Mapping[str, packages.Distribution]) -> packages.Distribution | None:
    """Return the distribution that provides a module."""
    return next((installed[name] for name in MODULES.get(module, (normalised(module),)) if name in installed), None)


def version_problems(installed: t.Mapping[str, packages.Distribution], reference: Facts) -> list[str]:
    """Compare the installed versions with those in the stack and in the environment's receipt."""
    problems = []
    for module, expected in (reference.get("versions") or {}).items():
        package = distribution(str(module), installed)
        if package is None:
            if module == "torch":
                problems.append("torch is not installed")
        elif expected and public(package.version) != public(str(expected)):
            problems.append(f"{package.name} {package.version} is installed, but the stack says {expected}")
    for name, recorded in ((receipt_of(reference) or {}).get("packages") or {}).items():
        if not STACK.fullmatch(normalised(str(name))):
            continue
        package = installed.get(normalised(str(name)))
        if package is None or package.version != recorded:
            actual = f"{package.name} {package.version}" if package else f"no {name}"
            problems.append(f"{actual} is installed, but the environment's receipt says {name} {recorded}")
    return problems


def shadowing_problems(imported: t.Mapping[str, str], installed: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Compare each module's own version with the installed version: another copy may come first on the path."""
    problems = []
    for module, version in imported.items():
        package = distribution(module, installed)
        if package is None:
            problems.append(f"{module} {version} is imported, but no distribution of it is installed")
        elif public(package.version) != public(version):
            problems.append(f"{module} reports {version}, but {package.version} is installed")
    return problems


def cuda_of(module: str) -> str | None:
    """Return the CUDA version that a module was built with, ``cpu`` for a CPU build, or None if unknown."""
    with contextlib.suppress(Exception):
        torch = importlib.import_module("torch")
        importlib.import_module(module)
        if module == "torchvision":
            number = torch.ops.torchvision._cuda_version()
        else:
            number = torch.ops._torchaudio.cuda_version()
        # The number is 13020 for CUDA 13.2, and -1 or None for a CPU build.
        return f"{number // 1000}.{number % 1000 // 10}" if number and number > 0 else "cpu"
    return None


def cuda_problems(cuda: str | None, builds: t.Mapping[str, str | None], gpu_required: bool) -> list[str]:
    """Compare the major versions of CUDA, whose libraries are compatible within a major version."""
    problems = []
    for module, version in builds.items():
        if version is None:
            continue
        if version == "cpu":
            if cuda and gpu_required:
                problems.append(f"{module} is a CPU build, but torch is built with CUDA {cuda}")
        elif cuda is None:
            problems.append(f"{module} is built with CUDA {version}, but torch is a CPU build")
        elif version.partition(".")[0] != cuda.partition(".")[0]:
            problems.append(f"{module} is built with CUDA {version}, but torch with CUDA {cuda}")
    return problems


@check("identity.build", devices=("none",), numeric=False, measured=(X86,))
def build(context: Context) -> Measured:
    """Check that torch is a CUDA build if a GPU is required, according to its version and its compiled code."""
    torch = importlib.import_module("torch")
    cuda = getattr(torch.version, "cuda", None)
    required = bool(context.reference.get("gpu_required"))
    bound = "a CUDA build" if required else "any build, no GPU is required"
    compiled = bool(getattr(torch._C, "_has_cuda", cuda))
    if bool(cuda) != compiled:
        says, is_build = (f"CUDA {cuda}", "a CPU build") if cuda else ("no CUDA", "built with CUDA")
        raise Failed(
            f"torch {torch.__version__} reports {says}, but its compiled code is {is_build}: two builds are mixed.",
            reinstall(),
            f"{torch.__version__}, {says}",
            bound,
        )
    if required and not cuda:
        raise cpu_build(torch.__version__, bound)
    return Measured(f"{torch.__version__}, " + (f"CUDA {cuda}" if cuda else "CPU build"), bound)


@check("identity.onednn", devices=("none",), numeric=False, measured=(X86,))
def onednn(context: Context) -> Measured:
    """Check that torch has oneDNN, and on aarch64 Arm's Compute Library; without them it is slow on the CPU.

    CMake silently omits a library that it does not find. A library that the unit pytorch requested must be present. In
    any other torch, its absence is only a warning, because results are right without it.
    """
    torch = importlib.import_module("torch")
    has = {"oneDNN": bool(torch.backends.mkldnn.is_available())}
    if platform.machine() == "aarch64":
        # torch before about 2.8 does not report this.
        has["Arm's Compute Library"] = bool(getattr(torch._C, "_has_mkldnn_acl", has["oneDNN"]))
    unit = (context.reference.get("units") or {}).get("pytorch") or {}
    requested = (unit.get("inputs") or {}).get("environment") or {} if unit.get("installed") else {}
    warning = onednn_problem(has, requested, str(torch.__version__))
    version = re.search(r"MKL-DNN (v\S+)", torch.__config__.show())
    if warning is None:
        return Measured(" with ".join([f"oneDNN {version[1]}" if version else "oneDNN", *list(has)[1:]]), "oneDNN")
    return Measured(warning.measured, warning.bound, warning=warning)


def onednn_problem(has: t.Mapping[str, bool], requested: Facts, version: str) -> Unanswered | None:
    """Return the warning about missing parts of oneDNN; it blocks if the unit requested them.

    :param has: whether each library is present, by name.
    :param requested: the environment variables with which the unit pytorch was built, empty if no unit built torch.
    """
    missing = [name for name, is_present in has.items() if not is_present]
    if not missing:
        return None
    variable = "USE_MKLDNN" if not has["oneDNN"] else "USE_MKLDNN_ACL"
    is_requested = str(requested.get(variable, "")).upper() in ("1", "ON", "TRUE", "YES")
    cause = f"torch {version} is built without {' and '.join(missing)}"
    cause += f", although the unit pytorch requested it ({variable}={requested[variable]})" if is_requested else ""
    cause += ": convolutions and 16-bit products on the CPU are right but slow."
    return Unanswered(
        ABSENT,
        cause,
        "Use official wheels (stack_method: wheel), or rebuild the unit pytorch with USE_MKLDNN=1, on aarch64 with the "
        "directory of Arm's Compute Library in pytorch_compute_library.",
        f"no {missing[0]}",
        " with ".join(has),
        blocks=is_requested,
    )


def reinstall() -> str:
    """Return the command that reinstalls this environment; the play does not change a complete environment."""
    prefix = os.path.realpath(sys.prefix)
    is_environment = os.path.isfile(os.path.join(prefix, "pyvenv.cfg"))
    first = f"Remove {prefix} and run" if is_environment else "Run"
    return f"{first} playbooks/deploy.yml, which installs the environment from the locked wheels."


def sentences(problems: t.Sequence[str]) -> str:
    """Return the first problems as a sentence, with the number of the others."""
    text = "; ".join(problems[:LIST_LIMIT])
    remaining = len(problems) - LIST_LIMIT
    return f"{text[0].upper()}{text[1:]}" + (f"; and {remaining} more." if remaining > 0 else ".")


def receipt_of(reference: Facts, prefix: str | None = None) -> Facts | None:
    """Return the environment's receipt, or None if there is none or it belongs to another interpreter."""
    receipt: Facts | None = reference.get("receipt")
    if not receipt:
        return None
    environments = os.path.join(str(reference.get("root") or "/opt/sparkforge"), "envs")
    environment_id = str(reference.get("environment_id") or "current")
    current = os.path.join(environments, str(reference.get("environment") or "torch"), environment_id)
    path = str((receipt.get("paths") or {}).get("environment") or "")
    interpreter = os.path.realpath(prefix or sys.prefix)
    if os.path.isdir(path) and interpreter not in (os.path.realpath(path), os.path.realpath(current)):
        return None
    return receipt
