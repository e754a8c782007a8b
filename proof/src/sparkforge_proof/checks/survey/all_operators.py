# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every operator of torch's own catalogue, with the inputs that it brings, forward and backward, against the CPU.

``torch.testing._internal`` lists some 700 operators with sample inputs for each format (OpInfo). ``comparison``
compares one of them on the device with float64 on the CPU, and ``rounding`` counts the errors. How many units an
operator may be off stands in ``operator_bounds``, which was calibrated on sound stacks.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
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

from ...check import (
    ABSENT,
    CRASH,
    KNOWN,
    LAST,
    SURVEYED,
    Context,
    Failed,
    Measured,
    Skipped,
    Unanswered,
    check,
)
from ..bounds import allow_tf32
from . import ahead, comparison, operator_bounds, variants
from .comparison import NotOffered, Survey, name_of
from .conditions import differentiable
from .rounding import Misfits, short

#: Formats in which a run takes every operator, and of the others a third, the next day another; for how many times the
#: limit ``survey``.
BROAD, LONGER, PARTS, PART_LONGER = ("float32", "bfloat16"), 4.0, 3, 2.0
#: How many of the operators that are off are named.
NAMED = 5
#: The attributes of an operator in the catalogue.
INTERFACE = (
    *"name variant_test_name supports_autograd supports_out inplace_variant sample_inputs supported_dtypes".split(),
    "supported_backward_dtypes",
)
_OF_OPTIMIZERS = re.compile(r"foreach_\w+_op_db$")

REMEDY = (
    "Use another stack, or rebuild this one with other flags; to reproduce it, run the operator on the device and in "
    "float64 on the CPU."
)

KNOWN_REMEDY = "Do not compute what is named on this host, or use a torch in which it is mended."


def catalogue() -> list[t.Any]:
    """Return torch's operators.

    :raises Skipped: this torch brings no such list.
    """
    try:
        with warnings.catch_warnings(), _stand_ins():
            warnings.simplefilter("ignore")
            listed = importlib.import_module("torch.testing._internal.common_methods_invocations")
        # Those of optimisers are in lists of their own: many tensors at once.
        groups = [listed.op_db, *(getattr(listed, name) for name in sorted(dir(listed)) if _OF_OPTIMIZERS.match(name))]
        found = [operator for group in groups for operator in group]
        for operator in found:
            _look_at(operator)
    except ImportError as error:
        package = (error.name or "torch").partition(".")[0]
        raise Skipped(
            f"This torch's list of operators cannot be read: {error}. Run {sys.executable} -m pip install {package}."
        ) from error
    except (AttributeError, TypeError, RuntimeError) as error:
        version = importlib.import_module("torch").__version__
        raise Skipped(
            f"The list of operators of torch {version} has an interface unknown to the survey: {short(error)}."
        ) from error
    return found


@contextlib.contextmanager
def _stand_ins() -> t.Iterator[None]:
    """Import torch's list without packages that it names and that its inputs do without.

    Of expecttest it takes a base class of tests for classes that are never used, and of numpy functions to compare
    with, which the survey does not call: only the input of one operator (prelu, 2.13) is made by numpy.
    """
    if "expecttest" not in sys.modules:
        sys.modules["expecttest"] = types.ModuleType("expecttest")
        sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]
    names: dict[str, t.Any] = {}
    try:
        importlib.import_module("numpy")
    except ImportError:
        # The compiler looks for numpy when it is imported, and must not find this one.
        importlib.import_module("torch._dynamo")
        numpy = mock.MagicMock(name="numpy", __version__="2", prod=math.prod, inf=math.inf, nan=math.nan, pi=math.pi)
        numpy.__spec__, numpy.lib.NumpyVersion = importlib.machinery.ModuleSpec("numpy", None), str
        names = {"numpy": numpy, "numpy.typing": numpy.typing}
    sys.modules.update(names)
    try:
        yield
    except Exception as error:
        if names:
            raise ImportError(str(error), name="numpy") from error
        raise
    finally:
        for name in names:
            del sys.modules[name]


def _look_at(operator: t.Any) -> None:
    """Read what the survey reads of an operator.

    :raises AttributeError: it is not there.
    """
    for name in INTERFACE:
        getattr(operator, name)


