# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The grid's covering array, its bounds, and the sentence about its coverage."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from sparkforge_proof import coverage
from sparkforge_proof.check import KNOWN, Context, Measured
from sparkforge_proof.checks.survey import conditions, grid, operator_bounds

from lab import grid as array

ROW: dict[str, Any] = {
    "table": "t",
    "pairs": {"7": ["add"], "1": ["mul", "sin"]},
    "overloads": ["aten.add.Tensor"],
    "axes": {"mode": {"eager": True, "out=": False, "autocast": False}, "layout": {"plain": True}},
    "of_pairs": 10,
    "of_operators": 4,
    "of_overloads": 9,
}


def test_array_has_every_allowed_pair() -> None:
    assert set().union(*map(array.pairs_of, grid.ROWS)) == array.all_pairs()
    assert all(array.is_allowed(list(row.values())) for row in grid.ROWS)


def test_array_matches_generator() -> None:
    assert array.PATH.read_text() == array.content() and array.A_DAY == grid.A_DAY


def test_layouts_of_a_day_are_those_of_kernels() -> None:
    day = grid.Day(Context("cuda", limits={"samples": 3, "seed": 1}), "complex64")
    names = set(map(str, range(50)))
    rows = {name: day.rows(name) for name in names}
    assert all("strided" in day.layouts(name) for name in names if "out=" in {row["mode"] for row in rows[name]})
    day.compiled = names
    dense = [name for name in names if not conditions.strided_today(f"1 {name}")]
    layouts = set().union(*map(day.layouts, dense))
    assert {"plain", "transposed"} <= layouts <= {"plain", "transposed", "permuted", "size-one"}
    assert all(day.rows(name) == rows[name] for name in names.difference(dense))
    day.form = "integers"
    assert not any(map(day.rows, names)) and any(map(day.rows, [f"gcd.{number}" for number in range(50)]))


def test_strided_kernels_are_compiled_every_second_day() -> None:
    entry = SimpleNamespace(supports_autograd=False)
    operators = [
        conditions.Operator(entry, "special.i0", "cuda", cast(Any, SimpleNamespace(is_complex=False)), f"{seed}", [])
        for seed in range(100)
    ]
    days = [any(map(conditions.is_strided, conditions.single_condition_rows(operator))) for operator in operators]
    assert 30 < sum(days) < 70
    operators[days.index(False)].full = True
    assert any(map(conditions.is_strided, conditions.single_condition_rows(operators[days.index(False)])))


def test_rows_of_a_day_have_a_sixth_of_the_pairs() -> None:
    for day in range(grid.DAYS):
        rows = grid.rows_of("sin", day, full=False)
        assert len(set().union(*map(array.pairs_of, rows))) >= len(array.all_pairs()) / 6


def test_last_rows_of_a_day_are_drawn_for_operators_of_a_family() -> None:
    day = grid.Day(Context("cpu", limits={"samples": 3, "seed": 7}), "float32")
    sizes = [row["size"] for row in grid.rows_of("fft.fft", 7, full=False)]
    assert [size == conditions.DRAWN for size in sizes] == [False] * 6 + [True] * 4
    assert conditions.DRAWN in {row["size"] for row in day.rows("fft.fft")}
    assert conditions.DRAWN not in {row["size"] for row in day.rows("fft.fftshift")}


def test_rows_of_all_days_are_the_array() -> None:
    days = [grid.rows_of("sin", day, full=False) for day in range(20261128, 20261128 + grid.DAYS)]
    assert sorted(str(row) for day in days for row in day) == sorted(map(str, grid.ROWS))
    assert grid.rows_of("sin", 1, full=True) == grid.ROWS


