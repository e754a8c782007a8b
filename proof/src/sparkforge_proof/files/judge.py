# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the contents of packages mean for one device: findings, a verdict and a table."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import tempfile
import typing as t

from .._shared.module_utils._core import shown, versions
from .._shared.module_utils._core.errors import SparkforgeError
from .._shared.module_utils._elf import fatbin, providers
from .._shared.module_utils._elf.filesystem import FileSystem
from .._shared.module_utils._wheel.names import check_wheel_fits, parse_wheel_name
from ..checks.stack import architectures
from . import contents, fit
from .contents import Contents, Library, sonames
from .fit import Finding, finding

#: From the best to the worst; the first three levels of a finding are each a verdict.
VERDICTS = ("yes", "perhaps", "no")
NOTE = "note"
#: apt packages that every Ubuntu and DGX OS has.
_BASE = frozenset("libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g libzstd1 liblzma5 libbz2-1.0 libffi8 libatomic1".split())
#: Packages whose version is that of the CUDA toolkit they are of; the other libraries count their own.
_TOOLKIT = re.compile(r"cuda-toolkit|nvidia-(?:cuda-(?:runtime|nvrtc|cupti)|nvtx)(?:-cu\d+)?")
#: It takes what its own and older minors made, so that it may be newer than the rest (nvJitLink, Compatibility).
_LINKER = re.compile(r"nvidia-nvjitlink(?:-cu\d+)?")
_OF_CUDA = re.compile(r"lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink|cupti)\.so\.(\d+)")
_MODULE = re.compile(r"\.(?:abi3|cpython-\w+(?:-[\w-]+)?)\.so$")
#: Damaged files of a package that are named.
_SHOWN = 20
_LOCAL = re.compile(r"\+(?:.*\.)?cu(\d+)(\d)\b")


@dataclasses.dataclass(frozen=True)
class Device:
    """What packages are judged for.

    :ivar machine: ``aarch64``, as ``uname -m`` has it.
    :ivar capability: of the GPU, ``12.1``.
    :ivar cuda: the newest CUDA that the driver takes PTX of, ``13.0``.
    :ivar python: of the interpreter, ``3.12``.
    :ivar host: the newest versions of symbols that its libc and libstdc++ have, ``GLIBC`` -> ``2.39``.
    """

    machine: str = "aarch64"
    capability: str = "12.1"
    cuda: str = "13.0"
    python: str = "3.12"
    host: t.Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(contents.HOST_VERSIONS))

    def __post_init__(self) -> None:
        """Refuse what would be judged for nothing that exists."""
        if not fatbin.is_architecture(self.capability) or self.capability[-1] in "af":
            raise SparkforgeError(f"{self.capability!r} is not a compute capability.", "Write it as 12.1, in quotes.")
        for what, value in (("CUDA", self.cuda), ("Python", self.python)):
            if not re.fullmatch(r"\d+\.\d+", value):
                raise SparkforgeError(f"{value!r} is not a version of {what}.", "Write it as 13.0 or 3.12, in quotes.")


#: The symbols that a library misses, and the packages that should have them, by its path.
Missing = t.Mapping[str, t.Sequence[tuple[str, str]]]


def judge(
    found: t.Sequence[Contents],
    device: Device,
    asked: t.Collection[str] = (),
    said: t.Sequence[Finding] = (),
    unread: t.Sequence[str] = (),
) -> dict[str, t.Any]:
    """Return ``verdict``, ``findings``, ``packages``, ``summary`` and ``not_looked_at`` of packages used together.

    What a package lacks that was asked for decides; what one lacks that it needs makes the answer ``perhaps``.

    :param asked: names of the packages that were asked for, all of them where empty.
    :param said: what is known already, such as that something has no wheel.
    :param unread: what was asked for and could not be read, such as a source to build.
    """
    findings = [*said]
    missing = fit.missing_symbols(found)
    provided = sonames(found)
    for one in found:
        symbols = {path: rows for (name, path), rows in missing.items() if name == one["name"]}
        findings += _of_package(one, device, symbols, provided)
    findings += _of_cuda(found, device)
    findings += fit.of_versions(found, device.machine)
    rows = []
    for one in found:
        own = [finding for finding in findings if finding["package"] == one["name"]]
        rows.append(
            {
                "name": one["name"],
                "version": one["version"],
                "gpu_code": str(_code(one["libraries"])),
                "libraries": sum(library["machine"] != contents.CUBIN for library in one["libraries"]),
                "verdict": _worst(own),
                "asked": not asked or one["name"] in asked,
            }
        )
    decisive = [
        finding["level"] if not asked or finding["package"] in asked or finding["level"] != "no" else "perhaps"
        for finding in findings
    ]
    # Of nothing nothing is known.
    nothing = "yes" if rows else "perhaps"
    verdict = max((level for level in decisive if level != NOTE), key=VERDICTS.index, default=nothing)
    result = {
        "verdict": verdict,
        "findings": findings,
        "packages": rows,
        "summary": _summary(verdict, rows, device),
        "not_looked_at": [*unread, *_not_looked_at(found)],
    }
    # Names and versions are whatever the files say.
    return t.cast("dict[str, t.Any]", shown.data(result))


