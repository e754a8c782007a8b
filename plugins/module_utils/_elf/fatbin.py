"""Read the GPU architectures in a file without ``cuobjdump``, which hosts with only a driver lack.

nvcc puts device code into the sections ``.nv_fatbin`` and, for relocatable device code, ``__nv_relfatbin``. Each holds
containers: a 16-byte header (magic, version, header size, size of the rest), then entries with a header (64 bytes or
more) and a body, which may be compressed. The architecture is in the entry's header, so bodies are neither read nor
decompressed: of a one-gigabyte library, only a megabyte is read.

NVIDIA does not document the format. This layout is that of fatbinary in CUDA 13.0, found by compiling for known
targets. It agrees with ``cuobjdump --list-elf --list-ptx -all`` on NVIDIA's own libraries.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass

from .._core import disk
from .._core.deadline import NEVER, Deadline
from . import reader

MAGIC = b"\x50\xed\x55\xba"
SECTIONS = frozenset({b".nv_fatbin", b"__nv_relfatbin"})
_VERSION = 1
_CONTAINER = struct.Struct("<4sHHQ")
# kind, -, size of the header, size of the body, - (compressed size, options, version), architecture, - (name), flags
_ENTRY = struct.Struct("<H2xIQ12xI8xQ16x")
_PTX, _CUBIN, _CUBIN_OF_MERCURY = 1, 2, 16
_ACCELERATED, _FAMILY = 1 << 20, 1 << 21

_HEADER = struct.Struct("<40xQ10xHHH")
_MACHINE = struct.Struct("<18xH28xI")
#: The first architecture that CUDA has names for, and the number of bytes of a cubin to search for its notes.
_OLDEST, _NOTES_LIMIT = 20, 1 << 20
_SECTION = struct.Struct("<IIQQQQII")
_SHT_NOBITS = 8
_SHN_XINDEX = 0xFFFF
#: The number of bytes to search at a time.
_BLOCK = 1 << 16
#: Size limits in bytes for the section names and the section headers; an object with one section per function has
#: several megabytes of each.
_NAMES_LIMIT = _HEADERS_LIMIT = 64 << 20
#: The maximum number of containers and entries in a file, including false matches; cuBLAS has about ten thousand.
_ENTRIES_LIMIT = 1_000_000

_ARCHITECTURE = re.compile(r"(\d+)\.(\d)([af]?)")


@dataclass(frozen=True)
class Embedded:
    """The GPU code in a file.

    :ivar cubins: its machine code's architectures: ``12.0``, ``12.1a`` (only that capability), ``12.0f`` (its family).
    :ivar ptx: the architectures of its PTX code, which the driver compiles when loading it.
    """

    cubins: frozenset[str] = frozenset()
    ptx: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.cubins or self.ptx)

    def __or__(self, other: Embedded) -> Embedded:
        return Embedded(self.cubins | other.cubins, self.ptx | other.ptx)

    def __str__(self) -> str:
        """Return a summary: ``9.0, 12.0 and PTX of 12.0``."""
        cubins = ", ".join(sorted(self.cubins, key=_order))
        ptx = "PTX of " + ", ".join(sorted(self.ptx, key=_order)) if self.ptx else ""
        return " and ".join(part for part in (cubins, ptx) if part) or "no GPU code"

    def runs_on(self, capability: str) -> bool:
        """Tell whether a GPU with this compute capability (``12.1``) can run the code."""
        return bool(self.used_on(capability))

    def used_on(self, capability: str) -> str:
        """Return the architecture whose code a GPU with this compute capability uses, or '' if it can run none.

        A cubin runs on its major version from its minor version on, and PTX runs on any capability that is not older.
        Code for ``a`` runs only on that capability, and code for ``f`` only on its major version from that minor
        version on (CUDA C++ Programming Guide).
        """
        device = _order(capability)[:2]
        for names, is_ptx in ((self.cubins, False), (self.ptx, True)):
            for name in sorted(names, key=_order, reverse=True):
                major, minor, suffix = _order(name)
                if suffix == "a":
                    is_usable = (major, minor) == device
                elif is_ptx and not suffix:
                    is_usable = (major, minor) <= device
                else:
                    is_usable = major == device[0] and minor <= device[1]
                if is_usable:
                    return name
        return ""


def parse_arch_list(text: str) -> Embedded:
    """Return the architectures in a TORCH_CUDA_ARCH_LIST (``12.0;12.1a+PTX``); unknown words are ignored."""
    parts = [word.partition("+") for word in re.split(r"[;,\s]+", text)]
    pairs = [(name, bool(ptx)) for name, ptx, _rest in parts if is_architecture(name)]
    return Embedded(frozenset(name for name, _ptx in pairs), frozenset(name for name, ptx in pairs if ptx))


def number(name: str) -> int:
    """Return the number that compilers use for an architecture: 121 for ``12.1a``."""
    major, minor, _suffix = _order(name)
    return major * 10 + minor


def is_architecture(text: str) -> bool:
    """Tell whether ``text`` is an architecture in this module's notation: ``12.0``, ``12.1a``."""
    return _ARCHITECTURE.fullmatch(text) is not None


