"""Read the parts of an ELF file that the dynamic loader uses.

Hosts have no pyelftools, and without compilers no binutils either.

The names and numbers are those of the System V gABI, chapters 4 and 5, and of glibc's ``elf/elf.h``. Section headers
are ignored: the loader does not need them and ``strip`` may remove them.

The file is read in small pieces with ``pread``. Mapping it would be as fast, but if the file is truncated meanwhile,
the kernel kills a process that reads past its end, and Ansible could only report that the module died.
"""

from __future__ import annotations

import errno
import os
import struct
import typing as t
from dataclasses import dataclass

from .._core import disk
from .._core.errors import SparkforgeError
from . import symbols

MAGIC = b"\x7fELF"

ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_STRSZ, DT_SONAME, DT_RPATH, DT_RUNPATH = 0, 1, 5, 10, 14, 15, 29
_HEADER, _SEGMENT, _ENTRY = struct.Struct("<HHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ"), struct.Struct("<qQ")
#: The size limit in bytes for program headers, which is Linux's own (fs/binfmt_elf.c, load_elf_phdrs).
HEADERS_LIMIT = 1 << 16
#: The size limit in bytes for a dynamic section. An entry has 16 bytes; a library with a hundred dependencies has 3 KB.
DYNAMIC_LIMIT = 1 << 16
#: The size limit in bytes for a name: a longer name cannot be a path (PATH_MAX).
NAME_LIMIT = 4096
#: The size limit in bytes for a search path, which may list many directories.
SEARCH_LIMIT = 1 << 16
# The e_phnum value for "too many for 16 bits": the number is then in a section header.
PN_XNUM = 0xFFFF

# e_machine -> the machine name from ``uname -m``, for messages and for $PLATFORM.
MACHINES = {
    3: "i686",
    21: "ppc64",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    190: "cuda",
    243: "riscv64",
    258: "loongarch64",
}

# (bits, little-endian, e_machine), which must be equal for two files to be loaded into one process.
Architecture = tuple[int, bool, int]


class NotElfError(SparkforgeError):
    """The file is not ELF but, for example, text, an archive, or empty."""


class CorruptElfError(SparkforgeError):
    """The file begins like an ELF file, but its headers refer to missing data."""


class UnreadableFileError(SparkforgeError):
    """The file does not exist, is a directory or a device, or is not readable."""


@dataclass(frozen=True)
class ElfFile:
    """One ELF file as the loader sees it.

    Unless it is 64-bit little-endian, like all files for aarch64 and x86_64, only the first four attributes are set.

    :ivar bits: 32 or 64 (``EI_CLASS``).
    :ivar little_endian: ``EI_DATA``.
    :ivar machine: ``e_machine``.
    :ivar kind: ``e_type``: 1 object file, 2 executable, 3 shared object or position-independent executable.
    :ivar dynamic: whether there is a dynamic section; static files have none.
    :ivar soname: ``DT_SONAME``, or None.
    :ivar needed: every ``DT_NEEDED`` in order.
    :ivar rpath: ``DT_RPATH`` as written, or None. Also None if there is a ``DT_RUNPATH``, because the loader then
        ignores it (glibc ``elf_get_dynamic_info``).
    :ivar runpath: ``DT_RUNPATH`` as written, or None.
    :ivar interpreter: ``PT_INTERP``, the loader that an executable requests, or None.
    :ivar symbols: the dynamic symbols, if requested.
    """

    path: str
    bits: int
    little_endian: bool
    machine: int
    kind: int
    dynamic: bool = False
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: str | None = None
    runpath: str | None = None
    interpreter: str | None = None
    symbols: symbols.Symbols | None = None

    @property
    def machine_name(self) -> str:
        """The machine name from ``uname -m``, or ``machine N``."""
        return MACHINES.get(self.machine, f"machine {self.machine}")

    @property
    def architecture(self) -> Architecture:
        """The properties that must be equal for two files to be loaded into one process."""
        return (self.bits, self.little_endian, self.machine)


def read_elf(path: str, shown: str | None = None, with_symbols: bool = False) -> ElfFile:
    """Read one ELF file.

    :param path: the file to open.
    :param shown: its name in messages and in the result, if different (a file under an alternative root).
    :param with_symbols: whether to read its dynamic symbols too, of which there may be many.
    :raises UnreadableFileError: if the file does not exist or is not readable.
    :raises NotElfError: if the file is not ELF.
    :raises CorruptElfError: if the file is ELF but truncated or inconsistent.
    """
    shown = shown or path
    try:
        with disk.open_regular(path, links=True) as stream:
            return Reader(stream.fileno(), os.fstat(stream.fileno()).st_size, shown).read(with_symbols)
    except OSError as error:
        raise unreadable(shown, error) from error


