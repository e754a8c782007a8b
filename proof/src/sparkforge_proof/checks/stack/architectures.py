"""Check that the GPU code in torch and its extensions fits the device, by reading the files."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import typing as t

from ..._shared.module_utils._core import versions
from ..._shared.module_utils._elf import fatbin, reader
from ..._shared.module_utils._wheel import installed as packages
from ...check import X86, Context, Failed, Measured, Skipped, check

Facts = t.Mapping[str, t.Any]
Code = dict[str, fatbin.Embedded]

#: The distribution of each module with GPU code. Triton is not included: it compiles for the device that it finds.
MODULES = {"torch": "torch", "torchvision": "torchvision", "torchaudio": "torchaudio", "flash_attn": "flash-attn"}
#: The first release whose memory-efficient attention supports 12.1 (docs/evidence/engine-pytorch-patches.md).
GUARD_LIFTED = (2, 12)
#: The compute capability for which earlier releases compile empty kernels.
TRAPPED = "12.1"
#: The directory of the guarded kernels, and the name of the edit in the role pytorch that guards them.
GUARDED, GUARD = "mem_eff_attention/kernels/", "attention_guard"
#: The local version of a build made by this collection, whose role builds for 12.1 only with the guard.
_OURS = re.compile(r"(?:^|\.)sf[0-9a-f]{8}(?:\.|$)")


def libraries(module: str, installed: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Return the shared libraries in a module's directory, and those that its wheel installed next to it."""
    paths: dict[str, str] = {}
    spec = importlib.util.find_spec(module)
    for directory in (spec.submodule_search_locations if spec else None) or []:
        for base, folders, names in os.walk(directory):
            folders.sort()
            for name in sorted(names):
                if re.search(r"\.so(\.|$)", name):
                    path = os.path.join(base, name)
                    paths.setdefault(os.path.realpath(path), path)
    package = installed.get(MODULES.get(module, module))
    for row in (packages.record(package) if package else None) or []:
        if package and "/" not in row.path and row.path.endswith(".so"):
            path = os.path.join(package.directory, row.path)
            paths.setdefault(os.path.realpath(path), path)
    return list(paths.values())


def read(paths: t.Iterable[str]) -> Code:
    """Return the GPU code of each file that contains any.

    :raises Failed: if a file is damaged or cannot be read.
    """
    code: Code = {}
    for path in paths:
        try:
            embedded = fatbin.architectures(path)
        except reader.NotElfError:
            continue
        except (reader.CorruptElfError, reader.UnreadableFileError) as error:
            raise Failed(error.cause, error.remedy, "unreadable", "readable") from error
        if embedded:
            code[path] = embedded
    return code


def code_of(torch: t.Any) -> Code:
    """Return the GPU code in the installed modules.

    :raises Skipped: if torch is a CPU build.
    """
    if not torch.version.cuda:
        raise Skipped(f"torch {torch.__version__} is a CPU build, which has no GPU code.")
    installed = packages.distributions()
    return read(path for module in MODULES for path in libraries(module, installed))


def capabilities(context: Context) -> list[str]:
    """Return the compute capabilities of the devices, else that of the profile, else []."""
    reported = [str(capability) for capability in context.reference.get("capabilities") or []]
    profiled = context.profile.get("compute_capability")
    return reported or ([str(profiled)] if profiled else [])


def relative(path: str) -> str:
    """Return a path relative to site-packages."""
    return path.rpartition("-packages/")[2]


