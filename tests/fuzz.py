# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Feeds every reader of what others write with anything, and says how much of its code that reached: ``make fuzz``.

Coverage is of the functions that a reader entered: how many of their statements ran. What a reader's functions import,
and those that it never calls, do not count.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
import typing as t
from pathlib import Path

import coverage
import hypothesis

CHECKOUT = Path(__file__).parents[1]
sys.path[:0] = [str(CHECKOUT / ".collections")]

from tests.unit.parsers import PARSERS
from tests.unit.test_parsers import anything, try_it


def reached(measured: coverage.Coverage) -> tuple[int, int]:
    """Return how many statements ran, and how many there are, of the functions that were entered."""
    ran = there = 0
    data = measured.get_data()
    for file in data.measured_files():
        lines = set(data.lines(file) or ())
        statements = set(measured.analysis2(file)[1])
        entered: set[int] = set()
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = statements & set(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
                entered |= body if body & lines else set()
        ran, there = ran + len(entered & lines), there + len(entered)
    return ran, there


def fuzz(name: str, examples: int) -> tuple[int, float, int, int]:
    """Feed one reader; return how often it read, in how many seconds, and what of its code ran.

    :raises Exception: what the reader does not map, with what it read.
    """
    parser, count = PARSERS[name], 0

    @hypothesis.settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(anything(parser.seeds))
    def read(data: bytes) -> None:
        nonlocal count
        count += 1
        try_it(parser, data)

    measured = coverage.Coverage(data_file=None, include=[str(CHECKOUT / "plugins/*")])
    began = time.monotonic()
    with measured.collect():
        read()
    return count, time.monotonic() - began, *reached(measured)


def main() -> int:
    """Print a row for each reader as it ends; return 0 where none raised what its callers do not know of."""
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=str(__doc__).splitlines()[0])
    asked.add_argument("examples", type=int, nargs="?", default=2000, help="of each reader (default: 2000)")
    asked.add_argument("-k", metavar="TEXT", default="", help="only readers whose name has this text")
    given = asked.parse_args()
    totals: t.Counter[str] = t.Counter()
    print("| reader | read | seconds | statements reached |\n|---|---|---|---|", flush=True)
    names = [name for name in PARSERS if given.k in name]
    for name in names:
        count, seconds, ran, there = fuzz(name, given.examples)
        totals.update(count=count, ran=ran, there=there)
        print(f"| {name} | {count:,} | {seconds:.1f} | {ran} of {there} ({100 * ran // max(1, there)} %) |", flush=True)
    share = 100 * totals["ran"] // max(1, totals["there"])
    print(f"\n{len(names)} readers, {totals['count']:,} executions, {share} % of the statements, nothing unmapped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
