# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an operator makes of an input, on the device and in float64 on the CPU, and by how many units both differ.

An error is counted in units: how far a value is off, by the spacing of the format's numbers near the value and near the
largest one of the result.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import random
import typing as t

from ..bounds import UNIT_ROUNDOFF, on_the_host

if t.TYPE_CHECKING:
    import torch

#: A gradient is nothing but rounding where it is smaller than this part of what went in, and then it may be so many
#: times as far off.
VANISHING, CANCELLED = 1e-6, 1e4
#: So many units are below every bound.
SMALL = 2.0
#: Computes what is exact of inputs one step beside; the same of one tensor.
Moved = t.Callable[[], "Computed"]
Near = t.Callable[[], "torch.Tensor | None"]


class Misfits(float):
    """An infinite error: of some elements, which are a NaN, an infinity or a whole number in the place of another.

    Of two such errors the one of more elements is the larger.

    :ivar count: how many, of those ``compared``.
    :ivar rest: how far off the others are.
    """

    count: int
    compared: int
    rest: float

    def __new__(cls, count: int, compared: int, rest: float = 0.0) -> Misfits:
        made = super().__new__(cls, math.inf)
        made.count, made.compared, made.rest = count, compared, rest
        return made

    def __gt__(self, other: float) -> bool:
        return self.count > other.count if isinstance(other, Misfits) else super().__gt__(other)

    def __truediv__(self, bound: float) -> Misfits:
        return Misfits(self.count, self.compared, self.rest / bound)


def misfits(wrong: torch.Tensor, rest: float = 0.0) -> float:
    """Return the error of a result some of whose elements do not fit, or how far off it is where there are none."""
    count = int(wrong.sum())
    return Misfits(count, wrong.numel(), rest) if count else rest


@dataclasses.dataclass
class Computed:
    """What an operator made of one input.

    :ivar results: its tensors, in order.
    :ivar gradients: of each leaf, None where it has none.
    :ivar scale: the largest value that went in backward.
    :ivar sample: the input.
    """

    results: list[torch.Tensor]
    gradients: list[torch.Tensor | None]
    scale: float
    sample: t.Any = None


def beside(compute: t.Callable[[t.Any, float], Computed], exact: Computed, dtype: torch.dtype) -> Moved:
    """Return what computes, once, what is exact of inputs one step of a format beside.

    :param compute: from a sample, moved by a step, what is exact of it. It is given that of ``exact``: an operator may
        have changed its own.
    """

    @functools.cache
    def moved() -> Computed:
        # A step may lead out of what an operator takes: a probability beyond 1.
        with contextlib.suppress(RuntimeError, ValueError):
            return compute(exact.sample, spacing(dtype))
        return exact

    return moved


def away(made: Computed, exact: Computed, moved: Moved, dtype: torch.dtype, scale: float = 0.0) -> list[float]:
    """Return the worst errors of results and of gradients, in units.

    :param moved: computes what is exact of inputs one step beside; called only where it matters.
    :param scale: what an error of a result is measured by at least.
    """
    worst = [0.0, 0.0]
    there = on_the_host([*made.results, *made.gradients])
    results, gradients = there[: len(made.results)], there[len(made.results) :]
    for number, (one, other) in enumerate(zip(results, exact.results)):
        near = functools.partial(_entry, lambda: moved().results, number)
        worst[0] = max(worst[0], units(one, other, dtype, scale, moved=near))
    for number, (leaf, wanted) in enumerate(zip(gradients, exact.gradients)):
        if leaf is not None and wanted is not None:
            near = functools.partial(_entry, lambda: moved().gradients, number)
            worst[1] = max(worst[1], _gradient(leaf, wanted, near, dtype, exact.scale))
    return worst


def _entry(values: t.Callable[[], t.Sequence[torch.Tensor | None]], number: int) -> torch.Tensor | None:
    return values()[number] if number < len(values()) else None


