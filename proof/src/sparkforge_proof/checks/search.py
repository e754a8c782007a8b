# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orders and searches: sorting and its stability, the largest k, places in sorted rows, what is unique, histograms.

Nothing rounds: every case is exact, against the same in float64 on the CPU or Python's own sorting.
"""

from __future__ import annotations

import math
import typing as t

from ..check import H100_2_11, X86_CPU, Context, Measured, check
from .bounds import Cases, around_powers

if t.TYPE_CHECKING:
    import torch

REMEDY = "Do not compute with this stack: it finds what is not there; use another torch."
FORMATS = ("float32", "int64", "bfloat16", "uint8", "float16", "int32", "float64", "int16", "int8")
LENGTHS = {"cuda": [*around_powers(13), 2**16 + 1, 10**5, 2**18 + 3, 2**20 + 7], "cpu": [*around_powers(11), 2**15 + 1]}


@check("search.orders", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def orders(context: Context) -> Measured:
    """Sorting, stable and not, the largest and smallest k, medians, k-th values, over lengths and formats."""
    import torch

    cases = Cases("an order", REMEDY)
    device = context.device
    for number, length in enumerate(LENGTHS[device]):
        if not length:
            continue
        generator = context.generator(f"search orders {length}")
        form = FORMATS[number % len(FORMATS)]
        few = torch.randint(0, min(length, 7) + 1, (3, length), generator=generator).double()
        many = torch.randint(0 if form == "uint8" else -100, 101, (3, length), generator=generator).double()
        for words, exact in (("many equal", few), ("few equal", many)):
            there = exact.to(getattr(torch, form)).to(device)
            case = f"{length:,} of {form}, {words}"
            for descending in (False, True):
                wanted = exact.sort(dim=1, stable=True, descending=descending)
                down = ", descending" if descending else ""
                found = there.sort(dim=1, stable=True, descending=descending)
                cases.exactly(f"sort {case}{down}", found[0], wanted[0])
                cases.exactly(f"stable places {case}{down}", found[1], wanted[1])
                places = there.argsort(dim=1, descending=descending, stable=True)
                cases.exactly(f"argsort {case}{down}", places, wanted[1])
                columns = there.t().contiguous().sort(dim=0, stable=True, descending=descending)
                cases.exactly(f"sort of columns {case}{down}", columns[1].t(), wanted[1])
                plain = there.sort(1, descending=descending)
                cases.exactly(f"plain sort {case}{down}", plain[0], wanted[0])
                cases.exactly(f"plain places {case}{down}", there.gather(1, plain[1]), wanted[0])
            _largest(cases, case, there, exact)
        _distinct_places(cases, context, length)
    return cases.result()


def _largest(cases: Cases, case: str, there: torch.Tensor, exact: torch.Tensor) -> None:
    """The largest and smallest k for k up to all of them, and the value in the middle."""
    import torch

    length = exact.shape[1]
    down = exact.sort(1, descending=True)[0]
    up = exact.sort(1)[0]
    for k in sorted({1, 2, 16, 17, 33, 64, 129, 1024, 1025, 2048, 2049, length // 2 or 1, length - 1 or 1, length}):
        if k > length:
            continue
        for largest, wanted in ((True, down[:, :k]), (False, up[:, :k])):
            words = f"{'largest' if largest else 'smallest'} {k:,} of {case}"
            values, places = there.topk(k, 1, largest=largest)
            cases.exactly(words, values, wanted)
            cases.exactly(f"{words}, their places", there.gather(1, places), wanted)
            cases.exactly(f"{words}, each once", places.sort(1)[0].diff(dim=1) > 0, torch.ones(3, k - 1).bool())
            loose = there.topk(k, 1, largest=largest, sorted=False)[0]
            cases.exactly(f"{words}, in any order", loose.sort(1, descending=largest)[0], wanted)
        if there.dtype is not torch.bool:
            values, places = there.kthvalue(k, 1)
            cases.exactly(f"the {k:,}th of {case}", values, up[:, k - 1])
            cases.exactly(f"the {k:,}th of {case}, its place", there.gather(1, places[:, None])[:, 0], up[:, k - 1])
    values, places = there.median(1)
    cases.exactly(f"the median of {case}", values, up[:, (length - 1) // 2])
    cases.exactly(f"the median of {case}, its place", there.gather(1, places[:, None])[:, 0], up[:, (length - 1) // 2])
    cases.exactly(f"the largest of {case}", there.amax(1), down[:, 0])
    cases.exactly(f"the largest of {case}, its place", there.argmax(1), exact.argmax(1))
    cases.exactly(f"the smallest of {case}, its place", there.argmin(1), exact.argmin(1))
    cases.exactly(f"running largest of {case}", there.cummax(1)[0], exact.cummax(1)[0])
    cases.exactly(f"running smallest of {case}", there.cummin(1)[0], exact.cummin(1)[0])


def _distinct_places(cases: Cases, context: Context, length: int) -> None:
    """Distinct values, and NaN, which comes last."""
    import torch

    order = torch.randperm(length, generator=context.generator(f"search distinct {length}")).double()
    for form in ("float32", "int32"):
        there = order.to(getattr(torch, form)).to(context.device)
        places = there.argsort()
        cases.exactly(f"argsort of {length:,} distinct of {form}", order[places.cpu()], torch.arange(length).double())
        cases.exactly(f"msort of {length:,} of {form}", there.msort(), torch.arange(length))
    with_nan = order.clone()
    with_nan[0] = math.nan
    values = with_nan.float().to(context.device).sort()[0]
    cases.exactly(f"NaN among {length:,}, last", values.isnan(), torch.arange(length) == length - 1)
    cases.exactly(f"NaN among {length:,}, the others", values[:-1], order[1:].sort()[0])


@check("search.places", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def places(context: Context) -> Measured:
    """searchsorted, bucketize, unique, isin, bincount, histograms and quantiles, with all their options."""
    import torch

    cases = Cases("a search", REMEDY)
    device = context.device
    for number, length in enumerate(LENGTHS[device]):
        if not length:
            continue
        generator = context.generator(f"search places {length}")
        form = FORMATS[number % len(FORMATS)]
        dtype = getattr(torch, form)
        low, high = (0, 250) if form == "uint8" else (-120, 121)
        exact = torch.randint(low, high, (2, length), generator=generator).double()
        rows = exact.sort(1)[0]
        wanted_values = torch.randint(low, high, (2, 257), generator=generator).double()
        wanted_values[:, 0], wanted_values[:, 1], wanted_values[:, 2:4] = low, high - 1, rows[:, :1]
        there, sorted_rows, values = (x.to(dtype).to(device) for x in (exact, rows, wanted_values))
        case = f"{length:,} of {form}"
        for right in (False, True):
            true = torch.searchsorted(rows, wanted_values, right=right)
            # By counting, as the definition says.
            counted = true
            if length < 5000:
                each = rows[:, None], wanted_values[..., None]
                counted = ((each[0] <= each[1]) if right else (each[0] < each[1])).sum(-1)
            found = torch.searchsorted(sorted_rows, values, right=right)
            cases.exactly(f"searchsorted, {case}, right={right}", found, counted)
            found = torch.searchsorted(sorted_rows, values, side="right" if right else "left", out_int32=True)
            cases.exactly(f"searchsorted to int32, {case}, right={right}", found, counted)
            order = there.argsort(1)
            cases.exactly(f"searchsorted of an order, {case}, right={right}",
                          torch.searchsorted(there, values, sorter=order, right=right), counted)  # fmt: skip
            cases.exactly(f"bucketize, {case}, right={right}", torch.bucketize(values, sorted_rows[0], right=right),
                          torch.bucketize(wanted_values, rows[0], right=right))  # fmt: skip
            turned = torch.bucketize(values.t(), sorted_rows[1], right=right)
            exact_turned = torch.bucketize(wanted_values.t(), rows[1], right=right)
            cases.exactly(f"bucketize of strided, {case}, right={right}", turned, exact_turned)
            one = torch.searchsorted(sorted_rows[0], values[0, 5], right=right)
            cases.exactly(
                f"searchsorted of one, {case}, right={right}",
                one,
                torch.searchsorted(rows[0], wanted_values[0, 5], right=right),
            )
        _unique(cases, case, there[0], exact[0])
        cases.exactly(f"isin, {case}", torch.isin(there, values[0, :9]), torch.isin(exact, wanted_values[0, :9]))
        cases.exactly(
            f"not isin, {case}",
            torch.isin(there, values[0], invert=True),
            torch.isin(exact, wanted_values[0], invert=True),
        )
        cases.exactly(f"nonzero, {case}", (there > 0).nonzero(), (exact > 0).nonzero())
        cases.exactly(f"count_nonzero, {case}", there.count_nonzero(1), exact.count_nonzero(1))
        if not dtype.is_floating_point:
            whole = (exact[0] - low).long()
            counts = torch.tensor([int((whole == n).sum()) for n in range(high - low)])
            cases.exactly(
                f"bincount, {case}",
                torch.bincount(whole.to(dtype if low == 0 else torch.int32).to(device), minlength=high - low),
                counts,
            )
            sums = torch.zeros(high - low, dtype=torch.float64).index_add_(0, whole, exact[1])
            cases.exactly(
                f"bincount by weight, {case}", torch.bincount(whole.to(device), exact[1].to(device), high - low), sums
            )
        if form in ("float32", "float64"):
            bins = torch.histc(there[0], 32, low, high)
            edges = torch.arange(33) * (high - low) / 32 + low
            inside = (
                ((exact[0, :, None] >= edges[:-1]) & (exact[0, :, None] < edges[1:])).sum(0)
                if length < 70_000
                else bins.cpu()
            )
            cases.exactly(f"histc, {case}", bins, inside)
            for q in (0.0, 0.25, 0.5, 1.0):
                place = q * (length - 1)
                below, part = int(place), place - int(place)
                above = min(below + 1, length - 1)
                true_value = rows[:, below] + part * (rows[:, above] - rows[:, below])
                if length < 2**20:
                    cases.compare(
                        f"quantile {q}, {case}", there.quantile(q, 1), true_value, 2.0**-21 * (true_value.abs() + 250)
                    )
    return cases.result()


def _unique(cases: Cases, case: str, there: torch.Tensor, exact: torch.Tensor) -> None:
    """Values once each, where they came from, and how many there were."""
    import torch

    values = sorted(set(exact.tolist()))
    known = {value: place for place, value in enumerate(values)}
    found, inverse, counts = torch.unique(there, return_inverse=True, return_counts=True)
    cases.exactly(f"unique, {case}", found, torch.tensor(values, dtype=torch.float64))
    back = torch.tensor([known[value] for value in exact.tolist()])
    cases.exactly(f"unique, from where, {case}", inverse, back)
    number = torch.zeros(len(values), dtype=torch.int64).index_add_(0, back, torch.ones_like(back))
    cases.exactly(f"unique, how many, {case}", counts, number)
    loose = torch.unique(there, sorted=False)
    cases.exactly(f"unique in any order, {case}", loose.sort()[0], torch.tensor(values, dtype=torch.float64))
    run, turned, lengths = torch.unique_consecutive(there, return_inverse=True, return_counts=True)
    starts = torch.cat([torch.ones(1).bool(), exact[1:] != exact[:-1]])
    cases.exactly(f"unique_consecutive, {case}", run, exact[starts])
    cases.exactly(f"unique_consecutive, from where, {case}", turned, starts.long().cumsum(0) - 1)
    edges = torch.cat([starts.nonzero()[:, 0], torch.tensor([len(exact)])])
    cases.exactly(f"unique_consecutive, how many, {case}", lengths, edges.diff())
    rows = (exact % 3)[: len(exact) // 2 * 2].reshape(-1, 2)
    if len(rows) and len(rows) < 5_000:
        given = (there.double() % 3)[: len(exact) // 2 * 2].reshape(-1, 2).to(there.dtype)
        wanted = sorted({tuple(row) for row in rows.tolist()})
        cases.exactly(f"unique rows, {case}", torch.unique(given, dim=0), torch.tensor(wanted, dtype=torch.float64))
