# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether the environment is what the stack and the receipts say, and whether its libraries come from there."""

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

#: Module -> the names that its distribution may have.
MODULES: dict[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "triton": ("triton", "pytorch-triton"),
    "torchvision": ("torchvision",),
    "torchaudio": ("torchaudio",),
    "flash_attn": ("flash-attn",),
}
#: Unit -> the module that says which commit it was built from.
COMMITS = {"pytorch": "torch", "torchvision": "torchvision", "torchaudio": "torchaudio"}
#: Names of distributions that bring what torch computes with.
STACK = re.compile(r"torch|torchvision|torchaudio|triton|pytorch-triton|flash-attn|nvidia-.*|cuda-.*")

#: How many files are named of those that are wrong.
_NAMED = 5

_NO_LIBRARY = re.compile(r"(lib[\w+.-]+\.so[\w.]*): cannot open shared object file")
_NO_SYMBOL = re.compile(r"(\S+): undefined symbol: (\S+)")
_NO_VERSION = re.compile(r"(\S+): version [`'\u2018](\S+?)['\u2019] not found")
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")


def software() -> dict[str, t.Any]:
    """Return the versions of what computes, for the report."""
    torch = importlib.import_module("torch")
    return {
        **{name: one.version for name, one in packages.installed().items() if STACK.fullmatch(name)},
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "cuda": getattr(torch.version, "cuda", None),
    }


# --- import --------------------------------------------------------------------------------------------------------


@check("identity.import", devices=("none",), numeric=False, seconds=300, measured=(X86_LAST,))
def imports(context: Context) -> Measured:
    """Torch imports, and so does each companion that is installed or was to be, with its own compiled code."""
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
    """Say whether a module can be found, without importing it; a directory of that name does not count."""
    try:
        spec = importlib.util.find_spec(module)
    except ValueError:
        # It is loaded and does not say from where.
        return True
    return spec is not None and spec.origin is not None


def import_error(module: str) -> str | None:
    """Import a module; return the error, where there is one."""
    try:
        loaded = importlib.import_module(module)
        has_code = getattr(sys.modules.get(f"{module}.extension"), "_has_ops", None)
        if has_code is not None and not has_code():
            # torchvision continues without its compiled code.
            return extension_error(os.path.dirname(str(loaded.__file__))) or "its compiled code was not loaded"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        if not any(pattern.search(said) for pattern in (_NO_LIBRARY, _NO_SYMBOL, _NO_VERSION, _NO_MODULE)):
            # An except clause on the way may have swallowed the loader's message.
            spec = importlib.util.find_spec(module)
            for directory in (spec.submodule_search_locations if spec else None) or []:
                said = extension_error(directory) or said
        return said
    return None


def extension_error(directory: str) -> str | None:
    """Return what the loader says of the first library of a package that it does not load."""
    for path in sorted(glob.glob(os.path.join(directory, "*.so")) + glob.glob(os.path.join(directory, "lib", "*.so"))):
        try:
            ctypes.CDLL(path)
        except OSError as error:
            return str(error)
    return None


def explain(module: str, error: str, cuda_version: str | None = None) -> tuple[str, str]:
    """Return cause and remedy of a failed import."""
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
    """Return what provides a library, in one sentence."""
    return providers.provider(soname, platform.machine(), cuda_version).remedy


# --- versions and build --------------------------------------------------------------------------------------------


@check("identity.versions", devices=("none",), numeric=False, seconds=120, measured=(X86_LAST,))
def versions(context: Context) -> Measured:
    """The versions are the stack's and the receipt's, satisfy each other, and were built with one CUDA."""
    found = {name: one for name, one in packages.installed().items() if STACK.fullmatch(name)}
    torch = importlib.import_module("torch")
    problems = [
        *version_problems(found, context.reference),
        *shadowed({"torch": str(torch.__version__)}, found),
        *unfit(found, (receipt_of(context.reference) or {}).get("override") or ()),
    ]
    cuda = getattr(torch.version, "cuda", None)
    builds = {name: cuda_of(name) for name in ("torchvision", "torchaudio") if is_installed(name)}
    problems += cuda_problems(cuda, builds, bool(context.reference.get("gpu_required")))
    listed = ", ".join(
        f"{one.name} {one.version}" for names in MODULES.values() for name in names for one in [found.get(name)] if one
    )
    if problems:
        raise Failed(
            _sentences(problems),
            f"{reinstall()} If it recurs, renew the stack's lock (playbooks/lock.yml), or correct its versions.",
            listed,
            "the stack's versions, without conflicts",
        )
    return Measured(listed, "the stack's versions, without conflicts")


