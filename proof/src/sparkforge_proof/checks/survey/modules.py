# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules and the optimisers of torch's own catalogue, as the family survey does with its operators."""

from __future__ import annotations

import copy
import functools
import typing as t
import warnings

from ...check import CRASH, SURVEYED, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, one_thread
from ..programs import training
from . import all_operators, comparison, operator_bounds, rounding

if t.TYPE_CHECKING:
    import torch

#: A result below it may be what is left of a cancellation, such as a loss near zero: its error is measured by it.
NEAR_ZERO = 1 / 16
#: Formats in which modules are computed.
FORMATS = ("float32", "bfloat16")


def _listed(name: str, what: str) -> list[t.Any]:
    """Return a list of torch.testing._internal.

    :raises Skipped: this torch brings none.
    """
    # It imports the list of operators, and says what is missing.
    all_operators.catalogue()
    try:
        module = __import__(f"torch.testing._internal.{name}", fromlist=[what])
        return list(getattr(module, what))
    except (ImportError, AttributeError) as error:
        raise Skipped(f"This torch's {what} cannot be read: {error}.") from error


# -- modules


class _Called:
    """A module in the place of an operator of the catalogue.

    :ivar first: the word that the first input goes by; empty where it has none.
    """

    def __init__(self, module: t.Any, first: str) -> None:
        self.module, self.first = module, first

    def __call__(self, first: t.Any, *args: t.Any, **words: t.Any) -> t.Any:
        return self.module(**{self.first: first}, **words) if self.first else self.module(first, *args, **words)


def modules(device: str, form: str, samples: int, seed: int, context: Context) -> comparison.Survey:
    """Compute each module of the catalogue on the device and in float64 on the CPU."""
    import torch

    found, dtype = comparison.Survey(), getattr(torch, form)
    with all_operators.surveying(device):
        for info in _listed("common_modules", "module_db"):
            if dtype not in (*info.supported_dtypes(device), torch.bfloat16):
                continue
            for training_mode in (True, False) if info.train_and_eval_differ else (True,):
                name = f"{info.name}{' trained' if training_mode else ' used'} ({form})"
                if info.name in operator_bounds.MODULES_LEFT_OUT:
                    found.left_out.append(name)
                    continue
                if name in context.passed_over:
                    continue
                context.step(name)
                try:
                    _module(found, name, info, (device, dtype), training_mode, samples, f"{seed} {name}")
                except comparison.NotOffered as error:
                    found.drop(name, str(error))
    return found


def _module(
    found: comparison.Survey,
    name: str,
    info: t.Any,
    where: tuple[str, torch.dtype],
    training_mode: bool,
    samples: int,
    seed: str,
) -> None:
    """Compare results and gradients of one module for some of its inputs."""
    import torch
    from torch.testing._internal.opinfo.core import SampleInput

    device, dtype = where
    torch.manual_seed(rounding.number_of(seed))
    try:
        inputs = info.module_inputs_func(info, device=device, dtype=dtype, requires_grad=True, training=training_mode)
        drawn = comparison.drawn(inputs, samples, seed)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise comparison.NotOffered(rounding.short(error)) from error
    for given in drawn:
        found.samples += 1
        arguments = given.constructor_input
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(rounding.number_of(seed))
                module = _without_chance(info.module_cls(*arguments.args, **arguments.kwargs)).to(device, dtype)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            raise comparison.NotOffered(rounding.short(error)) from error
        module.train(training_mode)
        args, words = list(given.forward_input.args), dict(given.forward_input.kwargs)
        word = "" if args else next(iter(words))
        first = words.pop(word) if word else args.pop(0)
        sample = SampleInput(first, args=tuple(args), kwargs=words)
        try:
            exact = _exactly(module, word, dtype, seed, sample)
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            raise comparison.NotOffered(f"the CPU in float64: {rounding.short(error)}") from error
        moved = rounding.beside(functools.partial(_exactly, module, word, dtype, seed), exact, dtype)
        leaves = [*rounding.leaves(sample), *module.parameters()]
        try:
            plain = rounding.computed(_Called(module, word), sample, leaves, dtype, seed)
        except RuntimeError as error:
            if training._NOT_OFFERED.search(str(error)) or "cudnn RNN backward" in str(error):
                raise comparison.NotOffered(rounding.short(error)) from error
            if "CUDA error" in str(error):
                raise RuntimeError(f"{name}: {rounding.short(error)}") from error
            found.ended[name] = f"failed with an error: {rounding.short(error)}"
            continue
        found.note(name, rounding.away(plain, exact, moved, dtype, NEAR_ZERO))


def _exactly(
    module: t.Any, word: str, dtype: torch.dtype, seed: str, sample: t.Any, step: float = 0.0
) -> rounding.Computed:
    """Compute a copy of a module in float64 on the CPU, inputs and weights moved by a step."""
    import torch

    inputs, leaves = rounding.exact_of(sample, step)
    other = _moved(copy.deepcopy(module).to("cpu", torch.float64), step)
    return rounding.computed(_Called(other, word), inputs, [*leaves, *other.parameters()], dtype, seed)


