"""Resolve the libraries that a file needs as glibc's loader does, without running anything.

``ldd`` is unsuitable: it may run the file, works only for this machine's architecture and root, and does not report
where it searched.

The rules are those of ld.so(8) and of glibc's ``elf/dl-load.c`` (``_dl_map_object``), ``elf/dl-deps.c`` (breadth first)
and ``elf/dl-cache.c``. A dependency of a library is looked up in this order:

1. a library that is already loaded under that name or has it as its SONAME;
2. the RPATH of the library, then of its loaders up to the program; skipped if the library has a RUNPATH;
3. ``LD_LIBRARY_PATH``;
4. the RUNPATH of the library itself, never that of its ancestors;
5. ``/etc/ld.so.cache``;
6. the default directories.

A candidate for another class or machine is skipped; a candidate that is not an ELF file ends the search.

The following are ignored because they do not affect the result here: ``LD_PRELOAD``, ``/etc/ld.so.preload``,
``DT_AUXILIARY`` and ``DT_FILTER``, ``-z nodefaultlib``, symbol versions, glibc-hwcaps directories (which hold a second
build of a library for some processors), and relative or empty elements of a search path (which refer to the working
directory of a future process).
"""

from __future__ import annotations

import os
import re
import typing as t
from dataclasses import dataclass, field

from .._core.errors import SparkforgeError
from . import filesystem, ldcache, reader
from .filesystem import FileSystem

# The path of the loader for each (machine, bits), as fixed by the ABI.
INTERPRETERS = {(62, 64): "/lib64/ld-linux-x86-64.so.2", (183, 64): "/lib/ld-linux-aarch64.so.1"}

# Debian's multiarch names, which its glibc uses in the default directories and in $LIB.
TRIPLETS = {(62, 64): "x86_64-linux-gnu", (183, 64): "aarch64-linux-gnu"}

# Architecture part (0xff00) of a cache entry's flags, from glibc's sysdeps/generic/ldconfig.h.
CACHE_ARCHITECTURES = {(62, 64): 0x0300, (183, 64): 0x0A00}


@dataclass
class Loaded:
    """One library in the simulated process.

    :ivar path: the path under which it was opened; ``$ORIGIN`` is its directory.
    :ivar loader: the library that needed it first, whose RPATH it inherits.
    """

    file: reader.ElfFile
    path: str
    loader: Loaded | None
    identity: tuple[int, int]
    origin: str

    def chain(self) -> t.Iterator[Loaded]:
        """Yield this library and its loaders, up to the program."""
        link: Loaded | None = self
        while link is not None:
            yield link
            link = link.loader


@dataclass(frozen=True)
class Rejected:
    """A file with the right name that the loader does not accept."""

    path: str
    reason: str


@dataclass
class Need:
    """One dependency of one library, and the file that the loader picks for it, if any."""

    soname: str
    needed_by: str
    path: str | None
    rejected: tuple[Rejected, ...] = ()
    directories: tuple[str, ...] = ()


@dataclass
class Load:
    """The libraries and dependencies that loading one file adds to the process."""

    root: str
    file: reader.ElfFile
    loaded: list[Loaded] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)


