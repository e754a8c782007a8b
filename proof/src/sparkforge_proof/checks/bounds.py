# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare what was computed with float64, element by element, within what rounding can explain.

Every bound is built from the unit roundoff u of a number format (half the distance from 1 to the next number) and the
length k of a sum: a sum of k products, each term rounded once and added in any order, is off by at most
gamma(k) * sum |a_i b_i| with gamma(k) = k u / (1 - k u) (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
2nd edition, section 3.1). Rounding the result into its format adds u |result|, and where it may be subnormal half the
smallest subnormal number. Inputs are drawn in the format that is tested, so that the reference has exactly the same
ones and they add no error of their own.
"""

from __future__ import annotations

import contextlib
import math
import typing as t

from ..check import ABSENT, Failed, Measured, Unanswered

try:
    import torch as torch
except ModuleNotFoundError:
    # The module still imports, so that names and pure functions of the checks can be tested without torch.
    torch = None

#: Unit roundoff by format. TensorFloat-32 has a significand of 11 bits (NVIDIA's A100 whitepaper), as float16 has.
#: NVIDIA does not say that the conversion to it rounds to nearest, so that twice as much is allowed.
UNIT_ROUNDOFF: dict[str, float] = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tf32": 2.0**-10,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float8_e4m3fn": 2.0**-4,
    "float8_e5m2": 2.0**-3,
    "float4_e2m1fn_x2": 2.0**-2,
}

#: Half the smallest subnormal number by format.
UNDERFLOW: dict[str, float] = {
    "float64": 2.0**-1075,
    "float32": 2.0**-150,
    "tf32": 2.0**-137,
    "float16": 2.0**-25,
    "bfloat16": 2.0**-134,
}

#: Elements up to which a tensor is copied together with others.
TOGETHER = 1 << 16


def name_of(dtype: torch.dtype) -> str:
    """Return ``bfloat16`` for ``torch.bfloat16``."""
    return str(dtype).rpartition(".")[2]


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Return the bytes of a tensor on the CPU: equal bytes are equal also where values are NaN."""
    return tensor.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def around_powers(most: int, least: int = 0) -> list[int]:
    """Return the powers of two from ``2**least`` to ``2**most``, and what is one beside each."""
    return sorted({2**power + beside for power in range(least, most + 1) for beside in (-1, 0, 1)})


def on_the_host(values: t.Sequence[torch.Tensor | None]) -> list[t.Any]:
    """Return tensors on the CPU, None for None. The device is waited for once: many processes take turns on a GPU.

    Small ones of a format are copied together.
    """
    found: list[torch.Tensor | None] = [None] * len(values)
    together: dict[t.Any, list[tuple[int, torch.Tensor]]] = {}
    for number, value in enumerate(values):
        if value is None or not value.is_cuda or value.layout is not torch.strided:
            found[number] = value if value is None else value.detach().cpu()
            continue
        # What is conjugated or negated lazily would be so on the host before the copy is there (torch 2.11).
        plain = value.detach().resolve_conj().resolve_neg()
        # Not every torch joins formats of 8 bits.
        alone = plain.numel() > TOGETHER or (plain.is_floating_point() and plain.element_size() == 1)
        together.setdefault(number if alone else plain.dtype, []).append((number, plain))
    for group in together.values():
        joined = group[0][1] if len(group) == 1 else torch.cat([one.reshape(-1) for _number, one in group])
        place = torch.empty(joined.shape, dtype=joined.dtype, pin_memory=True).copy_(joined, non_blocking=True)
        parts = place.reshape(-1).split([one.numel() for _number, one in group])
        for (number, one), part in zip(group, parts):
            found[number] = part.view(one.shape)
    if together:
        torch.cuda.current_stream().synchronize()
    return found


def gamma(length: float, unit: float) -> float:
    """Return Higham's gamma: how far a sum of ``length`` rounded terms can be off, by the sum of their magnitudes."""
    product = length * unit
    if product >= 1:
        raise ValueError(f"a sum of {length} terms with unit roundoff {unit} has no bound")
    return product / (1 - product)


