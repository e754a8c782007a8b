# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that the environment and its libraries match the stack and the receipts."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import glob
import importlib
import importlib.util
import json
import os
import platform
import re
import sys
import typing as t

from ..._shared.module_utils._core.errors import SparkforgeError
from ..._shared.module_utils._core.versions import public
from ..._shared.module_utils._elf import providers
from ..._shared.module_utils._wheel import environment, installed as packages
from ..._shared.module_utils._wheel.names import normalised
from ..._shared.module_utils._wheel.wheel import Wheel, installed_wheels
from ...check import (
    ABSENT,
    CPU_BUILD_REMEDY,
    X86,
    X86_BUILT,
    X86_LAST,
    Context,
    Failed,
    Measured,
    Skipped,
    Unanswered,
    check,
)
from . import origins

Facts = t.Mapping[str, t.Any]

#: The possible names for each module's distribution.
MODULES: dict[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "triton": ("triton", "pytorch-triton"),
    "torchvision": ("torchvision",),
    "torchaudio": ("torchaudio",),
    "flash_attn": ("flash-attn",),
}
#: The module that records each unit's commit.
COMMITS = {"pytorch": "torch", "torchvision": "torchvision", "torchaudio": "torchaudio"}
#: The distributions of torch, its companions and CUDA's libraries.
STACK = re.compile(r"torch|torchvision|torchaudio|triton|pytorch-triton|flash-attn|nvidia-.*|cuda-.*")

#: The number of files or problems that a message lists.
_NAMED = 5

_NO_LIBRARY = re.compile(r"(lib[\w+.-]+\.so[\w.]*): cannot open shared object file")
_NO_SYMBOL = re.compile(r"(\S+): undefined symbol: (\S+)")
_NO_VERSION = re.compile(r"(\S+): version [`'\u2018](\S+?)['\u2019] not found")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def software() -> dict[str, t.Any]:
    """Return the versions of the stack's packages for the report."""
    torch = importlib.import_module("torch")
    return {
        **{name: package.version for name, package in packages.distributions().items() if STACK.fullmatch(name)},
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "cuda": getattr(torch.version, "cuda", None),
    }


# --- import --------------------------------------------------------------------------------------------------------


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
            problems.append(explain(module, error, context.reference.get("cuda_version")))
        else:
            imported.append(f"{module} {getattr(sys.modules[module], '__version__', 'without a version')}")
    if problems:
        raise Failed(
            " ".join(cause for cause, _remedy in problems),
            problems[0][1],
            f"{len(problems)} fail, {len(imported)} import",
            "all installed ones import",
        )
    return Measured(", ".join(imported), "all installed ones import")


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
        if not any(pattern.search(message) for pattern in (_NO_LIBRARY, _NO_SYMBOL, _NO_VERSION, _NO_MODULE)):
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


def explain(module: str, error: str, cuda_version: str | None = None) -> tuple[str, str]:
    """Return the cause of a failed import and its remedy."""
    error = " ".join(error.split())[:400].rstrip(".")
    cause = f"import {module} fails: {error}."
    library = _NO_LIBRARY.search(error)
    if library and module != "torch" and library[1] in ("libc10_cuda.so", "libtorch_cuda.so"):
        return (
            f"import {module} fails: it is built with CUDA and needs {library[1]}, but torch is a CPU build.",
            f"Use a torch with CUDA, or the {module} that matches this torch.",
        )
    if library:
        return f"import {module} fails: the loader does not find {library[1]}.", provide(library[1], cuda_version)
    symbol = _NO_SYMBOL.search(error)
    if symbol:
        return (
            f"import {module} fails: {symbol[1]} needs the symbol {symbol[2]}, which no loaded library has: it was "
            f"built against another version.",
            f"Rebuild {module} with this torch (playbooks/build.yml), or use the versions of one stack.",
        )
    version = _NO_VERSION.search(error)
    if version:
        return cause, f"Use a {module} that was built on this distribution or an older one, or build it here."
    missing = _NO_MODULE.search(error)
    if missing:
        return cause, f"The environment lacks {missing[1]}: run playbooks/deploy.yml, or add it to the lock."
    if "operator torchvision::" in error or "compiled with different CUDA" in error:
        return cause, f"Use the {module} that matches this torch, or rebuild it (playbooks/build.yml)."
    return cause, reinstall()


