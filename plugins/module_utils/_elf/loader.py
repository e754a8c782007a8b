# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Where glibc's loader finds each library that a file needs, without running anything.

The rules are those of ld.so(8) and of glibc's ``elf/dl-load.c`` (``_dl_map_object``), ``elf/dl-deps.c``
(breadth first) and ``elf/dl-cache.c``. For one need of one library they are, in order:

1. a library that is already loaded under that name or has it as its SONAME;
2. the RPATH of the library, then of what loaded it, up to the program; skipped if the library has a RUNPATH;
3. ``LD_LIBRARY_PATH``;
4. the RUNPATH of the library itself, never that of its ancestors;
5. ``/etc/ld.so.cache``;
6. the default directories.

A candidate of another class or machine is passed over; one that is no ELF file ends the search.

Left out, because the answer does not depend on it here: ``LD_PRELOAD``, ``/etc/ld.so.preload``,
``DT_AUXILIARY`` and ``DT_FILTER``, symbol versions, and the relative or empty elements of a search path,
which mean the working directory of a process that does not exist yet.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
import stat
import struct
import time
import typing as t
from dataclasses import dataclass, field

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._elf import providers, reader

# The loader's own file by (machine, bits): the ABI fixes these paths.
INTERPRETERS = {
    (62, 64): "/lib64/ld-linux-x86-64.so.2",
    (3, 32): "/lib/ld-linux.so.2",
    (183, 64): "/lib/ld-linux-aarch64.so.1",
    (40, 32): "/lib/ld-linux-armhf.so.3",
    (243, 64): "/lib/ld-linux-riscv64-lp64d.so.1",
}

# Debian's multiarch names, which its glibc puts into the default directories and into $LIB.
TRIPLETS = {
    (62, 64): "x86_64-linux-gnu",
    (3, 32): "i386-linux-gnu",
    (183, 64): "aarch64-linux-gnu",
    (40, 32): "arm-linux-gnueabihf",
    (243, 64): "riscv64-linux-gnu",
    (22, 64): "s390x-linux-gnu",
    (21, 64): "powerpc64le-linux-gnu",
}

# Architecture part (0xff00) of a cache entry's flags, glibc sysdeps/generic/ldconfig.h.
CACHE_ARCHITECTURES = {
    (62, 64): (0x0300,),
    (62, 32): (0x0800,),
    (3, 32): (0x0000,),
    (183, 64): (0x0A00,),
    (40, 32): (0x0900, 0x0B00, 0x0000),
    (22, 64): (0x0400,),
    (21, 64): (0x0500,),
    (243, 64): (0x0F00, 0x1000),
    (258, 64): (0x1100, 0x1200),
}
CACHE_OLD_MAGIC = b"ld.so-1.7.0"
CACHE_NEW_MAGIC = b"glibc-ld.so.cache1.1"
CACHE_EXTENSION_MAGIC = 0xEAA42174
# Bit 62 of a cache entry's hwcap: the low half is an index into the glibc-hwcaps names of the extension.
CACHE_HWCAP_EXTENSION = 1 << 62

