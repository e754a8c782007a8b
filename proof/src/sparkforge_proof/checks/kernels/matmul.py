"""Check matrix products in every number format that the device supports without scales.

Each format is tested in three ways. Products of integers are exact, chosen so that the narrowest accumulator holds
every partial sum, regardless of order, splitting and rounding mode (see products.py). Random values and values that
cancel are compared with float64.

The bound for random values: products of two numbers of at most 12 bits are exact in float32, so only sums round. Tensor
cores add in float32, but truncate to the largest addend's exponent before each addition (M. Fasi, N. J. Higham, M.
Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021). An addition is
therefore off by up to 2 u of the sum of magnitudes, and each block of 4 or more is added to the accumulator once more.
gamma(4 k) with u of float32 covers both, as well as IEEE arithmetic. The result is rounded once to its own format.
"""

from __future__ import annotations

import contextlib
import math

from ...check import SEEN, SEEN_ARM, Context, Measured, Skipped, check

# isort: off
from ..bounds import (
    UNDERFLOW, UNIT_ROUNDOFF, Cases, allow_tf32, extensions, gamma, integers, one_thread, setting, ternary, torch,
)  # fmt: skip
from ..draws import FILLED
from . import products
from .scaled_matmul import REBUILD, compare_blocks, compare_float8

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

#: The rows, terms and columns of random numbers. Some sizes are multiples of the fast kernels' tiles.
SIZES = {"cuda": ((512, 512, 512), (515, 1023, 259)), "cpu": ((128, 256, 128), (65, 257, 33))}
#: The number of products that are drawn for each format, and for each setting of torch.
DRAWN, FOR_A_SETTING = {"cuda": 2_000, "cpu": 250}, 100


def rounding(name: str, expected: torch.Tensor, magnitudes: torch.Tensor, length: int) -> torch.Tensor:
    """Return the bound for a product of ``length`` terms in a format; see the module's docstring.

    :param name: the format; ``bfloat16 factors`` for float32 numbers that are rounded to bfloat16 before a product.
    :param magnitudes: the sums of the magnitudes of the products.
    """
    unit = UNIT_ROUNDOFF[name.partition(" ")[0]]
    if name == "float64":
        # The reference is rounded as well.
        return 2 * gamma(length, unit) * magnitudes
    if name == "float32":
        return gamma(length, unit) * magnitudes
    if name in ("tf32", "bfloat16 factors"):
        return (2 * unit + unit * unit + gamma(4 * length, UNIT_ROUNDOFF["float32"])) * magnitudes
    summed = gamma(4 * length, UNIT_ROUNDOFF["float32"]) * magnitudes
    return summed + unit * (expected.abs() + summed) + UNDERFLOW[name]


