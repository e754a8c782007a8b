# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a build made, wheels or an installed prefix: its digest, and whether what was asked for is in it.

CMake continues without what it did not find and ends well. So the artefact itself is asked: which options CMake chose,
which libraries its files are linked with, which GPUs they have code for. A wheel is read in place; only its ELF files
are unpacked, one at a time.
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
#: How the makers of a library write what an option of CMake says in capitals.
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
    """Return ``{"sha256", "files", "size"}`` of a directory: the same for the same names, contents, links and modes.

    Of a file's mode only whether it is executable counts; times and owners do not.
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
    """Return what was asked for and is not in the artefact, each in words; empty where all is.

    ``expect`` has any of

    - ``cmake_cache``: variable -> the value that CMake must have chosen. ``ON``, ``1``, ``true`` are the same; ``*``
      and ``?`` stand for anything but a ``-NOTFOUND``. Of several caches the outermost that has the variable counts,
      for projects within the project have options of the same names;
    - ``libraries``: patterns of SONAMEs, each of which some file must be linked with (``DT_NEEDED``);
    - ``architectures``: as in TORCH_CUDA_ARCH_LIST (``12.0``, ``12.1a``, ``12.0+PTX``). Some file must have code for
      each. Every file with GPU code must run on a plain one, and have the PTX of one with ``+PTX``, save files that
      have code for single capabilities (``a``, ``f``) alone;
    - ``files``: patterns of paths in the wheel or below the prefix, in which ``*`` stands for ``/`` too;
    - ``version``: of each wheel, with its local part. A build may go its own way, and its wheel pass for another.

    :param wheels: from ``wheel_file.collect_wheels``.
    :param prefix: a directory with what ``cmake --install`` put there.
    :param caches: paths of ``CMakeCache.txt``.
    :raises SparkforgeError: if ``expect`` itself is wrong, or a file cannot be read.
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
    wanted = [str(architecture) for architecture in expect.get("architectures") or ()]
    if libraries or wanted:
        linked: set[str] = set()
        embedded: dict[str, fatbin.Embedded] = {}
        for source in sources:
            for name, path in source.binaries():
                try:
                    linked.update(reader.read_elf(path, name).needed)
                    found = fatbin.architectures(path, name) if wanted else None
                except (reader.CorruptElfError, reader.UnreadableFileError) as error:
                    problems.append(error.cause.rstrip("."))
                    continue
                if found:
                    embedded[f"{source.name}/{name}"] = found
        problems += _check_libraries(libraries, linked, where)
        problems += _check_architectures(wanted, embedded, where)
    return problems


# --- what is expected ----------------------------------------------------------------------------------------------


def _check_expect(expect: t.Mapping[str, t.Any]) -> None:
    """Refuse what would be skipped in silence: a key that is misspelt, an architecture that does not exist."""
    for key in expect:
        if key not in _EXPECTED:
            raise SparkforgeError(
                f"The option expect has an unknown key {key!r}.", f"Use one or more of {', '.join(sorted(_EXPECTED))}."
            )
    for architecture in expect.get("architectures") or ():
        if not fatbin.is_architecture(str(architecture).replace("+PTX", "")):
            raise SparkforgeError(
                f"{architecture!r} in expect.architectures names no GPU architecture.",
                "Write it in quotes, as in TORCH_CUDA_ARCH_LIST: '12.0', '12.1a', '12.0+PTX'.",
            )


def _plain(version: str) -> str:
    """Return a version as installers compare it: ``+CU130.007`` is ``+cu130.7``."""
    return re.sub(r"(?<![0-9a-z])0+(?=\d)", "", re.sub(r"[-_]", ".", version.lower()))


def _check_libraries(patterns: list[str], linked: set[str], where: str) -> list[str]:
    problems = []
    for pattern in patterns:
        if fnmatch.filter(linked, pattern):
            continue
        # libcudnn.so.8 instead of libcudnn.so.9 is another problem than no cuDNN at all.
        stem = re.split(r"\.so\b|[*?\[]", pattern)[0]
        others = sorted(name for name in linked if stem and re.split(r"\.so\b", name)[0] == stem)
        instead = f", which links {', '.join(others)} instead" if others else ""
        problems.append(f"{pattern} is not linked by any file of {where}{instead}")
    return problems


def _check_architectures(wanted: list[str], embedded: t.Mapping[str, fatbin.Embedded], where: str) -> list[str]:
    if wanted and not embedded:
        return [f"no file of {where} has GPU code, which was requested for {', '.join(wanted)}"]
    problems = []
    held = ", nor in ".join(f"{os.path.basename(name)}: it holds {found}" for name, found in sorted(embedded.items()))
    for item in wanted:
        architecture = item.replace("+PTX", "")
        if not any(architecture in found.cubins for found in embedded.values()):
            problems.append(f"no code for {architecture} in {held}")
        elif architecture[-1] not in "af":
            problems += [
                f"no code that runs on {architecture} in {os.path.basename(name)}: it holds {found}"
                for name, found in sorted(embedded.items())
                if not _is_specific(found) and not found.runs_on(architecture)
            ]
        if item.endswith("+PTX"):
            problems += [
                f"no PTX of {architecture} in {os.path.basename(name)}: it holds {found}"
                for name, found in sorted(embedded.items())
                if not _is_specific(found) and architecture not in found.ptx
            ]
    return problems