@check("architectures.embedded", devices=("none",), numeric=False, measured=(X86,), factor=1)
def embedded(context: Context) -> Measured:
    """Check that each library with GPU code has code that the device can run.

    A cubin runs on GPUs with the same major version and an equal or higher minor version; with the suffix ``a``, only
    on exactly that capability, and with ``f``, within its family. The driver compiles PTX, unless the driver is older
    than the CUDA version that the PTX comes from.
    """
    torch = importlib.import_module("torch")
    code = code_of(torch)
    devices = capabilities(context)
    if not devices:
        raise Skipped("Neither nvidia-smi nor the profile gives the device's compute capability.")
    bound = f"each has code for {', '.join(devices)}"
    if not code:
        raise Failed(
            f"torch {torch.__version__} reports CUDA {torch.version.cuda}, but none of its libraries has GPU code.",
            "Run playbooks/deploy.yml, which installs the environment from the locked wheels.",
            "no GPU code",
            bound,
        )
    problems, from_ptx, specialised = coverage(code, devices)
    if problems:
        path, device = problems[0]
        raise Failed(
            " ".join(
                f"{relative(failing)} has code for {code[failing]}, which a GPU of {capability} cannot run."
                for failing, capability in problems[:5]
            ),
            f"Rebuild it with TORCH_CUDA_ARCH_LIST={list_for(device)}, or use a stack whose wheels have it.",
            f"{relative(path)}: {code[path]}",
            bound,
        )
    driver = str(context.reference.get("driver_cuda") or "")
    if from_ptx and driver and versions.numbers(driver) < versions.numbers(torch.version.cuda):
        path, device = from_ptx[0]
        raise Failed(
            f"{relative(path)} has only PTX for a GPU of {device}, from CUDA {torch.version.cuda}; the driver compiles "
            f"PTX up to CUDA {driver}.",
            f"Rebuild it with TORCH_CUDA_ARCH_LIST={list_for(device)}, or upgrade the driver as the vendor describes.",
            f"{relative(path)}: {code[path]}",
            bound,
        )
    torch_cuda = next(
        (str(code_of_file) for path, code_of_file in code.items() if os.path.basename(path) == "libtorch_cuda.so"), ""
    )
    measured = f"{len(code)} libraries with GPU code" + (f"; libtorch_cuda.so: {torch_cuda}" if torch_cuda else "")
    if from_ptx:
        names = ", ".join(sorted({os.path.basename(path) for path, _device in from_ptx}))
        measured += f"; through PTX that the driver compiles: {names}"
    if specialised:
        measured += f"; only for other GPUs: {', '.join(map(os.path.basename, specialised))}"
    return Measured(measured, bound)


