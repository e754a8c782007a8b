# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The grid's covering array has every pair of conditions, and what was covered of it is counted and said."""

from __future__ import annotations

from typing import Any

import pytest
from sparkforge_proof import coverage
from sparkforge_proof.checks.survey import grid

from lab import grid as array

ROW: dict[str, Any] = {
    "table": "t",
    "pairs": {"7": ["add"], "1": ["mul", "sin"]},
    "overloads": ["aten.add.Tensor"],
    "of_pairs": 10,
    "of_operators": 4,
    "of_overloads": 9,
}


def test_every_allowed_pair_of_conditions_is_in_the_array() -> None:
    there = set().union(*map(array.pairs_of, grid.ROWS))
    assert there == array.all_pairs()
    assert all(array.is_allowed(list(row.values())) for row in grid.ROWS)


def test_array_is_the_one_that_lab_writes() -> None:
    assert array.PLACE.read_text() == array.content()


def test_a_default_run_has_a_sixth_of_the_pairs_of_each_operator() -> None:
    for day in range(grid.DAYS):
        rows = grid.rows_of("add", day, full=False)
        assert len(set().union(*map(array.pairs_of, rows))) >= len(array.all_pairs()) / 6


def test_all_days_together_have_every_row() -> None:
    days = [grid.rows_of("add", day, full=False) for day in range(20261128, 20261128 + grid.DAYS)]
    assert sorted(str(row) for day in days for row in day) == sorted(map(str, grid.ROWS))
    assert grid.rows_of("add", 1, full=True) == grid.ROWS


def test_coverage_counts_this_run_and_the_last_ones() -> None:
    before = {**ROW, "pairs": {"18": ["add"]}, "overloads": ["aten.mul.Tensor"]}
    said = coverage.sentence("survey.pairs", ROW, [None, before, {**before, "table": "another"}, {"table": 1}])
    assert said == (
        "survey.pairs looked at 3 of 4 operators of torch's list, 1 of 9 overloads of torch's dispatcher, 5 of 40 pairs"
        " of conditions of all operators, of which none takes each. Over the last 2 runs: 3 operators, 2 overloads, 7"
        " pairs."
    )


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": {"7": "add"}},
        {"pairs": {"no number": ["add"]}},
        {"pairs": {"f" * 2000: ["add"]}},
        {"pairs": [1]},
        {"overloads": [1]},
        {"overloads": ["name"] * 30_000},
        {"of_pairs": "10"},
        {"table": None},
    ],
)
def test_coverage_of_another_form_is_refused(change: dict[str, Any]) -> None:
    assert coverage.is_sound(ROW) and coverage.is_sound({})
    assert not coverage.is_sound({**ROW, **change})
