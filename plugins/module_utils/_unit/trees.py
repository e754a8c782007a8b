# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which build has a tree of sources and objects, which builds of one unit hand on to each other."""

from __future__ import annotations

import os
import re

from .._core import disk

#: The file of a tree that names the fingerprint whose state tells what is in it.
_HOLDER = "holder"


def holder(tree: str) -> tuple[str | None, str | None]:
    """Return the fingerprint whose state tells what is in ``tree``, and the one that is changing it into its own."""
    try:
        with disk.open_regular(os.path.join(tree, _HOLDER)) as stream:
            found = re.fullmatch(r"([0-9a-f]{16})(?: ([0-9a-f]{16}))?\n", stream.read(64).decode("ascii"))
    except (OSError, ValueError):
        found = None
    return (found[1], found[2]) if found else (None, None)


def hold(tree: str, fingerprint: str, taker: str = "") -> None:
    """Say so, durable once this returns."""
    disk.write_file(os.path.join(tree, _HOLDER), f"{fingerprint} {taker}".strip().encode("ascii") + b"\n")


def of_unit(directory: str) -> list[tuple[str, str | None]]:
    """Return each tree below a unit's ``directory`` with its holder."""
    paths = [os.path.join(directory, name) for name in disk.names(directory) if name.startswith("tree-")]
    return [(path, holder(path)[0]) for path in paths]