def _is_specific(found: fatbin.Embedded) -> bool:
    """Say whether a file has code for single capabilities alone, which its caller chooses by the GPU."""
    return all(name[-1] in "af" for name in found.cubins | found.ptx)


# --- CMake ---------------------------------------------------------------------------------------------------------


def read_cache(path: str) -> dict[str, tuple[str, str]]:
    """Return ``{variable: (type, value)}`` of a ``CMakeCache.txt``.

    :raises SparkforgeError: if it cannot be read.
    """
    found: dict[str, tuple[str, str]] = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            for line in stream:
                match = re.match(r'(?:"([^"]+)"|([^#/"\s][^:=]*)):([A-Z]+)=(.*)', line)
                if match:
                    value = match[4].strip("\r\n")
                    # CMake puts a value that begins or ends with a blank in single quotes.
                    quoted = len(value) > 1 and value[0] == value[-1] == "'"
                    found[match[1] or match[2]] = (match[3], value[1:-1] if quoted else value)
    except OSError as error:
        raise SparkforgeError(
            f"{path} cannot be read: {error.strerror}.", "Build with rebuild set, so that CMake recreates it."
        ) from error
    return found


def _check_caches(wanted: t.Mapping[str, t.Any], paths: list[str]) -> list[str]:
    caches = [read_cache(path) for path in paths]
    problems = []
    for variable, value in wanted.items():
        asked = _text(value)
        cache = next((cache for cache in caches if variable in cache), None)
        if cache is not None:
            problem = _problem(variable, asked, cache)
        elif caches:
            problem = "CMake has no such variable"
        else:
            problem = "there is no CMakeCache.txt that shows what CMake chose"
        if problem:
            problems.append(f"{variable} was requested ({asked}), {problem}")
    return problems


def _problem(variable: str, asked: str, cache: t.Mapping[str, tuple[str, str]]) -> str:
    """Return why the cache does not have what was asked, empty where it has."""
    kind, chosen = cache[variable]
    wanted, actual = _truth(asked), _truth(chosen)
    if wanted is True and kind == "UNINITIALIZED":
        # Given with -D, and neither option() nor set(... CACHE) ever named it.
        return "but the project declares no such option"
    if wanted is True and actual is True and kind == "INTERNAL":
        # cmake_dependent_option() hides the option so, keeps the value that was given, and continues with OFF.
        return f"CMake ignored it: an option that it depends on is off{_off(cache)}"
    if wanted is not None and wanted == actual:
        return ""
    if asked != chosen and ("*" in asked or "?" in asked) and not chosen.endswith("NOTFOUND") and chosen:
        return "" if fnmatch.fnmatchcase(chosen, asked) else f"CMake chose {chosen}"
    if asked == chosen:
        return ""
    return f"CMake chose {chosen or 'nothing'}{_reason(variable, cache) if wanted is True else ''}"


def _reason(variable: str, cache: t.Mapping[str, tuple[str, str]]) -> str:
    """Name the library that a dropped option stands for, where the cache has what CMake looked for in vain."""
    stem = _SWITCH.sub("", variable, count=1).upper()
    missing = sorted(
        name
        for name, (_kind, value) in cache.items()
        if value.endswith("-NOTFOUND") and (name.upper().startswith(stem) or f"_{stem}_" in f"_{name.upper()}_")
    )
    if not missing or not stem:
        return ""
    return f": {_NAMES.get(stem, stem)} was not found ({', '.join(missing)})"


def _off(cache: t.Mapping[str, tuple[str, str]]) -> str:
    off = _truth(cache.get("USE_CUDA", ("", "ON"))[1]) is False
    return " (USE_CUDA is)" if off else ""


def _truth(text: str) -> bool | None:
    """Read a boolean as ``if()`` of CMake does; None for anything else."""
    upper = text.upper()
    if upper in _TRUE:
        return True
    return False if upper in _FALSE or upper.endswith("-NOTFOUND") else None


def _text(value: t.Any) -> str:
    return {True: "ON", False: "OFF"}[value] if isinstance(value, bool) else str(value)


# --- where files lie -----------------------------------------------------------------------------------------------


class _Prefix:
    """What was installed below a directory; :class:`WheelFiles` has the same methods."""

    def __init__(self, directory: str) -> None:
        self.name = directory
        self.directory = directory

    def names(self) -> list[str]:
        """Return the relative paths of all files."""
        return [name for name, path in _tree(self.directory) if not os.path.isdir(path)]

    def binaries(self) -> t.Iterator[tuple[str, str]]:
        """Yield name and path of each ELF file; the path is good until the next one."""
        for name, path in _tree(self.directory):
            if stat.S_ISREG(os.lstat(path).st_mode) and reader.is_elf(path):
                yield name, path


def _tree(directory: str) -> t.Iterator[tuple[str, str]]:
    """Yield relative name and path of everything below ``directory``, in the order of the names; links not followed."""
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        yield name, path
        if os.path.isdir(path) and not os.path.islink(path):
            for inner, inner_path in _tree(path):
                yield f"{name}/{inner}", inner_path