def provide(soname: str, cuda_version: str | None = None) -> str:
    """Return a sentence that explains how to provide a library."""
    return providers.provider(soname, platform.machine(), cuda_version).remedy


# --- versions and build --------------------------------------------------------------------------------------------


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
    listed = ", ".join(
        f"{package.name} {package.version}"
        for names in MODULES.values()
        for name in names
        for package in [installed.get(name)]
        if package
    )
    if problems:
        raise Failed(
            _sentences(problems),
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
        raise Failed(
            f"torch {torch.__version__} is a CPU build, which cannot use a GPU.",
            CPU_BUILD_REMEDY,
            f"{torch.__version__}, CPU build",
            bound,
        )
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
    measured = " with ".join(
        [f"oneDNN {version[1]}" if version else "oneDNN", *(name for name in list(has)[1:] if has[name])]
    )
    if warning is None:
        return Measured(measured, "oneDNN")
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


# --- commit and wheels ---------------------------------------------------------------------------------------------


@check("identity.commit", devices=("none",), numeric=False, measured=(X86_BUILT,))
def commit(context: Context) -> Measured:
    """Check that the commits of torch and its companions are those in the receipts."""
    torch = importlib.import_module("torch")
    commits: dict[str, str] = {"torch": str(getattr(torch.version, "git_version", None) or "")}
    for module in COMMITS.values():
        if module != "torch" and is_installed(module):
            commits[module] = commit_of(module)
    compared, problems = commit_problems(commits, context.reference)
    if problems:
        raise Failed(
            _sentences(problems),
            f"{reinstall()} If it recurs, rebuild the unit (playbooks/build.yml).",
            ", ".join(f"{module} {commits[module][:12]}" for module in commits if commits[module]),
            "the receipts' commits",
        )
    if not compared:
        raise Skipped("Neither a receipt on this host nor torch says which commit torch was built from.")
    return Measured(", ".join(f"{module} {commits[module][:12]}" for module in compared), "the receipts' commits")


def commit_of(module: str) -> str:
    """Return the commit from a module's ``version.py``, which is not executed."""
    spec = importlib.util.find_spec(module)
    for directory in (spec.submodule_search_locations if spec else None) or []:
        with contextlib.suppress(OSError):
            with open(os.path.join(directory, "version.py"), encoding="utf-8", errors="replace") as stream:
                match = re.search(r"^git_version\s*(?::.*)?=\s*['\"](\w+)['\"]", stream.read(), re.MULTILINE)
            if match:
                return match[1]
    return ""


def commit_problems(commits: t.Mapping[str, str], reference: Facts) -> tuple[list[str], list[str]]:
    """Return the modules whose commits were compared, and the differences.

    A build from an archive has the commit ``Unknown``, which cannot be compared.
    """
    compared: list[str] = []
    problems = []
    expectations: list[tuple[str, str, str]] = []
    for unit, module in COMMITS.items():
        receipt = (reference.get("units") or {}).get(unit) or {}
        source = ((receipt.get("inputs") or {}).get("source") or {}).get("commit")
        if source and receipt.get("installed"):
            expectations.append((module, str(source), f"the receipt of the unit {unit}"))
    recorded = (((receipt_of(reference) or {}).get("modules") or {}).get("torch") or {}).get("git_version")
    if recorded:
        expectations.append(("torch", str(recorded), "the environment's receipt"))
    for module, expected, source_of_commit in expectations:
        commit = commits.get(module, "")
        if not re.fullmatch(r"[0-9a-f]{7,64}", commit) or not re.fullmatch(r"[0-9a-f]{7,64}", expected):
            continue
        if module not in compared:
            compared.append(module)
        if not (commit.startswith(expected) or expected.startswith(commit)):
            problems.append(f"{module} is from commit {commit[:12]}, but {source_of_commit} says {expected[:12]}")
    return compared, problems


@check("identity.wheels", devices=("none",), numeric=False, seconds=180, measured=(X86_BUILT,))
def wheels(context: Context) -> Measured:
    """Check that the environment's wheels that are still on this host have the sha256 from the receipts."""
    reference = context.reference
    receipt = receipt_of(reference)
    if not receipt:
        raise Skipped("There is no receipt of the environment, so its wheels are unknown.")
    installed = packages.distributions()
    units: Facts = reference.get("units") or {}
    problems = [
        *receipt_problems(receipt, sys.prefix),
        *unit_problems(receipt, units, str(reference.get("method") or "")),
    ]
    artefacts = available_wheels(receipt, units, str(reference.get("root") or "/opt/sparkforge"))
    for artefact in artefacts:
        problems += artefact_problems(artefact, installed)
    count = len(packages.pins(receipt))
    measured = f"{count} pins, {len(artefacts)} wheels of them here"
    if problems:
        raise Failed(
            _sentences(problems), f"Find out who changed it. {reinstall()}", measured, "the sha256 of the receipts"
        )
    return Measured(measured, "the sha256 of the receipts")


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


def receipt_problems(receipt: Facts, prefix: str) -> list[str]:
    """Compare the receipt's fingerprint with its contents, and the receipt with the copy in the environment."""
    problems = []
    python = (receipt.get("python") or {}).get("version") or ""
    numbers = re.fullmatch(r"(\d+)\.(\d+)", str(python))
    if numbers and receipt.get("fingerprint"):
        # A wheel that was sent to the host for a requirement with a hash does not change the fingerprint.
        named = packages.pins({"requirements": receipt.get("requirements")})
        fingerprint = environment.fingerprint(
            (int(numbers[1]), int(numbers[2])),
            str(receipt.get("machine")),
            [str(line) for line in receipt.get("requirements") or []],
            [
                str(wheel.get("sha256"))
                for wheel in receipt.get("wheels") or []
                if wheel.get("sha256") not in named.get(normalised(str(wheel.get("file")).partition("-")[0]), ())
            ],
        )
        if fingerprint != receipt["fingerprint"]:
            problems.append(
                f"the environment's receipt has the fingerprint {str(receipt['fingerprint'])[:12]}, but its contents "
                f"give {fingerprint[:12]}: it was changed after it was written"
            )
    copy = environment.own_of(os.path.realpath(prefix)) or {}
    for key in ("environment_id", "fingerprint", "requirements", "wheels", "packages", "modules"):
        if key in copy and copy[key] != receipt.get(key):
            problems.append(
                f"the environment's receipt and the copy in {os.path.realpath(prefix)} differ in {key}:"
                f" {_short(receipt.get(key))} and {_short(copy[key])}"
            )
            # The receipt of another environment would differ in every key.
            break
    return problems


def unit_problems(receipt: Facts, units: Facts, method: str) -> list[str]:
    """Compare the pins in the environment's receipt with the wheels that this host's units built."""
    problems = []
    pins = packages.pins(receipt)
    versions_of = {normalised(str(name)): version for name, version in (receipt.get("packages") or {}).items()}
    for name, unit in units.items():
        if not unit.get("intact", True):
            problems.append(f"the receipt of the unit {name} was changed after it was written")
        # An official wheel may have the same name and version as one that another stack built here.
        if unit.get("installed") or method != "build":
            continue
        for output in unit.get("outputs") or []:
            dist = normalised(str(output.get("name") or ""))
            if dist in pins and versions_of.get(dist) == output.get("version"):
                allowed = " or ".join(sorted(digest[:12] for digest in pins[dist]))
                problems.append(
                    f"the environment has a wheel of {dist} {output.get('version')} with the sha256 {allowed}, but the "
                    f"unit {name} built {output.get('path')} with {str(output.get('sha256'))[:12]}"
                )
    return problems


def available_wheels(receipt: Facts, units: Facts, root: str) -> list[Wheel]:
    """Return those wheels from the controller and from the units that are still on this host."""
    wheels = installed_wheels(receipt, os.path.join(root, "wheels"))
    pins = packages.pins(receipt)
    for unit in units.values():
        for output in unit.get("outputs") or []:
            name, digest = normalised(str(output.get("name") or "")), str(output.get("sha256"))
            if digest in pins.get(name, ()):
                file = str(output.get("path"))
                wheels.append(Wheel(file, digest, name, path=os.path.join(str(unit.get("artefact")), file)))
    return [wheel for wheel in wheels if os.access(wheel.path, os.R_OK)]


def artefact_problems(artefact: Wheel, installed: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Compare a wheel with its sha256, and the installed files with the list in the wheel."""
    try:
        digest = packages.sha256_of(artefact.path)
        if digest != artefact.sha256:
            return [f"{artefact.path} has the sha256 {digest[:12]}, but the receipt says {artefact.sha256[:12]}"]
        package = installed.get(artefact.name)
        if package is None:
            return [f"{artefact.name} is not installed, but the environment was created from {artefact.path}"]
        differing = packages.differing(artefact.path, package)
    except OSError as error:
        return [f"{artefact.path} cannot be read ({error})"]
    except SparkforgeError as error:
        return [error.cause.rstrip(".")]
    if differing:
        return [f"{artefact.name} was not installed from {artefact.path}: {_first(differing)} differ"]
    return []


@check("identity.files", devices=("none",), numeric=False, seconds=300, measured=(X86_LAST,))
def files(context: Context) -> Measured:
    """Check that every file of torch, its companions and NVIDIA's wheels matches RECORD, and that no file was added."""
    everything = packages.distributions()
    chosen = [package for package in everything.values() if STACK.fullmatch(package.name)]
    if not any(package.name == "torch" for package in chosen):
        raise Skipped("torch was not installed from a wheel, so no RECORD lists its files.")
    # If Triton's wheel lacks the tools that the activation's variables name, python_env links them into the package.
    variables = (receipt_of(context.reference) or {}).get("environment") or {}
    comparison = packages.compare(chosen, everything.values(), [str(value) for value in variables.values() if value])
    problems = [
        f"{len(paths)} files {fault}: {_first(paths)}"
        for fault, paths in (
            ("are missing", comparison.missing),
            ("were changed after they were installed", comparison.changed),
            ("belong to no wheel", comparison.unknown),
        )
        if paths
    ]
    if comparison.unrecorded and receipt_of(context.reference):
        problems.append(f"no RECORD for {', '.join(comparison.unrecorded)}")
    measured = f"{comparison.count} files, {comparison.size / 1e9:.1f} GB"
    bound = "the sha256 in RECORD"
    if problems:
        raise Failed(
            _sentences(problems), f"{reinstall()} Make intended changes in a patch of the unit.", measured, bound
        )
    if not comparison.count:
        raise Skipped("No RECORD lists torch's files: it was not installed from a wheel.")
    return Measured(measured, bound)


# --- libraries -----------------------------------------------------------------------------------------------------


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
    driver_problems = (
        [] if context.reference.get("gpu_required") else [problem for problem in problems if problem.is_driver]
    )
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
            f"{len(problems)} do not open, {len(opened)} do",
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
            library = _NO_LIBRARY.search(error)
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
        causes = " ".join(cause for cause, _remedy in unopened[:_NAMED])
        raise Failed(causes, unopened[0][1], f"{len(unopened)} of the stack's libraries do not open", bound)
    if strays:
        raise Failed(
            " ".join(stray.cause for stray in strays[:_NAMED]),
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
            library = _NO_LIBRARY.search(str(error))
            missing = library[1] if library else soname
            # A host without a GPU does not need the driver.
            if reference.get("gpu_required") or not providers.is_driver(missing):
                cause = f"dlopen does not open {soname}: {str(error).rstrip('.')}."
                problems.append((cause, provide(missing, reference.get("cuda_version"))))
    return problems


# --- messages ------------------------------------------------------------------------------------------------------


def reinstall() -> str:
    """Return the command that reinstalls this environment; the play does not change a complete environment."""
    prefix = os.path.realpath(sys.prefix)
    is_environment = os.path.isfile(os.path.join(prefix, "pyvenv.cfg"))
    first = f"Remove {prefix} and run" if is_environment else "Run"
    return f"{first} playbooks/deploy.yml, which installs the environment from the locked wheels."


def _sentences(problems: t.Sequence[str]) -> str:
    text = "; ".join(problems[:_NAMED])
    remaining = len(problems) - _NAMED
    return f"{text[0].upper()}{text[1:]}" + (f"; and {remaining} more." if remaining > 0 else ".")


def _first(paths: t.Sequence[str]) -> str:
    remaining = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {remaining} more" if remaining > 0 else "")


def _short(value: t.Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:77]}..."
