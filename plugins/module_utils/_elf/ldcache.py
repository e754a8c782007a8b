# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ldconfig writes: the entries of ``ld.so.cache``."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .._core.errors import SparkforgeError

CACHE_MAGIC = b"glibc-ld.so.cache1.1"
CACHE_EXTENSION_MAGIC = 0xEAA42174
# Bit 62 of a cache entry's hwcap: the low half is an index into the glibc-hwcaps names of the extension.
CACHE_HWCAP_EXTENSION = 1 << 62


@dataclass(frozen=True)
class CacheEntry:
    """One line of ``ldconfig -p``.

    :ivar flags: the entry's flags; the low byte is the kind of library, the next one the architecture.
    :ivar hwcaps: the glibc-hwcaps subdirectory that it is meant for, empty for every processor.
    """

    soname: str
    path: str
    flags: int
    hwcaps: str = ""


def parse_cache(data: bytes) -> list[CacheEntry]:
    """Read ``/etc/ld.so.cache`` in the format that glibc's ldconfig writes since 2.33.

    :raises SparkforgeError: it is in another, or is damaged.
    """
    try:
        return _parse_cache(data)
    except (struct.error, ValueError, IndexError) as error:
        raise SparkforgeError(
            f"/etc/ld.so.cache is damaged or of an unknown format: {error}.",
            "Run ldconfig as root to rebuild it.",
        ) from error


def _parse_cache(data: bytes) -> list[CacheEntry]:
    if not data.startswith(CACHE_MAGIC):
        raise ValueError(f"it begins with {data[:20]!r}")
    count, extension = struct.unpack_from("<I8xI", data, 20)
    if 48 + 24 * count > len(data):
        raise ValueError(f"it names {count} libraries and has {len(data)} bytes")
    names = _cache_hwcaps(data, extension)
    entries = []
    for flags, key, value, _os_version, hwcap in struct.iter_unpack("<iIIIQ", data[48 : 48 + 24 * count]):
        name = names[hwcap & 0xFFFFFFFF] if hwcap & CACHE_HWCAP_EXTENSION else ""
        entries.append(CacheEntry(_c_string(data, key), _c_string(data, value), flags, name))
    return entries


def _cache_hwcaps(data: bytes, offset: int) -> list[str]:
    """Return the glibc-hwcaps names of the extension, which begins ``offset`` bytes into the cache."""
    if not offset:
        return []
    magic, count = struct.unpack_from("<II", data, offset)
    if magic != CACHE_EXTENSION_MAGIC:
        return []
    for position in range(count):
        tag, _flags, start, length = struct.unpack_from("<IIII", data, offset + 8 + 16 * position)
        if tag == 1:
            return [_c_string(data, index) for (index,) in struct.iter_unpack("<I", data[start : start + length])]
    return []


def _c_string(data: bytes, offset: int) -> str:
    if offset >= len(data):
        raise ValueError(f"a name begins at byte {offset} of {len(data)}")
    return data[offset : data.index(b"\0", offset)].decode("utf-8", "replace")
