# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a comparison speaks of what it found, computed by a real torch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from proof.tests.environment import Environment

SOURCES = Path(__file__).parents[1] / "src"
SCRIPT = """
import torch
from sparkforge_proof.checks.bounds import Cases
from sparkforge_proof.check import Failed
nan, inf = float("nan"), float("inf")
cases = Cases("the product", "Rebuild.")
actual, expected = torch.tensor({actual}), torch.tensor({expected}, dtype=torch.float64)
cases.compare("of four", actual, expected, torch.tensor(1e-9, dtype=torch.float64))
try:
    print(cases.result().measured)
except Failed as failed:
    print(failed.cause)
"""


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        ("[1.0, 2.0]", "[1.0, 2.0]", "0 of the bound at worst"),
        ("[inf, 2.0]", "[inf, 2.0]", "0 of the bound at worst"),
        ("[1.0, nan]", "[1.0, 2.0]", "The product (of four) has 1 of 2 values that are NaN."),
        ("[0.0, 0.0]", "[1.0, 2.0]", "The product (of four) is zero everywhere."),
        ("[1.0, 2.5]", "[1.0, 2.0]", "2.5 instead of 2"),
        ("[1.0, nan]", "[1.0, nan]", "1 of 2 values of the float64 reference itself are NaN"),
    ],
)
def test_a_comparison_says_what_is_wrong(healthy: Environment, actual: str, expected: str, said: str) -> None:
    script = SCRIPT.format(actual=actual, expected=expected)
    done = subprocess.run(
        [str(healthy.python), "-c", script],
        check=True, capture_output=True, text=True, env={"PYTHONPATH": str(SOURCES), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert said in done.stdout
