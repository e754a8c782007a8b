"""Computes an operator on the device and in float64 on the CPU, and measures the difference in units.

One unit is the spacing of the format's numbers near the value, plus the spacing near the result's largest value.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import math
import random
import typing as t

from ..bounds import UNIT_ROUNDOFF, difference, torch

#: A gradient below this fraction of the upstream gradient is only rounding, so its error is divided by CANCELLED.
VANISHING, CANCELLED = 1e-6, 1e4
#: The smallest number of units that any bound has.
SMALL = 1.0
#: Tensors with at most this many elements are copied together.
JOINED_ELEMENTS = 1 << 16
#: Computes the reference, or one of its tensors, for inputs that are shifted by one step of the format.
Shifted = t.Callable[[], "Computed"]
ShiftedTensor = t.Callable[[], "torch.Tensor | None"]


class Misfits(float):
    """An infinite error: some elements have a wrong NaN, infinity or integer. The more of them, the larger it is.

    :ivar count: the number of such elements among the ``compared``; 0 if the result as a whole is wrong.
    :ivar other_error: the error of the other elements; infinite if the result as a whole is wrong.
    :ivar how: how the result differs: ``7 of 1030 values wrong: NaN instead of 3 at [0, 12]``.
    """

    count: int
    compared: int
    other_error: float
    how: str

    def __new__(cls, count: int, compared: int, other_error: float = 0.0, how: str = "") -> Misfits:
        made = super().__new__(cls, math.inf)
        made.count, made.compared, made.other_error, made.how = count, compared, other_error, how
        return made

    def __gt__(self, other: float) -> bool:
        if not isinstance(other, Misfits):
            return super().__gt__(other)
        return (self.other_error == math.inf, self.count) > (other.other_error == math.inf, other.count)

    def __truediv__(self, bound: float) -> Misfits:
        return Misfits(self.count, self.compared, self.other_error / bound, self.how)


def misfit(how: str) -> Misfits:
    """Return the error of a result that is wrong as a whole, such as one of another shape."""
    return Misfits(0, 0, math.inf, how)


def misfits(actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, other_error: float = 0.0) -> float:
    """Return an infinite error if any element is wrong, or else ``other_error``."""
    count = int(wrong.sum())
    how = difference(actual, expected, wrong) if count else ""
    return Misfits(count, wrong.numel(), other_error, how) if count else other_error


@dataclasses.dataclass
class Computed:
    """The results of an operator for one input.

    :ivar results: the operator's tensors, in order.
    :ivar gradients: the gradient of each leaf, or None if it has none.
    :ivar scale: the largest value of the upstream gradients.
    :ivar sample: the input.
    """

    results: list[torch.Tensor]
    gradients: list[torch.Tensor | None]
    scale: float
    sample: t.Any = None


def shifted_reference(refer: t.Callable[[t.Any, float], Computed], exact: Computed, dtype: torch.dtype) -> Shifted:
    """Return a function that computes the reference for inputs shifted by one step of a format, but only once.

    They are shifted one way and the other, and each number is that which is farther from the exact one.

    :param refer: a function that computes the reference for a sample shifted by a step. Its argument is the sample in
        ``exact``, because an operator may have changed the sample that it was called with.
    """

    @functools.cache
    def shifted() -> Computed:
        farthest = exact
        for step in (spacing(dtype), -spacing(dtype)):
            # A step may leave the operator's domain, such as a probability above 1.
            with contextlib.suppress(RuntimeError, ValueError):
                farthest = _farther(exact, refer(exact.sample, step), farthest)
        return farthest

    return shifted


def _farther(exact: Computed, made: Computed, other: Computed) -> Computed:
    """Return two references' numbers that are farther from the exact ones; of other layouts or shapes, those made."""

    def choose(expected: t.Any, first: t.Any, second: t.Any) -> t.Any:
        if first is None or second is None or not expected.shape == first.shape == second.shape:
            return first
        if expected.layout is not torch.strided:
            return first
        if not (expected.is_floating_point() or expected.is_complex()):
            return torch.where(first == expected, second, first)
        return torch.where((second - expected).abs() > (first - expected).abs(), second, first)

    results = list(map(choose, exact.results, made.results, other.results))
    return dataclasses.replace(
        made, results=results, gradients=list(map(choose, exact.gradients, made.gradients, other.gradients))
    )


