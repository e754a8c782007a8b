"""Compare results with a float64 reference, element by element, allowing for the error that rounding can explain.

Every bound is built from the unit roundoff u of a number format (half the distance from 1 to the next number) and the
length k of a sum: a sum of k products, each term rounded once and added in any order, is off by at most gamma(k) * sum
|a_i b_i| with gamma(k) = k u / (1 - k u) (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition,
section 3.1). Rounding the result to its format adds u |result|, plus half the smallest subnormal number if the result
may be subnormal. Inputs are drawn in the tested format, so they are exactly the same in the reference.
"""

from __future__ import annotations

import contextlib
import functools
import math
import platform
import typing as t

from .. import resources
from ..check import ABSENT, Failed, Measured, Skipped, Unanswered

try:
    import torch as torch
    from torch.nn import functional as functional
except ModuleNotFoundError:
    # Unit tests import the checks without torch.
    torch = functional = None

#: The unit roundoff by format. TensorFloat-32 has a significand of 11 bits, like float16 (NVIDIA's A100 whitepaper).
#: NVIDIA does not document that the conversion to TF32 rounds to nearest, so twice the roundoff is allowed.
UNIT_ROUNDOFF: dict[str, float] = {
    "float64": 2.0**-53, "float32": 2.0**-24, "tf32": 2.0**-10, "float16": 2.0**-11, "bfloat16": 2.0**-8,
    "float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3, "float4_e2m1fn_x2": 2.0**-2,
}  # fmt: skip

#: Half the smallest subnormal number, by format.
UNDERFLOW: dict[str, float] = {
    "float64": 2.0**-1075, "float32": 2.0**-150, "tf32": 2.0**-137, "float16": 2.0**-25, "bfloat16": 2.0**-134,
}  # fmt: skip

_FUNCTIONS = resources.tables("checks/functions.txt")


def name_of(dtype: torch.dtype) -> str:
    """Return ``bfloat16`` for ``torch.bfloat16``."""
    return str(dtype).rpartition(".")[2]


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor's bytes on the CPU. Unlike NaN values, their bytes can be compared for equality."""
    return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def difference(
    actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, how: str = "wrong", worst: t.Any = None
) -> str:
    """Return how many values differ, and one of them: ``7 of 1030 values wrong: NaN instead of 3 at [0, 12]``.

    :param wrong: marks the values that differ; the first of them is named, or that which ``worst`` marks.
    """
    if actual.shape != expected.shape:
        return f"the shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
    at = (wrong if worst is None else worst).nonzero()[0].tolist()
    pair = [tensor.to_dense()[tuple(at)].item() for tensor in (actual, expected)]
    texts = [str(value) if isinstance(value, int) else f"{value:.9g}".replace("nan", "NaN") for value in pair]
    instead = f"{' instead of '.join(texts)}{' is the sign of a zero' * (pair == [0.0, 0.0])}{f' at {at}' * bool(at)}"
    return f"{int(wrong.sum())} of {wrong.numel()} values {how}: {instead}"


def around_powers(highest: int, lowest: int = 0) -> list[int]:
    """Return the powers of two from ``2**lowest`` to ``2**highest``, each with its two neighbours."""
    return sorted({2**power + offset for power in range(lowest, highest + 1) for offset in (-1, 0, 1)})


def gamma(length: float, unit: float) -> float:
    """Return Higham's gamma: the error of a sum of ``length`` rounded terms, divided by the sum of their magnitudes."""
    product = length * unit
    if product >= 1:
        raise ValueError(f"a sum of {length} terms with unit roundoff {unit} has no bound")
    return product / (1 - product)


def integers(generator: torch.Generator, shape: t.Sequence[int], largest: int, dtype: torch.dtype) -> torch.Tensor:
    """Return integers of both signs."""
    return torch.randint(-largest, largest + 1, tuple(shape), generator=generator).to(dtype)


