# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One operator of torch's catalogue in one format: called plainly, in other ways, with other numbers, and again."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import math
import random
import typing as t

from ...check import is_full
from ..bounds import on_the_host
from . import operator_bounds, variants
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
    number_of,
    tensors,
)

if t.TYPE_CHECKING:
    import torch

#: How often an operator is called with the same input, beside once.
AGAIN = 4
#: How the names of losses end.
LOSSES = ("loss", "entropy")
#: How many times as far off subnormal numbers may be.
FLUSHED = 16.0


@dataclasses.dataclass
class Survey:
    """What a run over the catalogue found in one format.

    :ivar units: by operator, the worst error of the results and of the gradients, in units; for another way to call it
        under ``name, strided``.
    :ivar refused: by operator, what the device said that does not offer it in this format, or not so.
    :ivar ended: operators that ended with an error where the CPU in float64 computes them, and with which.
    :ivar left_out: operators that are not compared, see ``operator_bounds.LEFT_OUT``.
    :ivar waiting: how many there was no time for.
    :ivar listed: how many operators the catalogue has.
    :ivar differentiable: how many of them it has gradients for in this format.
    :ivar backward: those whose gradients were compared.
    """

    units: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    left_out: list[str] = dataclasses.field(default_factory=list)
    ended: dict[str, str] = dataclasses.field(default_factory=dict)
    samples: int = 0
    waiting: int = 0
    listed: int = 0
    differentiable: int = 0
    backward: set[str] = dataclasses.field(default_factory=set)

    def note(self, name: str, both: t.Sequence[float]) -> None:
        """Keep the larger of these errors and of those that are there."""
        self.units[name] = [max(pair) for pair in zip(both, self.units.get(name, (0.0, 0.0)))]

    def drop(self, name: str, why: str) -> None:
        """Note that an operator is not offered, whatever was computed of it."""
        self.units.pop(name, None)
        self.backward.discard(name)
        self.refused[name] = why

    def forget(self, name: str) -> None:
        """Leave an operator to another day, whatever was computed of it."""
        self.units = {key: value for key, value in self.units.items() if key.partition(",")[0] != name}
        self.backward.discard(name)
        self.waiting += 1

    @property
    def operators(self) -> int:
        """How many were computed."""
        return len([name for name in self.units if "," not in name])

    @property
    def coverage(self) -> str:
        """How many of the catalogue were computed, and of those with gradients backward; in words."""
        if not self.differentiable:
            return f"{self.operators}"
        part = len(self.backward) / self.differentiable
        return (
            f"{self.operators} of {self.listed} (backward {len(self.backward)} of {self.differentiable}"
            f" differentiable, {part:.1%})"
        )


def name_of(operator: t.Any) -> str:
    """Return an operator's name: ``nn.functional.pad.reflect``."""
    return f"{operator.name}.{operator.variant_test_name}" if operator.variant_test_name else str(operator.name)


def differentiable(operator: t.Any, dtype: torch.dtype, device: str) -> bool:
    """Say whether the catalogue has gradients of an operator in a format."""
    return bool(operator.supports_autograd) and dtype in operator.supported_backward_dtypes(device)


class NotOffered(Exception):
    """The device, or the CPU in float64, does not compute an operator."""


def drawn(samples: t.Iterable[t.Any], count: int, seed: str, each: bool = False) -> list[t.Any]:
    """Return some of the inputs: the first, which is the plainest, and others by the seed, of each kind one before two.

    Of a kind are those whose arguments are of the same types, for which the same overload of an operator is called.

    :param each: whether there is one of each kind, if those are more.
    """
    listed = []
    for sample in samples:
        listed.append(sample)
        # Some operators bring thousands, which take longer to make than to compute.
        if len(listed) >= 20 * count:
            break
    if len(listed) <= count:
        return listed
    others = random.Random(seed).sample(listed[1:], len(listed) - 1)  # noqa: S311 - which inputs are tried is no secret
    seen = collections.Counter([_kind(listed[0])])
    turns = []
    for number, sample in enumerate(others):
        turns.append((seen[_kind(sample)], number))
        seen[_kind(sample)] += 1
    if each:
        count = max(count, len(seen))
    return [listed[0], *(others[number] for _turn, number in sorted(turns)[: count - 1])]


