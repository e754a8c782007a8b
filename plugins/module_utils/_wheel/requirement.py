"""Requirements: parse a line of a lock, which is pinned and hashed."""

from __future__ import annotations

import dataclasses
import re
import shlex
import urllib.parse

from .._core.errors import SparkforgeError
from .._core.redact import redact
from .names import normalised

SHA256 = re.compile(r"[0-9a-f]{64}")
_HASH_OPTION = re.compile(r"\s--hash=(?P<algorithm>[a-z0-9]+):(?P<digest>\S+)")
_NAME_ENDS = re.compile(r"[\s=<>!~;\[@]")
_VERSION = re.compile(r"[^\s=<>!~;\[@]+\s*(?:\[[^\]]*\])?\s*===?\s*([^\s;,]+)")
_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*"
    r"(?:===?\s*[A-Za-z0-9][A-Za-z0-9.!+_-]*|@\s*\S+)\s*(?:;[^#]*)?"
)


@dataclasses.dataclass(frozen=True, order=True)
class Requirement:
    """One parsed line of a lock or a requirements file.

    :ivar name: normalised (PEP 503).
    :ivar pin: the line without its hashes: ``torch==2.9.1``.
    :ivar hashes: the sha256 of the files that it allows, sorted.
    """

    name: str
    pin: str
    hashes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The complete line in canonical form: the same pin always gives the same line."""
        return " ".join([self.pin, *(f"--hash=sha256:{digest}" for digest in self.hashes)])

    @property
    def written(self) -> str:
        """The name as spelled in the line."""
        return _NAME_ENDS.split(self.pin, maxsplit=1)[0]

    @property
    def version(self) -> str:
        """The pinned version, or '' for a URL, a range or no version."""
        match = _VERSION.match(self.pin)
        return match[1] if match else ""


def split(text: str) -> Requirement:
    """Parse any requirement line; only sha256 hashes are kept."""
    line = " ".join(text.replace("\\\n", " ").split())
    pin = _HASH_OPTION.sub("", f" {line}").strip()
    hashes = {option["digest"] for option in _HASH_OPTION.finditer(f" {line}") if option["algorithm"] == "sha256"}
    return Requirement(normalised(_NAME_ENDS.split(pin, maxsplit=1)[0]), pin, tuple(sorted(hashes)))


def parse_requirement(text: str) -> Requirement:
    """Parse one requirement, which must be pinned and have a sha256."""
    requirement = split(text)
    line, pin = " ".join(text.replace("\\\n", " ").split()), requirement.pin
    remedy = "Write it as name==version --hash=sha256:<64 hex digits>, as playbooks/lock.yml does."
    match = _PINNED.fullmatch(pin)
    if "\n" in text.replace("\\\n", "") or " -" in f" {pin}" or match is None:
        raise SparkforgeError(f"The requirement {clip(redact(text))!r} does not pin exactly one package.", remedy)
    if redact(pin) != pin:
        raise SparkforgeError(
            f"The requirement {clip(redact(pin))!r} has a password or a token in its URL, which receipts would show.",
            "Move it to the index URL or to pip's configuration.",
        )
    options = list(_HASH_OPTION.finditer(f" {line}"))
    if not options:
        raise SparkforgeError(f"The requirement {redact(pin)!r} has no hash.", remedy)
    for option in options:
        if option["algorithm"] != "sha256" or not SHA256.fullmatch(option["digest"]):
            raise SparkforgeError(
                f"The requirement {redact(pin)!r} has the hash "
                f"{clip(option['algorithm'] + ':' + option['digest'])!r}, which is not a sha256.",
                remedy,
            )
    return dataclasses.replace(requirement, name=normalised(match["name"]))


def place_option(option: str, location: str) -> str:
    """Return the line of a requirements file that sets a location: exactly one option, whatever the location.

    :raises SparkforgeError: for a character that would end the line, so that pip would read further options, or for an
        invalid URL.
    """
    if re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029]", location):
        raise SparkforgeError(
            f"{option} has {clip(redact(location))!r}, which contains a character that is invalid in URLs and paths.",
            f"Correct {option}.",
        )
    try:
        urllib.parse.urlsplit(location)
    except ValueError as error:
        raise SparkforgeError(
            f"{option} has {clip(redact(location))!r}, which is not a URL: {error}.", f"Correct {option}."
        ) from error
    return f"--{option.replace('_', '-')} {shlex.quote(location)}"


def clip(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."
