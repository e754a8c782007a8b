"""The dynamic symbols of a library: imported names, and checksums of exported names.

Only symbols in 64-bit little-endian files are read. The layout follows the gABI, chapter 5, GNU's hash table (glibc,
``elf/dl-lookup.c``) and symbol versioning (Linux Standard Base, Symbol Versioning).
"""

from __future__ import annotations

import re
import struct
import typing as t
import zlib
from dataclasses import dataclass

DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_GNU_HASH = 4, 5, 6, 10, 0x6FFFFEF5
DT_VERSYM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
#: The maximum number of symbols in a file, and of bytes in their names; libtorch_cpu.so 2.13 exports 74,000 symbols.
SYMBOLS_LIMIT, STRINGS_LIMIT = 2_000_000, 256 << 20
#: The maximum number of symbol versions that a file requires.
VERSIONS_LIMIT = 10_000
_SYMBOL = struct.Struct("<IBBHQQ")
_GLOBAL, _WEAK = 1, 2
# The namespace of a mangled name, or the prefix of names in a C library.
_NAMESPACE = re.compile(rb"_Z[A-Z]*[rVK]*(\d{1,4})(?!\d)")
_PREFIX = re.compile(rb"_*([a-z]{2,40})")

At = t.Callable[[int, int, str], bytes]


@dataclass(frozen=True)
class Symbols:
    """The symbols that a library imports and exports.

    :ivar undefined: each name that another library must define, with the SONAME of that library, if specified.
    :ivar exports: the checksums of the names that it defines.
    :ivar families: their C++ namespaces and C prefixes.
    :ivar versions: each required version, as ``(SONAME, GLIBC_2.38)``.
    """

    undefined: tuple[tuple[str, str], ...] = ()
    exports: frozenset[int] = frozenset()
    families: frozenset[str] = frozenset()
    versions: tuple[tuple[str, str], ...] = ()


def checksum(name: str) -> int:
    """Return the checksum of a name for the exports: one missing name in 10,000 is mistaken for present."""
    return zlib.crc32(name.encode())


def family(name: bytes) -> str:
    """Return the namespace of a C++ name or the prefix of a C name, or '' if it has none or is in ``std``."""
    mangled = _NAMESPACE.match(name)
    if mangled:
        return name[mangled.end() : mangled.end() + int(mangled[1])].decode("utf-8", "replace")
    prefix = None if name.startswith(b"_Z") else _PREFIX.match(name)
    return prefix[1].decode() if prefix else ""


def read(at: At, corrupt: t.Callable[[str], Exception], values: t.Mapping[int, int]) -> Symbols:
    """Read the symbols referenced by a dynamic section.

    :param at: a function that returns a number of bytes from an address, or raises an error if the file lacks them.
    :param values: the entries of the dynamic section by tag.
    """
    if not {DT_SYMTAB, DT_STRTAB, DT_STRSZ} <= values.keys():
        return Symbols()
    count = _count(at, corrupt, values)
    if count > SYMBOLS_LIMIT or values[DT_STRSZ] > STRINGS_LIMIT:
        raise corrupt(f"it claims {count} symbols with {values[DT_STRSZ]} bytes of names")
    strings = at(values[DT_STRTAB], values[DT_STRSZ], "the names of its symbols")
    required_versions = _versions(at, corrupt, values, strings)
    numbers = (
        at(values[DT_VERSYM], 2 * count, "the versions of its symbols")
        if required_versions and count and DT_VERSYM in values
        else b""
    )
    undefined, exports, families = [], set(), set()
    table = at(values[DT_SYMTAB], _SYMBOL.size * count, "its symbols") if count else b""
    for index, (begin, info, _other, section, _value, _size) in enumerate(_SYMBOL.iter_unpack(table)):
        binding = info >> 4
        if not begin or not binding or (section == 0 and binding == _WEAK):
            continue
        name = _name(strings, begin, corrupt)
        if section:
            exports.add(zlib.crc32(name))
            families.add(family(name))
        elif binding == _GLOBAL:
            number = struct.unpack_from("<H", numbers, 2 * index)[0] & 0x7FFF if numbers else 0
            undefined.append((name.decode("utf-8", "replace"), required_versions.get(number, ("", ""))[0]))
    return Symbols(tuple(undefined), frozenset(exports), frozenset(families - {""}), tuple(required_versions.values()))


def _name(strings: bytes, begin: int, corrupt: t.Callable[[str], Exception]) -> bytes:
    end = strings.find(b"\0", begin)
    if begin >= len(strings) or end < 0:
        raise corrupt(f"the name of a symbol lies outside its table of {len(strings)} bytes")
    return strings[begin:end]


def _count(at: At, corrupt: t.Callable[[str], Exception], values: t.Mapping[int, int]) -> int:
    """Return the number of symbols, which no entry states, from the hash table or else from the start of the names."""
    if DT_HASH in values:
        return int(struct.unpack("<II", at(values[DT_HASH], 8, "its hash table"))[1])
    if DT_GNU_HASH not in values:
        return max(0, values[DT_STRTAB] - values[DT_SYMTAB]) // _SYMBOL.size
    address = values[DT_GNU_HASH]
    buckets, first, bloom_words, _shift = struct.unpack("<IIII", at(address, 16, "its hash table"))
    if max(buckets, first, bloom_words) > SYMBOLS_LIMIT:
        raise corrupt(f"its hash table claims {buckets} buckets and {bloom_words} words")
    address += 16 + 8 * bloom_words
    highest = max(struct.unpack(f"<{buckets}I", at(address, 4 * buckets, "its hash table")), default=0)
    if highest < first:
        return int(first)
    address += 4 * buckets
    while not at(address + 4 * (highest - first), 4, "its hash table")[0] & 1:
        highest += 1
        if highest > SYMBOLS_LIMIT:
            raise corrupt("its hash table does not end")
    return int(highest + 1)


def _versions(
    at: At, corrupt: t.Callable[[str], Exception], values: t.Mapping[int, int], strings: bytes
) -> dict[int, tuple[str, str]]:
    """Return the SONAME and name of each required version, keyed by its number in the symbol table."""

    def text(begin: int) -> str:
        return _name(strings, begin, corrupt).decode("utf-8", "replace")

    required: dict[int, tuple[str, str]] = {}
    address, files = values.get(DT_VERNEED), values.get(DT_VERNEEDNUM, 0)
    rows = 0
    while address is not None and files:
        _version, count, file, first, following = struct.unpack("<HHIII", at(address, 16, "a version of symbols"))
        entry = address + first
        for _number in range(count):
            _hash, flags, number, name, step = struct.unpack("<IHHII", at(entry, 16, "a version of symbols"))
            # The loader only warns about a weak version.
            if not flags & 2:
                required[number & 0x7FFF] = (text(file), text(name))
            entry, rows = entry + step, rows + 1
        files, rows = files - 1, rows + 1
        if rows > VERSIONS_LIMIT:
            raise corrupt(f"it requires more than {VERSIONS_LIMIT} versions of symbols")
        address = address + following if following else None
    return required
