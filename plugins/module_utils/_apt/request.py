"""Parse package requests, and find those that are not installed."""

from __future__ import annotations

import fnmatch
import re
import typing as t

from .._core.errors import SparkforgeError
from .deb_version import compare_versions

_FORM = re.compile(r"(?P<name>[^\s=>]+)(?:=(?P<version>[^\s>]+))?(?:>=(?P<minimum>[^\s=>]+))?")
_NAME = re.compile(r"^[a-z0-9][a-z0-9+.-]+(?::[a-z0-9-]+)?$")


class Request(t.NamedTuple):
    """One package by name, with an optional version or version glob, and an optional minimum version."""

    name: str
    version: str | None
    minimum: str | None = None

    def accepts(self, version: str) -> bool:
        """Tell whether ``version`` matches the request."""
        if self.minimum is not None and compare_versions(version, self.minimum) < 0:
            return False
        return self.version is None or fnmatch.fnmatchcase(version, self.version)

    @property
    def asked(self) -> str:
        """Describe the accepted versions."""
        newer = f"{self.minimum} or newer" if self.minimum is not None else ""
        return " and ".join(filter(None, (self.version, newer)))

    def __str__(self) -> str:
        exact = "" if self.version is None else f"={self.version}"
        return self.name + exact + ("" if self.minimum is None else f">={self.minimum}")


def parse_request(text: str) -> list[Request]:
    """Parse ``name``, ``name=version``, ``name=glob``, ``name>=version``, ``name=glob>=version``, or several of them
    joined by ``|``, best first.

    :raises SparkforgeError: for an invalid package name (apt-get would take ``name-`` as a removal).
    """
    requests = []
    for alternative in text.split("|"):
        match = _FORM.fullmatch(alternative.strip())
        if match is None or not _NAME.match(match["name"]) or match["name"].endswith("-"):
            raise SparkforgeError(
                f"{text!r} does not name a package.",
                "Write name, name=version, name=glob, name>=version, or alternatives joined by '|'"
                " (libfoo-cuda-13|libfoo).",
            )
        requests.append(Request(match["name"], match["version"], match["minimum"]))
    return requests


def is_satisfied(text: str, installed: t.Mapping[str, str]) -> bool:
    """Tell whether one of the alternatives is installed in a requested version."""
    return any(
        request.name in installed and request.accepts(installed[request.name]) for request in parse_request(text)
    )


def missing(requests: t.Iterable[str], installed: t.Mapping[str, str]) -> list[str]:
    """Return the requests in ``wanted`` that are not satisfied, in order and without duplicates."""
    return [text for text in dict.fromkeys(requests) if not is_satisfied(text, installed)]
