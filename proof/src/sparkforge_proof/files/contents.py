"""Read the facts about packages from the files in a wheel, or in the environments in a directory."""

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

#: Increase this when a reader extracts more, so that packages with results cached in an older format are read again.
FORMAT = 4
#: The time limit in seconds for a wheel, or for a directory with all its packages.
SECONDS = 900
#: CUDA C++ sources, not headers. A package that contains them may compile them on the host at run time.
_SOURCES = (".cu",)
#: Directories in a root file system that contain no packages.
_SKIPPED = frozenset({"proc", "sys", "dev", "run"})
#: The ``machine`` of a bare cubin.
CUBIN = "cuda"
_CPU = frozenset(reader.MACHINES.values()) - {CUBIN}
#: The newest symbol versions in Ubuntu 24.04: glibc 2.39, and libstdc++ from GCC 14 (its manual, ABI Policy).
HOST_VERSIONS = {"GLIBC": "2.39", "GLIBCXX": "3.4.33", "CXXABI": "1.3.15"}
#: The version of the symbols that glibc's libraries have for one another, and that a release may change.
PRIVATE = "GLIBC_PRIVATE"
_VERSION = re.compile(rb"\0((?:GLIBC|GLIBCXX|CXXABI)_\d{1,4}(?:\.\d{1,4}){1,3})(?=\0)")
_HOST_LIBRARIES = ("/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
#: Host libraries whose symbols all have versions, so that it is enough to compare versions.
_OF_THE_HOST = re.compile(
    r"(?:lib(?:c|m|mvec|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|gomp|atomic|z)|ld-linux[\w-]*)\.so\."
)
#: Extensions of files that may contain code, including GPU code, but are not read.
_UNREAD = ("a", "fatbin", "ptx", "hsaco", "o", "bc", "tar", "gz", "xz", "zip", "zst", "whl")


class NoPackageError(SparkforgeError):
    """A directory does not contain any Python package."""


class Library(t.TypedDict):
    """An ELF file, which may be a bare cubin with the machine ``cuda``.

    ``needed`` lists the SONAMEs that it needs, and ``lacking`` those of them that nothing provides, which is filled in
    later. ``undefined`` lists symbols that another package must have, each with its library's SONAME, or ''.
    ``versions`` holds the newest symbol versions of libc and libstdc++ that it needs: ``GLIBC`` -> ``2.38``, and if it
    needs private symbols of glibc, the library with them. For ``guards`` and ``release`` see :class:`texts.Texts`.
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
    """A package.

    ``file`` is the wheel's name, or '' for an installed package, and ``site`` the directory of an installed package.
    ``files`` is the number of files, and ``sources`` the number of CUDA C++ files among them. ``damaged`` lists the
    cause for each file that cannot be read. ``exports`` holds the packed checksums of its libraries' symbols, and
    ``families`` the symbols' namespaces. ``unread`` is the number of unread files that may contain code, by extension,
    and ``without_symbols`` the number of binaries whose symbols cannot be read.
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


def of_wheel(path: str, scratch: str) -> Contents:
    """Read a wheel, or a bare binary as if it were the only file of a package.

    :param scratch: an existing directory with space for the wheel's largest file; files are unpacked one by one.
    :raises SparkforgeError: if the file does not exist, or is not a complete wheel.
    """
    deadline = Deadline(SECONDS, path)
    if reader.is_elf(path):
        name = os.path.basename(path)
        return _contents(name, "", [], [name], [(name, path)], deadline)
    named = parse_wheel_name(path)
    try:
        with tempfile.TemporaryDirectory(prefix="sparkforge-inspect-", dir=scratch) as directory:
            # Files are unpacked next to the wheel, so use a link to redirect them.
            link = os.path.join(directory, named.file)
            os.symlink(os.path.abspath(path), link)
            wheel = wheel_file.collect_wheels(directory)[0]
            files = wheel_file.WheelFiles(wheel, deadline)
            names = files.names()
            if not any(re.fullmatch(r"[^/]+\.dist-info/METADATA", name) for name in names):
                raise FileNotFoundError(errno.ENOENT, "it has no .dist-info directory with METADATA")
            requires = wheel_file.requires(wheel)
            contents = _contents(wheel.name, wheel.version, requires, names, files.binaries(), deadline)
    except TooSlowError:
        raise
    except (OSError, SparkforgeError) as error:
        reason = error.cause if isinstance(error, SparkforgeError) else error.strerror or str(error)
        cause = f"{path} cannot be read as a wheel: {reason.rstrip('.')}."
        raise SparkforgeError(cause, "Use a complete wheel, such as the index's.", path=path) from error
    return {**contents, "file": named.file}


def of_environments(root: str, environment: str | None = None) -> list[Contents]:
    """Read the packages in all Python environments in a file system, or in one of them.

    :param root: the root of the file system.
    :param environment: the directory of a virtual environment in that file system.
    :raises NoPackageError: if no package is installed.
    """
    deadline = Deadline(SECONDS, environment or root)
    files = FileSystem(root, deadline)
    top = files.outside(environment or "/")
    sites = [files.inside(site) for site in _sites(files, top)]
    if not sites:
        raise NoPackageError(
            f"There is no Python package below {top}.",
            "Name an environment, a file system's root (podman image mount prints it) or a wheel (pip wheel PATH).",
            path=top,
        )
    contents = []
    for site in sites:
        for package in packages.distributions([site], files).values():
            record = packages.record(package, files)
            rows = [row.path for row in record or []]
            # Do not read files outside the root, even if RECORD or a link names them.
            paths = [os.path.normpath(os.path.join(site, row)) for row in rows]
            binaries = ((path, outside) for path in paths for outside in _elf(files, path))
            read = _contents(package.name, package.version, list(package.requires), rows, binaries, deadline)
            for name, is_read in (("METADATA", package.version != ""), ("RECORD", record is not None)):
                if not is_read and name in files.names(package.info):
                    path = os.path.join(package.info, name)
                    read["damaged"].append(f"{path} is not a package's {name}, or is too large")
            read["site"] = site
            contents.append(read)
    lacking: dict[str, list[str]] = {}
    for missing in closure.Closure(sites, root=root, driver=True, deadline=deadline).result()["missing"]:
        for path in missing["needed_by"]:
            lacking.setdefault(path, []).append(missing["soname"])
    provided = sonames(contents)
    for library in (library for package in contents for library in package["libraries"]):
        # Another package's libraries are loaded when it is imported, as torch's are.
        library["lacking"] = [name for name in lacking.get(library["path"], []) if name not in provided]
    return contents


def _sites(files: FileSystem, top: str) -> t.Iterator[str]:
    """Yield each directory under ``top`` that contains installed packages."""
    for base, folders, _names in files.walk(top):
        if any(name.endswith(".dist-info") for name in folders):
            yield base
            folders.clear()
        folders[:] = [name for name in folders if base != top or name not in _SKIPPED]


def _elf(files: FileSystem, path: str) -> t.Iterator[str]:
    """Yield a path by which to open an ELF file, valid until the generator resumes; for other files, yield nothing."""
    try:
        stream = files.open(path)
    except (OSError, LinkLoopError):
        return
    with stream:
        # The name may have been replaced by a link in the meantime; the descriptor still refers to the same file.
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
                # The loader may accept the unusual tables in a patched program.
                file = reader.read_elf(path, shown)
                unreadable += 1
            code = fatbin.architectures(path, shown, everywhere=True, deadline=deadline)
            messages = texts.read(path, deadline)
        except (reader.NotElfError, reader.CorruptElfError, reader.UnreadableFileError) as error:
            damaged.append(error.cause)
            continue
        is_for_cpu = file.machine_name in _CPU or shown.endswith(".so")
        is_loaded = is_for_cpu and file.kind in (reader.ET_EXEC, reader.ET_DYN)
        if not is_loaded and file.machine_name != CUBIN:
            continue
        own = file.symbols or symbols.Symbols()
        exports |= own.exports
        families |= own.families
        of_others = [row for row in own.undefined if not _OF_THE_HOST.match(row[1])]
        libraries.append({
            "path": shown, "machine": file.machine_name, "soname": file.soname or os.path.basename(shown),
            "needed": list(file.needed), "cubins": sorted(code.cubins), "ptx": sorted(code.ptx), "lacking": [],
            "undefined": [row for row in of_others if symbols.family(row[0].encode())],
            "versions": _newest(own.versions), "guards": messages.guards, "release": messages.release,
        })  # fmt: skip
    for library in libraries:
        library["undefined"] = [row for row in library["undefined"] if symbols.checksum(row[0]) not in exports]
    endings = [path.rpartition(".")[2] for path in paths]
    return {
        "name": name, "version": version, "file": "", "site": "", "requires": requires,
        "files": sum(".dist-info/" not in path for path in paths),
        "sources": sum(path.endswith(_SOURCES) for path in paths), "libraries": libraries, "damaged": damaged,
        "exports": base64.b64encode(array.array("I", sorted(exports)).tobytes()).decode(),
        "families": sorted(families), "without_symbols": unreadable,
        "unread": {ending: endings.count(ending) for ending in _UNREAD if ending in endings},
    }  # fmt: skip


def _newest(versions_of: t.Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the newest symbol version for each prefix in ``HOST_VERSIONS``, and a library for ``GLIBC_PRIVATE``."""
    newest: dict[str, str] = {}
    for soname, version in versions_of:
        if version == PRIVATE:
            newest[PRIVATE] = soname
        name, _underscore, number = version.rpartition("_")
        if name in HOST_VERSIONS and versions.numbers(number) > versions.numbers(newest.get(name, "0")):
            newest[name] = number
    return newest


def export_checksums(contents: t.Iterable[Contents]) -> set[int]:
    """Return the checksums of all symbols that the packages' libraries export."""
    return {number for package in contents for number in array.array("I", base64.b64decode(package["exports"]))}


def host_versions(files: FileSystem) -> dict[str, str]:
    """Return the newest symbol versions of a file system's libc and libstdc++, if these exist."""
    symbol_versions: list[tuple[str, str]] = []
    for name in ("libc.so.6", "libstdc++.so.6"):
        paths = [path for base in _HOST_LIBRARIES for path in files.glob(f"{base}/{name}")]
        content = next((content for path in paths if (content := files.read_bytes(path))), b"")
        symbol_versions += [("", text.decode()) for text in _VERSION.findall(content)]
    return _newest(symbol_versions)


def names(library: Library) -> tuple[str, str]:
    """Return the names by which the loader finds a library."""
    return library["soname"], os.path.basename(library["path"])


def sonames(contents: t.Iterable[Contents]) -> set[str]:
    """Return the names by which the loader finds the packages' libraries."""
    return {name for package in contents for library in package["libraries"] for name in names(library)}
