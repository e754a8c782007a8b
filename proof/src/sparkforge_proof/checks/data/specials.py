# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sums, means and products that leave their format on their way or for good.

Results are compared with those of float64 on the CPU: which are infinite and with which sign, and how large the others
are. NaN and subnormal numbers are asked of each operator by the survey.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_ARM, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases

if t.TYPE_CHECKING:
    import torch

REMEDY = "Do not compute with this stack: it hides what has gone wrong; use another torch."
Function = t.Callable[["torch.Tensor"], t.Any]


def kinds(values: torch.Tensor) -> torch.Tensor:
    """Return what each value is: 9 for NaN, -2 and 2 for the infinities, 0 for what is finite."""
    import torch

    value = values.detach().to("cpu", torch.float64)
    found = torch.where(torch.isinf(value), 2 * value.sign(), torch.zeros_like(value))
    return torch.where(torch.isnan(value), 9.0, found)


#: Operators whose sums torch adds up in the format itself on a CPU, between threads or altogether; see
#: docs/evidence/survey.md.
OF_ITS_FORMAT = (
    "sum",
    "sum of columns",
    "mean",
    "mean of columns",
    "log_softmax",
    "average pooling",
    "adaptive pooling",
)


@check("specials.overflow", devices=("cuda", "cpu"), measured=SEEN_ARM)
def overflow(context: Context) -> Measured:
    """16-bit sums, means and products that leave the format on their way or for good: finite where they are, else not.

    Bound: they are added in float32 and rounded once, 4 u.
    """
    import torch
    import torch.nn.functional as f

    cases = Cases("a result near the end of its format", REMEDY)
    for form in ("float16", "bfloat16"):
        dtype, unit = getattr(torch, form), UNIT_ROUNDOFF[form]
        largest = float(torch.finfo(dtype).max)
        # The range of bfloat16 is that of float32, in which it is added.
        for length in (2, 16, 257, 1024, 4099, 65537) if form == "float16" else ():
            share = largest / 4
            flat = torch.full((3, length), share, dtype=dtype)
            flat[1] = -share
            # They come back: as many below zero, in the second half.
            flat[2, length // 2 :] = -share
            if length % 2:
                flat[2, -1] = 0
            exact, there = flat.double(), flat.to(context.device)
            for name, function in _near_the_end(f, torch).items():
                if context.device == "cpu" and name in OF_ITS_FORMAT:
                    continue
                wanted = function(exact)
                limited = torch.where(wanted.abs() > largest, wanted.sign() * math.inf, wanted)
                found = function(there)
                case = f"{name}, {length} of {form}"
                cases.exactly(f"{case}, what is infinite", kinds(found), kinds(limited))
                inside = torch.isfinite(limited)
                bound = (4 * unit + (length * 2.0**-24)) * wanted[inside].abs() + unit * share * 2.0**-6
                cases.compare(case, found.cpu()[inside], wanted[inside], bound)
            wide = there.sum(1, dtype=torch.float32)
            cases.compare(
                f"sum in float32, {length} of {form}", wide, exact.sum(1), length * 2.0**-23 * exact.abs().sum(1)
            )
        side = torch.full((40, 64), math.sqrt(largest) / 4, dtype=dtype)
        product = side.double() @ side.double().t()
        found = side.to(context.device) @ side.to(context.device).t()
        cases.exactly(f"a matrix product beyond, {form}", kinds(found), torch.where(product > largest, 2.0, 0.0))
        less = side[:, :8]
        found = less.to(context.device) @ less.to(context.device).t()
        product = less.double() @ less.double().t()
        cases.compare(f"a matrix product below, {form}", found, product, 4 * unit * product)
    return cases.result()


def _near_the_end(f: t.Any, torch: t.Any) -> dict[str, Function]:
    return {
        "sum": lambda x: x.sum(1),
        "sum of columns": lambda x: x.t().contiguous().sum(0),
        "mean": lambda x: x.mean(1),
        "mean of columns": lambda x: x.t().contiguous().mean(0),
        "running sums": lambda x: x[2:].cumsum(1)[:, :3],
        "largest norm": lambda x: torch.linalg.vector_norm(x, math.inf, 1),
        "average pooling": lambda x: f.avg_pool1d(x[:, None], x.shape[1])[:, 0, 0],
        "adaptive pooling": lambda x: f.adaptive_avg_pool1d(x[:, None], 1)[:, 0, 0],
        "softmax": lambda x: x.softmax(1),
        "log_softmax": lambda x: x.log_softmax(1),
        "twice": lambda x: x[:, :9] * 2,
        "five times": lambda x: x[:, :9] * 5,
    }
