"""Draw calls that write, add up, count or look up by index, and compare them exactly.

The reference compares each index with each position, and joins what is written there, and what was there before, by an
elementwise function, so that it neither reads nor writes anything by index.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_DRAWN, Context, Measured, check
from ..bounds import functions_of, torch
from ..draws import Draw, Draws, judge
from .reductions import FLOATS, INTEGERS, fold, numbers_for, rows_of, shape_of

#: The number of calls in a run, and the most comparisons of an index with a position for each element in a row.
DRAWN = {"cuda": 3_000, "cpu": 2_000}
WORK = {"cuda": 2**23, "cpu": 2**17}
#: The most indices, and the most positions in a row.
MOST = 900


def hits(j: torch.Tensor, size: int) -> torch.Tensor:
    """Tell for each position and each index whether they are equal."""
    return torch.arange(size, device=j.device).unsqueeze(-1) == j


def put(
    function: t.Callable[..., torch.Tensor], x: torch.Tensor, i: int, j: torch.Tensor, s: torch.Tensor
) -> torch.Tensor:
    """Return ``x``, with each part of ``s`` along dimension ``i`` joined to that at its index by a function."""
    rows, parts = rows_of(x, [i]), rows_of(s, [i]).unsqueeze(-2)
    neutral = {torch.add: 0, torch.mul: 1}.get(function)
    others = rows.unsqueeze(-1) if neutral is None else rows.new_full((), neutral)
    return function(rows, fold(function, torch.where(hits(j, x.shape[i]), parts, others))).movedim(-1, i)


def replace(x: torch.Tensor, i: int, j: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """Return ``x``, with the parts of ``s`` along dimension ``i`` at indices that all differ."""
    rows, parts, at = rows_of(x, [i]), rows_of(s, [i]).unsqueeze(-2), hits(j, x.shape[i])
    written = fold(torch.add, torch.where(at, parts, rows.new_zeros(())))
    return torch.where(fold(torch.maximum, at.long()) > 0, written, rows).movedim(-1, i)


def counts(j: torch.Tensor, size: int) -> torch.Tensor:
    """Return how often each index occurs."""
    return fold(torch.add, hits(j, size).long())


#: Functions by table: of ``x``, a dimension ``i``, indices ``j`` into it, the source ``s``, and ``e``, the indices in
#: the shape of the source. They return a result and its reference.
FUNCTIONS = {
    table: functions_of(table, "x, i, j, e, s", put=put, replace=replace, counts=counts, fold=fold, rows=rows_of)
    for table in ("sums by index", "products by index", "extremes by index", "writes by index", "counts by index")
}
_NAMES = [(table, name) for table, functions in FUNCTIONS.items() for name in functions]


@check("indices.drawn", devices=("cuda", "cpu"), seconds=120, measured=SEEN_DRAWN, factor=1)
def drawn(context: Context) -> Measured:
    """Check what writes, adds, counts or looks up by index, thousands of calls."""
    return judge(context, "a function with indices", "indices", DRAWN, _compare)


def _compare(draws: Draws, draw: Draw) -> None:
    chance, shape, (table, function) = draw.chance, list(shape_of(draw, 2**17)), draw.chance.choice(_NAMES)
    i, form = chance.randrange(len(shape)), chance.choice((*INTEGERS, *FLOATS, *FLOATS))
    shape[i] = min(shape[i], MOST)
    count = max(1, min(draw.between((1, MOST)), WORK[draw.device] // math.prod(shape)))
    positions = range(shape[i])
    if table == "writes by index":
        # If an index occurred twice, either value could be written.
        count = min(count, shape[i])
        numbers = chance.sample(positions, count)
    else:
        numbers = chance.choices(positions, k=count)
    _memory, j = draw.lay(torch.tensor(numbers, device=draw.device))
    source = [count if each == i else size for each, size in enumerate(shape)]
    x, s = (draw.lay(numbers_for(draw, table, each, form, count + 1))[1] for each in (shape, source))
    e = j.view([-1 if each == i else 1 for each in range(len(shape))]).expand(source)
    case = f"{function}, {tuple(shape)}, {form}, {count} indices in {i}, {', '.join(draw.conditions)}"
    with draws.cases.offered(f"{function}, {form}"):
        actual, expected = FUNCTIONS[table][function](x, i, j, e, s)
        draws.compare(case, actual, expected.to(actual.dtype))