def architectures(
    path: str, shown: str | None = None, everywhere: bool = False, deadline: Deadline = NEVER
) -> Embedded:
    """Return the GPU code in an ELF file (including a cubin) or a ``.fatbin``.

    In a file linked from relocatable device code, both the linked code and its inputs count: the driver links the
    inputs again if the linked code does not fit (nvcc manual, JIT Linking).

    :param path: the file to open.
    :param shown: its name in messages.
    :param everywhere: whether to search outside nvcc's sections too, unlike cuobjdump, because cuFFT 12 has its kernels
        in ``.rodata``, one per container. This reads the whole file.
    :raises UnreadableFileError: if the file does not exist or is not readable.
    :raises NotElfError: if it is something else.
    :raises CorruptElfError: if its headers refer to missing data.
    """
    shown = shown or path
    try:
        with disk.open_regular(path, links=True) as stream:
            window = _Window(stream.fileno(), os.fstat(stream.fileno()).st_size, shown, deadline)
            embedded = _read(window)
            if embedded is not None:
                return embedded | _search_everywhere(window) if everywhere else embedded
    except OSError as error:
        raise reader.unreadable(shown, error) from error
    reader.read_elf(path, shown)  # raises the error that fits the file
    raise AssertionError("unreachable: an ELF file is read above")


def _order(name: str) -> tuple[int, int, str]:
    match = _ARCHITECTURE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} names no architecture")
    return int(match[1]), int(match[2]), match[3]


def _read(window: _Window) -> Embedded | None:
    """Return the GPU code in a file, or None if it is neither ELF nor a container."""
    start = window.piece(0, min(8, window.size), "the beginning")
    if start.startswith(reader.MAGIC):
        return _of_elf(window)
    return _of_containers(window, 0, window.size) if start.startswith(MAGIC) else None


class _Window(reader.Reader):
    """An open file, and the number of entries of GPU code that were read from it."""

    def __init__(self, descriptor: int, size: int, shown: str, deadline: Deadline) -> None:
        super().__init__(descriptor, size, shown)
        self.deadline = deadline
        self.entries = 0

    def count(self) -> None:
        """Count a container, an entry, or a block of data between them."""
        self.entries += 1
        if self.entries > _ENTRIES_LIMIT:
            raise self.corrupt(f"it has more than {_ENTRIES_LIMIT} entries of GPU code")

    def piece(self, offset: int, length: int, label: str) -> bytes:
        self.deadline.check()
        return super().piece(offset, length, label)


def _of_elf(window: _Window) -> Embedded:
    ident = window.piece(0, min(16, window.size), "the ELF header")
    if len(ident) < 16:
        raise window.corrupt(f"it has {window.size} bytes, less than an ELF header")
    if ident[4:6] != b"\x02\x01":
        # CUDA 13 supports only 64-bit little-endian hosts.
        return Embedded()
    machine, flags = _MACHINE.unpack(window.piece(0, _MACHINE.size, "the ELF header"))
    if reader.MACHINES.get(machine) == "cuda":
        return Embedded(cubins=frozenset({_of_cubin(window, ident[8], flags)}))
    table, entry, count, names = _HEADER.unpack(window.piece(0, _HEADER.size, "the ELF header"))
    if table == 0:
        return Embedded()
    if entry != 64:
        raise window.corrupt(f"its section headers claim {entry} bytes each")
    if count == 0 or names == _SHN_XINDEX:
        # If they do not fit in 16 bits, the numbers are in the first section header (gABI, chapter 4).
        first = _SECTION.unpack_from(window.piece(table, 64, "the first section header"))
        count, names = count or first[5], first[6] if names == _SHN_XINDEX else names
    if entry * count > _HEADERS_LIMIT:
        raise window.corrupt(f"it claims to have {count} sections")
    headers = window.piece(table, entry * count, "the table of section headers")
    if names >= count:
        raise window.corrupt(f"the names of its {count} sections claim to be in section {names}")
    start, length = _SECTION.unpack_from(headers, entry * names)[4:6]
    if length > _NAMES_LIMIT:
        raise window.corrupt(f"the names of its sections claim {length} bytes")
    strings = window.piece(start, length, "the names of the sections")
    embedded = Embedded()
    for position in range(0, len(headers), entry):
        name, kind, _flags, _address, offset, size, _link, _info = _SECTION.unpack_from(headers, position)
        if strings[name : name + 16].split(b"\0", 1)[0] in SECTIONS and kind != _SHT_NOBITS:
            if offset + size > window.size:
                raise window.corrupt(f"its section of GPU code would end at byte {offset + size} of {window.size}")
            embedded |= _of_containers(window, offset, offset + size)
    return embedded


