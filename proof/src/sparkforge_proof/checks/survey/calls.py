"""Calls an operator under a row's conditions, and compares the results with float64 on the CPU in plain layout."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import platform
import re
import typing as t

from ..bounds import another_stream, threads, torch
from . import operator_bounds, variants

# isort: off
from .conditions import (
    DRAWN, ONE_GRADIENT, PLAIN, POSITIONS, RETURNS_INDICES, Exact, Operator, numbers_of, position_factor,
    resized_samples, summing_factor,
)  # fmt: skip
from .rounding import (
    VANISHING, Computed, Shifted, compute, copy_changed, in_float64, inputs, leaves, misfit, on_the_host,
    one_line, shifted_reference, tensors, transform, worst_errors,
)  # fmt: skip

#: Factors on the bound for subnormal results, and on the inputs to show whether results are proportional to them.
FLUSHED, GROWN = 16.0, 2.0**20
#: The axes whose values do not appear in the label of a call.
UNLABELED = ("format", "option", "direction")
#: The errors with which a library or a device refuses inputs.
REFUSALS = (
    RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError, ZeroDivisionError
)  # fmt: skip


def call(operator: Operator, sample: t.Any, row: t.Mapping[str, str]) -> tuple[Computed | None, bool]:
    """Call an operator as a row specifies; return the results, and whether it left the gaps in ``out=`` untouched.

    The results are None if the operator cannot be called that way.
    """
    entry, dtype, seed = operator.entry, operator.unit_format, operator.seed
    _call_before(operator, sample, row["calls"])
    with _threads(operator.device, row["threads"]):
        if row["direction"] != PLAIN["direction"]:
            with _autocast(operator.device, row["mode"]):
                return compute(entry, sample, leaves(sample), dtype, seed), True
        with torch.no_grad(), _autocast(operator.device, row["mode"]):
            if row["mode"] == "in place":
                return _forward_only(_in_place(operator, sample)), True
            plain = compute(entry, sample, [], dtype, seed)
            if row["mode"] == "out=":
                written = variants.with_out(entry, sample, plain.results)
                return _forward_only(written), all(map(_gap_untouched, written or []))
            if row["threads"] == "3" and operator.gpu:
                return _forward_only(variants.in_a_graph(entry, sample, plain.results, operator.full)), True
            return plain, True


def _call_before(operator: Operator, sample: t.Any, calls: str) -> None:
    """Call an operator before the call that is compared, which may then reuse a plan, a workspace or a kernel.

    :param calls: ``again`` for a call with a copy of the same sample, ``after another`` for one with another sample.
    """
    others = {"again": [sample], "after another": operator.samples[-1:]}.get(calls, [])
    for other in others:
        copied = variants.map_tensors(other, lambda value: value.detach().clone())
        with contextlib.suppress(*REFUSALS), torch.no_grad():
            operator.entry(copied.input, *copied.args, **copied.kwargs)


def _forward_only(results: list[torch.Tensor] | None) -> Computed | None:
    """Return results without gradients, or None for None."""
    return None if results is None else Computed(results, [], 0.0)


def _threads(device: str, count: str) -> t.ContextManager[None]:
    """Compute with this many threads; on a GPU, "1" means another stream, and "3" a CUDA graph (see :func:`call`)."""
    if device == "cuda":
        return another_stream() if count == "1" else contextlib.nullcontext()
    return threads(int(count)) if count.isdigit() else contextlib.nullcontext()


def _autocast(device: str, mode: str) -> t.ContextManager[t.Any]:
    return torch.autocast(device, torch.bfloat16) if mode == "autocast" else contextlib.nullcontext()


def _gap_untouched(written: torch.Tensor) -> bool:
    """Tell whether the elements between those written are unchanged; see :func:`variants.with_out`."""
    gap = written._base[..., 1]
    return bool((gap.isnan() if variants.is_float(written) else gap == 1).all())


def _in_place(operator: Operator, sample: t.Any) -> list[torch.Tensor] | None:
    """Return the first input after the in-place variant of the operator, or None if the sample does not fit it."""
    targets = tensors([sample.input])
    if sample.broadcasts_input:
        return None
    plain = tensors(operator.entry(sample.input, *sample.args, **sample.kwargs))
    forms = [[(each.shape, each.dtype, each.layout) for each in results] for results in (plain, targets)]
    if forms[0] != forms[1]:
        return None
    operator.entry.inplace_variant(sample.input, *sample.args, **sample.kwargs)
    return targets


def _reference(operator: Operator, sample: t.Any, step: float = 0.0) -> Computed:
    """Return the results of an operator in float64 on the CPU, for a sample shifted by a step."""
    return _compute_exactly(operator, *_in_wide_format(operator, sample, step))


def _in_wide_format(operator: Operator, sample: t.Any, step: float = 0.0) -> tuple[t.Any, list[torch.Tensor]]:
    """Return a sample in float64, or int64 for an operator on integers; see :func:`in_float64`."""
    only_numerator = step and operator.name == "div.trunc_rounding"
    changed, differentiated = in_float64(sample, 0.0 if only_numerator else step)
    if only_numerator:
        # Moved like the divisor, the numerator would leave the quotient as it is; rounding may lift it to an integer.
        changed.input, differentiated = changed.input * (1 + step), []
    if not operator.has_integers:
        return changed, differentiated
    return variants.map_tensors(changed, lambda value: value.long() if value.dtype is operator.dtype else value), []


def _compute_exactly(operator: Operator, sample: t.Any, differentiated: t.Sequence[torch.Tensor]) -> Computed:
    """Return the results for a sample in a wide format; functions of integers are computed in float64."""
    default = torch.get_default_dtype()
    if operator.has_integers:
        torch.set_default_dtype(torch.float64)
    try:
        return compute(operator.entry, sample, differentiated, operator.unit_format, operator.seed)
    finally:
        torch.set_default_dtype(default)


def _wrapped(operator: Operator, exact: Computed, made: Computed) -> Computed:
    """Return the reference with its integers wrapped around to the width of the computed ones."""

    def of(expected: torch.Tensor, actual: torch.Tensor) -> torch.Tensor:
        are_integers = expected.dtype is torch.int64 and actual.dtype is operator.dtype
        return expected.to(actual.dtype) if are_integers else expected

    return dataclasses.replace(exact, results=list(map(of, exact.results, made.results)))


def without_gradients(sample: t.Any) -> t.Any:
    """Return the sample with tensors that do not require gradients."""
    return transform(sample, lambda value: value.detach() if isinstance(value, torch.Tensor) else value)


def with_one_gradient(sample: t.Any, turn: int) -> t.Any:
    """Return the sample with one of the tensors that require gradients; another one each turn."""
    chosen = (leaves(sample) or [None])[turn % max(1, len(leaves(sample)))]
    return variants.map_tensors(sample, lambda value: value if value is chosen else value.detach())


def reference(operator: Operator, sample: t.Any) -> Exact:
    """Return a sample, the operator's float64 results for it on the CPU, and the shifted reference.

    Lists for ``_foreach`` operators may be empty, or contain booleans or scalars. Such samples get no gradients.
    """
    try:
        wide_sample, differentiated = _in_wide_format(operator, sample)
        before = [tensor.detach().clone() for tensor in inputs(wide_sample)]
        exact = _compute_exactly(operator, wide_sample, differentiated)
        sample = copy_changed(sample, before, inputs(wide_sample))
    except (RuntimeError, TypeError, IndexError):
        if not operator.name.startswith("_foreach"):
            raise
        sample = without_gradients(sample)
        exact = _reference(operator, sample)
    return sample, exact, shifted_reference(functools.partial(_reference, operator), exact, operator.unit_format)


def _row_reference(operator: Operator, base: t.Any, row: t.Mapping[str, str]) -> Exact:
    """Return the reference for a sample with the numbers of a row, which other rows with these numbers share."""
    address = row["layout"] if row["layout"] in variants.SAME_ADDRESS else ""
    # The results of a reference with all gradients are also those of one without.
    directions = (ONE_GRADIENT,) if row["direction"] == ONE_GRADIENT else ("backward", row["direction"])
    for direction in directions:
        if exact := operator.exact.get((id(base), row["values"], address, direction)):
            return exact
    numbers = numbers_of(operator, base, row)
    if row["direction"] == ONE_GRADIENT:
        numbers = with_one_gradient(numbers, operator.turn)
    exact = reference(operator, without_gradients(numbers) if row["direction"] == "forward" else numbers)
    operator.exact[id(base), row["values"], address, row["direction"]] = exact
    return exact


def compare_row(outcome: t.Any, operator: Operator, row: dict[str, str]) -> dict[str, str] | None:
    """Compare a row of several conditions, without those that the operator does not support; see :func:`compare`."""
    sample = operator.sample(row["option"])
    is_known = not operator.gpu and platform.machine() == "x86_64"
    operator.in_tiles = is_known and row["size"] == DRAWN and row["values"] != PLAIN["values"]
    row = {axis: value if operator.takes(axis, value, sample) else PLAIN[axis] for axis, value in row.items()}
    return compare(outcome, operator, sample, row, replaces=True)


def compare(
    outcome: t.Any, operator: Operator, sample: t.Any, row: dict[str, str], replaces: bool = False
) -> dict[str, str] | None:
    """Compare an operator's results under a row's conditions with the reference, and record the errors.

    Return the conditions that were computed, or None if the operator refuses the input or has several right answers.

    :param outcome: the :class:`comparison.Survey` that collects the errors.
    :param replaces: whether the plain layout replaces one that the input cannot have.
    """
    if not operator.has_gradient(row):
        row = {**row, "direction": PLAIN["direction"]}
    # The first resized sample that the operator accepts is used, or else the sample itself.
    for base in itertools.chain(resized_samples(operator, row) if row["size"] != PLAIN["size"] else (), [sample]):
        is_listed = base is sample
        row = {**row, "size": PLAIN["size"] if is_listed else row["size"]}
        positive = {**row, "values": row["values"].removeprefix("negative ")}
        try:
            variant_sample, exact, shifted = _row_reference(operator, base, positive)
            break
        except REFUSALS:
            continue
    else:
        return None
    label = _label(operator, row)
    try:
        if positive != row:
            variant_sample = numbers_of(operator, base, row, -1.0)
        if row["mode"] == "in place":
            variant_sample = variants.map_tensors(variant_sample, lambda value: value.detach().clone())
        laid = variants.with_layout(variant_sample, row["layout"])
        if laid is None:
            if not replaces:
                return None
            row["layout"], laid = PLAIN["layout"], variant_sample
            label = _label(operator, row)
        made, is_clean = call(operator, laid, row)
    except torch.OutOfMemoryError:
        raise
    except REFUSALS as error:
        # For an empty result, CUDA does not start some kernels, and remains usable, as after a refusal of cuBLAS.
        does_not_start = row["size"] in ("empty", "one") and "invalid argument" in str(error)
        if "CUDA error" in str(error) and not (does_not_start or "CUBLAS_STATUS_INVALID_VALUE" in str(error)):
            raise RuntimeError(f"{label}: {one_line(error)}") from error
        outcome.refused[label] = one_line(error)
        return None
    if made is None or (errors := _errors(operator, row, made, exact, shifted, base)) is None:
        return None
    outcome.note(label, errors if is_clean else (misfit("numbers between those of out= were written"), 0.0))
    if any(gradient is not None for gradient in made.gradients):
        outcome.backward.add(operator.name)
    operator.record(row, functools.partial(call, operator, laid, row))
    return row


def _errors(
    operator: Operator, row: t.Mapping[str, str], made: Computed, exact: Computed, shifted: Shifted, base: t.Any
) -> t.Sequence[float] | None:
    """Return the errors of results and gradients, or None if there is no single right answer.

    :param base: the sample before its numbers were replaced by those of the row.
    """
    values, dtype = row["values"], operator.unit_format
    if operator.has_integers:
        is_function = any(map(variants.is_float, exact.results)) and not operator_bounds.is_elementary(operator.name)
        if is_function or operator.name.startswith(("mode", "linspace", "logspace", "masked.logsumexp")):
            # Other formats cover functions, whose results at integers may be poles, or cancel. Several integers may be
            # equally frequent, and torch does not define which of them is the mode. Devices compute the steps between
            # two numbers in other formats before they cut them (pytorch#181807). torch converts the infinity of a row
            # without visible numbers to an integer, which is undefined.
            return None
        exact = _wrapped(operator, exact, made)
    if operator.has_equal_numbers(row) and operator.name == "argsort":
        is_right = variants.in_order(exact.sample.input, made.results[0], exact.results[0])
        return 0.0 if is_right else misfit("the indices do not sort the input"), 0.0
    if operator.has_equal_numbers(row) and RETURNS_INDICES.match(operator.name):
        is_pair = made.sample is not None and "pool" not in operator.name
        if is_pair and not variants.select(made.sample.input, made.results):
            return misfit("the values are not those at the indices"), 0.0
        made = Computed([*made.results[:1], *exact.results[1:]], [], 0.0)
    if values.startswith(variants.SUBNORMAL):
        draw_larger = functools.partial(numbers_of, operator, base, row, larger=GROWN)
        return _subnormal_errors(made, exact, lambda: _reference(operator, draw_larger()), dtype)
    if values in ("NaN", "negative NaN", "infinite"):
        measure = variants.misplaced_infinity if values == "infinite" else variants.misplaced_nan
        if operator.moves:
            measure = variants.misplaced_values
        elif not operator.has_nan_in_place(variants.is_known(base, dtype) and row["mode"] != "autocast"):
            measure = variants.lost_nan
        elif POSITIONS.match(operator.name) or re.match(r"fft\." if operator.gpu else r"fft\.(h|ir)fft", operator.name):
            # With cuFFT, a NaN also reaches the line before it, as if two were computed as a complex one. In transforms
            # to real numbers, a NaN times the cosine of a right angle may be left out, and so may a pixel on the edge
            # of a filter, whose weight is zero.
            measure = variants.lost_nan
        return measure(on_the_host(made.results), exact.results), 0.0
    is_resized = row["size"] != PLAIN["size"] and values != "zero"
    # The terms of a result may cancel, as in the variance of equal numbers, or 1 minus the cosine of two.
    cancelled = VANISHING * _largest(tensors(base.input), 0.0)
    if (is_resized or row["layout"] in variants.SAME_ADDRESS) and _largest(exact.results, math.inf) <= cancelled:
        return None
    if row["mode"] == "autocast" and not dtype.is_complex:
        dtype = torch.bfloat16
        # The gradient that reaches the result is rounded too, which matters where its sum cancels.
        rounded = dataclasses.replace(operator, dtype=dtype)
        shifted = shifted_reference(functools.partial(_reference, rounded), exact, dtype)
    # If a single number's terms cancel, there is no larger result to which the error could be relative.
    scale = _largest(tensors(base.input), 0.0) if row["size"] == "one" else 0.0
    errors = worst_errors(made, exact, shifted, dtype, scale)
    if values == "zero":
        measure = variants.misplaced_nan if dtype.is_complex else variants.misplaced_infinity
        errors[0] = max(errors[0], measure(on_the_host(made.results), exact.results))
    if "logsumexp" in operator.name:
        # Its gradient is an exponential of the difference between a number and the result, which rounds.
        errors[1] /= max(1.0, _largest(tensors(base.input), 1.0))
    # On a CPU, torch adds up the gradients of a norm's weights in 16 bits.
    is_sum = dtype in (torch.float32, torch.complex64) or "norm" in operator.name
    # A GPU's error in 16 bits grows with the number of terms, as if each sum so far were rounded (2.11, 2.14.1). The
    # trapezoid rule rounds the sum of each two neighbours, and the terms may cancel.
    is_running = operator.name.endswith(("cumsum", "trapezoid", "trapz"))
    if row["size"] != PLAIN["size"] and (is_sum or is_running):
        shapes = [tensor.shape for tensor in inputs(base)]
        with contextlib.suppress(RuntimeError):
            # ``dist`` adds up the differences of all elements of its broadcast inputs.
            shapes.append(torch.broadcast_shapes(*shapes))
        shapes += [tensor.shape for tensor in exact.results]
        factor = summing_factor(shapes, row["layout"] == variants.EXPANDED)
        if POSITIONS.match(operator.name):
            factor = max(factor, position_factor(operator.name, base.input.shape[2:]))
        errors = [errors[0] / (factor if dtype.itemsize > 2 or is_running else 1.0), errors[1] / factor]
        if operator.name.endswith(("multi_margin_loss", "multilabel_margin_loss")):
            # A CPU adds up equal terms, one for each class, or for each pair of it and a label, which targets repeat.
            errors[1] /= base.input.shape[-1] if "label" in operator.name else factor
    return errors


def _subnormal_errors(
    made: Computed, exact: Computed, larger_reference: t.Callable[[], Computed], dtype: torch.dtype
) -> list[float] | None:
    """Return the errors of results that are all subnormal and proportional to the inputs, or None for other results.

    :param larger_reference: a function that computes the reference for inputs ``GROWN`` times as large.
    """
    indices = [
        index
        for index, tensor in enumerate(exact.results)
        if tensor.is_floating_point() and tensor.layout is torch.strided and tensor.numel()
    ]
    small = [exact.results[index] for index in indices]
    if not small or any(float(tensor.abs().max()) >= torch.finfo(dtype).tiny for tensor in small):
        return None
    try:
        larger = larger_reference().results
    except REFUSALS:
        return None
    if not all(torch.allclose(exact.results[index] * GROWN, larger[index], 1e-6, 0.0) for index in indices):
        return None
    made, exact = Computed([made.results[index] for index in indices], [], 0.0), Computed(small, [], 0.0)
    # A result flushed to zero is off by tens of thousands of units, and in 16-bit formats by about fifty.
    part = FLUSHED if dtype is torch.float32 else 1.0
    return [error / part for error in worst_errors(made, exact, lambda: exact, dtype)]


def _largest(values: t.Sequence[torch.Tensor], otherwise: float) -> float:
    """Return the largest number in the dense tensors, or ``otherwise`` if there are none."""
    dense = [tensor.detach() for tensor in values if variants.is_float(tensor) and tensor.numel()]
    return max((float(tensor.abs().max()) for tensor in dense), default=otherwise)


def _label(operator: Operator, row: t.Mapping[str, str]) -> str:
    """Return the label of a call: ``cumsum, transposed, tail``."""
    values = [value for axis, value in row.items() if axis not in UNLABELED and value != PLAIN[axis]]
    on_gpu = {"1": "another stream", "3": variants.GRAPH}
    counts = on_gpu if operator.gpu else {"1": "1 thread", "3": "3 threads"}
    conditions = [counts.get(value, value).replace(" twice", "") for value in values]
    return ", ".join([operator.name, *conditions])