def _compare_activations(cases: Cases, context: Context, name: str, dtype: torch.dtype) -> None:
    """Compare products with a bias and an activation, which libraries fuse, and look for the NaN of one row in them."""
    generator = context.generator(f"{context.seed} matmul.{name} activations")
    for rows, terms, columns in ((64, 128, 96), (33, 40, 24), (272, 64, 16)):
        shapes = (columns,), (rows, terms), (terms, columns)
        bias, left, right = (ternary(generator, shape, torch.float64, 0.3) for shape in shapes)
        left[rows // 3, terms // 2] = math.nan
        exact, is_other = torch.addmm(bias, left, right).relu(), torch.arange(rows) != rows // 3
        for gelu in (False, True):
            inputs = (each.to(context.device, dtype) for each in (bias, left, right))
            case = f"{'gelu' if gelu else 'relu'} of {rows} x {terms} x {columns} and a bias"
            with cases.offered(case):
                actual = torch._addmm_activation(*inputs, use_gelu=gelu)
                cases.exactly(f"{case}, where it is NaN", actual.isnan(), exact.isnan())
                if not gelu:
                    cases.exactly(case, actual.cpu()[is_other], exact[is_other])


def _compare_threads(cases: Cases, context: Context, dtype: torch.dtype) -> None:
    """Compare a product that all threads of a CPU compute, four times, and a matrix times its transpose."""
    generator = context.generator(f"{context.seed} threads {dtype}")
    left, right = (integers(generator, (1_031, 1_031), 100, dtype) for _factor in range(2))
    with one_thread():
        expected, square = left.double() @ right.double(), left[:300].double() @ left[:300].double().t()
    for repeat in range(4):
        cases.exactly(f"a large product, run {repeat + 1}", left @ right, expected)
    cases.exactly("a matrix times its transpose", left[:300] @ left[:300].t(), square)


def _compare_reduced(cases: Cases, context: Context) -> None:
    """Compare float32 products for which torch may reduce the mathematics: to TF32, or on a CPU to bfloat16."""
    before = torch.get_float32_matmul_precision()
    try:
        for precision, factors in (("high", "tf32"), ("medium", "bfloat16 factors")):
            torch.set_float32_matmul_precision(precision)
            form = "tf32" if precision == "high" else "bfloat16"
            products.compare_drawn(cases, context, form, torch.float32, FOR_A_SETTING, f", precision {precision}")
            _compare_random(cases, context, factors, torch.float32, f", precision {precision}")
    finally:
        torch.set_float32_matmul_precision(before)


def _compare_random(cases: Cases, context: Context, name: str, dtype: torch.dtype, suffix: str = "") -> None:
    """Compare random products, and a product whose terms cancel, with float64."""
    generator = context.generator(f"matmul.{name} random")
    source = torch.float64 if dtype == torch.float64 else torch.float32

    def compare(case: str, left: torch.Tensor, right: torch.Tensor) -> None:
        expected = left.double() @ right.double()
        magnitudes = left.double().abs() @ right.double().abs()
        actual = left.to(context.device) @ right.to(context.device)
        cases.compare(f"{case}{suffix}", actual, expected, rounding(name, expected, magnitudes, left.shape[1]))

    def factors(rows: int, length: int, columns: int) -> list[torch.Tensor]:
        shapes = ((rows, length), (length, columns))
        return [torch.randn(shape, generator=generator, dtype=source).to(dtype) for shape in shapes]

    sizes = SIZES[context.device]
    # The bound for short sums is so tight that a format with fewer bits than requested exceeds it.
    for size in (*sizes, (192, 24, 160)):
        compare(" x ".join(map(str, size)), *factors(*size))
    left, right = factors(*sizes[0])
    order = torch.randperm(left.shape[1], generator=generator)
    compare("terms that cancel", torch.cat([left, left[:, order]], 1), torch.cat([right, -right[order]], 0))


def remedy(context: Context) -> str:
    return REBUILD if context.device == "cuda" else REBUILD_CPU


@check("matmul.float32", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
@check("matmul.tf32", measured=SEEN, factor=1)
@check("matmul.bfloat16", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
@check("matmul.float16", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
@check("matmul.float64", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def in_format(context: Context, name: str) -> Measured:
    """Check products in one format. Bound: see :func:`rounding`; zero for exact sums.

    In float32, TensorFloat-32 and bfloat16 would keep 11 and 8 of the 24 bits of a value, so nearly every element would
    be off; on a GPU, it is checked with TensorFloat-32 disabled and with torch's default settings. By
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
        products.compare_drawn(default, context, name, dtype, FOR_A_SETTING, ", default settings")
    # With AMX, oneDNN multiplies NaN behind a row by a padding of zero (onednn#5717), and torch 2.10.0 writes a row in
    # bfloat16 beside the strided elements.
    known = Cases("the product of views, or with NaN", remedy(context))
    is_torch = name == "bfloat16" and torch.__version__.startswith("2.10.")
    is_known = not cuda and (is_torch or (is_half and bool({"amx_bf16", "amx_fp16"} & extensions())))
    # cuBLASLt's fused activation may take the maximum of NaN and 0: on 9.0 in TF32 alone, elsewhere nobody has looked.
    loses_nan = cuda and (name == "tf32" or torch.cuda.get_device_capability()[0] != 9)
    flag = f"allow_{'bf' if name == 'bfloat16' else 'fp'}16_reduced_precision_reduction"
    with contextlib.ExitStack() as settings:
        if cuda and is_half:
            settings.enter_context(setting(torch.backends.cuda.matmul, flag, False))
        elif cuda:
            settings.enter_context(allow_tf32(torch.backends.cuda.matmul, name == "tf32"))
        _compare_random(plain, context, name, dtype)
        fill = FILLED if is_known else math.nan
        products.compare_drawn(plain, context, name, dtype, DRAWN[context.device], fill=fill)
        if is_known:
            products.compare_drawn(known, context, name, dtype, FOR_A_SETTING)
        elif not cuda and name in ("float32", "float64"):
            _compare_threads(plain, context, dtype)
        if not loses_nan:
            _compare_activations(known if is_known else plain, context, name, dtype)
    judged = list(dict.fromkeys((plain, default)))
    if name == "float32":
        judged.append(Cases("the float32 matrix product of reduced precision", remedy(context)))
        _compare_reduced(judged[-1], context)
    if name == "bfloat16" and not cuda:
        judged.append(Cases("the FP8 product with scales", remedy(context)))
        for by_row in (False, True):
            with judged[-1].offered(f"a scale for each {'row' if by_row else 'matrix'}"):
                compare_float8(judged[-1], context, by_row)
        compare_blocks(judged[-1], context)
    worst = max((cases.result() for cases in judged), key=lambda result: result.ratio or 0.0)
    worst.measured += f" of {sum(cases.count for cases in judged)} in all" if judged[1:] else ""
    worst.measured += "; NaN in a fused activation was not looked at" if loses_nan else ""
    known.warn(worst, "Wrong in views or beside NaN, as is known of this torch or CPU (onednn#5717)", remedy(context))
    return worst


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
