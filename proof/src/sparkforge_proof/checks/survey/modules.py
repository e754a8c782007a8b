"""Compares the modules and optimisers in torch's own catalogue with the CPU, as the survey does with operators."""

from __future__ import annotations

import copy
import functools
import inspect
import typing as t
import warnings

from ...check import CRASH, SEEN_GRID, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, one_thread, torch
from ..programs import training
from ..programs.recipes import ByDefinition
from . import all_operators, comparison, operator_bounds, rounding

#: The smallest magnitude to which an error is relative, since terms cancel in results such as a loss near zero.
NEAR_ZERO = 1 / 16
#: The formats in which modules are computed.
FORMATS = ("float32", "bfloat16")


def _listed(name: str, attribute: str) -> list[t.Any]:
    """Return a list from torch.testing._internal.

    :raises Skipped: if this torch has no such list.
    """
    # Importing the list of operators reports missing modules.
    all_operators.catalogue()
    try:
        module = __import__(f"torch.testing._internal.{name}", fromlist=[attribute])
        return list(getattr(module, attribute))
    except (ImportError, AttributeError) as error:
        raise Skipped(f"This torch's {attribute} cannot be read: {error}.") from error


# -- modules


class _Called:
    """A module that stands in for an operator from the catalogue. Its results include running statistics.

    :ivar first: the keyword for the first input, or '' if it is positional.
    """

    def __init__(self, module: t.Any, first: str) -> None:
        self.module, self.first = module, first

    def __call__(self, first: t.Any, *args: t.Any, **kwargs: t.Any) -> t.Any:
        call = functools.partial(self.module, **{self.first: first}) if self.first else self.module
        args = () if self.first else (first, *args)
        buffers = list(self.module.buffers())
        if buffers and self.module.training:
            # The second step continues the statistics of the first.
            call(*args, **kwargs)
        return [call(*args, **kwargs), [buffer.clone() for buffer in buffers]]


def modules(outcome: comparison.Survey, form: str, context: Context) -> None:
    """Compute each module in the catalogue in one format on the device and in float64 on the CPU."""
    device, dtype, samples = context.device, getattr(torch, form), int(context.limits["samples"])
    with all_operators.survey_settings(device):
        for info in _listed("common_modules", "module_db"):
            if dtype not in (*info.supported_dtypes(device), torch.bfloat16):
                continue
            for training_mode in (True, False) if info.train_and_eval_differ else (True,):
                name = f"{info.name}{' trained' if training_mode else ' used'} ({form})"
                if info.name in operator_bounds.LEFT_OUT:
                    outcome.left_out.append(name)
                    continue
                if name in context.passed_over:
                    continue
                context.step(name)
                try:
                    _module(outcome, name, info, (device, dtype), training_mode, samples, f"{context.seed} {name}")
                except comparison.NotOffered as error:
                    outcome.drop(name, str(error))


def _module(
    outcome: comparison.Survey,
    name: str,
    info: t.Any,
    device_and_dtype: tuple[str, torch.dtype],
    training_mode: bool,
    samples: int,
    seed: str,
) -> None:
    """Compare the results and gradients of one module for some of its inputs."""
    from torch.testing._internal.opinfo.core import SampleInput

    device, dtype = device_and_dtype
    torch.manual_seed(rounding.seed_of(seed))
    try:
        inputs = info.module_inputs_func(info, device=device, dtype=dtype, requires_grad=True, training=training_mode)
        drawn = comparison.draw(inputs, samples, seed)
    except (RuntimeError, TypeError, NotImplementedError) as error:
        raise comparison.NotOffered(rounding.one_line(error)) from error
    for listed in drawn:
        outcome.samples += 1
        arguments = listed.constructor_input
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(rounding.seed_of(seed))
                module = _without_dropout(info.module_cls(*arguments.args, **arguments.kwargs)).to(device, dtype)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            raise comparison.NotOffered(rounding.one_line(error)) from error
        module.train(training_mode)
        args, kwargs = list(listed.forward_input.args), dict(listed.forward_input.kwargs)
        word = "" if args else next(iter(kwargs))
        first = kwargs.pop(word) if word else args.pop(0)
        sample = SampleInput(first, args=tuple(args), kwargs=kwargs)
        try:
            exact = reference(module, word, dtype, seed, sample)
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            raise comparison.NotOffered(f"the CPU in float64: {rounding.one_line(error)}") from error
        # The plain call changes the statistics.
        refer = functools.partial(reference, copy.deepcopy(module), word, dtype, seed)
        shifted = rounding.shifted_reference(refer, exact, dtype)
        leaves = [*rounding.leaves(sample), *module.parameters()]
        try:
            plain = rounding.compute(_Called(module, word), sample, leaves, dtype, seed)
        except RuntimeError as error:
            if training._NOT_OFFERED.search(str(error)) or "cudnn RNN backward" in str(error):
                raise comparison.NotOffered(rounding.one_line(error)) from error
            if "CUDA error" in str(error):
                raise RuntimeError(f"{name}: {rounding.one_line(error)}") from error
            outcome.ended[name] = f"failed with an error: {rounding.one_line(error)}"
            continue
        outcome.note(name, rounding.worst_errors(plain, exact, shifted, dtype, NEAR_ZERO))


