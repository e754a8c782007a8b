# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls an operator under the conditions of a row, and compares it with float64 on the CPU in plain layout."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import random
import typing as t

from ..bounds import on_the_host
from . import variants
from .conditions import PLAIN, RETURNS_PLACES, Exact, Operator, numbers_of, sized
from .rounding import (
    VANISHING,
    Computed,
    Moved,
    apart,
    away,
    beside,
    computed,
    exact_of,
    inputs,
    leaves,
    short,
    tensors,
)
from .table import AXES

if t.TYPE_CHECKING:
    import torch

#: How many times as far off subnormal numbers may be, and how many times as large numbers show whether results grow.
FLUSHED, GROWN = 16.0, 2.0**20
#: Axes whose values are no words of how an operator was called.
UNSAID = ("format", "option", "direction")
#: What a library or a device may answer with where numbers do not fit.
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError)


def call(operator: Operator, sample: t.Any, row: t.Mapping[str, str]) -> tuple[Computed | None, bool]:
    """Return what the operator makes of a sample as a row asks, and whether it left alone what lies beside.

    None where there is no such way to call it.
    """
    import torch

    entry, dtype, seed = operator.entry, operator.dtype, operator.seed
    with _threads(operator.device, row["threads"]):
        if row["direction"] == "backward":
            with _autocast(operator.device, row["mode"]):
                return computed(entry, sample, leaves(sample), dtype, seed), True
        with torch.no_grad(), _autocast(operator.device, row["mode"]):
            if row["mode"] == "in place":
                return _only(_in_place(operator, sample)), True
            plain = computed(entry, sample, [], dtype, seed)
            if row["mode"] == "out=":
                written = variants.into_given(entry, sample, plain.results)
                return _only(written), all(map(_is_alone, written or []))
            if row["threads"] == "3" and operator.gpu:
                return _only(variants.in_a_graph(entry, sample, plain.results, operator.full)), True
            return plain, True


def _only(results: list[torch.Tensor] | None) -> Computed | None:
    """Return results without gradients; None for None."""
    return None if results is None else Computed(results, [], 0.0)


