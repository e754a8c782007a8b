# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every operator of torch's own catalogue, with the inputs that it brings, forward and backward, against the CPU.

``torch.testing._internal`` lists some 700 operators with sample inputs for each format (OpInfo). Each is computed on
the device and, with the same inputs in float64, on the CPU. An error is counted in units: how far a value is off, by
the spacing of the format's numbers near the value and near the largest one of the result. How many units an operator
may be off stands in ``survey_bounds``, which was calibrated on sound stacks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import math
import random
import re
import sys
import time
import types
import typing as t
import unittest
import warnings
from unittest import mock

from ..check import (
    ABSENT,
    CRASH,
    FULL,
    H200,
    H200_LATER,
    X86,
    X86_LATER,
    Context,
    Failed,
    Measured,
    Skipped,
    Unanswered,
    check,
)
from . import survey_bounds, survey_variants
from .bounds import UNIT_ROUNDOFF, allow_tf32, on_the_host

if t.TYPE_CHECKING:
    import torch

#: How long one operator may take: some are compiled at their first use.
STEP_SECONDS = 120
#: Formats in which a run takes every operator, and for how many times as long as the others; of these it takes a third,
#: the next day another.
BROAD, LONGER, PARTS = ("float32", "bfloat16", "complex64"), 4.0, 3
#: How many of the operators that are off are named.
NAMED = 5
#: A gradient is nothing but rounding where it is smaller than this part of what went in, and then it may be so many
#: times as far off.
VANISHING, CANCELLED = 1e-6, 1e4

#: The attributes of an operator in the catalogue.
INTERFACE = (
    *"name variant_test_name supports_autograd supports_out inplace_variant sample_inputs supported_dtypes".split(),
    "supported_backward_dtypes",
)
#: How often an operator is called with the same input, beside once.
AGAIN = 4
#: How the names of losses end.
LOSSES = ("loss", "entropy")
#: So many units are below every bound.
SMALL = 2.0
#: How many times as far off subnormal numbers may be.
FLUSHED = 16.0
#: Computes what is exact of inputs one step beside; the same of one tensor.
Moved = t.Callable[[], "Computed"]
Near = t.Callable[[], "torch.Tensor | None"]
_OF_OPTIMIZERS = re.compile(r"foreach_\w+_op_db$")

REMEDY = (
    "Use another stack, or rebuild this one with other flags; to reproduce it, run the operator on the device and in "
    "float64 on the CPU."
)


KNOWN_REMEDY = "Do not compute what is named on this host, or use a torch in which it is mended."


@dataclasses.dataclass
class Survey:
    """What a run over the catalogue found in one format.

    :ivar units: by operator, the worst error of the results and of the gradients, in units; for another way to call it
        under ``name, strided``.
    :ivar refused: by operator, what the device said that does not offer it in this format, or not so.
    :ivar ended: operators that ended with an error where the CPU in float64 computes them, and with which.
    :ivar left_out: operators that are not compared, see ``survey_bounds.LEFT_OUT``.
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


def catalogue() -> list[t.Any]:
    """Return torch's operators.

    :raises Skipped: this torch brings no such list.
    """
    if "expecttest" not in sys.modules:
        # Only its base class of tests is wanted, for classes that are never used.
        stand_in = types.ModuleType("expecttest")
        stand_in.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = stand_in
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            listed = importlib.import_module("torch.testing._internal.common_methods_invocations")
        # Those of optimisers are in lists of their own: many tensors at once.
        groups = [listed.op_db, *(getattr(listed, name) for name in sorted(dir(listed)) if _OF_OPTIMIZERS.match(name))]
        found = [operator for group in groups for operator in group]
        for operator in found:
            _look_at(operator)
    except ImportError as error:
        raise Skipped(f"This torch's list of operators cannot be read: {error}.") from error
    except (AttributeError, TypeError, RuntimeError) as error:
        version = importlib.import_module("torch").__version__
        raise Skipped(
            f"The list of operators of torch {version} has an interface unknown to the survey: {short(error)}."
        ) from error
    return found


def _look_at(operator: t.Any) -> None:
    """Read what the survey reads of an operator.

    :raises AttributeError: it is not there.
    """
    for name in INTERFACE:
        getattr(operator, name)


def name_of(operator: t.Any) -> str:
    """Return an operator's name: ``nn.functional.pad.reflect``."""
    return f"{operator.name}.{operator.variant_test_name}" if operator.variant_test_name else str(operator.name)


