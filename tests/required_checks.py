"""Writes the requirements of the profile gb10 into the README of the role verify.

Run it with `python -m tests.required_checks`.
"""

import typing as t
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parents[1]
README = CHECKOUT / "roles/verify/README.md"
PROFILES = CHECKOUT / "roles/stack/vars/profiles.yml"
BEGIN, END = "<!-- Written by python -m tests.required_checks -->\n", "<!-- End -->\n"


def table(profile: t.Mapping[str, t.Any]) -> str:
    """Return a profile's required checks and its floors."""
    lines = [f"Required: {', '.join(f'`{pattern}`' for pattern in profile['required_checks'])}.", ""]
    lines += ["| floor | rests on |", "|---|---|"]
    for name, floor in profile["speed_floors"].items():
        lines.append(f"| `{name}`: {floor['ratio']:g} of {floor['nominal']:g} | {floor['evidence']} |")
    return "\n".join(lines) + "\n"


def written(text: str) -> str:
    """Return the README with the profile's current requirements."""
    before, rest = text.split(BEGIN)
    profile = yaml.safe_load(PROFILES.read_text())["stack_profiles"]["gb10"]
    return f"{before}{BEGIN}{table(profile)}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    README.write_text(written(README.read_text()))