# x86-64-ABI: what each level adds, as Linux names it in /proc/cpuinfo.
X86_64_LEVELS = (
    ("x86-64-v2", {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
    ("x86-64-v3", {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}),
    ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
)

Architecture = t.Tuple[int, bool, int]


@dataclass(frozen=True)
class CacheEntry:
    """One line of ``ldconfig -p``.

    :ivar flags: the entry's flags; the low byte is the kind of library, the next one the architecture.
    :ivar hwcaps: the glibc-hwcaps subdirectory that it is meant for, empty for every processor.
    :ivar legacy_hwcap: the mask of processor features of the time before glibc-hwcaps; 0 for every processor.
    """

    soname: str
    path: str
    flags: int
    hwcaps: str = ""
    legacy_hwcap: int = 0


def parse_cache(data: bytes) -> list[CacheEntry]:
    """Read ``/etc/ld.so.cache`` in its old, its new or its double format.

    :raises SparkforgeError: it is in none of them, or is damaged.
    """
    try:
        return _parse_cache(data)
    except (struct.error, ValueError, IndexError) as error:
        raise SparkforgeError(
            f"/etc/ld.so.cache is damaged or of an unknown format: {error}.",
            "Run ldconfig as root to write it anew.",
        ) from error


def _parse_cache(data: bytes) -> list[CacheEntry]:
    if data.startswith(CACHE_NEW_MAGIC):
        return _parse_new_cache(data)
    if not data.startswith(CACHE_OLD_MAGIC):
        raise ValueError(f"it begins with {data[:20]!r}")
    order = "<"
    # magic[11] and one byte of padding, then the number of entries.
    (count,) = struct.unpack_from("<I", data, 12)
    if 16 + 12 * count > len(data):
        order = ">"
        (count,) = struct.unpack_from(">I", data, 12)
    end = 16 + 12 * count
    # The new format follows at the alignment of its 64-bit fields, which is 4 on i386 and 8 elsewhere.
    for alignment in (8, 4):
        start = (end + alignment - 1) // alignment * alignment
        if data.startswith(CACHE_NEW_MAGIC, start):
            return _parse_new_cache(data[start:])
    layout = struct.Struct(order + "iII")
    return [
        CacheEntry(_c_string(data, end + key), _c_string(data, end + value), flags)
        for flags, key, value in layout.iter_unpack(data[16:end])
    ]


def _parse_new_cache(data: bytes) -> list[CacheEntry]:
    # Byte 28 tells the order since glibc 2.33; 0 means that nobody wrote it down.
    declared = data[28] & 3
    order = {2: "<", 3: ">"}.get(declared, "<")
    (count,) = struct.unpack_from(order + "I", data, 20)
    if declared == 0 and 48 + 24 * count > len(data):
        order = ">"
        (count,) = struct.unpack_from(">I", data, 20)
    (extension,) = struct.unpack_from(order + "I", data, 32)
    if 48 + 24 * count > len(data):
        raise ValueError(f"it names {count} libraries and has {len(data)} bytes")
    names = _cache_hwcaps(data, order, extension)
    layout = struct.Struct(order + "iIIIQ")
    entries = []
    for flags, key, value, _os_version, hwcap in layout.iter_unpack(data[48 : 48 + 24 * count]):
        name = ""
        legacy = 0
        if hwcap & CACHE_HWCAP_EXTENSION:
            name = names[hwcap & 0xFFFFFFFF]
        else:
            legacy = hwcap
        entries.append(CacheEntry(_c_string(data, key), _c_string(data, value), flags, name, legacy))
    return entries


def _cache_hwcaps(data: bytes, order: str, offset: int) -> list[str]:
    """Return the glibc-hwcaps names of the extension, which begins ``offset`` bytes into the cache."""
    if not offset:
        return []
    magic, count = struct.unpack_from(order + "II", data, offset)
    if magic != CACHE_EXTENSION_MAGIC:
        return []
    for position in range(count):
        tag, _flags, start, length = struct.unpack_from(order + "IIII", data, offset + 8 + 16 * position)
        if tag == 1:
            return [
                _c_string(data, index)
                for (index,) in struct.Struct(order + "I").iter_unpack(data[start : start + length])
            ]
    return []


def _c_string(data: bytes, offset: int) -> str:
    if offset >= len(data):
        raise ValueError(f"a name begins at byte {offset} of {len(data)}")
    return data[offset : data.index(b"\0", offset)].decode("utf-8", "replace")


def x86_64_hwcaps(cpuinfo: str) -> tuple[str, ...]:
    """Return the glibc-hwcaps names that a processor supports, best first, from ``/proc/cpuinfo``."""
    match = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    flags = set(match.group(1).split()) if match else set()
    found: list[str] = []
    for name, required in X86_64_LEVELS:
        if not required <= flags:
            break
        found.insert(0, name)
    return tuple(found)


class FileSystem:
    """A root file system, this host's or one that lies below a directory.

    Symbolic links are followed inside of it: ``/etc/alternatives/x`` in a chroot is the chroot's.
    """

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.realpath(root)
        self._listings: dict[str, frozenset[str]] = {}

    def outside(self, path: str) -> str:
        """Return the path under which this process reaches ``path``.

        :raises SparkforgeError: the links go round in a circle.
        """
        if self.root == "/":
            return path
        pending = [part for part in path.split("/") if part]
        reached: list[str] = []
        links = 0
        while pending:
            part = pending.pop(0)
            if part == ".":
                continue
            if part == "..":
                del reached[-1:]
                continue
            here = os.path.join(self.root, *reached, part)
            try:
                target = os.readlink(here)
            except OSError:
                reached.append(part)
                continue
            links += 1
            if links > 40:  # the kernel's own limit (MAXSYMLINKS)
                raise SparkforgeError(
                    f"The symbolic links of {path} below {self.root} go round in a circle.",
                    "Remove or correct one of them.",
                    path=path,
                )
            if target.startswith("/"):
                reached = []
            pending = [piece for piece in target.split("/") if piece] + pending
        return os.path.join(self.root, *reached)

    def inside(self, path: str) -> str:
        """Return the path inside this root of one that ``outside`` gave."""
        if self.root == "/":
            return path
        return "/" + os.path.relpath(path, self.root)

    def real(self, path: str) -> str:
        """Return ``path`` with every symbolic link followed, inside this root."""
        if self.root == "/":
            return os.path.realpath(path)
        return self.inside(self.outside(path))

    def names(self, directory: str) -> frozenset[str]:
        """Return the names in a directory, none if it cannot be read. Each directory is read once."""
        known = self._listings.get(directory)
        if known is None:
            try:
                known = frozenset(os.listdir(self.outside(directory)))
            except (OSError, SparkforgeError):
                known = frozenset()
            self._listings[directory] = known
        return known

    def identity(self, path: str) -> t.Optional[tuple[int, int]]:
        """Return device and inode of a regular file, or None."""
        try:
            status = os.stat(self.outside(path))
        except (OSError, SparkforgeError):
            return None
        return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

    def read_bytes(self, path: str) -> t.Optional[bytes]:
        """Return a small file's content, or None if it cannot be read."""
        try:
            with open(self.outside(path), "rb") as stream:
                return stream.read()
        except (OSError, SparkforgeError):
            return None

    def glob(self, pattern: str) -> list[str]:
        """Return what a shell pattern matches, sorted, as paths inside this root."""
        if self.root == "/":
            return sorted(glob.glob(pattern))
        found = ["/"]
        for part in pattern.split("/"):
            if not part:
                continue
            found = [
                os.path.join(base, name)
                for base in found
                for name in sorted(self.names(base))
                if fnmatch.fnmatchcase(name, part)
            ]
        return found


def configured_directories(files: FileSystem, start: str = "/etc/ld.so.conf") -> list[str]:
    """Return the directories that ``ld.so.conf`` and what it includes name, in order, each once.

    The syntax is ldconfig(8)'s: one directory a line, ``#`` begins a comment, ``include`` takes patterns
    relative to the file that it stands in, ``hwcap`` lines are history, a directory may end in ``=TYPE``.
    """
    found: list[str] = []
    seen: set[str] = set()

    def read(path: str) -> None:
        if path in seen:
            return
        seen.add(path)
        for line in (files.read_bytes(path) or b"").decode("utf-8", "replace").splitlines():
            words = line.split("#", 1)[0].split()
            if not words or words[0] == "hwcap":
                continue
            if words[0] == "include":
                for pattern in words[1:]:
                    for match in files.glob(os.path.join(os.path.dirname(path), pattern)):
                        read(match)
                continue
            directory = words[0].split("=", 1)[0].rstrip("/") or "/"
            if directory.startswith("/") and directory not in found:
                found.append(directory)

    read(start)
    return found


@dataclass
class Loaded:
    """One library in a process that is being put together.

    :ivar path: the path under which it was opened; ``$ORIGIN`` is its directory.
    :ivar loader: what needed it first; its RPATH is inherited.
    """

    file: reader.ElfFile
    path: str
    loader: t.Optional[Loaded]
    identity: tuple[int, int]
    origin: str

    def chain(self) -> t.Iterator[Loaded]:
        """Yield this library and what loaded it, up to the program."""
        link: t.Optional[Loaded] = self
        while link is not None:
            yield link
            link = link.loader


@dataclass(frozen=True)
class Rejected:
    """A file of the right name that the loader does not take."""

    path: str
    reason: str


@dataclass
class Need:
    """One need of one library: which file the loader takes for it, if any."""

    soname: str
    needed_by: str
    path: t.Optional[str]
    rejected: tuple[Rejected, ...] = ()
    directories: tuple[str, ...] = ()
    architecture: Architecture = (64, True, 0)


@dataclass
class Load:
    """What loading one file brings into the process.

    :ivar missing: needs that nothing satisfies, in the order in which the loader meets them.
    """

    root: str
    file: reader.ElfFile
    loaded: list[Loaded] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)

    @property
    def missing(self) -> list[Need]:
        return [need for need in self.needs if need.path is None]


class Loader:
    """Answers what loading a file would bring in.

    :param files: the root file system.
    :param search: directories of ``LD_LIBRARY_PATH``.
    :param hwcaps: glibc-hwcaps names that the processor supports, best first; None reads ``/proc/cpuinfo``
        when ``files`` is this host's root.
    """

    def __init__(
        self,
        files: t.Optional[FileSystem] = None,
        search: t.Sequence[str] = (),
        hwcaps: t.Optional[t.Sequence[str]] = None,
    ) -> None:
        self.files = files or FileSystem()
        self.search = tuple(search)
        if hwcaps is None:
            hwcaps = ()
            if self.files.root == "/":
                hwcaps = x86_64_hwcaps((self.files.read_bytes("/proc/cpuinfo") or b"").decode("ascii", "replace"))
        self.hwcaps = tuple(hwcaps)
        self.configured = configured_directories(self.files)
        cache = self.files.read_bytes("/etc/ld.so.cache")
        self.source = "ld.so.conf" if cache is None else "ld.so.cache"
        self.cache: dict[str, list[CacheEntry]] = {}
        for entry in parse_cache(cache) if cache is not None else []:
            self.cache.setdefault(entry.soname, []).append(entry)
        self._read: dict[tuple[int, int], t.Union[reader.ElfFile, SparkforgeError]] = {}
        self._found: dict[t.Any, tuple[t.Optional[str], tuple[Rejected, ...], tuple[str, ...]]] = {}

    @property
    def examined(self) -> int:
        """The number of files whose headers were read."""
        return len(self._read)

    def open(self, path: str) -> reader.ElfFile:
        """Read a file's headers, each file once.

        :raises SparkforgeError: see :func:`_elf.read_elf`.
        """
        outside = self.files.outside(path)
        identity = self.files.identity(path)
        known = self._read.get(identity) if identity else None
        if known is None:
            try:
                known = reader.read_elf(outside, path)
            except SparkforgeError as error:
                known = error
            if identity:
                self._read[identity] = known
        if isinstance(known, SparkforgeError):
            raise known
        return known

    def load(self, path: str) -> Load:
        """Put together the process that loading ``path`` would make, breadth first as the loader does.

        A library counts as opened by a program that has no RPATH of its own, which is what ``dlopen`` from
        Python is.

        :raises SparkforgeError: the file is not ELF, damaged, static, an object file, or not there.
        """
        file = self.open(path)
        if file.kind not in (reader.ET_EXEC, reader.ET_DYN):
            kind = {reader.ET_REL: "an object file", reader.ET_CORE: "a core dump"}.get(
                file.kind, f"an ELF file of type {file.kind}"
            )
            raise SparkforgeError(
                f"{path} is {kind}, which the loader never loads.",
                "Name an executable or a shared library.",
                path=path,
            )
        if not file.dynamic:
            raise SparkforgeError(
                f"{path} is statically linked: it has no dynamic section and needs no library.",
                "Name a dynamically linked executable or a shared library.",
                path=path,
            )
        # The kernel resolves links before it starts a program; a library's $ORIGIN is the path as it was
        # opened.
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
            for soname in current.file.needed:
                already = names.get(soname)
                if already is not None:
                    load.needs.append(Need(soname, current.path, already.path))
                    continue
                found, rejected, directories = self._find(soname, current, root)
                load.needs.append(Need(soname, current.path, found, rejected, directories, file.architecture))
                if found is None:
                    continue
                identity = self.files.identity(found) or (0, 0)
                library = identities.get(identity)
                if library is None:
                    library = Loaded(self.open(found), found, current, identity, os.path.dirname(found))
                    identities[identity] = library
                    load.loaded.append(library)
                    names.setdefault(found, library)
                    if library.file.soname:
                        names.setdefault(library.file.soname, library)
                names[soname] = library
        return load

    def _preload_interpreter(
        self, load: Load, names: dict[str, Loaded], identities: dict[tuple[int, int], Loaded]
    ) -> None:
        """The loader itself is part of every process and satisfies needs of its own SONAME."""
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
        # It comes last: it needs nothing, and the order of the others stays the loader's.
        interpreter = Loaded(file, path, root, identity, os.path.dirname(path))
        names[file.soname] = names[path] = interpreter
        identities[identity] = interpreter

    def _find(
        self, soname: str, current: Loaded, root: Loaded
    ) -> tuple[t.Optional[str], tuple[Rejected, ...], tuple[str, ...]]:
        """Return the file that satisfies a need, the candidates passed over, and where was looked."""
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
                before.extend(self._directories(ancestor.file.rpath, ancestor))
        for directory in self.search:
            expanded = self._expand(directory, root)
            if expanded.startswith("/"):
                before.append(expanded)
        before.extend(self._directories(current.file.runpath, current))
        key = (
            soname,
            tuple(before),
            current.file.no_default_directories,
            root.file.architecture,
            root.file.flags,
        )
        if key not in self._found:
            self._found[key] = self._search(soname, before, current, root)
        return self._found[key]

    def _search(
        self, soname: str, before: list[str], current: Loaded, root: Loaded
    ) -> tuple[t.Optional[str], tuple[Rejected, ...], tuple[str, ...]]:
        architecture = root.file.architecture
        defaults = self.default_directories(architecture)
        rejected: list[Rejected] = []
        searched: list[str] = []
        for path in self._candidates(soname, before, searched):
            verdict = self._verify(path, architecture)
            if verdict is None:
                return path, tuple(rejected), tuple(searched)
            rejected.append(verdict[0])
            if verdict[1]:
                return None, tuple(rejected), tuple(searched)
        cached = self._cached(soname, architecture)
        if cached and current.file.no_default_directories and os.path.dirname(cached) in defaults:
            cached = None
        # An entry whose file is gone is passed over, as the loader does.
        if cached and self.files.identity(cached):
            verdict = self._verify(cached, architecture)
            if verdict is None:
                return cached, tuple(rejected), tuple(searched)
            rejected.append(verdict[0])
            if verdict[1]:
                return None, tuple(rejected), tuple(searched)
        after = [] if current.file.no_default_directories else list(defaults)
        if self.source == "ld.so.conf":
            # Without a cache ask what ldconfig would put into it.
            after = self.configured + after
        for path in self._candidates(soname, after, searched):
            verdict = self._verify(path, architecture)
            if verdict is None:
                return path, tuple(rejected), tuple(searched)
            rejected.append(verdict[0])
            if verdict[1]:
                break
        return None, tuple(rejected), tuple(searched)

    def _candidates(self, soname: str, directories: t.Iterable[str], searched: list[str]) -> t.Iterator[str]:
        for directory in directories:
            if directory not in searched:
                searched.append(directory)
            names = self.files.names(directory)
            if "glibc-hwcaps" in names:
                for name in self.hwcaps:
                    better = os.path.join(directory, "glibc-hwcaps", name)
                    if soname in self.files.names(better):
                        yield os.path.join(better, soname)
            if soname in names:
                path = os.path.join(directory, soname)
                if self.files.identity(path):
                    yield path

    def _verify(self, path: str, architecture: Architecture) -> t.Optional[tuple[Rejected, bool]]:
        """Return None for a file that the loader takes, else why not and whether that ends its search."""
        try:
            file = self.open(path)
        except SparkforgeError as error:
            return Rejected(path, error.cause), True
        if file.bits != architecture[0]:
            return Rejected(path, f"it is of {file.bits} bits, {architecture[0]} are wanted"), False
        if file.little_endian != architecture[1]:
            return Rejected(path, "its byte order is the other one"), True
        if file.machine != architecture[2]:
            wanted = reader.MACHINES.get(architecture[2], f"machine {architecture[2]}")
            return Rejected(path, f"it is for {file.machine_name}, {wanted} is wanted"), False
        if file.kind != reader.ET_DYN or not file.dynamic:
            return Rejected(path, "it is not a shared library"), True
        return None

    def _cached(self, soname: str, architecture: Architecture) -> t.Optional[str]:
        """Return the cache's entry that the loader takes.

        That is the best glibc-hwcaps name, else the first plain one.
        """
        wanted = CACHE_ARCHITECTURES.get((architecture[2], architecture[0]))
        best: t.Optional[str] = None
        best_rank = len(self.hwcaps) + 2
        for entry in self.cache.get(soname, ()):
            if entry.flags & 0xFF not in (1, 3) or (wanted is not None and entry.flags & 0xFF00 not in wanted):
                continue
            if entry.hwcaps:
                if entry.hwcaps not in self.hwcaps:
                    continue
                rank = self.hwcaps.index(entry.hwcaps)
            else:
                rank = len(self.hwcaps) + (1 if entry.legacy_hwcap else 0)
            if rank < best_rank:
                best, best_rank = entry.path, rank
        return best

    def default_directories(self, architecture: Architecture) -> tuple[str, ...]:
        """Return the directories that the loader of this root file system has built in."""
        triplet = TRIPLETS.get((architecture[2], architecture[0]))
        if triplet and (self.files.names(f"/lib/{triplet}") or self.files.names(f"/usr/lib/{triplet}")):
            return (f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib", "/usr/lib")
        if architecture[0] == 64:
            return ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
        return ("/lib", "/usr/lib")

    def _directories(self, path_list: t.Optional[str], library: Loaded) -> list[str]:
        found = []
        for element in path_list.split(":") if path_list else []:
            directory = self._expand(element, library)
            if directory.startswith("/"):
                found.append(directory)
        return found

    def _expand(self, text: str, library: Loaded) -> str:
        """Replace $ORIGIN, $LIB and $PLATFORM in an element of a search path or in a name."""
        architecture = library.file.architecture
        triplet = TRIPLETS.get((architecture[2], architecture[0]))
        if triplet and self.files.names(f"/lib/{triplet}"):
            lib = f"lib/{triplet}"
        else:
            lib = "lib64" if architecture[0] == 64 else "lib"
        values = {"ORIGIN": library.origin, "LIB": lib, "PLATFORM": library.file.machine_name}
        # ".." stays as it is written: the kernel resolves it after the links before it.
        expanded = re.sub(
            r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?![A-Za-z0-9_]))",
            lambda match: values[match.group(1) or match.group(2)],
            text,
        )
        return expanded.rstrip("/") or expanded[:1]