def survey(
    device: str,
    form: str,
    samples: int,
    seed: int,
    only: t.Collection[str] | None = None,
    seconds: float = math.inf,
    passed_over: t.Collection[str] = (),
    step: t.Callable[[str], None] = lambda name: None,
) -> Survey:
    """Compute each operator in one format on the device and in float64 on the CPU, in an order that the seed gives.

    On a GPU those that are compiled at their first use, which takes seconds each, come last.

    :param form: ``float32``.
    :param samples: how many inputs of each operator, drawn by ``seed`` from those that it brings.
    :param only: names of operators; all where it is left out.
    :param seconds: after which no other operator is begun.
    :param passed_over: names of operators that ended the process before.
    :param step: told the name of each operator that is begun.
    """
    import torch

    found, dtype, operators = Survey(), getattr(torch, form), catalogue()
    found.listed = len(operators)
    found.differentiable = sum(differentiable(operator, dtype, device) for operator in operators)
    random.Random(f"{seed} {form}").shuffle(operators)  # noqa: S311 - which come first is no secret
    if device == "cuda":
        operators.sort(key=lambda operator: survey_bounds.compiled(name_of(operator)))
    began = time.monotonic()
    with surveying(device):
        for operator in operators:
            name = name_of(operator)
            if (only is not None and name not in only) or name in passed_over:
                continue
            if dtype not in operator.supported_dtypes(device):
                continue
            if survey_bounds.left_out(name):
                found.left_out.append(name)
                continue
            if time.monotonic() - began > seconds:
                found.waiting += 1
                continue
            step(name)
            try:
                _operator(found, operator, dtype, device, samples, f"{seed} {name}")
            except NotOffered as error:
                found.drop(name, str(error))
            except torch.OutOfMemoryError:
                # Somebody else's memory is no fault of the operator.
                found.forget(name)
                torch.cuda.empty_cache()
    return found


@contextlib.contextmanager
def surveying(device: str) -> t.Iterator[None]:
    """Compute without TensorFloat-32, and have ``torch.manual_seed`` seed the CPU and the device alone.

    For each other kind that was not used yet, torch keeps the call for later with the stack that it came from. The
    catalogue seeds for each input, so that this was half of a survey's time (2.13). And it looks through the stack for
    a test that asked for its inputs, where there is none.
    """
    import torch

    with contextlib.ExitStack() as stack:
        for kind in {"cuda", "xpu", "mtia"} - {device}:
            if hasattr(getattr(torch, kind, None), "manual_seed_all"):
                stack.enter_context(mock.patch.object(getattr(torch, kind), "manual_seed_all", lambda seed: None))
        tests = sys.modules.get("torch.testing._internal.common_utils")
        if hasattr(tests, "extract_test_fn"):
            stack.enter_context(mock.patch.object(tests, "extract_test_fn", lambda: None))
        stack.enter_context(allow_tf32(torch.backends.cuda.matmul, False))
        # After the catalogue's import cuDNN's flags are changed by its own context alone.
        stack.enter_context(torch.backends.cudnn.flags(allow_tf32=False))
        yield


def differentiable(operator: t.Any, dtype: torch.dtype, device: str) -> bool:
    """Say whether the catalogue has gradients of an operator in a format."""
    return bool(operator.supports_autograd) and dtype in operator.supported_backward_dtypes(device)


class NotOffered(Exception):
    """The device, or the CPU in float64, does not compute an operator."""


@dataclasses.dataclass
class Computed:
    """What an operator made of one input.

    :ivar results: its tensors, in order.
    :ivar gradients: of each leaf, None where it has none.
    :ivar scale: the largest value that went in backward.
    """

    results: list[torch.Tensor]
    gradients: list[torch.Tensor | None]
    scale: float


