"""Check number formats: conversions of all 8-bit and 16-bit values, integers near their limits, and quotients.

A format has finitely many values. Every bit pattern is decoded by its definition, and a conversion must return the
nearest value; if two are equally near, the one with an even significand (IEEE 754-2019, section 4.3.1; OCP 8-bit
Floating Point Specification, 5.2). All comparisons are therefore exact.
"""

from __future__ import annotations

import itertools
import math
import operator
import typing as t

from ...check import SEEN_ARM, Context, Measured, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, functions_of, torch

REMEDY = "Do not compute with this stack in that format: use another torch; if only some runs fail, test the hardware."


class Format(t.NamedTuple):
    """A floating-point format.

    :ivar exponent: the bits of the exponent.
    :ivar significand: the stored bits of the significand.
    :ivar special: ``ieee`` if an exponent of all ones means infinity or NaN; ``fn`` if there is no infinity and a
        pattern of all ones is NaN.
    """

    name: str
    exponent: int
    significand: int
    special: str

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.significand


SMALL = (
    Format("float8_e4m3fn", 4, 3, "fn"),
    Format("float8_e5m2", 5, 2, "ieee"),
    Format("float16", 5, 10, "ieee"),
    Format("bfloat16", 8, 7, "ieee"),
)


#: Odd functions that are nearly linear around zero.
ODD = functions_of("odd functions")


def decoded(form: Format) -> torch.Tensor:
    """Return the value of each bit pattern in float64, computed by definition."""
    pattern = torch.arange(2**form.bits, dtype=torch.int64)
    sign = 1.0 - 2.0 * (pattern >> (form.bits - 1)).double()
    exponent = (pattern >> form.significand) & (2**form.exponent - 1)
    fraction = (pattern & (2**form.significand - 1)).double() / 2**form.significand
    power = torch.where(exponent == 0, 1, exponent) - (2 ** (form.exponent - 1) - 1)
    value = sign * (fraction + (exponent > 0)) * torch.ldexp(torch.ones(power.shape, dtype=torch.float64), power)
    last = 2**form.exponent - 1
    if form.special == "ieee":
        value = torch.where((exponent == last) & (fraction == 0), sign * math.inf, value)
        value = torch.where((exponent == last) & (fraction > 0), math.nan, value)
    else:
        value = torch.where(pattern.remainder(2 ** (form.bits - 1)) == 2 ** (form.bits - 1) - 1, math.nan, value)
    return value


def bits_of(form: Format, tensor: torch.Tensor) -> torch.Tensor:
    """Return the bit patterns of a tensor as integers."""
    raw = tensor.detach().cpu().contiguous().view(torch.uint8 if form.bits == 8 else torch.int16)
    return raw.to(torch.int64) & (2**form.bits - 1)


def all_patterns(form: Format) -> torch.Tensor:
    """Return a tensor with every bit pattern of a format."""
    pattern = torch.arange(2**form.bits, dtype=torch.int64)
    raw = pattern.to(torch.uint8) if form.bits == 8 else torch.where(pattern < 2**15, pattern, pattern - 2**16).short()
    return raw.view(getattr(torch, form.name))


def nearest(form: Format, values: torch.Tensor) -> torch.Tensor:
    """Return the bit pattern of each value in a format, or -1 where any NaN is right."""
    table, half = decoded(form), 2 ** (form.bits - 1)
    positive = table[:half]
    positive = positive[torch.isfinite(positive)]
    size = values.abs()
    above = torch.searchsorted(positive, size.clamp(max=float(positive[-1]))).clamp(max=len(positive) - 1)
    below = (above - 1).clamp(min=0)
    up, down = positive[above] - size, size - positive[below]
    # Patterns are ordered like their values, and an even pattern has an even significand.
    lower = (down < up) | ((down == up) & (below % 2 == 0))
    pattern = torch.where(lower, below, above)
    step = positive[-1] - positive[-2]
    overflows = (size >= positive[-1] + step / 2) if len(positive) % 2 == 0 else (size > positive[-1] + step / 2)
    pattern = torch.where(overflows, len(positive) if form.special == "ieee" else -1, pattern)
    negative = torch.signbit(values)
    pattern = torch.where((pattern >= 0) & negative, pattern + half, pattern)
    return torch.where(torch.isnan(values), -1, pattern)


