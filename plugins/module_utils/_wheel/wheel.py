# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a wheel, from its build to the report, and how the files of this collection write it.

On disk it is a row of a receipt of a unit, of a manifest (docs/manifest.schema.json) or of a receipt of an
environment; the word ``path`` means another thing in each. Only this file knows these rows.
"""

from __future__ import annotations

import dataclasses
import os
import typing as t

from .names import normalised


@dataclasses.dataclass(frozen=True)
class Wheel:
    """One wheel.

    :ivar file: its file name.
    :ivar sha256: empty as long as nobody read it.
    :ivar name: of the project, as the index writes it (PEP 503); empty where only the file name is known.
    :ivar version: with the local part: ``2.9.1+spark``.
    :ivar size: bytes.
    :ivar path: where it lies, or is to lie, on the machine at hand.
    :ivar place: below the wheelhouse of its platform: ``<unit>/<fingerprint>``; empty for one that no unit made.
    """

    file: str
    sha256: str = ""
    name: str = ""
    version: str = ""
    size: int = 0
    path: str = ""
    place: str = ""

    @property
    def is_here(self) -> bool:
        return os.path.isfile(self.path)

    @property
    def relative(self) -> str:
        """Where it lies below the wheelhouse of its platform."""
        return f"{self.place}/{self.file}"

    @property
    def line(self) -> str:
        """The line by which pip and uv install exactly this wheel."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"

    def as_output(self) -> dict[str, t.Any]:
        """Return the row of the receipt of a unit."""
        row = {"name": self.name, "version": self.version, "sha256": self.sha256, "size": self.size}
        return {"path": self.file, **row}

    def as_result(self) -> dict[str, t.Any]:
        """Return what the module that built it says of it."""
        return {**self.as_output(), "file": self.file, "path": self.path}

    def as_row(self) -> dict[str, t.Any]:
        row = {"name": self.name, "version": self.version, "file": self.file, "sha256": self.sha256}
        return {**row, "size": self.size, "path": self.relative}

    def as_pin(self) -> dict[str, str]:
        """Return the row of the receipt of an environment."""
        return {"file": self.file, "sha256": self.sha256}


class Unit(t.TypedDict):
    """A unit of a manifest, and the rows of the wheels that it was built to: none for what is no wheel."""

    name: str
    fingerprint: str
    wheels: list[dict[str, t.Any]]


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


def built(receipt: t.Mapping[str, t.Any], directory: str = "") -> list[Wheel]:
    """Return the wheels that the receipt of a unit names; a prefix, which no index serves, is not among them.

    :param directory: the artefact's, if they lie on this machine.
    """
    return [
        Wheel(
            item["path"],
            item["sha256"],
            item["name"],
            item["version"],
            item["size"],
            path=os.path.join(directory, item["path"]) if directory else "",
            place=f"{receipt['name']}/{receipt['fingerprint']}",
        )
        for item in receipt["outputs"]
        if "sha256" in item and "version" in item
    ]


def of_units(units: t.Iterable[Unit]) -> list[Wheel]:
    """Return the wheels of units of a manifest."""
    return [
        Wheel(
            row["file"],
            row["sha256"],
            row["name"],
            row["version"],
            row["size"],
            place=f"{unit['name']}/{unit['fingerprint']}",
        )
        for unit in units
        for row in unit["wheels"]
    ]


def of_manifest(manifest: Manifest) -> list[Wheel]:
    return of_units(manifest["units"])


def installed_wheels(receipt: t.Mapping[str, t.Any], store: str = "") -> list[Wheel]:
    """Return the wheels that an environment was given as files, as its receipt names them.

    :param store: the directory where wheels that came from the controller lie: ``<root>/wheels``.
    """
    found = []
    for row in receipt.get("wheels") or []:
        file, sha256 = os.path.basename(str(row["file"])), str(row["sha256"])
        path = os.path.join(store, sha256, file) if store else ""
        found.append(Wheel(file, sha256, normalised(file.partition("-")[0]), path=path))
    return found
