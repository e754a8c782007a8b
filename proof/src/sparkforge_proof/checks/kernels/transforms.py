"""Check Fourier transforms by classes of length: small ones, powers, products of primes, primes, odd and long ones.

Short transforms are compared with the definition, a sum of products in complex128, and long ones with torch's own
complex128 transform on the CPU. Errors grow with the logarithm of the length, and their squares add (W. M. Gentleman
and G. Sande, 1966): the bound is ``STEPS`` u of the root mean square for each doubling. A length with a large prime
factor requires three longer transforms.
"""

from __future__ import annotations

import functools
import math

from ...check import SEEN_ARM_GRID, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, around_powers, functions_of, torch
from .algebra import REAL, REMEDY

STEPS = 16.0
#: Several planes with a single row or column, which are always compared, and the lengths in two dimensions of those
#: that the day selects: with a large prime factor, long and short, and powers.
FLAT = (3, 1, 11), (4, 13, 1)
PLANES = (151, 2_229), (8_192, 3), (1_018, 74), (64, 4_096), (5, 16_385)
#: The layouts of the transforms of one length; rows apart begin more than their length apart.
LAYOUTS = "rows", "columns", "rows apart"
#: The length of the longest transform that is compared with the definition.
BY_DEFINITION = 1024
CLASSES = {name: lengths() for name, lengths in functions_of("lengths of transforms", "", around=around_powers).items()}


@check("algebra.fft", devices=("cuda", "cpu"), seconds=300, measured=SEEN_ARM_GRID)
def fft(context: Context) -> Measured:
    """Check complex and real transforms of all classes of length; the survey covers the rest of torch.fft."""
    cases = Cases("a Fourier transform", REMEDY)
    gpu = context.device == "cuda"
    for form in ("float32", "float64") if gpu else ("float32",):
        for length_class, lengths in CLASSES.items():
            is_long = length_class == "long"
            step = (3 if form == "float64" else 1 if is_long else 2) if gpu else 4 if is_long else 1
            for length in lengths[::step]:
                if form == "float32" or length <= 2**17:
                    _compare_length(cases, context, form, length)
        for shape in (*FLAT, PLANES[context.seed % len(PLANES)]):
            _compare_planes(cases, context, form, shape)
    if gpu:
        _compare_overflow(cases, context)
    else:
        # Libraries for CPUs have a kernel of their own for each of many products of small primes.
        smooth = [length for length in range(34, BY_DEFINITION) if _largest_prime(length) <= 13]
        of_classes = set().union(*CLASSES.values())
        for length in (*smooth[:120], *smooth[120 + context.seed % 4 :: 4]):
            if length not in of_classes:
                _compare_length(cases, context, "float32", length)
    return cases.result()


def _compare_overflow(cases: Cases, context: Context) -> None:
    """Compare transforms of two neighbours, whose sum is infinite in some frequencies and finite in the others."""
    for form, length in (("float32", 512), ("float32", 4_096), ("float16", 64)):
        dtype, signal = getattr(torch, form), torch.zeros(3, length, dtype=torch.complex128)
        largest = torch.finfo(dtype).max
        signal[:, :2] = 0.6 * largest
        exact = torch.view_as_real(_transform(signal))
        expected = torch.where(exact.abs() > largest, exact.sign() * math.inf, exact)
        bound = torch.full_like(exact, STEPS * UNIT_ROUNDOFF[form] * largest)
        with cases.offered(f"fft of {form}"):
            actual = torch.fft.fft(signal.to(context.device, dtype.to_complex())).to(torch.complex64)
            cases.compare(f"fft that overflows, {length} of {form}", torch.view_as_real(actual), expected, bound)


def _compare_planes(cases: Cases, context: Context, form: str, shape: tuple[int, ...]) -> None:
    """Compare transforms of two dimensions, twice with the same plan."""
    dtype, unit = getattr(torch, form), UNIT_ROUNDOFF[form] * (2 if form == "float64" else 1)
    signal = torch.randn(shape, generator=context.generator(f"planes {form} {shape}"), dtype=dtype)
    spectrum, on_device = torch.fft.rfft2(signal.double()), signal.to(context.device)
    complete, length = torch.fft.fft2(signal.double()), math.prod(shape)
    for run in ("", ", again"):
        _compare(cases, f"rfft2, {shape} of {form}{run}", torch.fft.rfft2(on_device), spectrum, unit, length)
        result = torch.fft.fft2(torch.complex(on_device, on_device * 0))
        _compare(cases, f"fft2, {shape} of {form}{run}", result, complete, unit, length)
        back = torch.fft.irfft2(torch.fft.rfft2(on_device), s=shape[-2:])
        _compare(cases, f"irfft2, {shape} of {form}{run}", back, signal.double(), 2 * unit, length)


def _compare(cases: Cases, case: str, actual: torch.Tensor, expected: torch.Tensor, unit: float, length: int) -> None:
    # The scale is the root mean square over all lines, because a single line may be small.
    size = expected.abs().square().mean().sqrt()
    primes = 3.0 if _largest_prime(length) > 7 else 1.0
    cases.compare(case, actual.cpu(), expected, STEPS * primes * unit * (math.log2(length) + 4) * size)


def _largest_prime(length: int) -> int:
    rest, prime, largest = length, 2, 1
    while prime * prime <= rest:
        while rest % prime == 0:
            rest, largest = rest // prime, prime
        prime += 1
    return max(rest, largest)


def _transform(signal: torch.Tensor) -> torch.Tensor:
    """Return the Fourier transform in complex128 along the last dimension."""
    length = signal.shape[-1]
    return torch.fft.fft(signal) if length > BY_DEFINITION else signal @ _definition(length)


@functools.lru_cache(maxsize=1)
def _definition(length: int) -> torch.Tensor:
    """Return the matrix of the transform, which several comparisons of a length use one after another."""
    index = torch.arange(length)
    angle = torch.outer(index, index).remainder(length).double() * (-2 * math.pi / length)
    return torch.complex(angle.cos(), angle.sin())


def _compare_length(cases: Cases, context: Context, form: str, length: int) -> None:
    """Compare complex and real transforms of one length, forward and inverse, in one of ``LAYOUTS``."""
    dtype, unit = getattr(torch, form), UNIT_ROUNDOFF[REAL[form]] * (2 if form == "float64" else 1)
    wide = torch.complex64 if form == "float32" else torch.complex128
    generator = context.generator(f"fft {form} {length}")
    count, layout = 1 if length > 20_000 else 3 + length % 7, LAYOUTS[(length + context.seed) % 3]
    signal = torch.randn(count, length, generator=generator, dtype=wide).to(torch.complex128)
    spectrum = _transform(signal.real.to(torch.complex128))[:, : length // 2 + 1]
    half = spectrum.to(wide).to(torch.complex128)

    def compare(name: str, x: torch.Tensor, expected: torch.Tensor, **options: int) -> None:
        rows = x.to(context.device, dtype if not x.is_complex() else wide)
        if layout == "columns":
            actual = getattr(torch.fft, name)(rows.t().contiguous(), dim=0, **options).t()
        else:
            laid = torch.cat([rows, rows[:, :2]], 1)[:, : rows.shape[1]] if layout == "rows apart" else rows
            actual = getattr(torch.fft, name)(laid, **options)
        _compare(cases, f"{name}, {length} of {form}, {layout}", actual, expected, unit, length)

    compare("fft", signal, _transform(signal))
    compare("ifft", signal, _transform(signal.conj()).conj() / length)
    compare("rfft", signal.real, spectrum)
    compare("irfft", half, torch.fft.irfft(half, n=length), n=length)
