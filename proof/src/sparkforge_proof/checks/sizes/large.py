# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sizes at which kernels take other ways: 32-bit indexes, a grid's 65,535, vocabularies, sums that leave their format.

Nearly all inputs are small whole numbers, and every sum, mean, root and quotient of them is a number of the format that
is tested. So a result is right or wrong, whatever the order of its sums, and no bound hides a row that is missing.
"""

from __future__ import annotations

import contextlib
import math
import typing as t

from ...check import SEEN, Context, Measured, Skipped, check
from ..bounds import Cases, gradients, one_thread, torch
from ..data import tensors

#: Entries of a row: the vocabularies of 2025's models have up to 262,144.
VOCABULARY = 262_147
#: Above what 31 bits count, and no multiple of anything.
ELEMENTS = 2**31 + 4_099
FORMATS = ("float32", "float16", "bfloat16")

REMEDY = (
    "Use another stack, or rebuild this one from clean sources; until then stay below the named size: the other "
    "families check smaller ones."
)


def whole_numbers(context: Context, words: str, shape: t.Sequence[int], low: int = -2, high: int = 3) -> torch.Tensor:
    """Return whole numbers from ``low`` to below ``high``, as float64."""
    return torch.randint(low, high, tuple(shape), generator=context.generator(f"sizes {words}")).double()


def require(context: Context, needed: int, what: str) -> None:
    """Skip what does not fit into the share of memory that may be taken.

    :raises Skipped: naming what is missing.
    """
    available = torch.cuda.mem_get_info()[0] if context.device == "cuda" else tensors._meminfo()
    share = float(context.limits["memory_share"])
    if available * share < needed:
        missing = needed - int(available * share)
        raise Skipped(
            f"{what} takes {needed / 2**30:.1f} GiB, which is {missing / 2**30:.1f} GiB more than {share:g} of the"
            f" {available / 2**30:.1f} GiB that are available."
        )


@check("sizes.elements", devices=("cuda", "cpu"), seconds=300, measured=SEEN)
def elements(context: Context) -> Measured:
    """More than 2^31 elements: what is written beyond arrives there, and nowhere else."""
    cases = Cases(f"a tensor of {ELEMENTS:,} elements", REMEDY)
    require(context, int(2.2 * ELEMENTS), "A tensor of that size, twice,")
    # Beside the ends, what an index of 31 or 32 bits turns them into.
    places = [0, 5, 4_098, 2**30, 2**31 - 1, 2**31, 2**31 + 5, ELEMENTS - 1]
    marks = torch.tensor([11, 12, 13, 14, 15, 16, 17, 18], dtype=torch.int8)
    where = torch.tensor(places, device=context.device)
    values = torch.zeros(ELEMENTS, dtype=torch.int8, device=context.device)
    values[where] = marks.to(context.device)
    cases.exactly("written and read by index", values[where], marks)
    for place, mark in zip(places, marks):
        cases.exactly(f"element {place:,} by itself", values[place], mark)
    cases.exactly("how many are not zero", values.count_nonzero(), torch.tensor(len(places)))
    copied = values.clone()
    cases.exactly("copy", copied[where], marks)
    if context.device == "cpu":
        # Each further pass takes seconds there, and shares its loops with these.
        return cases.result()
    cases.exactly("sum", values.sum(dtype=torch.int64), marks.sum(dtype=torch.int64))
    cases.exactly("index of the largest", values.argmax(), torch.tensor(ELEMENTS - 1))
    copied.add_(1)
    cases.exactly("one added to each", copied.sum(dtype=torch.int64), marks.sum(dtype=torch.int64) + ELEMENTS)
    cases.exactly("one added at the marks", copied[where], marks + 1)
    copied = values.flip(0)
    cases.exactly("flipped", copied[ELEMENTS - 1 - where], marks)
    rows = values[: ELEMENTS // 1024 * 1024].view(-1, 1024)
    last = torch.tensor([0, rows.shape[0] - 1], device=context.device)
    cases.exactly("rows by index", rows.index_select(0, last), torch.stack([rows[0], rows[-1]]))
    del copied
    turned = rows.t().contiguous()
    for place in (5, 2**31 - 1, 2**31 + 5):
        cases.exactly(f"element {place:,} transposed", turned[place % 1024, place // 1024], values[place])
    cases.exactly("sum transposed", turned.sum(dtype=torch.int64), rows.sum(dtype=torch.int64))
    del turned, values
    _product_beyond(cases, context)
    return cases.result()


def _product_beyond(cases: Cases, context: Context) -> None:
    """Compare places of a matrix product whose result has more than 2^31 elements."""
    side, depth = 46_400, 16
    try:
        require(context, 5 * side * side, "A matrix product of that size")
    except Skipped:
        return
    left, right = (whole_numbers(context, f"beyond {name}", (side, depth)) for name in ("left", "right"))
    found = left.to(context.device, torch.bfloat16) @ right.to(context.device, torch.bfloat16).t()
    for start in (0, side // 2, side - 64):
        rows, columns = slice(start, start + 64), slice(side - 64, side)
        cases.exactly(f"matrix product, rows from {start:,}", found[rows, columns], left[rows] @ right[columns].t())


@check("sizes.vocabulary", devices=("cuda", "cpu"), seconds=300, measured=SEEN)
def vocabulary(context: Context) -> Measured:
    """Rows of 262,147: softmax, the loss, its gradient, the largest, sums and tables."""
    import torch.nn.functional as f

    cases = Cases(f"a row of {VOCABULARY:,}", REMEDY)
    for form in FORMATS:
        dtype = getattr(torch, form)
        # A power of two of them is zero, from all over the row, and the rest can be nothing.
        kept = [2**power for power in (0, 3, 10, 16, 17)]
        logits = torch.full((len(kept), VOCABULARY), -math.inf)
        for row, count in enumerate(kept):
            logits[row, torch.linspace(0, VOCABULARY - 1, count).round().long()] = 0.0
        given = logits.to(context.device, dtype).requires_grad_()
        share = (logits == 0).double() / torch.tensor(kept).double().view(-1, 1)
        cases.exactly(f"softmax, {form}", f.softmax(given, -1), share)
        size = torch.tensor(kept).double().log()
        # Of the logarithm a few units in the last place.
        unit = torch.finfo(dtype).eps * 4
        # In float16 torch's logsumexp anywhere, and its log_softmax on a CPU, keep the sum in float16: up to 65,504.
        rows = sum(count < 2**16 for count in kept) if form == "float16" else len(kept)
        cases.compare(f"logsumexp, {form}", given[:rows].logsumexp(-1), size[:rows], unit * (size[:rows] + 1))
        rows = rows if context.device == "cpu" else len(kept)
        given, size, share = given[:rows].detach().requires_grad_(), size[:rows], share[:rows]
        target = torch.zeros(rows, dtype=torch.long, device=context.device)
        loss = f.cross_entropy(given, target, reduction="none")
        cases.compare(f"cross entropy, {form}", loss, size, unit * (size + 1))
        (gradient,) = gradients(loss, (given,), torch.ones_like(loss))
        wanted = share.clone()
        wanted[:, 0] -= 1
        # exp() of a logarithm that is rounded to the format: as far off as that is large.
        cases.compare(
            f"gradient of cross entropy, {form}", gradient, wanted, 16 * unit * share + unit * wanted.abs() + 1e-30
        )
        _one_row(cases, context, form, dtype)
    return cases.result()


def _one_row(cases: Cases, context: Context, form: str, dtype: torch.dtype) -> None:
    """Compare what takes a whole row, or a table of as many rows."""
    import torch.nn.functional as f

    row = whole_numbers(context, "row", (2, VOCABULARY), -1, 2)
    places = torch.tensor([[VOCABULARY - 2, 65_536, 7], [131_072, VOCABULARY - 1, 65_535]])
    for rank, value in enumerate((5.0, 4.0, 3.0)):
        row.scatter_(1, places[:, rank : rank + 1], value)
    given = row.to(context.device, dtype)
    top = given.topk(3)
    cases.exactly(f"the three largest, {form}", top[0], torch.tensor([[5.0, 4.0, 3.0]] * 2))
    cases.exactly(f"where the three largest are, {form}", top[1], places)
    cases.exactly(f"where the largest is, {form}", given.argmax(-1), places[:, 0])
    cases.exactly(f"sorted, {form}", given.sort(-1)[0][:, [0, -3, -2, -1]], row.sort(-1)[0][:, [0, -3, -2, -1]])
    if dtype is torch.float32:
        cases.exactly("running sum", given.cumsum(-1), row.cumsum(-1))
    cases.exactly(f"sum, {form}", given.sum(-1, dtype=torch.float32), row.sum(-1))
    table = whole_numbers(context, "table", (VOCABULARY, 16))
    words = places.flatten()
    weight = table.to(context.device, dtype).requires_grad_()
    found = f.embedding(words.to(context.device), weight)
    cases.exactly(f"table, {form}", found, table[words])
    (gradient,) = gradients(found, (weight,), torch.ones_like(found))
    wanted = torch.zeros_like(table)
    wanted[words] = 1
    cases.exactly(f"gradient of the table, {form}", gradient, wanted)
    states = whole_numbers(context, "states", (7, 16))
    product = f.linear(states.to(context.device, dtype), weight.detach())
    cases.exactly(f"projection, {form}", product, states @ table.t())


@check("sizes.sums", devices=("cuda", "cpu"), measured=SEEN)
def sums(context: Context) -> Measured:
    """Sums that leave the format on their way and come back: they are kept in a wider one. And a product of many."""
    # On the CPU torch keeps what each thread has summed in the format itself, so that two threads leave it (2.13).
    with one_thread() if context.device == "cpu" else contextlib.nullcontext():
        return _sums(context)


def _sums(context: Context) -> Measured:
    import torch.nn.functional as f

    cases = Cases("a sum beyond its format", REMEDY)
    half, count = 2**16, 2**17
    turns = torch.cat([torch.full((half,), 8.0), torch.full((half - 64,), -8.0)]).double()
    for form in ("float16", "bfloat16"):
        dtype = getattr(torch, form)

        def put(values: torch.Tensor, dtype: torch.dtype = dtype) -> torch.Tensor:
            return values.to(context.device, dtype)

        there, ones = put(turns), put(torch.ones(count))
        exact = {
            "sum that comes back": (there.sum(), 512.0),
            "sum of rows that comes back": (there.expand(3, -1).contiguous().sum(1), [512.0] * 3),
            "sum of columns that comes back": (there.view(-1, 1).expand(-1, 3).contiguous().sum(0), [512.0] * 3),
            "mean of ones": (ones.mean(), 1.0),
            "norm": (put(torch.full((4,), 256.0)).norm(), 512.0),
            "inner product": (
                put(torch.tensor([[256.0] * 8 + [-256.0] * 8])) @ put(torch.full((16, 1), 256.0)),
                [[0.0]],
            ),
            "layer_norm": (f.layer_norm(put(torch.tensor([[512.0, -512.0] * 64])), (128,)), [[1.0, -1.0] * 64]),
            "softmax": (f.softmax(put(torch.tensor([60000.0, 60000.0, -60000.0])), -1), [0.5, 0.5, 0.0]),
        }
        if form == "bfloat16":
            exact["sum of ones"] = (ones.sum(), float(count))
        for name, (found, wanted) in exact.items():
            cases.exactly(f"{name}, {form}", found, torch.tensor(wanted))
        variance = torch.tensor(2.0**14, dtype=torch.float64)
        found = put(torch.tensor([128.0, -128.0] * 500)).var(correction=0)
        cases.compare(f"variance, {form}", found, variance, 2 * torch.finfo(dtype).eps * variance)
    # Most products of the survey's inputs are zero or infinite.
    near = 1 + torch.rand(64, generator=context.generator("product")) / 64
    product = near.double().prod()
    cases.compare("product", near.to(context.device).prod(), product, 64 * 2.0**-24 * product)
    whole = torch.full((70_000,), 60_000, dtype=torch.int32, device=context.device)
    cases.exactly("sum of int32", whole.sum(), torch.tensor(70_000 * 60_000))
    cases.exactly("running sum of int32", whole.cumsum(0)[-1], torch.tensor(70_000 * 60_000))
    small = torch.full((3000,), 100, dtype=torch.int8, device=context.device)
    cases.exactly("sum of int8", small.sum(), torch.tensor(300_000))
    cases.exactly("sum of truth values", (small > 0).expand(100, -1).sum(), torch.tensor(300_000))
    return cases.result()