def survey(
    device: str,
    form: str,
    samples: int,
    seed: int,
    only: t.Collection[str] | None = None,
    seconds: float = math.inf,
    passed_over: t.Collection[str] = (),
    step: t.Callable[[str], None] = lambda name: None,
    compare: t.Callable[..., None] | None = None,
) -> Survey:
    """Compute each operator in one format on the device and in float64 on the CPU, in an order that the seed gives.

    On a GPU those that are compiled at their first use, which takes seconds each, come last.

    :param form: ``float32``.
    :param samples: how many inputs of each operator, drawn by ``seed`` from those that it brings.
    :param only: names of operators; all where it is left out.
    :param seconds: after which no other operator is begun.
    :param passed_over: names of operators that ended the process before.
    :param step: told the name of each operator that is begun.
    :param compare: compares one, by default :func:`comparison.compare`.
    """
    import torch

    found, dtype, operators = Survey(), getattr(torch, form), catalogue()
    found.listed = len(operators)
    found.differentiable = sum(differentiable(operator, dtype, device) for operator in operators)
    random.Random(f"{seed} {form}").shuffle(operators)  # noqa: S311 - which come first is no secret
    chosen = {}
    for operator in operators:
        name = name_of(operator)
        if (only is not None and name not in only) or name in passed_over:
            continue
        if dtype not in operator.supported_dtypes(device):
            continue
        if operator_bounds.left_out(name):
            found.left_out.append(name)
        else:
            chosen[name] = operator
    late = {}
    if device == "cuda":
        late = {name: operator for name, operator in chosen.items() if ahead.compiled(operator, name, dtype)}
        chosen = {name: operator for name, operator in chosen.items() if name not in late} | late
    began = time.monotonic()
    with surveying(device), contextlib.ExitStack() as stack:
        # After one has ended the process, it has to be seen which.
        if late and not passed_over:
            stack.enter_context(ahead.compiling(late, dtype, device))
        for name, operator in chosen.items():
            if time.monotonic() - began > seconds:
                found.waiting += 1
                continue
            step(name)
            try:
                (compare or comparison.compare)(found, operator, dtype, device, samples, f"{seed} {name}")
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


def _surveyed(context: Context, form: str) -> Measured:
    """Compare every operator in one format.

    :raises Failed: one is off by more than it may.
    """
    seed = context.seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = float(context.limits["survey"])
        # Where a GPU is proven, it has the time.
        broad = form in (BROAD[:1] if context.device == "cpu" and context.reference.get("gpu_required") else BROAD)
        found = survey(
            context.device,
            form,
            int(context.limits["samples"]),
            seed,
            only=None if broad or context.full else _third(seed),
            seconds=seconds * (LONGER if broad else PART_LONGER),
            passed_over=context.passed_over,
            step=context.step,
        )
    return judged(context, found, {name: operator_bounds.bounds(name, form) for name in found.units}, form, seed)


def _third(seed: int) -> set[str]:
    """Return the operators whose turn it is."""
    names = sorted({name_of(operator) for operator in catalogue()})
    return set(names[seed % PARTS :: PARTS])


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
    wrong: list[float] = []
    for name, both in found.units.items():
        for value, most, what in zip(both, allowed[name], ("", ", backward")):
            if math.isinf(most):
                continue
            ratio = value / most
            if ratio >= worst:
                worst, worst_name = ratio, f"{name}{what}"
            if ratio > 1 and (why := operator_bounds.known_defect(f"{name}{what}", context.device)):
                known[f"{name}{what}"] = why
            elif ratio > 1:
                plain = name.partition(",")[0]
                wrong.append(ratio)
                one = (plain == name, ratio, _off(f"{name}{what}", value, most))
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
        cause = f"Off in {form}: {listed}{more}.{said}"
        misfits = max((one for one in wrong if isinstance(one, Misfits)), default=Misfits(0, 0))
        worst = max(one.rest if isinstance(one, Misfits) else one for one in wrong)
        exact = any(operator_bounds.is_elementary(name.partition(",")[0]) for name in off)
        raise Failed(cause, REMEDY, measured, bound, worst, misfits.count, misfits.compared, exact)
    if ended:
        raise Unanswered(CRASH, f"In {form}:{said}", REMEDY, measured, bound)
    if not found.units:
        raise Unanswered(ABSENT, "No operator was computed.", REMEDY, measured, bound)
    warning = None
    if known:
        listed = "; ".join(f"{name}: {why}" for name, why in known.items())
        warning = Failed(f"Wrong in {form}, as is known of this torch: {listed}.", KNOWN_REMEDY, measured, bound, worst)
        warning.reason = KNOWN
    return Measured(
        measured, bound, worst, warning=warning, covered=tuple(sorted({name.partition(",")[0] for name in found.units}))
    )


def _off(name: str, value: float, most: float) -> str:
    if math.isfinite(value):
        return f"{name} by {value:.3g} units (bound {most:g})"
    if variants.WITH_NAN in name:
        return f"{name} of the input is lost, or comes out where none belongs"
    return f"{name}: a whole number, a NaN, an infinity or the shape differs"


@check("survey.float64", devices=("cuda",), seconds=120, steps=True, measured=SURVEYED)
def float64(context: Context) -> Measured:
    """Each operator in float64: another algorithm than the CPU's, the same numbers."""
    return _surveyed(context, "float64")


@check("survey.float32", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SURVEYED)
def float32(context: Context) -> Measured:
    """Each operator in float32, without TensorFloat-32."""
    return _surveyed(context, "float32")


@check("survey.bfloat16", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SURVEYED)
def bfloat16(context: Context) -> Measured:
    """Each operator in bfloat16."""
    return _surveyed(context, "bfloat16")


@check("survey.float16", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SURVEYED)
def float16(context: Context) -> Measured:
    """Each operator in float16."""
    return _surveyed(context, "float16")


@check("survey.complex64", devices=("cuda", "cpu"), seconds=120, steps=True, measured=LAST)
def complex64(context: Context) -> Measured:
    """Each operator in complex64, forward and backward."""
    return _surveyed(context, "complex64")