def computed(
    operator: t.Any, sample: t.Any, leaves: t.Sequence[torch.Tensor], dtype: torch.dtype, seed: str
) -> Computed:
    """Compute an operator forward and, for gradients of its results that are drawn by the seed, backward."""
    import torch

    results = tensors(sample.output_process_fn_grad(operator(sample.input, *sample.args, **sample.kwargs)))
    through = [result for result in results if result.requires_grad]
    if not through or not leaves:
        return Computed([result.detach() for result in results], [], 0.0, sample)
    generator = torch.Generator().manual_seed(number_of(seed))
    upstream = [
        torch.randn(result.shape, generator=generator, dtype=wide).to(narrow).to(wide)
        for result in through
        for wide, narrow in [_formats(result, dtype)]
    ]
    gradients = torch.autograd.grad(
        through,
        list(leaves),
        [value.to(result.device, result.dtype) for value, result in zip(upstream, through)],
        allow_unused=True,
    )
    scale = max((float(value.abs().max()) for value in upstream if value.numel()), default=0.0)
    return Computed([result.detach() for result in results], list(gradients), scale, sample)


def _formats(result: torch.Tensor, dtype: torch.dtype) -> tuple[torch.dtype, torch.dtype]:
    """Return in what the gradient of a result is drawn, and what it is rounded to: real of a real result."""
    import torch

    if not dtype.is_complex:
        return torch.float64, dtype
    return (torch.complex128, dtype) if result.is_complex() else (torch.float64, torch.empty(0, dtype=dtype).real.dtype)


def _gradient(found: torch.Tensor, wanted: torch.Tensor, moved: Near, dtype: torch.dtype, scale: float) -> float:
    """Return how far a gradient is off, in units."""
    import torch

    if not wanted.numel():
        return 0.0
    found, wanted = found.to_dense(), wanted.to_dense()
    value = units(found, wanted, dtype, scale, moved, overflows=dtype is torch.float16)
    # A gradient that is zero but for rounding, as behind the normalisation of a single value, is what is left of a
    # cancellation, and as far off as what was cancelled is large.
    return value / CANCELLED if float(wanted.abs().max()) <= VANISHING * scale else value


def number_of(seed: str) -> int:
    """Return what a generator of torch is seeded with."""
    return random.Random(seed).getrandbits(32)  # noqa: S311 - which inputs are tried is no secret