@dataclass
class _Gap:
    """A SONAME that some need of some file did not get."""

    soname: str
    architecture: Architecture
    needed_by: list[str] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)
    optional: str = ""


class Closure:
    """Everything that a list of files and directories needs, and what of it the loader cannot find.

    :param paths: absolute paths or shell patterns, inside ``root``.
    :param search: directories of ``LD_LIBRARY_PATH``.
    :param driver: count the driver's libraries as there when they are absent.
    :param ignore_absent: report a path that does not exist instead of failing.
    :param cuda_version: names the packages, ``13.0``.
    """

    def __init__(
        self,
        paths: t.Sequence[str],
        search: t.Sequence[str] = (),
        root: str = "/",
        driver: bool = False,
        ignore_absent: bool = False,
        cuda_version: t.Optional[str] = None,
    ) -> None:
        self.started = time.monotonic()
        for what, names in (("path", paths), ("search directory", search)):
            for name in names:
                if not name.startswith("/"):
                    raise SparkforgeError(f"The {what} {name!r} is relative.", "Give an absolute path.", path=name)
        if not paths:
            raise SparkforgeError("No path is given.", "Name at least one file or directory in paths.")
        if not os.path.isdir(root):
            raise SparkforgeError(f"The root {root} is not a directory.", "Name the root of a file system.", path=root)
        self.paths = list(paths)
        self.driver = driver
        self.ignore_absent = ignore_absent
        self.cuda_version = cuda_version
        self.files = FileSystem(root)
        self.loader = Loader(self.files, search)
        self.absent: list[str] = []
        self.unreadable: list[dict[str, str]] = []
        self.gaps: dict[tuple[str, Architecture], _Gap] = {}
        self.resolved: dict[str, str] = {}
        self.elsewhere: dict[str, list[str]] = {}

    def result(self) -> dict[str, t.Any]:
        """Examine everything and return the module's result.

        :raises SparkforgeError: a path does not exist, or a file that was named is no ELF file, damaged or
            static.
        """
        for load, optional in self._loads():
            self._record(load, optional)
        missing: list[dict[str, t.Any]] = []
        missing_optional: list[dict[str, t.Any]] = []
        driver_sonames: list[str] = []
        wrong_version: list[dict[str, t.Any]] = []
        for gap in sorted(self.gaps.values(), key=lambda item: item.soname):
            if self.driver and gap.soname in providers.DRIVER_SONAMES:
                driver_sonames.append(gap.soname)
                continue
            described = self._describe(gap)
            if gap.optional:
                missing_optional.append({**described, "reason": gap.optional})
                continue
            missing.append(described)
            wrong_version.extend(self._other_versions(gap))
        return {
            "changed": False,
            "missing": missing,
            "missing_optional": missing_optional,
            "wrong_version": wrong_version,
            "driver_provided": driver_sonames,
            "found": len(self.resolved),
            "resolved": dict(sorted(self.resolved.items())),
            "conflicting": [
                {"soname": soname, "paths": paths} for soname, paths in sorted(self.elsewhere.items()) if len(paths) > 1
            ],
            "absent": self.absent,
            "unreadable": self.unreadable,
            "examined": self.loader.examined,
            "libraries_from": self.loader.source,
            "seconds": round(time.monotonic() - self.started, 3),
        }

    def _loads(self) -> t.Iterator[tuple[Load, str]]:
        """Yield each load that counts and, for an optional plug-in, why it is one.

        A file that was named is always a load of its own. A file of a directory that another file of these
        directories brings in is judged there: it inherits that one's RPATH, as the libraries beside
        libtorch.so do.
        """
        named: list[str] = []
        walked: list[str] = []
        for path in self.paths:
            for match in self._expand(path):
                if os.path.isdir(self.files.outside(match)):
                    walked.extend(self._walk(match))
                else:
                    named.append(match)
        for path in named:
            yield self.loader.load(path), ""
        seen = {self.files.identity(path) for path in named}
        loads: list[Load] = []
        for path in walked:
            identity = self.files.identity(path)
            if identity in seen:
                continue
            seen.add(identity)
            load = self._load_walked(path)
            if load is not None:
                loads.append(load)
        brought = {library.identity for load in loads for library in load.loaded[1:]}
        reached: set[tuple[int, int]] = set()
        for load in loads:
            if load.loaded[0].identity not in brought:
                reached.update(library.identity for library in load.loaded)
                yield load, providers.optional_plugin(os.path.basename(load.root)) or ""
        # What is left is a circle, or hangs on one: each of its files brings in the others.
        for load in loads:
            if load.loaded[0].identity not in reached:
                reached.update(library.identity for library in load.loaded)
                yield load, providers.optional_plugin(os.path.basename(load.root)) or ""

    def _load_walked(self, path: str) -> t.Optional[Load]:
        """Load a file that a directory holds; None for what the loader has nothing to do with."""
        try:
            file = self.loader.open(path)
            if file.kind not in (reader.ET_EXEC, reader.ET_DYN) or not file.dynamic:
                return None
            return self.loader.load(path)
        except reader.NotElfError:
            return None
        except SparkforgeError as error:
            self.unreadable.append({"path": path, "cause": error.cause})
            return None

    def _expand(self, path: str) -> list[str]:
        """Return what a path or pattern stands for.

        :raises SparkforgeError: it is not there, and that was not allowed.
        """
        if os.path.lexists(self.files.outside(path)):
            if os.path.exists(self.files.outside(path)):
                return [path]
            raise SparkforgeError(
                f"{path} is a symbolic link that leads nowhere or round in a circle.",
                "Correct the link, or install what it should lead to.",
                path=path,
            )
        matches = self.files.glob(path) if re.search(r"[*?\[]", path) else []
        if not matches:
            if not self.ignore_absent:
                raise SparkforgeError(
                    f"{path} does not exist.",
                    "Correct the path, or install what should have brought it.",
                    path=path,
                )
            self.absent.append(path)
        return matches

    def _walk(self, directory: str) -> list[str]:
        """Return the regular files below a directory that may be ELF, as paths inside the root.

        Links to directories are not followed. A link to a file counts unless the file lies below the
        directory too: libx.so, libx.so.1 and libx.so.1.2 are one library.
        """
        top = self.files.outside(directory)
        plain: list[str] = []
        links: list[str] = []

        def refused(error: OSError) -> None:
            self.unreadable.append(
                {"path": str(error.filename), "cause": f"The directory cannot be read: {error.strerror}."}
            )

        for base, folders, names in os.walk(top, onerror=refused):
            folders.sort()
            inside = directory if base == top else os.path.join(directory, os.path.relpath(base, top))
            for name in sorted(names):
                outside = os.path.join(base, name)
                try:
                    mode = os.lstat(outside).st_mode
                except OSError:
                    continue
                if stat.S_ISLNK(mode):
                    links.append(os.path.join(inside, name))
                elif stat.S_ISREG(mode) and reader.is_elf(outside):
                    plain.append(os.path.join(inside, name))
        known = {self.files.identity(path) for path in plain}
        for path in links:
            identity = self.files.identity(path)
            if identity and identity not in known and reader.is_elf(self.files.outside(path)):
                known.add(identity)
                plain.append(path)
        return plain

    def _record(self, load: Load, optional: str) -> None:
        for need in load.needs:
            if need.path is not None:
                path = self._tidy(need.path)
                self.resolved.setdefault(need.soname, path)
                paths = self.elsewhere.setdefault(need.soname, [])
                if not any(self.files.identity(path) == self.files.identity(other) for other in paths):
                    paths.append(path)
                continue
            key = (need.soname, load.file.architecture)
            gap = self.gaps.get(key)
            if gap is None:
                gap = self.gaps[key] = _Gap(need.soname, load.file.architecture, optional=optional)
            elif not optional:
                gap.optional = ""
            needed_by = self._tidy(need.needed_by)
            if needed_by not in gap.needed_by:
                gap.needed_by.append(needed_by)
            for rejected in need.rejected:
                gap.rejected[self._tidy(rejected.path)] = rejected.reason
            gap.directories.extend(directory for directory in need.directories if directory not in gap.directories)

    def _tidy(self, path: str) -> str:
        """Take ``lib/../lib`` out of a path where that names the same file."""
        tidy = os.path.normpath(path)
        return tidy if tidy == path or self.files.identity(tidy) == self.files.identity(path) else path

    def _describe(self, gap: _Gap) -> dict[str, t.Any]:
        bits, _order, machine = gap.architecture
        name = reader.MACHINES.get(machine, f"machine {machine}")
        return {
            "soname": gap.soname,
            "needed_by": sorted(gap.needed_by),
            "machine": name,
            "bits": bits,
            "provided_by": providers.provider(gap.soname, name, self.cuda_version).as_result(),
            "rejected": [{"path": path, "reason": reason} for path, reason in sorted(gap.rejected.items())],
            "off_path": self._off_path(gap),
        }

    def _nearby(self, gap: _Gap) -> t.Iterator[str]:
        """Yield directories that may hold the library though the loader passes them by.

        Those where the loader did look come last.
        """
        triplet = TRIPLETS.get((gap.architecture[2], gap.architecture[0]), "*")
        seen: set[str] = set()
        for directory in self.loader.configured + [
            match
            for pattern in providers.OFF_PATH_DIRECTORIES
            for match in self.files.glob(pattern.format(triplet=triplet))
        ]:
            if directory not in seen:
                seen.add(directory)
                yield directory
        for directory in gap.directories:
            if directory not in seen:
                seen.add(directory)
                yield directory

    def _fits(self, path: str, gap: _Gap) -> t.Optional[reader.ElfFile]:
        try:
            file = self.loader.open(path)
        except SparkforgeError:
            return None
        return file if file.architecture == gap.architecture and file.kind == reader.ET_DYN else None

    def _off_path(self, gap: _Gap) -> list[str]:
        """Return the files of that SONAME on the host that the loader does not look at."""
        found: dict[t.Optional[tuple[int, int]], str] = {}
        for directory in self._nearby(gap):
            for name in sorted(self.files.names(directory)):
                # libx.so.1.2 whose SONAME is libx.so.1 counts: the link that ldconfig makes is missing.
                if not name.startswith(gap.soname):
                    continue
                path = os.path.join(directory, name)
                if path in gap.rejected:
                    continue
                file = self._fits(path, gap)
                if file is not None and (file.soname or name) == gap.soname:
                    found.setdefault(self.files.identity(path), path)
        return sorted(found.values())

    def _other_versions(self, gap: _Gap) -> list[dict[str, t.Any]]:
        """Return the libraries of the same name and another SONAME version.

        For libcudss.so.0 that is libcudss.so.1.
        """
        stem = re.match(r"(.+?\.so)(?:\.\d+)*$", gap.soname)
        if stem is None:
            return []
        form = re.compile(re.escape(stem.group(1)) + r"(?:\.\d+)*")
        candidates: list[str] = [
            entry.path
            for soname, entries in sorted(self.loader.cache.items())
            if soname != gap.soname and form.fullmatch(soname)
            for entry in entries
        ]
        for directory in self._nearby(gap):
            candidates.extend(
                os.path.join(directory, name)
                for name in sorted(self.files.names(directory))
                if name != gap.soname and form.fullmatch(name)
            )
        found: dict[str, dict[str, t.Any]] = {}
        for path in candidates:
            file = self._fits(path, gap)
            if file is None or file.soname in (None, gap.soname) or file.soname in found:
                continue
            found[str(file.soname)] = {
                "soname": gap.soname,
                "found": file.soname,
                "path": path,
                "needed_by": sorted(gap.needed_by),
                "note": f"{gap.soname} is missing; {path} is {file.soname}, which does not satisfy it.",
            }
        return list(found.values())