def test_rows_of_a_frequent_operator_are_those_of_several_days() -> None:
    days = [grid.rows_of("add", day, full=False) for day in range(grid.DAYS // grid.FREQUENT_DAYS)]
    assert {len(rows) for rows in days} == {grid.A_DAY * grid.FREQUENT_DAYS}
    assert sorted(str(row) for day in days for row in day) == sorted(map(str, grid.ROWS))


def test_integers_return_result_with_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    results = {"int8": Measured("7 inputs", "none", 0.1), "int64": Measured("9 inputs", "none", 0.9)}
    monkeypatch.setattr(grid, "_in_pairs", lambda _context, form, _rows_in: results[form])
    context = Context("cpu", limits={"samples": 3, "seed": 2})
    assert grid.pairs_integers(context) == results["int64"]
    results["int8"].warn_of_known("gcd is wrong.", "Do not use it.", 0.1)
    results["int8"].warn_of_known("lcm is wrong.", "Do not use it.", 0.2)
    warning = grid.pairs_integers(context).warning
    assert warning and (warning.reason, warning.cause) == (KNOWN, "gcd is wrong. lcm is wrong.")
    assert (warning.measured, warning.bound, warning.ratio) == ("7 inputs", "none", 0.2)


@pytest.mark.parametrize(
    ("shapes", "are_equal", "factor"),
    [
        ([(5, 5), (5, 5)], True, 1),
        ([(65_604,), ()], False, 32.02),
        ([(65_604,), ()], True, 1025.06),
        # A scan adds along one dimension, and a gradient over the broadcast dimensions.
        ([(8_260, 2), (8_260, 2)], False, 11.36),
        ([(64, 64, 64), (1,)], False, 64),
        ([(0, 3), ()], False, 1),
    ],
)
def test_bounds_grow_with_terms_of_a_sum(shapes: list[tuple[int, ...]], are_equal: bool, factor: float) -> None:
    assert conditions.summing_factor(shapes, are_equal) == pytest.approx(factor, rel=1e-3)


def test_integers_pass_over_an_operator_in_the_format_in_which_it_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}
    steps: list[str] = []

    def in_pairs(context: Context, form: str, _rows_in: str) -> Measured:
        seen[form] = dict(context.passed_over)
        context.step("lcm")
        return Measured("", "")

    monkeypatch.setattr(grid, "_in_pairs", in_pairs)
    passed_over = {"gcd in int64": "was killed by SIGKILL"}
    grid.pairs_integers(Context("cpu", limits={"samples": 3, "seed": 2}, step=steps.append, passed_over=passed_over))
    assert seen == {"int8": {}, "int64": {"gcd": "was killed by SIGKILL"}}
    assert steps == ["lcm in int8", "lcm in int64"]


@pytest.mark.parametrize(
    ("name", "change", "has"),
    [
        ("logsumexp", {"values": "large"}, False),
        ("softmax", {"values": "large"}, True),
        # This call ends the process.
        ("nn.functional.group_norm", {"layout": "transposed", "direction": "one gradient"}, False),
        ("nn.functional.group_norm", {"layout": "transposed", "direction": "backward"}, True),
    ],
)
def test_rows_without_gradients(name: str, change: dict[str, str], has: bool) -> None:
    operator = conditions.Operator(None, name, "cpu", cast("Any", None), "", [])
    assert operator.has_gradient({**conditions.PLAIN, **change}) == has


@pytest.mark.parametrize(
    ("name", "axis", "value"),
    [("as_strided_copy", "layout", "padded"), ("fft.hfft", "size", "wide"), ("native_group_norm", "size", "one")],
)
def test_condition_without_one_right_answer(name: str, axis: str, value: str) -> None:
    assert not conditions.Operator(None, name, "cpu", cast("Any", None), "", []).takes(axis, value, None)


@pytest.mark.parametrize(
    ("name", "form", "result"),
    [
        ("mul", "bfloat16", 1), ("_foreach_mul", "bfloat16", 6), ("nn.functional.layer_norm, drawn", "float16", 1),
        ("nn.functional.max_pool2d", "bfloat16", 1), ("mul", "float32", 32), ("amax", "float32", 32),
    ],
)  # fmt: skip
def test_results_that_are_rounded_once(name: str, form: str, result: float) -> None:
    assert operator_bounds.bounds(name, form)[0] == result


@pytest.mark.parametrize(
    ("call", "form", "bound"),
    [("sin", "float32", 32), ("sin, tail", "complex64", 32), ("sin, tail, autocast", "float32", 12)],
)
def test_bounds_of_autocast_are_those_of_bfloat16(call: str, form: str, bound: float) -> None:
    assert grid.bounds(call, form) == (bound, bound)


def test_coverage_sentence_counts_formats_of_this_run_and_earlier_ones() -> None:
    before = {**ROW, "pairs": {"18": ["add"]}, "overloads": ["aten.mul.Tensor"], "axes": {"mode": {"out=": True}}}
    other = {**ROW, "pairs": {"8": ["add"]}, "axes": {"mode": {"autocast": True}}}
    earlier: list[list[Any]] = [[None], [before, {**before, "pairs": {}}], [{**before, "table": "another"}], [], [{}]]
    text = coverage.sentence("survey.pairs", [ROW, other], earlier)
    assert text.startswith("survey.pairs compared 3 of torch's 4 operators with references, through 1 of 9 ")
    assert " 6 of 40 pairs " in text
    assert text.endswith(
        "occurred: mode 2 of 3, layout 1 of 1. Over the last 2 runs: 3 operators, 2 overloads, 7 pairs, mode 3 of 3."
    )


def test_axes_are_values_of_computed_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(_dispatch_get_all_op_names=lambda: ["aten::sin", "prims::sin"])
    monkeypatch.setattr(grid, "torch", SimpleNamespace(_C=library))
    day = grid.Day(Context("cpu", limits={"samples": 3, "seed": 7}), "float32")
    rows = [row for row in grid.ROWS if row["mode"] == "out="][:2]
    day.pairs = {"sin": grid.pairs(rows[0]), "cos": grid.pairs(rows[1])}
    axes = day.coverage(7)["axes"]
    assert {axis: {value for value in values if values[value]} for axis, values in axes.items()} == {
        axis: {row[axis] for row in rows} for axis in grid.AXES
    }


@pytest.mark.parametrize(
    "change",
    [
        {"pairs": {"7": "add"}}, {"pairs": {"no number": ["add"]}}, {"pairs": {"f" * 2000: ["add"]}}, {"pairs": [1]},
        {"overloads": [1]}, {"overloads": ["name"] * 30_000}, {"of_pairs": "10"}, {"axes": ["mode"]},
        {"axes": {"mode": {1: True}}}, {"table": None},
    ],
)  # fmt: skip
def test_coverage_with_wrong_form_is_refused(change: dict[str, Any]) -> None:
    assert all(map(coverage.is_sound, (ROW, {})))
    assert not coverage.is_sound({**ROW, **change})
