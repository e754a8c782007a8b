"""Check matrix products in every number format that the device supports without scales.

Each format is tested in four ways. Two are exact, with zero tolerance: long sums of integers, chosen so that the
narrowest accumulator holds every partial sum, regardless of order, splitting and rounding mode, and products in all
memory layouts with their gradients. In the other two, random values and values that cancel are compared with float64.

The bound for random values: products of two numbers of at most 12 bits are exact in float32, so only sums round. Tensor
cores add in float32, but truncate to the largest addend's exponent before each addition (M. Fasi, N. J. Higham, M.
Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330, 2021). An addition is
therefore off by up to 2 u of the sum of magnitudes, and each block of 4 or more is added to the accumulator once more.
gamma(4 k) with u of float32 covers both, as well as IEEE arithmetic. The result is rounded once to its own format.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import typing as t

from ..._shared.module_utils._core import versions
from ...check import SEEN, SEEN_ARM, Context, Measured, Skipped, check

# isort: off
from ..bounds import (
    UNDERFLOW, UNIT_ROUNDOFF, Cases, allow_tf32, extensions, functions_of, gamma, gradients, integers, one_thread,
    setting, ternary, torch,
)  # fmt: skip
from .scaled_matmul import REBUILD, compare_blocks, compare_float8

#: The largest sum of magnitudes of integer products for which every stored partial sum is exact. In float16 and
#: bfloat16, sums are split, and their parts are rounded to the format (allow_bf16_reduced_precision_reduction).
LARGEST_SUM = {"float64": 2**53, "float32": 2**24, "tf32": 2**24, "float16": 2**11, "bfloat16": 2**8}

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

#: The rows, terms and columns of integers and of random numbers, and how often the integers are multiplied. Some sizes
#: are multiples of the fast kernels' tiles.
SIZES: dict[str, t.Any] = {
    "cuda": ((384, 2048, 320), ((512, 512, 512), (515, 1023, 259)), 10),
    "cpu": ((48, 2048, 64), ((128, 256, 128), (65, 257, 33)), 5),
}
#: Ranges of rows, terms and columns of larger products: sums of a million and deep sums, which libraries split, and, on
#: a GPU, few rows with many columns, many of each, and more columns or rows than 65,535 blocks of 32. Of both, the
#: first few repeat.
DEEP = ((1, 3), (1_000_001, 1_100_001), (1, 3)), ((8, 64), (9_001, 70_001), (8, 64))
LARGE = (*DEEP, ((1, 16), (4_096, 8_200), (8_000, 13_000)), ((1_024, 1_100), (1_024, 1_024), (2_048, 2_100)),
         ((1, 24), (16, 16), (2_200_001, 2_300_001)), ((2_200_001, 2_300_001), (16, 16), (1, 24)))  # fmt: skip
REPEATED = 31
#: Products of batches of three matrices, of which a broadcast one has one, or of their first matrices.
PRODUCTS = functions_of("products", "x, y, z")
#: Ranges of rows, terms and columns for which libraries have kernels of their own: few terms, a row, a column, others,
#: and no terms, whose sum is zero. In memory, rows begin one of ``GAPS`` numbers behind each other.
VIEWS: t.Sequence[t.Any] = (
    ((513, 640), (1, 7), (513, 640)), ((1, 1), (33, 300), (2, 300)), ((2, 300), (33, 300), (1, 1)),
    ((129, 300), (129, 300), (129, 300)), ((2, 70), (2, 70), (2, 70)), ((2, 70), (0, 0), (2, 70)),
)  # fmt: skip
GAPS = (2, 3, 5, 8, 9, 16, 28, 64)
#: Products that write into a tensor, and others. Of vectors, torch 2.10 writes beside the strided elements.
WRITTEN = functions_of("products that are written", "x, y, z")


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


def _compare_exact(cases: Cases, context: Context, name: str, dtype: torch.dtype, suffix: str) -> None:
    """Compare products of integers with zero tolerance, several times."""
    (rows, length, columns), _random, repeats = SIZES[context.device]
    generator = context.generator(f"matmul.{name} exact")
    # Sums of 2048 terms stay below the limit: one factor is -1, 0 or 1, or in float64 has 20 bits.
    if LARGEST_SUM[name] <= 2**11:
        density = (LARGEST_SUM[name] / length / 2.5) ** 0.5
        left = ternary(generator, (rows, length), dtype, density)
        right = ternary(generator, (length, columns), dtype, density)
    else:
        smaller = 2**20 if name == "float64" else 1
        # TensorFloat-32 has integers of 11 bits.
        largest = 2**11 - 1 if name == "tf32" else LARGEST_SUM[name] // length // 2 // smaller
        left = integers(generator, (rows, length), largest, dtype)
        right = integers(generator, (length, columns), smaller, dtype)
    expected = (left.long() @ right.long()).double()
    left, right = left.to(context.device), right.to(context.device)
    for repeat in range(repeats):
        cases.exactly(f"integers of long sums{suffix}, run {repeat + 1}", left @ right, expected)


def compare_repeated(cases: Cases, context: Context, name: str, ranges: t.Sequence[t.Sequence[int]]) -> None:
    """Compare a product of -1, 0 and 1 whose factors repeat the same rows and columns, with zero tolerance."""
    drawing = context.drawing(f"{name} {ranges}")
    rows, terms, columns = (drawing.randint(*limits) for limits in ranges)
    case, dtype = f"integers of {rows:,} x {terms:,} x {columns:,}", getattr(torch, name.replace("tf32", "float32"))
    generator, density = context.generator(f"{name} {case}"), min(0.7, (LARGEST_SUM[name] / terms / 2.5) ** 0.5)
    counts = [min(count, REPEATED) for count in (rows, columns)]
    parts = [ternary(generator, (count, terms), torch.float64, density) for count in counts]
    exact, *factors = (part.to(context.device, dtype) for part in (parts[0] @ parts[1].t(), *parts))
    times = [-(-size // count) for size, count in zip((rows, columns), counts)]
    left, right = (x.repeat(count, 1)[:size] for x, count, size in zip(factors, times, (rows, columns)))
    left, right = (x.t().contiguous().t() if drawing.random() < 0.5 else x for x in (left, right))
    is_right = torch.equal(left @ right.t(), exact.repeat(times)[:rows, :columns])
    cases.expect(case, is_right, "differs from the product of the rows and columns that repeat")


def _compare_layouts(cases: Cases, context: Context, name: str, dtype: torch.dtype, suffix: str = "") -> None:
    """Compare products of integers and their gradients, with zero tolerance, in each two orders of dimensions, thrice.

    In some of them, the batch lies between the dimensions of a matrix. Each integer and each sum fits every format.
    """
    stream, pairs = f"matmul.{name}{suffix}", [*itertools.product(itertools.permutations(range(3)), repeat=2)] * 3
    generator, drawing = context.generator(f"{context.seed} {stream}"), context.drawing(stream)
    for number, pair in enumerate(drawing.sample(pairs, len(pairs))):
        function, largest = [*PRODUCTS][number % len(PRODUCTS)], 100 if dtype.itemsize > 2 else 1
        rows, terms, columns = (drawing.randint(1, 70) for _size in range(3))
        rows, terms = (64, 38) if number % 2 else (rows, terms)
        counts = 1 if number % 5 == 1 else 3, 1 if number % 5 == 3 else 3
        exact = [
            integers(generator, (counts[0], rows, terms), largest, torch.float64),
            ternary(generator, (counts[1], terms, columns), torch.float64, 0.7),
        ]
        added = ternary(generator, (3, rows, columns), torch.float64, 0.7)
        laid = [
            x.to(context.device, dtype).permute(order).contiguous().permute(*map(order.index, range(3)))
            for x, order in zip(exact, pair)
        ]
        expected, actual = (
            PRODUCTS[function](*(x.requires_grad_() for x in factors), added.to(factors[0]))
            for factors in (exact, laid)
        )
        upstream = ternary(generator, expected.shape, torch.float64, 0.7)
        results = actual, *gradients(actual, laid, upstream.to(actual))
        references = expected.detach(), *gradients(expected, exact, upstream)
        case = f"{function} of {rows} x {terms} x {columns}, orders {pair}{suffix}"
        for part, result, reference in zip(("", ", left gradient", ", right gradient"), results, references):
            cases.exactly(f"{case}{part}", result, reference)


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


def _compare_views(cases: Cases, context: Context, name: str, dtype: torch.dtype) -> None:
    """Compare products of integers in views of memory that is otherwise NaN, which no sum may read nor ``out=`` lose.

    On a CPU in float32 and float64, compare a large product four times, too, and a matrix times its transpose.
    """
    generator, drawing = context.generator(f"{context.seed} views {name}"), context.drawing(f"views {name}")
    # The first row has two terms of equal signs, which are infinite, unless torch makes them NaN, as 2.6 on a CPU does.
    is_old = context.device == "cpu" and name == "bfloat16" and versions.numbers(torch.__version__) < (2, 11)
    largest = 1.0 if is_old else math.inf

    def lay(exact: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        plain = exact.mT if (is_turned := drawing.random() < 0.5) else exact
        batch, rows, columns = plain.shape
        memory = torch.full((batch, rows + 2, columns + drawing.choice(GAPS)), math.nan, dtype=dtype)
        memory = memory.to(context.device)
        view = memory[:, 1:-1, 1 : columns + 1].copy_(plain)
        return memory, view.mT if is_turned else view

    for function, ranges in itertools.product(WRITTEN, VIEWS):
        rows, terms, columns = (drawing.randint(*limits) for limits in ranges)
        batch, columns = 2 if function in ("bmm", "matmul") else 1, 1 if function == "mv" else columns
        left = integers(generator, (batch, rows, terms), 1, torch.float64)
        right = ternary(generator, (batch, terms, columns), torch.float64, 0.7)
        left[:, :1, :1], left[:, :1, -1:], right[:, :1], right[:, -1:] = largest, -largest, 1.0, -1.0
        memory, out = lay(torch.zeros(batch, rows, columns))
        WRITTEN[function](lay(left)[1], lay(right)[1], out)
        case = f"{function} of {rows} x {terms} x {columns} among NaN"
        cases.exactly(case, out, left @ right)
        untouched = int(memory.isnan().sum()) == memory.numel() - out.numel()
        cases.expect(case, untouched, "writes beside its result, or returns NaN")
    if context.device == "cpu" and name in ("float32", "float64"):
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
            _compare_layouts(cases, context, "float32", torch.float32, f", precision {precision}")
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

    sizes = SIZES[context.device][1]
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
def products(context: Context, name: str) -> Measured:
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
        _compare_exact(default, context, name, dtype, ", default settings")
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
        if not (cuda and is_half):
            _compare_exact(plain, context, name, dtype, "")
        _compare_random(plain, context, name, dtype)
        _compare_layouts(plain, context, name, dtype)
        for ranges in LARGE if cuda else DEEP:
            compare_repeated(plain, context, name, ranges)
        if not loses_nan:
            _compare_activations(known if is_known else plain, context, name, dtype)
        _compare_views(known if is_known else plain, context, name, dtype)
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