def coverage(code: Code, devices: t.Sequence[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[str]]:
    """Return the pairs of library and device that cannot run, the pairs that only run PTX, and specialised libraries.

    A specialised library has kernels for certain GPUs only (``a``, ``f``), and its callers check the device first.
    """
    problems, from_ptx, specialised = [], [], []
    for path, code_of_file in code.items():
        for device in devices:
            if fatbin.Embedded(cubins=code_of_file.cubins).runs_on(device):
                continue
            if code_of_file.runs_on(device):
                from_ptx.append((path, device))
            elif os.path.basename(path) != "libtorch_cuda.so" and all(
                name[-1] in "af" for name in code_of_file.cubins | code_of_file.ptx
            ):
                specialised.append(path)
            else:
                problems.append((path, device))
    return problems, from_ptx, specialised


def list_for(device: str) -> str:
    """Return TORCH_CUDA_ARCH_LIST for a device; 12.1 runs code for 12.0, which is correct in every release."""
    return "12.0" if device == TRAPPED else device


@check("architectures.compute_20", devices=("none",), numeric=False, measured=(X86,), factor=1)
def compute_20(context: Context) -> Measured:
    """Check that no GPU code targets Fermi: without a list, PyTorch's detection turns 12.1 into ``compute_20``."""
    code = code_of(importlib.import_module("torch"))
    old = sorted(
        (path, name)
        for path, embedded_code in code.items()
        for name in embedded_code.cubins | embedded_code.ptx
        if versions.numbers(name)[0] in (1, 2)
    )
    bound = "none for compute_20"
    if old:
        path, name = old[0]
        raise Failed(
            f"{relative(path)} has code for {name}: TORCH_CUDA_ARCH_LIST was not set, and PyTorch's detection mistakes "
            f"the 2.1 in 12.1 for Fermi.",
            "Set TORCH_CUDA_ARCH_LIST (12.0 for a GB10) and rebuild it; the role pytorch always sets it.",
            ", ".join(f"{os.path.basename(path)} {name}" for path, name in old[:5]),
            bound,
        )
    return Measured(f"{len(code)} libraries with GPU code", bound)


@check("architectures.attention_guard", devices=("none",), numeric=False, measured=(X86,), factor=1)
def attention_guard(context: Context) -> Measured:
    """Check that memory-efficient attention is not compiled for 12.1 by a torch whose kernels are empty there.

    Up to torch 2.11, the kernels support at most 12.0; for newer targets they print FATAL or do nothing. A 12.1 device
    prefers code for 12.1 to code for 12.0. Code for only 12.1a is harmless: official wheels have it for row-wise FP8.
    """
    torch = importlib.import_module("torch")
    code = code_of(torch)
    release = versions.numbers(str(torch.__version__))[:2]
    bound = f"no code for {TRAPPED} without the guard"
    if release >= GUARD_LIFTED:
        return Measured(f"torch {torch.__version__}, whose kernels take {TRAPPED}", bound)
    path = next((path for path in code if os.path.basename(path) == "libtorch_cuda.so"), None)
    if path is None:
        return Measured("no libtorch_cuda.so with GPU code", bound)
    flags = getattr(torch._C, "_cuda_getArchFlags", str)()
    names = trapped(code[path], str(flags).split())
    if not names:
        return Measured(f"{code[path]}", bound)
    evidence = f"{', '.join(names)} in libtorch_cuda.so"
    devices = capabilities(context)
    if devices and TRAPPED not in devices:
        return Measured(f"{evidence}, which a GPU of {', '.join(devices)} does not use", bound)
    if is_guarded((context.reference.get("units") or {}).get("pytorch")):
        return Measured(f"{evidence}, with the guard", bound)
    unit_is_here = "pytorch" in (context.reference.get("units") or {})
    if not unit_is_here and _OURS.search(str(torch.__version__).partition("+")[2]):
        return Measured(f"{evidence}, built by the role pytorch, which adds the guard", bound)
    raise Failed(
        f"libtorch_cuda.so of torch {torch.__version__} has code for {', '.join(names)}: up to torch 2.11 the kernels"
        " of memory-efficient attention are empty there, so that scaled_dot_product_attention returns wrong numbers and"
        " no error.",
        "Build torch with TORCH_CUDA_ARCH_LIST=12.0, which a 12.1 GPU runs, or with the role pytorch's fix "
        "attention_guard, or use a stack with torch 2.12 or newer.",
        evidence,
        bound,
    )


def trapped(embedded_code: fatbin.Embedded, flags: t.Sequence[str]) -> list[str]:
    """Return the names of the code for 12.1 that a 12.1 device would select for the attention kernels.

    :param flags: the targets in torch's own list, without those of single kernels: ``sm_120``, ``sm_121a``.
    """
    number = TRAPPED.replace(".", "")
    names = sorted(name for name in embedded_code.cubins if name in (TRAPPED, f"{TRAPPED}f"))
    accelerated = f"{TRAPPED}a"
    without_accelerated = fatbin.Embedded(cubins=embedded_code.cubins - {accelerated})
    if accelerated in embedded_code.cubins and (f"sm_{number}a" in flags or not without_accelerated.runs_on(TRAPPED)):
        names.append(accelerated)
    # The driver compiles PTX only if no cubin fits.
    if not names and not fatbin.Embedded(cubins=embedded_code.cubins).runs_on(TRAPPED):
        names = sorted(f"PTX of {name}" for name in embedded_code.ptx if name.rstrip("af") == TRAPPED)
    return names


def is_guarded(unit: Facts | None) -> bool:
    """Tell whether the unit's receipt is intact, belongs to this torch, and lists the edit that guards the kernels."""
    if not unit or not unit.get("installed") or not unit.get("intact"):
        return False
    return any(
        step.get("edit") == GUARD or step.get("patch") == GUARD or GUARDED in str(step.get("file"))
        for step in unit.get("applied") or []
    )
