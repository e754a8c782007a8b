# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a wheel that was built, from its receipt to the environment that it is installed into.

It is what a manifest says of it (docs/manifest.schema.json), so that it goes between hosts as it is.
"""

from __future__ import annotations

import typing as t


class Wheel(t.TypedDict):
    """One wheel: ``path`` below the wheelhouse of its platform, ``<unit>/<fingerprint>/<file>``; ``size`` in bytes."""

    name: str
    version: str
    file: str
    sha256: str
    size: int
    path: str


class Unit(t.TypedDict):
    """A unit of a manifest, and the wheels that it was built to: none for what is no wheel."""

    name: str
    fingerprint: str
    wheels: list[Wheel]


class _Signed(t.TypedDict, total=False):
    signature: str


class Manifest(_Signed):
    """The wheels of a stack on a platform. ``seal`` is the sha256 over all else, and ``signature`` the seal's."""

    format: int
    stack: str
    lock_id: str
    platform: str
    python: str
    host: str
    written: str
    units: list[Unit]
    seal: str


def built(receipt: t.Mapping[str, t.Any]) -> list[Wheel]:
    """Return the wheels that the receipt of a unit names; a prefix, which no index serves, is not among them."""
    return [
        {
            "name": item["name"],
            "version": item["version"],
            "file": item["path"],
            "sha256": item["sha256"],
            "size": item["size"],
            "path": f"{receipt['name']}/{receipt['fingerprint']}/{item['path']}",
        }
        for item in receipt["outputs"]
        if "version" in item
    ]


def of_manifest(manifest: Manifest) -> list[Wheel]:
    """Return the wheels of every unit."""
    return [wheel for unit in manifest["units"] for wheel in unit["wheels"]]


def requirement(wheel: Wheel) -> str:
    """Return the line by which pip and uv install exactly this wheel."""
    return f"{wheel['name']}=={wheel['version']} --hash=sha256:{wheel['sha256']}"
