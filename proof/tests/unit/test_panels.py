# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of programs that a run compiles, and the mechanisms of the compiler that they meet."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import yaml
from sparkforge_proof.checks.survey import compositions, panels

MECHANISMS = Path(__file__).parents[1] / "mechanisms.yml"


def test_each_table_has_its_turn_in_each_format_and_direction() -> None:
    """The turn selects the format, and its second bit whether there are gradients."""
    runs = {
        (name, kind.forms[turn % len(kind.forms)], turn // 2 % 2)
        for seed in range(20261129, 20261129 + 7 * 3 * 2 * 2 * 5)
        for part in ("panels", *panels.DAILY)
        for name, turn in panels.of_day(seed, False, part)
        for kind in [panels.PANELS[name]]
    }
    assert runs == {(name, form, bit) for name, kind in panels.PANELS.items() for form in kind.forms for bit in (0, 1)}


def test_default_run_compiles_two_tables_and_all_in_three_weeks() -> None:
    days = [{name for name, _turn in panels.of_day(seed, False)} for seed in range(20261129, 20261129 + 21)]
    assert {len(day) for day in days} == {2} and days[0] == {"functions", "copies"}
    assert set().union(*days) == set(panels.PANELS) - {*panels.DAILY}
    assert panels.of_day(5, False, "compositions") == [("compositions", 5)]


def test_full_run_compiles_each_table_and_15_of_them_all_formats_in_both_directions() -> None:
    days = [panels.of_day(seed, True) for seed in range(20261129, 20261129 + 15)]
    tables = {name: kind for name, kind in panels.PANELS.items() if name not in panels.DAILY}
    assert all([name for name, _turn in day] == list(tables) for day in days)
    compiled = {
        (name, tables[name].forms[turn % len(tables[name].forms)], turn // 2 % 2) for day in days for name, turn in day
    }
    assert compiled == {(name, form, bit) for name, kind in tables.items() for form in kind.forms for bit in (0, 1)}
    assert {turn % 3 for _name, turn in panels.of_day(3, True, "compositions")} == {0, 1, 2}


def test_expressions_are_python() -> None:
    tables = {name: kind.table for name, kind in panels.PANELS.items() if kind.table}
    expressions = {name: re.split(r"[;\n]\s*", table.strip()) for name, table in tables.items()}
    for name, texts in [*expressions.items(), *compositions.TABLES.items()]:
        for text in texts:
            assert compile(text.replace("D", "0"), name, "eval")


def test_each_expression_is_drawn() -> None:
    draws = [compositions.draw(seed, "", False, None) for seed in range(99)]
    drawn = {text for draw in draws for programs in draw for steps in programs for text in steps}
    for name, texts in compositions.TABLES.items():
        for text in texts:
            assert (f"q[{text!r}]" if name == "sources" else re.sub(r"\bD\b", "0", text)) in drawn, text


def test_any_two_values_of_axes_meet_in_eleven_runs() -> None:
    runs = [compositions.draw(seed, "", False, None)[1] for seed in range(20261129, 20261129 + 11)]
    assert all({steps[5] for steps in run} == set(compositions.TABLES["idioms"]) for run in runs)
    for first, second in itertools.combinations((0, 1, 2, 3, 5), 2):
        sizes = [len(set(compositions.TABLES[compositions.EXACT[axis]])) for axis in (first, second)]
        assert len({(steps[first], steps[second]) for run in runs for steps in run}) == math.prod(sizes)


def test_draw_depends_on_the_seed_and_avoids_expressions() -> None:
    draw, other = (compositions.draw(seed, "", True, re.compile("sin")) for seed in (1, 2))
    assert draw != other and draw == compositions.draw(1, "", True, re.compile("sin"))
    assert "sin" not in str(draw[0]) and draw[2] == [] and len(draw[0]) == compositions.COUNT


def test_mechanisms_name_tables() -> None:
    rows = yaml.safe_load(MECHANISMS.read_text())
    assert {row["table"] for row in rows if "table" in row} == set(panels.PANELS)
    assert all(
        row.keys() <= {"mechanism", "table", "shown", "other", "lowered", "decomposed", "code", "counted"}
        for row in rows
    )
