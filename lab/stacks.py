# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the lists of the shipped stacks: python -m lab.stacks.

These lists are the table in docs/reference.md and the identities in tests/golden/identities.json. A new stack needs
only two handwritten files, its definition and its lock.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference.md"
STACKS = ROOT / "roles" / "stack" / "vars"
DEFAULTS = ROOT / "roles" / "stack" / "defaults" / "main.yml"
IDENTITIES = ROOT / "tests" / "golden" / "identities.json"
#: The table, up to the blank line after it.
TABLE = re.compile(r"(?<=^\| stack \| what it is \| methods \|\n\|---\|---\|---\|\n)(?:\|.*\n)*", re.MULTILINE)


def rows() -> str:
    """Return the table's rows: name, description, and the methods for which the shipped lock is complete."""
    from tests.golden import test_identities as golden

    default = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))["stack_default"]
    text = ""
    for path in sorted(STACKS.glob("*.yml"), key=lambda path: (path.stem != default, path.stem)):
        if path.stem == "profiles":
            continue
        definition = yaml.safe_load(path.read_text(encoding="utf-8"))["stack_definition"]
        methods = [
            _method(path.stem, method, golden.missing_in_lock(path.stem, method)) for method in ("build", "wheel")
        ]
        name = f"`{path.stem}`{' (default)' if path.stem == default else ''}"
        text += f"| {name} | {' '.join(definition['description'].split())} | {'; '.join(filter(None, methods))} |\n"
    return text


def _method(name: str, method: str, missing: list[str]) -> str:
    if not missing:
        return f"`{method}`"
    # A stack without sources for its units is not meant to be built; one without wheels is not meant to be installed.
    if any("is not known" in problem for problem in missing):
        return f"`{method}` after `playbooks/lock.yml -e stack_name={name}`: {', '.join(missing)}"
    return ""


def main(argv: list[str] | None = None) -> int:
    """Write both lists, or with ``--check`` only report files that are not current."""
    parser = argparse.ArgumentParser(prog="python -m lab.stacks", description="Write what lists the shipped stacks.")
    parser.add_argument("--check", action="store_true", help="only tell whether they are current")
    check = parser.parse_args(argv).check
    sys.path.insert(0, str(ROOT / ".collections"))
    from tests.golden import test_identities as golden

    outdated = []
    page = PAGE.read_text(encoding="utf-8")
    for path, text in ((PAGE, TABLE.sub(lambda _match: rows(), page, count=1)), (IDENTITIES, golden.record())):
        if path.read_text(encoding="utf-8") != text:
            outdated.append(path)
            if not check:
                path.write_text(text, encoding="utf-8")
    for path in outdated:
        print(f"{path.relative_to(ROOT)} {'is not current: run python -m lab.stacks' if check else 'is written'}")
    return int(check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
