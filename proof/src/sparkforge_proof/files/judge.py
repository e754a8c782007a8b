"""Judge the contents of packages for a device, with findings, a verdict and a table."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import tempfile
import typing as t

from .._shared.module_utils._core import sanitize, versions
from .._shared.module_utils._core.errors import SparkforgeError
from .._shared.module_utils._elf import fatbin, providers
from .._shared.module_utils._elf.filesystem import FileSystem
from .._shared.module_utils._wheel.tags import check_wheel_fits
from ..checks.stack import architectures
from . import contents, fit
from .contents import Contents, Library, sonames
from .fit import Finding, finding

#: The verdicts, from best to worst. They are also the levels of a finding, which has a fourth, ``note``.
VERDICTS = ("yes", "perhaps", "no")
NOTE = "note"
#: The apt packages that every Ubuntu and DGX OS has installed.
_BASE = frozenset("libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g libzstd1 liblzma5 libbz2-1.0 libffi8 libatomic1".split())
_BASE_NAMES = re.compile(r"lib(?:ssl|crypto)\.so\.3|lib(?:expat|uuid|crypt|udev|blkid|mount|acl|selinux)\.so\.1")
#: Packages whose version is that of their CUDA toolkit; other libraries have their own versions.
_TOOLKIT = re.compile(r"cuda-toolkit|nvidia-(?:cuda-(?:runtime|nvrtc|cupti)|nvtx)(?:-cu\d+)?")
#: The linker accepts code from older minor versions too, so it may be newer than the rest (nvJitLink, Compatibility).
_LINKER = re.compile(r"nvidia-nvjitlink(?:-cu\d+)?")
_OF_CUDA = re.compile(r"lib(?:cudart|cublas|cublasLt|nvrtc|nvJitLink|cupti)\.so\.(\d+)")
_FOR_SOME = re.compile(r"(?i)sm_?\d|(?<!\d)(?:[89]|1[01])\d(?!\d)|hopper|fa3|flash_?mla")
_MODULE = re.compile(r"\.(?:abi3|cpython-\w+(?:-[\w-]+)?)\.so$")
#: A library that the package loads on any machine: an extension module, or one whose path names no machine.
_NEEDED = re.compile(rf"{_MODULE.pattern}|^(?!.*(?i:amd64|x86|x64|i[3-6]86|arm|aarch|tests?/)).*\.so(\.[\d.]+)?$")
#: Packages that run on the GPU only with code of their own, which their builds for the CPU lack.
_OF_KERNELS = frozenset("bitsandbytes causal-conv1d ctranslate2 flash-attn mamba-ssm sgl-kernel vllm xformers".split())
#: How many of a package's damaged files are named.
_SHOWN = 20
_LOCAL = re.compile(r"\+(?:.*\.)?cu(\d+)(\d)\b")


@dataclasses.dataclass(frozen=True)
class Device:
    """The device for which packages are judged.

    :ivar machine: the machine as printed by ``uname -m``, such as ``aarch64``.
    :ivar capability: the GPU's compute capability, such as ``12.1``.
    :ivar cuda: the newest CUDA version whose PTX the driver accepts, such as ``13.0``.
    :ivar python: the interpreter's version, such as ``3.12``.
    :ivar host: the newest symbol versions of its libc and libstdc++: ``GLIBC`` -> ``2.39``.
    """

    machine: str = "aarch64"
    capability: str = "12.1"
    cuda: str = "13.0"
    python: str = "3.12"
    host: t.Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(contents.HOST_VERSIONS))

    def __post_init__(self) -> None:
        """Refuse invalid versions."""
        if not fatbin.is_architecture(self.capability) or self.capability[-1] in "af":
            raise SparkforgeError(f"{self.capability!r} is not a compute capability.", "Write it as 12.1, in quotes.")
        for name, value in (("CUDA", self.cuda), ("Python", self.python)):
            if not re.fullmatch(r"\d+\.\d+", value):
                raise SparkforgeError(f"{value!r} is not a version of {name}.", "Write it as 13.0 or 3.12, in quotes.")


#: By path of a library, its missing symbols and the packages that should export them.
Missing = t.Mapping[str, t.Sequence[tuple[str, str]]]


def judge(
    packages: t.Sequence[Contents],
    device: Device,
    asked: t.Collection[str] = (),
    known: t.Sequence[Finding] = (),
    unread: t.Sequence[str] = (),
) -> dict[str, t.Any]:
    """Return ``verdict``, ``findings``, ``packages``, ``summary`` and ``not_looked_at`` for packages used together.

    Faults in the requested packages decide; a fault in a dependency makes the verdict ``perhaps``.

    :param asked: the names of the requested packages; if empty, all.
    :param known: earlier findings, such as a package without a wheel.
    :param unread: requested items that could not be read, such as a source to build.
    """
    findings = [*known]
    missing = fit.missing_symbols(packages)
    provided = sonames(packages)
    for package in packages:
        symbols = {path: rows for (name, path), rows in missing.items() if name == package["name"]}
        findings += _of_package(package, device, symbols, provided)
    findings += _of_cuda(packages, device)
    findings += fit.of_versions(packages, device.machine)
    rows = [
        {
            "name": package["name"],
            "version": package["version"],
            "gpu_code": str(_code(package["libraries"])),
            "libraries": sum(library["machine"] != contents.CUBIN for library in package["libraries"]),
            "verdict": _worst(finding for finding in findings if finding["package"] == package["name"]),
            "asked": not asked or package["name"] in asked,
        }
        for package in packages
    ]
    decisive = [
        finding["level"] if not asked or finding["package"] in asked or finding["level"] != "no" else "perhaps"
        for finding in findings
    ]
    without_findings = "yes" if rows else "perhaps"
    verdict = max((level for level in decisive if level != NOTE), key=VERDICTS.index, default=without_findings)
    result = {
        "verdict": verdict,
        "findings": findings,
        "packages": rows,
        "summary": _summary(verdict, rows, device),
        "not_looked_at": [*unread, *_not_looked_at(packages)],
    }
    # Names and versions come from the files and may contain control characters.
    return t.cast("dict[str, t.Any]", sanitize.data(result))


def _not_looked_at(packages: t.Sequence[Contents]) -> list[str]:
    """Return descriptions of the parts of the packages that were not examined."""
    rows = ["Python code, and the files that it opens, downloads or compiles when it runs"] if packages else []
    endings: dict[str, int] = {}
    for package in packages:
        for ending, count in package["unread"].items():
            endings[ending] = endings.get(ending, 0) + count
    rows += [f"{count} file{'' if count == 1 else 's'} named .{ending}" for ending, count in sorted(endings.items())]
    libraries = [library for package in packages for library in package["libraries"]]
    if any(library["cubins"] for library in libraries):
        rows.append("the machine code for GPUs itself, and texts in compressed machine code")
    lacking = sum(bool(library["lacking"]) for library in libraries)
    if lacking:
        rows.append(f"the symbols of {lacking} librar{'y' if lacking == 1 else 'ies'} that lack another library")
    unreadable = sum(package["without_symbols"] for package in packages)
    if unreadable:
        rows.append(f"the symbols of {unreadable} binar{'y' if unreadable == 1 else 'ies'} with unknown tables")
    return rows


def _worst(findings: t.Iterable[Finding]) -> str:
    levels = (finding["level"] for finding in findings)
    return max((level for level in levels if level != NOTE), key=VERDICTS.index, default="yes")


def _summary(verdict: str, rows: t.Sequence[t.Mapping[str, t.Any]], device: Device) -> str:
    sentences = {
        "yes": "Nothing in the files of {packages} rules out {device}.",
        "perhaps": "Some of {packages} may not work on {device}: see the findings."
        if rows
        else "No file was read that shows whether it runs on {device}.",
        "no": "It will not run on {device}: see the findings.",
    }
    return sentences[verdict].format(
        packages=f"{len(rows)} package{'' if len(rows) == 1 else 's'}",
        device=f"{device.machine} with a GPU of {device.capability}",
    )


def _code(libraries: t.Iterable[Library]) -> fatbin.Embedded:
    return fatbin.Embedded(
        frozenset(name for library in libraries for name in library["cubins"]),
        frozenset(name for library in libraries for name in library["ptx"]),
    )


def _of_package(
    package: Contents, device: Device, missing: Missing, provided: t.Collection[str]
) -> t.Iterator[Finding]:
    report = functools.partial(finding, package["name"])
    if package["file"]:
        major, minor = device.python.split(".")
        try:
            check_wheel_fits(package["file"], (int(major), int(minor)), device.machine, device.host["GLIBC"])
        except SparkforgeError as error:
            yield report("no", "platform", error.cause)
    is_zero = re.fullmatch(r"0(?:\.0)*(?:\.?(?:a|dev|post)\d+)?", package["version"]) and not package["libraries"]
    if (package["files"] < 2 and is_zero) or not (package["files"] or package["requires"]):
        yield report("no", "empty", f"its version {package['version']} is a placeholder, which holds no program.")
    yield from (report("no", "damaged", cause) for cause in package["damaged"][:_SHOWN])
    if len(package["damaged"]) > _SHOWN:
        yield report("no", "damaged", f"{len(package['damaged']) - _SHOWN} more of its files are damaged.")
    cubins = [library for library in package["libraries"] if library["machine"] == contents.CUBIN]
    libraries = [library for library in package["libraries"] if library["machine"] == device.machine]
    others = {library["machine"] for library in package["libraries"]} - {device.machine, contents.CUBIN}
    if others and not libraries:
        # A package may contain tools for another machine, such as debugpy's attach_linux_amd64.so, but extension
        # modules, GPU code, and libraries that do not name a machine are not such tools, nor is all that it contains.
        needed = any(_NEEDED.search(other["path"]) or other["cubins"] or other["ptx"] for other in package["libraries"])
        needed |= len(package["libraries"]) == package["files"]
        yield report("no" if needed else "perhaps", "machine", f"its libraries are for {', '.join(sorted(others))}.")
        return
    of_cuda = [library for library in libraries if os.path.basename(library["path"]) == "libtorch_cuda.so"]
    if package["name"] == "torch" and libraries and not of_cuda:
        yield report("no", "cpu_only", "it is a CPU build: it has no libtorch_cuda.so.")
    if package["name"] in _OF_KERNELS and libraries and not _code([*libraries, *cubins]):
        yield report("perhaps", "cpu_only", "it has no GPU code: this build runs on the CPU alone.")
    if package["name"] == "torch" and versions.numbers(package["version"])[:2] < architectures.GUARD_LIFTED:
        trapped = architectures.trapped(_code(of_cuda), ())
        if trapped and device.capability == architectures.TRAPPED:
            empty = f"its memory-efficient attention is empty in the code for {trapped[0]}."
            yield report("no", "attention_guard", empty)
    if package["sources"]:
        files = f"{package['sources']} file{'' if package['sources'] == 1 else 's'} of CUDA C++"
        yield report(NOTE, "compiles", f"it contains {files}: compiling it at run time needs nvcc on the host.")
    yield from _of_libraries([*libraries, *cubins], device, report, missing)
    yield from fit.of_host(package, libraries, device.host, provided)
    yield from fit.of_compilers(package, device.capability)
    with_guards = [library for library in (*libraries, *cubins) if not _is_nvidias(library)]
    yield from fit.of_guards(package, with_guards, device.capability)


def _of_libraries(
    libraries: t.Sequence[Library], device: Device, report: t.Callable[[str, str, str], Finding], missing: Missing
) -> t.Iterator[Finding]:
    """Judge a package's libraries. Of variants whose paths differ only in numbers (``sm90/``), one must work."""
    code = {library["path"]: _code([library]) for library in libraries}
    gpu = {path: embedded for path, embedded in code.items() if embedded}
    problems, compiled, single = architectures.coverage(gpu, [device.capability])
    unusable = {path for path, _device in problems} | set(single)
    by_ptx = {path for path, _device in compiled}
    variants: dict[str, list[Library]] = {}
    for library in libraries:
        variants.setdefault(re.sub(r"\d+", "#", library["path"]), []).append(library)
    without_code, lacking, unlinked, only_ptx = [], [], [], []
    for group in variants.values():
        usable = [
            library
            for library in group
            if library["path"] not in unusable and not library["lacking"] and library["path"] not in missing
        ]
        if usable:
            only_ptx += [usable[0]] if all(library["path"] in by_ptx for library in usable) else []
            continue
        best = max(group, key=lambda library: (library["path"] not in unusable, _installable(library)))
        if best["path"] in unusable:
            without_code.append(best)
        elif best["path"] in missing:
            unlinked.append(best)
        elif not providers.optional_plugin(os.path.basename(best["path"])):
            lacking.append(best)
    if without_code:
        count = sum(group[0]["path"] in gpu for group in variants.values())
        # A library with variants needs only one that suits this GPU.
        alone = {group[0]["path"] for group in variants.values() if len(group) == 1}
        yield report(*_without_code(without_code, alone.intersection(single), code, device, count))
    if only_ptx:
        names = ", ".join(sorted(os.path.basename(library["path"]) for library in only_ptx)[:3])
        yield report(NOTE, "ptx", f"the driver compiles the PTX of {names} on first use.")
    own = [library for library in libraries if library["machine"] != contents.CUBIN]
    if unlinked:
        rows = "; ".join(
            f"{os.path.basename(library['path'])} needs {missing[library['path']][0][0]}, which"
            f" {missing[library['path']][0][1]} does not have"
            for library in unlinked[:3]
        )
        # Extension modules are usually imported; other libraries may be loaded only on request.
        fails = len(unlinked) == len(own) or any(_MODULE.search(library["path"]) for library in unlinked)
        yield report("no" if fails else "perhaps", "symbol", f"{rows}: it was built for another version.")
    if lacking:
        yield from _without_sonames(lacking, own, device, report)


