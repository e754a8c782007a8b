"""Compares operators under two conditions at once: format, layout, size, option, mode, values, direction, threads.

``table`` lists the values of these axes, and rows that together contain every allowed pair of values of two axes
(``lab/grid.py`` writes it). A run computes ``A_DAY`` rows for each operator, which depend on the seed and the operator,
so that each operator is called with every row within ``DAYS`` days. If an operator does not support a value, the plain
value replaces it, and only pairs that were computed count. The reference is float64 on the CPU in plain layout. On a
GPU, a run leaves out about half of the strided rows of operators whose kernels are compiled on first use.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import re
import typing as t
import zlib

from ...check import H200S, X86_CPU_GRID, X86S_LATER, Context, Measured, check
from ..bounds import torch
from . import all_operators, calls, comparison, operator_bounds, shapes, variants
from .comparison import Survey, name_of
from .conditions import DRAWN, PLAIN, is_compiled, is_strided, strided_today
from .rounding import tensors
from .table import A_DAY, AXES, ROWS as _ROWS, patterns

ROWS = [{axis: AXES[axis][int(digit, 16)] for axis, digit in zip(AXES, row)} for row in _ROWS]
DAYS = len(ROWS) // A_DAY
#: The maximum number of the catalogue's inputs per operator and format; three options at a time are selected by rows.
SAMPLES = 18
#: The formats of the rows for integers: two of them each day, and all in a full run.
INTEGERS = ("int8", "int64", "uint8", "int16")
OF_INTEGERS = re.compile("gcd|lcm|prod")
(FREQUENT,) = patterns("frequent")
FREQUENT_DAYS = 4
#: The factor on the limit ``survey`` for a format: drawn inputs take a quarter of the time of all others.
LONGER = 1.25


def pairs(row: t.Mapping[str, str]) -> int:
    """Return the pairs of values in a row as a bit set."""
    return sum(1 << _BITS[pair] for pair in _pairs(row))


def _pairs(row: t.Mapping[str, str]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return list(itertools.combinations(row.items(), 2))


def _base(row: t.Mapping[str, str]) -> tuple[str, str]:
    """Return the values of a row on which its resized sample depends; each row draws its own."""
    return row["size"], str(row) if row["size"] == DRAWN else row["option"]


#: The number of the bit that stands for each pair of values in a row.
_BITS = {pair: number for number, pair in enumerate(dict.fromkeys(pair for row in ROWS for pair in _pairs(row)))}


class Day:
    """The rows in one format for a run, and its coverage so far.

    :ivar pairs: by operator, the pairs of values that were computed, as a bit set.
    :ivar overloads: the overloads that were called: ``aten.add.Tensor``.
    :ivar compiled: the operators of which this run compiles kernels on first use, and so leaves some for other days.
    """

    def __init__(self, context: Context, form: str) -> None:
        self.context, self.form = context, form
        self.pairs: dict[str, int] = {}
        self.overloads: set[str] = set()
        self.compiled: set[str] = set()

    def compare(self, outcome: Survey, entry: t.Any, dtype: torch.dtype, device: str, samples: int, seed: str) -> None:
        """Compare an operator in its rows for the day."""
        name = name_of(entry)
        operator = comparison.in_format(entry, dtype, device, min(2 * samples, SAMPLES), seed)
        if not operator.samples:
            return
        outcome.note(name, (0.0, 0.0))
        operator.samples.sort(key=lambda sample: -sum(part.numel() for part in tensors(sample.input)))
        operator.record = functools.partial(self._record, set())
        # A reference with gradients, which comes first, also serves rows without.
        rows = sorted(self.rows(name), key=lambda row: (_base(row), row["direction"]))
        for turn, (_size, group) in enumerate(itertools.groupby(rows, _base)):
            operator.forget_resized()
            operator.turn = turn
            for row in group:
                outcome.samples += 1
                if computed_row := calls.compare_row(outcome, operator, row):
                    self.pairs[name] = self.pairs.get(name, 0) | pairs(computed_row)

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows for an operator in this format."""
        seed, integers = self.context.seed, self.form == "integers"
        rows = [row for row in rows_of(name, seed, self.context.full) if row["format"] == self.form]
        if shapes.family_of(name) is None:
            rows = [row for row in rows if row["size"] != DRAWN]
        if name not in self.compiled or (integers and OF_INTEGERS.search(name)):
            return rows
        # Others convert integers to float32.
        return [row for row in rows if not integers and (strided_today(f"{seed} {name}") or not is_strided(row))]

    def layouts(self, name: str) -> set[str]:
        """Return the layouts in which an operator is called. Expanded inputs have the same kernel as strided ones."""
        rows = self.rows(name)
        layouts = {variants.STRIDED if row["layout"] in variants.SAME_ADDRESS else row["layout"] for row in rows}
        return layouts | {variants.STRIDED for row in rows if row["mode"] == variants.OUT}

    def _record(self, recorded: set[tuple[str, str]], row: t.Mapping[str, str], call: t.Callable[[], t.Any]) -> None:
        """Record the overloads that a call reaches, once for each mode and direction."""
        key = row["mode"], row["direction"]
        if key in recorded or row["size"] != PLAIN["size"] or row["threads"] != PLAIN["threads"]:
            return
        recorded.add(key)
        with contextlib.suppress(*calls.REFUSALS), _recorded(self.overloads):
            call()

    def coverage(self, listed: int) -> dict[str, t.Any]:
        """Return the coverage of this run; see the module ``coverage``.

        :param listed: the number of operators in torch's list.
        """
        sets, every = dict[str, list[str]](), functools.reduce(int.__or__, self.pairs.values(), 0)
        for name, bits in sorted(self.pairs.items()):
            sets.setdefault(f"{bits:x}", []).append(name)
        computed = {value for pair, number in _BITS.items() if every >> number & 1 for value in pair}
        return {
            "table": hashlib.sha256(f"{AXES} {_ROWS}".encode()).hexdigest()[:16],
            "pairs": sets,
            "of_pairs": len(_BITS),
            "axes": {axis: {value: (axis, value) in computed for value in values} for axis, values in AXES.items()},
            "of_operators": listed,
            "overloads": sorted(name for name in self.overloads if name.startswith("aten.")),
            "of_overloads": sum(name.startswith("aten::") for name in torch._C._dispatch_get_all_op_names()),
        }


