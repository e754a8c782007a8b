"""Draw matrix products of integers in any format, size, layout and batch, and compare them exactly.

The reference of a product C = A B is R. Freivalds's: C v = A (B v) for a random vector v of integers, which costs as
much as reading the factors (Probabilistic machines can use less running time, IFIP Congress 1977). Here, products with
v are sums of elementwise products in float64, which no library of matrix products computes. A wrong element changes its
row of C v unless two errors in that row cancel.
"""

from __future__ import annotations

import math
import typing as t

from ..._shared.module_utils._core import versions
from ...check import Context
from ..bounds import Cases, functions_of, torch
from ..draws import Draw, Draws

#: The largest sum of magnitudes of integer products for which every stored partial sum is exact. In float16 and
#: bfloat16, sums are split, and their parts are rounded to the format (allow_bf16_reduced_precision_reduction).
LARGEST_SUM = {"float64": 2**53, "float32": 2**24, "tf32": 2**24, "float16": 2**11, "bfloat16": 2**8}
#: The largest integers of a factor: those of TensorFloat-32 have 11 bits, and those of float64 more than float32's.
LARGEST = {"float64": 2**26, "float32": 2**12, "tf32": 2**11 - 1, "float16": 2**6, "bfloat16": 2**4}
#: The kinds of sizes with their weights: rows, terms and columns each take one. Sizes of layers are those of models.
SIZES: dict[str, tuple[int, tuple[int, int]]] = {
    "one": (20, (1, 1)), "few": (20, (2, 8)), "tens": (40, (9, 70)), "hundreds": (50, (71, 700)),
    "layer": (90, (0, 0)), "ten thousands": (25, (16_384, 70_000)), "millions": (30, (2**19, 2_300_000)),
    "none": (3, (0, 0)),
}  # fmt: skip
LAYERS = (768, 1_024, 1_536, 2_048, 2_560, 2_880, 3_072, 4_096, 5_120, 6_144, 7_168, 8_192, 11_008, 14_336, 32_768)
#: The number of products of which only one size is not small: each kind is that of the rows, the terms, the columns.
FIRST = 3 * len(SIZES)
#: Half of all sizes are multiples of one of these numbers.
STEPS = (8, 16, 64, 128)
BATCHES, MANY = (2, 3, 5, 17, 205), (65_535, 65_540)
#: The most elements of a factor or a result, and the most multiplications. Some GPUs multiply float64 slowly.
MOST = {"cuda": 2**26, "cpu": 2**22}
WORK = {"cuda": 2**35, "cpu": 2**25}
SLOW_WORK = 2**31
#: The largest number of the vector by which the results are multiplied.
LARGEST_OF_VECTOR = 3
#: Products, those of batches, and those that write into a tensor, by name: functions of the factors, of what is added,
#: and of the factors alpha and beta of both. Some have one row or one column.
ALONE, IN_BATCHES, WRITTEN = (
    functions_of(table, "x, y, z, a, b") for table in ("products", "products of batches", "products that are written")
)
ROWS, COLUMNS = ("dot", "vdot", "vector from the left"), ("dot", "vdot", "vector", "addmv")
SCALES = ((1, 1), (1, 0), (2, 1), (-1, 2), (1, -1))
#: The share of products with a number that is not finite.
SPECIAL = 0.1
COMPLEX = {torch.float32: torch.complex64, torch.float64: torch.complex128} if torch else {}


def compare_drawn(
    cases: Cases,
    context: Context,
    name: str,
    dtype: torch.dtype,
    count: int,
    suffix: str = "",
    fill: float = math.nan,
) -> None:
    """Compare products of integers that a format holds, under conditions that are drawn.

    :param name: the format, or ``tf32``.
    :param dtype: the numbers' type, or that of the parts of complex numbers.
    :param suffix: the settings of torch, for messages.
    :param fill: what lies around the factors; if it is NaN, some factors contain NaN or infinity as well.
    """
    for draw in (draws := Draws(cases, context, f"products {name}{suffix}", count, fill)):
        _compare(draws, draw, name, dtype, suffix)


