# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Text without the user names, passwords and tokens of the URLs in it, or also without what identifies a host."""

from __future__ import annotations

import ipaddress
import re
import typing as t
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


# Tokens of hubs and forges have a form, others stand behind their name.
_SECRETS = re.compile(
    r"\b(?:hf_|gh[opsu]_|github_pat_|glpat-|nvapi-|sk-|xox[abp]-|AKIA)[\w-]{8,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?i:(?<=password[=:])|(?<=passwd[=:])|(?<=token[=:])|(?<=secret[=:])|(?<=api[_-]key[=:]))(?: ?)[^\s'\",;&]{4,}"
)
_MAIL = re.compile(r"\b[\w.+-]+@(?=[\w-]+\.[\w.-]+\b)")
_HOME = re.compile(r"(?<=/home/)[^/\s'\":]+")
_QUAD = re.compile(r"(?<![\w.=+~-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.+-])")
_LONG = re.compile(r"(?<![\w.:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f.]*(?![\w:])")
_HARDWARE = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:])")
#: Hosts that everybody uses: to know which was meant tells nothing of who meant it.
_PUBLIC = r"(?:[\w-]+\.)*(?:(?:nvidia|ubuntu|docker|github|githubusercontent)\.com|debian\.org|(?:huggingface|hf)\.co)"
_HOST = re.compile(
    r"(?:(?<=://)|(?<=[Hh]ost: )|(?<=[Hh]ost=)|(?<=[Hh]ost=')|(?<=esolve ')|(?<=onnect to ))"
    rf"(?!(?:localhost|the|a|any|{_PUBLIC})\b(?![\w.-]))(?=[\w.-]*[A-Za-z])[\w-]+(?:\.[\w-]+)*"
)
# A version of a library may look like an address; it begins with a small number.
_HIGHEST_VERSION = 15


class Anonymous:
    """Texts without secrets, and with the same word for the same host or address in all of them.

    :param hosts: names that are known to be of hosts.
    """

    def __init__(self, hosts: t.Iterable[str] = ()) -> None:
        self._words: dict[str, str] = {}
        names = "|".join(re.escape(name) for name in sorted(hosts, key=len, reverse=True))
        self._named = re.compile(rf"(?<![\w.-])(?:{names})(?![\w-])") if names else None

    def text(self, text: str) -> str:
        """Return a text as it may be shown to anybody."""
        text = _MAIL.sub("user@", _HOME.sub("user", _SECRETS.sub("…", redact(text))))
        for form in (_HOST, self._named):
            text = form.sub(lambda match: self._word("host", match[0]), text) if form else text
        text = _HARDWARE.sub(lambda match: self._word("address", match[0]), text)
        return _LONG.sub(self._address, _QUAD.sub(self._address, text))

    def value(self, text: str) -> str:
        """Return a part of a text that was shown before as it may be shown, with the words that stand there."""
        return re.sub(r"[\w-]+(?:\.[\w-]+)*", lambda match: self._words.get(match[0], match[0]), self.text(text))

    def _address(self, match: re.Match[str]) -> str:
        text = match[0].rstrip(":.") if match[0] != "::" else ""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return match[0]
        first = int(text.partition(".")[0]) if address.version == 4 else 0
        version = address.version == 4 and first <= _HIGHEST_VERSION and first != 10
        nobody = address.is_loopback or address.is_unspecified or not any(character.isdigit() for character in text)
        return match[0] if version or nobody else self._word("address", text) + match[0][len(text) :]

    def _word(self, kind: str, text: str) -> str:
        known = sum(word.startswith(kind) for word in self._words.values())
        return self._words.setdefault(text, f"{kind}-{known + 1}")