def unfit(found: t.Mapping[str, packages.Distribution], override: t.Iterable[t.Any]) -> list[str]:
    """Compare what each requires with what is installed, but for what the stack takes in another version on purpose."""
    names = [normalised(str(name)) for name in override]
    asked = {name: one for name, one in found.items() if name not in names}
    return [problem for one in found.values() for problem in packages.unsatisfied(one, asked)]


def distribution(module: str, found: t.Mapping[str, packages.Distribution]) -> packages.Distribution | None:
    """Return the distribution that provides a module."""
    return next((found[name] for name in MODULES.get(module, (normalised(module),)) if name in found), None)


def version_problems(found: t.Mapping[str, packages.Distribution], reference: Facts) -> list[str]:
    """Compare what is installed with the stack's versions and with what the environment's receipt lists."""
    problems = []
    for module, wanted in (reference.get("versions") or {}).items():
        one = distribution(str(module), found)
        if one is None:
            if module == "torch":
                problems.append("torch is not installed")
        elif wanted and public(one.version) != public(str(wanted)):
            problems.append(f"{one.name} {one.version} is installed, but the stack says {wanted}")
    for name, recorded in ((receipt_of(reference) or {}).get("packages") or {}).items():
        if not STACK.fullmatch(normalised(str(name))):
            continue
        one = found.get(normalised(str(name)))
        if one is None or one.version != recorded:
            what = f"{one.name} {one.version}" if one else f"no {name}"
            problems.append(f"{what} is installed, but the environment's receipt says {name} {recorded}")
    return problems


