"""Compares one operator from torch's catalogue in one format: plain calls, other calls, other numbers, and repeats."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import random
import typing as t

from ...check import is_full
from ..bounds import another_stream, torch
from . import calls, conditions
from .conditions import PLAIN, Operator, is_differentiable
from .rounding import Computed, compute, leaves, on_the_host, one_line, seed_of, tensors, worst_errors

#: The number of further calls of an operator with the same input.
REPEATS = 4
#: The endings of the names of losses.
LOSSES = ("loss", "entropy")


@dataclasses.dataclass
class Survey:
    """The outcome of a run over the catalogue in one format.

    :ivar units: by operator, the worst errors of results and gradients, in units; other ways to call the operator have
        keys like ``name, strided``.
    :ivar refused: by operator, the message with which the device refused it in this format or called this way.
    :ivar ended: by operator, the error that it raised although the CPU computes it in float64.
    :ivar left_out: the operators that are not compared; see ``operator_bounds.LEFT_OUT``.
    :ivar waiting: the number of operators that were left for another day because time ran out.
    :ivar listed: the number of operators in the catalogue.
    :ivar differentiable: the number of operators with gradients in this format.
    :ivar backward: the operators whose gradients were compared.
    :ivar functions: the operators that compute a function of one real number, for each element.
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
    functions: set[str] = dataclasses.field(default_factory=set)

    def note(self, name: str, errors: t.Sequence[float]) -> None:
        """Keep the larger of these errors and those recorded before."""
        self.units[name] = [max(pair) for pair in zip(errors, self.units.get(name, (0.0, 0.0)))]

    def drop(self, name: str, why: str) -> None:
        """Record that an operator is not offered, and forget its errors."""
        self.units.pop(name, None)
        self.backward.discard(name)
        self.refused[name] = why

    def forget(self, name: str) -> None:
        """Leave an operator for another day, and forget its errors."""
        self.units = {key: value for key, value in self.units.items() if key.partition(",")[0] != name}
        self.backward.discard(name)
        self.waiting += 1

    @property
    def operators(self) -> int:
        """The number of operators that were computed."""
        return len([name for name in self.units if "," not in name])

    @property
    def coverage(self) -> str:
        """A phrase for the number of operators that were computed, forward and backward."""
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


class NotOffered(Exception):
    """The device, or the CPU in float64, does not offer an operator."""


def draw(samples: t.Iterable[t.Any], count: int, seed: str, each: bool = False) -> list[t.Any]:
    """Return some samples: the first, which is the plainest, and others drawn by the seed from each kind in turn.

    Samples of one kind have arguments of the same types, which select the same overload of an operator.

    :param each: whether to return at least one sample of each kind, even if that is more than ``count``.
    """
    listed = []
    for sample in samples:
        listed.append(sample)
        # Some operators have thousands of samples, which take longer to make than to compute.
        if len(listed) >= 20 * count:
            break
    if len(listed) <= count:
        return listed
    others = random.Random(seed).sample(listed[1:], len(listed) - 1)  # noqa: S311 - the choice need not be secret
    seen = collections.Counter([_kind(listed[0])])
    turns = []
    for number, sample in enumerate(others):
        turns.append((seen[_kind(sample)], number))
        seen[_kind(sample)] += 1
    if each:
        count = max(count, len(seen))
    return [listed[0], *(others[number] for _turn, number in sorted(turns)[: count - 1])]


def _kind(sample: t.Any) -> str:
    """Return the types of a sample's arguments, and its strings, since each of them may select another kernel."""

    def of(value: t.Any) -> str:
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(sorted(set(map(of, value))))}]"
        if isinstance(value, (bool, int, float)):
            return "number"
        return value if isinstance(value, str) else type(value).__name__

    parts = [sample] if hasattr(sample, "input") else [sample.constructor_input, sample.forward_input]
    types = []
    for part in parts:
        types += [of(getattr(part, "input", None)), *map(of, part.args)]
        types += [f"{key}={of(part.kwargs[key])}" for key in sorted(part.kwargs)]
    return " ".join(types)