def _without_code(
    libraries: t.Sequence[Library],
    single: t.Collection[str],
    code: t.Mapping[str, fatbin.Embedded],
    device: Device,
    count: int,
) -> tuple[str, str, str]:
    """Return the level, kind and sentence of a finding for libraries without code for the GPU.

    :param count: the number of libraries with GPU code; variants count as one.
    """
    complete = len(libraries) == count
    level = "no" if complete else "perhaps"
    # A library of single architectures that its name does not tell may be used on any GPU.
    only_single = all(library["path"] in single and _FOR_SOME.search(library["path"]) for library in libraries)
    if (only_single and not complete) or all(map(_is_nvidias, libraries)):
        level = NOTE
    elif all(library["machine"] == contents.CUBIN for library in libraries):
        # The code that loads a bare cubin first checks the GPU, and may have an alternative.
        level = "perhaps"
    names = "; ".join(f"{os.path.basename(each['path'])} has {code[each['path']]}" for each in libraries[:3])
    has = "1 of its binaries has" if len(libraries) == 1 else f"{len(libraries)} of its binaries have"
    return level, "gpu_code", f"{has} no code that runs on {device.capability}: {names}."


def _without_sonames(
    lacking: t.Sequence[Library],
    libraries: t.Sequence[Library],
    device: Device,
    report: t.Callable[[str, str, str], Finding],
) -> t.Iterator[Finding]:
    """Yield findings for libraries that need a SONAME that no package provides."""
    missing: dict[str, list[Library]] = {}
    for library in lacking:
        for name in library["lacking"]:
            missing.setdefault(name, []).append(library)
    known = {name: providers.provider(name, device.machine, device.cuda) for name in missing}
    torch = sorted(name for name in missing if known[name].role == "python_env" and not providers.COPY.search(name))
    if torch:
        yield report("perhaps", "soname", f"it needs {', '.join(torch[:4])} of PyTorch, which was not read.")
    rest = {name: users for name, users in sorted(missing.items()) if name not in torch}
    if rest:
        broken = [library["path"] for users in rest.values() for library in users]
        complete = all(library["path"] in broken for library in libraries)
        together: dict[str, list[str]] = {}
        for name, users in rest.items():
            hint = f" ({known[name].hint.rstrip('.')})" if known[name].role or known[name].package else ""
            together.setdefault(f"needed by {os.path.basename(users[0]['path'])}{hint}", []).append(name)
        rows = "; ".join(f"{', '.join(names[:4])}, {use}" for use, names in [*together.items()][:4])
        level = "no" if complete or any(map(providers.COPY.search, rest)) else "perhaps"
        yield report(level, "soname", f"no package provides {rows}.")