def _operator(found: Survey, operator: t.Any, dtype: torch.dtype, device: str, samples: int, seed: str) -> None:
    """Compare an operator's results and gradients for some inputs."""
    import torch

    name = name_of(operator)
    gradients = differentiable(operator, dtype, device)
    torch.manual_seed(number_of(seed))
    try:
        inputs = drawn(operator.sample_inputs(device, dtype, requires_grad=gradients), samples, seed)
    except (RuntimeError, TypeError, ValueError) as error:
        raise NotOffered(f"its inputs cannot be created: {short(error)}") from error
    found.note(name, (0.0, 0.0))
    largest = max(
        range(len(inputs)), key=lambda number: sum(one.numel() for one in tensors(inputs[number].input)), default=0
    )
    refused: list[BaseException] = []
    for number, sample in enumerate(inputs):
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
        moved = beside(functools.partial(_exactly, operator, sample, dtype, seed, spacing(dtype)), exact)
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
        # By one of the inputs, or by all where all are asked for: the largest, for some are without a dimension.
        if number == largest or samples >= FULL["samples"]:
            _other_ways(found, operator, sample, (plain, exact, moved), dtype, seed)
        elif (device == "cpu" and name.startswith("_foreach")) or (not number and name.endswith(LOSSES)):
            # Each input is another overload of it, or another kind of target.
            _other_numbers(found, operator, sample, dtype, seed)


def beside(step: t.Callable[[], Computed], exact: Computed) -> Moved:
    """Return what computes, once, what is exact of inputs one step beside."""

    @functools.cache
    def moved() -> Computed:
        # A step may lead out of what an operator takes: a probability beyond 1.
        with contextlib.suppress(RuntimeError, ValueError):
            return step()
        return exact

    return moved


def _exactly(operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str, step: float = 0.0) -> Computed:
    """Return what an operator makes of a sample, moved by a step, in float64 on the CPU."""
    return computed(operator, *exact_of(sample, step), dtype, seed)


def _exact(operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str) -> tuple[t.Any, Computed]:
    """Return what an operator makes of a sample in float64 on the CPU, and the sample.

    Those of optimisers are given empty lists, truth values and scalars too, which are not differentiated for: there it
    is the sample without gradients.
    """
    import torch

    try:
        return sample, _exactly(operator, sample, dtype, seed)
    except (RuntimeError, TypeError, IndexError):
        if not operator.name.startswith("_foreach"):
            raise
    plain = sample.transform(lambda value: value.detach() if isinstance(value, torch.Tensor) else value)
    return plain, _exactly(operator, plain, dtype, seed)


def _other_ways(
    found: Survey,
    operator: t.Any,
    sample: t.Any,
    known: tuple[Computed, Computed, Moved],
    dtype: torch.dtype,
    seed: str,
) -> None:
    """Compare what an operator makes of strided inputs, in place, and in tensors that are given.

    :param known: what it makes of the sample, what is exact, and what is exact of inputs one step beside.
    """
    name, (plain, exact, moved) = name_of(operator), known
    _again(found, operator, sample, exact, moved, dtype)
    for way in (survey_variants.STRIDED, survey_variants.TRANSPOSED, *survey_variants.CALLS):
        full = f"{name}, {way}"
        if survey_bounds.left_out(full):
            found.left_out.append(full)
            continue
        try:
            if way == survey_variants.STRIDED:
                if not survey_variants.has_steps(sample):
                    continue
                apart = sample.noncontiguous()
                made = computed(operator, apart, leaves(apart), dtype, seed)
            elif way == survey_variants.TRANSPOSED:
                turned = survey_variants.transposed(sample)
                made = computed(operator, turned, leaves(turned), dtype, seed)
            else:
                results = survey_variants.CALLS[way](operator, sample, plain.results)
                if results is None:
                    continue
                made = Computed(results, [], 0.0)
        except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
            found.refused[full] = short(error)
            continue
        found.note(full, away(made, exact, moved, dtype))
    _other_numbers(found, operator, sample, dtype, seed)


