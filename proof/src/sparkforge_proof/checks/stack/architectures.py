# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the GPU code in torch and its extensions is for the device, read from the files and not run."""

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

#: Module -> distribution, of those that bring GPU code. Triton compiles its own for the device that it finds.
MODULES = {"torch": "torch", "torchvision": "torchvision", "torchaudio": "torchaudio", "flash_attn": "flash-attn"}
#: The first release whose memory-efficient attention takes 12.1 (docs/evidence/engine-pytorch-patches.md).
GUARD_LIFTED = (2, 12)
#: The device of which that is the trap, and what code for it is called that is compiled from the same sources.
TRAPPED = "12.1"
#: Where the kernels lie that have the guard, and what the role pytorch calls its edit of them.
GUARDED, GUARD = "mem_eff_attention/kernels/", "attention_guard"
#: The local version of what this collection builds; its role builds for 12.1 with the guard or not at all.
_OURS = re.compile(r"(?:^|\.)sf[0-9a-f]{8}(?:\.|$)")


# --- reading -------------------------------------------------------------------------------------------------------


def libraries(module: str, found: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Return the shared libraries of a module: those in its directory, and those that its wheel put beside it."""
    paths: dict[str, str] = {}
    spec = importlib.util.find_spec(module)
    for directory in (spec.submodule_search_locations if spec else None) or []:
        for base, folders, names in os.walk(directory):
            folders.sort()
            for name in sorted(names):
                if re.search(r"\.so(\.|$)", name):
                    path = os.path.join(base, name)
                    paths.setdefault(os.path.realpath(path), path)
    one = found.get(MODULES.get(module, module))
    for row in (packages.record(one) if one else None) or []:
        if one and "/" not in row.path and row.path.endswith(".so"):
            path = os.path.join(one.directory, row.path)
            paths.setdefault(os.path.realpath(path), path)
    return list(paths.values())


def read(paths: t.Iterable[str]) -> Code:
    """Return which of the files have GPU code, and for what.

    :raises Failed: one is damaged or cannot be read.
    """
    found: Code = {}
    for path in paths:
        try:
            embedded = fatbin.architectures(path)
        except reader.NotElfError:
            continue
        except (reader.CorruptElfError, reader.UnreadableFileError) as error:
            raise Failed(error.cause, error.remedy, "unreadable", "readable") from error
        if embedded:
            found[path] = embedded
    return found


def code_of(torch: t.Any) -> Code:
    """Return the GPU code of what is installed.

    :raises Skipped: torch is a CPU build.
    """
    if not torch.version.cuda:
        raise Skipped(f"torch {torch.__version__} is a CPU build, which has no GPU code.")
    found = packages.installed()
    return read(path for module in MODULES for path in libraries(module, found))


def capabilities(context: Context) -> list[str]:
    """Return the compute capabilities of the devices, else the profile's, none where neither says."""
    seen = [str(capability) for capability in context.reference.get("capabilities") or []]
    wanted = context.profile.get("compute_capability")
    return seen or ([str(wanted)] if wanted else [])


def shown(path: str) -> str:
    """Return a path from site-packages on."""
    return path.rpartition("-packages/")[2]


# --- checks --------------------------------------------------------------------------------------------------------


@check("architectures.embedded", devices=("none",), numeric=False, measured=(X86,), factor=1)
def embedded(context: Context) -> Measured:
    """Each library with GPU code has some that the device runs.

    A cubin runs on its major and an equal or higher minor, with ``a`` on exactly that capability, with ``f`` in its
    family; PTX is compiled by the driver, which must not be older than the CUDA that wrote it.
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
    problems, compiled, single = coverage(code, devices)
    if problems:
        path, device = problems[0]
        raise Failed(
            " ".join(
                f"{shown(lacking)} has code for {code[lacking]}, which a GPU of {which} cannot run."
                for lacking, which in problems[:5]
            ),
            f"Rebuild it with TORCH_CUDA_ARCH_LIST={list_for(device)}, or use a stack whose wheels have it.",
            f"{shown(path)}: {code[path]}",
            bound,
        )
    driver = str(context.reference.get("driver_cuda") or "")
    if compiled and driver and versions.numbers(driver) < versions.numbers(torch.version.cuda):
        path, device = compiled[0]
        raise Failed(
            f"{shown(path)} has only PTX for a GPU of {device}, from CUDA {torch.version.cuda}; the driver compiles "
            f"PTX up to CUDA {driver}.",
            f"Rebuild it with TORCH_CUDA_ARCH_LIST={list_for(device)}, or upgrade the driver as the vendor describes.",
            f"{shown(path)}: {code[path]}",
            bound,
        )
    torch_cuda = next((str(one) for path, one in code.items() if os.path.basename(path) == "libtorch_cuda.so"), "")
    measured = f"{len(code)} libraries with GPU code" + (f"; libtorch_cuda.so: {torch_cuda}" if torch_cuda else "")
    if compiled:
        names = ", ".join(sorted({os.path.basename(path) for path, _device in compiled}))
        measured += f"; through PTX that the driver compiles: {names}"
    if single:
        measured += f"; only for other GPUs: {', '.join(map(os.path.basename, single))}"
    return Measured(measured, bound)


def coverage(code: Code, devices: t.Sequence[str]) -> tuple[list[tuple[str, str]], list[tuple[str, str]], list[str]]:
    """Return library and device where nothing runs, where PTX alone does, and the libraries for single GPUs alone.

    The latter hold kernels that exist for some GPUs (``a``, ``f``), and what calls them asks for the device first.
    """
    problems, compiled, single = [], [], []
    for path, one in code.items():
        for device in devices:
            if fatbin.Embedded(cubins=one.cubins).runs_on(device):
                continue
            if one.runs_on(device):
                compiled.append((path, device))
            elif os.path.basename(path) != "libtorch_cuda.so" and all(
                name[-1] in "af" for name in one.cubins | one.ptx
            ):
                single.append(path)
            else:
                problems.append((path, device))
    return problems, compiled, single


def list_for(device: str) -> str:
    """Return what to set TORCH_CUDA_ARCH_LIST to for a device: a 12.1 runs code for 12.0, which is right everywhere."""
    return "12.0" if device == TRAPPED else device


@check("architectures.compute_20", devices=("none",), numeric=False, measured=(X86,), factor=1)
def compute_20(context: Context) -> Measured:
    """No GPU code is for Fermi: PyTorch's detection makes ``compute_20`` of a 12.1 where no list is set."""
    code = code_of(importlib.import_module("torch"))
    old = sorted(
        (path, name)
        for path, one in code.items()
        for name in one.cubins | one.ptx
        if versions.numbers(name)[0] in (1, 2)
    )
    bound = "none for compute_20"
    if old:
        path, name = old[0]
        raise Failed(
            f"{shown(path)} has code for {name}: TORCH_CUDA_ARCH_LIST was not set, and PyTorch's detection mistakes "
            f"the 2.1 in 12.1 for Fermi.",
            "Set TORCH_CUDA_ARCH_LIST (12.0 for a GB10) and rebuild it; the role pytorch always sets it.",
            ", ".join(f"{os.path.basename(path)} {name}" for path, name in old[:5]),
            bound,
        )
    return Measured(f"{len(code)} libraries with GPU code", bound)


@check("architectures.attention_guard", devices=("none",), numeric=False, measured=(X86,), factor=1)
def attention_guard(context: Context) -> Measured:
    """Memory-efficient attention is not compiled for 12.1 by a torch that makes it an empty kernel there.

    Up to 2.11 its kernels end at 12.0 and print FATAL or nothing beyond; a device of 12.1 takes code for 12.1 before
    that for 12.0. Code for 12.1a alone is no such: the row-wise FP8 product has it in official wheels too.
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
    told = f"{', '.join(names)} in libtorch_cuda.so"
    devices = capabilities(context)
    if devices and TRAPPED not in devices:
        return Measured(f"{told}, which a GPU of {', '.join(devices)} does not use", bound)
    if is_guarded((context.reference.get("units") or {}).get("pytorch")):
        return Measured(f"{told}, with the guard", bound)
    unit_is_here = "pytorch" in (context.reference.get("units") or {})
    if not unit_is_here and _OURS.search(str(torch.__version__).partition("+")[2]):
        return Measured(f"{told}, built by the role pytorch, which adds the guard", bound)
    raise Failed(
        f"libtorch_cuda.so of torch {torch.__version__} has code for {', '.join(names)}: up to torch 2.11 the kernels"
        " of memory-efficient attention are empty there, so that scaled_dot_product_attention returns wrong numbers and"
        " no error.",
        "Build torch with TORCH_CUDA_ARCH_LIST=12.0, which a 12.1 GPU runs, or with the role pytorch's fix "
        "attention_guard, or use a stack with torch 2.12 or newer.",
        told,
        bound,
    )


def trapped(one: fatbin.Embedded, flags: t.Sequence[str]) -> list[str]:
    """Return the names of the code that a device of 12.1 takes for the attention kernels and that is made for 12.1.

    :param flags: of the list that torch was compiled for: ``sm_120``, ``sm_121a``; what only single kernels are
        compiled for is not among them.
    """
    number = TRAPPED.replace(".", "")
    found = sorted(name for name in one.cubins if name in (TRAPPED, f"{TRAPPED}f"))
    accelerated = f"{TRAPPED}a"
    others = fatbin.Embedded(cubins=one.cubins - {accelerated})
    if accelerated in one.cubins and (f"sm_{number}a" in flags or not others.runs_on(TRAPPED)):
        found.append(accelerated)
    # A driver compiles PTX where no cubin fits.
    if not found and not fatbin.Embedded(cubins=one.cubins).runs_on(TRAPPED):
        found = sorted(f"PTX of {name}" for name in one.ptx if name.rstrip("af") == TRAPPED)
    return found


def is_guarded(unit: Facts | None) -> bool:
    """Say whether the receipt of the unit, if it is this torch's and sound, lists a change of the guarded kernels."""
    if not unit or not unit.get("installed") or not unit.get("intact"):
        return False
    return any(
        step.get("edit") == GUARD or step.get("patch") == GUARD or GUARDED in str(step.get("file"))
        for step in unit.get("applied") or []
    )
