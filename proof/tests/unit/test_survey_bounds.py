# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""By how many units each operator of the survey may be off, and what is said of one that is."""

from __future__ import annotations

import math
import platform

import pytest
from sparkforge_proof import check, settings
from sparkforge_proof.checks.survey import (
    all_operators as survey,
    comparison as survey_operator,
    operator_bounds as bounds,
)


def test_what_is_not_in_the_table_has_the_bound_of_its_format() -> None:
    assert bounds.bounds("add", "float32") == (bounds.DEFAULT["float32"],) * 2
    assert bounds.bounds("pinverse", "float64") == (64.0, 93.0)


def test_no_row_of_the_table_is_stricter_than_what_all_others_have() -> None:
    for (name, form), both in bounds.CALIBRATED.items():
        assert min(both) >= bounds.DEFAULT[form], name
        assert max(both) > bounds.DEFAULT[form], f"{name} {form} needs no row"
        assert not bounds.left_out(name), f"{name} is left out"


def test_a_variant_is_left_out_with_its_operator_and_every_one_has_a_reason() -> None:
    assert bounds.left_out("normal.in_place") == bounds.left_out("normal") != ""
    assert bounds.left_out("nn.functional.layer_norm") == bounds.left_out("normalize") == ""
    assert all(bounds.LEFT_OUT.values())


@pytest.mark.parametrize(
    ("device", "capabilities", "expected"),
    [
        ("cuda", ["9.0"], 1.0),
        ("cuda", ["12.1"], 50.0),
        ("cpu", ["12.1"], 1.0 if platform.machine() == "x86_64" else 50.0),
    ],
)
def test_on_a_device_that_was_not_calibrated_a_little_too_much_warns(
    device: str, capabilities: list[str], expected: float
) -> None:
    assert bounds.unknown(device, capabilities) == expected


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mm, transposed", 4e6, "mm, transposed by 4e+06 units (bound 32)"),
        ("mm, NaN", math.inf, "mm, NaN of the input is lost, or comes out where none belongs"),
        ("mm", math.inf, "mm: a whole number, a NaN, an infinity or the shape differs"),
    ],
)
def test_what_is_off_says_how(name: str, value: float, said: str) -> None:
    found = survey_operator.Survey(units={name: [value, 0.0]})
    context = check.Context("cuda", limits=dict(settings.LIMITS))
    with pytest.raises(check.Failed) as failed:
        survey.judged(context, found, {name: (32.0, 32.0)}, "float32", 1)
    assert failed.value.cause == f"Off in float32: {said}."


@pytest.mark.parametrize(
    ("name", "device", "known"),
    [
        ("nn.functional.avg_pool2d, transposed, backward", "cuda", True),
        ("nn.functional.avg_pool2d, transposed, backward", "cpu", False),
        ("nn.functional.avg_pool2d, transposed", "cuda", False),
        ("special.shifted_chebyshev_polynomial_w, NaN", "cpu", True),
        ("special.shifted_chebyshev_polynomial_w, NaN", "cuda", False),
        ("special.shifted_chebyshev_polynomial_w", "cpu", False),
    ],
)
def test_what_is_known_to_be_wrong_in_torch_is_known_of_one_device_and_one_way(
    name: str, device: str, known: bool
) -> None:
    assert bool(bounds.known_defect(name, device)) is known