def _of_cubin(window: _Window, version: int, flags: int) -> str:
    """Return the architecture of a bare cubin: the number is in its header, the suffix in the notes by ptxas.

    The number is in the lowest byte of the flags, or in the next byte from ABI version 8 on (LLVM,
    ``BinaryFormat/ELF.h``). ptxas 13.0 uses the next byte for every architecture.
    """
    number = flags >> 8 & 0xFF if version >= 8 or flags & 0xFF < _OLDEST else flags & 0xFF
    notes = window.piece(0, min(window.size, _NOTES_LIMIT), "the cubin")
    option = re.search(rb"-arch[ =]sm_%d([af]?)\b" % number, notes)
    accelerated = flags & (0x8 if version >= 8 else 0x800)
    return f"{number // 10}.{number % 10}" + (option[1].decode() if option else "a" if accelerated else "")


def _of_containers(window: _Window, position: int, end: int) -> Embedded:
    """Read the containers between two offsets, skipping the linker's padding with zeros."""
    cubins: set[str] = set()
    ptx: set[str] = set()
    while True:
        position = _skip_zeros(window, position, end)
        if position + _CONTAINER.size > end:
            break
        magic, version, header, size = _CONTAINER.unpack(
            window.piece(position, _CONTAINER.size, "a container of GPU code")
        )
        if magic != MAGIC or version != _VERSION or header < _CONTAINER.size:
            raise window.corrupt(f"byte {position} does not start a known container of GPU code")
        position, stop = position + header, position + header + size
        if stop > end:
            raise window.corrupt(f"a container of GPU code would end at byte {stop}, its section ends at {end}")
        while position < stop:
            window.count()
            if position + _ENTRY.size > stop:
                raise window.corrupt(f"a container of GPU code ends within the entry at byte {position}")
            kind, header, size, architecture, flags = _ENTRY.unpack(window.piece(position, _ENTRY.size, "an entry"))
            if header < _ENTRY.size or position + header + size > stop:
                raise window.corrupt(f"the entry of GPU code at byte {position} does not fit its container")
            if kind == _PTX:
                ptx.add(_name(architecture, flags))
            elif kind in (_CUBIN, _CUBIN_OF_MERCURY):
                cubins.add(_name(architecture, flags))
            # Other kinds (the intermediate code for link-time optimisation) cannot run as they are.
            position += header + size
    return Embedded(frozenset(cubins), frozenset(ptx))


def _search_everywhere(window: _Window) -> Embedded:
    """Return the code in all containers of a file, wherever they are; false matches are ignored."""
    embedded, position = Embedded(), 0
    begin, data = 0, b""
    while True:
        start = data.find(MAGIC, position - begin)
        if start < 0:
            # Keep the last bytes of the block, because a magic number may cross the boundary.
            position = max(position, begin + len(data) - len(MAGIC) + 1)
            if position + _CONTAINER.size > window.size:
                return embedded
            begin, data = position, window.piece(position, min(_BLOCK, window.size - position), "the file")
            continue
        position = begin + start
        if position + _CONTAINER.size > window.size:
            return embedded
        size = _CONTAINER.unpack(window.piece(position, _CONTAINER.size, "a container of GPU code"))[3]
        try:
            embedded |= _of_containers(window, position, position + _CONTAINER.size + size)
            position += _CONTAINER.size + size
        except reader.CorruptElfError:
            if window.entries > _ENTRIES_LIMIT:
                raise
            position += len(MAGIC)


def _skip_zeros(window: _Window, position: int, end: int) -> int:
    # The next container follows immediately or after alignment padding, which is rarely longer than this.
    step = 256
    while position < end:
        window.count()
        data = window.piece(position, min(step, end - position), "GPU code")
        step = _BLOCK
        rest = data.lstrip(b"\0")
        if rest:
            return position + len(data) - len(rest)
        position += len(data)
    return end


def _name(architecture: int, flags: int) -> str:
    suffix = "f" if flags & _FAMILY else "a" if flags & _ACCELERATED else ""
    return f"{architecture // 10}.{architecture % 10}{suffix}"