@contextlib.contextmanager
def _recorded(overloads: set[str]) -> t.Iterator[None]:
    """Add the names of the overloads that are called to a set."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, function: t.Any, _types: t.Any, args: t.Any = (), kwargs: t.Any = None) -> t.Any:
            overloads.add(str(function))
            return function(*args, **(kwargs or {}))

    with Recorder():
        yield


def rows_of(name: str, seed: int, full: bool) -> list[dict[str, str]]:
    """Return the rows for an operator: all in a full run, else those for a day, or for some days if it is frequent."""
    if full:
        return ROWS
    days = FREQUENT_DAYS if FREQUENT.match(name) else 1
    first = (seed * days + zlib.crc32(name.encode())) % DAYS * A_DAY
    return (ROWS * 2)[first : first + days * A_DAY]


def _in_pairs(context: Context, form: str, rows_in: str = "") -> Measured:
    """Compare the operators that have rows in one format for the day.

    In a full run, the survey of the format has loaded and compiled most kernels in the same process before.

    :param rows_in: the format's value in the rows; by default its name.
    """
    day = Day(context, rows_in or form)
    entries = {name_of(entry): entry for entry in all_operators.catalogue()}
    if context.device == "cuda" and not context.full:
        day.compiled = {name for name in entries if is_compiled(entries[name], name, getattr(torch, form))}
    # Compiled functions of integers return fractions, which other formats cover.
    names = {name for name in entries if day.rows(name) and not (rows_in and operator_bounds.compiled(name))}
    outcome = all_operators.survey(context, form, LONGER, names, day.compare, day.layouts)
    allowed = {call: bounds(call, form) for call in outcome.units}
    measured = all_operators.judge(context, outcome, allowed, form)
    measured.coverage = day.coverage(outcome.listed)
    return measured


@check("survey.pairs_float32", devices=("cuda", "cpu"), seconds=120, steps=True, measured=(*H200S, X86_CPU_GRID))
@check("survey.pairs_bfloat16", devices=("cuda", "cpu"), seconds=120, steps=True, measured=(*H200S, X86_CPU_GRID))
@check("survey.pairs_float16", devices=("cuda", "cpu"), seconds=120, steps=True, measured=(*H200S, X86_CPU_GRID))
@check("survey.pairs_complex64", devices=("cuda", "cpu"), seconds=120, steps=True, measured=(*H200S, X86_CPU_GRID))
def in_pairs(context: Context, part: str) -> Measured:
    """Compare each operator in one format under two conditions at once, in other rows each day."""
    return _in_pairs(context, part.partition("_")[2])


@check("survey.pairs_integers", devices=("cuda", "cpu"), seconds=120, steps=True, measured=(*H200S, *X86S_LATER))
def pairs_integers(context: Context) -> Measured:
    """Compare each operator on integers of 8 to 64 bits under two conditions at once, with those of 64 bits."""
    forms = INTEGERS if context.full else INTEGERS[context.seed % 2 * 2 :][:2]
    results = [_in_pairs(_in_format(context, form), form, "integers") for form in forms]
    return max(results, key=lambda result: (result.warning is not None, result.ratio or 0.0))


def _in_format(context: Context, form: str) -> Context:
    """Return a context whose steps name the format, in which alone an operator that crashes is passed over."""
    ending = f" in {form}"
    passed_over = {part.removesuffix(ending): how for part, how in context.passed_over.items() if part.endswith(ending)}
    return dataclasses.replace(context, passed_over=passed_over, step=lambda part: context.step(part + ending))


def bounds(call: str, form: str) -> tuple[float, float]:
    """Return the bounds for the results and the gradients of a call in a format, in units."""
    name, *conditions = call.split(", ")
    form = form if form in operator_bounds.DEFAULT else "float32"
    if "autocast" not in conditions:
        return operator_bounds.bounds(name, form)
    # Autocast rounds both the inputs and the results to bfloat16.
    result, gradient = operator_bounds.bounds(name, "bfloat16")
    return 2 * result, 2 * gradient
