# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The packages that the collection holds at their version, and the rule of each."""

from __future__ import annotations

import typing as t

from .._apt.apt_get import Apt
from .._core import receipts


class Holds:
    """The holds of one host, which a receipt lists.

    :param apt: apt-get on the host.
    :param root: of the collection.
    """

    def __init__(self, apt: Apt, root: str) -> None:
        self.apt, self.root = apt, root

    def ours(self) -> dict[str, str]:
        """Return our own holds, package to rule, that dpkg has."""
        ours = (receipts.read(self.root, receipts.HOLDS) or {}).get("holds") or {}
        held = set(self.apt.packages().held)
        return {name: rule for name, rule in ours.items() if name in held}

    def add(self, holds: t.Mapping[str, str]) -> list[str]:
        """Hold what is not held; return what was held by this."""
        there = self.apt.packages()
        new = {name: rule for name, rule in holds.items() if name in there.versions and name not in there.held}
        if new:
            # Before: a hold that nobody knows of would stay for ever.
            receipts.write(self.root, receipts.HOLDS, {"holds": {**self.ours(), **new}})
            self.apt.run(["apt-mark", "hold", *sorted(new)], "hold packages")
        return sorted(new)

    def release(self, over: t.Sequence[str]) -> None:
        """Take our own holds of these packages back."""
        ours = self.ours()
        ended = sorted(name for name in over if name in ours)
        if ended:
            self.apt.run(["apt-mark", "unhold", *ended], "take holds back")
            left = {name: rule for name, rule in ours.items() if name not in ended}
            if left:
                receipts.write(self.root, receipts.HOLDS, {"holds": left})
            else:
                receipts.remove(self.root, receipts.HOLDS)
