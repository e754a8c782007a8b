"""Check matrix products in every number format that the device supports without scales.

Each format is tested in four ways. Two are exact, with zero tolerance: a permutation scaled by powers of two, which
moves values with full significands and needs no reference product, and small integers, chosen so that the narrowest
accumulator holds every partial sum, regardless of order, splitting and rounding mode. In the other two, random values
and values that cancel are compared with float64.

The bound for random values: products of two numbers of at most 12 bits are exact in float32, so only sums round. Tensor
cores add in float32, but truncate to the largest addend's exponent before each addition (M. Fasi, N. J. Higham, M.
Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021). An addition is
therefore off by up to 2 u of the sum of magnitudes, and each block of 4 or more is added to the accumulator once more.
gamma(4 k) with u of float32 covers both, as well as IEEE arithmetic. The result is rounded once to its own format.
"""

from __future__ import annotations

import contextlib
import typing as t

from ...check import SEEN, SEEN_ARM, Context, Measured, Skipped, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, allow_tf32, gamma, setting, ternary, torch

#: The number of bits in the significand, including the implicit bit.
SIGNIFICAND = {"float64": 53, "float32": 24, "tf32": 11, "float16": 11, "bfloat16": 8}

#: The largest sum of magnitudes of integer products for which every stored partial sum is exact. In float16 and
#: bfloat16, sums are split, and their parts are rounded to the format (allow_bf16_reduced_precision_reduction).
LARGEST_SUM = {"float64": 2**53, "float32": 2**24, "tf32": 2**24, "float16": 2**11, "bfloat16": 2**8}

REBUILD = (
    "Do not compute with this stack: rebuild torch with TORCH_CUDA_ARCH_LIST for the device (12.0 on a GB10), or use "
    "another stack."
)
REBUILD_CPU = (
    "Do not compute with this stack: check which BLAS torch is linked against (torch.__config__.show()), or use "
    "another stack."
)
NO_TF32 = (
    "Unset TORCH_ALLOW_TF32_CUBLAS_OVERRIDE and check for a sitecustomize or start-up file that calls"
    " torch.set_float32_matmul_precision or sets allow_tf32."
)
NO_BF16_MATH = (
    "Unset DNNL_DEFAULT_FPMATH_MODE and ONEDNN_DEFAULT_FPMATH_MODE, which turn float32 products into bfloat16 ones; if "
    "they are not set, use another stack."
)


def integers(generator: torch.Generator, shape: t.Sequence[int], largest: int, dtype: torch.dtype) -> torch.Tensor:
    """Return integers of both signs."""
    return torch.randint(-largest, largest + 1, tuple(shape), generator=generator).to(dtype)


def significands(generator: torch.Generator, shape: t.Sequence[int], bits: int, dtype: torch.dtype) -> torch.Tensor:
    """Return numbers of both signs with magnitudes in [1/2, 1) and full significands of ``bits`` bits."""
    values = torch.randint(2 ** (bits - 1), 2**bits, tuple(shape), generator=generator)
    values = values | 1
    signs = torch.randint(0, 2, tuple(shape), generator=generator) * 2 - 1
    return (signs.double() * values.double() * 2.0**-bits).to(dtype)


