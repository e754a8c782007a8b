# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What METADATA, in a wheel or where one was installed, says of it (core metadata specification)."""

from __future__ import annotations

import typing as t

#: Bytes of METADATA, the README in it included. The largest of some hundred packages has 0.6 MB (November 2026).
LIMIT = 4 << 20


class Metadata(t.NamedTuple):
    """``name`` as it is written, ``version`` with its local part, each ``Requires-Dist``; empty where it says none."""

    name: str
    version: str
    requires: tuple[str, ...]


def read(content: bytes) -> Metadata:
    """Read the head of METADATA, which ends at the first line that is none (RFC 822)."""
    name = version = ""
    requires = []
    for line in content.decode("utf-8", "replace").split("\n"):
        key, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and line.strip():
            # The line before goes on: a licence has several as a rule.
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
