# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Functions of elements over many: where threads and blocks of vectors begin, a value is the same."""

from __future__ import annotations

import typing as t
import warnings

from ..check import FULL, H200_LATER, X86_CPU_LATER, Context, Measured, check
from . import survey, survey_bounds, survey_operator, survey_units
from .bounds import Cases
from .sizes import FUSED, REMEDY, differing

#: Rows and columns of what the functions of elements are computed of: more than 2^20 elements on a CPU, of slow ones
#: 2^16; on a GPU more than 2^24.
ROWS, FEWER_ROWS, ROWS_ON_GPU, COLUMNS = 1_026, 65, 16_450, 1_023
#: Functions of two lists of tensors.
BINARY = "add sub mul div minimum maximum pow copy".split()
#: Functions of elements that torch's list does not call so, and how many tensors they take.
OTHERS = {
    "addcdiv": 3, "addcmul": 3, "clamp": 3, "lerp": 3, "logaddexp2": 2,
    "nn.functional.gelu": 1, "nn.functional.hardswish": 1, "nn.functional.leaky_relu": 1,
}  # fmt: skip


@check("sizes.many", devices=("cuda", "cpu"), seconds=300, family="sizes", measured=(X86_CPU_LATER, H200_LATER))
def many(context: Context) -> Measured:
    """Each function of elements in torch's list over more than 2^20 or 2^24 elements: equal rows have equal results.

    Those of lists of tensors among them. Of what is slow, on a CPU to compute and on a GPU to compile, a third has so
    many, the next day another; the rest have fewer on a CPU, and are left out on a GPU.
    """
    import torch

    most = ROWS_ON_GPU if context.device == "cuda" else ROWS
    cases = Cases(f"a function of {most * COLUMNS:,} elements", REMEDY)
    kinds, day = ("UnaryUfuncInfo", "BinaryUfuncInfo", "ForeachFuncInfo"), survey.seed_of(context)
    refused, operators = 0, survey.catalogue()
    turns = 1 if context.limits["samples"] >= FULL["samples"] else survey.PARTS
    with warnings.catch_warnings(), torch.no_grad(), survey.surveying(context.device):
        warnings.simplefilter("ignore")
        for number, operator in enumerate(operators, day):
            name = survey_operator.name_of(operator)
            if (type(operator).__name__ not in kinds and name not in OTHERS) or survey_bounds.left_out(name):
                continue
            slow = survey_bounds.compiled(name.partition("_foreach_")[2] or name) and number % turns
            if slow and context.device == "cuda":
                continue
            if torch.float32 in operator.supported_dtypes(context.device):
                refused += not _equal_rows(cases, context, operator, name, FEWER_ROWS if slow else most)
    measured = cases.result()
    measured.measured += f"; {refused} not supported"
    return measured


def _equal_rows(cases: Cases, context: Context, operator: t.Any, name: str, count: int) -> bool:
    """Compare a function of many equal rows with that of one; say whether it is offered."""
    import torch

    generator = context.generator(f"sizes many {name}")
    lists, number = type(operator).__name__ == "ForeachFuncInfo", OTHERS.get(name, 1)
    low, high = getattr(operator, "domain", None) or (None, None)
    low, high = (0.5 if low is None else max(low + 0.01, 0.5)), (3.0 if high is None else min(high - 0.01, 3.0))
    if type(operator).__name__ == "BinaryUfuncInfo" or (lists and name.rpartition("_")[2] in BINARY):
        number = 2
    rows = [(torch.rand(COLUMNS, generator=generator) * (high - low) + low).to(context.device) for _ in range(number)]
    whole = [row.expand(count, COLUMNS).contiguous() for row in rows]
    try:
        found, wanted = (
            survey_units.tensors(operator(*([[one] for one in given] if lists else given))) for given in (whole, rows)
        )
    except (RuntimeError, TypeError, ValueError, NotImplementedError):
        return False
    for one, other in zip(found, wanted):
        if one.shape != whole[0].shape or one.is_complex():
            continue
        row = differing(cases, name, one, other)
        if row is None:
            cases.say(name, True, "")
            continue
        exact = other.to("cpu", torch.float64)
        around = exact.abs() + torch.where(torch.isfinite(exact), exact.abs(), 0.0).amax()
        bound = FUSED * (survey_units.spacing(one.dtype) if one.is_floating_point() else 0.0) * around
        cases.compare(f"{name}, row {row}", one[row], exact, bound)
    return True
