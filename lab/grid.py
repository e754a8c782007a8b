# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the covering array for the survey's grid to proof/src, where the proof reads it: `python -m lab.grid`.

Every allowed pair of values on two axes occurs in at least one row. The rows are chosen greedily: each is the random
candidate with the most pairs that are not in earlier rows. The rows of one day are consecutive.
"""

from __future__ import annotations

import itertools
import random
import textwrap
from pathlib import Path

PATH = Path(__file__).parents[1] / "proof/src/sparkforge_proof/checks/survey/grid.txt"
SEED, CANDIDATES = 4102, 400
#: The number of rows for each operator in a default run, and of those with a drawn size, for operators with a family.
A_DAY, DRAWN_A_DAY = 10, 4
#: The number of days is a multiple of this, which frequent operators cover in one run.
DAYS = 4
#: On each axis, the first value is that of a plain call.
AXES = {
    "format": ["float32", "bfloat16", "float16", "complex64", "integers"],
    "layout": ["plain", "strided", "transposed", "permuted", "expanded", "size-one", "offset", "overlapping", "padded"],
    "size": ["listed", "empty", "one", "scalar", "broadcast", "tail", "wide", "long", "many", "batch", "drawn"],
    "option": ["first", "second", "third"],
    "mode": ["eager", "in place", "out=", "autocast"],
    "values": ["ordinary", "NaN", "negative NaN", "infinite", "subnormal", "zero", "large", "limits"],
    "direction": ["forward", "backward", "one gradient"],
    "threads": ["all", "1", "3"],
    "calls": ["single", "again", "after another"],
}
FORWARD_ALONE = ["in place", "out=", "NaN", "negative NaN", "infinite", "subnormal", "zero"]
#: Values that never occur together: a gradient with calls that have none, numbers with formats that cannot represent
#: them, and empty inputs with ``out=``, to which torch 2.13's ``matmul`` does not write.
EXCLUDED = {
    "backward": FORWARD_ALONE,
    "one gradient": FORWARD_ALONE,
    "empty": ["out=", "NaN", "negative NaN", "infinite", "subnormal", "zero", "large", "limits"],
    "in place": ["expanded", "overlapping"],
    "autocast": ["complex64", "float16", "subnormal"],
    "complex64": ["negative NaN", "infinite", "subnormal", "large"],
    "subnormal": ["bfloat16", "float16"],
    "float16": ["zero", "large", "wide", "long", "batch"],
    "integers": ["backward", "one gradient", "autocast", "NaN", "negative NaN", "infinite", "subnormal", "large"],
    "limits": ["backward", "one gradient", "autocast", "complex64", "bfloat16"],
}
HEAD = """\
# The survey's grid, which `python -m lab.grid` writes: the values on each axis, and rows that hold the hexadecimal
# index of each axis's value.
"""
Row = dict[str, str]
Pair = tuple[tuple[str, str], tuple[str, str]]


def is_allowed(values: list[str]) -> bool:
    return not any(other in EXCLUDED.get(value, ()) for value in values for other in values)


def pairs_of(row: Row) -> set[Pair]:
    return set(itertools.combinations(row.items(), 2))


def all_pairs() -> set[Pair]:
    """Return the pairs of values that may occur together."""
    return {
        ((first, value), (second, partner))
        for first, second in itertools.combinations(AXES, 2)
        for value in AXES[first]
        for partner in AXES[second]
        if is_allowed([value, partner])
    }


def draw(chance: random.Random, missing: list[Pair], are_drawn: bool) -> Row | None:
    """Return a random row that contains one of the missing pairs, or None if the row is not allowed.

    :param are_drawn: whether the row has a drawn size; otherwise it has another one.
    """
    row = {axis: chance.choice(values) for axis, values in AXES.items()}
    row.update(chance.choice(missing))
    return row if is_allowed(list(row.values())) and (row["size"] == "drawn") == are_drawn else None


def array() -> list[Row]:
    """Return rows that together contain every allowed pair; the last ``DRAWN_A_DAY`` of a day have a drawn size."""
    chance = random.Random(SEED)  # noqa: S311 - no secret
    of_drawn = {pair for pair in all_pairs() if "drawn" in dict(pair).values()}
    listed = rows_with(chance, all_pairs() - of_drawn, A_DAY - DRAWN_A_DAY)
    days = len(listed) // (A_DAY - DRAWN_A_DAY)
    drawn: list[Row] = []
    while len(drawn) < days * DRAWN_A_DAY:
        drawn += rows_with(chance, of_drawn, DRAWN_A_DAY, are_drawn=True)
    # The first rows have the most new pairs, so distribute them among the days.
    return [row for day in range(days) for row in [*listed[day::days], *drawn[day::days][:DRAWN_A_DAY]]]


def rows_with(chance: random.Random, pairs: set[Pair], a_day: int, are_drawn: bool = False) -> list[Row]:
    """Return rows that together contain the pairs, for a number of days that is a multiple of ``DAYS``."""
    missing, rows = set(pairs), list[Row]()
    while missing or len(rows) % (a_day * DAYS):
        listed = sorted(missing or pairs)
        tries = (draw(chance, listed, are_drawn) for _try in range(CANDIDATES))
        best = max(filter(None, tries), key=lambda row: len(pairs_of(row) & missing))
        rows.append(best)
        missing -= pairs_of(best)
    return rows


def content() -> str:
    """Return the text of the file that the proof reads."""
    rows = ["".join(f"{AXES[axis].index(value):x}" for axis, value in row.items()) for row in array()]
    axes = "".join(f"{axis}: {'; '.join(values)}\n" for axis, values in AXES.items())
    return f"{HEAD}\n== axes\n{axes}\n== rows\n{textwrap.fill(' '.join(rows), 116)}\n"


if __name__ == "__main__":
    PATH.write_text(content())
