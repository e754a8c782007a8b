# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What speaks for or against a package in its files: of a wheel, or of what is installed below a directory."""

from __future__ import annotations

import array
import base64
import errno
import os
import re
import tempfile
import typing as t

from .._shared.module_utils._core import versions
from .._shared.module_utils._core.deadline import Deadline, TooSlowError
from .._shared.module_utils._core.errors import SparkforgeError
from .._shared.module_utils._elf import closure, fatbin, reader, symbols
from .._shared.module_utils._elf.filesystem import FileSystem, LinkLoopError
from .._shared.module_utils._wheel import installed as packages, wheel_file
from .._shared.module_utils._wheel.names import parse_wheel_name
from . import texts

#: Changes when a reader finds more: what was kept of an older one is read again.
FORMAT = 3
#: Seconds for one wheel, and for one directory or file system with all that is in it.
SECONDS = 900
#: CUDA C++, without headers; a package that carries it may compile on the host, at the first call.
_SOURCES = (".cu",)
#: Not part of what a process of the file system can see.
_SKIPPED = frozenset({"proc", "sys", "dev", "run"})
#: The machine of a bare cubin.
CUBIN = "cuda"
_CPU = frozenset(reader.MACHINES.values()) - {CUBIN}
#: The newest versions of symbols in Ubuntu 24.04: glibc 2.39, and libstdc++ of GCC 14 (its manual, ABI Policy).
HOST_VERSIONS = {"GLIBC": "2.39", "GLIBCXX": "3.4.33", "CXXABI": "1.3.15"}
_VERSION = re.compile(rb"\0((?:GLIBC|GLIBCXX|CXXABI)_\d{1,4}(?:\.\d{1,4}){1,3})(?=\0)")
_HOST_LIBRARIES = ("/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
#: Libraries of the host all of whose symbols have versions: which they have is asked by these.
_OF_THE_HOST = re.compile(
    r"(?:lib(?:c|m|mvec|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|gomp|atomic|z)|ld-linux[\w-]*)\.so\."
)
#: Endings of files that may hold code, for GPUs too, and that nothing here looks into.
_UNREAD = ("a", "fatbin", "ptx", "hsaco", "o", "bc", "tar", "gz", "xz", "zip", "zst", "whl")


class NoPackageError(SparkforgeError):
    """A directory has no Python package."""


class Library(t.TypedDict):
    """One ELF file, also a bare cubin, whose machine is ``cuda``.

    ``needed``: its SONAMEs; ``lacking``: those that nobody provides, once that was asked; ``undefined``: symbols that
    another package must have, each with the SONAME that it is to be of, or none; ``versions``: the newest of each of
    libc's and libstdc++'s names that it asks for, ``GLIBC`` -> ``2.38``; ``guards`` and ``release``: its texts.
    """

    path: str
    machine: str
    soname: str
    needed: list[str]
    cubins: list[str]
    ptx: list[str]
    lacking: list[str]
    undefined: list[tuple[str, str]]
    versions: dict[str, str]
    guards: list[str]
    release: str


class Contents(t.TypedDict):
    """One package.

    ``file``: the wheel's name, empty where it is installed; ``site``: where that is; ``files``: their number;
    ``sources``: how many of them are CUDA C++; ``damaged``: the cause, for each file that cannot be read;
    ``exports``: the checksums of the symbols of its libraries, packed; ``families``: the namespaces of these;
    ``unread``: the number of files by their endings that may hold code and were not looked into; ``without_symbols``:
    the number of those whose symbols cannot be read.
    """

    name: str
    version: str
    file: str
    site: str
    requires: list[str]
    files: int
    sources: int
    libraries: list[Library]
    damaged: list[str]
    exports: str
    families: list[str]
    unread: dict[str, int]
    without_symbols: int


def of_wheel(path: str, place: str) -> Contents:
    """Read a wheel.

    :param place: an existing directory with room for its largest file; they are unpacked one at a time.
    :raises SparkforgeError: the file does not exist, or is no whole wheel.
    """
    named = parse_wheel_name(path)
    try:
        with tempfile.TemporaryDirectory(prefix="sparkforge-inspect-", dir=place) as directory:
            # By a link, since what is unpacked is put beside the wheel.
            link = os.path.join(directory, named.file)
            os.symlink(os.path.abspath(path), link)
            deadline = Deadline(SECONDS, path)
            wheel = wheel_file.collect_wheels(directory)[0]
            files = wheel_file.WheelFiles(wheel, deadline)
            names = files.names()
            if not any(re.fullmatch(r"[^/]+\.dist-info/METADATA", name) for name in names):
                raise FileNotFoundError(errno.ENOENT, "it has no .dist-info directory with METADATA")
            requires = wheel_file.requires(wheel)
            found = _contents(wheel.name, wheel.version, requires, names, files.binaries(), deadline)
    except TooSlowError:
        raise
    except OSError as error:
        raise _no_wheel(path, error.strerror or str(error)) from error
    except SparkforgeError as error:
        raise _no_wheel(path, error.cause) from error
    return {**found, "file": named.file}


def _no_wheel(path: str, why: str) -> SparkforgeError:
    return SparkforgeError(
        f"{path} cannot be read as a wheel: {why.rstrip('.')}.", "Use a complete wheel, as the index has it.", path=path
    )


def of_environments(root: str, environment: str | None = None) -> list[Contents]:
    """Read every Python environment of a file system, or one of them.

    :param root: the file system, ``/`` for this host's.
    :param environment: the directory of a virtual environment inside it.
    :raises NoPackageError: there is no environment.
    """
    deadline = Deadline(SECONDS, environment or root)
    files = FileSystem(root, deadline)
    top = files.outside(environment or "/")
    sites = [files.inside(site) for site in _sites(files, top)]
    if not sites:
        raise NoPackageError(
            f"There is no Python package below {top}.",
            "Name a virtual environment, or the root of a file system that has one, such as podman image mount prints.",
            path=top,
        )
    found = []
    for site in sites:
        for one in packages.installed([site], files).values():
            record = packages.record(one, files)
            rows = [row.path for row in record or []]
            # Whatever RECORD and links say, only files below the root are read.
            paths = [os.path.normpath(os.path.join(site, row)) for row in rows]
            binaries = ((path, outside) for path in paths for outside in _elf(files, path))
            read = _contents(one.name, one.version, list(one.requires), rows, binaries, deadline)
            for name, is_read in (("METADATA", one.version != ""), ("RECORD", record is not None)):
                if not is_read and name in files.names(one.info):
                    read["damaged"].append(f"{os.path.join(one.info, name)} is no {name} of a package, or too large")
            read["site"] = site
            found.append(read)
    missing = closure.Closure(sites, root=root, driver=True, deadline=deadline).result()["missing"]
    lacking: dict[str, list[str]] = {}
    for gap in missing:
        for path in gap["needed_by"]:
            lacking.setdefault(path, []).append(gap["soname"])
    provided = sonames(found)
    for library in (library for one in found for library in one["libraries"]):
        # A library of another package is loaded once that package is imported, as torch's libraries are.
        library["lacking"] = [name for name in lacking.get(library["path"], []) if name not in provided]
    return found


def _sites(files: FileSystem, top: str) -> t.Iterator[str]:
    """Yield each directory below ``top`` that packages are installed in."""
    for base, folders, _names in files.walk(top):
        if any(name.endswith(".dist-info") for name in folders):
            yield base
            folders.clear()
        folders[:] = [name for name in folders if base != top or name not in _SKIPPED]


def _elf(files: FileSystem, path: str) -> t.Iterator[str]:
    """Yield a path of what ``path`` is, where that is an ELF file; it is good until the next one."""
    try:
        stream = files.open(path)
    except (OSError, LinkLoopError):
        return
    with stream:
        # Not by the name again, which may lead elsewhere by now.
        opened = f"/proc/self/fd/{stream.fileno()}"
        if reader.is_elf(opened):
            yield opened


def _contents(
    name: str,
    version: str,
    requires: list[str],
    paths: t.Sequence[str],
    binaries: t.Iterable[tuple[str, str]],
    deadline: Deadline,
) -> Contents:
    libraries: list[Library] = []
    damaged = []
    exports: set[int] = set()
    families: set[str] = set()
    unreadable = 0
    for shown, path in binaries:
        try:
            try:
                file = reader.read_elf(path, shown, with_symbols=True)
            except reader.CorruptElfError:
                # The loader may take what has odd tables, as patched programs have.
                file = reader.read_elf(path, shown)
                unreadable += 1
            code = fatbin.architectures(path, shown, everywhere=True, deadline=deadline)
            told = texts.read(path, deadline)
        except (reader.NotElfError, reader.CorruptElfError, reader.UnreadableFileError) as error:
            damaged.append(error.cause)
            continue
        is_loaded = file.kind in (reader.ET_EXEC, reader.ET_DYN) and file.machine_name in _CPU
        if not is_loaded and file.machine_name != CUBIN:
            continue
        own = file.symbols or symbols.Symbols()
        exports |= own.exports
        families |= own.families
        libraries.append(
            {
                "path": shown,
                "machine": file.machine_name,
                "soname": file.soname or os.path.basename(shown),
                "needed": list(file.needed),
                "cubins": sorted(code.cubins),
                "ptx": sorted(code.ptx),
                "lacking": [],
                "undefined": [
                    row for row in own.undefined if not _OF_THE_HOST.match(row[1]) and symbols.family(row[0].encode())
                ],
                "versions": _newest(own.versions),
                "guards": told.guards,
                "release": told.release,
            }
        )
    for library in libraries:
        library["undefined"] = [row for row in library["undefined"] if symbols.checksum(row[0]) not in exports]
    endings = [path.rpartition(".")[2] for path in paths]
    return {
        "name": name,
        "version": version,
        "file": "",
        "site": "",
        "requires": requires,
        "files": sum(".dist-info/" not in path for path in paths),
        "sources": sum(path.endswith(_SOURCES) for path in paths),
        "libraries": libraries,
        "damaged": damaged,
        "exports": base64.b64encode(array.array("I", sorted(exports)).tobytes()).decode(),
        "families": sorted(families),
        "unread": {ending: endings.count(ending) for ending in _UNREAD if ending in endings},
        "without_symbols": unreadable,
    }


def _newest(versions_of: t.Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the newest version of each of libc's and libstdc++'s names."""
    found: dict[str, str] = {}
    for _soname, version in versions_of:
        name, _underscore, number = version.rpartition("_")
        if name in HOST_VERSIONS and versions.numbers(number) > versions.numbers(found.get(name, "0")):
            found[name] = number
    return found


def exported(found: t.Iterable[Contents]) -> set[int]:
    """Return the checksum of every symbol that a library of the packages has."""
    return {number for one in found for number in array.array("I", base64.b64decode(one["exports"]))}


def host_versions(files: FileSystem) -> dict[str, str]:
    """Return the newest versions of symbols that libc and libstdc++ of a file system have, as far as they are there."""
    found: list[tuple[str, str]] = []
    for name in ("libc.so.6", "libstdc++.so.6"):
        paths = [path for base in _HOST_LIBRARIES for path in files.glob(f"{base}/{name}")]
        content = next((content for path in paths if (content := files.read_bytes(path))), b"")
        found += [("", text.decode()) for text in _VERSION.findall(content)]
    return _newest(found)


def names(library: Library) -> tuple[str, str]:
    """Return what a library can be found by."""
    return library["soname"], os.path.basename(library["path"])


def sonames(found: t.Iterable[Contents]) -> set[str]:
    """Return every name that a library of the packages can be found by."""
    return {name for one in found for library in one["libraries"] for name in names(library)}