def in_format(entry: t.Any, dtype: torch.dtype, device: str, samples: int, seed: str, each: bool = False) -> Operator:
    """Return an operator in a format with some of the catalogue's samples; see :func:`draw`."""
    torch.manual_seed(seed_of(seed))
    try:
        gradients = is_differentiable(entry, dtype, device)
        listed = draw(entry.sample_inputs(device, dtype, requires_grad=gradients), samples, seed, each)
    except (RuntimeError, TypeError, ValueError) as error:
        raise NotOffered(f"its inputs cannot be created: {one_line(error)}") from error
    # Two devices would drop different numbers.
    listed = [sample for sample in listed if not (sample.kwargs.get("dropout_p") or sample.kwargs.get("dropout"))]
    return Operator(entry, name_of(entry), device, dtype, seed, listed)


def compare(outcome: Survey, operator: t.Any, dtype: torch.dtype, device: str, samples: int, seed: str) -> None:
    """Compare an operator's results and gradients for some samples."""
    name = name_of(operator)
    # Each kind of list calls a different overload.
    of_lists = name.startswith("_foreach")
    subject = in_format(operator, dtype, device, samples, seed, of_lists)
    inputs, subject.full = subject.samples, is_full(samples)
    outcome.note(name, (0.0, 0.0))
    compared: list[tuple[t.Any, t.Sequence[torch.Tensor]]] = []
    refused: list[BaseException] = []
    for number, listed in enumerate(inputs):
        outcome.samples += 1
        try:
            sample, exact, shifted = calls.reference(subject, listed)
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
            refused.append(error)
            if len(refused) == len(inputs):
                raise NotOffered(f"the CPU in float64: {one_line(error)}") from error
            continue
        # Other ways to call the operator with this sample have the same reference.
        inputs[number] = sample
        subject.exact[id(sample), PLAIN["values"], "", "backward"] = sample, exact, shifted
        try:
            plain = compute(operator, sample, leaves(sample), dtype, seed)
        except (NotImplementedError, AssertionError) as error:
            raise NotOffered(one_line(error)) from error
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            if "CUDA error" in str(error):
                # Every later operator would raise the same error.
                raise RuntimeError(f"{name}: {one_line(error)}") from error
            outcome.ended[name] = f"failed with an error: {one_line(error)}"
            continue
        outcome.note(name, worst_errors(plain, exact, shifted, dtype))
        if any(gradient is not None for gradient in plain.gradients):
            outcome.backward.add(name)
        compared.append((sample, plain.results))
    # Other ways to call it get the largest input, since small ones have no layout to vary; a full run uses all inputs.
    largest = max(compared, key=lambda pair: (_count(pair[0].input), _count(pair[1])), default=None)
    for number, pair in enumerate(compared):
        rows: list[dict[str, str]] = []
        if pair is largest or subject.full:
            _compare_repeats(outcome, subject, pair[0])
            rows = conditions.single_condition_rows(subject)
        elif (device == "cpu" and of_lists) or (not number and name.endswith(LOSSES)):
            # The first sample for a loss has another kind of target than the largest sample.
            rows = conditions.single_value_rows(subject)
        for row in rows:
            if all(subject.takes(axis, value, pair[0]) for axis, value in row.items()):
                calls.compare(outcome, subject, pair[0], row)


def _count(value: t.Any) -> int:
    """Return the number of elements of all tensors in a value."""
    return sum(tensor.numel() for tensor in tensors(value))


def _compare_repeats(outcome: Survey, operator: Operator, sample: t.Any) -> None:
    """Repeat a call: a kernel that keeps a workspace or a plan between calls may be wrong in only some of them."""
    name, (_sample, exact, shifted) = operator.name, operator.exact[id(sample), PLAIN["values"], "", "backward"]
    made: list[list[torch.Tensor]] = []
    try:
        for call in range(REPEATS):
            is_last = operator.gpu and call == REPEATS - 1
            with torch.no_grad(), another_stream() if is_last else contextlib.nullcontext():
                value = operator.entry(sample.input, *sample.args, **sample.kwargs)
                made.append(tensors(sample.output_process_fn_grad(value)))
        count = len(made[0])
        on_host = on_the_host([result for results in made for result in results])
        for first in range(0, len(on_host), count or 1):
            repeated = Computed(on_host[first : first + count], [], 0.0)
            outcome.note(name, worst_errors(repeated, exact, shifted, operator.dtype))
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
        outcome.refused[f"{name}, again"] = one_line(error)