def is_elf(path: str) -> bool:
    """Tell whether a file is a readable regular file that begins with the ELF magic."""
    try:
        with disk.open_regular(path, links=True) as stream:
            return os.read(stream.fileno(), 4) == MAGIC
    except OSError:
        return False


def unreadable(path: str, error: OSError) -> UnreadableFileError:
    """Return the error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return UnreadableFileError(
            f"{path} does not exist.", "Correct the path, or install the package that provides it.", path=path
        )
    if error.errno in (errno.EISDIR, errno.EINVAL):
        kind = "a directory" if error.errno == errno.EISDIR else "not a regular file"
        return UnreadableFileError(
            f"{path} is {kind}, not an ELF file.", "Name an executable or a shared library.", path=path
        )
    return UnreadableFileError(
        f"{path} cannot be read: {error.strerror}.",
        "Run the task as a user who can read it, or name another file.",
        path=path,
    )


class Reader:
    """Read one open file; every offset from the file is checked against its size."""

    def __init__(self, descriptor: int, size: int, path: str) -> None:
        self.descriptor = descriptor
        self.size = size
        self.path = path

    def corrupt(self, fault: str) -> CorruptElfError:
        return CorruptElfError(
            f"{self.path} is a damaged ELF file: {fault}.",
            "Fetch or build it again and compare its sha256 with the published one.",
            path=self.path,
        )

    def piece(self, offset: int, length: int, label: str) -> bytes:
        """Return exactly ``length`` bytes, or raise an error if the file is truncated."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise self.corrupt(f"{label} would end at byte {offset + length}, but the file has {self.size} bytes")
        data = os.pread(self.descriptor, length, offset)
        if len(data) != length:
            raise self.corrupt(f"{label} could not be read completely: the file shrank meanwhile")
        return data

    def read(self, with_symbols: bool = False) -> ElfFile:
        magic = os.pread(self.descriptor, 16, 0)
        if magic[:4] != MAGIC:
            raise self.not_elf(magic)
        if len(magic) < 16:
            raise self.corrupt(f"it has {self.size} bytes, less than an ELF header")
        if magic[4] not in (1, 2):
            raise self.corrupt(f"EI_CLASS is {magic[4]}, neither 32 nor 64 bit")
        if magic[5] not in (1, 2):
            raise self.corrupt(f"EI_DATA is {magic[5]}, neither little nor big endian")
        bits = 64 if magic[4] == 2 else 32
        order = "<" if magic[5] == 1 else ">"
        if (bits, order) != (64, "<"):
            kind, machine = struct.unpack(order + "HH", self.piece(16, 4, "the ELF header"))
            return ElfFile(self.path, bits, order == "<", machine, kind)
        fields = _HEADER.unpack(self.piece(16, _HEADER.size, "the ELF header"))
        kind, machine = fields[:2]
        segments = self.segments(fields[4], fields[8], fields[9])
        loads = [segment for segment in segments if segment[0] == PT_LOAD]
        # An object file has no segments and a core file may be truncated by design; neither is ever loaded.
        if kind in (ET_EXEC, ET_DYN):
            for _kind, offset, _address, length in loads:
                if offset + length > self.size:
                    raise self.corrupt(
                        f"it is truncated: its program headers cover {offset + length} bytes, but it has {self.size}"
                    )
        interpreter = None
        dynamic = None
        for segment in segments:
            if segment[0] == PT_INTERP and kind != ET_CORE:
                raw = self.piece(segment[1], min(segment[3], NAME_LIMIT), "the name of the program interpreter")
                interpreter = _text(raw.split(b"\0", 1)[0])
            elif segment[0] == PT_DYNAMIC and kind != ET_CORE:
                dynamic = segment
        entries = self.dynamic_entries(dynamic) if dynamic is not None else []
        values = dict(reversed(entries))  # if a tag occurs twice, the first wins
        strings = _Strings(self, values, loads) if entries else None

        def text(tag: int, limit: int = NAME_LIMIT) -> str | None:
            return strings.at(values[tag], limit) if strings is not None and tag in values else None

        runpath = text(DT_RUNPATH, SEARCH_LIMIT)
        return ElfFile(
            path=self.path,
            bits=bits,
            little_endian=True,
            machine=machine,
            kind=kind,
            dynamic=dynamic is not None,
            soname=text(DT_SONAME),
            needed=tuple(strings.at(value) for tag, value in entries if tag == DT_NEEDED) if strings else (),
            rpath=text(DT_RPATH, SEARCH_LIMIT) if runpath is None else None,
            runpath=runpath,
            interpreter=interpreter,
            symbols=symbols.read(lambda *arguments: self.at_address(loads, *arguments), self.corrupt, values)
            if with_symbols
            else None,
        )

    def at_address(self, loads: t.Sequence[tuple[int, int, int, int]], address: int, length: int, label: str) -> bytes:
        """Return exactly ``length`` bytes from a virtual address."""
        for _kind, offset, start, size in loads:
            if start <= address and address + length <= start + size:
                return self.piece(offset + address - start, length, label)
        raise self.corrupt(f"{label} would lie at address {address:#x}, outside its segments")

    def not_elf(self, start: bytes) -> NotElfError:
        remedy = "Name an executable or a shared library; a directory is searched for them."
        if not start:
            reason = "it is empty"
        elif start.startswith(b"!<arch>"):
            reason = "it is a static archive, which needs nothing at run time"
        elif start.startswith(b"#!"):
            reason = "it is a script"
        elif start.startswith(b"/* GNU ld"):
            reason = "it is a linker script, which only the compiler reads"
            remedy = "Name the library in the script, which ends in .so and a number."
        elif all(byte in b"\t\n\r" or 32 <= byte < 127 for byte in start):
            reason = "it is text"
        else:
            reason = "it begins with " + start[:4].hex(" ")
        return NotElfError(f"{self.path} is not an ELF file: {reason}.", remedy, path=self.path)

    def segments(self, phoff: int, phentsize: int, phnum: int) -> list[tuple[int, int, int, int]]:
        """Return ``(p_type, p_offset, p_vaddr, p_filesz)`` for every program header."""
        if not phnum:
            return []
        if phnum == PN_XNUM:
            raise self.corrupt("it names 65535 program headers")
        # The kernel and the loader accept no other size either.
        if phentsize != _SEGMENT.size:
            raise self.corrupt(f"its program headers claim {phentsize} bytes each")
        if phentsize * phnum > HEADERS_LIMIT:
            raise self.corrupt(f"it names {phnum} program headers, more than Linux takes")
        table = self.piece(phoff, phentsize * phnum, "the table of program headers")
        rows = _SEGMENT.iter_unpack(table)
        return [(kind, offset, address, size) for kind, _flags, offset, address, _at, size, _memory, _align in rows]

    def dynamic_entries(self, segment: tuple[int, int, int, int]) -> list[tuple[int, int]]:
        """Return the pairs in the dynamic section up to ``DT_NULL``."""
        length = segment[3] - segment[3] % _ENTRY.size
        if length > DYNAMIC_LIMIT:
            raise self.corrupt(f"its dynamic section claims {length} bytes, more than {DYNAMIC_LIMIT}")
        entries = []
        for tag, value in _ENTRY.iter_unpack(self.piece(segment[1], length, "the dynamic section")):
            if tag == DT_NULL:
                break
            entries.append((tag, value))
        return entries