@contextlib.contextmanager
def _threads(device: str, count: str) -> t.Iterator[None]:
    """Compute with so many threads; on a GPU, which has none, with one in another stream and with three in a graph."""
    import torch

    if device == "cuda":
        with on_a_stream(count == "1"):
            yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(int(count) if count.isdigit() else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _autocast(device: str, mode: str) -> t.ContextManager[t.Any]:
    import torch

    return torch.autocast(device, torch.bfloat16) if mode == "autocast" else contextlib.nullcontext()


def _is_alone(written: torch.Tensor) -> bool:
    """Say whether the elements between those that were written are as they were, see :func:`variants.into_given`."""
    beside = written._base[..., 1]
    return bool((beside.isnan() if variants.of_numbers(written) else beside == 1).all())


def _in_place(operator: Operator, sample: t.Any) -> list[torch.Tensor] | None:
    """Return what the operator leaves in its first input; None where it cannot be called so."""
    held, function = tensors([sample.input]), operator.entry.inplace_variant
    if function is None or sample.broadcasts_input:
        return None
    plain = tensors(operator.entry(sample.input, *sample.args, **sample.kwargs))
    if [(one.shape, one.dtype, one.layout) for one in plain] != [(one.shape, one.dtype, one.layout) for one in held]:
        return None
    function(sample.input, *sample.args, **sample.kwargs)
    return held


def _exactly(operator: Operator, sample: t.Any, step: float = 0.0) -> Computed:
    """Return what an operator makes of a sample, moved by a step, in float64 on the CPU."""
    return computed(operator.entry, *exact_of(sample, step), operator.dtype, operator.seed)


def without_gradients(sample: t.Any) -> t.Any:
    """Return the sample with nothing to differentiate for."""
    import torch

    return sample.transform(lambda value: value.detach() if isinstance(value, torch.Tensor) else value)


def reference(operator: Operator, sample: t.Any, key: t.Any = None) -> Exact:
    """Return what an operator makes of a sample in float64 on the CPU, and the sample.

    Those of optimisers are given empty lists, truth values and scalars too, which are not differentiated for: there it
    is the sample without gradients.

    :param key: under which it is kept.
    """
    if key is not None and key in operator.exact:
        return operator.exact[key]
    try:
        given, differentiated = exact_of(sample)
        before = [one.detach().clone() for one in inputs(given)]
        exact = computed(operator.entry, given, differentiated, operator.dtype, operator.seed)
        sample = apart(sample, before, inputs(given))
    except (RuntimeError, TypeError, IndexError):
        if not operator.name.startswith("_foreach"):
            raise
        sample = without_gradients(sample)
        exact = _exactly(operator, sample)
    found = sample, exact, beside(functools.partial(_exactly, operator), exact, operator.dtype)
    if key is not None:
        operator.exact[key] = found
    return found


def compare_single(found: t.Any, operator: Operator, sample: t.Any, row: dict[str, str]) -> None:
    """Compare a row of one condition, if the operator takes it."""
    if all(operator.takes(axis, value, sample) for axis, value in row.items()):
        compare(found, operator, sample, row)


def compare_row(found: t.Any, operator: Operator, row: dict[str, str], chance: random.Random) -> dict[str, str] | None:
    """Compare a row of several conditions, without those that the operator does not take; see :func:`compare`."""
    sample = operator.samples[AXES["option"].index(row["option"]) % len(operator.samples)]
    row = {axis: value if operator.takes(axis, value, sample) else PLAIN[axis] for axis, value in row.items()}
    others = sized(operator, row, chance) if row["size"] != PLAIN["size"] else ()
    if others and RETURNS_PLACES.match(operator.name):
        row["direction"] = "forward"
    return compare(found, operator, sample, row, others, row["format"])


def compare(
    found: t.Any,
    operator: Operator,
    sample: t.Any,
    row: dict[str, str],
    others: t.Iterable[t.Any] = (),
    form: str = "",
) -> dict[str, str] | None:
    """Compare what an operator makes of a sample under the conditions of a row with what is exact, and note it.

    Return the conditions that were computed; None where it takes no such input, or is not to be judged.

    :param found: the :class:`comparison.Survey` that is told.
    :param others: the sample in another size; the first counts that is taken, and the sample itself if none is.
    :param form: what follows the conditions in the name under which it is noted.
    """
    import torch

    for base in itertools.chain(others, [sample]):
        is_listed = base is sample
        row = {**row, "size": PLAIN["size"] if is_listed else row["size"]}
        positive = {**row, "values": row["values"].removeprefix("negative ")}
        address = row["layout"] if row["layout"] in variants.SAME_ADDRESS else ""
        try:
            numbers = numbers_of(operator, base, positive)
            key = (id(base), positive["values"], address, row["direction"]) if is_listed else None
            if row["direction"] == "forward" and key not in operator.exact:
                numbers = without_gradients(numbers)
            given, exact, moved = reference(operator, numbers, key)
            break
        except REFUSALS:
            continue
    else:
        return None
    words = _words(operator, row, form)
    try:
        if positive != row:
            given = numbers_of(operator, base, row, -1.0)
        if row["mode"] == "in place":
            given = variants.changed(given, lambda value: value.detach().clone())
        laid = variants.laid(given, row["layout"])
        if laid is None:
            if not form:
                return None
            row["layout"], laid = PLAIN["layout"], given
            words = _words(operator, row, form)
        made, is_alone = call(operator, laid, row)
    except torch.OutOfMemoryError:
        raise
    except REFUSALS as error:
        if "CUDA error" in str(error):
            raise RuntimeError(f"{words}: {short(error)}") from error
        found.refused[words] = short(error)
        return None
    if made is None or (errors := _errors(operator, row, made, exact, moved, base)) is None:
        return None
    found.note(words, errors if is_alone else (math.inf, 0.0))
    if any(one is not None for one in made.gradients):
        found.backward.add(operator.name)
    operator.record(row, functools.partial(call, operator, laid, row))
    return row


def _errors(
    operator: Operator, row: t.Mapping[str, str], made: Computed, exact: Computed, moved: Moved, base: t.Any
) -> t.Sequence[float] | None:
    """Return how far off results and gradients are; None where nobody says what is right.

    :param base: the sample before it had the numbers of the row.
    """
    import torch

    values, dtype = row["values"], operator.dtype
    if row["size"] != PLAIN["size"] and RETURNS_PLACES.match(operator.name):
        # Of equal values any may be meant.
        results = [one if variants.of_numbers(one) else other for one, other in zip(made.results, exact.results)]
        made = Computed(results, [], 0.0)
    if values.startswith(variants.SUBNORMAL):
        grown = functools.partial(numbers_of, operator, base, row, larger=GROWN)
        return _off_of_subnormal(made, exact, lambda: _exactly(operator, grown()), dtype)
    if values in ("NaN", "negative NaN", "infinite"):
        compare = variants.infinite_elsewhere if values == "infinite" else variants.nan_elsewhere
        if operator.moves:
            compare = variants.moved_otherwise
        elif not operator.has_nan_in_place(variants.is_known(base, dtype)):
            compare = variants.nan_gone
        return compare(on_the_host(made.results), exact.results), 0.0
    if row["layout"] in variants.SAME_ADDRESS and _vanishes(exact, base):
        return None
    if row["mode"] == "autocast" and not dtype.is_complex:
        dtype = torch.bfloat16
        moved = beside(functools.partial(_exactly, operator), exact, dtype)
    errors = away(made, exact, moved, dtype)
    if values == "zero":
        errors[0] = max(errors[0], variants.infinite_elsewhere(on_the_host(made.results), exact.results))
    return errors


def _vanishes(exact: Computed, sample: t.Any) -> bool:
    """Say whether a result is what is left of a cancellation, as the variance of equal numbers."""
    return _largest(exact.results, math.inf) <= VANISHING * _largest(tensors(sample.input), 0.0)


def _off_of_subnormal(
    made: Computed, exact: Computed, grown: t.Callable[[], Computed], dtype: torch.dtype
) -> list[float] | None:
    """Return how far off results are where all are subnormal and grow as the numbers do; else None.

    :param grown: computes what is exact of numbers ``GROWN`` times as large.
    """
    import torch

    numbers = [
        number
        for number, one in enumerate(exact.results)
        if one.is_floating_point() and one.layout is torch.strided and one.numel()
    ]
    small = [exact.results[number] for number in numbers]
    if not small or any(float(one.abs().max()) >= torch.finfo(dtype).tiny for one in small):
        return None
    try:
        larger = grown().results
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError):
        return None
    if not all(torch.allclose(exact.results[one] * GROWN, larger[one], 1e-6, 0.0) for one in numbers):
        return None
    made, exact = Computed([made.results[one] for one in numbers], [], 0.0), Computed(small, [], 0.0)
    # Flushed it is off by tens of thousands of units; in 16 bits by some fifty.
    part = FLUSHED if dtype is torch.float32 else 1.0
    return [one / part for one in away(made, exact, lambda: exact, dtype)]


def _largest(values: t.Sequence[torch.Tensor], otherwise: float) -> float:
    """Return the largest number of dense tensors, or something else where there is none."""
    dense = [one.detach() for one in values if variants.of_numbers(one) and one.numel()]
    return max((float(one.abs().max()) for one in dense), default=otherwise)


def _words(operator: Operator, row: t.Mapping[str, str], form: str) -> str:
    """Return how an operator was called: ``cumsum, transposed, tail, float32``."""
    values = [value for axis, value in row.items() if axis not in UNSAID and value != PLAIN[axis]]
    on_gpu = {"1": "another stream", "3": variants.GRAPH}
    counts = on_gpu if operator.gpu else {"1": "1 thread", "3": "3 threads"}
    said = [counts.get(value, value).replace(" twice", "") for value in values]
    return ", ".join([operator.name, *said, *([form] if form else [])])


@contextlib.contextmanager
def on_a_stream(wanted: bool) -> t.Iterator[None]:
    """Compute on a stream of its own, for which this one waits afterwards."""
    import torch

    if not wanted:
        yield
        return
    here, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        yield
    here.wait_stream(side)