def _other_numbers(found: Survey, operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str) -> None:
    """Compute with one number at many places, with subnormal numbers, and with a NaN, which must come through as in the
    exact result.
    """
    name, any_number = name_of(operator), type(operator).__name__ in survey_variants.TAKE_ANY
    known = survey_variants.is_known(sample, dtype)
    moves = survey_variants.MOVES.match(name) is not None
    if any_number or moves:
        _compared(found, operator, survey_variants.EXPANDED, survey_variants.expanded(sample, moves), dtype, seed)
    if known and survey_variants.takes_subnormal(name, any(one.is_cuda for one in tensors([sample.input]))):
        _subnormal(found, operator, sample, dtype, seed)
    if not survey_variants.takes_nan(name, any_number or moves, known):
        return
    given = survey_variants.with_nan(sample, moves)
    if both := _both(found, operator, survey_variants.WITH_NAN, given, dtype, seed):
        made, exact = both
        compare = survey_variants.moved_otherwise if moves else survey_variants.nan_elsewhere
        wrong = compare(on_the_host(made.results), exact.results)
        found.note(f"{name}, {survey_variants.WITH_NAN}", (math.inf if wrong else 0.0, 0.0))


def _compared(found: Survey, operator: t.Any, way: str, given: t.Any, dtype: torch.dtype, seed: str) -> None:
    """Note how far off an operator is for other numbers, if it takes them."""
    if both := _both(found, operator, way, given, dtype, seed):
        made, exact = both
        moved = beside(functools.partial(_exactly, operator, given, dtype, seed, spacing(dtype)), exact)
        found.note(f"{name_of(operator)}, {way}", away(made, exact, moved, dtype))


def _subnormal(found: Survey, operator: t.Any, sample: t.Any, dtype: torch.dtype, seed: str) -> None:
    """Note how far off an operator is for subnormal numbers, if results are subnormal too and grow as the numbers do.

    Of others nobody says how exact they are there.
    """
    import torch

    way, larger = survey_variants.SUBNORMAL, 2.0**20
    every = survey_variants.CHOOSES.match(name_of(operator)) is not None
    given = survey_variants.subnormal(sample, every=every)
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
        grown = _exactly(operator, survey_variants.subnormal(sample, larger, every), dtype, seed).results
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError):
        return
    if all(torch.allclose(exact.results[one] * larger, grown[one], 1e-6, 0.0) for one in numbers):
        made, exact = Computed([made.results[one] for one in numbers], [], 0.0), Computed(small, [], 0.0)
        # Flushed it is off by tens of thousands of units.
        found.note(f"{name_of(operator)}, {way}", [one / FLUSHED for one in away(made, exact, lambda: exact, dtype)])


def _both(
    found: Survey, operator: t.Any, way: str, given: t.Any, dtype: torch.dtype, seed: str
) -> tuple[Computed, Computed] | None:
    """Return what the operator makes of other numbers, and what is exact; None where either does not take them."""
    full = f"{name_of(operator)}, {way}"
    if survey_bounds.left_out(full):
        found.left_out.append(full)
        return None
    try:
        exact = _exactly(operator, given, dtype, seed)
    except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError):
        # Not every operator takes such numbers.
        return None
    try:
        return computed(operator, given, [], dtype, seed), exact
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
        found.refused[full] = short(error)
        return None


def _again(found: Survey, operator: t.Any, sample: t.Any, exact: Computed, moved: Moved, dtype: torch.dtype) -> None:
    """Compute the same again: what keeps something between calls, as a workspace or a plan, is wrong in some alone."""
    import torch

    name = name_of(operator)
    made: list[list[torch.Tensor]] = []
    gpu = any(isinstance(one, torch.Tensor) and one.is_cuda for one in tensors([sample.input, *sample.args]))
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
        return Computed([result.detach() for result in results], [], 0.0)
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
    return Computed([result.detach() for result in results], list(gradients), scale)


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


