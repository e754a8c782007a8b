# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Number formats: conversions over all values of those of 8 and 16 bits, integers at their ends, quotients.

What a format holds is finite: every bit pattern is decoded by its definition, and what a conversion must return is the
nearest of these values, of two equally near ones that with an even significand (IEEE 754-2019, section 4.3.1; OCP 8-bit
Floating Point Specification, 5.2). So all is exact.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_ARM, Context, Measured, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, torch

REMEDY = "Do not compute with this stack in that format: use another torch; if only some runs fail, test the hardware."


class Format(t.NamedTuple):
    """A format of floating-point numbers.

    :ivar exponent: bits of the exponent.
    :ivar significand: bits of the significand that are written.
    :ivar bias: of the exponent.
    :ivar special: ``ieee``: infinities and NaN where the exponent is all ones; ``fn``: no infinity, NaN where all is
        ones; ``fnuz``: no infinity, no negative zero, whose place NaN has.
    """

    name: str
    exponent: int
    significand: int
    bias: int
    special: str

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.significand


SMALL = (
    Format("float8_e4m3fn", 4, 3, 7, "fn"),
    Format("float8_e5m2", 5, 2, 15, "ieee"),
    Format("float8_e4m3fnuz", 4, 3, 8, "fnuz"),
    Format("float8_e5m2fnuz", 5, 2, 16, "fnuz"),
    Format("float16", 5, 10, 15, "ieee"),
    Format("bfloat16", 8, 7, 127, "ieee"),
)


def decoded(form: Format) -> torch.Tensor:
    """Return the value of each bit pattern in float64, by the definition."""
    pattern = torch.arange(2**form.bits, dtype=torch.int64)
    sign = 1.0 - 2.0 * (pattern >> (form.bits - 1)).double()
    exponent = (pattern >> form.significand) & (2**form.exponent - 1)
    fraction = (pattern & (2**form.significand - 1)).double() / 2**form.significand
    power = torch.where(exponent == 0, 1, exponent) - form.bias
    value = sign * (fraction + (exponent > 0)) * torch.ldexp(torch.ones(power.shape, dtype=torch.float64), power)
    last = 2**form.exponent - 1
    if form.special == "ieee":
        value = torch.where((exponent == last) & (fraction == 0), sign * math.inf, value)
        value = torch.where((exponent == last) & (fraction > 0), math.nan, value)
    elif form.special == "fn":
        value = torch.where(pattern.remainder(2 ** (form.bits - 1)) == 2 ** (form.bits - 1) - 1, math.nan, value)
    else:
        value = torch.where(pattern == 2 ** (form.bits - 1), math.nan, value)
    return value


def bits_of(form: Format, tensor: torch.Tensor) -> torch.Tensor:
    """Return the bit patterns of a tensor as whole numbers."""
    kept = tensor.detach().cpu().contiguous().view(torch.uint8 if form.bits == 8 else torch.int16)
    return kept.to(torch.int64) & (2**form.bits - 1)


def of_bits(form: Format) -> torch.Tensor:
    """Return a tensor with every bit pattern of a format."""
    pattern = torch.arange(2**form.bits, dtype=torch.int64)
    raw = pattern.to(torch.uint8) if form.bits == 8 else torch.where(pattern < 2**15, pattern, pattern - 2**16).short()
    return raw.view(getattr(torch, form.name))


def nearest(form: Format, values: torch.Tensor) -> torch.Tensor:
    """Return which bit pattern each value has in a format; -1 where any NaN will do."""
    table, half = decoded(form), 2 ** (form.bits - 1)
    positive = table[:half]
    positive = positive[torch.isfinite(positive)]
    size = values.abs()
    above = torch.searchsorted(positive, size.clamp(max=float(positive[-1]))).clamp(max=len(positive) - 1)
    below = (above - 1).clamp(min=0)
    up, down = positive[above] - size, size - positive[below]
    # Patterns count upwards with the values: the even one has an even significand.
    lower = (down < up) | ((down == up) & (below % 2 == 0))
    pattern = torch.where(lower, below, above)
    step = positive[-1] - positive[-2]
    beyond = (size >= positive[-1] + step / 2) if len(positive) % 2 == 0 else (size > positive[-1] + step / 2)
    pattern = torch.where(beyond, len(positive) if form.special == "ieee" else -1, pattern)
    negative = torch.signbit(values)
    if form.special == "fnuz":
        negative = negative & (pattern != 0)
    pattern = torch.where((pattern >= 0) & negative, pattern + half, pattern)
    return torch.where(torch.isnan(values), -1, pattern)