def _not_looked_at(found: t.Sequence[Contents]) -> list[str]:
    """Return what of the packages no answer is about."""
    rows = ["Python code, and what it opens, downloads or compiles when it runs"] if found else []
    endings: dict[str, int] = {}
    for one in found:
        for ending, count in one["unread"].items():
            endings[ending] = endings.get(ending, 0) + count
    rows += [f"{count} file{'' if count == 1 else 's'} named .{ending}" for ending, count in sorted(endings.items())]
    if any(library["cubins"] for one in found for library in one["libraries"]):
        rows.append("the machine code for GPUs itself, and texts in it where it is compressed")
    lacking = sum(bool(library["lacking"]) for one in found for library in one["libraries"])
    if lacking:
        rows.append(f"the symbols of {lacking} librar{'y' if lacking == 1 else 'ies'} that lack another library")
    unreadable = sum(one["without_symbols"] for one in found)
    if unreadable:
        rows.append(f"the symbols of {unreadable} binar{'y' if unreadable == 1 else 'ies'} with unknown tables")
    return rows


def _worst(findings: t.Iterable[Finding]) -> str:
    return max((one["level"] for one in findings if one["level"] != NOTE), key=VERDICTS.index, default="yes")


def _summary(verdict: str, rows: t.Sequence[t.Mapping[str, t.Any]], device: Device) -> str:
    words = {
        "yes": "Nothing in the files of {packages} rules out {device}.",
        "perhaps": "Some of {packages} may not work on {device}: see the findings."
        if rows
        else "Nothing was read that says whether it runs on {device}.",
        "no": "It will not run on {device}: see the findings.",
    }
    return words[verdict].format(
        packages=f"{len(rows)} package{'' if len(rows) == 1 else 's'}",
        device=f"{device.machine} with a GPU of {device.capability}",
    )


def _code(libraries: t.Iterable[Library]) -> fatbin.Embedded:
    return fatbin.Embedded(
        frozenset(name for library in libraries for name in library["cubins"]),
        frozenset(name for library in libraries for name in library["ptx"]),
    )