def shadowed(imported: t.Mapping[str, str], found: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Compare what a module says of itself with what is installed: another copy may come first on the path."""
    problems = []
    for module, says in imported.items():
        one = distribution(module, found)
        if one is None:
            problems.append(f"{module} {says} is imported, but no distribution of it is installed")
        elif public(one.version) != public(says):
            problems.append(f"{module} reports {says}, but {one.version} is installed")
    return problems


def cuda_of(module: str) -> str | None:
    """Return the CUDA version that a module was built with, ``cpu`` for none, None where it does not say."""
    with contextlib.suppress(Exception):
        torch = importlib.import_module("torch")
        importlib.import_module(module)
        if module == "torchvision":
            number = torch.ops.torchvision._cuda_version()
        else:
            number = torch.ops._torchaudio.cuda_version()
        # 13020 for 13.2, and -1 or None for a CPU build.
        return f"{number // 1000}.{number % 1000 // 10}" if number and number > 0 else "cpu"
    return None


def cuda_problems(cuda: str | None, builds: t.Mapping[str, str | None], gpu_required: bool) -> list[str]:
    """Compare CUDA versions; a minor may differ, for within a major CUDA's libraries stay compatible."""
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
    """Torch is a CUDA build where a GPU is required, by what it says and by what it is."""
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
    """Torch has oneDNN, and on aarch64 Arm's Compute Library below it, without which it computes slowly on the CPU.

    CMake leaves out what it does not find and says nothing. What the unit pytorch asked for must be there; that any
    other torch lacks it is a warning, since the numbers are right without it.
    """
    torch = importlib.import_module("torch")
    has = {"oneDNN": bool(torch.backends.mkldnn.is_available())}
    if platform.machine() == "aarch64":
        # Before 2.8 or so torch does not say it.
        has["Arm's Compute Library"] = bool(getattr(torch._C, "_has_mkldnn_acl", has["oneDNN"]))
    unit = (context.reference.get("units") or {}).get("pytorch") or {}
    asked = (unit.get("inputs") or {}).get("environment") or {} if unit.get("installed") else {}
    lacking = onednn_problem(has, asked, str(torch.__version__))
    said = re.search(r"MKL-DNN (v\S+)", torch.__config__.show())
    measured = " with ".join(
        [f"oneDNN {said[1]}" if said else "oneDNN", *(name for name in list(has)[1:] if has[name])]
    )
    if lacking is None:
        return Measured(measured, "oneDNN")
    return Measured(lacking.measured, lacking.bound, warning=lacking)


def onednn_problem(has: t.Mapping[str, bool], asked: Facts, version: str) -> Unanswered | None:
    """Return what a torch lacks of oneDNN; it blocks where its unit asked for it.

    :param has: by name, whether it is there.
    :param asked: the variables of the environment in which the unit pytorch was built, empty where none built it.
    """
    lacking = [name for name, there in has.items() if not there]
    if not lacking:
        return None
    variable = "USE_MKLDNN" if not has["oneDNN"] else "USE_MKLDNN_ACL"
    wanted = str(asked.get(variable, "")).upper() in ("1", "ON", "TRUE", "YES")
    cause = f"torch {version} is built without {' and '.join(lacking)}"
    cause += f", although the unit pytorch requested it ({variable}={asked[variable]})" if wanted else ""
    cause += ": convolutions and 16-bit products on the CPU are right but slow."
    return Unanswered(
        ABSENT,
        cause,
        "Use official wheels (stack_method: wheel), or rebuild the unit pytorch with USE_MKLDNN=1, on aarch64 with the "
        "directory of Arm's Compute Library in pytorch_compute_library.",
        f"no {lacking[0]}",
        " with ".join(has),
        blocks=wanted,
    )


# --- commit and wheels ---------------------------------------------------------------------------------------------


@check("identity.commit", devices=("none",), numeric=False, measured=(X86_BUILT,))
def commit(context: Context) -> Measured:
    """The commits that torch and its companions name are those of the receipts."""
    torch = importlib.import_module("torch")
    said: dict[str, str] = {"torch": str(getattr(torch.version, "git_version", None) or "")}
    for module in COMMITS.values():
        if module != "torch" and is_installed(module):
            said[module] = says_commit(module)
    compared, problems = commit_problems(said, context.reference)
    if problems:
        raise Failed(
            _sentences(problems),
            f"{reinstall()} If it recurs, rebuild the unit (playbooks/build.yml).",
            ", ".join(f"{module} {said[module][:12]}" for module in said if said[module]),
            "the receipts' commits",
        )
    if not compared:
        raise Skipped("Neither a receipt on this host nor torch says which commit torch was built from.")
    return Measured(", ".join(f"{module} {said[module][:12]}" for module in compared), "the receipts' commits")


def says_commit(module: str) -> str:
    """Return the commit that a module's ``version.py`` names; the file is read, not run."""
    spec = importlib.util.find_spec(module)
    for directory in (spec.submodule_search_locations if spec else None) or []:
        with contextlib.suppress(OSError):
            with open(os.path.join(directory, "version.py"), encoding="utf-8", errors="replace") as stream:
                match = re.search(r"^git_version\s*(?::.*)?=\s*['\"](\w+)['\"]", stream.read(), re.MULTILINE)
            if match:
                return match[1]
    return ""


def commit_problems(said: t.Mapping[str, str], reference: Facts) -> tuple[list[str], list[str]]:
    """Return the modules whose commit could be compared, and what differs.

    A build from an archive does not know its commit and says ``Unknown``.
    """
    compared: list[str] = []
    problems = []
    wanted: list[tuple[str, str, str]] = []
    for unit, module in COMMITS.items():
        receipt = (reference.get("units") or {}).get(unit) or {}
        source = ((receipt.get("inputs") or {}).get("source") or {}).get("commit")
        if source and receipt.get("installed"):
            wanted.append((module, str(source), f"the receipt of the unit {unit}"))
    recorded = (((receipt_of(reference) or {}).get("modules") or {}).get("torch") or {}).get("git_version")
    if recorded:
        wanted.append(("torch", str(recorded), "the environment's receipt"))
    for module, expected, where in wanted:
        ours = said.get(module, "")
        if not re.fullmatch(r"[0-9a-f]{7,64}", ours) or not re.fullmatch(r"[0-9a-f]{7,64}", expected):
            continue
        if module not in compared:
            compared.append(module)
        if not (ours.startswith(expected) or expected.startswith(ours)):
            problems.append(f"{module} is from commit {ours[:12]}, but {where} says {expected[:12]}")
    return compared, problems


@check("identity.wheels", devices=("none",), numeric=False, seconds=180, measured=(X86_BUILT,))
def wheels(context: Context) -> Measured:
    """The wheels that the environment was made from are those of the receipts, by sha256, as far as they are here."""
    reference = context.reference
    receipt = receipt_of(reference)
    if not receipt:
        raise Skipped("There is no receipt of the environment, so its wheels are unknown.")
    found = packages.installed()
    units: Facts = reference.get("units") or {}
    problems = [
        *receipt_problems(receipt, sys.prefix),
        *unit_problems(receipt, units, str(reference.get("method") or "")),
    ]
    artefacts = stored(receipt, units, str(reference.get("root") or "/opt/sparkforge"))
    for artefact in artefacts:
        problems += artefact_problems(artefact, found)
    count = len(packages.pins(receipt))
    measured = f"{count} pins, {len(artefacts)} wheels of them here"
    if problems:
        raise Failed(
            _sentences(problems),
            f"Find out who changed it. {reinstall()}",
            measured,
            "the sha256 of the receipts",
        )
    return Measured(measured, "the sha256 of the receipts")


def receipt_of(reference: Facts, prefix: str | None = None) -> Facts | None:
    """Return the environment's receipt, or None if there is none, or where it is of another interpreter than this."""
    receipt: Facts | None = reference.get("receipt")
    if not receipt:
        return None
    environments = os.path.join(str(reference.get("root") or "/opt/sparkforge"), "envs")
    one = str(reference.get("environment_id") or "current")
    current = os.path.join(environments, str(reference.get("environment") or "torch"), one)
    place = str((receipt.get("paths") or {}).get("environment") or "")
    ours = os.path.realpath(prefix or sys.prefix)
    if os.path.isdir(place) and ours not in (os.path.realpath(place), os.path.realpath(current)):
        return None
    return receipt


def receipt_problems(receipt: Facts, prefix: str) -> list[str]:
    """Compare the environment's receipt with itself and with the copy that is in the environment."""
    problems = []
    python = (receipt.get("python") or {}).get("version") or ""
    numbers = re.fullmatch(r"(\d+)\.(\d+)", str(python))
    if numbers and receipt.get("fingerprint"):
        # A wheel that a requirement's hash names was sent instead of being fetched, which adds nothing.
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
    own = environment.own_of(os.path.realpath(prefix)) or {}
    for key in ("environment_id", "fingerprint", "requirements", "wheels", "packages", "modules"):
        if key in own and own[key] != receipt.get(key):
            problems.append(
                f"the environment's receipt and the copy in {os.path.realpath(prefix)} differ in {key}:"
                f" {_short(receipt.get(key))} and {_short(own[key])}"
            )
            # The receipt of another environment differs in everything.
            break
    return problems


def unit_problems(receipt: Facts, units: Facts, method: str) -> list[str]:
    """Compare the pins of the environment's receipt with what the units of this host made."""
    problems = []
    wanted = packages.pins(receipt)
    versions_of = {normalised(str(name)): version for name, version in (receipt.get("packages") or {}).items()}
    for name, unit in units.items():
        if not unit.get("intact", True):
            problems.append(f"the receipt of the unit {name} was changed after it was written")
        # An official wheel may have the name and the version of what another stack built here.
        if unit.get("installed") or method != "build":
            continue
        for output in unit.get("outputs") or []:
            ours = normalised(str(output.get("name") or ""))
            if ours in wanted and versions_of.get(ours) == output.get("version"):
                allowed = " or ".join(sorted(digest[:12] for digest in wanted[ours]))
                problems.append(
                    f"the environment has a wheel of {ours} {output.get('version')} with the sha256 {allowed}, but the "
                    f"unit {name} built {output.get('path')} with {str(output.get('sha256'))[:12]}"
                )
    return problems


def stored(receipt: Facts, units: Facts, root: str) -> list[Wheel]:
    """Return the wheels that are still there: the controller's and the units'."""
    found = installed_wheels(receipt, os.path.join(root, "wheels"))
    wanted = packages.pins(receipt)
    for unit in units.values():
        for output in unit.get("outputs") or []:
            name, digest = normalised(str(output.get("name") or "")), str(output.get("sha256"))
            if digest in wanted.get(name, ()):
                file = str(output.get("path"))
                found.append(Wheel(file, digest, name, path=os.path.join(str(unit.get("artefact")), file)))
    return [one for one in found if os.access(one.path, os.R_OK)]


def artefact_problems(artefact: Wheel, found: t.Mapping[str, packages.Distribution]) -> list[str]:
    """Compare a wheel with its sha256, and what is installed with the wheel's own list of files."""
    try:
        digest = packages.sha256_of(artefact.path)
        if digest != artefact.sha256:
            return [f"{artefact.path} has the sha256 {digest[:12]}, but the receipt says {artefact.sha256[:12]}"]
        one = found.get(artefact.name)
        if one is None:
            return [f"{artefact.name} is not installed, but the environment was created from {artefact.path}"]
        differing = packages.differing(artefact.path, one)
    except OSError as error:
        return [f"{artefact.path} cannot be read ({error})"]
    except SparkforgeError as error:
        return [error.cause.rstrip(".")]
    if differing:
        return [f"{artefact.name} was not installed from {artefact.path}: {_first(differing)} differ"]
    return []


@check("identity.files", devices=("none",), numeric=False, seconds=300, measured=(X86_LAST,))
def files(context: Context) -> Measured:
    """Every file of torch, its companions and NVIDIA's wheels is what RECORD says, and there is no other."""
    everything = packages.installed()
    chosen = [one for one in everything.values() if STACK.fullmatch(one.name)]
    if not any(one.name == "torch" for one in chosen):
        raise Skipped("torch was not installed from a wheel, so no RECORD lists its files.")
    # python_env links what the variables of the activation name into Triton's package, where its wheel provides none.
    variables = (receipt_of(context.reference) or {}).get("environment") or {}
    found = packages.compare(chosen, everything.values(), [str(value) for value in variables.values() if value])
    problems = [
        f"{len(paths)} files {what}: {_first(paths)}"
        for what, paths in (
            ("are missing", found.missing),
            ("were changed after they were installed", found.changed),
            ("belong to no wheel", found.unknown),
        )
        if paths
    ]
    if found.unrecorded and receipt_of(context.reference):
        problems.append(f"no RECORD for {', '.join(found.unrecorded)}")
    measured = f"{found.count} files, {found.size / 1e9:.1f} GB"
    bound = "the sha256 in RECORD"
    if problems:
        raise Failed(
            _sentences(problems),
            f"{reinstall()} Make intended changes in a patch of the unit.",
            measured,
            bound,
        )
    if not found.count:
        raise Skipped("No RECORD lists torch's files: it was not installed from a wheel.")
    return Measured(measured, bound)


# --- libraries -----------------------------------------------------------------------------------------------------


@check("closure.runtime", family="identity", devices=("none",), numeric=False, seconds=120, measured=(X86,))
def runtime(context: Context) -> Measured:
    """What torch and its libraries open by name while they run opens, and NVRTC finds its built-in functions.

    cuDNN's engines, torch's linear algebra, NVRTC and nvJitLink stand in no list of needed libraries, so that a loader
    that has started a program knows nothing of them.
    """
    torch = importlib.import_module("torch")
    if not torch.version.cuda:
        raise Skipped("torch is a CPU build, which opens no CUDA libraries.")
    directory = os.path.join(os.path.dirname(str(torch.__file__)), "lib")
    opened, problems = open_all(origins.openings(origins.mapped(), directory, str(torch.version.cuda)))
    waiting = [] if context.reference.get("gpu_required") else [one for one in problems if one.is_driver]
    problems = [one for one in problems if one not in waiting]
    left_out = [one.opening.soname for one in problems if one.opening.is_optional]
    problems = [one for one in problems if not one.opening.is_optional]
    bound = "each opens"
    measured = f"{len(opened)} opened: {', '.join(opened)}"
    measured += f"; not from this release: {', '.join(left_out)}" if left_out else ""
    if problems:
        raise Failed(
            " ".join(one.cause for one in problems),
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
    if waiting:
        measured += f"; {len(waiting)} only with the driver"
    return Measured(measured, bound)


@dataclasses.dataclass(frozen=True)
class Unopened:
    """A library that does not open by its name.

    :ivar lacking: what the loader does not find, which may be another one.
    """

    opening: origins.Opening
    error: str
    lacking: str

    @property
    def is_driver(self) -> bool:
        return providers.is_driver(self.lacking)

    @property
    def cause(self) -> str:
        opener = os.path.basename(self.opening.opener.path)
        return f"{self.opening.soname}, which {opener} opens by name, does not open: {self.error.rstrip('.')}."

    def remedy(self, cuda_version: str | None) -> str:
        # An official torch finds CUDA's libraries in NVIDIA's wheels, one that was built here on the host.
        from_wheels = any(name.startswith("nvidia-") for name in packages.installed())
        return reinstall() if from_wheels and not self.is_driver else provide(self.lacking, cuda_version)


def open_all(wanted: t.Sequence[origins.Opening]) -> tuple[list[str], list[Unopened]]:
    """Open each library; return the names of those that open, and those that do not."""
    opened: list[str] = []
    problems: list[Unopened] = []
    for one in wanted:
        error = origins.open_named(one)
        if error is None:
            opened.append(one.soname)
        else:
            library = _NO_LIBRARY.search(error)
            problems.append(Unopened(one, error, library[1] if library else one.soname))
    return opened, problems


def nvrtc_error(soname: str) -> str | None:
    """Compile an empty kernel; return what NVRTC says if it does not. It needs no GPU."""
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
    """Every library that is loaded with torch comes from the environment, the stack's directories or the system's.

    Those that are opened by name count too. A stray copy that comes first on the loader's path would compute without
    any error, with the bugs of its version.
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
    allowed = origins.places({**context.reference, "receipt": receipt_of(context.reference)}, torch.version.cuda)
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
    """Open the libraries that the stack brings; return cause and remedy for each that does not open."""
    problems = []
    for soname in map(str, reference.get("sonames") or []):
        try:
            # Every symbol is bound now; lazy binding would hide one that is missing.
            ctypes.CDLL(soname, mode=os.RTLD_NOW)
        except OSError as error:
            library = _NO_LIBRARY.search(str(error))
            lacking = library[1] if library else soname
            # Without a GPU there need be no driver.
            if reference.get("gpu_required") or not providers.is_driver(lacking):
                cause = f"dlopen does not open {soname}: {str(error).rstrip('.')}."
                problems.append((cause, provide(lacking, reference.get("cuda_version"))))
    return problems


# --- small things --------------------------------------------------------------------------------------------------


def reinstall() -> str:
    """Return how this environment is made again; one that is there as a whole is left alone by the play."""
    prefix = os.path.realpath(sys.prefix)
    is_environment = os.path.isfile(os.path.join(prefix, "pyvenv.cfg"))
    first = f"Remove {prefix} and run" if is_environment else "Run"
    return f"{first} playbooks/deploy.yml, which installs the environment from the locked wheels."


def _sentences(problems: t.Sequence[str]) -> str:
    text = "; ".join(problems[:_NAMED])
    more = len(problems) - _NAMED
    return f"{text[0].upper()}{text[1:]}" + (f"; and {more} more." if more > 0 else ".")


def _first(paths: t.Sequence[str]) -> str:
    more = len(paths) - _NAMED
    return ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _short(value: t.Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:77]}..."
