"""Adds inputs to torch's samples of some operators, for conditions that they lack.

These are products of odd inner lengths with a broadcast bias that is scaled or ignored, batches of which one dimension
is broadcast, convolutions of one channel, norms with a bias alone, antialiased resampling, numbers equal to a search's
boundaries, and negative divisors.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import re
import typing as t

if t.TYPE_CHECKING:
    import torch

#: A sample: the input, the other arguments, and the options.
Sample = tuple[t.Any, tuple[t.Any, ...], dict[str, t.Any]]
Make = t.Callable[..., t.Any]

#: By operator, the shapes of the bias, and those of the two factors.
_WITH_BIAS: dict[str, tuple[list[tuple[int, ...]], list[tuple[int, ...]]]] = {
    "addmm": ([(), (9,), (1, 9), (7, 1), (7, 9)], [(7, 17), (17, 9)]),
    "baddbmm": ([(), (2,), (1, 3, 2), (3, 1, 2), (3, 3, 2)], [(3, 3, 9), (3, 9, 2)]),
    "addbmm": ([(4,), (5, 4)], [(3, 5, 9), (3, 9, 4)]),
    "addmv": ([(), (7,)], [(7, 17), (17,)]),
    "addr": ([(9,), (7, 9)], [(7,), (9,)]),
}
#: The factors of the bias and of the product.
_SCALES = ((0, 1), (1, 3), (-2, 1), (0, -2))
_BATCHES: dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]] = {
    "matmul": [((2, 3, 5, 17), (3, 17, 4)), ((2, 1, 5, 9), (1, 3, 9, 4)), ((2, 3, 7, 33), (2, 1, 33, 5))],
    "bmm": [((3, 2, 3), (3, 3, 2)), ((3, 5, 17), (3, 17, 4))],
}
_DIVISIONS = re.compile(r"remainder|floor_divide|fmod|div\.\w+_rounding|__rmod__")
_CONVOLUTION = re.compile(r"nn\.functional\.conv(_transpose)?([123])d$")


def with_more_samples(entry: t.Any, name: str) -> t.Any:
    """Return an operator of torch's catalogue with more samples, or itself if there are none."""
    draw = next((draw for pattern, draw in _SAMPLES if re.fullmatch(pattern, name)), None)
    if draw is None:
        return entry
    extended = copy.copy(entry)
    extended.sample_inputs_func = functools.partial(_chained, entry.sample_inputs_func, functools.partial(draw, name))
    return extended


def _chained(
    listed: t.Any, draw: t.Any, entry: t.Any, device: str, dtype: torch.dtype, gradients: bool, **options: t.Any
) -> t.Iterator[t.Any]:
    """Yield the catalogue's first sample, the additional ones, and the rest of the catalogue's."""
    import torch
    from torch.testing._internal.opinfo.core import SampleInput

    def make(*shape: int) -> torch.Tensor:
        return torch.testing.make_tensor(shape, device=device, dtype=dtype, requires_grad=gradients)

    rest = iter(listed(entry, device, dtype, gradients, **options))
    first = next(rest)
    yield first
    for value, args, kwargs in draw(make, {key: each for key, each in first.kwargs.items() if key == "rounding_mode"}):
        yield SampleInput(value, args=args, kwargs=kwargs)
    yield from rest


def _with_bias(name: str, make: Make, _options: t.Any) -> t.Iterator[Sample]:
    biases, factors = _WITH_BIAS[name]
    for (beta, alpha), bias in zip(itertools.cycle(_SCALES), biases):
        added = make(*bias)
        if beta == 0 and (added.is_floating_point() or added.is_complex()):
            # The bias is ignored, so that it must not be read.
            added = added.detach().fill_(math.nan).requires_grad_(added.requires_grad)
        yield added, tuple(make(*shape) for shape in factors), {"beta": beta, "alpha": alpha}


def _batches(name: str, make: Make, _options: t.Any) -> t.Iterator[Sample]:
    for left, right in _BATCHES[name]:
        yield make(*left), (make(*right),), {}


def _convolutions(name: str, make: Make, _options: t.Any) -> t.Iterator[Sample]:
    """Yield convolutions of one channel, in all or in each group, and one whose kernel covers the input."""
    is_transposed, dimensions = "transpose" in name, int(name[-2])
    size, kernel = (9, 8, 7)[:dimensions], (3,) * dimensions
    for channels, filters, groups, stride in ((1, 4, 1, 1), (3, 6, 3, 2), (4, 4, 2, 1), (1, 1, 1, 2)):
        weight = (channels, filters // groups) if is_transposed else (filters, channels // groups)
        options = {"stride": stride, "padding": 1, "groups": groups}
        yield make(2, channels, *size), (make(*weight, *kernel), make(filters)), options
    yield make(2, 1, *kernel), (make(1, 1, *kernel), make(1)), {}


def _with_bias_alone(name: str, make: Make, _options: t.Any) -> t.Iterator[Sample]:
    if name.endswith("layer_norm"):
        yield make(5, 6), ((6,), None, make(6)), {}
    else:
        yield make(5, 6, 2), (2,), {"bias": make(6)}


def _antialiased(name: str, make: Make, _options: t.Any) -> t.Iterator[Sample]:
    # In 16 bits, the CPU does not offer it.
    sizes = ((5, 11), (3, 3), (17, 9)) if make(1).dtype.itemsize > 2 else ()
    for size, corners in itertools.product(sizes, (False, True)):
        options = {"mode": name.rpartition(".")[2], "align_corners": corners, "antialias": True}
        yield make(2, 3, 9, 8), (size,), options


def _at_boundaries(name: str, make: Make, _options: t.Any) -> t.Iterator[Sample]:
    for right, count in itertools.product((False, True), (1, 9, 33)):
        boundaries = make(count).detach().sort()[0]
        values = boundaries.flip(0).repeat(2)
        yield (boundaries, (values,), {"right": right}) if name == "searchsorted" else (
            values, (boundaries,), {"right": right})  # fmt: skip


def _divisions(_name: str, make: Make, options: dict[str, t.Any]) -> t.Iterator[Sample]:
    # A negative divisor would become a large unsigned one.
    for divisor in (7, 3) if str(make(1).dtype) == "torch.uint8" else (-3, -1, 7):
        yield make(5, 7), (divisor,), options


_SAMPLES: tuple[tuple[str, t.Callable[[str, Make, dict[str, t.Any]], t.Iterator[Sample]]], ...] = (
    ("|".join(_WITH_BIAS), _with_bias),
    ("|".join(_BATCHES), _batches),
    (_CONVOLUTION.pattern, _convolutions),
    (r"nn\.functional\.(layer|group)_norm", _with_bias_alone),
    (r"nn\.functional\.interpolate\.(bilinear|bicubic)", _antialiased),
    ("searchsorted|bucketize", _at_boundaries),
    (_DIVISIONS.pattern, _divisions),
)