def _without_chance(module: t.Any) -> t.Any:
    """Have nothing dropped at random: two devices draw other numbers."""
    import torch

    for one in module.modules():
        if isinstance(one, torch.nn.modules.dropout._DropoutNd):
            one.p = 0.0
        elif isinstance(getattr(one, "dropout", None), float):
            one.dropout = 0.0
    return module


def _moved(module: t.Any, step: float) -> t.Any:
    """Move each weight by a step, as the inputs are."""
    import torch

    with torch.no_grad():
        for weight in module.parameters():
            signs = torch.arange(weight.numel()).remainder(2).mul(2).sub(1).reshape(weight.shape)
            weight.mul_(1 + step * signs)
    return module


@check(
    "survey.modules",
    devices=("cuda", "cpu"),
    seconds=120,
    steps=True,
    measured=SURVEYED,
)
def all_modules(context: Context) -> Measured:
    """Each module of torch's list, trained and used, with its weights' gradients."""
    seed = context.seed
    whole = comparison.Survey()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in FORMATS:
            found = modules(context.device, form, int(context.limits["samples"]), seed, context)
            whole.units.update(found.units)
            whole.refused.update(found.refused)
            whole.ended.update(found.ended)
            whole.left_out += found.left_out
            whole.samples += found.samples
    allowed = {name: operator_bounds.of_module(name) for name in whole.units}
    return all_operators.judged(context, whole, allowed, " and ".join(FORMATS), seed)


# -- optimisers

#: Optimisers that are not compared, and why.
OPTIMIZERS_LEFT_OUT = {
    "LBFGS": "it searches its step by losses, and rounding changes the search",
    "Muon": "it orthogonalises its step in bfloat16, whatever the weights' format",
    "SparseAdam": "it accepts only sparse gradients",
}


#: How many times as far off a weight may be where what follows from the number of the step is computed on the device:
#: RAdam takes a difference of two numbers in float32 there that are 400 times as large as it.
ON_THE_DEVICE = 4.0


@check(
    "survey.optimizers",
    devices=("cuda", "cpu"),
    seconds=120,
    steps=True,
    measured=SURVEYED,
)
def all_optimizers(context: Context) -> Measured:
    """Each optimiser of torch's list with the options that it brings, in every way that torch computes it."""
    import torch

    cases = Cases("an optimiser", all_operators.REMEDY)
    generator = context.generator(f"survey optimizers {context.seed}")
    shapes = [(7,), (33, 5), (2, 3, 4), (257,)]
    weights = [torch.randn(shape, generator=generator) for shape in shapes]
    steps = training.OPTIMIZER_STEPS
    gradients = [[torch.randn(shape, generator=generator) for shape in shapes] for _step in range(steps)]
    refused, left_out = 0, 0
    for info in _listed("common_optimizers", "optim_db"):
        if info.name in OPTIMIZERS_LEFT_OUT:
            left_out += 1
            continue
        ways: list[dict[str, bool]] = [{"foreach": False}, {"foreach": True}]
        if context.device in info.supports_fused_on:
            ways.append({"fused": True})
        if info.has_capturable_arg and context.device == "cuda":
            ways += [{"foreach": False, "capturable": True}, {"foreach": True, "capturable": True}]
        for given in info.optim_inputs_func(device=context.device):
            options = {key: _on_the_cpu(value) for key, value in given.kwargs.items() if key != "capturable"}
            with one_thread():
                exact, largest = training.stepped(
                    info.optim_cls, {**options, "foreach": False}, weights, gradients, "cpu", torch.float64
                )
            for way in ways:
                named = ", ".join(f"{key}={value}" for key, value in {**given.kwargs, **way}.items())
                case = f"{info.name} {named}"
                if case in context.passed_over:
                    continue
                context.step(case)
                try:
                    found, _largest = training.stepped(
                        info.optim_cls, {**given.kwargs, **way}, weights, gradients, context.device, torch.float32
                    )
                except (TypeError, ValueError, RuntimeError) as error:
                    if not way.get("foreach", True):
                        raise Unanswered(
                            CRASH, f"{case} ended with an error: {error}.", all_operators.REMEDY
                        ) from error
                    refused += 1
                    continue
                for number, (actual, wanted) in enumerate(zip(found, exact)):
                    unit = training.OPTIMIZER_UNITS * steps * UNIT_ROUNDOFF["float32"]
                    unit *= ON_THE_DEVICE if way.get("capturable") else 1.0
                    cases.compare(f"{case}, weight {number}", actual, wanted, unit * (wanted.abs() + largest[number]))
    if context.passed_over:
        said = "; ".join(f"{name} {how}" for name, how in context.passed_over.items())
        raise Unanswered(CRASH, f"An optimiser: {said}. The others still ran.", all_operators.REMEDY)
    measured = cases.result()
    measured.measured += f"; {refused} not supported, {left_out} excluded"
    return measured


def _on_the_cpu(value: t.Any) -> t.Any:
    import torch

    return value.cpu().double() if isinstance(value, torch.Tensor) else value
