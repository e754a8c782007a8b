"""Draw reductions, scans and orders of numbers in any format, shape, layout and value, and compare them exactly.

A reduction's reference folds halves of each row by an elementwise function, and that of a scan does the same with
shifted rows (W. D. Hillis, G. L. Steele, Data parallel algorithms, CACM 1986), so that no kernel for reductions or
scans computes it. Orders are compared by what defines them: sorted values at distinct indices, and the counts of
smaller and larger numbers. All sums and products are of few or small integers, which are exact in any order.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_DRAWN, Context, Measured, check
from ..bounds import functions_of, torch
from ..draws import FILLED, ROWS, Draw, Draws, judge, same
from .products import LARGEST_SUM

#: The number of calls in a run.
DRAWN = {"cuda": 5_000, "cpu": 5_000}
#: The most elements in some shapes, and in most of them.
MOST, USUAL = {"cuda": 2**24, "cpu": 2**18}, 2**14
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")
FLOATS = ("float32", "bfloat16", "float16", "float64")
#: The sizes of a dimension: around vectors, blocks of threads, and what one block reduces.
SIZES = (*ROWS, (700, 5_000), (8_191, 8_200), (30_000, 70_000))
#: The kinds of numbers that are compared and not added up.
KINDS = ("ordinary", "few", "extremes", "extremes", "equal", "not finite")


def rows_of(x: torch.Tensor, dimensions: t.Sequence[int]) -> torch.Tensor:
    """Return numbers in a wide format, with these dimensions last and joined."""
    ends = range(-len(dimensions), 0)
    wide = torch.float64 if x.is_floating_point() else torch.int64
    return x.movedim(list(dimensions), list(ends)).flatten(-len(dimensions)).to(wide)


def fold(function: t.Callable[..., torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    """Return each row's numbers joined by an elementwise function; a row has at least one number."""
    while (size := rows.shape[-1]) > 1:
        half = size // 2
        rows = torch.cat([function(rows[..., :half], rows[..., half : 2 * half]), rows[..., 2 * half :]], -1)
    return rows[..., 0]


