# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""GRUB's menu and its environment block: what it boots next, once, and by default."""

from __future__ import annotations

import os
import re

MENU = "/boot/grub/grub.cfg"
BLOCK = "/boot/grub/grubenv"
#: GRUB writes the block in place, and never makes it longer (GNU GRUB manual, "Environment block").
SIZE = 1024
_HEAD = "# GRUB Environment Block\n"

_OPENED = re.compile(r"^\s*(menuentry|submenu)\b.*?(?:\$menuentry_id_option|--id)[ =]+'?([^' {]+)'?.*\{\s*$")
_KERNEL = re.compile(r"^\s*linux(?:16|efi)?\s+\S*/vmlinuz-(\S+)")


def entries(menu: str) -> dict[str, str]:
    """Return the entry of each kernel in a menu, by its release, as ``next_entry`` and ``saved_entry`` name it.

    The entry at the top is of whichever kernel is the newest, so it is none of these; nor is one of the recovery mode.
    """
    found: dict[str, str] = {}
    opened: list[tuple[str, str]] = []
    for line in menu.splitlines():
        block, kernel = _OPENED.match(line), _KERNEL.match(line)
        if block:
            opened.append((block[1], block[2]))
        elif line.rstrip().endswith("{"):
            opened.append(("", ""))
        elif line.strip() == "}" and opened:
            opened.pop()
        elif kernel and opened and opened[-1][0] == "menuentry":
            names = [name for _kind, name in opened]
            if kernel[1] in names[-1] and "-recovery-" not in names[-1]:
                found.setdefault(kernel[1], ">".join(names))
    return found


def first(menu: str) -> str | None:
    """Return the kernel of the first entry."""
    found = re.search(r"^\s*linux(?:16|efi)?\s+\S*/vmlinuz-(\S+)", menu, re.M)
    return found[1] if found else None


def read_block(path: str) -> dict[str, str] | None:
    """Return the variables of an environment block; None if there is none that GRUB could write."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            text = stream.read()
    except OSError:
        return None
    if len(text) != SIZE or not text.startswith(_HEAD):
        return None
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


def write_block(path: str, **values: str) -> None:
    """Set variables of an environment block, in place as GRUB does, and durable; an empty value removes one.

    :raises OSError: if it is not there or cannot be written.
    """
    known = {**(read_block(path) or {}), **values}
    text = _HEAD + "".join(f"{name}={value}\n" for name, value in known.items() if value)
    content = text.encode("utf-8", "surrogateescape")
    if len(content) > SIZE:
        raise OSError(28, "The environment block of GRUB is full", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, content.ljust(SIZE, b"#"), 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
