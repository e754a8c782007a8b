# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Has kernels compiled in threads that torch compiles when they are first used, while other operators are surveyed.

On an H200 they were some 55 of the 82 s that the operators took in float32 (docs/evidence/survey.md). Meanwhile torch
holds neither Python's lock nor one that two kernels share.
"""

from __future__ import annotations

import contextlib
import os
import typing as t
from concurrent.futures import ThreadPoolExecutor

from . import operator_bounds, variants
from .rounding import number_of

if t.TYPE_CHECKING:
    import torch

#: Of so many cores one thread compiles.
CORES = 4


def compiled(operator: t.Any, name: str, dtype: torch.dtype) -> bool:
    """Say whether torch compiles an operator's kernels at their first use: nearly all functions of complex numbers."""
    functions = dtype.is_complex and type(operator).__name__ in variants.TAKE_ANY
    return functions or operator_bounds.compiled(name)


@contextlib.contextmanager
def compiling(operators: t.Mapping[str, t.Any], dtype: torch.dtype, device: str) -> t.Iterator[None]:
    """Compile meanwhile, in this order; at the end what was not begun is dropped.

    :param operators: by name, the ones whose kernels are compiled.
    """
    import torch

    samples = []
    for name, operator in operators.items():
        torch.manual_seed(number_of(name))
        with contextlib.suppress(Exception):  # the survey says why it has no inputs
            samples.append((operator, next(iter(operator.sample_inputs(device, dtype)))))
    pool = ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // CORES))
    try:
        for operator, sample in samples:
            pool.submit(_use, operator, sample)
        yield
    finally:
        pool.shutdown(cancel_futures=True)


def _use(operator: t.Any, sample: t.Any) -> None:
    """Call it with dense inputs and with strided ones, which have kernels of their own."""
    import torch

    with torch.no_grad():
        for given in (sample, sample.noncontiguous()):
            operator(given.input, *given.args, **given.kwargs)