@check("formats.conversions", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def conversions(context: Context) -> Measured:
    """Every value of the formats of 8 and 16 bits to every other, and all that lies between two of them."""
    cases = Cases("a conversion", REMEDY)
    forms = [form for form in SMALL if hasattr(torch, form.name)]
    for form in forms:
        every, exact = of_bits(form), decoded(form)
        there = every.to(context.device, copy=True)
        for wide in ("float64", "float32"):
            _values(cases, f"all of {form.name} to {wide}", there.to(getattr(torch, wide)), exact)
        for other in forms:
            if other is not form:
                _patterns(cases, f"all of {form.name}", there, exact, other)
        # The values in between: each pair's middle, and the float32 numbers next to it.
        finite = exact[torch.isfinite(exact)].unique()
        middle = ((finite[1:] + finite[:-1]) / 2).float()
        ends = torch.tensor([finite[-1] * 1.5, finite[-1] * 3, finite[0] * 3, math.inf, -math.inf, math.nan, -0.0, 0.0])
        edge = (finite[-1] + (finite[-1] - finite[-2]) / 2).float().reshape(1)
        points = torch.cat([middle, edge, -edge, ends.float()])
        infinity = torch.tensor(math.inf)
        between = torch.cat([points, torch.nextafter(points, infinity), torch.nextafter(points, -infinity)])
        for wide in ("float32", "float64"):
            source = between.to(getattr(torch, wide)).to(context.device)
            _patterns(cases, f"between two values, from {wide},", source, between.double(), form)
        # Strided, by a copy, and of lengths at which a vector ends.
        apart = between.to(context.device).repeat_interleave(2)[::2]
        _patterns(cases, "between two values, strided,", apart, between.double(), form)
        target = torch.empty(between.shape, dtype=getattr(torch, form.name), device=context.device)
        target.copy_(between)
        _is(cases, f"between two values, by a copy, to {form.name}", form, target, nearest(form, between.double()))
        for length in (1, 3, 7, 9, 15, 17, 31, 33):
            few = between[:length].to(context.device)
            _patterns(cases, f"{length} values", few, between[:length].double(), form)
    _integers_and_floats(cases, context)
    return cases.result()


def _values(cases: Cases, case: str, found: torch.Tensor, exact: torch.Tensor) -> None:
    """Compare values among which are NaN and infinities."""
    nan = torch.isnan(exact)
    cases.exactly(f"{case}, which are NaN", torch.isnan(found), nan)
    kept = torch.where(nan.to(found.device), 0.0, found.double())
    cases.exactly(case, kept, exact.masked_fill(nan, 0.0))
    signs = torch.signbit(kept).cpu() == torch.signbit(exact.masked_fill(nan, 0.0))
    cases.expect(f"{case}, signs", bool(signs.all()), f"has {int((~signs).sum())} wrong signs of zero")


def _patterns(cases: Cases, case: str, source: torch.Tensor, exact: torch.Tensor, form: Format) -> None:
    _is(cases, f"{case} to {form.name}", form, source.to(getattr(torch, form.name)), nearest(form, exact))


def _is(cases: Cases, case: str, form: Format, found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Compare bit patterns; where any NaN will do, see that it is one."""
    table, got = decoded(form), bits_of(form, found)
    # Formats without infinity: some conversions end at the largest number, as the specification lets them.
    ends = table[got].abs() == table[torch.isfinite(table)].max() if form.special == "fn" else torch.zeros(1).bool()
    good = torch.where(wanted < 0, torch.isnan(table[got]) | ends, got == wanted)
    worst = int((~good).nonzero()[0, 0]) if not bool(good.all()) else 0
    said = (
        f"has {int((~good).sum())} of {good.numel()} values that are not the nearest: {float(table[got[worst]]):.6g} "
        f"instead of {float(table[wanted[worst]]) if int(wanted[worst]) >= 0 else math.nan:.6g}"
    )
    cases.expect(case, bool(good.all()), said)


def _integers_and_floats(cases: Cases, context: Context) -> None:
    """Whole numbers from and to every format of floating-point numbers."""
    for whole in ("int8", "uint8", "int16", "int32", "int64"):
        dtype = getattr(torch, whole)
        limits = torch.iinfo(dtype)
        if limits.bits <= 16:
            numbers = torch.arange(limits.min, limits.max + 1)
        else:
            powers = [2**power for power in range(limits.bits - 1)]
            near = [one + beside for one in powers for beside in (-2, -1, 0, 1, 2)]
            listed = sorted({n for one in near for n in (one, -one) if limits.min <= n <= limits.max})
            numbers = torch.tensor([limits.min, *listed, limits.max])
        there = numbers.to(dtype).to(context.device)
        cases.exactly(f"{whole} to int64", there.to(torch.int64), numbers.double() if limits.bits < 64 else numbers)
        for name in ("float32", "bfloat16", "float16"):
            inside = numbers.abs() < 2**15
            form = next((one for one in SMALL if one.name == name), None)
            found = there[inside.to(there.device)].to(getattr(torch, name))
            if form is None:
                cases.exactly(f"{whole} to {name}", found, numbers[inside].double())
            else:
                _is(cases, f"{whole} to {name}", form, found, nearest(form, numbers[inside].double()))
        cases.exactly(f"{whole} to bool", there.bool(), numbers != 0)
        fraction = torch.cat([numbers.double()[numbers.abs() < 2**20] + part for part in (0.0, 0.25, -0.5, 0.75)])
        fraction = fraction[(fraction.trunc() >= limits.min) & (fraction.trunc() <= limits.max)]
        for name in ("float32", "float64"):
            source = fraction.to(getattr(torch, name)).to(context.device)
            cases.exactly(f"{name} to {whole}", source.to(dtype), fraction.trunc())


# -- integers


def _wrapped(value: int, limits: torch.iinfo) -> int:
    """Return what is left of a number in so many bits."""
    value &= 2**limits.bits - 1
    return value - 2**limits.bits if limits.min < 0 and value > limits.max else value


@check("formats.integers", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def integers(context: Context) -> Measured:
    """Integers at their ends: all pairs of 8 bits and those near the ends of more, by Python's own arithmetic."""
    cases = Cases("the arithmetic of integers", REMEDY)
    pairs: dict[str, t.Callable[[int, int], int]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "bitwise_and": lambda a, b: a & b,
        "bitwise_or": lambda a, b: a | b,
        "bitwise_xor": lambda a, b: a ^ b,
        "maximum": max,
        "minimum": min,
        "floor_divide": lambda a, b: a // b if b else 0,
        "remainder": lambda a, b: a % b if b else 0,
        "fmod": lambda a, b: (abs(a) % abs(b)) * (-1 if a < 0 else 1) if b else 0,
        "gcd": math.gcd,
    }
    for name in ("int8", "uint8", "int16", "int32", "int64"):
        dtype = getattr(torch, name)
        limits = torch.iinfo(dtype)
        if limits.bits == 8:
            numbers = list(range(limits.min, limits.max + 1))
        else:
            near = {2**power + beside for power in range(limits.bits) for beside in (-1, 0, 1)} | {3, 7, 10, 1000}
            near = {n for one in near for n in (one, -one)} | {limits.min, limits.min + 1, limits.max - 1}
            numbers = sorted(n for n in near if limits.min <= n <= limits.max)[:: 1 if limits.bits == 16 else 3]
            numbers = sorted({limits.min, limits.max, -1 if limits.min else 1, 0, *numbers})
        left = [a for a in numbers for _unused in numbers]
        right = [b for _unused in numbers for b in numbers]
        a, b = (torch.tensor(one, dtype=dtype).to(context.device) for one in (left, right))
        for operation, python in pairs.items():
            kept = (b != 0) & ~((a == limits.min) & (b == -1) if limits.min else (b == 0))
            divides = operation in ("floor_divide", "remainder", "fmod")
            one, other = (a[kept], b[kept]) if divides else (a, b)
            wanted = [
                _wrapped(python(x, y), limits)
                for x, y in zip(left, right)
                if not divides or (y != 0 and not (limits.min and x == limits.min and y == -1))
            ]
            if operation == "gcd" and limits.min:
                # Of the smallest number the magnitude is none of the format.
                inside = (one != limits.min) & (other != limits.min)
                one, other = one[inside], other[inside]
                wanted = [math.gcd(x, y) for x, y in zip(left, right) if limits.min not in (x, y)]
            found = getattr(torch, operation)(one, other)
            _equal(cases, f"{operation}, {name}", found, torch.tensor(wanted, dtype=dtype))
        _equal(cases, f"comparison, {name}", a < b, torch.tensor([x < y for x, y in zip(left, right)]))
        _single(cases, name, numbers, dtype, context.device)
    return cases.result()


def _equal(cases: Cases, case: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
    """Compare integers, of which float64 does not hold those of 64 bits."""
    wrong = found.detach().cpu() != wanted
    first = int(wrong.nonzero()[0, 0]) if bool(wrong.any()) else 0
    said = f"has {int(wrong.sum())} of {wrong.numel()} values wrong: {found[first]} instead of {wanted[first]}"
    cases.expect(case, not bool(wrong.any()), said)


def _single(cases: Cases, name: str, numbers: list[int], dtype: torch.dtype, device: str) -> None:
    """Operators of one argument, shifts, and reductions, which add integers in 64 bits."""
    limits, there = torch.iinfo(dtype), torch.tensor(numbers, dtype=dtype).to(device)

    def expect(words: str, found: torch.Tensor, wanted: list[int]) -> None:
        _equal(cases, f"{words}, {name}", found, torch.tensor([_wrapped(n, limits) for n in wanted], dtype=dtype))

    expect("neg", -there, [-n for n in numbers])
    expect("bitwise_not", ~there, [~n for n in numbers])
    expect("square", there * there, [n * n for n in numbers])
    expect(
        "clamp", there.clamp(-5 if limits.min else 0, 99), [max(-5 if limits.min else 0, min(99, n)) for n in numbers]
    )
    expect("abs", there.abs(), [abs(n) for n in numbers])
    expect("sign", there.sign(), [(n > 0) - (n < 0) for n in numbers])
    for count in (0, 1, 3, limits.bits - 1):
        expect(f"shifted left by {count}", there << count, [n << count for n in numbers])
        expect(f"shifted right by {count}", there >> count, [n >> count for n in numbers])
    for power in (2, 3):
        expect(f"power {power}", there**power, [n**power for n in numbers])
    expect("sorted", there.flip(0).sort()[0], sorted(numbers))
    expect("largest and smallest", torch.stack(list(there.aminmax())), [min(numbers), max(numbers)])
    expect("running largest", there.cummax(0)[0], numbers)
    wide = torch.iinfo(torch.int64)
    total = _wrapped(sum(numbers), wide)
    _equal(cases, f"sum, {name}", there.sum().reshape(1), torch.tensor([total]))
    running: list[int] = []
    product = 1
    for number in numbers:
        running.append(_wrapped((running[-1] if running else 0) + number, wide))
        product = _wrapped(product * (number | 1), wide)
    _equal(cases, f"running sums, {name}", there.cumsum(0), torch.tensor(running))
    _equal(cases, f"product, {name}", (there | 1).prod().reshape(1), torch.tensor([product]))
    many = torch.full((70_001,), limits.max, dtype=dtype).to(device)
    _equal(cases, f"sum of many, {name}", many.sum().reshape(1), torch.tensor([_wrapped(70_001 * limits.max, wide)]))


# -- quotients


@check("formats.division", devices=("cuda", "cpu"), measured=SEEN_ARM)
def division(context: Context) -> Measured:
    """Quotients and their roundings, remainders, square roots and products that round, against float64.

    A quotient of two float32 numbers is rounded to float64 far finer than float32 is: what is exact there is exact.
    One that is rounded once is off by u. Divided by one number, all are multiplied by its inverse: 2 u more.
    """
    cases = Cases("a division", REMEDY)
    for name in ("float32", "float16", "bfloat16"):
        dtype, unit = getattr(torch, name), UNIT_ROUNDOFF[name]
        generator = context.generator(f"formats division {name}")
        a = (torch.randn(20_011, generator=generator) * 40).to(dtype)
        b = (torch.randn(20_011, generator=generator) * 3).to(dtype)
        b = torch.where(b == 0, torch.ones((), dtype=dtype), b)
        whole = torch.randint(-999, 1000, (2, 6_007), generator=generator).to(dtype)
        a, b = torch.cat([a, whole[0]]), torch.cat([b, torch.where(whole[1] == 0, 7, whole[1])]).to(dtype)
        x, y = a.double(), b.double()
        there, other = a.to(context.device), b.to(context.device)
        tiny = UNDERFLOW[name]

        def near(case: str, found: torch.Tensor, exact: torch.Tensor, units: float) -> None:
            inside = exact.abs() < torch.finfo(dtype).max  # noqa: B023
            found, exact = found[inside.to(found.device)], exact[inside]
            cases.compare(f"{case}, {name}", found, exact, units * unit * exact.abs() + 2 * tiny)  # noqa: B023

        near("quotient", there / other, x / y, 1.0 + 2**-10)
        near("quotient in place", there.clone().div_(other), x / y, 1.0 + 2**-10)
        near("reciprocal", other.reciprocal(), 1 / y, 3.0)
        near("quotient by 3", there / 3, x / 3, 3.0)
        near("3 by it", 3 / other, 3 / y, 4.0)
        near("square root", there.abs().sqrt(), x.abs().sqrt(), 2.0)
        near("product", there * other, x * y, 1.0 + 2**-10)
        near("difference", there - other, x - y, 1.0 + 2**-10)
        # Python's own division of float64 rounds down exactly; so does what is returned, once rounded to its format.
        exact = [float(p) // float(q) for p, q in zip(x.tolist(), y.tolist())]
        floor = torch.tensor(exact, dtype=torch.float64)
        # In 16 bits each step on the way is rounded, which a large quotient does not survive.
        holds = floor.abs() < (1 if name == "float32" else 2**-4) / unit
        near("floor_divide", (there // other)[holds.to(there.device)], floor[holds], 0.0)
        near("rounded down", torch.div(there, other, rounding_mode="floor")[holds.to(there.device)], floor[holds], 0.0)
        toward = (x / y).trunc()
        # A quotient that is rounded to a whole number before it is cut off may be one more.
        inner = holds & ((x / y - (x / y).round()).abs() > 4 * unit * (x / y).abs())
        found = torch.div(there, other, rounding_mode="trunc")
        near("rounded to zero", found[inner.to(there.device)], toward[inner], 0.0)
        left = torch.tensor([math.fmod(p, q) for p, q in zip(x.tolist(), y.tolist())], dtype=torch.float64)
        near("fmod", torch.fmod(there, other), left, 0.0)
        python = torch.tensor([p % q for p, q in zip(x.tolist(), y.tolist())], dtype=torch.float64)
        cases.compare(f"remainder, {name}", torch.remainder(there, other), python, unit * y.abs() + 2 * tiny)
        for words in ("floor", "ceil", "trunc", "round"):
            near(words, getattr(there, words)(), getattr(x, words)(), 0.0)
        halves = (torch.arange(-255, 256, dtype=torch.float64) / 2).to(dtype)
        near("round of halves", halves.to(context.device).round(), halves.double().round(), 0.0)
        near("frac", there.frac(), x.frac(), 0.0)
        near("hypot", torch.hypot(there, other), torch.hypot(x, y), 4.0)
    return cases.result()
