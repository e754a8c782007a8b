# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The signed indexes of an apt repository: Release and Packages, each a list of files with size and sha256."""

from __future__ import annotations

import os
import re

from .._core.versions import is_whole
from .._host.apt_state import paragraphs


def parse_release(text: str) -> dict[str, tuple[int, str]]:
    """Return path -> (size, sha256) from the SHA256 section of a Release file; MD5 and SHA-1 alone prove nothing."""
    found: dict[str, tuple[int, str]] = {}
    inside = False
    for line in text.splitlines():
        if not line.startswith((" ", "\t")):
            inside = line.strip() == "SHA256:"
        elif inside:
            words = line.split()
            if len(words) == 3 and is_whole(words[1]) and re.fullmatch("[0-9a-fA-F]{64}", words[0]):
                found[words[2]] = (int(words[1]), words[0].lower())
    return found


def parse_packages(text: str) -> dict[str, tuple[int, str]]:
    """Return file name -> (size, sha256) from a Packages index."""
    found = {}
    for fields in paragraphs(text):
        name, size, digest = fields.get("filename"), fields.get("size", ""), fields.get("sha256", "")
        if name and is_whole(size) and digest:
            found[os.path.normpath(name)] = (int(size), digest.lower())
    return found
