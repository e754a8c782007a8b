"""Compare Debian versions (deb-version(7))."""

from __future__ import annotations

import re

from .._core.versions import is_whole


def _order(character: str) -> int:
    """Rank one character in a version's non-digit part (deb-version(7)): ~, the end, letters, everything else."""
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _key(part: str) -> list[tuple[list[int], tuple[int, str]]]:
    """Return a sort key of an upstream version or a revision: its non-digit and digit parts in turn.

    Digits stay text, because int() limits their number. An empty part compares as "0".
    """
    key = []
    for text, digits in re.findall(r"(\D*)(\d*)", part or "0"):
        number = digits.lstrip("0")
        key.append(([*map(_order, text), 0], (len(number), number)))
    return key


def compare_versions(left: str, right: str) -> int:
    """Return -1, 0 or 1 according to the order of ``dpkg --compare-versions`` (deb-version(7))."""
    keys = []
    for version in (left, right):
        epoch, colon, rest = version.strip().partition(":")
        if not colon or not is_whole(epoch):
            epoch, rest = "0", version.strip()
        upstream, dash, revision = rest.rpartition("-")
        keys.append((int(epoch), _key(upstream if dash else rest), _key(revision if dash else "")))
    return (keys[0] > keys[1]) - (keys[0] < keys[1])