def reference(
    module: t.Any, word: str, dtype: torch.dtype, seed: str, sample: t.Any, step: float = 0.0
) -> rounding.Computed:
    """Compute a copy of a module in float64 on the CPU, with inputs and weights shifted by a step."""
    inputs, leaves = rounding.in_float64(sample, step)
    other = _shift_weights(copy.deepcopy(module).to("cpu", torch.float64), step)
    return rounding.compute(_Called(other, word), inputs, [*leaves, *other.parameters()], dtype, seed)


def _without_dropout(module: t.Any) -> t.Any:
    """Disable dropout, since two devices draw different numbers."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.modules.dropout._DropoutNd):
            layer.p = 0.0
        elif isinstance(getattr(layer, "dropout", None), float):
            layer.dropout = 0.0
    return module


def _shift_weights(module: t.Any, step: float) -> t.Any:
    """Shift each weight by a step, as the inputs are."""
    with torch.no_grad():
        for weight in module.parameters():
            signs = torch.arange(weight.numel()).remainder(2).mul(2).sub(1).reshape(weight.shape)
            weight.mul_(1 + step * signs)
    return module


@check("survey.modules", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SEEN_GRID)
def all_modules(context: Context) -> Measured:
    """Compare each module in torch's list, in training and in evaluation mode, with the gradients of its weights."""
    outcome = comparison.Survey()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for form in FORMATS:
            modules(outcome, form, context)
    allowed = {name: operator_bounds.of_module(name) for name in outcome.units}
    return all_operators.judge(context, outcome, allowed, " and ".join(FORMATS))


# -- optimisers

#: The error of a weight in learning rates if the device computes terms that depend on the step's number, in float32.
#: RAdam subtracts numbers that are 400 times as large as their difference. On a CPU, torch's own code was off by 0.001
#: for RAdam, and by at most 0.00015 for the others.
ON_THE_DEVICE = {"RAdam": 0.005, **dict.fromkeys(("Adam", "AdamW", "Adamax", "NAdam"), 0.001)}


@check("survey.optimizers", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SEEN_GRID)
def all_optimizers(context: Context) -> Measured:
    """Compare each optimiser in torch's list and its state, with the options in the list, in each implementation.

    The reference is the optimiser's definition, or else torch's implementation for single weights, in float64.
    """
    cases = Cases("an optimiser", all_operators.REMEDY)
    generator = context.generator(f"survey optimizers {context.seed}")
    shapes = [(1,), (33, 5), (2, 3, 4), (1025,)]
    weights = [torch.randn(shape, generator=generator) for shape in shapes]
    steps = training.OPTIMIZER_STEPS
    gradients = [[torch.randn(shape, generator=generator) for shape in shapes] for _step in range(steps)]
    # If weight decay cancelled a first gradient, the first step would be as long as others, but follow its rounding.
    gradients[0] = [first + first.sign() * weight.abs() for first, weight in zip(gradients[0], weights)]
    refused, left_out = 0, 0
    for info in _listed("common_optimizers", "optim_db"):
        if info.name in operator_bounds.LEFT_OUT:
            left_out += 1
            continue
        ways: list[dict[str, bool]] = [{"foreach": False}, {"foreach": True}]
        if context.device in info.supports_fused_on:
            ways.append({"fused": True})
        if info.has_capturable_arg and context.device == "cuda":
            ways += [{"foreach": False, "capturable": True}, {"foreach": True, "capturable": True}]
        for listed in info.optim_inputs_func(device=context.device):
            options = {key: _as_number(value) for key, value in listed.kwargs.items() if key != "capturable"}
            name = info.optim_cls.__name__
            rate = options.get("lr", inspect.signature(info.optim_cls).parameters["lr"].default)
            kind = functools.partial(ByDefinition, name) if name in ByDefinition.KNOWN else info.optim_cls
            with one_thread():
                exact, largest = training.stepped(
                    kind, {**options, "foreach": False}, weights, gradients, "cpu", torch.float64
                )
            for way in ways:
                # The list itself has options that the device computes with.
                chosen = {**listed.kwargs, **way}
                named = ", ".join(f"{key}={value}" for key, value in chosen.items())
                case = f"{info.name} {named}"
                if case in context.passed_over:
                    continue
                context.step(case)
                try:
                    computed, _largest = training.stepped(
                        info.optim_cls, chosen, weights, gradients, context.device, torch.float32
                    )
                except (TypeError, ValueError, RuntimeError) as error:
                    if not way.get("foreach", True):
                        raise Unanswered(
                            CRASH, f"{case} ended with an error: {error}.", all_operators.REMEDY
                        ) from error
                    refused += 1
                    continue
                unit = training.OPTIMIZER_UNITS * steps * UNIT_ROUNDOFF["float32"]
                for part in exact.keys() & computed.keys():
                    relative = unit + training.complement_error(chosen, part)
                    bound = relative * (exact[part].abs() + largest[part])
                    if chosen.get("capturable") and part.startswith("weight"):
                        bound = bound + rate * ON_THE_DEVICE.get(name, 0.0)
                    cases.compare(f"{case}, {part}", computed[part], exact[part], bound)
    return cases.result(f"; {refused} not supported, {left_out} excluded")


def _as_number(value: t.Any) -> t.Any:
    """Return an option with numbers instead of tensors."""
    if isinstance(value, tuple):
        return tuple(map(_as_number, value))
    return value.item() if isinstance(value, torch.Tensor) else value
