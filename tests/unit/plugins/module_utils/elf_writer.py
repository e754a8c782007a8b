"""Writes minimal ELF files and loader caches for any machine, without a compiler."""

import pathlib
import struct
import typing as t

X86_64, AARCH64, I386, ARM, PPC64 = 62, 183, 3, 40, 21
# The address of every file in memory, so that readers fail if they confuse addresses with file offsets.
BASE = 0x400000


def elf_bytes(
    *,
    soname: str | None = None,
    needed: t.Sequence[str] = (),
    rpath: str | None = None,
    runpath: str | None = None,
    machine: int = AARCH64,
    bits: int = 64,
    little_endian: bool = True,
    kind: int = 3,
    interpreter: str | None = None,
    dynamic: bool = True,
    padding: int = 0,
    undefined: t.Sequence[str] = (),
    exports: t.Sequence[str] = (),
    versions: t.Mapping[str, t.Sequence[str]] | None = None,
    message: bytes = b"",
) -> bytes:
    """Return an ELF file with program headers, a dynamic section, its strings, and ``padding`` bytes at the end.

    :param undefined: required symbols, given as ``name`` or as ``name@VERSION`` with one of ``versions``.
    :param versions: SONAME -> the versions that its symbols must have.
    :param message: text before the padding.
    """
    order = "<" if little_endian else ">"
    is_64_bit = bits == 64
    header_size, segment_size, entry = (64, 56, order + "qQ") if is_64_bit else (52, 32, order + "iI")
    strings = bytearray(b"\0")

    def intern(text: str) -> int:
        offset = len(strings)
        strings.extend(text.encode() + b"\0")
        return offset

    entries = [(1, intern(name)) for name in needed]
    for tag, text in ((14, soname), (15, rpath), (29, runpath)):
        if text is not None:
            entries.append((tag, intern(text)))
    tables = _Symbols(intern, undefined, exports, versions or {})
    padding += len(message)
    count = 1 + bool(dynamic) + (interpreter is not None)
    dynamic_offset = header_size + count * segment_size
    dynamic_size = (len(entries) + 3 + len(tables.tags)) * struct.calcsize(entry) if dynamic else 0
    strings_offset = dynamic_offset + dynamic_size
    interpreter_offset = strings_offset + len(strings)
    interpreter_bytes = interpreter.encode() + b"\0" if interpreter else b""
    tables_offset = interpreter_offset + len(interpreter_bytes)
    size = tables_offset + len(tables.content) + padding
    entries += [(tag, value if tag == 0x6FFFFFFF else BASE + tables_offset + value) for tag, value in tables.tags]
    entries += [(5, BASE + strings_offset), (10, len(strings)), (0, 0)]
    segments = [(1, 0, size)]
    if interpreter:
        segments.insert(0, (3, interpreter_offset, len(interpreter_bytes)))
    if dynamic:
        segments.append((2, dynamic_offset, dynamic_size))
    out = b"\x7fELF" + bytes([2 if is_64_bit else 1, 1 if little_endian else 2, 1]) + bytes(9)
    out += struct.pack(
        order + ("HHIQQQIHHHHHH" if is_64_bit else "HHIIIIIHHHHHH"),
        *(kind, machine, 1, 0, header_size, 0, 0, header_size, segment_size, count, 0, 0, 0),
    )
    for segment, offset, length in segments:
        extent = (offset, BASE + offset, BASE + offset, length, length)
        fields = (segment, 5, *extent, 8) if is_64_bit else (segment, *extent, 5, 4)
        out += struct.pack(order + ("IIQQQQQQ" if is_64_bit else "IIIIIIII"), *fields)
    if dynamic:
        out += b"".join(struct.pack(entry, tag, value) for tag, value in entries)
    return out + bytes(strings) + interpreter_bytes + tables.content + message + bytes(padding - len(message))


