"""Compares every operator in torch's own catalogue with the CPU, forward and backward, on the catalogue's inputs.

``torch.testing._internal`` lists about 700 operators with sample inputs for each format (OpInfo). ``comparison``
compares one of them on the device with float64 on the CPU, and ``rounding`` measures the errors. ``operator_bounds``
contains the bound for each operator, calibrated on sound stacks.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import itertools
import math
import random
import re
import sys
import time
import types
import typing as t
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from ..._shared.module_utils._core import versions
from ...check import ABSENT, CRASH, H200S, SEEN_GRID, Context, Failed, Measured, Skipped, Unanswered, check, compilers
from ..bounds import allow_tf32, torch
from . import comparison, operator_bounds, variants
from .comparison import NotOffered, Survey, name_of
from .conditions import PLAIN, is_compiled, is_differentiable, strided_today
from .rounding import Misfits, one_line, seed_of

#: The multiple of its bound from which an error of a function of one number, or of the numbers at one place of lists,
#: counts without evidence.
OF_FUNCTIONS = 10.0
_OF_LISTS = re.compile(r"_foreach_(?!norm|max)\w+$")
#: The formats in which a run covers every operator, and the factor for them on the limit ``survey``. In other formats,
#: a run covers one of PARTS parts of the operators, a different one each day, with its own factor.
BROAD, LONGER, PARTS, PART_LONGER = ("float32", "bfloat16"), 4.0, 3, 2.0
#: The number of wrong operators that a failure names.
NAMED = 5
#: The attributes of an operator that the survey uses.
INTERFACE = (
    *"name variant_test_name supports_autograd supports_out inplace_variant sample_inputs supported_dtypes".split(),
    "supported_backward_dtypes",
)
#: Products, linear algebra and functions in which complex numbers have code of their own.
_DAILY_IN_COMPLEX64 = re.compile(
    rf"{variants.PRODUCTS.pattern}|^({variants.LIBRARIES.pattern}|addr|outer|norm|(abs|exp|log|sqrt|mul|pow|tanh)$|div\.no)"
)
_OF_OPTIMIZERS = re.compile(r"foreach_\w+_op_db$")

REMEDY = (
    "Use another stack, or rebuild this one with other flags; to reproduce it, run the operator on the device and in "
    "float64 on the CPU."
)

KNOWN_REMEDY = "Do not compute what is named on this host, or use a torch in which it is mended."


def catalogue() -> list[t.Any]:
    """Return the operators that torch lists.

    :raises Skipped: if this torch has no such list.
    """
    try:
        with warnings.catch_warnings(), _stand_ins():
            warnings.simplefilter("ignore")
            listed = importlib.import_module("torch.testing._internal.common_methods_invocations")
        # Operators that optimisers use, on many tensors at once, have their own lists.
        groups = [listed.op_db, *(getattr(listed, name) for name in sorted(dir(listed)) if _OF_OPTIMIZERS.match(name))]
        operators = list(itertools.chain(*groups))
        for operator, attribute in itertools.product(operators, INTERFACE):
            getattr(operator, attribute)
    except ImportError as error:
        package = (error.name or "torch").partition(".")[0]
        raise Skipped(
            f"This torch's list of operators cannot be read: {error}. Run {sys.executable} -m pip install {package}."
        ) from error
    except (AttributeError, TypeError, RuntimeError) as error:
        version = importlib.import_module("torch").__version__
        raise Skipped(
            f"The list of operators of torch {version} has an interface unknown to the survey: {one_line(error)}."
        ) from error
    return operators


@contextlib.contextmanager
def _stand_ins() -> t.Iterator[None]:
    """Let torch's list be imported without packages that it imports but hardly uses.

    From expecttest it uses a base class for test cases, and from numpy functions for comparisons. The survey calls
    neither, except that numpy makes the input for one operator (prelu, 2.13).
    """
    if "expecttest" not in sys.modules:
        sys.modules["expecttest"] = types.ModuleType("expecttest")
        sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]
    names: dict[str, t.Any] = {}
    try:
        importlib.import_module("numpy")
    except ImportError:
        # The compiler looks for numpy when it is imported, and must not see the stand-in.
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


def survey(
    context: Context,
    form: str,
    factor: float,
    only: t.Collection[str] | None = None,
    compare: t.Callable[..., None] = comparison.compare,
    layouts: t.Callable[[str], t.Iterable[str]] | None = None,
) -> Survey:
    """Compute each operator in one format on the device and in float64 on the CPU, in an order drawn from the seed.

    On a GPU, operators that are compiled on first use, which takes seconds each, come last, and except in a full run,
    only those of :func:`compiles_today`.

    :param form: the format: ``float32``.
    :param factor: the factor on the limit ``survey``, after which no further operator is started.
    :param only: the names of the operators to compute; by default all.
    :param compare: the function that compares one operator.
    :param layouts: returns the layouts in which it calls the operator with this name; by default, those of a survey.
    """
    device, samples, seed = context.device, int(context.limits["samples"]), context.seed
    outcome, dtype, operators = Survey(), getattr(torch, form), catalogue()
    outcome.listed = len(operators)
    if not dtype.is_complex:
        outcome.functions = {name_of(each) for each in operators if type(each).__name__ == "UnaryUfuncInfo"}
    outcome.differentiable = sum(is_differentiable(operator, dtype, device) for operator in operators)
    random.Random(f"{seed} {form}").shuffle(operators)  # noqa: S311 - the order need not be secret
    chosen = {}
    for operator in operators:
        name = name_of(operator)
        if (only is not None and name not in only) or name in context.passed_over:
            continue
        # The list lacks convolutions of narrow integers, which a CPU offers.
        is_offered = device == "cpu" and "functional.conv" in name and not dtype.is_floating_point
        if dtype not in operator.supported_dtypes(device) and not is_offered:
            continue
        if operator_bounds.left_out(name):
            outcome.left_out.append(name)
        else:
            chosen[name] = operator
    late = {}
    if device == "cuda":
        compiled = {name: operator for name, operator in chosen.items() if is_compiled(operator, name, dtype)}
        late = {name: compiled[name] for name in compiled if context.full or compiles_today(name, seed)}
        chosen = {name: operator for name, operator in chosen.items() if name not in compiled} | late
        outcome.waiting = len(compiled) - len(late)

    def in_survey(name: str) -> tuple[str, ...]:
        is_dense = not context.full and not strided_today(f"{seed} {name}")
        return (PLAIN["layout"],) if is_dense else (PLAIN["layout"], variants.STRIDED)

    began = time.monotonic()
    with warnings.catch_warnings(), survey_settings(device), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore")
        # After a crash, only one operator may run at a time, so that the next crash can be attributed to it.
        if late and not context.passed_over:
            stack.enter_context(_compile_ahead(late, dtype, device, layouts or in_survey))
        for name, operator in chosen.items():
            if time.monotonic() - began > factor * float(context.limits["survey"]):
                outcome.waiting += 1
                continue
            context.step(name)
            try:
                compare(outcome, operator, dtype, device, samples, f"{seed} {name}")
            except NotOffered as error:
                outcome.drop(name, str(error))
            except torch.OutOfMemoryError:
                # Other processes may have allocated the memory.
                outcome.forget(name)
                torch.cuda.empty_cache()
    return outcome


@contextlib.contextmanager
def _compile_ahead(
    operators: t.Mapping[str, t.Any], dtype: torch.dtype, device: str, layouts: t.Callable[[str], t.Iterable[str]]
) -> t.Iterator[None]:
    """Compile kernels in the background, in this order; at the end, drop those that were not begun.

    On an H200 these compilations took about 55 of the 82 s of the survey in float32 (docs/evidence/sound-runs.md). They
    do not hold Python's lock, nor a lock that two kernels share.

    :param operators: the operators to compile, by name.
    """
    samples = []
    for name, operator in operators.items():
        torch.manual_seed(seed_of(name))
        with contextlib.suppress(Exception):  # the survey reports why there are no inputs
            sample = next(iter(operator.sample_inputs(device, dtype)))
            samples += [(operator, variants.with_layout(sample, layout) or sample) for layout in layouts(name)]
    pool = ThreadPoolExecutor(compilers())
    try:
        for operator, sample in samples:
            pool.submit(_call_once, operator, sample)
        yield
    finally:
        pool.shutdown(cancel_futures=True)


def _call_once(operator: t.Any, sample: t.Any) -> None:
    with torch.no_grad():
        operator(sample.input, *sample.args, **sample.kwargs)


@contextlib.contextmanager
def survey_settings(device: str) -> t.Iterator[None]:
    """Compute without TensorFloat-32, and let ``torch.manual_seed`` seed only the CPU and the device.

    For every other kind of device, torch queues the call with a stack trace. The catalogue seeds the generators for
    each input, so seeding took half of the survey's time (torch 2.13). The catalogue also searches the stack for tests.
    """
    with contextlib.ExitStack() as stack:
        for kind in {"cuda", "xpu", "mtia"} - {device}:
            if hasattr(getattr(torch, kind, None), "manual_seed_all"):
                stack.enter_context(mock.patch.object(getattr(torch, kind), "manual_seed_all", lambda seed: None))
        for name in ("common_utils", "opinfo.core"):
            if hasattr(tests := sys.modules.get(f"torch.testing._internal.{name}"), "extract_test_fn"):
                stack.enter_context(mock.patch.object(tests, "extract_test_fn", lambda: None))
        stack.enter_context(allow_tf32(torch.backends.cuda.matmul, False))
        # After the catalogue has been imported, only this context can change cuDNN's flags.
        stack.enter_context(torch.backends.cudnn.flags(allow_tf32=False))
        yield


def compiles_today(name: str, seed: int) -> bool:
    """Tell whether a run compiles this operator: on one of PARTS days, in each part of :func:`_operators_of_today`."""
    return seed_of(name) % PARTS == seed // PARTS % PARTS


def _operators_of_today(seed: int, form: str) -> set[str]:
    """Return the names of the operators whose turn it is today, and of those that are computed daily in a format."""
    names = sorted({name_of(operator) for operator in catalogue()})
    daily = filter(_DAILY_IN_COMPLEX64.search, names) if form == "complex64" else ()
    return {*names[seed % PARTS :: PARTS], *daily}


def judge(
    context: Context, outcome: Survey, allowed: t.Mapping[str, tuple[float, float]], form: str, remedy: str = REMEDY
) -> Measured:
    """Compare the errors of a run with their bounds.

    :param allowed: by name, the bounds for results and gradients, in units; infinite if they are not compared.
    :param remedy: what to do about a wrong number.
    :raises Failed: if an operator exceeds its bound.
    :raises Unanswered: if an operator raised an error or killed its process, or nothing was computed.
    """
    off: dict[str, tuple[bool, float, str]] = {}
    known: dict[str, str] = {}
    worst, worst_name = 0.0, "none"
    wrong: list[float] = []
    lost = Misfits(0, 0)
    release = versions.numbers(getattr(sys.modules.get("torch"), "__version__", "9"))
    for name, both in outcome.units.items():
        for value, most, direction in zip(both, allowed[name], ("", ", backward")):
            if math.isinf(most):
                continue
            ratio = value / most
            call = f"{form}: {name}{direction}"
            if ratio > 1 and (why := operator_bounds.known_defect(call, context.device, release)):
                known[f"{name}{direction}"] = why
                continue
            if ratio >= worst:
                worst, worst_name = ratio, f"{name}{direction}"
            if ratio > 1:
                plain = name.partition(",")[0]
                wrong.append(ratio)
                if isinstance(ratio, Misfits) and variants.WITH_NAN in name:
                    lost = Misfits(lost.count + ratio.count, lost.compared + ratio.compared)
                entry = (plain == name, ratio, _describe(f"{name}{direction}", value, most))
                # If the plain call is wrong too, name it rather than another way to call the operator.
                off[f"{plain}{direction}"] = max(entry, off.get(f"{plain}{direction}", entry))
    bound = "four times the error of known good stacks"
    measured = (
        f"{outcome.coverage} operators with {outcome.samples} inputs, {len(outcome.units) - outcome.operators} called"
        f" in other ways, at worst {worst:.2g} of the bound ({worst_name}); {len(outcome.refused)} not supported, "
        f"{len(outcome.left_out)} excluded, {outcome.waiting} for another day; seed {context.seed}"
    )
    ended = [f"{name} {how}" for name, how in outcome.ended.items()]
    endings = f" Ended: {'; '.join(ended)}. The others still ran." if ended else ""
    if off:
        ordered = sorted(off.values(), key=lambda entry: -entry[1])
        listed = "; ".join(text for _plain, _ratio, text in ordered[:NAMED])
        more = f"; and {len(off) - NAMED} more" if len(off) > NAMED else ""
        cause = f"Off in {form}: {listed}{more}.{endings}"
        # A call loses one NaN at most if it reduces a tensor to one number, and its input usually has only one.
        misfits = max((entry for entry in (*wrong, lost) if isinstance(entry, Misfits)), default=Misfits(0, 0))
        worst = max(entry.other_error if isinstance(entry, Misfits) else entry for entry in wrong)
        # The libraries of all devices compute these to within a few units.
        counts = any(
            operator_bounds.is_elementary(name.partition(",")[0])
            or ((name in outcome.functions or _OF_LISTS.match(name)) and OF_FUNCTIONS < ratio < math.inf)
            for name, (_plain, ratio, _text) in off.items()
        )
        raise Failed(cause, remedy, measured, bound, worst, misfits.count, misfits.compared, counts)
    if ended:
        raise Unanswered(CRASH, f"In {form}:{endings}", remedy, measured, bound)
    if not outcome.units:
        first = next((f": {message}" for message in outcome.refused.values()), "")
        raise Unanswered(ABSENT, f"No operator was computed{first}.", remedy, measured, bound)
    covered = tuple(sorted({name.partition(",")[0] for name in outcome.units}))
    result = Measured(measured, bound, worst, covered=covered)
    if known:
        defects = operator_bounds.list_defects(known)
        result.warn_of_known(f"Wrong in {form}, as is known of this torch: {defects}.", KNOWN_REMEDY, worst)
    return result


def _describe(name: str, value: float, most: float) -> str:
    return f"{name}: {value.how}" if isinstance(value, Misfits) else f"{name} by {value:.3g} units (bound {most:g})"


@check("survey.float64", devices=("cuda",), seconds=120, steps=True, measured=H200S)
@check("survey.float32", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SEEN_GRID)
@check("survey.bfloat16", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SEEN_GRID)
@check("survey.float16", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SEEN_GRID)
@check("survey.complex64", devices=("cuda", "cpu"), seconds=120, steps=True, measured=SEEN_GRID)
def in_one_format(context: Context, form: str) -> Measured:
    """Compare each operator in one format, forward and backward, without TensorFloat-32.

    :raises Failed: if an operator exceeds its bound.
    """
    # If a GPU is required, its survey gets the time.
    broad = form in (BROAD[:1] if context.device == "cpu" and context.reference.get("gpu_required") else BROAD)
    only = None if broad or context.full else _operators_of_today(context.seed, form)
    outcome = survey(context, form, LONGER if broad else PART_LONGER, only)
    return judge(context, outcome, {name: operator_bounds.bounds(name, form) for name in outcome.units}, form)
