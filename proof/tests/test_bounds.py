"""The messages of comparisons, as computed with a real torch."""

import subprocess
from pathlib import Path

from proof.tests.environment import Environment

SOURCES = Path(__file__).parents[1] / "src"
#: For each pair of tensors to compare, a part of the message.
MESSAGES = {
    "[1.0, 2.0]), tensor([1.0, 2.0]": "0 of the bound",
    "[inf, 2.0]), tensor([inf, 2.0]": "0 of the bound",
    "[1.0, nan]), tensor([1.0, 2.0]": "The product (of four) has 1 of 2 values that are NaN: NaN instead of 2 at [1].",
    "[0.0, 0.0]), tensor([1.0, 2.0]": "The product (of four) is zero everywhere.",
    "[1.0, 2.5]), tensor([1.0, 2.0]": "2.5 instead of 2 at [1], ",
    "[1.0, nan]), tensor([1.0, nan]": "reference are NaN",
    "[1.0, 2.5]), tensor([[1.0]]": "has the shape (2,) instead of (1, 1).",
}
#: For each comparison, its ratio, the number of elements without a ratio and in total, and the message.
MEASURES = {
    # A wrong number has a ratio even if other elements have none.
    "cases.compare('sum', tensor([1.0, 2.5, nan]), tensor([1.0, 2.0, 3.0]).double(), tensor(0.1).double())": (
        "5 1 of 3; inf times"
    ),
    "cases.compare('sum', tensor([1.0, inf]), tensor([1.0, 3.0]).double(), tensor(0.1).double())": (
        "0 1 of 2; inf times"
    ),
    # Wrong integers are added up over all cases.
    "[cases.exactly('copy', tensor([1, 2, 3]), tensor([1, 5, 4])) for _ in range(2)]": "0 4 of 6; inf times",
    "cases.exactly('copy', tensor([True, False]), tensor([True, True]))": "0 1 of 2; inf times",
    # An error in a floating-point number that must be exact is counted in rounding errors of its format, starting at 1.
    "cases.exactly('copy', tensor([1.0, 2.0]), tensor([1.0, 2.0000002384]))": "2 0 of 0; inf times the bound (copy)",
    "cases.exactly('copy', tensor([1.0, 2.0]), tensor([1.0, 3.0]))": "2.8e+06 0 of 0; inf times",
    "cases.exactly('copy', tensor([1.0, 0.0]), tensor([0.0, 0.0]))": "0 1 of 2; inf times",
    "cases.exactly('copy', tensor([1.0 + 1j]), tensor([1.0 + 2j]))": "4.19e+06 0 of 0; inf times",
    "cases.expect('an event', False, 'came early')": "0 1 of 1; inf times the bound (an event)",
    "cases.exactly('copy', tensor([1.0]), tensor([1.0, 2.0]))": "inf 0 of 0; inf times",
    "cases.same('sign', tensor([-0.0]), tensor([0.0]), tensor([True]))": (
        "0 1 of 1; inf times the bound (sign) The product (sign) has 1 of 1 values wrong: -0 instead of 0 is the sign"
    ),
    # Errors that Winograd's method explains, and larger errors.
    "cases.compare('conv', tensor([10.0, 3.0004]), WHOLE, transformed(WHOLE))": "right",
    "cases.compare('conv', tensor([10.0, 3.01]), WHOLE, transformed(WHOLE))": "22.2 0 of 0; 22.2 times",
}
ALL = """
import sys
from torch import tensor
from sparkforge_proof.checks.bounds import Cases
from sparkforge_proof.check import Failed
from sparkforge_proof.checks.kernels.convolution import transformed
nan, inf, WHOLE = float("nan"), float("inf"), tensor([10.0, 3.0]).double()
for call in sys.argv[1:]:
    cases = Cases("the product", "Rebuild.")
    eval(call)
    try:
        print("right", cases.result().measured)
    except Failed as failed:
        print(f"{failed.ratio:.3g} {failed.mismatched} of {failed.compared}; {failed.measured} {failed.cause}")
"""


def test_messages_and_ratios_of_comparisons(healthy: Environment) -> None:
    calls = [f"cases.compare('of four', tensor({pair}).double(), tensor(1e-9).double())" for pair in MESSAGES]
    result = subprocess.run(
        [str(healthy.python), "-c", ALL, *calls, *MEASURES],
        check=True, capture_output=True, text=True, env={"PYTHONPATH": str(SOURCES), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    lines = result.stdout.splitlines()
    for (pair, message), line in zip(MESSAGES.items(), lines):
        assert message in line, pair
    for (call, message), line in zip(MEASURES.items(), lines[len(MESSAGES) :], strict=True):
        assert line.startswith(message), call
