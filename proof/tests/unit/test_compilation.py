# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import math

from sparkforge_proof.checks.programs import compilation


def student(bound: float, freedom: int) -> float:
    """Return the probability that Student's distribution exceeds ``bound``, on both sides; ``freedom`` is even.

    M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 26.7.4: a sum whose rest is summed here, so that
    nothing cancels.
    """
    angle = math.atan(bound / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    term, total = 1.0, 0.0
    for place in range(2000):
        if place >= freedom // 2:
            total += term
        term *= square * (2 * place + 1) / (2 * place + 2)
    return math.sin(angle) * total


def test_the_tail_of_students_distribution_is_computed_right():
    # The table of Student's distribution: 5 % and 1 %.
    assert abs(student(2.228, 10) - 0.05) < 1e-4
    assert abs(student(2.660, 60) - 0.01) < 1e-4


def test_a_right_number_is_taken_for_wrong_as_seldom_as_is_written():
    assert 2.1e-16 < student(compilation.STUDENT, compilation.SAMPLES) < 2.2e-16


def test_each_gradient_has_a_name():
    assert len(compilation.NAMES) == 10
    assert compilation.WIDTH == compilation.HEADS * compilation.HEAD