def _installable(library: Library) -> int:
    return sum(providers.provider(name).package is not None for name in library["lacking"])


def _is_nvidias(library: Library) -> bool:
    """Tell whether a library is part of CUDA, which NVIDIA supports on the device regardless of any single file."""
    return providers.provider(library["soname"]).role == "cuda_libraries"


def _of_cuda(packages: t.Sequence[Contents], device: Device) -> t.Iterator[Finding]:
    """Yield findings if the toolkit's packages, or packages built for CUDA, have different CUDA versions."""
    minors: dict[str, list[str]] = {}
    majors: dict[str, list[str]] = {}
    for package in packages:
        name, version = package["name"], package["version"]
        if not _TOOLKIT.fullmatch(name):
            local = _LOCAL.search(version)
            version = f"{local[1]}.{local[2]}" if local else ""
            needed = {name for library in package["libraries"] if not library["lacking"] for name in library["needed"]}
            for major in {match[1] for match in map(_OF_CUDA.match, needed) if match}:
                majors.setdefault(major, []).append(name)
        if version:
            minors.setdefault(".".join(version.split(".")[:2]), []).append(name)
    for label, users in (("minors", minors), ("majors", majors)):
        if len(users) > 1:
            rows = "; ".join(f"{version} by {', '.join(names[:4])}" for version, names in sorted(users.items()))
            fewest = min(users.values(), key=len)[0]
            yield finding(fewest, "perhaps", "cuda", f"several {label} of CUDA: {rows}.")
    newest = max(minors, key=versions.numbers, default="")
    for package in packages:
        linker = ".".join(package["version"].split(".")[:2])
        if newest and _LINKER.fullmatch(package["name"]) and versions.numbers(linker) < versions.numbers(newest):
            sentence = f"nvJitLink {linker} does not accept code from CUDA {newest}."
            yield finding(package["name"], "perhaps", "cuda", sentence)
    if newest and versions.numbers(newest)[:1] > versions.numbers(device.cuda)[:1]:
        sentence = f"it is for CUDA {newest}, but the driver for CUDA {device.cuda} runs only that major and older."
        yield finding(minors[newest][0], "no", "cuda", sentence)
    elif newest and versions.numbers(newest) > versions.numbers(device.cuda):
        sentence = f"it is for CUDA {newest}: a driver for {device.cuda} runs its machine code, but not its PTX."
        yield finding(minors[newest][0], NOTE, "cuda", sentence)


