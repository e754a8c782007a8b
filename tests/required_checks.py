# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the proof's catalogue.json, and into the README of the role verify what gb10 requires and what passed where.

Run it with `python -m tests.required_checks`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import typing as t
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "proof/src")]

from sparkforge_proof import catalogue

CATALOGUE = CHECKOUT / "proof/src/sparkforge_proof/catalogue.json"
README = CHECKOUT / "roles/verify/README.md"
PROFILES = CHECKOUT / "roles/stack/vars/profiles.yml"
BEGIN, END = "<!-- Written by python -m tests.required_checks -->\n", "<!-- End -->\n"


def table(profile: t.Mapping[str, t.Any]) -> str:
    """Return which checks a profile requires, where each check of the catalogue was seen to pass, and the floors."""
    places: dict[str, list[str]] = {}
    for name, definition in catalogue.registered().items():
        for place in [str(one) for one in definition.measured] or ["nowhere yet"]:
            places.setdefault(place, []).append(name)
    lines = [f"Required: {', '.join(f'`{pattern}`' for pattern in profile['required_checks'])}.", ""]
    lines += ["| seen to pass | checks |", "|---|---|"]
    lines += [f"| {place} | {_listed(names)} |" for place, names in places.items()]
    lines += ["", "| floor | rests on |", "|---|---|"]
    for name, floor in profile["speed_floors"].items():
        lines.append(f"| `{name}`: {floor['ratio']:g} of {floor['nominal']:g} | {floor['evidence']} |")
    return "\n".join(lines) + "\n"


def _listed(names: list[str]) -> str:
    if len(names) <= 16:
        return ", ".join(f"`{name}`" for name in names)
    families = ", ".join(dict.fromkeys(f"`{name.rpartition('.')[0]}`" for name in names))
    return f"{len(names)} of the families {families}"


def written(text: str) -> str:
    """Return the README with the table of what the data say now."""
    before, rest = text.split(BEGIN)
    profile = yaml.safe_load(PROFILES.read_text())["stack_profiles"]["gb10"]
    return f"{before}{BEGIN}{table(profile)}{END}{rest.split(END)[1]}"


def listed() -> str:
    """Return the catalogue's file, a check a line."""
    lines = [json.dumps(dataclasses.astuple(definition)) for definition in catalogue.registered().values()]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    CATALOGUE.write_text(listed())
    README.write_text(written(README.read_text()))
