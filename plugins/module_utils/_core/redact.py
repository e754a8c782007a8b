# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text without the user names, passwords and tokens of the URLs in it."""

from __future__ import annotations

import re
import urllib.parse

# Up to the last @ before the path: a password may hold one. A password may hold a slash too, though it should not; a
# number before the slash is a port.
_CREDENTIALS = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/\s'\"<>]*@|[^/:@\s'\"<>]*:(?!\d+[/?#])[^\s'\"<>]*@)")
# Keys in a query whose value is a password: ?token=, &X-Amz-Signature=
_TOKENS = re.compile(
    r"([?&][^=&\s'\"<>]*(?:token|key|secret|sig|signature|password|credential|auth)[^=&\s'\"<>]*=)[^&#\s'\"<>]+", re.I
)


def redact(text: str) -> str:
    """Return ``text``, a URL or whatever may hold some, without user names, passwords and tokens."""
    return _TOKENS.sub(r"\1…", _CREDENTIALS.sub(r"\1", text))


#: Characters from which on a user name without a password is taken for a token; ``git`` is none.
_TOKEN_LENGTH = 16


def passwords(text: str) -> set[str]:
    """Return the passwords and tokens of the URLs in ``text``, as the URL has each and as it is typed."""
    found = [match[0][len(match[1]) :] for match in _TOKENS.finditer(text)]
    for match in _CREDENTIALS.finditer(text):
        user, _colon, password = match[0][len(match[1]) : -1].partition(":")
        found.append(password or (user if len(user) >= _TOKEN_LENGTH else ""))
    return {form for word in found if word for form in (word, urllib.parse.unquote(word))}
