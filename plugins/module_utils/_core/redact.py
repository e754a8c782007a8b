# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Text without the user names and passwords of the URLs in it."""

from __future__ import annotations

import re

# Up to the last @ before the path: a password may hold one.
_CREDENTIALS = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)[^/\s'\"<>]*@")


def redact(text: str) -> str:
    """Return ``text``, a URL or whatever may hold some, without user names and passwords."""
    return _CREDENTIALS.sub(r"\1", text)