def on_the_host(values: t.Sequence[torch.Tensor | None]) -> list[t.Any]:
    """Copy tensors to the CPU; None remains None.

    Small tensors of one format are copied together, with one synchronization, because many processes share the GPU.
    """
    copies: list[torch.Tensor | None] = [None] * len(values)
    groups: dict[t.Any, list[tuple[int, torch.Tensor]]] = {}
    for number, value in enumerate(values):
        if value is None or not value.is_cuda or value.layout is not torch.strided:
            copies[number] = value if value is None else value.detach().cpu()
            continue
        # torch 2.11 resolves a lazy conjugate or negation on the host before the copy has arrived.
        plain = value.detach().resolve_conj().resolve_neg()
        # Some versions of torch cannot concatenate 8-bit floats.
        is_separate = plain.numel() > JOINED_ELEMENTS or (plain.is_floating_point() and plain.element_size() == 1)
        groups.setdefault(number if is_separate else plain.dtype, []).append((number, plain))
    for group in groups.values():
        joined = group[0][1] if len(group) == 1 else torch.cat([tensor.reshape(-1) for _number, tensor in group])
        pinned = torch.empty(joined.shape, dtype=joined.dtype, pin_memory=True).copy_(joined, non_blocking=True)
        parts = pinned.reshape(-1).split([tensor.numel() for _number, tensor in group])
        for (number, tensor), part in zip(group, parts):
            copies[number] = part.view(tensor.shape)
    if groups:
        torch.cuda.current_stream().synchronize()
    return copies


def worst_errors(
    made: Computed, exact: Computed, shifted: Shifted, dtype: torch.dtype, scale: float = 0.0
) -> list[float]:
    """Return the largest errors of the results and the gradients, in units.

    :param shifted: computes the reference for shifted inputs; called only if the result depends on that.
    :param scale: the smallest magnitude to which the error of a result is relative.
    """
    worst = [0.0, 0.0]
    on_host = on_the_host([*made.results, *made.gradients])
    results, gradients = on_host[: len(made.results)], on_host[len(made.results) :]
    for number, (actual, expected) in enumerate(zip(results, exact.results)):
        near = functools.partial(_entry, lambda: shifted().results, number)
        error = units(actual, expected, dtype, scale, shifted=near)
        if isinstance(error, Misfits) and len(results) > 1:
            error.how = f"{error.how} of result {number + 1}"
        worst[0] = max(worst[0], error)
    for number, (leaf, expected_gradient) in enumerate(zip(gradients, exact.gradients)):
        if leaf is not None and expected_gradient is not None:
            near = functools.partial(_entry, lambda: shifted().gradients, number)
            worst[1] = max(worst[1], _gradient_error(leaf, expected_gradient, near, dtype, exact.scale))
    return worst


def _entry(values: t.Callable[[], t.Sequence[torch.Tensor | None]], number: int) -> torch.Tensor | None:
    return values()[number] if number < len(values()) else None


def compute(
    operator: t.Any, sample: t.Any, leaves: t.Sequence[torch.Tensor], dtype: torch.dtype, seed: str
) -> Computed:
    """Compute an operator forward, and backward with upstream gradients drawn from the seed."""
    results = tensors(sample.output_process_fn_grad(operator(sample.input, *sample.args, **sample.kwargs)))
    differentiable, upstream, scale = upstream_gradients(results if leaves else [], dtype, seed)
    if not differentiable:
        return Computed([result.detach() for result in results], [], 0.0, sample)
    gradients = torch.autograd.grad(differentiable, list(leaves), upstream, allow_unused=True)
    return Computed([result.detach() for result in results], list(gradients), scale, sample)


