"""The names of environments, the fingerprint of their contents, and their receipts.

There are two receipts: one in each environment, and the host's receipt of the current environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import typing as t

from .._core import receipts
from .._core.errors import SparkforgeError
from .names import normalised
from .wheel import Wheel

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: The links in the directory of the environments.
LINKS = ("current", "previous", "staged")
SCHEMA = 2
#: Keys that only exist in the environment's own receipt.
OWN_ALONE = ("entries", "made")


def check_name(name: str, kind: str) -> str:
    """Return ``name`` if it is a valid path component.

    :raises SparkforgeError: if it has a slash, begins with a dot or is one of our own links.
    """
    if not _NAME.fullmatch(name) or name in LINKS:
        raise SparkforgeError(
            f"{name!r} is not a valid environment {kind}.",
            "Use letters, digits, '.', '_' and '-', beginning with a letter or a digit, "
            "and not 'current', 'previous' or 'staged'.",
        )
    return name


def fingerprint(python: tuple[int, int], machine: str, requirements: t.Iterable[str], wheels: t.Iterable[str]) -> str:
    """Return the sha256 of everything that determines the contents of an environment.

    :param requirements: canonical lines (:class:`Requirement`).
    :param wheels: the sha256 of each wheel.
    """
    inputs = {
        "python": f"{python[0]}.{python[1]}",
        "machine": machine,
        "requirements": sorted(set(requirements)),
        "wheels": sorted(set(wheels)),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


class Python(t.TypedDict):
    """The interpreter, and its version as ``3.12``."""

    path: str
    version: str


class Made(t.TypedDict, total=False):
    """Everything else that was created for environments: ``directories``, outermost first, a group, and its members."""

    directories: list[str]
    group: str | None
    group_created: bool
    members_added: dict[str, list[str]]


class Own(t.TypedDict, total=False):
    """The receipt in an environment, written after all imports succeed.

    ``wheels`` are those installed from files (``_wheel.wheel`` reads their rows); ``modules`` has the facts about each
    imported module; ``host_packages`` are the apt packages that it uses; ``entries`` is the listing of
    ``site-packages``; ``installed`` is an ISO 8601 time in UTC.
    """

    schema: int
    environment_id: str
    fingerprint: str
    python: Python
    machine: str
    requirements: list[str]
    override: list[str]
    wheels: list[dict[str, str]]
    packages: dict[str, str]
    modules: dict[str, t.Any]
    library_paths: list[str]
    environment: dict[str, str]
    stack: dict[str, t.Any]
    host_packages: dict[str, str]
    installed: str | None
    entries: list[str]
    made: Made


class Receipt(Own, Made, total=False):
    """The receipt of the host; ``paths`` and ``files`` are the user-facing files of the current environment."""

    name: str
    previous: str | None
    jupyter: bool
    paths: dict[str, t.Any]
    files: list[str]


def own_of(directory: str) -> Own | None:
    """Return the receipt in an environment, or None if it is missing or unreadable."""
    data = receipts.load(os.path.join(directory, "receipt.json")) or {}
    return t.cast("Own", data) if data.get("schema") == SCHEMA else None


def of_one(root: str, name: str, environment_id: str) -> Receipt | None:
    """Return the receipt of one environment, including its ``paths``, whether it is current or not.

    ``<root>/receipts/env-<name>.json`` describes only the current environment.
    """
    directory = os.path.join(os.path.abspath(root), "envs", name, environment_id)
    data = own_of(directory)
    if data is None:
        return None
    paths = {"environment": directory, "python": os.path.join(directory, "bin", "python")}
    return t.cast("Receipt", {**data, "name": name, "paths": paths})


def installed_wheels(receipt: t.Mapping[str, t.Any], store: str = "") -> list[Wheel]:
    """Return the wheels that an environment was created from as files, according to its receipt.

    :param store: the directory of wheels from the controller: ``<root>/wheels``.
    """
    wheels = []
    for row in receipt.get("wheels") or []:
        file, sha256 = os.path.basename(str(row["file"])), str(row["sha256"])
        path = os.path.join(store, sha256, file) if store else ""
        wheels.append(Wheel(file, sha256, normalised(file.partition("-")[0]), path=path))
    return wheels
