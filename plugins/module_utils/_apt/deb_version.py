# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare Debian versions (deb-version(7))."""

from __future__ import annotations

import re

from .._core.versions import is_whole


def _order(character: str) -> int:
    """Rank one character in a version's non-digit part (deb-version(7)): ~, the end, letters, everything else."""
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _compare_part(left: str, right: str) -> int:
    while left or right:
        left_text = re.match(r"\D*", left).group()  # type: ignore[union-attr]
        right_text = re.match(r"\D*", right).group()  # type: ignore[union-attr]
        for position in range(max(len(left_text), len(right_text))):
            a = _order(left_text[position]) if position < len(left_text) else 0
            b = _order(right_text[position]) if position < len(right_text) else 0
            if a != b:
                return -1 if a < b else 1
        left, right = left[len(left_text) :], right[len(right_text) :]
        left_digits = re.match(r"\d*", left).group()  # type: ignore[union-attr]
        right_digits = re.match(r"\d*", right).group()  # type: ignore[union-attr]
        # Compare as text, because int() limits the number of digits.
        keys = [(len(digits.lstrip("0")), digits.lstrip("0")) for digits in (left_digits, right_digits)]
        if keys[0] != keys[1]:
            return -1 if keys[0] < keys[1] else 1
        left, right = left[len(left_digits) :], right[len(right_digits) :]
    return 0


def compare_versions(left: str, right: str) -> int:
    """Return -1, 0 or 1 according to the order of ``dpkg --compare-versions`` (deb-version(7))."""
    parts = []
    for version in (left, right):
        epoch, colon, rest = version.strip().partition(":")
        if not colon or not is_whole(epoch):
            epoch, rest = "0", version.strip()
        upstream, dash, revision = rest.rpartition("-")
        parts.append((int(epoch), upstream if dash else rest, revision if dash else ""))
    if parts[0][0] != parts[1][0]:
        return -1 if parts[0][0] < parts[1][0] else 1
    return _compare_part(parts[0][1], parts[1][1]) or _compare_part(parts[0][2], parts[1][2])