def upstream_gradients(
    results: t.Sequence[torch.Tensor], dtype: torch.dtype, seed: str
) -> tuple[list[torch.Tensor], list[torch.Tensor], float]:
    """Return the differentiable results, upstream gradients for them drawn from the seed, and the largest of those."""
    differentiable = [result for result in results if result.requires_grad]
    generator = torch.Generator().manual_seed(seed_of(seed))
    upstream = [
        torch.randn(result.shape, generator=generator, dtype=wide).to(narrow).to(wide)
        for result in differentiable
        for wide, narrow in [_formats(result, dtype)]
    ]
    scale = max((float(value.abs().max()) for value in upstream if value.numel()), default=0.0)
    return differentiable, [value.to(to.device, to.dtype) for value, to in zip(upstream, differentiable)], scale


def _formats(result: torch.Tensor, dtype: torch.dtype) -> tuple[torch.dtype, torch.dtype]:
    """Return the formats in which an upstream gradient is drawn and to which it is rounded; real for real results."""
    if not dtype.is_complex:
        return torch.float64, dtype
    return (torch.complex128, dtype) if result.is_complex() else (torch.float64, torch.empty(0, dtype=dtype).real.dtype)


def _gradient_error(
    actual: torch.Tensor, expected: torch.Tensor, shifted: ShiftedTensor, dtype: torch.dtype, scale: float
) -> float:
    """Return the error of a gradient, in units."""
    if not expected.numel():
        return 0.0
    actual, expected = actual.to_dense(), expected.to_dense()
    value = units(actual, expected, dtype, scale, shifted, overflows=dtype is torch.float16)
    # A gradient of zero, such as after the normalisation of a single value, is the rounding error of cancelling terms.
    return value / CANCELLED if float(expected.abs().max()) <= VANISHING * scale else value


def seed_of(seed: str) -> int:
    """Return a number with which to seed one of torch's generators."""
    return random.Random(seed).getrandbits(32)  # noqa: S311 - the choice need not be secret


def inputs(sample: t.Any) -> list[torch.Tensor]:
    """Return the tensors in a sample, in the order in which :func:`transform` visits them."""
    return tensors([sample.input, sample.args, sample.kwargs])


