# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares operators under two conditions at once: format, layout, size, option, mode, values, direction, threads.

``table`` lists the values of these axes, and rows that together contain every allowed pair of values of two axes
(``lab/grid.py`` writes it). A run computes ``A_DAY`` rows for each operator, which depend on the seed and the operator,
so that each operator is called with every row within ``DAYS`` days. If an operator does not support a value, the plain
value replaces it, and only pairs that were computed count. The reference is float64 on the CPU in plain layout.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import random
import typing as t
import zlib

from ...check import Context, Measured, check
from . import all_operators, calls, comparison, operator_bounds
from .comparison import Survey, name_of
from .conditions import PLAIN, Operator
from .rounding import tensors
from .table import A_DAY, AXES, ROWS as _ROWS

if t.TYPE_CHECKING:
    import torch

ROWS = [{axis: AXES[axis][int(digit)] for axis, digit in zip(AXES, row)} for row in _ROWS]
DAYS = len(ROWS) // A_DAY


def pairs(row: t.Mapping[str, str]) -> int:
    """Return the pairs of values in a row as a bit set."""
    return sum(1 << _BITS[pair] for pair in _pairs(row))


def _pairs(row: t.Mapping[str, str]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return list(itertools.combinations(row.items(), 2))


#: The bit of each pair of values that occurs in a row.
_BITS = {pair: number for number, pair in enumerate(dict.fromkeys(pair for row in ROWS for pair in _pairs(row)))}


class Day:
    """The rows for a run, and its coverage so far.

    :ivar pairs: by operator, the pairs of values that were computed, as a bit set.
    :ivar overloads: the overloads that were called: ``aten.add.Tensor``.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.pairs: dict[str, int] = {}
        self.overloads: set[str] = set()

    def compare(self, outcome: Survey, entry: t.Any, _dtype: torch.dtype, device: str, samples: int, seed: str) -> None:
        """Compare an operator in its rows for the day."""
        import torch

        name = name_of(entry)
        outcome.note(name, (0.0, 0.0))
        operators: dict[torch.dtype, Operator] = {}
        chance = random.Random(seed)  # noqa: S311 - the choice need not be secret
        record = functools.partial(self._record, set())
        for row in rows_of(name, self.context.seed, self.context.full):
            dtype = getattr(torch, row["format"])
            if dtype not in entry.supported_dtypes(device):
                continue
            if dtype not in operators:
                operator = operators[dtype] = comparison.in_format(entry, dtype, device, samples, seed)
                operator.samples.sort(key=lambda sample: -sum(part.numel() for part in tensors(sample.input)))
                operator.record = record
            if not (operator := operators[dtype]).samples:
                continue
            outcome.samples += 1
            if computed_row := calls.compare_row(outcome, operator, row, chance):
                self.pairs[name] = self.pairs.get(name, 0) | pairs(computed_row)

    def _record(self, recorded: set[tuple[str, str]], row: t.Mapping[str, str], call: t.Callable[[], t.Any]) -> None:
        """Record the overloads that a call reaches, once for each mode and direction."""
        from torch.utils._python_dispatch import TorchDispatchMode

        overloads = self.overloads

        class Recorder(TorchDispatchMode):
            def __torch_dispatch__(
                self, function: t.Any, _types: t.Any, args: t.Any = (), kwargs: t.Any = None
            ) -> t.Any:
                overloads.add(str(function))
                return function(*args, **(kwargs or {}))

        key = row["mode"], row["direction"]
        if key in recorded or row["size"] != PLAIN["size"] or row["threads"] != PLAIN["threads"]:
            return
        recorded.add(key)
        with contextlib.suppress(*calls.REFUSALS), Recorder():
            call()

    def coverage(self, listed: int) -> dict[str, t.Any]:
        """Return the coverage of this run; see the module ``coverage``.

        :param listed: the number of operators in torch's list.
        """
        import torch

        sets: dict[str, list[str]] = {}
        for name, bits in sorted(self.pairs.items()):
            sets.setdefault(f"{bits:x}", []).append(name)
        return {
            "table": hashlib.sha256(f"{AXES} {_ROWS}".encode()).hexdigest()[:16],
            "pairs": sets,
            "of_pairs": len(_BITS),
            "of_operators": listed,
            "overloads": sorted(name for name in self.overloads if name.startswith("aten.")),
            "of_overloads": sum(name.startswith("aten::") for name in torch._C._dispatch_get_all_op_names()),
        }


def rows_of(name: str, seed: int, full: bool) -> list[dict[str, str]]:
    """Return the rows for an operator: all of them in a full run, or those for the day."""
    day = 0 if full else (seed + zlib.crc32(name.encode())) % DAYS
    return ROWS if full else ROWS[day * A_DAY :][:A_DAY]


@check("survey.pairs", devices=("cuda", "cpu"), seconds=120, steps=True)
def all_pairs(context: Context) -> Measured:
    """Compare each operator under two conditions at once: in some rows of a covering array, different ones each day."""
    day = Day(context)
    outcome = all_operators.survey(context, "float32", all_operators.LONGER, compare=day.compare)
    allowed = {call: bounds(call) for call in outcome.units}
    measured = all_operators.judge(context, outcome, allowed, " and ".join(AXES["format"]))
    measured.coverage = day.coverage(outcome.listed)
    return measured


def bounds(call: str) -> tuple[float, float]:
    """Return the bounds for the results and the gradients of a call, in units."""
    name, *conditions = call.split(", ")
    form = conditions[-1] if conditions else "float32"
    if "autocast" not in conditions:
        return operator_bounds.bounds(name, form)
    # Autocast rounds both the inputs and the results to bfloat16.
    result, gradient = operator_bounds.bounds(name, "bfloat16")
    return 2 * result, 2 * gradient
