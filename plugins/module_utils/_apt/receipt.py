"""The receipts of apt and dpkg installations: package sets and local repositories."""

from __future__ import annotations

import typing as t

from .._core import receipts

#: The prefixes of receipt names; the rest is the name of the set or of the repository.
SETS, REPOSITORIES = "apt-", "apt_local_repo-"


class Packages(t.TypedDict, total=False):
    """A package set: ``wanted`` lists the requests, ``asked`` their names, ``brought`` the packages that were new.

    ``explicit`` is the part of ``brought`` that was requested by name; ``versions`` covers ``asked`` and ``brought``.
    """

    kind: t.Literal["apt"]
    wanted: list[str]
    asked: list[str]
    brought: list[str]
    explicit: list[str]
    versions: dict[str, str]


class LocalRepository(t.TypedDict, total=False):
    """A local repository. ``brought`` tells whether it was installed here; if an older receipt lacks the key, it was.

    ``keyring`` and ``source`` are files on the host; the .deb was verified with ``sha256``, unless it was already
    installed.
    """

    kind: t.Literal["apt_local_repo"]
    package: str
    brought: bool
    version: str | None
    keyring: str
    source: str
    url: str | None
    sha256: str | None


def packages(root: str, name: str) -> Packages | None:
    """Return the receipt of a set, by the receipt's name, or None if there is none."""
    return t.cast("Packages | None", receipts.read(root, name))


def sets(root: str) -> dict[str, Packages]:
    """Return the receipt of every set, by the receipt's name."""
    recorded = {name: packages(root, name) for name in receipts.names(root, SETS)}
    return {name: data for name, data in recorded.items() if data and data.get("kind") == "apt"}


def repository(root: str, name: str) -> LocalRepository | None:
    """Return the receipt of a local repository, by the receipt's name, or None if there is none."""
    return t.cast("LocalRepository | None", receipts.read(root, name))
