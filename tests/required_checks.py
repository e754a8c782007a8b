# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes into the README of the role verify what the profile gb10 rests on: `python -m tests.required_checks`."""

from __future__ import annotations

import typing as t
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).parents[1]
README = CHECKOUT / "roles/verify/README.md"
PROFILES = CHECKOUT / "roles/stack/vars/profiles.yml"
BEGIN, END = "<!-- Written by python -m tests.required_checks -->\n", "<!-- End -->\n"


def table(profile: t.Mapping[str, t.Any]) -> str:
    """Return what the required checks of a profile and its floors rest on, those that rest on the same in one row."""
    lines = ["| required | rests on | a skip, a refusal, a timeout |", "|---|---|---|"]
    grouped: dict[str, list[str]] = {}
    for pattern, evidence in profile["required_checks"].items():
        grouped.setdefault(evidence, []).append(f"`{pattern}`")
    for evidence, patterns in grouped.items():
        lines.append(f"| {', '.join(patterns)} | {evidence} | {_effect(evidence)} |")
    lines += ["", "| floor | rests on | below it |", "|---|---|---|"]
    for name, floor in profile["speed_floors"].items():
        least = f"`{name}`: {floor['ratio']:g} of {floor['nominal']:g}"
        lines.append(f"| {least} | {floor['evidence']} | {_effect(floor['evidence'])} |")
    return "\n".join(lines) + "\n"


def _effect(evidence: str) -> str:
    return "fails" if evidence.startswith("measured on ") else "warns"


def written(text: str) -> str:
    """Return the README with the table of what the data say now."""
    before, rest = text.split(BEGIN)
    profile = yaml.safe_load(PROFILES.read_text())["stack_profiles"]["gb10"]
    return f"{before}{BEGIN}{table(profile)}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    README.write_text(written(README.read_text()))