@check("formats.conversions", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def conversions(context: Context) -> Measured:
    """Convert every 8-bit and 16-bit value, and the numbers between two such values, to every other format."""
    cases = Cases("a conversion", REMEDY)
    forms = [form for form in SMALL if hasattr(torch, form.name)]
    for form in forms:
        patterns, exact = all_patterns(form), decoded(form)
        on_device = patterns.to(context.device, copy=True)
        for wide in ("float64", "float32"):
            _compare_values(cases, f"all of {form.name} to {wide}", on_device.to(getattr(torch, wide)), exact)
        for other in forms:
            if other is not form:
                _convert(cases, f"all of {form.name}", on_device, exact, other)
        # Test numbers between two values: the midpoint of each pair, and its float32 neighbours.
        finite = exact[torch.isfinite(exact)].unique()
        middle = ((finite[1:] + finite[:-1]) / 2).float()
        ends = torch.tensor([finite[-1] * 1.5, finite[-1] * 3, finite[0] * 3, math.inf, -math.inf, math.nan, -0.0, 0.0])
        edge = (finite[-1] + (finite[-1] - finite[-2]) / 2).float().reshape(1)
        points = torch.cat([middle, edge, -edge, ends.float()])
        infinity = torch.tensor(math.inf)
        between = torch.cat([points, torch.nextafter(points, infinity), torch.nextafter(points, -infinity)])
        for wide in ("float32", "float64"):
            source = between.to(getattr(torch, wide)).to(context.device)
            _convert(cases, f"between two values, from {wide},", source, between.double(), form)
        # Convert a strided tensor, and tensors whose lengths do not fill a vector.
        strided = between.to(context.device).repeat_interleave(2)[::2]
        _convert(cases, "between two values, strided,", strided, between.double(), form)
        for length in (1, 3, 7, 9, 15, 17, 31, 33):
            short = between[:length].to(context.device)
            _convert(cases, f"{length} values", short, between[:length].double(), form)
    _integers_and_floats(cases, context)
    _compare_least(cases, context.device)
    return cases.result()


def _compare_least(cases: Cases, device: str) -> None:
    """Require of odd functions that they return zeros and the least numbers with their sign, in each lane of a vector.

    They are off by at most the least number.
    """
    for form in ("float64", "float32", "float16", "bfloat16"):
        dtype, limits = getattr(torch, form), torch.finfo(getattr(torch, form))
        least = limits.tiny * limits.eps
        exact = (torch.tensor([0.0, -0.0, 1.0, -1.0, -0.0]).double() * least).repeat(14)[:67]
        for name, function in ODD.items():
            with cases.offered(f"{name} of {form}"):
                actual = function(exact.to(device, dtype)).cpu().double()
                is_right = ((actual - exact).abs() <= least) & (actual.signbit() == exact.signbit())
                cases.same(f"{name} of the least numbers, {form}", actual, exact, ~is_right)


def _compare_values(cases: Cases, case: str, actual: torch.Tensor, exact: torch.Tensor) -> None:
    """Compare values that may be NaN or infinite."""
    nan = torch.isnan(exact)
    cases.exactly(f"{case}, which are NaN", torch.isnan(actual), nan)
    numbers, exact = torch.where(nan.to(actual.device), 0.0, actual.double()), exact.masked_fill(nan, 0.0)
    cases.exactly(case, numbers, exact)
    cases.same(f"{case}, signs", numbers, exact, torch.signbit(numbers).cpu() != torch.signbit(exact))


def _convert(cases: Cases, case: str, source: torch.Tensor, exact: torch.Tensor, form: Format) -> None:
    _compare_patterns(cases, f"{case} to {form.name}", form, source.to(getattr(torch, form.name)), nearest(form, exact))


def _compare_patterns(cases: Cases, case: str, form: Format, actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Compare bit patterns; if any NaN is right, only require a NaN."""
    table, patterns = decoded(form), bits_of(form, actual)
    values, nearest_values = table[patterns], torch.where(expected < 0, math.nan, table[expected.clamp_min(0)])
    # A conversion to a format without infinity may saturate to the largest number.
    saturated = (values.abs() == table[torch.isfinite(table)].max()) & (form.special == "fn")
    is_right = torch.where(expected < 0, torch.isnan(values) | saturated, patterns == expected)
    cases.same(case, values, nearest_values, ~is_right, "that are not the nearest")


def _integers_and_floats(cases: Cases, context: Context) -> None:
    """Compare integers converted to and from every floating-point format."""
    for integer in ("int8", "uint8", "int16", "int32", "int64"):
        dtype = getattr(torch, integer)
        limits = torch.iinfo(dtype)
        if limits.bits <= 16:
            numbers = torch.arange(limits.min, limits.max + 1)
        else:
            powers = [2**power for power in range(limits.bits - 1)]
            neighbours = [power + offset for power in powers for offset in (-2, -1, 0, 1, 2)]
            listed = sorted({n for number in neighbours for n in (number, -number) if limits.min <= n <= limits.max})
            numbers = torch.tensor([limits.min, *listed, limits.max])
        on_device = numbers.to(dtype).to(context.device)
        cases.exactly(f"{integer} to int64", on_device.to(torch.int64), numbers)
        inside = numbers.abs() < 2**15
        small, exact = on_device[inside.to(on_device.device)], numbers[inside].double()
        cases.exactly(f"{integer} to float32", small.float(), exact)
        for form in SMALL[2:]:  # those of 8 bits hold too few of these numbers
            _convert(cases, integer, small, exact, form)
        cases.exactly(f"{integer} to bool", on_device.bool(), numbers != 0)
        fraction = torch.cat([numbers.double()[numbers.abs() < 2**20] + part for part in (0.0, 0.25, -0.5, 0.75)])
        fraction = fraction[(fraction.trunc() >= limits.min) & (fraction.trunc() <= limits.max)]
        for name in ("float32", "float64"):
            source = fraction.to(getattr(torch, name)).to(context.device)
            cases.exactly(f"{name} to {integer}", source.to(dtype), fraction.trunc())


#: Operators on integers by Python's definition. Python has no fmod of integers.
_OF_INTEGERS = functions_of("integers", "a, b", gcd=math.gcd)


@check("formats.integers", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def integers(context: Context) -> Measured:
    """Compare integer arithmetic with Python's, on all pairs of 8-bit integers and on wider pairs near the limits."""
    cases = Cases("the arithmetic of integers", REMEDY)
    for name in ("int8", "uint8", "int16", "int32", "int64"):
        dtype, limits = getattr(torch, name), torch.iinfo(getattr(torch, name))
        numbers: t.Sequence[int] = range(limits.min, limits.max + 1)
        if limits.bits > 8:
            neighbours = {2**power + offset for power in range(limits.bits) for offset in (-1, 0, 1)} | {3, 7, 10, 1000}
            neighbours |= {-n for n in neighbours} | {limits.min, limits.min + 1, limits.max - 1}
            numbers = sorted(n for n in neighbours if limits.min <= n <= limits.max)[:: 1 if limits.bits == 16 else 3]
            numbers = sorted({limits.min, limits.max, -1 if limits.min else 1, 0, *numbers})
        everything = list(itertools.product(numbers, repeat=2))
        for operation, python in _OF_INTEGERS.items():
            pairs = everything
            if operation in ("floor_divide", "remainder", "fmod"):
                pairs = [(x, y) for x, y in everything if y and not (x == limits.min < 0 and y == -1)]
            elif "shift" in operation:
                pairs = [pair for pair in everything if pair[1] >= 0]
            elif operation == "gcd" and limits.min:
                # The magnitude of the smallest number does not fit into the format.
                pairs = [pair for pair in everything if limits.min not in pair]
            # Larger results wrap around.
            expected = [(python(x, y) - limits.min) % 2**limits.bits + limits.min for x, y in pairs]
            first, second = torch.tensor(pairs, dtype=dtype).to(context.device).unbind(1)
            actual = getattr(torch, operation)(first.contiguous(), second.contiguous())
            _compare_integers(cases, f"{operation}, {name}", actual, torch.tensor(expected, dtype=dtype))
        first, second = torch.tensor(everything, dtype=dtype).to(context.device).unbind(1)
        is_less = torch.tensor([x < y for x, y in everything])
        _compare_integers(cases, f"comparison, {name}", first.contiguous() < second.contiguous(), is_less)
    return cases.result()


def _compare_integers(cases: Cases, case: str, actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Compare integers exactly, including 64-bit integers, which float64 cannot represent."""
    cases.same(case, actual, expected, actual.detach().cpu() != expected)


@check("formats.division", devices=("cuda", "cpu"), measured=SEEN_ARM)
def division(context: Context) -> Measured:
    """Compare quotients, their roundings and remainders with float64 and Python; the survey has no large quotients.

    float64 represents the quotient of two float32 numbers with far more bits than float32, so it is the reference. A
    result that is rounded once is off by u. Dividing by a scalar multiplies by its inverse, which adds 2 u.
    """
    cases = Cases("a division", REMEDY)
    for name in ("float32", "float16", "bfloat16"):
        dtype, unit = getattr(torch, name), UNIT_ROUNDOFF[name]
        generator = context.generator(f"formats division {name}")
        a = (torch.randn(20_011, generator=generator) * 40).to(dtype)
        b = (torch.randn(20_011, generator=generator) * 3).to(dtype)
        b = torch.where(b == 0, torch.ones((), dtype=dtype), b)
        integers = torch.randint(-999, 1000, (2, 6_007), generator=generator).to(dtype)
        a, b = torch.cat([a, integers[0]]), torch.cat([b, torch.where(integers[1] == 0, 7, integers[1])]).to(dtype)
        x, y = a.double(), b.double()
        dividend, divisor = a.to(context.device), b.to(context.device)
        tiny = UNDERFLOW[name]

        def compare(
            case: str, actual: torch.Tensor, exact: torch.Tensor, units: float, inside: t.Any = True, more: t.Any = 0.0
        ) -> None:
            inside = inside & (exact.abs() < torch.finfo(dtype).max)  # noqa: B023
            bound = units * unit * exact.abs() + 2 * tiny + more  # noqa: B023
            cases.compare(f"{case}, {name}", actual.cpu()[inside], exact[inside], bound[inside])  # noqa: B023

        floor, left, rest = (
            torch.tensor(list(map(function, x.tolist(), y.tolist())), dtype=torch.float64)
            for function in (operator.floordiv, math.fmod, operator.mod)
        )
        # 16-bit operators round each step, so large quotients are not exact, and one may round to the next integer.
        holds, quotient = floor.abs() < (1 if name == "float32" else 2**-4) / unit, x / y
        near = (quotient - quotient.round()).abs() <= 4 * unit * quotient.abs()
        names = {"a": dividend, "b": divisor, "x": x, "y": y, "floor": floor, "left": left, "rest": rest, "unit": unit,
                 "quotient": quotient, "holds": holds, "off": holds & ~near}  # fmt: skip
        for case, function in functions_of("divisions", "", **names).items():
            compare(case, *function())
    return cases.result()
