# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an environment is called, and the fingerprint of what it is made of."""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from .._core.errors import SparkforgeError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: The links beside the environments.
LINKS = ("current", "previous", "staged")


def check_name(name: str, what: str) -> str:
    """Return ``name`` if it can be one component of a path.

    :raises SparkforgeError: if it has a slash, begins with a dot or is one of our own links.
    """
    if not _NAME.fullmatch(name) or name in LINKS:
        raise SparkforgeError(
            f"{name!r} is not a valid environment {what}.",
            "Use letters, digits, '.', '_' and '-', beginning with a letter or a digit, "
            "and not 'current', 'previous' or 'staged'.",
        )
    return name


def fingerprint(python: tuple[int, int], machine: str, requirements: t.Iterable[str], wheels: t.Iterable[str]) -> str:
    """Return the sha256 of everything that decides what is in an environment.

    :param requirements: canonical lines (:class:`Requirement`).
    :param wheels: sha256 of each wheel.
    """
    inputs = {
        "python": f"{python[0]}.{python[1]}",
        "machine": machine,
        "requirements": sorted(set(requirements)),
        "wheels": sorted(set(wheels)),
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()