def _kind(sample: t.Any) -> str:
    """Return the types of an input's arguments, and the words among them: each may call another kernel."""

    def of(value: t.Any) -> str:
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(sorted(set(map(of, value))))}]"
        if isinstance(value, (bool, int, float)):
            return "number"
        return value if isinstance(value, str) else type(value).__name__

    parts = [sample] if hasattr(sample, "input") else [sample.constructor_input, sample.forward_input]
    found = []
    for part in parts:
        found += [of(getattr(part, "input", None)), *map(of, part.args)]
        found += [f"{key}={of(part.kwargs[key])}" for key in sorted(part.kwargs)]
    return " ".join(found)


def short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def compare(found: Survey, operator: t.Any, dtype: torch.dtype, device: str, samples: int, seed: str) -> None:
    """Compare an operator's results and gradients for some inputs."""
    import torch

    name = name_of(operator)
    # Each of their inputs is another overload.
    of_lists = name.startswith("_foreach")
    gradients = differentiable(operator, dtype, device)
    torch.manual_seed(number_of(seed))
    try:
        inputs = drawn(operator.sample_inputs(device, dtype, requires_grad=gradients), samples, seed, of_lists)
    except (RuntimeError, TypeError, ValueError) as error:
        raise NotOffered(f"its inputs cannot be created: {short(error)}") from error
    found.note(name, (0.0, 0.0))
    done: list[tuple[t.Any, tuple[Computed, Computed, Moved]]] = []
    refused: list[BaseException] = []
    for sample in inputs:
        found.samples += 1
        # A probability of dropout: two devices draw other numbers.
        if sample.kwargs.get("dropout_p") or sample.kwargs.get("dropout"):
            continue
        try:
            sample, exact = _exact(operator, sample, dtype, seed)
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
            refused.append(error)
            if len(refused) == len(inputs):
                raise NotOffered(f"the CPU in float64: {short(error)}") from error
            continue
        moved = beside(functools.partial(_exactly, operator, dtype, seed), exact, dtype)
        try:
            plain = computed(operator, sample, leaves(sample), dtype, seed)
        except (NotImplementedError, AssertionError) as error:
            raise NotOffered(short(error)) from error
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            if "CUDA error" in str(error):
                # All later operators would end in the same error.
                raise RuntimeError(f"{name}: {short(error)}") from error
            found.ended[name] = f"failed with an error: {short(error)}"
            continue
        found.note(name, away(plain, exact, moved, dtype))
        if any(one is not None for one in plain.gradients):
            found.backward.add(name)
        done.append((sample, (plain, exact, moved)))
    # By one of the inputs, or by all where all are asked for: the largest, for some are without a dimension, and of
    # those the one with the largest results.
    largest = max(done, key=lambda one: (_numbers(one[0].input), _numbers(one[1][0].results)), default=None)
    full = is_full(samples)
    for number, one in enumerate(done):
        if one is largest or full:
            _other_ways(found, operator, *one, dtype, seed, full)
        elif (device == "cpu" and of_lists) or (not number and name.endswith(LOSSES)):
            # Losses have another kind of target.
            _other_numbers(found, operator, one[0], dtype, seed, full)


def _largest(values: t.Sequence[torch.Tensor], otherwise: float) -> float:
    """Return the largest number of dense tensors, or something else where there is none."""
    dense = [one.detach() for one in values if variants.of_numbers(one) and one.numel()]
    return max((float(one.abs().max()) for one in dense), default=otherwise)


def _numbers(value: t.Any) -> int:
    """Return how many numbers are in it."""
    return sum(one.numel() for one in tensors(value))


