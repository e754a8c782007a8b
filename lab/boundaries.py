# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the table of all external inputs in docs/security.md: python -m lab.boundaries."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import operator
import pathlib
import re
import sys
import typing as t

import yaml

from lab import pages

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "security.md"
ROWS = ROOT / "lab" / "boundaries.yml"
HEADING = "## Every input from outside\n"
#: The text below the heading, up to the next one.
SECTION = re.compile(rf"(?<=^{HEADING})(?:(?!## ).*\n)*", re.MULTILINE)
INTRODUCTION = """
The table shows who may write each input, who reads it and with which rights, its limits, and the tests that show them.
Limits have the name of their constant. `python -m lab.boundaries` writes this table from `lab/boundaries.yml`, which
also lists the files that read each input: a reader without a row fails `tests/unit/lab/test_boundaries.py`.

| input | written by | read by | limits | tests |
|---|---|---|---|---|
"""
#: {NAME:unit}; a name with a dot is a class attribute.
LIMIT = re.compile(r"\{([\w.]+):(bytes|seconds|count)\}")
#: The packages outside the collection, and the directories with their sources.
PACKAGES = ("guard/src/", "proof/src/", "cli/")


@dataclasses.dataclass(frozen=True)
class Row:
    """An external input.

    :ivar test: '' if there is no bound.
    :ivar files: the product files that read the input.
    :ivar parsers: names in PARSERS of tests/unit/parsers.py.
    """

    input: str
    written_by: str
    read_by: str
    bound: str
    test: list[str]
    files: list[str]
    parsers: list[str] = dataclasses.field(default_factory=list)

    def line(self) -> str:
        """Return the input's row in the table.

        :raises ValueError: if the bound names a constant that is in none of the files.
        """
        bound = LIMIT.sub(lambda match: self._limit(match[1], match[2]), self.bound)
        latest, shown = "", []
        for file, test in (name.split("::") for name in self.test):
            shown.append(f"`{'' if file == latest else file}::{test}`")
            latest = file
        return f"| {self.input} | {self.written_by} | {self.read_by} | {bound} | {', '.join(shown) or '*accepted*'} |\n"

    def _limit(self, name: str, unit: str) -> str:
        for file in self.files:
            try:
                value = operator.attrgetter(name)(importlib.import_module(module_of(file)))
            except AttributeError:
                continue
            return f"{quantity(value, unit)} (`{name}`)"
        raise ValueError(f"lab/boundaries.yml: no file of the row {self.input!r} has the constant {name}")


def module_of(file: str) -> str:
    """Return the name under which a product file is imported."""
    for package in PACKAGES:
        if file.startswith(package):
            return file.removeprefix(package).removesuffix(".py").replace("/", ".")
    return f"ansible_collections.sparkforge.dgx_spark.{file.removesuffix('.py').replace('/', '.')}"


def quantity(value: float, unit: str) -> str:
    """Return a limit in a readable form."""
    if unit == "seconds":
        return f"{value / 3600:g} h" if value >= 3600 else f"{value:g} s"
    if unit == "bytes":
        for shift, word in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
            if value >= 1 << shift and not int(value) % (1 << shift):
                return f"{int(value) >> shift} {word}"
        return f"{value:,} bytes"
    return f"{int(value):,}"


def rows() -> list[Row]:
    """Return the rows in the file."""
    return [Row(**row) for row in yaml.safe_load(ROWS.read_text(encoding="utf-8"))]


def section() -> str:
    """Return the text under the heading."""
    return INTRODUCTION + "".join(row.line() for row in rows()) + "\n"


def main(argv: t.Sequence[str] | None = None) -> int:
    """Write the table, or with ``--check`` tell whether it is current."""
    parser = argparse.ArgumentParser(prog="python -m lab.boundaries", description="Write the table of inputs.")
    parser.add_argument("--check", action="store_true", help="only tell whether the page is current")
    options = parser.parse_args(argv)
    sys.path[:0] = [str(ROOT / folder) for folder in (".collections", *PACKAGES)]
    text = SECTION.sub(lambda _match: section(), PAGE.read_text(encoding="utf-8"), count=1)
    return pages.write(PAGE, text, "lab.boundaries", options.check)


if __name__ == "__main__":
    sys.exit(main())