def _sizes(draw: Draw, function: str, work: int, batch: int) -> tuple[int, int, int]:
    """Return rows, terms and columns that are small enough."""
    most, weights = MOST[draw.device] // batch, [weight for weight, _limits in SIZES.values()]
    first_kinds = ["few"] * 3
    first_kinds[draw.number % 3] = [*SIZES][draw.number // 3 % len(SIZES)]
    while True:
        sizes = []
        kinds = first_kinds if draw.number < FIRST else draw.chance.choices([*SIZES], weights, k=3)
        for kind in kinds:
            size = draw.chance.choice(LAYERS) if kind == "layer" else draw.between(SIZES[kind][1])
            step = draw.chance.choice(STEPS) if draw.chance.random() < 0.5 else 1
            sizes.append(size - size % step if size > step else size)
        rows, terms, columns = 1 if function in ROWS else sizes[0], sizes[1], 1 if function in COLUMNS else sizes[2]
        # Libraries reserve memory for a size of zero, too.
        first, second, third = sorted(max(1, size) for size in (rows, terms, columns))
        if second * third <= most and first * second * third * batch <= work:
            return rows, terms, columns


def _numbers(name: str, terms: int, columns: int) -> tuple[float, int]:
    """Return the share of numbers in a factor that are not zero, and the largest of the left one; the right has 1."""
    limit = LARGEST_SUM[name] // 8
    if name == "float64":
        # The product with the vector is exact as well.
        limit //= LARGEST_OF_VECTOR * max(1, columns)
    return min(1.0, (limit / max(1, terms)) ** 0.5), min(LARGEST[name], max(1, limit // max(1, terms)))


def _loses_infinity(draw: Draw, dtype: torch.dtype) -> bool:
    """Tell whether torch makes two infinite terms of equal signs NaN (2.6 on a CPU, pytorch#171034)."""
    return draw.device == "cpu" and dtype is torch.bfloat16 and versions.numbers(torch.__version__) < (2, 11)


def _compare(draws: Draws, draw: Draw, name: str, dtype: torch.dtype, suffix: str) -> None:
    chance = draw.chance
    table, batch = chance.choice(((ALONE, 1), (ALONE, 1), (WRITTEN, 1), (IN_BATCHES, chance.choice(BATCHES))))
    if table is IN_BATCHES and chance.random() < 0.1:
        batch = draw.between(MANY)
    if draw.number < FIRST:
        table, batch = {"mm": ALONE["mm"]}, 1
    function = chance.choice(list(table))
    work = SLOW_WORK if name == "float64" and draw.device == "cuda" else WORK[draw.device]
    rows, terms, columns = _sizes(draw, function, work, batch)
    form = COMPLEX[dtype] if dtype in COMPLEX and chance.random() < 0.2 else dtype
    kept, largest = _numbers(name, terms, columns)

    def factor(shape: t.Sequence[int], largest: int) -> torch.Tensor:
        numbers = draw.sparse(shape, largest, kept, dtype)
        return draw.lay(torch.complex(numbers, draw.sparse(shape, 1, kept, dtype)) if form.is_complex else numbers)[1]

    x, y = factor((batch, rows, terms), largest), factor((batch, terms, columns), 1)
    if math.isnan(draw.fill) and chance.random() < SPECIAL and columns and not form.is_complex:
        # The first row of each product is NaN or infinite, and no other.
        number = chance.choice((math.nan, math.nan if _loses_infinity(draw, dtype) else math.inf))
        x[:, :1, :1], y[:, :1] = number, 1
        draw.conditions.append(f"{number} in the first row")
    if batch > 1 and chance.random() < 0.25:
        # Each product of the batch has the same matrix as its first or second factor.
        x, y = (x[:1].expand_as(x), y) if chance.random() < 0.5 else (x, y[:1].expand_as(y))
    alpha, beta = chance.choice(SCALES) if "add" in function else (1, int("row" in function))
    shapes = (1, 1, columns), (batch, rows, columns), (1, rows, 1), (1, 1, 1)
    memory, z = draw.lay(draw.integers(shapes[0] if "row" in function else chance.choice(shapes), -2, 2, form))
    if table is WRITTEN:
        memory, z = draw.lay(x.new_zeros(batch, rows, columns))
    elif beta == 0:
        # It is not added, so that it must not be read.
        z.fill_(torch.nan)
    case = f"{function}, {batch:,} of {rows:,} x {terms:,} x {columns:,}, {form}, {alpha} {beta}"
    case = f"{case}, {', '.join(draw.conditions)}{suffix}".replace("torch.", "")
    with draws.cases.offered(f"{function} in {form}".replace("torch.", "")):
        result = table[function](x, y, z, alpha, beta).reshape(batch, rows, columns)
        wide = torch.complex128 if form.is_complex else torch.float64
        vector = draw.integers((columns,), 1, LARGEST_OF_VECTOR, wide)
        of_right = (y.to(wide) * vector).sum(-1)
        expected = alpha * (x.to(wide) * of_right.unsqueeze(-2)).sum(-1)
        if beta:
            expected = expected + beta * (z.to(wide).expand(batch, rows, columns) * vector).sum(-1)
        draws.compare(case, (result.to(wide) * vector).sum(-1), expected)
        if table is WRITTEN and math.isnan(draw.fill):
            around = memory.isnan().sum() - result.isnan().sum()
            draws.expect(f"{case}, around the result", around == memory.numel() - z.numel())
