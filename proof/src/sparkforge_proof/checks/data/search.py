# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Orders by length: sorting and its stability, the largest and smallest k, medians.

Nothing rounds: every case is exact, against the same in float64 on the CPU or Python's own sorting.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_ARM, Context, Measured, check
from ..bounds import Cases, around_powers

if t.TYPE_CHECKING:
    import torch

REMEDY = "Do not compute with this stack: it finds what is not there; use another torch."
FORMATS = ("float32", "int64", "bfloat16", "uint8", "float16", "int32", "float64", "int16", "int8")
LENGTHS = {"cuda": [*around_powers(13), 2**16 + 1, 10**5, 2**18 + 3, 2**20 + 7], "cpu": [*around_powers(11), 2**15 + 1]}


@check("search.orders", devices=("cuda", "cpu"), measured=SEEN_ARM)
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
