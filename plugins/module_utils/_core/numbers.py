# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers in texts of others."""

from __future__ import annotations


def is_whole(text: str) -> bool:
    """Tell whether ``text`` is a whole number that int() takes: str.isdigit() has ² for one, and any length."""
    return len(text) <= 18 and text.isascii() and text.isdigit()
