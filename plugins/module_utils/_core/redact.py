"""Remove user names, passwords and tokens from the URLs in a text."""

from __future__ import annotations

import re
import urllib.parse

# Match up to the last @ before the path, because a password may contain one. A password may even contain a slash,
# although it should not; a number before the slash is a port.
_CREDENTIALS = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/\s'\"<>]*@|[^/:@\s'\"<>]*:(?!\d+[/?#])[^\s'\"<>]*@)")
# Query keys whose value is a secret: ?token=, &X-Amz-Signature=
_TOKENS = re.compile(
    r"([?&][^=&\s'\"<>]*(?:token|key|secret|sig|signature|password|credential|auth)[^=&\s'\"<>]*=)[^&#\s'\"<>]+", re.I
)


def redact(text: str) -> str:
    """Return ``text``, a URL or a text with URLs, without user names, passwords and tokens."""
    return _TOKENS.sub(r"\1…", _CREDENTIALS.sub(r"\1", text))


#: The length from which a user name without a password counts as a token; ``git`` is too short.
_TOKEN_LENGTH = 16


def passwords(text: str) -> set[str]:
    """Return the passwords and tokens in the URLs in ``text``, both URL-encoded and decoded."""
    secrets = [match[0][len(match[1]) :] for match in _TOKENS.finditer(text)]
    for match in _CREDENTIALS.finditer(text):
        user, _colon, password = match[0][len(match[1]) : -1].partition(":")
        secrets.append(password or (user if len(user) >= _TOKEN_LENGTH else ""))
    return {form for word in secrets if word for form in (word, urllib.parse.unquote(word))}