class _Symbols:
    """The tables of dynamic symbols in ``content``, and their tags with offsets into it."""

    def __init__(self, intern, undefined, exports, versions) -> None:
        self.content = b""
        self.tags: list[tuple[int, int]] = []
        if not (undefined or exports or versions):
            return
        version_numbers = {"": 1}
        for version in [version for names in versions.values() for version in names]:
            version_numbers[version] = len(version_numbers) + 1
        symbols, numbers = bytes(24), struct.pack("<H", 0)
        for symbol, section in [*((symbol, 0) for symbol in undefined), *((symbol, 1) for symbol in exports)]:
            name, _at, version = symbol.partition("@")
            symbols += struct.pack("<IBBHQQ", intern(name), 0x12, 0, section, 0, 0)
            numbers += struct.pack("<H", version_numbers[version])
        requirements = b""
        for position, (soname, names) in enumerate(versions.items(), 1):
            step = 16 + 16 * len(names) if position < len(versions) else 0
            requirements += struct.pack("<HHIII", 1, len(names), intern(soname), 16, step)
            for index, name in enumerate(names, 1):
                step = 16 if index < len(names) else 0
                requirements += struct.pack("<IHHII", 0, 0, version_numbers[name], intern(name), step)
        self._add(4, struct.pack("<IIII", 1, len(symbols) // 24, 0, 0))
        self._add(6, symbols)
        self._add(0x6FFFFFF0, numbers)
        if requirements:
            self._add(0x6FFFFFFE, requirements)
            self.tags.append((0x6FFFFFFF, len(versions)))

    def _add(self, tag: int, content: bytes) -> None:
        self.tags.append((tag, len(self.content)))
        self.content += content


def cubin(architecture: str, abi: int = 8) -> bytes:
    """Return a cubin like ptxas's, with the architecture's number in the header and its letter in a note."""
    number = int(architecture.rstrip("af").replace(".", ""))
    letter = architecture.lstrip("0123456789.")
    flags = number << 8 | 0x6000002 if abi == 8 else number << 16 | 0x500 | number
    head = b"\x7fELF\x02\x01\x01" + bytes([0x41 if abi == 8 else 0x33, abi]) + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 0, flags, 64, 56, 0, 64, 0, 0)
    return head + b"\0-arch sm_%d%b \0" % (number, letter.encode())


def write_elf(path: pathlib.Path, **description: t.Any) -> pathlib.Path:
    """Write :func:`elf_bytes` to ``path``, creating its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(elf_bytes(**description))
    return path


def new_cache(entries: t.Sequence[tuple[str, str, int, str]]) -> bytes:
    """Return a ``glibc-ld.so.cache1.1`` with entries ``(soname, path, flags, glibc-hwcaps name)``."""
    names = sorted({name for _soname, _path, _flags, name in entries if name})
    header_size = 48
    strings = bytearray()
    offset = header_size + 24 * len(entries)

    def intern(text: str) -> int:
        position = offset + len(strings)
        strings.extend(text.encode() + b"\0")
        return position

    rows = b""
    for soname, path, flags, name in entries:
        hwcap = (1 << 62) | names.index(name) if name else 0
        rows += struct.pack("<iIIIQ", flags, intern(soname), intern(path), 0, hwcap)
    name_offsets = [intern(name) for name in names]
    while (offset + len(strings)) % 4:
        strings.append(0)
    extension = offset + len(strings)
    tail = struct.pack("<II", 0xEAA42174, 2)
    generator = b"ldconfig test\0\0\0"
    data_offset = extension + 8 + 2 * 16
    tail += struct.pack("<IIII", 0, 0, data_offset, len(generator))
    tail += struct.pack("<IIII", 1, 0, data_offset + len(generator), 4 * len(names))
    tail += generator + b"".join(struct.pack("<I", value) for value in name_offsets)
    head = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(strings))
    head += bytes([2, 0, 0, 0]) + struct.pack("<I", extension) + bytes(12)
    return head + rows + bytes(strings) + tail