def inputs(sample: t.Any) -> list[torch.Tensor]:
    """Return the tensors of a sample, in the order of a transformation."""
    import torch

    found: list[torch.Tensor] = []

    def look(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            found.append(value)
        return value

    sample.transform(look)
    return found


def leaves(sample: t.Any) -> list[torch.Tensor]:
    """Return what is differentiated for."""
    return [one for one in inputs(sample) if one.requires_grad]


def apart(sample: t.Any, before: t.Sequence[torch.Tensor], after: t.Sequence[torch.Tensor]) -> t.Any:
    """Return a sample with copies of what an operator changes, as running means, which others of its list share.

    :param before: the tensors that it was given in float64, in the order of a transformation.
    :param after: the same after it.
    """
    import torch

    same = iter([one.layout is not torch.strided or torch.equal(one, other) for one, other in zip(before, after)])

    def change(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor) and not next(same):
            return value.detach().clone().requires_grad_(value.requires_grad)
        return value

    return sample.transform(change)


def exact_of(sample: t.Any, step: float = 0.0) -> tuple[t.Any, list[torch.Tensor]]:
    """Return the same inputs in float64 on the CPU, each value larger or smaller by a step, and what has a gradient."""
    import torch

    def change(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            exact = value.detach().to("cpu")
            # A copy in any case: what is computed of the value may change it.
            exact = exact if value.is_cuda else exact.clone()
            if exact.is_complex():
                exact = exact.to(torch.complex128)
            elif exact.is_floating_point():
                exact = exact.to(torch.float64)
            if step and (exact.is_complex() or exact.is_floating_point()) and exact.layout is torch.strided:
                signs = torch.arange(exact.numel()).remainder(2).mul(2).sub(1).reshape(exact.shape)
                exact = exact * (1 + step * signs)
            return exact.clone().requires_grad_() if value.requires_grad else exact
        if isinstance(value, torch.dtype) and value.is_floating_point:
            return torch.float64
        return value

    changed = sample.transform(change)
    if changed.kwargs.get("device") is not None:
        # Operators that create tensors have a device argument, which a transformation does not change.
        changed.kwargs["device"] = "cpu"
    return changed, leaves(changed)


def tensors(value: t.Any) -> list[torch.Tensor]:
    """Return the tensors of whatever an operator returns, in order."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    return [one for item in value for one in tensors(item)] if isinstance(value, (tuple, list)) else []


def short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def spacing(dtype: torch.dtype) -> float:
    """Return the distance from 1 to the next number of a format."""
    return 2 * UNIT_ROUNDOFF[{"complex64": "float32"}.get(name := str(dtype).rpartition(".")[2], name)]


def units(
    actual: torch.Tensor,
    expected: torch.Tensor,
    dtype: torch.dtype,
    scale: float = 0.0,
    moved: Near = lambda: None,
    overflows: bool = False,
) -> float:
    """Return how far a result is off at worst, in units of its format; infinity where it is of another kind.

    :param expected: float64, complex128, or exact: of integers and truth values every one must be right.
    :param scale: what an error is measured by at least, beside the largest value that is expected.
    :param moved: computes what is expected of inputs that are one step of the format beside: where that is far away, so
        may be what is computed. Called only where an error is not small without it.
    :param overflows: whether a value may be infinite or none because something on the way to it was.
    """
    import torch

    got, expected = actual.detach().to("cpu"), expected.detach().to("cpu")
    if expected.layout is not torch.strided:
        got, expected = got.to_dense(), expected.to_dense()
    if got.shape != expected.shape:
        return math.inf
    if expected.numel() == 0:
        return 0.0
    if (small := _small(got, expected, dtype, scale)) is not None:
        return small
    beside = moved()
    near = expected if beside is None else beside.detach().to("cpu").to_dense()
    if near.shape != expected.shape:
        near = expected
    if expected.is_complex():
        got, expected, near = (
            torch.view_as_real(one.to(torch.complex128).resolve_conj()) for one in (got, expected, near)
        )
    elif not expected.is_floating_point():
        # A place that a step of the inputs decides, such as which of two equal values comes first, may be any.
        return misfits((got.to(expected.dtype) != expected) & (near == expected))
    # A value beyond the format's range is infinite, and no other value is.
    got, expected, near = (one.to(torch.float64) for one in (got, expected, near))
    largest = torch.finfo(dtype).max
    away = (near - expected).abs()
    away = float(away[torch.isfinite(away)].max()) if bool(torch.isfinite(away).any()) else 0.0
    finite = torch.isfinite(expected) & (expected.abs() < largest)
    there = torch.isfinite(got)
    wrong = ~finite & there & (got.abs() < largest / 2)
    if not overflows:
        wrong |= finite & ~there
    got, expected = got[finite & there], expected[finite & there]
    if expected.numel() == 0:
        return misfits(wrong)
    around = expected.abs() + max(float(expected.abs().max()), scale) + away / spacing(dtype)
    # Where all is zero, or smaller than any number of the format.
    around = around.clamp_min(torch.finfo(dtype).tiny)
    return misfits(wrong, float(((got - expected).abs() / (spacing(dtype) * around)).max()))


def _small(got: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype, scale: float) -> float | None:
    """Return how far a result is off at most, in units, where that is below every bound; None where it may be more."""
    import torch

    if not expected.is_floating_point() and not expected.is_complex():
        return 0.0 if torch.equal(got.to(expected.dtype), expected) else None
    largest = max(float(expected.abs().max()), scale, torch.finfo(dtype).tiny)
    off = float((got.to(expected.dtype) - expected).abs().max()) / (spacing(dtype) * largest)
    # False for a NaN, as one comes of two infinities.
    return off if off <= SMALL else None