def drawn(samples: t.Iterable[t.Any], count: int, seed: str) -> list[t.Any]:
    """Return some of the inputs: the first, which is the plainest, and others by the seed."""
    listed = []
    for sample in samples:
        listed.append(sample)
        # Some operators bring thousands, which take longer to make than to compute.
        if len(listed) >= 20 * count:
            break
    if len(listed) <= count:
        return listed
    return [listed[0], *random.Random(seed).sample(listed[1:], count - 1)]  # noqa: S311 - as above


def leaves(sample: t.Any) -> list[torch.Tensor]:
    """Return what is differentiated for, in the order of a transformation."""
    import torch

    found: list[torch.Tensor] = []

    def look(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor) and value.requires_grad:
            found.append(value)
        return value

    sample.transform(look)
    return found


def exact_of(sample: t.Any, step: float = 0.0) -> tuple[t.Any, list[torch.Tensor]]:
    """Return the same inputs in float64 on the CPU, each value larger or smaller by a step, and what has a gradient."""
    import torch

    def change(value: t.Any) -> t.Any:
        if isinstance(value, torch.Tensor):
            exact = value.detach().to("cpu")
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
        return 0.0 if bool(((got.to(expected.dtype) == expected) | (near != expected)).all()) else math.inf
    # A value beyond the format's range is infinite, and no other value is.
    got, expected, near = (one.to(torch.float64) for one in (got, expected, near))
    largest = torch.finfo(dtype).max
    away = (near - expected).abs()
    away = float(away[torch.isfinite(away)].max()) if bool(torch.isfinite(away).any()) else 0.0
    finite = torch.isfinite(expected) & (expected.abs() < largest)
    rest = got[~finite]
    if bool((torch.isfinite(rest) & (rest.abs() < largest / 2)).any()):
        return math.inf
    got, expected = got[finite], expected[finite]
    if expected.numel() == 0:
        return 0.0
    there = torch.isfinite(got)
    if not bool(there.all()):
        if not overflows:
            return math.inf
        got, expected = got[there], expected[there]
        if expected.numel() == 0:
            return 0.0
    around = expected.abs() + max(float(expected.abs().max()), scale) + away / spacing(dtype)
    # Where all is zero, or smaller than any number of the format.
    around = around.clamp_min(torch.finfo(dtype).tiny)
    return float(((got - expected).abs() / (spacing(dtype) * around)).max())


def _small(got: torch.Tensor, expected: torch.Tensor, dtype: torch.dtype, scale: float) -> float | None:
    """Return how far a result is off at most, in units, where that is below every bound; None where it may be more."""
    import torch

    if not expected.is_floating_point() and not expected.is_complex():
        return 0.0 if torch.equal(got.to(expected.dtype), expected) else None
    largest = max(float(expected.abs().max()), scale, torch.finfo(dtype).tiny)
    off = float((got.to(expected.dtype) - expected).abs().max()) / (spacing(dtype) * largest)
    # False for a NaN, as one comes of two infinities.
    return off if off <= SMALL else None


