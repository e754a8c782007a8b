# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Private to this collection: nothing outside it may import this file.

"""Text without the user names, passwords and tokens of the URLs in it."""

from __future__ import annotations

import re

# Up to the last @ before the path: a password may hold one. A password may hold a slash too, though it should not; a
# number before the slash is a port.
_CREDENTIALS = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/\s'\"<>]*@|[^/:@\s'\"<>]*:(?!\d+[/?#])[^\s'\"<>]*@)")
# What the value of a query's key is a password by: ?token=, &X-Amz-Signature=
_TOKENS = re.compile(
    r"([?&][^=&\s'\"<>]*(?:token|key|secret|sig|signature|password|credential|auth)[^=&\s'\"<>]*=)[^&#\s'\"<>]+", re.I
)


def redact(text: str) -> str:
    """Return ``text``, a URL or whatever may hold some, without user names, passwords and tokens."""
    return _TOKENS.sub(r"\1…", _CREDENTIALS.sub(r"\1", text))