def _exactly(operator: t.Any, dtype: torch.dtype, seed: str, sample: t.Any, step: float = 0.0) -> Computed:
    """Return what an operator makes of a sample, moved by a step, in float64 on the CPU."""
    return computed(operator, *exact_of(sample, step), dtype, seed)


def _exact(operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str) -> tuple[t.Any, Computed]:
    """Return what an operator makes of a sample in float64 on the CPU, and the sample.

    Those of optimisers are given empty lists, truth values and scalars too, which are not differentiated for: there it
    is the sample without gradients.
    """
    import torch

    try:
        given, differentiated = exact_of(sample)
        before = [one.detach().clone() for one in inputs(given)]
        exact = computed(operator, given, differentiated, dtype, seed)
        return apart(sample, before, inputs(given)), exact
    except (RuntimeError, TypeError, IndexError):
        if not operator.name.startswith("_foreach"):
            raise
    plain = sample.transform(lambda value: value.detach() if isinstance(value, torch.Tensor) else value)
    return plain, _exactly(operator, dtype, seed, plain)


def _other_ways(
    found: Survey,
    operator: t.Any,
    sample: t.Any,
    known: tuple[Computed, Computed, Moved],
    dtype: torch.dtype,
    seed: str,
    full: bool,
) -> None:
    """Compare what an operator makes of strided inputs, in place, in a graph, and in tensors that are given.

    :param known: what it makes of the sample, what is exact, and what is exact of inputs one step beside.
    :param full: whether everything is asked.
    """
    name, (plain, exact, moved) = name_of(operator), known
    _again(found, operator, sample, exact, moved, dtype)
    calls = variants.calls(full)
    for way in [variants.STRIDED, variants.TRANSPOSED, *calls]:
        words = f"{name}, {way}"
        if operator_bounds.left_out(words):
            found.left_out.append(words)
            continue
        try:
            if way == variants.STRIDED:
                if not variants.has_steps(sample):
                    continue
                apart = sample.noncontiguous()
                made = computed(operator, apart, leaves(apart), dtype, seed)
            elif way == variants.TRANSPOSED:
                turned = variants.transposed(sample)
                made = computed(operator, turned, leaves(turned), dtype, seed)
            else:
                results = calls[way](operator, sample, plain.results)
                if results is None:
                    continue
                made = Computed(results, [], 0.0)
        except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
            found.refused[words] = short(error)
            continue
        found.note(words, away(made, exact, moved, dtype))
    _other_numbers(found, operator, sample, dtype, seed, full)


def _other_numbers(found: Survey, operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str, full: bool) -> None:
    """Compute with one number at many places, with subnormal numbers, and with a NaN, which must come through as in the
    exact result.
    """
    name, any_number = name_of(operator), type(operator).__name__ in variants.TAKE_ANY
    known, gpu = variants.is_known(sample, dtype), _on_gpu(sample)
    moves = variants.MOVES.match(name) is not None
    if any_number or moves or (full and variants.takes_equal(name, gpu)):
        equal = variants.expanded(sample, not any_number)
        _compared(found, operator, variants.EXPANDED, equal, dtype, seed)
    elif full and variants.LIBRARIES.match(name):
        _compared(found, operator, variants.EXPANDED, variants.twice(sample), dtype, seed)
    if variants.takes_subnormal(name, dtype, known, gpu, full):
        every = variants.CHOOSES.match(name) is not None
        # A sum of two is subnormal where both are.
        for count in (None,) if every else (1, 2) if full else (1,):
            _subnormal(found, operator, sample, dtype, seed, count)
    exactly = variants.takes_nan(name, any_number or moves, known, gpu)
    lossless = variants.DIRECT.match(name) or variants.PRODUCTS.search(name)
    if not exactly and not (full and known and lossless):
        return
    given = variants.with_nan(sample, moves, first="polynomial" in name)
    if both := _both(found, operator, variants.WITH_NAN, given, dtype, seed):
        made, exact = both
        compare = variants.moved_otherwise if moves else variants.nan_elsewhere
        if not exactly:
            compare = variants.nan_gone
        found.note(f"{name}, {variants.WITH_NAN}", (compare(on_the_host(made.results), exact.results), 0.0))