def permutation(generator: torch.Generator, size: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a permutation matrix scaled by powers of two, and the column and factor of each of its rows."""
    columns = torch.randperm(size, generator=generator)
    factors = 2.0 ** torch.randint(-2, 3, (size,), generator=generator).double()
    matrix = torch.zeros(size, size, dtype=torch.float64)
    matrix[torch.arange(size), columns] = factors
    return matrix.to(dtype), torch.stack([columns.double(), factors], dim=1)


def rounding(name: str, expected: torch.Tensor, magnitudes: torch.Tensor, length: int) -> torch.Tensor:
    """Return the bound for a product of ``length`` terms in a format; see the module's docstring.

    :param magnitudes: the sums of the magnitudes of the products.
    """
    unit = UNIT_ROUNDOFF[name]
    if name == "float64":
        # The reference is rounded as well.
        return 2 * gamma(length, unit) * magnitudes
    if name == "float32":
        return gamma(length, unit) * magnitudes
    if name == "tf32":
        return (2 * unit + unit * unit + gamma(4 * length, UNIT_ROUNDOFF["float32"])) * magnitudes
    summed = gamma(4 * length, UNIT_ROUNDOFF["float32"]) * magnitudes
    return summed + unit * (expected.abs() + summed) + UNDERFLOW[name]


def _sizes(context: Context) -> dict[str, t.Any]:
    """Return (rows, length, columns) by case; on a GPU, some sizes are multiples of the fast kernels' tiles."""
    if context.device == "cuda":
        return {
            "permutation": (384, 640, 512),
            "integers": (384, 2048, 320),
            "random": ((512, 512, 512), (515, 1023, 259)),
            "repeats": 10,
        }
    return {
        "permutation": (96, 130, 80),
        "integers": (48, 2048, 64),
        "random": ((128, 256, 128), (65, 257, 33)),
        "repeats": 5,
    }


def _compare_exact(cases: Cases, context: Context, name: str, dtype: torch.dtype, suffix: str) -> None:
    """Compare permutations and integers with zero tolerance, the integers repeatedly."""
    sizes = _sizes(context)
    generator = context.generator(f"matmul.{name} exact")
    bits = SIGNIFICAND[name]
    rows, length, columns = sizes["permutation"]

    values = significands(generator, (length, columns), bits, dtype)
    matrix, columns_and_factors = permutation(generator, length, dtype)
    expected = values.double()[columns_and_factors[:, 0].long()] * columns_and_factors[:, 1:]
    actual = matrix.to(context.device) @ values.to(context.device)
    cases.exactly(f"permuted rows{suffix}", actual, expected)

    values = significands(generator, (rows, length), bits, dtype)
    expected = values.double()[:, columns_and_factors[:, 0].long()] * columns_and_factors[:, 1]
    actual = values.to(context.device) @ matrix.to(context.device).t()
    cases.exactly(f"permuted columns{suffix}", actual, expected)

    for without_terms in (((2, 4, 0), (2, 0, 3)), ((4, 0), (0,))):
        left, right = (torch.zeros(shape, dtype=dtype) for shape in without_terms)
        actual = left.to(context.device) @ right.to(context.device)
        cases.exactly(f"no terms{suffix}", actual, left.double() @ right.double())

    rows, length, columns = sizes["integers"]
    # Sums of 2048 terms stay below the limit: one factor is -1, 0 or 1, and the other uses all bits that are left.
    if LARGEST_SUM[name] <= 2**11:
        density = (LARGEST_SUM[name] / length / 2.5) ** 0.5
        left = ternary(generator, (rows, length), dtype, density)
        right = ternary(generator, (length, columns), dtype, density)
    else:
        largest = min(LARGEST_SUM[name] // length // 2, 2**bits - 1)
        left = integers(generator, (rows, length), largest, dtype)
        right = ternary(generator, (length, columns), dtype, 0.5)
    for number, (first, second) in enumerate(((left, right), (right.t().contiguous(), left.t().contiguous()))):
        expected = first.double() @ second.double()
        magnitudes = first.double().abs() @ second.double().abs()
        if float(magnitudes.max()) > LARGEST_SUM[name]:
            raise ValueError(f"the integers of {name} are not exact: {float(magnitudes.max())}")
        first, second = first.to(context.device), second.to(context.device)
        for repeat in range(sizes["repeats"]):
            run = "" if repeat == 0 else f", repeat {repeat}"
            cases.exactly(
                f"integers {'of long sums' if number == 0 else 'transposed'}{suffix}{run}", first @ second, expected
            )


def _compare_random(cases: Cases, context: Context, name: str, dtype: torch.dtype) -> None:
    """Compare random products, and a product whose terms cancel, with float64."""
    generator = context.generator(f"matmul.{name} random")
    source = torch.float64 if dtype == torch.float64 else torch.float32

    def compare(case: str, left: torch.Tensor, right: torch.Tensor) -> None:
        expected = left.double() @ right.double()
        magnitudes = left.double().abs() @ right.double().abs()
        actual = left.to(context.device) @ right.to(context.device)
        cases.compare(case, actual, expected, rounding(name, expected, magnitudes, left.shape[1]))

    for rows, length, columns in _sizes(context)["random"]:
        left = torch.randn(rows, length, generator=generator, dtype=source).to(dtype)
        right = torch.randn(length, columns, generator=generator, dtype=source).to(dtype)
        compare(f"{rows} x {length} x {columns}", left, right)
    # The bound for short sums is so tight that a format with fewer bits than requested exceeds it.
    left = torch.randn(192, 24, generator=generator, dtype=source).to(dtype)
    right = torch.randn(24, 160, generator=generator, dtype=source).to(dtype)
    compare("192 x 24 x 160", left, right)
    rows, length, columns = _sizes(context)["random"][0]
    left = torch.randn(rows, length, generator=generator, dtype=source).to(dtype)
    right = torch.randn(length, columns, generator=generator, dtype=source).to(dtype)
    order = torch.randperm(length, generator=generator)
    compare("terms that cancel", torch.cat([left, left[:, order]], 1), torch.cat([right, -right[order]], 0))


def remedy(context: Context) -> str:
    return REBUILD if context.device == "cuda" else REBUILD_CPU


@check("matmul.float32", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
@check("matmul.tf32", measured=SEEN, factor=1)
@check("matmul.bfloat16", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
@check("matmul.float16", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
@check("matmul.float64", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def products(context: Context, name: str) -> Measured:
    """Check products in one format. Bound: see :func:`rounding`; zero for exact sums.

    In float32, TensorFloat-32 and bfloat16 would keep 11 and 8 of the 24 bits of a permuted value, so nearly every
    element would be off; on a GPU, it is checked with TensorFloat-32 disabled and with torch's default settings. By
    default, cuBLAS may split a sum in 16 bits and round its parts to the format, so there only exact sums are judged.
    Float64 must not be float32 in a wider format.
    """
    cuda, dtype = context.device == "cuda", torch.float32 if name == "tf32" else getattr(torch, name)
    if name in ("tf32", "bfloat16") and cuda and torch.cuda.get_device_capability() < (8, 0):
        raise Skipped(f"Products in {name} need compute capability 8.0 or higher.")
    plain = default = Cases(f"the {name} matrix product", remedy(context))
    if name == "float32":
        fault = NO_TF32 if cuda else NO_BF16_MATH
        default = Cases("the float32 matrix product with torch's default settings", fault)
        plain = plain if cuda else default
    is_half = name in ("bfloat16", "float16")
    if cuda and (is_half or name == "float32"):
        _compare_exact(default, context, name, dtype, ", default settings")
    flag = f"allow_{'bf' if name == 'bfloat16' else 'fp'}16_reduced_precision_reduction"
    with contextlib.ExitStack() as settings:
        if cuda and is_half:
            settings.enter_context(setting(torch.backends.cuda.matmul, flag, False))
        elif cuda:
            settings.enter_context(allow_tf32(torch.backends.cuda.matmul, name == "tf32"))
        if not (cuda and is_half):
            _compare_exact(plain, context, name, dtype, "")
        _compare_random(plain, context, name, dtype)
    if name == "float64":
        _compare_wide_integers(plain, context)
    worst = max((plain.result(), default.result()), key=lambda result: result.ratio or 0.0)
    worst.measured += f" of {plain.count + default.count} in all" if plain is not default else ""
    return worst


def _compare_wide_integers(cases: Cases, context: Context) -> None:
    """Compare integers of 26 bits in float64 with a product of 64-bit integers that is rounded once."""
    generator, unit = context.generator("matmul.float64 integers"), UNIT_ROUNDOFF["float64"]
    left = torch.randint(-(2**26), 2**26, (96, 300), generator=generator)
    right = torch.randint(-(2**26), 2**26, (300, 70), generator=generator)
    bound = (gamma(300, unit) + unit) * (left.double().abs() @ right.double().abs())
    actual = left.double().to(context.device) @ right.double().to(context.device)
    cases.compare("integers of 26 bits against 64-bit integers", actual, (left @ right).double(), bound)


@check("matmul.int8", measured=SEEN, factor=1)
def int8(context: Context) -> Measured:
    """Check products of 8-bit integers with 32-bit sums, with zero tolerance, because integers are not rounded."""
    cases = Cases("the int8 matrix product", remedy(context))
    generator = context.generator("matmul.int8")
    # Use column-major order, like the weights of a quantised layer: cuBLAS guarantees no other order (cublasLt, "IMMA
    # kernels"), and refused another one on 9.0. It also requires sizes that are multiples of 4.
    for rows, length, columns in ((36, 64, 48), (256, 512, 384), (132, 2048, 272)):
        left = torch.randint(-128, 128, (rows, length), generator=generator, dtype=torch.int8)
        right = torch.randint(-128, 128, (columns, length), generator=generator, dtype=torch.int8)
        expected = left.double() @ right.t().double()
        for repeat in range(3):
            actual = torch._int_mm(left.to(context.device), right.to(context.device).t())
            cases.exactly(f"{rows} x {length} x {columns}, run {repeat + 1}", actual, expected)
    smallest = torch.full((64, 4096), -128, dtype=torch.int8).to(context.device)
    actual = torch._int_mm(smallest, smallest.t())
    cases.exactly("the largest sum", actual, torch.full((64, 64), 4096.0 * 128 * 128, dtype=torch.float64))
    return cases.result()