def scan(function: t.Callable[..., torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    """Return each row's numbers, each joined with all before it by an elementwise function."""
    shift = 1
    while shift < rows.shape[-1]:
        rows = torch.cat([rows[..., :shift], function(rows[..., shift:], rows[..., :-shift])], -1)
        shift *= 2
    return rows


def at(rows: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """Return the number at each row's index, or ``FILLED`` if there is no such index."""
    if rows.ndim > indices.ndim:
        indices = indices.unsqueeze(-1)
    size = rows.shape[-1]
    numbers = rows.gather(-1, indices.clamp(0, size - 1))
    return numbers.masked_fill((indices < 0) | (indices >= size), FILLED)


def are_distinct(rows: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """Tell of each row whether all indices into it differ."""
    marks = torch.zeros_like(rows).scatter_(-1, indices.clamp(0, rows.shape[-1] - 1), 1)
    return fold(torch.add, marks) == indices.shape[-1]


def are_in_order(values: torch.Tensor, is_falling: bool) -> torch.Tensor:
    """Tell of each number whether the one behind it follows in order; NaN counts as the largest number."""
    smaller, larger = (values[..., 1:], values[..., :-1]) if is_falling else (values[..., :-1], values[..., 1:])
    return (smaller <= larger) | larger.isnan()


def sorted_right(
    x: torch.Tensor, dimension: int, results: t.Sequence[torch.Tensor], is_falling: bool, is_stable: bool = False
) -> list[torch.Tensor]:
    """Return the conditions of sorted numbers and their indices."""
    rows, (values, indices) = rows_of(x, [dimension]), (each.movedim(dimension, -1) for each in results)
    values, picked = values.to(rows.dtype), at(rows, indices)
    conditions = [are_in_order(values, is_falling), are_distinct(rows, indices), same(picked, values)]
    if is_stable:
        conditions.append((values[..., 1:] != values[..., :-1]) | (indices[..., 1:] > indices[..., :-1]))
    return conditions


def selected_right(
    x: torch.Tensor, dimension: int, results: t.Sequence[torch.Tensor], are_largest: bool
) -> list[torch.Tensor]:
    """Return the conditions of the largest, or the smallest, numbers and their indices."""
    rows, (values, indices) = rows_of(x, [dimension]), (each.movedim(dimension, -1) for each in results)
    values, picked = values.to(rows.dtype), at(rows, indices)
    last = fold(torch.minimum if are_largest else torch.maximum, values).unsqueeze(-1)
    are_beyond = torch.gt if are_largest else torch.lt
    of_rows, of_values = (fold(torch.add, are_beyond(each, last).long()) for each in (rows, values))
    return [of_rows == of_values, are_distinct(rows, indices), same(picked, values)]


def ranked_right(x: torch.Tensor, dimension: int, results: t.Sequence[torch.Tensor], rank: int) -> list[torch.Tensor]:
    """Return the conditions of the number of a rank, from 1, and its index."""
    rows, (value, index) = rows_of(x, [dimension]), (each.unsqueeze(-1) for each in results)
    value, picked = value.to(rows.dtype), at(rows, index)
    smaller, others = (fold(torch.add, each.long()) for each in (rows < value, rows <= value))
    return [(smaller < rank) & (rank <= others), same(picked, value)]


#: Functions of numbers by table: of ``x``, some dimensions ``d`` or one dimension ``i``, whether they are kept ``k``, a
#: count ``n``, and whether the order is falling ``u``. They return a result and its reference, or conditions.
FUNCTIONS = {
    table: functions_of(
        table, "x, d, i, k, n, u", fold=fold, scan=scan, rows=rows_of, at=at, sorted_right=sorted_right,
        selected_right=selected_right, ranked_right=ranked_right,
    )
    for table in ("sums of rows", "products of rows", "extremes of rows", "indices in rows", "scans of rows",
                  "scans of products", "scans of extremes", "orders of rows")
}  # fmt: skip
_NAMES = [(table, name) for table, functions in FUNCTIONS.items() for name in functions]


@check("reductions.drawn", devices=("cuda", "cpu"), seconds=120, measured=SEEN_DRAWN, factor=1)
def drawn(context: Context) -> Measured:
    """Check reductions, scans, sorts and selections of exact numbers, thousands of them."""
    return judge(context, "a reduction", "reductions", DRAWN, _compare)


def shape_of(draw: Draw, most: int) -> tuple[int, ...]:
    """Return a shape of one to four dimensions, which now and then has up to this many elements."""
    most = most if draw.chance.random() < 0.1 else USUAL
    return draw.shape(SIZES, draw.chance.choice((1, 2, 2, 3, 3, 4)), most)


def numbers_for(draw: Draw, table: str, shape: t.Sequence[int], form: str, terms: int) -> torch.Tensor:
    """Return numbers whose results are exact in a format, whatever the order of their ``terms``."""
    dtype, integers = getattr(torch, form), draw.integers
    if "sums" in table or table == "scans of rows":
        limit = LARGEST_SUM.get(form, 2**20) // 8
        largest = 1 if form == "bool" else max(1, min(100, limit // max(1, terms)))
        numbers = integers(shape, 0 if form in ("bool", "uint8") else -largest, largest, torch.int64)
        return (numbers * (integers(shape, 0, max(0, terms // limit), torch.int64) == 0)).to(dtype)
    if "products" in table:
        # About two factors are 2, or False; the others are 1 and -1.
        are_other = integers(shape, 0, max(1, terms // 2), torch.int64) == 0
        if form == "bool":
            return ~are_other
        signs = 1 if form == "uint8" else 1 - 2 * integers(shape, 0, 1, torch.int64)
        return ((1 + are_other.long()) * signs).to(dtype)
    if form == "bool":
        return integers(shape, 0, 3, torch.int64) > draw.chance.choice((0, 1, 2))
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    extremes = (limits.min, limits.max, *((-math.inf, math.inf) if dtype.is_floating_point else ()))
    kind = draw.chance.choice(KINDS)
    draw.conditions.append(f"{kind} numbers")
    number = draw.chance.choice((*extremes, 0, 1) if kind == "equal" else extremes)
    takes_nan = dtype.is_floating_point and table in ("extremes of rows", "indices in rows", "scans of extremes")
    if kind == "not finite" and takes_nan:
        number = math.nan
    few = integers(shape, 0, 3, torch.int64)
    if kind == "few":
        return few.to(dtype)
    numbers = integers(shape, 0 if limits.min == 0 else -100, 100, torch.int64).to(dtype)
    if kind == "ordinary":
        return numbers
    # One number in four, the first, or each is an extreme or NaN.
    are_first = torch.arange(few.numel(), device=draw.device).view(few.shape) == 0
    at = torch.ones_like(are_first) if kind == "equal" else draw.chance.choice((few == 0, are_first))
    return numbers.masked_fill(at, number)


def _compare(draws: Draws, draw: Draw) -> None:
    chance, shape = draw.chance, shape_of(draw, MOST[draw.device])
    (table, function), form = chance.choice(_NAMES), chance.choice((*INTEGERS, *FLOATS, *FLOATS))
    dimension = chance.randrange(len(shape))
    dimensions = [dimension]
    if table in ("sums of rows", "extremes of rows"):
        dimensions = sorted(chance.sample(range(len(shape)), chance.randint(1, len(shape))))
    terms = math.prod(shape) if function.endswith("of all") else math.prod(shape[each] for each in dimensions)
    _memory, x = draw.lay(numbers_for(draw, table, shape, form, terms))
    # On a CPU, torch's median of an expanded row is memory that nobody has set (2.6 to 2.14; docs/evidence/found.md).
    is_exact = terms <= LARGEST_SUM.get(form, 2**20) // 8 and "products" not in table
    if chance.random() < 0.1 and is_exact and function != "median":
        x = x[:1].expand(shape)
        draw.conditions.append("expanded")
    arguments = dimensions, dimension, chance.random() < 0.5, chance.randint(1, shape[dimension]), chance.random() < 0.5
    case = f"{function}, {shape}, {form}, {arguments[:2]}, {', '.join(draw.conditions)}"
    with draws.cases.offered(f"{function}, {form}"):
        results = FUNCTIONS[table][function](x, *arguments)
        if isinstance(results, list):
            for condition in results:
                draws.expect(case, condition)
        else:
            actual, expected = results
            draws.compare(case, actual.flatten().to(expected.dtype), expected.flatten())
