# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Operators under two conditions at once: format, layout, size, option, way to call, values, direction, threads.

``table`` has the values of these axes and rows of them in which every two values of two axes stand together
(``lab/grid.py`` writes it). A day takes some rows of each operator, another operator's being others; over as many days
as there are parts each operator meets every row. What an operator does not take becomes the plain value of its axis,
and only pairs of values that were computed count. The reference is what float64 on the CPU makes of the same numbers
in plain layout.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import math
import random
import typing as t
import warnings
import zlib

from ...check import Context, Measured, check
from . import all_operators, calls, comparison, operator_bounds, variants
from .comparison import NotOffered, Survey, name_of
from .conditions import PLAIN, SIZES, Operator, differentiable
from .rounding import number_of, short, tensors
from .table import A_DAY, AXES, ROWS as _ROWS

if t.TYPE_CHECKING:
    import torch

ROWS = [{axis: AXES[axis][int(digit)] for axis, digit in zip(AXES, row)} for row in _ROWS]
DAYS = len(ROWS) // A_DAY
#: Bounds are those of sums of so many numbers; 16 bits are added in float32. See :func:`longer`.
SUMMED = 64
#: How many times the seconds of a survey's limit it may take.
LONGER = 4.0


def pairs(row: t.Mapping[str, str]) -> int:
    """Return the pairs of values of a row, each a bit."""
    return sum(1 << _BITS[pair] for pair in _pairs(row))


def _pairs(row: t.Mapping[str, str]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return list(itertools.combinations(row.items(), 2))


#: The number of each pair of values that some row has.
_BITS = {pair: number for number, pair in enumerate(dict.fromkeys(pair for row in ROWS for pair in _pairs(row)))}


class Day:
    """What a run computes of each operator, and has computed.

    :ivar pairs: by operator, the pairs of values that were computed, each a bit.
    :ivar overloads: what was called: ``aten.add.Tensor``.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.pairs: dict[str, int] = {}
        self.overloads: set[str] = set()

    def compare(self, found: Survey, entry: t.Any, _dtype: torch.dtype, device: str, samples: int, seed: str) -> None:
        """Compare an operator in the rows of the day."""
        import torch

        name = name_of(entry)
        found.note(name, (0.0, 0.0))
        of_format: dict[str, Operator | None] = {}
        chance = random.Random(seed)  # noqa: S311 - which sizes are tried is no secret
        record = functools.partial(self._record, set())
        for row in rows_of(name, self.context.seed, self.context.full):
            form = row["format"]
            if form not in of_format:
                of_format[form] = _operator(entry, name, device, getattr(torch, form), samples, seed)
            if (operator := of_format[form]) is None:
                continue
            operator.record = record
            found.samples += 1
            if computed_row := calls.compare_row(found, operator, row, chance):
                self.pairs[name] = self.pairs.get(name, 0) | pairs(computed_row)

    def _record(self, recorded: set[tuple[str, str]], row: t.Mapping[str, str], call: t.Callable[[], t.Any]) -> None:
        """Note the overloads that a way to call an operator comes to, once for the way and the direction."""
        from torch.utils._python_dispatch import TorchDispatchMode

        overloads = self.overloads

        class Recorder(TorchDispatchMode):
            def __torch_dispatch__(
                self, function: t.Any, _types: t.Any, given: t.Any = (), words: t.Any = None
            ) -> t.Any:
                overloads.add(str(function))
                return function(*given, **(words or {}))

        way = row["mode"], row["direction"]
        if way in recorded or row["size"] != PLAIN["size"] or row["threads"] != PLAIN["threads"]:
            return
        recorded.add(way)
        with contextlib.suppress(*calls.REFUSALS), Recorder():
            call()

    def coverage(self, listed: int) -> dict[str, t.Any]:
        """Return what was covered, see the module ``coverage``.

        :param listed: how many operators torch's list has.
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


def _operator(entry: t.Any, name: str, device: str, dtype: torch.dtype, samples: int, seed: str) -> Operator | None:
    """Return an operator in a format, with its inputs; None where it is not offered in it."""
    import torch

    if dtype not in entry.supported_dtypes(device):
        return None
    torch.manual_seed(number_of(seed))
    gradients = differentiable(entry, dtype, device)
    try:
        drawn = comparison.drawn(entry.sample_inputs(device, dtype, requires_grad=gradients), samples, seed)
    except (RuntimeError, TypeError, ValueError) as error:
        raise NotOffered(f"its inputs cannot be created: {short(error)}") from error
    kept = [one for one in drawn if not (one.kwargs.get("dropout_p") or one.kwargs.get("dropout"))]
    kept.sort(key=lambda one: -sum(part.numel() for part in tensors(one.input)))
    return Operator(entry, name, device, dtype, seed, kept) if kept else None


def rows_of(name: str, seed: int, full: bool) -> list[dict[str, str]]:
    """Return the rows of an operator: those of a day, or all."""
    day = 0 if full else (seed + zlib.crc32(name.encode())) % DAYS
    return ROWS if full else ROWS[day * A_DAY :][:A_DAY]


@check("survey.pairs", devices=("cuda", "cpu"), seconds=120, steps=True)
def all_pairs(context: Context) -> Measured:
    """Each operator under two conditions at once: some rows of a covering array, other ones the next day."""
    day = Day(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = all_operators.survey(
            context.device,
            "float32",
            int(context.limits["samples"]),
            context.seed,
            seconds=float(context.limits["survey"]) * LONGER,
            passed_over=context.passed_over,
            step=context.step,
            compare=day.compare,
        )
    allowed = {call: bounds(call) for call in found.units}
    measured = all_operators.judged(context, found, allowed, " and ".join(AXES["format"]), context.seed)
    measured.coverage = day.coverage(found.listed)
    return measured


def bounds(call: str) -> tuple[float, float]:
    """Return how many units results and gradients may be off, by how an operator was called."""
    name, *conditions = call.split(", ")
    form = conditions[-1] if conditions else "float32"
    # Under autocast both the inputs and the results are rounded to bfloat16.
    factor, form = (2.0, "bfloat16") if "autocast" in conditions else (longer(conditions, form), form)
    result, gradient = operator_bounds.bounds(name, form)
    return factor * result, factor * gradient


def longer(conditions: t.Collection[str], form: str) -> float:
    """Return how many times as far off a sum may be that is computed number by number.

    Each addition rounds by up to half a unit of what was added so far. Of unlike numbers the roundings cancel, and grow
    as the root of their count; those of equal numbers have one direction and grow as the count.
    """
    count = max((SIZES[size][1] for size in SIZES if size in conditions), default=0) / SUMMED
    if form not in ("float32", "complex64") or count < 2:
        return 1.0
    return count if variants.EXPANDED in conditions else math.sqrt(count)