def find_lacking(packages: t.Sequence[Contents], device: Device) -> None:
    """Set ``lacking`` for wheels that are not installed, without using a loader.

    The driver's and the base system's libraries count as provided, as do those from the CUDA toolkit with the device's
    major version, which DGX OS installs.
    """
    provided = sonames(packages)
    major = device.cuda.partition(".")[0]
    for library in (library for package in packages for library in package["libraries"]):
        library["lacking"] = [
            name
            for name in library["needed"]
            if name not in provided and not _is_of_the_host(name, device.machine, major)
        ]


def _is_of_the_host(name: str, machine: str, major: str) -> bool:
    provider = providers.provider(name, machine, f"{major}.0")
    package = provider.package or ""
    if provider.role == "driver" or package in _BASE or package.startswith("libpython") or _BASE_NAMES.fullmatch(name):
        return True
    return provider.role == "cuda_libraries" and re.search(rf"-{major}\b", package) is not None


def paths(targets: t.Sequence[str], device: Device) -> dict[str, t.Any]:
    """Judge wheels and directories together.

    :raises SparkforgeError: if a path is neither a wheel nor a directory.
    """
    packages: list[Contents] = []
    known: list[Finding] = []
    with tempfile.TemporaryDirectory() as cache:
        for path in targets:
            if path.endswith(".whl") and os.path.isfile(path):
                packages.append(contents.of_wheel(path, cache))
            else:
                more, findings, device = _in_directory(path, device)
                packages += more
                known += findings
    unread = ["the requirements of the wheels that are not named"] if any(wheel["file"] for wheel in packages) else []
    result = judge(packages, device, {package["name"] for package in packages}, known, unread)
    return {**result, "table": table(result)}


