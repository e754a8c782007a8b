"""Compiles kernels that torch compiles on first use in threads, while the survey computes other operators.

On an H200 these compilations took about 55 of the 82 s of the survey in float32 (docs/evidence/survey.md). They do not
hold Python's lock, nor a lock that two kernels share.
"""

from __future__ import annotations

import contextlib
import os
import typing as t
from concurrent.futures import ThreadPoolExecutor

from . import operator_bounds, variants
from .rounding import seed_of

if t.TYPE_CHECKING:
    import torch

#: The number of cores per compiling thread.
CORES = 4


def compiled(operator: t.Any, name: str, dtype: torch.dtype) -> bool:
    """Tell whether torch compiles an operator's kernels on first use, as it does for nearly all complex functions."""
    is_complex_function = dtype.is_complex and type(operator).__name__ in variants.TAKE_ANY
    return is_complex_function or operator_bounds.compiled(name)


@contextlib.contextmanager
def compile_ahead(operators: t.Mapping[str, t.Any], dtype: torch.dtype, device: str) -> t.Iterator[None]:
    """Compile kernels in the background, in this order; at the end, drop those that were not begun.

    :param operators: the operators to compile, by name.
    """
    import torch

    samples = []
    for name, operator in operators.items():
        torch.manual_seed(seed_of(name))
        with contextlib.suppress(Exception):  # the survey reports why there are no inputs
            samples.append((operator, next(iter(operator.sample_inputs(device, dtype)))))
    pool = ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // CORES))
    try:
        for operator, sample in samples:
            pool.submit(_call_once, operator, sample)
        yield
    finally:
        pool.shutdown(cancel_futures=True)


def _call_once(operator: t.Any, sample: t.Any) -> None:
    """Call an operator with dense inputs and with strided inputs, which have their own kernels."""
    import torch

    with torch.no_grad():
        for variant in (sample, sample.noncontiguous()):
            operator(variant.input, *variant.args, **variant.kwargs)
