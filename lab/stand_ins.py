# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tiny stand-ins for large artefacts: shared objects with the right SONAME and NEEDED, and wheels.

They are written without a compiler, so either architecture can create them for both, always with the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import typing as t
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

#: Redist platform -> ELF e_machine and the machine code of a function that returns 0.
_MACHINES = {
    "linux-sbsa": (183, bytes.fromhex("00008052c0035fd6")),  # mov w0, #0; ret
    "linux-x86_64": (62, bytes.fromhex("31c0c3")),  # xor eax, eax; ret
}
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 1, 4, 5, 6, 10, 11, 14
#: The largest page size of both architectures; segments with different permissions are at least this far apart.
_PAGE = 0x10000
_DATA_OFFSET = 0x400
#: A symbol that every stand-in exports, so that it can be told from the vendor's library.
SYMBOL = "sparkforge_stand_in"


def shared_object(platform: str, soname: str, needed: Iterable[str] = ()) -> bytes:
    """Return an ELF shared object with one function and no relocations that can be loaded and linked.

    :param platform: ``linux-sbsa`` or ``linux-x86_64``.
    :param needed: SONAMEs that the loader must find; ``libc.so.6`` is always included.
    """
    machine, code = _MACHINES[platform]
    strings = bytearray(b"\0")

    def string(text: str) -> int:
        strings.extend(text.encode() + b"\0")
        return len(strings) - len(text) - 1

    libraries = [*needed, *(["libc.so.6"] if "libc.so.6" not in needed else [])]
    names = [(_DT_SONAME, string(soname))] + [(_DT_NEEDED, string(name)) for name in libraries]
    symbol_name = string(SYMBOL)
    code_offset = 64 + 4 * 56
    # Symbol 0 is undefined; symbol 1 is global (1 << 4), a function (2), in any section.
    symbols = bytes(24) + struct.pack("<IBBHQQ", symbol_name, 1 << 4 | 2, 0, 1, code_offset, len(code))
    hashes = struct.pack("<5I", 1, 2, 1, 0, 0)
    text = code.ljust(-(-len(code) // 8) * 8, b"\0")
    hash_at = code_offset + len(text)
    symbols_at = hash_at + 24
    strings_at = symbols_at + len(symbols)
    read_only_end = strings_at + len(strings)
    # The loader writes to the dynamic section, so that needs a separate writable segment.
    data_offset = max(_DATA_OFFSET, -(-read_only_end // 16) * 16)
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in [
            *names,
            (_DT_HASH, hash_at),
            (_DT_STRTAB, strings_at),
            (_DT_SYMTAB, symbols_at),
            (_DT_STRSZ, len(strings)),
            (_DT_SYMENT, 24),
            (0, 0),
        ]
    )
    data_address = _PAGE + data_offset
    # The loader uses segments; binutils' ld reads a library's SONAME and symbols only from its sections.
    sections = _sections(
        (".text", 1, 6, code_offset, code_offset, len(code), 0, 0, 0),
        (".hash", 5, 2, hash_at, hash_at, 20, 3, 0, 4),
        (".dynsym", 11, 2, symbols_at, symbols_at, len(symbols), 4, 1, 24),
        (".dynstr", 3, 2, strings_at, strings_at, len(strings), 0, 0, 0),
        (".dynamic", 6, 3, data_address, data_offset, len(dynamic), 4, 0, 16),
        at=data_offset + len(dynamic),
    )
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, machine, 1, 0, 64, sections.offset, 0, 64, 56, 4, 64, 7, 6
    )

    def segment(kind: int, flags: int, offset: int, address: int, size: int, align: int) -> bytes:
        return struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, size, align)

    programs = (
        segment(1, 5, 0, 0, read_only_end, _PAGE)  # PT_LOAD, read and execute
        + segment(1, 6, data_offset, data_address, len(dynamic), _PAGE)  # PT_LOAD, read and write
        + segment(2, 6, data_offset, data_address, len(dynamic), 8)  # PT_DYNAMIC
        + segment(0x6474E551, 6, 0, 0, 0, 16)  # PT_GNU_STACK: without it glibc wants an executable stack
    )
    image = header + programs + text + hashes.ljust(24, b"\0") + symbols + bytes(strings)
    return image.ljust(data_offset, b"\0") + dynamic + sections.data


class _Sections(t.NamedTuple):
    """Section headers, after their names; ``offset`` is the headers' position in the file."""

    data: bytes
    offset: int


def _sections(*rows: tuple[str, int, int, int, int, int, int, int, int], at: int) -> _Sections:
    """Return headers for sections (name, type, flags, address, offset, size, link, info, entry size) at ``at``."""
    names = b"\0"
    headers = bytes(64)
    for name, kind, flags, address, offset, size, link, info, entry in rows:
        headers += struct.pack("<IIQQQQIIQQ", len(names), kind, flags, address, offset, size, link, info, 8, entry)
        names += name.encode() + b"\0"
    own, names = len(names), names + b".shstrtab\0"
    headers += struct.pack("<IIQQQQIIQQ", own, 3, 0, 0, at, len(names), 0, 0, 1, 0)
    padding = -(at + len(names)) % 8
    return _Sections(names + bytes(padding) + headers, at + len(names) + padding)


def write_wheel(
    directory: Path, name: str, version: str, files: Mapping[str, str | bytes], requires: Iterable[str] = ()
) -> Path:
    """Write a pure-Python wheel that pip installs anywhere, and return its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: Stand-in of {name}\n"
    metadata += "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    members = {path: data.encode() if isinstance(data, str) else data for path, data in files.items()}
    members[f"{stem}.dist-info/METADATA"] = metadata.encode()
    members[f"{stem}.dist-info/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: sparkforge-lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = "".join(f"{path},{_record_hash(data)},{len(data)}\n" for path, data in sorted(members.items()))
    members[f"{stem}.dist-info/RECORD"] = f"{record}{stem}.dist-info/RECORD,,\n".encode()
    path = directory / f"{stem}-py3-none-any.whl"
    directory.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as wheel:
        for member, data in sorted(members.items()):
            wheel.writestr(zipfile.ZipInfo(member, (2025, 10, 1, 0, 0, 0)), data)
    return path


def _record_hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"sha256={digest}"