def _of_package(one: Contents, device: Device, missing: Missing, provided: t.Collection[str]) -> t.Iterator[Finding]:
    say = functools.partial(finding, one["name"])
    if one["file"]:
        major, minor = device.python.split(".")
        try:
            check_wheel_fits(
                parse_wheel_name(one["file"]), (int(major), int(minor)), device.machine, device.host["GLIBC"]
            )
        except SparkforgeError as error:
            yield say("no", "platform", error.cause)
    if not one["files"] and not one["requires"]:
        yield say("no", "empty", "it is a placeholder without a file or a requirement.")
    for cause in one["damaged"][:_SHOWN]:
        yield say("no", "damaged", cause)
    if len(one["damaged"]) > _SHOWN:
        yield say("no", "damaged", f"{len(one['damaged']) - _SHOWN} more of its files are damaged.")
    cubins = [library for library in one["libraries"] if library["machine"] == contents.CUBIN]
    libraries = [library for library in one["libraries"] if library["machine"] == device.machine]
    others = {library["machine"] for library in one["libraries"]} - {device.machine, contents.CUBIN}
    if others and not libraries:
        # Neither imported nor for a GPU, it may be meant for that machine alone, as debugpy's attach_linux_amd64.so.
        needed = any(_MODULE.search(one["path"]) or one["cubins"] or one["ptx"] for one in one["libraries"])
        yield say("no" if needed else "perhaps", "machine", f"its libraries are for {', '.join(sorted(others))}.")
        return
    if one["name"] == "torch" and libraries and not _named(libraries, "libtorch_cuda.so"):
        yield say("no", "cpu_only", "it is a CPU build: it has no libtorch_cuda.so.")
    if one["name"] == "torch" and versions.numbers(one["version"])[:2] < architectures.GUARD_LIFTED:
        trapped = architectures.trapped(_code(_named(libraries, "libtorch_cuda.so")), ())
        if trapped and device.capability == architectures.TRAPPED:
            yield say("no", "attention_guard", f"its memory-efficient attention is empty in the code for {trapped[0]}.")
    if one["sources"]:
        many = f"{one['sources']} file{'' if one['sources'] == 1 else 's'} of CUDA C++"
        yield say(NOTE, "compiles", f"it contains {many}: compiling it at run time needs nvcc on the host.")
    yield from _of_libraries([*libraries, *cubins], device, say, missing)
    yield from fit.of_host(one, libraries, device.host, provided)
    yield from fit.of_compilers(one, device.capability)
    with_guards = [library for library in (*libraries, *cubins) if not _is_nvidias(library)]
    yield from fit.of_guards(one, with_guards, device.capability)


def _named(libraries: t.Iterable[Library], name: str) -> list[Library]:
    return [library for library in libraries if os.path.basename(library["path"]) == name]


def _of_libraries(
    libraries: t.Sequence[Library], device: Device, say: t.Callable[[str, str, str], Finding], missing: Missing
) -> t.Iterator[Finding]:
    """Judge the libraries of a package; of those that differ in numbers alone (``_cuda118``, ``sm90/``) one is used."""
    code = {library["path"]: _code([library]) for library in libraries}
    gpu = {path: one for path, one in code.items() if one}
    problems, compiled, single = architectures.coverage(gpu, [device.capability])
    unusable = {path for path, _device in problems} | set(single)
    by_ptx = {path for path, _device in compiled}
    variants: dict[str, list[Library]] = {}
    for library in libraries:
        variants.setdefault(re.sub(r"\d+", "#", library["path"]), []).append(library)
    dead, lacking, unlinked, waiting = [], [], [], []
    for group in variants.values():
        usable = [
            library
            for library in group
            if library["path"] not in unusable and not library["lacking"] and library["path"] not in missing
        ]
        if usable:
            waiting += [usable[0]] if all(library["path"] in by_ptx for library in usable) else []
            continue
        best = max(group, key=lambda library: library["path"] not in unusable)
        if best["path"] in unusable:
            dead.append(best)
        elif best["path"] in missing:
            unlinked.append(best)
        elif not providers.optional_plugin(os.path.basename(best["path"])):
            lacking.append(best)
    if dead:
        yield say(
            *_without_code(dead, single, code, device, sum(group[0]["path"] in gpu for group in variants.values()))
        )
    if waiting:
        names = ", ".join(sorted(os.path.basename(library["path"]) for library in waiting)[:3])
        yield say(NOTE, "ptx", f"the driver compiles the PTX of {names} on first use.")
    own = [library for library in libraries if library["machine"] != contents.CUBIN]
    if unlinked:
        told = "; ".join(
            f"{os.path.basename(library['path'])} needs {missing[library['path']][0][0]}, which"
            f" {missing[library['path']][0][1]} does not have"
            for library in unlinked[:3]
        )
        # A module of Python is imported as a rule; another library may be opened only when somebody asks for it.
        fails = len(unlinked) == len(own) or any(_MODULE.search(library["path"]) for library in unlinked)
        yield say("no" if fails else "perhaps", "symbol", f"{told}: it was built for another version.")
    if lacking:
        yield from _without_sonames(lacking, own, device, say)


