"""Writes shared libraries that have headers for GPU code, but not the code itself."""

import struct
from pathlib import Path

_SUFFIXES = {"": 0, "a": 1 << 20, "f": 1 << 21}


def _entry(kind: int, name: str) -> bytes:
    number = name.rstrip("af")
    flags = _SUFFIXES[name[len(number) :]]
    return struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, 8, 0, 0, 8, 1, int(number.replace(".", "")), 0, 0, flags, 0, 0) + bytes(8)  # noqa: E501  # fmt: skip


def fatbin(cubins: str = "", ptx: str = "") -> bytes:
    """Return a container with headers for architectures such as ``12.0 12.1a``."""
    entries = b"".join([_entry(2, name) for name in cubins.split()] + [_entry(1, name) for name in ptx.split()])
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(entries)) + entries


def write(path: Path, cubins: str = "", ptx: str = "") -> Path:
    """Write an ELF file with a fatbin container for the given architectures, or without GPU code if none are given."""
    sections: dict[str, bytes] = {".nv_fatbin" if cubins or ptx else ".text": fatbin(cubins, ptx)}
    names = b"\0" + b"".join(name.encode() + b"\0" for name in [*sections, ".shstrtab"])
    headers, body = [bytes(64)], b""
    for name, content in {**sections, ".shstrtab": names}.items():
        kind = 3 if name == ".shstrtab" else 1
        offset = names.index(b"\0" + name.encode() + b"\0") + 1
        headers.append(struct.pack("<IIQQQQIIQQ", offset, kind, 0, 0, 64 + len(body), len(content), 0, 0, 1, 0))
        body += content + bytes(-len(content) % 8)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(body), 0, 64, 56, 0, 64, len(headers), len(headers) - 1)  # noqa: E501  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + body + b"".join(headers))
    return path
