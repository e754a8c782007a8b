"""The record of a wheel, from its build to the report, and its form in this collection's files.

On disk it is a row in a unit's receipt, a manifest (docs/manifest.schema.json) or an environment's receipt; the key
``path`` has a different meaning in each. Only this file parses these rows.
"""

from __future__ import annotations

import dataclasses
import os
import typing as t


@dataclasses.dataclass(frozen=True)
class Wheel:
    """One wheel.

    :ivar file: its file name.
    :ivar sha256: empty until the file is read.
    :ivar name: the project name in the index's spelling (PEP 503); empty if only the file name is known.
    :ivar version: including the local part: ``2.9.1+spark``.
    :ivar size: its size in bytes.
    :ivar path: its current or future path on this machine.
    :ivar place: its directory in the wheelhouse of its platform: ``<unit>/<fingerprint>``; empty if no unit built it.
    """

    file: str
    sha256: str = ""
    name: str = ""
    version: str = ""
    size: int = 0
    path: str = ""
    place: str = ""

    @property
    def relative(self) -> str:
        """Its path relative to the wheelhouse of its platform."""
        return f"{self.place}/{self.file}"

    @property
    def line(self) -> str:
        """The line with which pip and uv install exactly this wheel."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"

    def as_output(self) -> dict[str, t.Any]:
        """Return the row for a unit's receipt."""
        row = {"name": self.name, "version": self.version, "sha256": self.sha256, "size": self.size}
        return {"path": self.file, **row}

    def as_result(self) -> dict[str, t.Any]:
        """Return the row for the result of the module that built it."""
        return {**self.as_output(), "file": self.file, "path": self.path}

    def as_row(self) -> dict[str, t.Any]:
        row = {"name": self.name, "version": self.version, "file": self.file, "sha256": self.sha256}
        return {**row, "size": self.size, "path": self.relative}

    def as_pin(self) -> dict[str, str]:
        """Return the row for an environment's receipt."""
        return {"file": self.file, "sha256": self.sha256}


class Unit(t.TypedDict):
    """A unit in a manifest. ``wheels`` has a row for each of its wheels, and is empty if the unit produces none."""

    name: str
    fingerprint: str
    wheels: list[dict[str, t.Any]]


class _Signed(t.TypedDict, total=False):
    signature: str


class Manifest(_Signed):
    """The wheels of a stack on a platform. ``seal`` is the sha256 of the rest; ``signature`` signs the seal."""

    format: int
    stack: str
    lock_id: str
    platform: str
    python: str
    host: str
    written: str
    units: list[Unit]
    seal: str


def _of_row(row: t.Mapping[str, t.Any], file: str, artefact: str, directory: str = "") -> Wheel:
    path = os.path.join(directory, file) if directory else ""
    return Wheel(file, row["sha256"], row["name"], row["version"], row["size"], path, artefact)


def wheels_in(receipt: t.Mapping[str, t.Any], directory: str = "") -> list[Wheel]:
    """Return the wheels in a unit's receipt; a prefix, which no index serves, is left out.

    :param directory: the artefact's directory, if the wheels are on this machine.
    """
    artefact = f"{receipt['name']}/{receipt['fingerprint']}"
    rows = [row for row in receipt["outputs"] if "sha256" in row and "version" in row]
    return [_of_row(row, row["path"], artefact, directory) for row in rows]


def of_units(units: t.Iterable[Unit]) -> list[Wheel]:
    """Return the wheels of units in a manifest."""
    pairs = [(row, f"{unit['name']}/{unit['fingerprint']}") for unit in units for row in unit["wheels"]]
    return [_of_row(row, row["file"], artefact) for row, artefact in pairs]
