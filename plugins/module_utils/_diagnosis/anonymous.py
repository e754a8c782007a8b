"""Remove everything that identifies a user or a host from a text that is to be published."""

from __future__ import annotations

import ipaddress
import re
import typing as t

from .._core.redact import redact

# Tokens for model hubs and code hosts have a known form; others follow a keyword.
_SECRETS = re.compile(
    r"\b(?:hf_(?=\w*[\dA-Z])|gh[opsu]_|github_pat_|glpat-|nvapi-|sk-|xox[abp]-|AKIA)[\w-]{8,}"
    r"|(?<=[Bb]earer )[\w.~+/=-]{8,}"
    r"|(?i:(?<=password[=:])|(?<=passwd[=:])|(?<=token[=:])|(?<=secret[=:])|(?<=api[_-]key[=:]))(?: ?)[^\s'\",;&]{4,}"
)
# An address, or a user in a prompt. A package with a version or an origin is neither: name@2.8.1, name@file:/folder.
_MAIL = re.compile(
    r"\b[\w.+-]+@(?!v?\d+(?:\.\d+){1,2}(?:[a-z+-][\w.+-]*)?(?![\w.-])|(?:file|https?|link|npm|workspace):)"
    r"(?=[\w-]+(?:\.[\w.-]+\b|:[~/]))"
)
_HOME = re.compile(r"(?<=/home/)[^/\s'\":]+")
_QUAD = re.compile(r"(?<![\w.=+~-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.+-])")
_LONG = re.compile(r"(?<![\w.:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f.]*(?![\w:])")
_HARDWARE = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:])")
_HOST = re.compile(
    r"(?:(?<=://)|(?<=[Hh]ost: )|(?<=[Hh]ost=)|(?<=[Hh]ost=')|(?<=esolve ')|(?<=onnect to )|(?<=onnect to host )"
    r"|(?<=esolve hostname )|(?<=tcp: lookup ))(?!(?:Connection|Network|No|Name|Operation) [a-z]|[A-Za-z]+ at address"
    r"|(?:localhost|the|all?|any|dbus|host|remote|system|DGX|NVIDIA|GB10|GCS|[Nn]ode)\b(?![\w.-]))"
    r"(?=[\w.-]*[A-Za-z])[\w-]+(?:\.[\w-]+)*"
)
# The public registries of packages, whose names do not identify the user either.
_REGISTRY = re.compile(
    r"(^|\.)(?:aliyun|anaconda|crates|nodesource|npmjs|packages\.microsoft|pypi|pythonhosted|yarnpkg)\.(?:com|io|org)$"
)
# A library version may look like an address; its first number is small.
_HIGHEST_VERSION = 15


class Anonymous:
    """Texts without secrets, in which the same host or address always gets the same placeholder.

    :param hosts: known host names.
    :param public: the last two labels of public hosts, whose names do not identify the user.
    """

    def __init__(self, hosts: t.Iterable[str] = (), public: t.Container[str] = ()) -> None:
        self._public = public
        self._words: dict[str, str] = {}
        names = "|".join(re.escape(name) for name in sorted(hosts, key=len, reverse=True))
        self._named = re.compile(rf"(?<![\w.-])(?:{names})(?![\w-])") if names else None

    def text(self, text: str) -> str:
        """Return a text that is safe to publish."""
        text = _MAIL.sub("user@", _HOME.sub("user", _SECRETS.sub("…", redact(text))))
        text = _HOST.sub(lambda match: match[0] if self._is_public(match[0]) else self._word("host", match[0]), text)
        text = self._named.sub(lambda match: self._word("host", match[0]), text) if self._named else text
        text = _HARDWARE.sub(lambda match: self._word("address", match[0]), text)
        return _LONG.sub(self._address, _QUAD.sub(self._address, text))

    def value(self, text: str) -> str:
        """Return an excerpt from an earlier text, with the placeholders from that text."""
        return re.sub(r"[\w-]+(?:\.[\w-]+)*", lambda match: self._words.get(match[0], match[0]), self.text(text))

    def _is_public(self, host: str) -> bool:
        return bool(_REGISTRY.search(host.lower())) or ".".join(host.lower().split(".")[-2:]) in self._public

    def _address(self, match: re.Match[str]) -> str:
        text = match[0].rstrip(":.") if match[0] != "::" else ""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return match[0]
        first = int(text.partition(".")[0]) if address.version == 4 else 0
        version = address.version == 4 and first <= _HIGHEST_VERSION and first != 10
        nobody = address.is_loopback or address.is_unspecified or not any(character.isdigit() for character in text)
        if version or nobody:
            return match[0]
        network = ipaddress.ip_network(f"{address}/{24 if address.version == 4 else 64}", strict=False)
        kind = "link-local" if address.is_link_local else "address"
        return self._word(f"{self._word(kind, str(network))}.", text, "") + match[0][len(text) :]

    def _word(self, kind: str, text: str, separator: str = "-") -> str:
        """Return the placeholder of a text; those of addresses in one network begin alike."""
        if text not in self._words:
            count = sum(word.startswith(kind) and "." not in word[len(kind) :] for word in self._words.values())
            self._words[text] = f"{kind}{separator}{count + 1}"
        return self._words[text]