def ternary(generator: torch.Generator, shape: t.Sequence[int], dtype: torch.dtype, density: float) -> torch.Tensor:
    """Return values of -1, 0 and 1, a share ``density`` of them nonzero. Sums of few enough such values are exact."""
    signs = torch.randint(0, 2, tuple(shape), generator=generator) * 2 - 1
    return (signs * (torch.rand(tuple(shape), generator=generator) < density)).to(dtype)


def gradients(
    result: torch.Tensor, leaves: t.Sequence[torch.Tensor], upstream: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of ``leaves`` for the gradient ``upstream`` of ``result``.

    Passing ``upstream`` as an argument would make torch import SymPy, which takes seconds, so a sum includes it.
    """
    gradients: tuple[t.Any, ...] = torch.autograd.grad((result * upstream).sum(), leaves)
    return gradients


def functions_of(table: str, arguments: str = "x", /, **others: t.Any) -> dict[str, t.Any]:
    """Return the functions of a table in ``functions.txt``, whose lines are ``NAME: EXPRESSION``.

    :param others: the other names in the expressions.
    """
    lines = [line.partition(": ") for line in _FUNCTIONS[table].strip().splitlines()]
    names = {"torch": torch, "f": functional, **others}
    return {name: eval(f"lambda {arguments}: {text}", names) for name, _colon, text in lines}  # noqa: S307 - only these


@functools.cache
def extensions() -> frozenset[str]:
    """Return the extensions of this x86_64 CPU's instruction set, as Linux names them: ``amx_bf16``."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            return frozenset(next((line for line in stream if line.startswith("flags")), "").split())
    except OSError:
        return frozenset()


def adds_bytes() -> bool:
    """Tell whether this CPU adds products of 8 bits in 32 bits; others of x86_64 add two of them in 16 bits."""
    return platform.machine() != "x86_64" or bool({"avx512_vnni", "avx_vnni"} & extensions())


@contextlib.contextmanager
def setting(module: t.Any, name: str, value: t.Any) -> t.Iterator[None]:
    """Temporarily set a flag in torch: ``setting(torch.backends.cuda.matmul, "allow_tf32", False)``."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def captured(function: t.Callable[[], t.Any]) -> tuple[t.Any, t.Any]:
    """Return a CUDA graph of a function, and the function's result, which each replay writes again."""
    warm_up(function)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


def warm_up(function: t.Callable[[], t.Any]) -> None:
    """Call a function twice on another stream, so that it allocates and compiles all that it needs for a capture."""
    with another_stream():
        for _unused in range(2):
            function()


@contextlib.contextmanager
def another_stream() -> t.Iterator[None]:
    """Compute on another stream, which first waits for the current one; afterwards, the current one waits for it."""
    here, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(here)
    with torch.cuda.stream(side):
        yield
    here.wait_stream(side)


@contextlib.contextmanager
def threads(count: int) -> t.Iterator[None]:
    """Temporarily use this many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


#: Compute a reference that consists of many small steps: with several threads on busy cores, each step waits for the
#: slowest thread, which has taken a hundred times as long. Run the tested operation so only to test it with one thread.
one_thread = functools.partial(threads, 1)


def allow_tf32(module: t.Any, allowed: bool) -> t.ContextManager[None]:
    """Temporarily allow or forbid TensorFloat-32.

    :param module: ``torch.backends.cuda.matmul`` or ``torch.backends.cudnn``.
    """
    try:
        # The older flag also sets the newer one, fp32_precision: torch refuses to compute if the two contradict.
        if hasattr(module, "allow_tf32"):
            return setting(module, "allow_tf32", allowed)
    except RuntimeError as error:
        raise Unanswered(
            ABSENT,
            f"torch's settings of TF32 contradict each other: {str(error).strip().splitlines()[0]}",
            "Find and remove the sitecustomize or start-up file that sets fp32_precision.",
        ) from error
    return setting(module, "fp32_precision", "tf32" if allowed else "ieee")


class Cases:
    """The comparisons that one check makes, judged by the worst of them.

    :param subject: the computed result, for messages: ``the bfloat16 matrix product``.
    :param remedy: a sentence that tells the owner what to do if the result is wrong.
    :ivar worst: the worst error divided by its bound; infinite if the bound is zero or an element has no ratio.
    :ivar ratio: the worst ratio among elements that have a finite one.
    :ivar refused: the calls that torch refused, and how.
    :ivar mismatched: the number of elements without a ratio, such as a NaN or a wrong integer, out of ``compared``.
    """

    def __init__(self, subject: str, remedy: str) -> None:
        self.subject, self.remedy = subject, remedy
        self.count = 0
        self.worst = self.ratio = 0.0
        self.mismatched = self.compared = 0
        self.worst_case = ""
        self.refused: dict[str, str] = {}
        self._problem: str | None = None

    def compare(self, case: str, actual: torch.Tensor, expected: torch.Tensor, bound: torch.Tensor) -> float:
        """Compare one result and return its worst error divided by its bound; the result is right if that is at most 1.

        :param case: the name of the case: ``causal, head size 64, backward dV``.
        :param actual: the result, in any format, on any device.
        :param expected: the reference in float64 on the CPU, with the same shape.
        :param bound: the allowed error of each element, float64, never negative, with a shape that expands to that of
            ``expected``. If it is zero, a floating-point error counts as 1 plus its number of roundings.
        """
        self.count += 1
        is_integer = not actual.is_floating_point() and not actual.is_complex()
        unit = UNIT_ROUNDOFF.get(name_of(actual.dtype), UNIT_ROUNDOFF["float32"])
        if expected.is_complex():
            expected, bound = torch.view_as_real(expected.resolve_conj()), bound.unsqueeze(-1) if bound.dim() else bound
            actual = torch.view_as_real(actual.detach().to(torch.complex128).resolve_conj())
        result = actual.detach().to("cpu", torch.float64)
        if result.shape != expected.shape:
            return self._note(case, math.inf, f"has {difference(result, expected, result)}")
        if result.numel() == 0 or torch.equal(result, expected):
            return self._note(case, 0.0, "", compared=result.numel())
        error = (result - expected).abs()
        bound = bound.expand_as(error)
        ratio = error / bound
        # Nearly all results take this way, so it must not need many passes. The maximum is NaN if any ratio is.
        if (value := float(ratio.max())) <= 1:
            return self._note(case, value, "", compared=result.numel())
        same_infinity = torch.isinf(expected) & (result == expected)
        ratio = torch.where((error == 0) | same_infinity, torch.zeros_like(error), ratio)
        ratio = torch.where(torch.isnan(ratio), torch.full_like(ratio, math.inf), ratio)
        measured, exact = ratio, (bound == 0) & (error != 0)
        if not is_integer and bool(exact.any()):
            scale = expected.abs() + expected.nan_to_num(0.0, 0.0, 0.0).abs().max()
            measured = torch.where(exact, 1 + error / (unit * scale), ratio)
        finite = torch.isfinite(measured)
        value = float(ratio.max())
        invalid = ~torch.isfinite(result) & torch.isfinite(expected)
        wrong = ratio > 1
        undefined = int(torch.isnan(expected).sum())
        if undefined:
            # Our references never contain a NaN, so the code that computed this one is broken as well.
            problem = f"cannot be judged: {undefined} of {expected.numel()} values of the float64 reference are NaN"
        elif bool(invalid.any()):
            kind = "NaN" if torch.equal(invalid, result.isnan()) else "not finite"
            problem = f"has {difference(result, expected, invalid, f'that are {kind}')}"
        elif bool(wrong.any()) and not result.any():
            problem = "is zero everywhere"
        else:
            values = difference(result, expected, wrong, "off by more than rounding explains", ratio == value)
            problem = f"has {values}, {value:.3g} times the bound"
        furthest = float(torch.where(finite, measured, torch.zeros_like(measured)).max())
        return self._note(case, value, problem, furthest, int((~finite).sum()), result.numel())

    def exactly(self, case: str, actual: torch.Tensor, expected: torch.Tensor) -> float:
        """Compare a result that is never rounded: copies, integers, comparisons."""
        if actual.dtype == expected.dtype and torch.equal(actual.detach().to("cpu"), expected.to("cpu")):
            self.count += 1
            return self._note(case, 0.0, "", compared=actual.numel())
        wide = torch.complex128 if expected.is_complex() else torch.float64
        return self.compare(case, actual, expected.to("cpu", wide), torch.zeros((), dtype=torch.float64))

    def expect(self, case: str, is_right: bool, problem: str) -> None:
        """Record a condition, with the predicate of the sentence that reports its failure, such as ``is not done``."""
        self.count += 1
        self._note(case, 0.0 if is_right else math.inf, problem, 0.0, 0 if is_right else 1)

    def same(
        self, case: str, actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, how: str = "wrong"
    ) -> None:
        """Record whether no value is marked as wrong; see :func:`difference`."""
        is_wrong = bool(wrong.any())
        self.expect(case, not is_wrong, f"has {difference(actual, expected, wrong, how)}" if is_wrong else "")

    def _note(
        self, case: str, value: float, problem: str, ratio: float | None = None, mismatched: int = 0, compared: int = 1
    ) -> float:
        self.ratio = max(self.ratio, value if ratio is None else ratio)
        self.mismatched += mismatched
        self.compared += compared
        worse = value > self.worst
        if worse or not self.worst_case:
            self.worst, self.worst_case = value, case
        if value > 1 and (worse or self._problem is None):
            self._problem = f"{self.subject[0].upper()}{self.subject[1:]} ({case}) {problem}."
        return value

    @contextlib.contextmanager
    def offered(self, call: str) -> t.Iterator[None]:
        """Note a call that torch refuses, or that lacks memory; raise an error after which CUDA cannot be used."""
        try:
            yield
        except (RuntimeError, IndexError, TypeError, ValueError, Skipped) as error:
            if "CUDA error" in str(error) or "illegal" in str(error):
                raise
            self.refused.setdefault(call, " ".join(str(error).split())[:120])

    @contextlib.contextmanager
    def first_error(self) -> t.Iterator[None]:
        """Ignore an error that follows a wrong number, which explains more."""
        try:
            yield
        except (RuntimeError, TypeError, ValueError, AssertionError, AttributeError):
            if self.worst <= 1:
                raise

    def result(self, note: str = "") -> Measured:
        """Return the measurement.

        :param note: a text to be appended to it.
        :raises Failed: if a case exceeds its bound, or no case was compared.
        """
        if not self.count:
            cause = f"No case of {self.subject} was computed{', for torch refuses all' if self.refused else ''}."
            raise Unanswered(ABSENT, cause, "Report this: a check that compares no numbers is broken.")
        bound = "at most the error that rounding explains, against float64"
        cases = f"{self.count} cases" if self.count > 1 else "1 case"
        if self._problem is not None:
            measured = f"{self.worst:.3g} times the bound ({self.worst_case})"
            raise Failed(self._problem, self.remedy, measured, bound, self.ratio, self.mismatched, self.compared)
        measured = f"{self.worst:.2g} of the bound at worst ({self.worst_case}), {cases}{note}"
        if self.refused:
            measured += f"; {len(self.refused)} not offered, such as {': '.join(next(iter(self.refused.items())))}"
        return Measured(measured, bound, self.worst)

    def warn(self, result: Measured, cause: str, remedy: str) -> None:
        """Add a warning to a result of other cases if these, which have a known defect, are wrong."""
        if self.worst > 1:
            result.warn_of_known(f"{cause}: {self.worst_case}.", remedy, self.ratio)