def _without_code(
    dead: t.Sequence[Library],
    single: t.Collection[str],
    code: t.Mapping[str, fatbin.Embedded],
    device: Device,
    count: int,
) -> tuple[str, str, str]:
    """Return level, kind and sentence of libraries without code for the GPU.

    :param count: of the libraries that have GPU code, variants as one.
    """
    complete = len(dead) == count
    level = "no" if complete else "perhaps"
    if (all(one["path"] in single for one in dead) and not complete) or all(_is_nvidias(one) for one in dead):
        level = NOTE
    elif all(one["machine"] == contents.CUBIN for one in dead):
        # What loads a bare cubin asks for the GPU first, and may have another way.
        level = "perhaps"
    names = "; ".join(f"{os.path.basename(one['path'])} has {code[one['path']]}" for one in dead[:3])
    has = "1 of its binaries has" if len(dead) == 1 else f"{len(dead)} of its binaries have"
    return level, "gpu_code", f"{has} no code that runs on {device.capability}: {names}."


def _without_sonames(
    lacking: t.Sequence[Library],
    libraries: t.Sequence[Library],
    device: Device,
    say: t.Callable[[str, str, str], Finding],
) -> t.Iterator[Finding]:
    """Yield what is to be said of libraries that need others which nobody provides."""
    missing: dict[str, list[Library]] = {}
    for library in lacking:
        for name in library["lacking"]:
            missing.setdefault(name, []).append(library)
    brings = {name: providers.provider(name, device.machine, device.cuda) for name in missing}
    torch = sorted(name for name in missing if brings[name].role == "python_env")
    if torch:
        yield say("perhaps", "soname", f"it needs {', '.join(torch[:4])} of PyTorch, but does not require it.")
    rest = {name: by for name, by in sorted(missing.items()) if name not in torch}
    if rest:
        lame = [library["path"] for by in rest.values() for library in by]
        complete = all(library["path"] in lame for library in libraries)
        told = "; ".join(
            f"{name}, which {os.path.basename(by[0]['path'])} needs"
            + (f" ({brings[name].hint.rstrip('.')})" if brings[name].role or brings[name].package else "")
            for name, by in [*rest.items()][:4]
        )
        yield say("no" if complete else "perhaps", "soname", f"no package provides {told}.")


def _is_nvidias(library: Library) -> bool:
    """Say whether a library is part of CUDA, which NVIDIA supports on the device whatever is in one file of it."""
    return providers.provider(library["soname"]).role == "cuda_libraries"


def _of_cuda(found: t.Sequence[Contents], device: Device) -> t.Iterator[Finding]:
    """Find CUDA versions that differ: of the toolkit's parts, and of what was built against them."""
    minors: dict[str, list[str]] = {}
    majors: dict[str, list[str]] = {}
    for one in found:
        local = _LOCAL.search(one["version"])
        version = one["version"] if _TOOLKIT.fullmatch(one["name"]) else f"{local[1]}.{local[2]}" if local else ""
        if version:
            minors.setdefault(".".join(version.split(".")[:2]), []).append(one["name"])
        if not _TOOLKIT.fullmatch(one["name"]):
            usable = [library for library in one["libraries"] if not library["lacking"]]
            needs = {match[1] for library in usable for name in library["needed"] if (match := _OF_CUDA.match(name))}
            for major in needs:
                majors.setdefault(major, []).append(one["name"])
    for what, kinds in (("minors", minors), ("majors", majors)):
        if len(kinds) > 1:
            told = "; ".join(f"{version} by {', '.join(names[:4])}" for version, names in sorted(kinds.items()))
            fewest = min(kinds.values(), key=len)[0]
            yield finding(fewest, "perhaps", "cuda", f"several {what} of CUDA: {told}.")
    newest = max(minors, key=versions.numbers, default="")
    for one in found:
        linker = ".".join(one["version"].split(".")[:2])
        if newest and _LINKER.fullmatch(one["name"]) and versions.numbers(linker) < versions.numbers(newest):
            what = f"nvJitLink {linker} does not accept code from CUDA {newest}."
            yield finding(one["name"], "perhaps", "cuda", what)
    if newest and versions.numbers(newest)[:1] > versions.numbers(device.cuda)[:1]:
        what = f"it is for CUDA {newest}, but the driver for CUDA {device.cuda} runs only that major and older."
        yield finding(minors[newest][0], "no", "cuda", what)
    elif newest and versions.numbers(newest) > versions.numbers(device.cuda):
        what = f"it is for CUDA {newest}: a driver for {device.cuda} runs its machine code, but not its PTX."
        yield finding(minors[newest][0], NOTE, "cuda", what)


