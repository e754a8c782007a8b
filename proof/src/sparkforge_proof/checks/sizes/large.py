"""Check sizes at which kernels change: 32-bit indices, a grid of 65,535, vocabularies, sums that exceed their format.

Nearly all inputs are small integers whose sums, means, roots and quotients are exact in the tested format. A result is
therefore either right or wrong, regardless of the order of summation, and no bound can hide a missing row.
"""

from __future__ import annotations

import contextlib
import math
import typing as t

from ...check import SEEN, X86_CPU_GRID, Context, Measured, Skipped, check
from ..bounds import Cases, functional as f, gradients, one_thread, torch
from ..data import tensors

#: The number of entries in a row; models released in 2025 have vocabularies of up to 262,144.
VOCABULARY = 262_147
#: A number above 2^31 that is not a multiple of any block size.
ELEMENTS = 2**31 + 4_099
#: The blocks of a row with more elements than float32 can count, and the size of each.
BLOCKS, BLOCK = 9_977, 1_682
LONG = BLOCKS * BLOCK
#: Reductions that integers do not have.
OF_FLOATS = ("mean nanmean", "var", "std", "norm", "logsumexp")
FORMATS = ("float32", "float16", "bfloat16")

REMEDY = (
    "Use another stack, or rebuild this one from clean sources; until then stay below the named size: the other "
    "families check smaller ones."
)


def integers(context: Context, stream: str, shape: t.Sequence[int], low: int = -2, high: int = 3) -> torch.Tensor:
    """Return random integers from ``low`` to below ``high`` as float64."""
    return torch.randint(low, high, tuple(shape), generator=context.generator(f"sizes {stream}")).double()


def require(context: Context, needed: int, subject: str) -> None:
    """Skip a test that needs more than the allowed share of memory.

    :raises Skipped: if there is not enough memory; the message gives the missing amount.
    """
    available = torch.cuda.mem_get_info()[0] if context.device == "cuda" else tensors._meminfo()
    share = float(context.limits["memory_share"])
    if available * share < needed:
        missing = needed - int(available * share)
        raise Skipped(
            f"{subject} takes {needed / 2**30:.1f} GiB, which is {missing / 2**30:.1f} GiB more than {share:g} of the"
            f" {available / 2**30:.1f} GiB that are available."
        )