def transform(sample: t.Any, change: t.Callable[[t.Any], t.Any]) -> t.Any:
    """Return a sample with a function applied to each tensor and format in it, without gradients.

    The method ``transform`` of torch's samples takes several times as long.
    """

    def visit(value: t.Any) -> t.Any:
        if isinstance(value, (torch.Tensor, torch.dtype)):
            return change(value)
        if isinstance(value, dict):
            return {key: visit(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return (list if isinstance(value, list) else tuple)(map(visit, value))
        return value

    changed = copy.copy(sample)
    with torch.no_grad():
        changed.input, changed.args, changed.kwargs = map(visit, (sample.input, sample.args, sample.kwargs))
    return changed


def leaves(sample: t.Any) -> list[torch.Tensor]:
    """Return the tensors in a sample that require gradients."""
    return [tensor for tensor in inputs(sample) if tensor.requires_grad]


def copy_changed(sample: t.Any, before: t.Sequence[torch.Tensor], after: t.Sequence[torch.Tensor]) -> t.Any:
    """Return a sample with its own copies of tensors that the operator changes and that other samples may share.

    :param before: copies of the tensors in float64, made before the operator ran; see :func:`inputs`.
    :param after: the same tensors after the operator ran.
    """
    same = iter(
        [tensor.layout is not torch.strided or torch.equal(tensor, other) for tensor, other in zip(before, after)]
    )

    def change(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor) and not next(same):
            return value.detach().clone().requires_grad_(value.requires_grad)
        return value

    return transform(sample, change)


def in_float64(sample: t.Any, step: float = 0.0) -> tuple[t.Any, list[torch.Tensor]]:
    """Return a sample in float64 on the CPU, with values moved by a step, and its tensors that require gradients."""

    def change(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            wide = torch.float64 if value.is_floating_point() else value.dtype
            # Always make a copy, since the operator may change the tensor.
            exact = value.detach().to("cpu", torch.complex128 if value.is_complex() else wide, copy=True)
            if step and (exact.is_complex() or exact.is_floating_point()) and exact.layout is torch.strided:
                signs = torch.arange(exact.numel()).remainder(2).mul(2).sub(1).reshape(exact.shape)
                exact = exact * (1 + step * signs)
            return exact.requires_grad_(value.requires_grad)
        if isinstance(value, torch.dtype) and value.is_floating_point:
            return torch.float64
        return value

    changed = transform(sample, change)
    if changed.kwargs.get("device") is not None:
        # ``transform`` does not change the argument ``device`` of operators that create tensors.
        changed.kwargs["device"] = "cpu"
    return changed, leaves(changed)


def tensors(value: t.Any) -> list[torch.Tensor]:
    """Return the tensors in a value, in order, at any depth of nesting."""
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [tensor for item in items for tensor in tensors(item)]


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def spacing(dtype: torch.dtype) -> float:
    """Return the distance from 1 to the next number in a format."""
    return 2 * UNIT_ROUNDOFF[{"complex64": "float32"}.get(name := str(dtype).rpartition(".")[2], name)]


def units(
    actual: torch.Tensor,
    expected: torch.Tensor,
    dtype: torch.dtype,
    scale: float = 0.0,
    shifted: ShiftedTensor = lambda: None,
    overflows: bool = False,
) -> float:
    """Return the largest error of a result in units of its format, or infinity if shapes, NaN or infinities differ.

    :param expected: the reference in float64 or complex128; integers and booleans must match exactly.
    :param scale: a lower limit on the largest expected value, to which errors are relative.
    :param shifted: a function that computes the reference for shifted inputs. The result may differ from ``expected``
        by as much as that reference does. It is called only if the error is not small anyway.
    :param overflows: whether a value may be infinite or NaN because an intermediate value overflowed.
    """
    got, expected = actual.detach().to("cpu"), expected.detach().to("cpu")
    if expected.layout is not torch.strided:
        got, expected = got.to_dense(), expected.to_dense()
    if got.shape != expected.shape:
        return misfit(difference(got, expected, got))
    if expected.numel() == 0:
        return 0.0
    if (small := _small(got, expected, dtype, scale)) is not None:
        return small
    neighbour = shifted()
    near = expected if neighbour is None else neighbour.detach().to("cpu").to_dense()
    if near.shape != expected.shape:
        near = expected
    if expected.is_complex():
        # If one part of a complex number is NaN, the other may be any number.
        both = got.isnan() & expected.isnan()
        got, expected, near = (
            torch.view_as_real(tensor.to(torch.complex128).resolve_conj().masked_fill(both, 0.0))
            for tensor in (got, expected, near)
        )
    elif not expected.is_floating_point():
        # Skip an index that changes if the inputs change by one step, such as that of the larger of two close values.
        return misfits(got, expected, (got.to(expected.dtype) != expected) & (near == expected))
    # Values beyond the format's range must be infinite, and no other value may be.
    got, expected, near = (tensor.to(torch.float64) for tensor in (got, expected, near))
    largest = torch.finfo(dtype).max
    moves = (near - expected).abs()
    largest_move = float(moves[torch.isfinite(moves)].max()) if bool(torch.isfinite(moves).any()) else 0.0
    finite = torch.isfinite(expected) & (expected.abs() < largest)
    is_finite = torch.isfinite(got)
    wrong = ~finite & is_finite & (got.abs() < largest / 2)
    if not overflows:
        wrong |= finite & ~is_finite
    numbers, exact = got[finite & is_finite], expected[finite & is_finite]
    if exact.numel() == 0:
        return misfits(got, expected, wrong)
    around = exact.abs() + max(float(exact.abs().max()), scale) + largest_move / spacing(dtype)
    # All values may be zero, or smaller than any number in the format.
    around = around.clamp_min(torch.finfo(dtype).tiny)
    return misfits(got, expected, wrong, float(((numbers - exact).abs() / (spacing(dtype) * around)).max()))


def _small(got: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype, scale: float) -> float | None:
    """Return an upper limit for a result's error in units if it is below every bound, or else None."""
    if not expected.is_floating_point() and not expected.is_complex():
        return 0.0 if torch.equal(got.to(expected.dtype), expected) else None
    largest = max(float(expected.abs().max()), scale, torch.finfo(dtype).tiny)
    off = float((got.to(expected.dtype) - expected).abs().max()) / (spacing(dtype) * largest)
    # This is false for a NaN, such as the difference of two infinities.
    return off if off <= SMALL else None
