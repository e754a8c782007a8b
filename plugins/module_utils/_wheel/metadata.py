"""Parse METADATA of a wheel or an installed distribution (core metadata specification)."""

from __future__ import annotations

import typing as t

#: The size limit in bytes for METADATA, including the README. The largest of several hundred files has 0.6 MB
#: (2026-11).
LIMIT = 4 << 20


class Metadata(t.NamedTuple):
    """``name`` as written, ``version`` with its local part, each ``Requires-Dist``; missing fields are empty."""

    name: str
    version: str
    requires: tuple[str, ...]


def read(content: bytes) -> Metadata:
    """Parse the header of METADATA, which ends at the first line that is not a field (RFC 822)."""
    name = version = ""
    requires = []
    for line in content.decode("utf-8", "replace").split("\n"):
        key, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and line.strip():
            # This line continues the previous one, as is common for a licence.
            continue
        if not colon:
            break
        if key.lower() == "name":
            name = value.strip()
        elif key.lower() == "version":
            version = value.strip()
        elif key.lower() == "requires-dist":
            requires.append(value.strip())
    return Metadata(name, version, tuple(requires))