def _in_directory(path: str, device: Device) -> tuple[list[Contents], list[Finding], Device]:
    """Return the packages in a directory, findings about its image, and the device with the libc versions there."""
    if not os.path.isdir(path):
        kind = "a source distribution" if path.endswith((".tar.gz", ".zip")) else "neither a directory nor a wheel"
        fault = f"is {kind}" if os.path.exists(path) else "does not exist"
        remedy = "Name a requirement, a file that ends in .whl (pip wheel --no-deps PATH builds it), or a directory."
        raise SparkforgeError(f"{path} {fault}.", remedy, path=path)
    if os.path.isfile(os.path.join(path, "config.json")) and os.path.isdir(os.path.join(path, "rootfs")):
        # This is an OCI bundle for runc or umoci.
        path = os.path.join(path, "rootfs")
    is_root = all(os.path.isdir(os.path.join(path, name)) for name in ("usr", "etc"))
    root, environment = (path, None) if is_root else ("/", os.path.abspath(path))
    findings = list(fit.of_image(path, device.cuda)) if is_root else []
    try:
        packages = contents.of_environments(root, environment)
    except contents.NoPackageError:
        if not findings:
            raise
        packages = []
    is_native = is_root or os.uname().machine == device.machine
    if is_native:
        own = contents.host_versions(FileSystem(root))
        device = dataclasses.replace(device, host={**device.host, **own})
    else:
        # This host's loader cannot judge another machine's libraries.
        find_lacking(packages, device)
    return packages, findings, device


def table(result: t.Mapping[str, t.Any]) -> str:
    """Return a Markdown table of packages that have GPU code or a finding, followed by the verdict."""
    rows = [["package", "version", "GPU code", "runs", "why"]]
    quiet = 0
    for package in result["packages"]:
        own = [
            finding
            for finding in result["findings"]
            if finding["package"] == package["name"] and (package["asked"] or finding["level"] != NOTE)
        ]
        if not ((package["asked"] and len(rows) < 40) or own or package["gpu_code"] != str(fatbin.Embedded())):
            quiet += 1
            continue
        why = " ".join(finding["what"] for finding in own) or "-"
        rows.append([package["name"], package["version"], package["gpu_code"], package["verdict"], why])
    known = {package["name"] for package in result["packages"]}
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
    rest = f" {quiet} more have no GPU code and no finding." if quiet else ""
    if result["not_looked_at"]:
        lines += ["", f"not looked at: {'; '.join(result['not_looked_at'])}."]
    return "\n".join([*lines, "", f"{result['verdict']}: {result['summary']}{rest}"])
