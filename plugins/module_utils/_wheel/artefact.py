"""The digest of a build's result (wheels or an installed prefix), and checks for the requested features.

CMake continues without features that it did not find and still succeeds. Therefore the result itself is checked:
CMake's chosen options, the libraries that its files link to, and the GPUs that they have code for. Wheels are read in
place; only ELF files are unpacked, one at a time.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import stat
import typing as t

from .._core import digests
from .._core.errors import SparkforgeError
from .._elf import fatbin, reader
from .wheel import Wheel
from .wheel_file import WheelFiles

_EXPECTED = frozenset({"version", "cmake_cache", "libraries", "architectures", "files"})
_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_FALSE = frozenset({"0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND", ""})
_SWITCH = re.compile(r"(?:USE|WITH|BUILD|ENABLE)_(?:SYSTEM_)?")
#: The official spelling of libraries whose names are upper-case in CMake options.
_NAMES = {
    "CUDA": "CUDA",
    "CUDNN": "cuDNN",
    "CUDSS": "cuDSS",
    "CUFILE": "cuFile",
    "CUSPARSELT": "cuSPARSELt",
    "MKLDNN": "oneDNN",
    "OPENMP": "OpenMP",
}


def tree_digest(directory: str) -> dict[str, t.Any]:
    """Return ``{"sha256", "files", "size"}`` of a directory, determined by its names, contents, links and modes.

    Of a file's mode, only the execute bit counts; times and owners are ignored.
    """
    digest = hashlib.sha256()
    files = size = 0
    for name, path in _tree(directory):
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            kind, content = "link", os.fsencode(os.readlink(path)).hex()
        elif stat.S_ISDIR(status.st_mode):
            kind, content = "directory", ""
        else:
            kind = "program" if status.st_mode & 0o100 else "file"
            content = digests.of_file(path)
            files += 1
            size += status.st_size
        digest.update(f"{kind} {content} {os.fsencode(name).hex()}\n".encode("ascii"))
    return {"sha256": digest.hexdigest(), "files": files, "size": size}


def check(
    expect: t.Mapping[str, t.Any],
    *,
    wheels: t.Iterable[Wheel] = (),
    prefix: str | None = None,
    caches: t.Iterable[str] = (),
) -> list[str]:
    """Return a sentence for each requested feature that the result lacks.

    ``expect`` may contain

    - ``cmake_cache``: variable -> the value that CMake must have chosen. ``ON``, ``1``, ``true`` are equal; ``*`` and
      ``?`` match anything except a ``-NOTFOUND``. If several caches have the variable, the outermost one counts,
      because nested projects may have options with the same names;
    - ``libraries``: SONAME patterns, each of which some file must link to (``DT_NEEDED``);
    - ``architectures``: as in TORCH_CUDA_ARCH_LIST (``12.0``, ``12.1a``, ``12.0+PTX``). Some file must have code for
      each. Every file with GPU code must run on each plain one and have PTX for each with ``+PTX``, except files that
      only have code for specific capabilities (``a``, ``f``);
    - ``files``: path patterns in the wheel or the prefix, in which ``*`` also matches ``/``;
    - ``version``: the version of each wheel, including its local part, because a build may choose its own version.

    :param wheels: from ``wheel_file.collect_wheels``.
    :param prefix: a directory filled by ``cmake --install``.
    :param caches: paths of ``CMakeCache.txt``.
    :raises SparkforgeError: if ``expect`` itself is invalid, or a file cannot be read.
    """
    _check_expect(expect)
    if prefix is not None and not os.path.isdir(prefix):
        return [f"nothing was installed into {prefix}"]
    wheels = list(wheels)
    problems = []
    version = str(expect.get("version") or "")
    if version:
        problems += [
            f"{wheel.file} has version {wheel.version}, not {version}"
            for wheel in wheels
            if _plain(wheel.version) != _plain(version)
        ]
    values = expect.get("cmake_cache") or {}
    if values:
        problems += _check_caches(values, sorted(caches, key=lambda path: (path.count("/"), path)))
    sources: list[WheelFiles | _Prefix] = [WheelFiles(wheel) for wheel in wheels]
    if prefix is not None:
        sources.append(_Prefix(prefix))
    where = " or ".join(source.name for source in sources) or "nothing"
    patterns = [str(pattern) for pattern in expect.get("files") or ()]
    if patterns:
        names = [name for source in sources for name in source.names()]
        problems += [f"{where} has no file {pattern}" for pattern in patterns if not fnmatch.filter(names, pattern)]
    libraries = [str(pattern) for pattern in expect.get("libraries") or ()]
    requested = [str(architecture) for architecture in expect.get("architectures") or ()]
    if libraries or requested:
        linked: set[str] = set()
        embedded: dict[str, fatbin.Embedded] = {}
        for source in sources:
            for name, path in source.binaries():
                try:
                    linked.update(reader.read_elf(path, name).needed)
                    code = fatbin.architectures(path, name) if requested else None
                except (reader.CorruptElfError, reader.UnreadableFileError) as error:
                    problems.append(error.cause.rstrip("."))
                    continue
                if code:
                    embedded[f"{source.name}/{name}"] = code
        problems += _check_libraries(libraries, linked, where)
        problems += _check_architectures(requested, embedded, where)
    return problems


def _check_expect(expect: t.Mapping[str, t.Any]) -> None:
    """Refuse entries that would otherwise be ignored silently: a misspelled key, an invalid architecture."""
    for key in expect:
        if key not in _EXPECTED:
            raise SparkforgeError(
                f"The option expect has an unknown key {key!r}.", f"Use one or more of {', '.join(sorted(_EXPECTED))}."
            )
    for architecture in expect.get("architectures") or ():
        if not fatbin.is_architecture(str(architecture).replace("+PTX", "")):
            raise SparkforgeError(
                f"{architecture!r} in expect.architectures is not a GPU architecture.",
                "Write it in quotes, as in TORCH_CUDA_ARCH_LIST: '12.0', '12.1a', '12.0+PTX'.",
            )


def _plain(version: str) -> str:
    """Return a version in the form that installers compare: ``+CU130.007`` becomes ``+cu130.7``."""
    return re.sub(r"(?<![0-9a-z])0+(?=\d)", "", re.sub(r"[-_]", ".", version.lower()))


def _check_libraries(patterns: list[str], linked: set[str], where: str) -> list[str]:
    problems = []
    for pattern in patterns:
        if fnmatch.filter(linked, pattern):
            continue
        # Having libcudnn.so.8 instead of libcudnn.so.9 is a different problem from having no cuDNN at all.
        stem = re.split(r"\.so\b|[*?\[]", pattern)[0]
        others = sorted(name for name in linked if stem and re.split(r"\.so\b", name)[0] == stem)
        instead = f", which links {', '.join(others)} instead" if others else ""
        problems.append(f"{pattern} is not linked by any file of {where}{instead}")
    return problems


def _check_architectures(requested: list[str], embedded: t.Mapping[str, fatbin.Embedded], where: str) -> list[str]:
    if requested and not embedded:
        return [f"no file of {where} has GPU code, which was requested for {', '.join(requested)}"]
    problems = []
    contents = ", nor in ".join(f"{os.path.basename(name)}: it holds {code}" for name, code in sorted(embedded.items()))
    for item in requested:
        architecture = item.replace("+PTX", "")
        if not any(architecture in code.cubins for code in embedded.values()):
            problems.append(f"no code for {architecture} in {contents}")
        elif architecture[-1] not in "af":
            problems += [
                f"no code that runs on {architecture} in {os.path.basename(name)}: it holds {code}"
                for name, code in sorted(embedded.items())
                if not _is_specific(code) and not code.runs_on(architecture)
            ]
        if item.endswith("+PTX"):
            problems += [
                f"no PTX of {architecture} in {os.path.basename(name)}: it holds {code}"
                for name, code in sorted(embedded.items())
                if not _is_specific(code) and architecture not in code.ptx
            ]
    return problems


def _is_specific(embedded: fatbin.Embedded) -> bool:
    """Tell whether a file only has code for specific capabilities, which its caller selects by GPU."""
    return all(name[-1] in "af" for name in embedded.cubins | embedded.ptx)


def read_cache(path: str) -> dict[str, tuple[str, str]]:
    """Return ``{variable: (type, value)}`` from a ``CMakeCache.txt``."""
    variables: dict[str, tuple[str, str]] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                match = re.match(r'(?:"([^"]+)"|([^#/"\s][^:=]*)):([A-Z]+)=(.*)', line)
                if match:
                    value = match[4].strip("\r\n")
                    # CMake puts a value that begins or ends with a blank in single quotes.
                    quoted = len(value) > 1 and value[0] == value[-1] == "'"
                    variables[match[1] or match[2]] = (match[3], value[1:-1] if quoted else value)
    except OSError as error:
        raise SparkforgeError(
            f"{path} cannot be read: {error.strerror}.", "Build with rebuild set, so that CMake recreates it."
        ) from error
    return variables


def _check_caches(requested: t.Mapping[str, t.Any], paths: list[str]) -> list[str]:
    caches = [read_cache(path) for path in paths]
    problems = []
    for variable, value in requested.items():
        requested_value = ("OFF", "ON")[value] if isinstance(value, bool) else str(value)
        cache = next((cache for cache in caches if variable in cache), None)
        if cache is not None:
            problem = _problem(variable, requested_value, cache)
        elif caches:
            problem = "CMake has no such variable"
        else:
            problem = "there is no CMakeCache.txt that shows what CMake chose"
        if problem:
            problems.append(f"{variable} was requested ({requested_value}), {problem}")
    return problems


def _problem(variable: str, asked: str, cache: t.Mapping[str, tuple[str, str]]) -> str:
    """Return why the cache does not have the requested value, or '' if it does."""
    kind, chosen = cache[variable]
    requested, actual = _parse_boolean(asked), _parse_boolean(chosen)
    if requested is True and kind == "UNINITIALIZED":
        # The variable was set with -D, but no option() or set(... CACHE) declares it.
        return "but the project declares no such option"
    if requested is True and actual is True and kind == "INTERNAL":
        # cmake_dependent_option() hides the option like this: it keeps the given value, but continues with OFF.
        no_cuda = _parse_boolean(cache.get("USE_CUDA", ("", "ON"))[1]) is False
        return f"CMake ignored it: an option that it depends on is off{' (USE_CUDA is)' if no_cuda else ''}"
    if requested is not None and requested == actual:
        return ""
    if asked != chosen and ("*" in asked or "?" in asked) and not chosen.endswith("NOTFOUND") and chosen:
        return "" if fnmatch.fnmatchcase(chosen, asked) else f"CMake chose {chosen}"
    if asked == chosen:
        return ""
    return f"CMake chose {chosen or 'nothing'}{_reason(variable, cache) if requested is True else ''}"


def _reason(variable: str, cache: t.Mapping[str, tuple[str, str]]) -> str:
    """Name the library behind a disabled option, if the cache shows that CMake did not find it."""
    stem = _SWITCH.sub("", variable, count=1).upper()
    missing = sorted(
        name
        for name, (_kind, value) in cache.items()
        if value.endswith("-NOTFOUND") and (name.upper().startswith(stem) or f"_{stem}_" in f"_{name.upper()}_")
    )
    if not missing or not stem:
        return ""
    return f": {_NAMES.get(stem, stem)} was not found ({', '.join(missing)})"


def _parse_boolean(text: str) -> bool | None:
    """Parse a boolean like CMake's ``if()``; return None for anything else."""
    upper = text.upper()
    if upper in _TRUE:
        return True
    return False if upper in _FALSE or upper.endswith("-NOTFOUND") else None


class _Prefix:
    """The files installed in a directory; the interface is that of :class:`WheelFiles`."""

    def __init__(self, directory: str) -> None:
        self.name = directory
        self.directory = directory

    def names(self) -> list[str]:
        """Return the relative paths of all files."""
        return [name for name, path in _tree(self.directory) if not os.path.isdir(path)]

    def binaries(self) -> t.Iterator[tuple[str, str]]:
        """Yield name and path of each ELF file; the path is valid until the next one."""
        for name, path in _tree(self.directory):
            if stat.S_ISREG(os.lstat(path).st_mode) and reader.is_elf(path):
                yield name, path


def _tree(directory: str) -> t.Iterator[tuple[str, str]]:
    """Yield the relative name and the path of everything in ``directory``, sorted by name, without following links."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        yield name, path
        if os.path.isdir(path) and not os.path.islink(path):
            for inner, inner_path in _tree(path):
                yield f"{name}/{inner}", inner_path