def find_lacking(found: t.Sequence[Contents], device: Device) -> None:
    """Set ``lacking`` of wheels that are not installed, where no loader can be asked.

    The driver's libraries and those of a base system count as there, and so do those of the CUDA toolkit of the
    device's major, which DGX OS has.
    """
    provided = sonames(found)
    major = device.cuda.partition(".")[0]
    for library in (library for one in found for library in one["libraries"]):
        library["lacking"] = [
            name
            for name in library["needed"]
            if name not in provided and not _is_of_the_host(name, device.machine, major)
        ]


def _is_of_the_host(name: str, machine: str, major: str) -> bool:
    brings = providers.provider(name, machine, f"{major}.0")
    package = brings.package or ""
    if brings.role == "driver" or package in _BASE or package.startswith("libpython"):
        return True
    return brings.role == "cuda_libraries" and re.search(rf"-{major}\b", package) is not None


# --- table ---------------------------------------------------------------------------------------------------------


def paths(given: t.Sequence[str], device: Device) -> dict[str, t.Any]:
    """Return the judgement of wheels and directories together.

    :raises SparkforgeError: one of them is neither.
    """
    found: list[Contents] = []
    said: list[Finding] = []
    with tempfile.TemporaryDirectory() as cache:
        for path in given:
            if path.endswith(".whl") and os.path.isfile(path):
                found.append(contents.of_wheel(path, cache))
            else:
                more, findings, device = _in_directory(path, device)
                found += more
                said += findings
    unread = ["what the wheels require, beyond what was named"] if any(one["file"] for one in found) else []
    result = judge(found, device, {one["name"] for one in found}, said, unread)
    return {**result, "table": table(result)}


def _in_directory(path: str, device: Device) -> tuple[list[Contents], list[Finding], Device]:
    """Return what is in a directory, what its image asks for, and the device with the versions of its libraries."""
    if not os.path.isdir(path):
        what = "is neither a directory nor a wheel" if os.path.exists(path) else "does not exist"
        raise SparkforgeError(
            f"{path} {what}.", "Name a requirement, a file that ends in .whl, or a directory.", path=path
        )
    if os.path.isfile(os.path.join(path, "config.json")) and os.path.isdir(os.path.join(path, "rootfs")):
        # A bundle as runc and umoci have it.
        path = os.path.join(path, "rootfs")
    is_root = all(os.path.isdir(os.path.join(path, name)) for name in ("usr", "etc"))
    root, environment = (path, None) if is_root else ("/", os.path.abspath(path))
    said = list(fit.of_image(path, device.cuda)) if is_root else []
    try:
        found = contents.of_environments(root, environment)
    except contents.NoPackageError:
        if not said:
            raise
        found = []
    is_native = is_root or os.uname().machine == device.machine
    if is_native:
        own = contents.host_versions(FileSystem(root))
        device = dataclasses.replace(device, host={**device.host, **own})
    else:
        # This host's loader says nothing of another machine's libraries.
        find_lacking(found, device)
    return found, said, device


def table(result: t.Mapping[str, t.Any]) -> str:
    """Return a table in Markdown of the packages that have GPU code or a finding, and the verdict below it."""
    rows = [["package", "version", "GPU code", "runs", "why"]]
    quiet = 0
    for one in result["packages"]:
        own = [
            finding
            for finding in result["findings"]
            if finding["package"] == one["name"] and (one["asked"] or finding["level"] != NOTE)
        ]
        if not ((one["asked"] and len(rows) < 40) or own or one["gpu_code"] != str(fatbin.Embedded())):
            quiet += 1
            continue
        why = " ".join(finding["what"] for finding in own) or "-"
        rows.append([one["name"], one["version"], one["gpu_code"], one["verdict"], why])
    known = {one["name"] for one in result["packages"]}
    rows += [
        [finding["package"], "-", "-", finding["level"], finding["what"]]
        for finding in result["findings"]
        if finding["package"] not in known
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "| " + " | ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[4]]) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|---|")
    rest = f" {quiet} more have no GPU code and nothing to say." if quiet else ""
    if result["not_looked_at"]:
        lines += ["", f"not looked at: {'; '.join(result['not_looked_at'])}."]
    return "\n".join([*lines, "", f"{result['verdict']}: {result['summary']}{rest}"])
