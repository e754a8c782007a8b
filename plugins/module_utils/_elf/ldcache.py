# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ldconfig writes: the entries of ``ld.so.cache``."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .._core.errors import SparkforgeError

CACHE_OLD_MAGIC = b"ld.so-1.7.0"
CACHE_NEW_MAGIC = b"glibc-ld.so.cache1.1"
CACHE_EXTENSION_MAGIC = 0xEAA42174
# Bit 62 of a cache entry's hwcap: the low half is an index into the glibc-hwcaps names of the extension.
CACHE_HWCAP_EXTENSION = 1 << 62


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
            "Run ldconfig as root to rebuild it.",
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
