"""The entries of ``ld.so.cache``, which ldconfig writes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .._core.errors import SparkforgeError

CACHE_MAGIC = b"glibc-ld.so.cache1.1"
# Bit 62 of a cache entry's hwcap: the library is only for some processors (glibc-hwcaps); a generic one exists too.
CACHE_HWCAP_EXTENSION = 1 << 62


@dataclass(frozen=True)
class CacheEntry:
    """One line in the output of ``ldconfig -p``.

    :ivar flags: the entry's flags; the low byte is the kind of library, the next byte the architecture.
    """

    soname: str
    path: str
    flags: int


def parse_cache(data: bytes) -> list[CacheEntry]:
    """Parse ``/etc/ld.so.cache`` in the format of glibc's ldconfig since 2.33, without processor-specific entries.

    :raises SparkforgeError: if it has a different format, or is damaged.
    """
    try:
        if not data.startswith(CACHE_MAGIC):
            raise ValueError(f"it begins with {data[:20]!r}")
        (count,) = struct.unpack_from("<I", data, 20)
        if 48 + 24 * count > len(data):
            raise ValueError(f"it names {count} libraries and has {len(data)} bytes")
        return [
            CacheEntry(_c_string(data, key), _c_string(data, value), flags)
            for flags, key, value, _os_version, hwcap in struct.iter_unpack("<iIIIQ", data[48 : 48 + 24 * count])
            if not hwcap & CACHE_HWCAP_EXTENSION
        ]
    except (struct.error, ValueError, IndexError) as error:
        raise SparkforgeError(
            f"/etc/ld.so.cache is damaged or of an unknown format: {error}.", "Run ldconfig as root to rebuild it."
        ) from error


def _c_string(data: bytes, offset: int) -> str:
    if offset >= len(data):
        raise ValueError(f"a name begins at byte {offset} of {len(data)}")
    return data[offset : data.index(b"\0", offset)].decode("utf-8", "replace")
