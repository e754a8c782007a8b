# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One operator of torch's catalogue in one format: called plainly, in other ways, with other numbers, and again."""

from __future__ import annotations

import collections
import dataclasses
import random
import typing as t

from ...check import is_full
from ..bounds import on_the_host
from . import calls, conditions
from .conditions import PLAIN, Operator, differentiable
from .rounding import Computed, away, computed, leaves, number_of, short, tensors
from .table import AXES

if t.TYPE_CHECKING:
    import torch

#: How often an operator is called with the same input, beside once.
AGAIN = 4
#: How the names of losses end.
LOSSES = ("loss", "entropy")


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
    called = Operator(operator, name, device, dtype, seed, inputs, is_full(samples))
    done: list[tuple[t.Any, t.Sequence[torch.Tensor]]] = []
    refused: list[BaseException] = []
    for number, listed in enumerate(inputs):
        found.samples += 1
        # A probability of dropout: two devices draw other numbers.
        if listed.kwargs.get("dropout_p") or listed.kwargs.get("dropout"):
            continue
        try:
            sample, exact, moved = calls.reference(called, listed)
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError) as error:
            refused.append(error)
            if len(refused) == len(inputs):
                raise NotOffered(f"the CPU in float64: {short(error)}") from error
            continue
        # The rows of this sample are compared with the same.
        inputs[number] = sample
        for direction in AXES["direction"]:
            called.exact[id(sample), PLAIN["values"], "", direction] = sample, exact, moved
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
        done.append((sample, plain.results))
    # By one of the inputs, or by all where all are asked for: the largest, for some are without a dimension, and of
    # those the one with the largest results.
    largest = max(done, key=lambda one: (_numbers(one[0].input), _numbers(one[1])), default=None)
    for number, one in enumerate(done):
        rows: list[dict[str, str]] = []
        if one is largest or called.full:
            _again(found, called, one[0])
            rows = conditions.singles(called)
        elif (device == "cpu" and of_lists) or (not number and name.endswith(LOSSES)):
            # Losses have another kind of target.
            rows = conditions.singles_of_numbers(called)
        for row in rows:
            calls.compare_single(found, called, one[0], row)


def _numbers(value: t.Any) -> int:
    """Return how many numbers are in it."""
    return sum(one.numel() for one in tensors(value))


def _again(found: Survey, operator: Operator, sample: t.Any) -> None:
    """Compute the same again: what keeps something between calls, as a workspace or a plan, is wrong in some alone."""
    import torch

    name, (_sample, exact, moved) = operator.name, operator.exact[id(sample), PLAIN["values"], "", PLAIN["direction"]]
    made: list[list[torch.Tensor]] = []
    try:
        for call in range(AGAIN):
            # The last on another stream, after what was computed here.
            with torch.no_grad(), calls.on_a_stream(operator.gpu and call == AGAIN - 1):
                value = operator.entry(sample.input, *sample.args, **sample.kwargs)
                made.append(tensors(sample.output_process_fn_grad(value)))
        count = len(made[0])
        there = on_the_host([one for results in made for one in results])
        for first in range(0, len(there), count or 1):
            found.note(name, away(Computed(there[first : first + count], [], 0.0), exact, moved, operator.dtype))
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AssertionError) as error:
        found.refused[f"{name}, again"] = short(error)
