# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What METADATA, in a wheel or where one was installed, says of it (core metadata specification)."""

from __future__ import annotations

import typing as t


class Metadata(t.NamedTuple):
    """``name`` as it is written, ``version`` with its local part, each ``Requires-Dist``; empty where it says none."""

    name: str
    version: str
    requires: tuple[str, ...]


def read(lines: t.Iterable[str]) -> Metadata:
    """Read the head of METADATA, which ends at the first line that is none."""
    name = version = ""
    requires = []
    for line in lines:
        key, colon, value = line.partition(":")
        if not line.strip() or not colon:
            break
        if key == "Name":
            name = value.strip()
        elif key == "Version":
            version = value.strip()
        elif key == "Requires-Dist":
            requires.append(value.strip())
    return Metadata(name, version, tuple(requires))