class _Strings:
    """The string table of the dynamic section; only requested strings are read.

    It also contains the names of all symbols, more than ten megabytes in libtorch_cpu.so.
    """

    def __init__(self, reader: Reader, values: dict[int, int], loads: list[tuple[int, int, int, int]]) -> None:
        if DT_STRTAB not in values and any(tag in values for tag in (DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH)):
            raise reader.corrupt("its dynamic section has no string table")
        self.reader, self.loads = reader, loads
        self.address, self.length = values.get(DT_STRTAB, 0), values.get(DT_STRSZ, 0)

    def at(self, index: int, limit: int = NAME_LIMIT) -> str:
        """Return the string at offset ``index`` in the table, limited to ``limit`` bytes."""
        if index >= self.length:
            raise self.reader.corrupt(f"string {index} lies outside its table of {self.length} bytes")
        name = b""
        while index + len(name) < self.length:
            if len(name) > limit:
                raise self.reader.corrupt(f"a name in its dynamic section has more than {limit} bytes")
            begin = index + len(name)
            length = min(256, self.length - begin)
            part = self.reader.at_address(self.loads, self.address + begin, length, "the dynamic string table")
            head, end, _rest = part.partition(b"\0")
            name += head
            if end:
                return _text(name)
        raise self.reader.corrupt("its string table ends inside a name")


def _text(raw: bytes) -> str:
    # A name that is not valid UTF-8 could not be sent to the controller.
    return raw.decode("utf-8", "replace")
