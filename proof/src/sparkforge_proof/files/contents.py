# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What speaks for or against a package in its files: of a wheel, or of what is installed below a directory."""

from __future__ import annotations

import errno
import os
import re
import tempfile
import typing as t

from .._shared.module_utils._core.deadline import Deadline, TooSlowError
from .._shared.module_utils._core.errors import SparkforgeError
from .._shared.module_utils._elf import closure, fatbin, reader
from .._shared.module_utils._elf.filesystem import FileSystem, LinkLoopError
from .._shared.module_utils._wheel import installed as packages, wheel_file
from .._shared.module_utils._wheel.names import parse_wheel_name

#: Changes when a reader finds more: what was kept of an older one is read again.
FORMAT = 1
#: Seconds for one wheel, and for one directory or file system with all that is in it.
SECONDS = 900
#: CUDA C++, without headers; a package that carries it may compile on the host, at the first call.
_SOURCES = (".cu",)
#: Not part of what a process of the file system can see.
_SKIPPED = frozenset({"proc", "sys", "dev", "run"})
_CPU = frozenset(reader.MACHINES.values()) - {"cuda"}


class Library(t.TypedDict):
    """One ELF file. ``needed``: its SONAMEs; ``lacking``: those that nobody provides, once that was asked."""

    path: str
    machine: str
    soname: str
    needed: list[str]
    cubins: list[str]
    ptx: list[str]
    lacking: list[str]


class Contents(t.TypedDict):
    """One package. ``file``: the wheel's name, empty where it is installed; ``files``: their number;
    ``sources``: how many of them are CUDA C++; ``damaged``: the cause, for each file that cannot be read."""

    name: str
    version: str
    file: str
    requires: list[str]
    files: int
    sources: int
    libraries: list[Library]
    damaged: list[str]


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
    :raises SparkforgeError: there is no environment.
    """
    deadline = Deadline(SECONDS, environment or root)
    files = FileSystem(root, deadline)
    top = files.outside(environment or "/")
    sites = [files.inside(site) for site in _sites(files, top)]
    if not sites:
        raise SparkforgeError(
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
    names: t.Sequence[str],
    binaries: t.Iterable[tuple[str, str]],
    deadline: Deadline,
) -> Contents:
    libraries: list[Library] = []
    damaged = []
    for shown, path in binaries:
        if shown.endswith(".a"):
            continue
        try:
            file = reader.read_elf(path, shown)
            code = fatbin.architectures(path, shown, everywhere=True, deadline=deadline)
        except (reader.NotElfError, reader.CorruptElfError, reader.UnreadableFileError) as error:
            damaged.append(error.cause)
            continue
        if file.kind in (reader.ET_EXEC, reader.ET_DYN) and file.machine_name in _CPU:
            libraries.append(
                {
                    "path": shown,
                    "machine": file.machine_name,
                    "soname": file.soname or os.path.basename(shown),
                    "needed": list(file.needed),
                    "cubins": sorted(code.cubins),
                    "ptx": sorted(code.ptx),
                    "lacking": [],
                }
            )
    return {
        "name": name,
        "version": version,
        "file": "",
        "requires": requires,
        "files": sum(".dist-info/" not in file for file in names),
        "sources": sum(file.endswith(_SOURCES) for file in names),
        "libraries": libraries,
        "damaged": damaged,
    }


def sonames(found: t.Iterable[Contents]) -> set[str]:
    """Return every name that a library of the packages can be found by."""
    return {
        name
        for one in found
        for library in one["libraries"]
        for name in (library["soname"], os.path.basename(library["path"]))
    }