def ternary(generator: torch.Generator, shape: t.Sequence[int], dtype: torch.dtype, density: float) -> torch.Tensor:
    """Return -1, 0 and 1, of which the part ``density`` is not zero: few enough, and every sum of them is exact."""
    signs = torch.randint(0, 2, tuple(shape), generator=generator) * 2 - 1
    return (signs * (torch.rand(tuple(shape), generator=generator) < density)).to(dtype)


def gradients(
    result: torch.Tensor, leaves: t.Sequence[torch.Tensor], upstream: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of ``leaves`` where that of ``result`` is ``upstream``.

    Through a sum, because torch imports SymPy, which takes seconds, where it is given the gradient itself.
    """
    gradients: tuple[t.Any, ...] = torch.autograd.grad((result * upstream).sum(), leaves)
    return gradients


@contextlib.contextmanager
def setting(module: t.Any, name: str, value: t.Any) -> t.Iterator[None]:
    """Set a flag of torch for a while: ``setting(torch.backends.cuda.matmul, "allow_tf32", False)``."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


@contextlib.contextmanager
def one_thread() -> t.Iterator[None]:
    """Compute a reference of many small steps with one thread.

    Where the cores are busy with something else, each step of several threads waits for the slowest: a hundred times
    as long was seen. What is tested belongs outside of it.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def allow_tf32(module: t.Any, allowed: bool) -> t.ContextManager[None]:
    """Allow TensorFloat-32 for a while, or do not.

    :param module: ``torch.backends.cuda.matmul`` or ``torch.backends.cudnn``.
    """
    try:
        # The older flag sets the newer one, fp32_precision, too; torch refuses to compute where the two contradict.
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
    """Comparisons of one check, of which the worst counts.

    :param what: what is computed, for messages: ``the bfloat16 matrix product``.
    :param remedy: what to do where it is wrong, one sentence.
    :ivar worst: how far off the worst is; infinite where its bound is zero or it is of another kind.
    :ivar ratio: how far off the worst number is that can be measured.
    :ivar mismatched: how many are of another kind, as a NaN or another whole number, of those ``compared``.
    """

    def __init__(self, what: str, remedy: str) -> None:
        self.what, self.remedy = what, remedy
        self.count = 0
        self.worst = self.ratio = 0.0
        self.mismatched = self.compared = 0
        self.worst_case = ""
        self._problem: str | None = None

    def compare(self, case: str, actual: torch.Tensor, expected: torch.Tensor, bound: torch.Tensor) -> float:
        """Compare one result and return its worst error by its bound: 1 and less is right.

        :param case: names the case: ``causal, head size 64, backward dV``.
        :param actual: of any format, on any device.
        :param expected: float64 on the CPU, of the same shape.
        :param bound: how far each element may be off, float64 of a shape that expands to it; never negative. Where it
            is zero, an error of floating point is measured in roundings of its format, from 1 on.
        """
        self.count += 1
        whole = not actual.is_floating_point() and not actual.is_complex()
        unit = UNIT_ROUNDOFF.get(name_of(actual.dtype), UNIT_ROUNDOFF["float32"])
        if expected.is_complex():
            expected, bound = torch.view_as_real(expected.resolve_conj()), bound.unsqueeze(-1) if bound.dim() else bound
            actual = torch.view_as_real(actual.detach().to(torch.complex128).resolve_conj())
        got = actual.detach().to("cpu", torch.float64)
        if got.shape != expected.shape:
            return self._note(case, math.inf, f"has the shape {tuple(got.shape)} instead of {tuple(expected.shape)}")
        if got.numel() == 0 or torch.equal(got, expected):
            return self._note(case, 0.0, "", compared=got.numel())
        error = (got - expected).abs()
        same_infinity = torch.isinf(expected) & (got == expected)
        bound = bound.expand_as(error)
        ratio = torch.where(error == 0, torch.zeros_like(error), error / bound)
        ratio = torch.where(same_infinity, torch.zeros_like(ratio), ratio)
        ratio = torch.where(torch.isnan(ratio), torch.full_like(ratio, math.inf), ratio)
        measured, exact = ratio, (bound == 0) & (error != 0)
        if not whole and bool(exact.any()):
            around = expected.abs() + expected.nan_to_num(0.0, 0.0, 0.0).abs().max()
            measured = torch.where(exact, 1 + error / (unit * around), ratio)
        there = torch.isfinite(measured)
        worst = int(ratio.argmax())
        value = float(ratio.flatten()[worst])
        invalid = int((~torch.isfinite(got) & torch.isfinite(expected)).sum())
        wrong = int((ratio > 1).sum())
        undefined = int(torch.isnan(expected).sum())
        if undefined:
            # No input of ours has a NaN in its answer: what computes the reference is broken as well.
            said = f"cannot be judged: {undefined} of {expected.numel()} values of the float64 reference itself are NaN"
        elif invalid:
            nans = int(torch.isnan(got).sum())
            kind = "NaN" if nans == invalid else "not finite"
            said = f"has {invalid} of {got.numel()} values that are {kind}"
        elif wrong and not got.any():
            said = "is zero everywhere"
        else:
            said = (
                f"has {wrong} of {got.numel()} values off by more than rounding explains:"
                f" {float(got.flatten()[worst]):.6g} instead of {float(expected.flatten()[worst]):.6g},"
                f" {value:.3g} times the bound"
            )
        furthest = float(torch.where(there, measured, torch.zeros_like(measured)).max())
        return self._note(case, value, said, furthest, int((~there).sum()), got.numel())

    def exactly(self, case: str, actual: torch.Tensor, expected: torch.Tensor) -> float:
        """Compare what no rounding touches: copies, integers, comparisons."""
        if actual.dtype == expected.dtype and torch.equal(actual.detach().to("cpu"), expected.to("cpu")):
            self.count += 1
            return self._note(case, 0.0, "", compared=actual.numel())
        wide = torch.complex128 if expected.is_complex() else torch.float64
        return self.compare(case, actual, expected.to("cpu", wide), torch.zeros((), dtype=torch.float64))

    def say(self, case: str, good: bool, said: str) -> None:
        """Note what is right or wrong, and in which words: ``gave the event as done before its work was``."""
        self.count += 1
        self._note(case, 0.0 if good else math.inf, said, 0.0, 0 if good else 1)

    def _note(
        self, case: str, value: float, said: str, ratio: float | None = None, mismatched: int = 0, compared: int = 1
    ) -> float:
        self.ratio = max(self.ratio, value if ratio is None else ratio)
        self.mismatched += mismatched
        self.compared += compared
        worse = value > self.worst
        if worse or not self.worst_case:
            self.worst, self.worst_case = value, case
        if value > 1 and (worse or self._problem is None):
            self._problem = f"{self.what[0].upper()}{self.what[1:]} ({case}) {said}."
        return value

    def result(self, rates: t.Mapping[str, float] | None = None) -> Measured:
        """Return what was measured.

        :raises Failed: one of the cases is off, or there was none.
        """
        if not self.count:
            raise Unanswered(
                ABSENT, f"No case of {self.what} was computed.", "Report it: a check that compares nothing is broken."
            )
        bound = "1 time what rounding explains, against float64"
        cases = f"{self.count} cases" if self.count > 1 else "1 case"
        if self._problem is not None:
            measured = f"{self.worst:.3g} times the bound ({self.worst_case})"
            raise Failed(self._problem, self.remedy, measured, bound, self.ratio, self.mismatched, self.compared)
        measured = f"{self.worst:.2g} of the bound at worst ({self.worst_case}), {cases}"
        return Measured(measured, bound, self.worst, dict(rates or {}))