class Loader:
    """Determine which libraries would be loaded with a file.

    :param files: the root file system.
    :param search: the directories in ``LD_LIBRARY_PATH``.
    """

    def __init__(self, files: FileSystem | None = None, search: t.Sequence[str] = ()) -> None:
        self.files = files or FileSystem()
        self.search = tuple(search)
        self.configured = filesystem.configured_directories(self.files)
        cache = self.files.read_bytes("/etc/ld.so.cache")
        self._has_cache = cache is not None
        self.cache: dict[str, list[ldcache.CacheEntry]] = {}
        for entry in ldcache.parse_cache(cache) if cache is not None else []:
            self.cache.setdefault(entry.soname, []).append(entry)
        self._read: dict[tuple[int, int], reader.ElfFile | SparkforgeError] = {}
        self._found: dict[t.Any, tuple[str | None, tuple[Rejected, ...], tuple[str, ...]]] = {}

    @property
    def examined(self) -> int:
        """The number of files whose headers were read."""
        return len(self._read)

    def open(self, path: str) -> reader.ElfFile:
        """Read a file's headers, at most once per file."""
        identity = self.files.identity(path)
        file = self._read.get(identity) if identity else None
        if file is None:
            try:
                with self.files.open(path) as stream:
                    file = reader.read_elf(f"/proc/self/fd/{stream.fileno()}", path)
            except OSError as error:
                file = reader.unreadable(path, error)
            except (reader.NotElfError, reader.CorruptElfError, reader.UnreadableFileError) as error:
                file = error
            if identity:
                self._read[identity] = file
        if isinstance(file, SparkforgeError):
            raise file
        return file

    def load(self, path: str, opened: t.Sequence[str] = (), opener: str = "") -> Load:
        """Simulate the process that loading ``path`` would create, breadth first like the loader.

        A library is treated as opened by a program without an RPATH, as with ``dlopen`` from Python.

        :param opened: SONAMEs that the file opens by name, in addition to its dependencies.
        :param opener: the name to report as the user of these libraries.
        :raises SparkforgeError: if the file is missing, damaged, static, an object file, or not ELF.
        """
        file = self.open(path)
        if file.kind not in (reader.ET_EXEC, reader.ET_DYN):
            kind = {reader.ET_REL: "an object file", reader.ET_CORE: "a core dump"}.get(
                file.kind, f"an ELF file of type {file.kind}"
            )
            raise SparkforgeError(
                f"{path} is {kind}, which the loader never loads.", "Name an executable or a shared library."
            )
        if (file.bits, file.little_endian) != (64, True):
            raise SparkforgeError(
                f"{path} is for {file.machine_name}, {file.bits} bits, whose libraries cannot be resolved here.",
                "Name a file for aarch64 or x86_64.",
            )
        if not file.dynamic:
            raise SparkforgeError(
                f"{path} is statically linked: it has no dynamic section and needs no library.",
                "Name a dynamically linked executable or a shared library.",
            )
        # The kernel resolves links before it starts a program, but a library's $ORIGIN is its path as opened.
        origin = os.path.dirname(self.files.real(path) if file.interpreter else path)
        identity = self.files.identity(path) or (0, 0)
        root = Loaded(file, path, None, identity, origin)
        load = Load(path, file, [root])
        names: dict[str, Loaded] = {path: root}
        identities = {identity: root}
        if file.soname and not file.interpreter:
            names[file.soname] = root
        self._preload_interpreter(load, names, identities)
        position = 0
        while position < len(load.loaded):
            current = load.loaded[position]
            position += 1
            needed = [(soname, current.path) for soname in current.file.needed]
            for soname, needed_by in needed + [(soname, opener) for soname in opened if current is root]:
                already = names.get(soname)
                if already is not None:
                    load.needs.append(Need(soname, needed_by, already.path))
                    continue
                found_path, rejected, directories = self._find(soname, current, root)
                load.needs.append(Need(soname, needed_by, found_path, rejected, directories))
                if found_path is None:
                    continue
                identity = self.files.identity(found_path) or (0, 0)
                library = identities.get(identity)
                if library is None:
                    library = Loaded(self.open(found_path), found_path, current, identity, os.path.dirname(found_path))
                    identities[identity] = library
                    load.loaded.append(library)
                    names.setdefault(found_path, library)
                    if library.file.soname:
                        names.setdefault(library.file.soname, library)
                names[soname] = library
        return load

    def _preload_interpreter(
        self, load: Load, names: dict[str, Loaded], identities: dict[tuple[int, int], Loaded]
    ) -> None:
        """Add the loader itself, which is part of every process and satisfies dependencies on its own SONAME."""
        root = load.loaded[0]
        path = root.file.interpreter or INTERPRETERS.get((root.file.machine, root.file.bits))
        identity = self.files.identity(path) if path else None
        if path is None or identity is None or identity == root.identity:
            return
        try:
            file = self.open(path)
        except SparkforgeError:
            return
        if file.architecture != root.file.architecture or not file.soname:
            return
        # Add it last: it has no dependencies, and this keeps the loader's order for the other libraries.
        interpreter = Loaded(file, path, root, identity, os.path.dirname(path))
        names[file.soname] = names[path] = interpreter
        identities[identity] = interpreter

    def _find(
        self, soname: str, current: Loaded, root: Loaded
    ) -> tuple[str | None, tuple[Rejected, ...], tuple[str, ...]]:
        """Return the file that satisfies a dependency, the skipped candidates, and the searched directories."""
        if "/" in soname:
            path = self._expand(soname, current)
            if not path.startswith("/"):
                return None, (), ()
            verdict = self._verify(path, root.file.architecture) if self.files.identity(path) else None
            if verdict is None:
                return (path if self.files.identity(path) else None), (), (os.path.dirname(path),)
            return None, (verdict[0],), (os.path.dirname(path),)
        before: list[str] = []
        if current.file.runpath is None:
            for ancestor in current.chain():
                before.extend(self._directories((ancestor.file.rpath or "").split(":"), ancestor))
        before.extend(self._directories(self.search, root))
        before.extend(self._directories((current.file.runpath or "").split(":"), current))
        key = (soname, tuple(before), root.file.architecture)
        if key not in self._found:
            self._found[key] = self._search(soname, before, root)
        return self._found[key]

    def _search(
        self, soname: str, before: list[str], root: Loaded
    ) -> tuple[str | None, tuple[Rejected, ...], tuple[str, ...]]:
        rejected: list[Rejected] = []
        searched: list[str] = []
        for path in self._search_order(soname, before, root.file.architecture, searched):
            verdict = self._verify(path, root.file.architecture)
            if verdict is None:
                return path, tuple(rejected), tuple(searched)
            rejected.append(verdict[0])
            if verdict[1]:
                break
        return None, tuple(rejected), tuple(searched)

    def _search_order(
        self, soname: str, before: list[str], architecture: reader.Architecture, searched: list[str]
    ) -> t.Iterator[str]:
        """Yield the files that the loader tries, in order, and add each searched directory to ``searched``."""
        yield from self._candidates(soname, before, searched)
        kind = CACHE_ARCHITECTURES.get((architecture[2], architecture[0]), 0)
        fitting = [entry.path for entry in self.cache.get(soname, ()) if entry.flags & 0xFFFF in (kind | 1, kind | 3)]
        # Like the loader, skip an entry whose file is missing.
        if fitting and self.files.identity(fitting[0]):
            yield fitting[0]
        later_directories = list(self.default_directories(architecture))
        if not self._has_cache:
            # Search the directories that ldconfig would cache.
            later_directories = self.configured + later_directories
        yield from self._candidates(soname, later_directories, searched)

    def _candidates(self, soname: str, directories: t.Iterable[str], searched: list[str]) -> t.Iterator[str]:
        for directory in directories:
            if directory not in searched:
                searched.append(directory)
            if soname in self.files.names(directory):
                path = os.path.join(directory, soname)
                if self.files.identity(path):
                    yield path

    def _verify(self, path: str, architecture: reader.Architecture) -> tuple[Rejected, bool] | None:
        """Return None for a file that the loader accepts, otherwise the reason and whether it ends the search."""
        try:
            file = self.open(path)
        except SparkforgeError as error:
            return Rejected(path, error.cause), True
        if file.bits != architecture[0]:
            return Rejected(path, f"it has {file.bits} bits, not {architecture[0]}"), False
        if file.little_endian != architecture[1]:
            return Rejected(path, "it has the other byte order"), True
        if file.machine != architecture[2]:
            expected = reader.MACHINES.get(architecture[2], f"machine {architecture[2]}")
            return Rejected(path, f"it is for {file.machine_name}, not {expected}"), False
        if file.kind != reader.ET_DYN or not file.dynamic:
            return Rejected(path, "it is not a shared library"), True
        return None

    def default_directories(self, architecture: reader.Architecture) -> tuple[str, ...]:
        """Return the built-in directories of the loader in this root file system."""
        triplet = TRIPLETS.get((architecture[2], architecture[0]))
        if triplet and (self.files.names(f"/lib/{triplet}") or self.files.names(f"/usr/lib/{triplet}")):
            return (f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib", "/usr/lib")
        return ("/lib64", "/usr/lib64", "/lib", "/usr/lib")

    def _directories(self, elements: t.Iterable[str], library: Loaded) -> list[str]:
        """Return the absolute directories among the elements of a search path."""
        return [path for path in (self._expand(element, library) for element in elements) if path.startswith("/")]

    def _expand(self, text: str, library: Loaded) -> str:
        """Replace $ORIGIN, $LIB and $PLATFORM in an element of a search path or in a name."""
        architecture = library.file.architecture
        triplet = TRIPLETS.get((architecture[2], architecture[0]))
        lib = f"lib/{triplet}" if triplet and self.files.names(f"/lib/{triplet}") else "lib64"
        values = {"ORIGIN": library.origin, "LIB": lib, "PLATFORM": library.file.machine_name}
        # Keep "..", which the kernel resolves after following the links in front of it.
        expanded = re.sub(
            r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?![A-Za-z0-9_]))",
            lambda match: values[match.group(1) or match.group(2)],
            text,
        )
        return expanded.rstrip("/") or expanded[:1]