@check("sizes.elements", devices=("cuda", "cpu"), seconds=300, measured=SEEN)
def elements(context: Context) -> Measured:
    """Check tensors with more than 2^31 elements: a value written beyond 2^31 arrives there, and nowhere else."""
    cases = Cases(f"a tensor of {ELEMENTS:,} elements", REMEDY)
    require(context, int(2.2 * ELEMENTS), "A tensor of that size, twice,")
    # Test both ends, and the elements that an overflowing index of 31 or 32 bits would hit.
    positions = [0, 5, 4_098, 2**30, 2**31 - 1, 2**31, 2**31 + 5, ELEMENTS - 1]
    marks = torch.tensor([11, 12, 13, 14, 15, 16, 17, 18], dtype=torch.int8)
    index = torch.tensor(positions, device=context.device)
    values = torch.zeros(ELEMENTS, dtype=torch.int8, device=context.device)
    values[index] = marks.to(context.device)
    cases.exactly("written and read by index", values[index], marks)
    for position, mark in zip(positions, marks):
        cases.exactly(f"element {position:,} by itself", values[position], mark)
    cases.exactly("how many are not zero", values.count_nonzero(), torch.tensor(len(positions)))
    copied = values.clone()
    cases.exactly("copy", copied[index], marks)
    if context.device == "cpu":
        # Each additional pass takes seconds on a CPU, and uses the same loops.
        return cases.result()
    cases.exactly("sum", values.sum(dtype=torch.int64), marks.sum(dtype=torch.int64))
    cases.exactly("index of the largest", values.argmax(), torch.tensor(ELEMENTS - 1))
    copied.add_(1)
    cases.exactly("one added to each", copied.sum(dtype=torch.int64), marks.sum(dtype=torch.int64) + ELEMENTS)
    cases.exactly("one added at the marks", copied[index], marks + 1)
    copied = values.flip(0)
    cases.exactly("flipped", copied[ELEMENTS - 1 - index], marks)
    rows = values[: ELEMENTS // 1024 * 1024].view(-1, 1024)
    last = torch.tensor([0, rows.shape[0] - 1], device=context.device)
    cases.exactly("rows by index", rows.index_select(0, last), torch.stack([rows[0], rows[-1]]))
    del copied
    transposed = rows.t().contiguous()
    for position in (5, 2**31 - 1, 2**31 + 5):
        cases.exactly(
            f"element {position:,} transposed", transposed[position % 1024, position // 1024], values[position]
        )
    cases.exactly("sum transposed", transposed.sum(dtype=torch.int64), rows.sum(dtype=torch.int64))
    del transposed, values
    _compare_large_product(cases, context)
    return cases.result()


def _compare_large_product(cases: Cases, context: Context) -> None:
    """Compare parts of a matrix product whose result has more than 2^31 elements."""
    side, depth = 46_400, 16
    try:
        require(context, 5 * side * side, "A matrix product of that size")
    except Skipped:
        return
    left, right = (integers(context, f"beyond {name}", (side, depth)) for name in ("left", "right"))
    product = left.to(context.device, torch.bfloat16) @ right.to(context.device, torch.bfloat16).t()
    for start in (0, side // 2, side - 64):
        rows, columns = slice(start, start + 64), slice(side - 64, side)
        cases.exactly(f"matrix product, rows from {start:,}", product[rows, columns], left[rows] @ right[columns].t())


@check("sizes.reductions", devices=("cuda", "cpu"), seconds=120, measured=(X86_CPU_GRID,))
def reductions(context: Context) -> Measured:
    """Reduce one dimension of more than 2^24 elements; the reference first reduces blocks of it in float64."""
    cases = Cases(f"a reduction of {LONG:,} elements", REMEDY)
    require(context, 40 * LONG, "A row of that size")
    values, factors = integers(context, "long", (LONG,)), torch.ones(LONG)
    values[[LONG // 3, LONG - 9, LONG - 5]] = torch.tensor([5.0, -7.0, 7.0]).double()
    factors[:: LONG // 6] = 2
    blocks = values.view(BLOCKS, BLOCK)
    sums, squares = blocks.sum(1), blocks.square().sum(1).sum()
    total = sums.sum()
    variance = (squares - total**2 / LONG) / (LONG - 1)
    exact = {
        "sum nansum": total, "mean nanmean": total / LONG, "var": variance, "std": variance.sqrt(),
        "norm": squares.sqrt(), "logsumexp": blocks.logsumexp(1).logsumexp(0), "prod": 2.0**7,
        "count_nonzero": (blocks != 0).sum(1).sum(), "cumsum": sums.cumsum(0), "argmax": LONG - 5, "argmin": LONG - 9,
        "amax max": 7.0, "amin min": -7.0, "cummax": blocks.amax(1).cummax(0)[0], "all": 0.0, "any": 1.0,
        "cummin": blocks.amin(1).cummin(0)[0],
    }  # fmt: skip
    for form in ("float32", "bfloat16", "int8"):
        dtype = getattr(torch, form)
        on_device, factors_on_device = (row.to(context.device, dtype) for row in (values, factors))
        for names, expected in exact.items():
            # A running sum in bfloat16 is rounded at each step.
            if form == "bfloat16" and names == "cumsum":
                continue
            if form == "int8" and names in OF_FLOATS:
                continue
            for name in names.split():
                actual = getattr(factors_on_device if name == "prod" else on_device, name)(dim=0)
                # Extrema along a dimension come with their indices.
                actual = actual[0] if isinstance(actual, tuple) else actual
                unit = torch.finfo(actual.dtype).eps if actual.is_floating_point() else 0.0
                ends = actual[BLOCK - 1 :: BLOCK] if actual.dim() else actual
                result = torch.as_tensor(expected, dtype=torch.float64)
                cases.compare(f"{name}, {form}", ends, result, 16 * unit * result.abs())
    return cases.result()


@check("sizes.vocabulary", devices=("cuda", "cpu"), seconds=300, measured=SEEN)
def vocabulary(context: Context) -> Measured:
    """Check rows of 262,147 entries: softmax, the loss and its gradient, the largest entry, sums and tables."""
    cases = Cases(f"a row of {VOCABULARY:,}", REMEDY)
    for form in FORMATS:
        dtype = getattr(torch, form)
        # In each row a power of two of the logits, spread over the row, are zero; the others are minus infinity.
        counts = [2**power for power in (0, 3, 10, 16, 17)]
        logits = torch.full((len(counts), VOCABULARY), -math.inf)
        for row, count in enumerate(counts):
            logits[row, torch.linspace(0, VOCABULARY - 1, count).round().long()] = 0.0
        logits_on_device = logits.to(context.device, dtype).requires_grad_()
        share = (logits == 0).double() / torch.tensor(counts).double().view(-1, 1)
        cases.exactly(f"softmax, {form}", f.softmax(logits_on_device, -1), share)
        size = torch.tensor(counts).double().log()
        # The logarithm may be off by a few units in the last place.
        unit = torch.finfo(dtype).eps * 4
        # In logsumexp and, on a CPU, in log_softmax, torch sums float16 in float16, up to 65,504.
        rows = sum(count < 2**16 for count in counts) if form == "float16" else len(counts)
        cases.compare(
            f"logsumexp, {form}", logits_on_device[:rows].logsumexp(-1), size[:rows], unit * (size[:rows] + 1)
        )
        rows = rows if context.device == "cpu" else len(counts)
        logits_on_device, size, share = logits_on_device[:rows].detach().requires_grad_(), size[:rows], share[:rows]
        target = torch.zeros(rows, dtype=torch.long, device=context.device)
        loss = f.cross_entropy(logits_on_device, target, reduction="none")
        cases.compare(f"cross entropy, {form}", loss, size, unit * (size + 1))
        (gradient,) = gradients(loss, (logits_on_device,), torch.ones_like(loss))
        expected = share.clone()
        expected[:, 0] -= 1
        # The exponential of a logarithm that is rounded to the format has an error proportional to the logarithm.
        cases.compare(
            f"gradient of cross entropy, {form}", gradient, expected, 16 * unit * share + unit * expected.abs() + 1e-30
        )
        _compare_row(cases, context, form, dtype)
    return cases.result()


def _compare_row(cases: Cases, context: Context, form: str, dtype: torch.dtype) -> None:
    """Compare operators on a complete row, or on a table with as many rows."""
    row = integers(context, "row", (2, VOCABULARY), -1, 2)
    positions = torch.tensor([[VOCABULARY - 2, 65_536, 7], [131_072, VOCABULARY - 1, 65_535]])
    for rank, value in enumerate((5.0, 4.0, 3.0)):
        row.scatter_(1, positions[:, rank : rank + 1], value)
    on_device = row.to(context.device, dtype)
    top = on_device.topk(3)
    cases.exactly(f"the three largest, {form}", top[0], torch.tensor([[5.0, 4.0, 3.0]] * 2))
    cases.exactly(f"where the three largest are, {form}", top[1], positions)
    cases.exactly(f"where the largest is, {form}", on_device.argmax(-1), positions[:, 0])
    cases.exactly(f"sorted, {form}", on_device.sort(-1)[0][:, [0, -3, -2, -1]], row.sort(-1)[0][:, [0, -3, -2, -1]])
    if dtype is torch.float32:
        cases.exactly("running sum", on_device.cumsum(-1), row.cumsum(-1))
    cases.exactly(f"sum, {form}", on_device.sum(-1, dtype=torch.float32), row.sum(-1))
    table = integers(context, "table", (VOCABULARY, 16))
    tokens = positions.flatten()
    weight = table.to(context.device, dtype).requires_grad_()
    embedded = f.embedding(tokens.to(context.device), weight)
    cases.exactly(f"table, {form}", embedded, table[tokens])
    (gradient,) = gradients(embedded, (weight,), torch.ones_like(embedded))
    expected = torch.zeros_like(table)
    expected[tokens] = 1
    cases.exactly(f"gradient of the table, {form}", gradient, expected)
    states = integers(context, "states", (7, 16))
    product = f.linear(states.to(context.device, dtype), weight.detach())
    cases.exactly(f"projection, {form}", product, states @ table.t())


@check("sizes.sums", devices=("cuda", "cpu"), measured=SEEN)
def sums(context: Context) -> Measured:
    """Check sums that temporarily exceed the format, so that they need a wider one, and a product of many factors."""
    # On the CPU, torch keeps each thread's partial sum in the format, so with two threads it overflows (2.13).
    with one_thread() if context.device == "cpu" else contextlib.nullcontext():
        return _compare_sums(context)


def _compare_sums(context: Context) -> Measured:
    cases = Cases("a sum beyond its format", REMEDY)
    half, count = 2**16, 2**17
    turns = torch.cat([torch.full((half,), 8.0), torch.full((half - 64,), -8.0)]).double()
    for form in ("float16", "bfloat16"):
        dtype = getattr(torch, form)

        def move(values: torch.Tensor, dtype: torch.dtype = dtype) -> torch.Tensor:
            return values.to(context.device, dtype)

        on_device, ones = move(turns), move(torch.ones(count))
        exact = {
            "sum that comes back": (on_device.sum(), 512.0),
            "sum of rows that comes back": (on_device.expand(3, -1).contiguous().sum(1), [512.0] * 3),
            "sum of columns that comes back": (on_device.view(-1, 1).expand(-1, 3).contiguous().sum(0), [512.0] * 3),
            "mean of ones": (ones.mean(), 1.0),
            "norm": (move(torch.full((4,), 256.0)).norm(), 512.0),
            "inner product": (
                move(torch.tensor([[256.0] * 8 + [-256.0] * 8])) @ move(torch.full((16, 1), 256.0)),
                [[0.0]],
            ),
            "layer_norm": (f.layer_norm(move(torch.tensor([[512.0, -512.0] * 64])), (128,)), [[1.0, -1.0] * 64]),
            "softmax": (f.softmax(move(torch.tensor([60000.0, 60000.0, -60000.0])), -1), [0.5, 0.5, 0.0]),
        }
        if form == "bfloat16":
            exact["sum of ones"] = (ones.sum(), float(count))
        for name, (actual, expected) in exact.items():
            cases.exactly(f"{name}, {form}", actual, torch.tensor(expected))
        variance = torch.tensor(2.0**14, dtype=torch.float64)
        actual = move(torch.tensor([128.0, -128.0] * 500)).var(correction=0)
        cases.compare(f"variance, {form}", actual, variance, 2 * torch.finfo(dtype).eps * variance)
    # The products of the survey's inputs are mostly zero or infinite.
    factors = 1 + torch.rand(64, generator=context.generator("product")) / 64
    product = factors.double().prod()
    cases.compare("product", factors.to(context.device).prod(), product, 64 * 2.0**-24 * product)
    large = torch.full((70_000,), 60_000, dtype=torch.int32, device=context.device)
    cases.exactly("sum of int32", large.sum(), torch.tensor(70_000 * 60_000))
    cases.exactly("running sum of int32", large.cumsum(0)[-1], torch.tensor(70_000 * 60_000))
    small = torch.full((3000,), 100, dtype=torch.int8, device=context.device)
    cases.exactly("sum of int8", small.sum(), torch.tensor(300_000))
    cases.exactly("sum of truth values", (small > 0).expand(100, -1).sum(), torch.tensor(300_000))
    return cases.result()
