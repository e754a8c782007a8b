# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The results of attacks and faults: findings, mutants, chaos, fuzz, secrets, files: ``python -m benchmarks.fortress``.

This program does not attack anything. Each figure is counted from the rows of the page that its run wrote, and is shown
with the command that reproduces it; figures that need no run are counted from the tree.
"""

from __future__ import annotations

import re
import sys
import typing as t
from collections import Counter
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / path) for path in (".collections", "guard/src", "proof/src", ".")]

from tests.chaos.table import listed
from tests.mutants import data as mutants
from tests.unit.parsers import PARSERS

DOCS = CHECKOUT / "docs"
STATES = ("fixed", "held", "accepted", "gone", "open")


class Figure(t.NamedTuple):
    """A figure.

    :ivar goal: its target.
    :ivar page: the page in ``docs`` from which it was counted.
    :ivar anew: the command that reproduces it.
    :ivar missed: whether it misses its goal.
    """

    what: str
    value: str
    goal: str
    page: str
    anew: str
    missed: bool


def rows(text: str, columns: int) -> list[list[str]]:
    """Return the rows, without headers, of all tables on a page that have this number of columns."""
    lines = text.splitlines()
    table_rows: list[list[str]] = []
    for line, following in zip(lines, [*lines[1:], ""]):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == columns and not any(re.fullmatch(r"\|(-+\|)+", candidate) for candidate in (line, following)):
            table_rows.append(cells)
    return table_rows


def findings(text: str) -> Figure:
    states = Counter(row[2] for row in rows(text, 4) if row[0].isdigit())
    counts = [f"{states[state]} {state}" for state in STATES if states[state]]
    value = f"{', '.join(counts)} of {states.total()}"
    missed = states.total() != 55 or bool(set(states) - set(STATES[:-1]))
    return Figure("findings of the audits", value, "55, none open", "security.md", "make unit", missed)


def killed(text: str) -> Figure:
    areas = [(int(row[1]), int(row[2])) for row in rows(text, 3) if row[1].isdigit()]
    there, dead = (sum(numbers) for numbers in zip(*areas)) if areas else (0, 0)
    share = 100 * dead / max(1, there)
    value = f"{dead} of {there} ({share:.1f} %); {len(mutants.load())} are listed now"
    return Figure("mutants killed", value, "95 %", "mutants.md", "make mutants", share < 95)


def survived(text: str) -> Figure:
    made_rows = [row for row in rows(text, 7) if not row[5].startswith("not made")]
    well = sum(row[5] == "survived" for row in made_rows)
    value = f"{well} of {len(made_rows)}; {len(listed())} are listed now"
    missed = well < len(made_rows) or len(made_rows) < 150
    return Figure(
        "combinations of a point and a fault survived", value, "all, 150 at least", "chaos.md", "make chaos", missed
    )


def fuzzed(text: str) -> Figure:
    readers = [row for row in rows(text, 4) if re.fullmatch(r"\d+ of \d+ \(\d+ %\)", row[3])]
    reached = [tuple(map(int, re.findall(r"\d+", row[3])[:2])) for row in readers]
    ran, there = (sum(numbers) for numbers in zip(*reached)) if reached else (0, 0)
    worst = min(readers, key=lambda row: int(re.findall(r"\d+", row[3])[2]), default=["", "", "", ""])
    value = (
        f"{sum(int(row[1].replace(',', '')) for row in readers):,} of {len(readers)} readers; {ran} of {there}"
        f" statements ({100 * ran // max(1, there)} %), least of {worst[0]}: {worst[3]}"
    )
    missed = {row[0] for row in readers} != set(PARSERS)
    return Figure("fuzz executions and coverage", value, "all readers", "evidence/fuzz.md", "make fuzz", missed)


def secrets(text: str) -> Figure:
    match = re.search(r"^(\d+) not explained$", text, re.M)
    number = match[1] if match else "unknown"
    anew = ".venv/bin/pytest -n0 -s -m long tests/integration/test_secrets.py"
    return Figure("secrets found", number, "0", "evidence/secrets.md", anew, number != "0")


def owners(text: str) -> Figure:
    hosts = [(int(count), int(wrong)) for count, wrong in re.findall(r"(\d+) paths were left, (\d+) differ", text)]
    paths, differ = (sum(numbers) for numbers in zip(*hosts)) if hosts else (0, 0)
    value = f"{differ} of {paths:,} on {len(hosts)} hosts"
    anew = ".venv/bin/pytest -n0 -s -m '' tests/integration/test_umask.py"
    return Figure(
        "files whose owner or mode differs", value, "0", "evidence/ownership.md", anew, differ > 0 or not hosts
    )


COUNTED: tuple[tuple[str, t.Callable[[str], Figure]], ...] = (
    ("security.md", findings),
    ("mutants.md", killed),
    ("chaos.md", survived),
    ("evidence/fuzz.md", fuzzed),
    ("evidence/secrets.md", secrets),
    ("evidence/ownership.md", owners),
)


def figures(docs: Path = DOCS) -> list[Figure]:
    """Count all figures; a missing page counts as an empty one."""
    pages = ((docs / name, count) for name, count in COUNTED)
    return [count(page.read_text(encoding="utf-8") if page.exists() else "") for page, count in pages]


def main() -> int:
    """Print the figures; a missed goal is printed as missed and does not fail the command."""
    print("| what | figure | goal | counted in | made anew by |\n|---|---|---|---|---|")
    for figure in figures():
        goal = f"{figure.goal}{' (missed)' if figure.missed else ''}"
        print(f"| {figure.what} | {figure.value} | {goal} | docs/{figure.page} | `{figure.anew}` |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
