# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an environment is called, what it is made of, and its receipt."""

from __future__ import annotations

import hashlib
import json
import os
import re
import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

SCHEMA = 2
#: What only the receipt in the environment itself has.
OWN_ALONE = ("entries", "made")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: The links beside the environments.
LINKS = ("current", "previous", "staged")


def check_name(name: str, what: str) -> str:
    """Return ``name`` if it can be one component of a path.

    :raises SparkforgeError: where it has a slash, begins with a dot or is one of our own links.
    """
    if not _NAME.fullmatch(name) or name in LINKS:
        raise SparkforgeError(
            f"{name!r} cannot be the {what} of an environment.",
            "Use letters, digits, '.', '_' and '-', beginning with a letter or a digit, "
            "and not 'current', 'previous' or 'staged'.",
            name=name,
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


def receipt_of(root: str, name: str, environment_id: str) -> dict[str, t.Any] | None:
    """Return the receipt of one environment, with its ``paths``, whether it is current or not.

    What ``<root>/receipts/env-<name>.json`` says is of the current one alone.
    """
    place = os.path.join(os.path.abspath(root), "envs", name, environment_id)
    data = own_receipt(place)
    if data is None:
        return None
    return {**data, "name": name, "paths": {"environment": place, "python": os.path.join(place, "bin", "python")}}


def own_receipt(place: str) -> dict[str, t.Any] | None:
    """Return the receipt in an environment; None where there is none that can be read."""
    data = upgraded(read_json(os.path.join(place, "receipt.json")) or {})
    return data if data.get("schema") == SCHEMA else None


def upgraded(receipt: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return a receipt of an older schema as this version writes it; any other as it is."""
    if receipt.get("schema") != 1:
        return receipt
    # Schema 1 called the environment's id as that of the stack's lock is called.
    kept = {key: value for key, value in receipt.items() if key != "lock_id"}
    return {**kept, "schema": SCHEMA, "environment_id": receipt.get("lock_id")}


def read_json(path: str) -> dict[str, t.Any] | None:
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