def _compared(found: Survey, operator: t.Any, way: str, given: t.Any, dtype: torch.dtype, seed: str) -> None:
    """Note how far off an operator is for other numbers, if it takes them."""
    if both := _both(found, operator, way, given, dtype, seed):
        made, exact = both
        if _largest(exact.results, math.inf) <= VANISHING * _largest(tensors(given.input), 0.0):
            # The variance of equal numbers is what is left of a cancellation.
            return
        moved = beside(functools.partial(_exactly, operator, dtype, seed), exact, dtype)
        found.note(f"{name_of(operator)}, {way}", away(made, exact, moved, dtype))


def _subnormal(found: Survey, operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str, count: int | None) -> None:
    """Note how far off an operator is for subnormal numbers, if results are subnormal too and grow as the numbers do.

    Of others nobody says how exact they are there.

    :param count: how many of its inputs have such numbers; None: all.
    """
    import torch

    way, larger = variants.SUBNORMAL, 2.0**20
    given = variants.subnormal(sample, count=count)
    if not (both := _both(found, operator, way, given, dtype, seed)):
        return
    made, exact = both
    numbers = [
        number
        for number, one in enumerate(exact.results)
        if one.is_floating_point() and one.layout is torch.strided and one.numel()
    ]
    small = [exact.results[number] for number in numbers]
    if not small or any(float(one.abs().max()) >= torch.finfo(dtype).tiny for one in small):
        return
    try:
        grown = _exactly(operator, dtype, seed, variants.subnormal(sample, larger, count)).results
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError):
        return
    if all(torch.allclose(exact.results[one] * larger, grown[one], 1e-6, 0.0) for one in numbers):
        made, exact = Computed([made.results[one] for one in numbers], [], 0.0), Computed(small, [], 0.0)
        # Flushed it is off by tens of thousands of units; in 16 bits by some fifty.
        part = FLUSHED if dtype is torch.float32 else 1.0
        found.note(f"{name_of(operator)}, {way}", [one / part for one in away(made, exact, lambda: exact, dtype)])


def _both(
    found: Survey, operator: t.Any, way: str, given: t.Any, dtype: torch.dtype, seed: str
) -> tuple[Computed, Computed] | None:
    """Return what the operator makes of other numbers, and what is exact; None where either does not take them."""
    full = f"{name_of(operator)}, {way}"
    if operator_bounds.left_out(full):
        found.left_out.append(full)
        return None
    try:
        exact = _exactly(operator, dtype, seed, given)
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError):
        # Not every operator takes such numbers.
        return None
    try:
        return computed(operator, given, [], dtype, seed), exact
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
        found.refused[full] = short(error)
        return None


def _on_gpu(sample: t.Any) -> bool:
    return any(one.is_cuda for one in tensors([sample.input, *sample.args]))


def _again(found: Survey, operator: t.Any, sample: t.Any, exact: Computed, moved: Moved, dtype: torch.dtype) -> None:
    """Compute the same again: what keeps something between calls, as a workspace or a plan, is wrong in some alone."""
    import torch

    name = name_of(operator)
    made: list[list[torch.Tensor]] = []
    gpu = _on_gpu(sample)
    try:
        for call in range(AGAIN):
            # The last on another stream, after what was computed here.
            with torch.no_grad(), on_a_stream(gpu and call == AGAIN - 1):
                value = operator(sample.input, *sample.args, **sample.kwargs)
                made.append(tensors(sample.output_process_fn_grad(value)))
        count = len(made[0])
        there = on_the_host([one for results in made for one in results])
        for first in range(0, len(there), count or 1):
            found.note(name, away(Computed(there[first : first + count], [], 0.0), exact, moved, dtype))
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
        found.refused[f"{name}, again"] = short(error)


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