def short(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


def _surveyed(context: Context, form: str) -> Measured:
    """Compare every operator in one format.

    :raises Failed: one is off by more than it may.
    """
    seed = seed_of(context)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = float(context.limits["survey"])
        found = survey(
            context.device,
            form,
            int(context.limits["samples"]),
            seed,
            only=None if form in BROAD or seconds >= FULL["survey"] else _third(seed),
            seconds=seconds * (LONGER if form in BROAD else 1.0),
            passed_over=context.passed_over,
            step=context.step,
        )
    return judged(context, found, {name: survey_bounds.bounds(name, form) for name in found.units}, form, seed)


def _third(seed: int) -> set[str]:
    """Return the operators whose turn it is."""
    names = sorted({name_of(operator) for operator in catalogue()})
    return set(names[seed % PARTS :: PARTS])


def seed_of(context: Context) -> int:
    """Return what decides which inputs are drawn: the limit ``seed``, or the date."""
    return int(context.limits.get("seed") or time.strftime("%Y%m%d", time.gmtime()))


def judged(
    context: Context, found: Survey, allowed: t.Mapping[str, tuple[float, float]], form: str, seed: int
) -> Measured:
    """Compare what was found with its bounds.

    :param allowed: for each name how many units results and gradients may be off; infinite: not compared.
    :raises Failed: one is off by more than it may, or ended the process that computed it.
    """
    off: dict[str, tuple[bool, float, str]] = {}
    known: dict[str, str] = {}
    worst, worst_name = 0.0, "none"
    for name, both in found.units.items():
        for value, most, what in zip(both, allowed[name], ("", ", backward")):
            if math.isinf(most):
                continue
            ratio = value / most
            if ratio >= worst:
                worst, worst_name = ratio, f"{name}{what}"
            if ratio > 1 and what and context.device == "cuda" and (why := survey_bounds.known_defect(name)):
                known[f"{name}{what}"] = why
            elif ratio > 1:
                plain = name.partition(",")[0]
                one = (plain == name, ratio, f"{name}{what} by {value:.3g} units (bound {most:g})")
                # Of the ways to call an operator the plain one is named, where it is off as well.
                off[f"{plain}{what}"] = max(one, off.get(f"{plain}{what}", one))
    bound = "four times the error of known good stacks"
    measured = (
        f"{found.coverage} operators with {found.samples} inputs, {len(found.units) - found.operators} called in other"
        f" ways, at worst {worst:.2g} of the bound ({worst_name}); {len(found.refused)} not supported, "
        f"{len(found.left_out)} excluded, {found.waiting} for another day; seed {seed}"
    )
    ended = [f"{name} {how}" for name, how in {**context.passed_over, **found.ended}.items()]
    said = f" Ended: {'; '.join(ended)}. The others still ran." if ended else ""
    if off:
        ordered = sorted(off.values(), key=lambda one: -one[1])
        listed = "; ".join(text for _plain, _ratio, text in ordered[:NAMED])
        more = f"; and {len(off) - NAMED} more" if len(off) > NAMED else ""
        problem = Failed(f"Off in {form}: {listed}{more}.{said}", REMEDY, measured, bound, worst)
        if worst > survey_bounds.unknown(context.device, context.reference.get("capabilities") or ()):
            raise problem
        return Measured(measured, bound, worst, warning=problem)
    if ended:
        raise Unanswered(CRASH, f"In {form}:{said}", REMEDY, measured, bound)
    if not found.units:
        raise Unanswered(ABSENT, "No operator was computed.", REMEDY, measured, bound)
    warning = None
    if known:
        listed = "; ".join(f"{name}: {why}" for name, why in known.items())
        warning = Failed(f"Wrong in {form}, as is known of this torch: {listed}.", KNOWN_REMEDY, measured, bound, worst)
    return Measured(
        measured, bound, worst, warning=warning, covered=tuple(sorted({name.partition(",")[0] for name in found.units}))
    )


@check("survey.float64", devices=("cuda",), seconds=STEP_SECONDS, steps=True, measured=(H200,))
def float64(context: Context) -> Measured:
    """Each operator in float64: another algorithm than the CPU's, the same numbers."""
    return _surveyed(context, "float64")


@check("survey.float32", devices=("cuda", "cpu"), seconds=STEP_SECONDS, steps=True, measured=(H200, X86))
def float32(context: Context) -> Measured:
    """Each operator in float32, without TensorFloat-32."""
    return _surveyed(context, "float32")


@check("survey.bfloat16", devices=("cuda", "cpu"), seconds=STEP_SECONDS, steps=True, measured=(H200, X86))
def bfloat16(context: Context) -> Measured:
    """Each operator in bfloat16."""
    return _surveyed(context, "bfloat16")


@check("survey.float16", devices=("cuda", "cpu"), seconds=STEP_SECONDS, steps=True, measured=(H200, X86))
def float16(context: Context) -> Measured:
    """Each operator in float16."""
    return _surveyed(context, "float16")


@check("survey.complex64", devices=("cuda", "cpu"), seconds=STEP_SECONDS, steps=True, measured=(H200_LATER, X86_LATER))
def complex64(context: Context) -> Measured:
    """Each operator in complex64, forward and backward."""
    return _surveyed(context, "complex64")
