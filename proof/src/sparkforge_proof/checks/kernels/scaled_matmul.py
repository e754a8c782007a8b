"""Check products of matrices of 8-bit and 4-bit floating-point numbers, which are multiplied by scales."""

from __future__ import annotations

import contextlib
import typing as t

from ...check import REFUSED, SEEN, Context, Measured, Skipped, Unanswered, check
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, gamma, integers, ternary, torch

REBUILD = (
    "Do not compute with this stack: rebuild torch with TORCH_CUDA_ARCH_LIST for the device (12.0 on a GB10), or use "
    "another stack."
)
#: The magnitudes of FP4 (E2M1), indexed by their three bits; the fourth bit is the sign.
FLOAT4 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def full_significands(generator: torch.Generator, shape: t.Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Return multiples of 1/8 (E4M3) or 1/4 (E5M2) below 2, which use the format's full significand."""
    steps = 4 if dtype == torch.float8_e5m2 else 8
    return (integers(generator, shape, 2 * steps - 1, torch.float32) / steps).to(dtype)


def _float8_operands(
    generator: torch.Generator, left: torch.dtype, right: torch.dtype
) -> t.Iterator[tuple[str, torch.Tensor, torch.Tensor]]:
    """Yield operands for which every partial sum has at most 13 bits.

    Hopper's tensor cores keep as few as 13 bits after the largest addend of 8-bit formats (DeepSeek-V3 technical
    report, section 3.5.2). The products here are multiples of 2**-6 whose magnitudes sum to less than 2**7, or integers
    whose magnitudes sum to less than 2**13.
    """
    a, b = full_significands(generator, (272, 64), left), full_significands(generator, (64, 160), right)
    yield "full significands", a, b
    a, b = integers(generator, (304, 1024), 2, torch.float32), integers(generator, (1024, 256), 2, torch.float32)
    yield "long sums", a.to(left), b.to(right)
    a, b = ternary(generator, (33, 4096), torch.float32, 0.5), ternary(generator, (4096, 48), torch.float32, 0.5)
    yield "longer sums, odd rows", a.to(left), b.to(right)
    yield "a single row", a[:1].to(left), b.to(right)


def random_scales(generator: torch.Generator, *shape: int) -> torch.Tensor:
    """Return numbers with all bits of float32 and exponents of -9 to 2, because engines divide the largest by 448."""
    return (torch.rand(shape, generator=generator) + 0.5) * 2.0 ** torch.randint(-8, 3, shape, generator=generator)


def compare_float8(cases: Cases, context: Context, by_row: bool) -> None:
    """Compare 8-bit products, whose sums are exact, after they have been scaled and rounded, also with a bias.

    :param by_row: whether each row and each column has a scale.
    """
    unit, device = UNIT_ROUNDOFF["float32"], context.device
    e4m3, e5m2 = torch.float8_e4m3fn, torch.float8_e5m2
    for left, right in [(e4m3, e4m3), *([] if by_row else [(e5m2, e4m3), (e4m3, e5m2)])]:
        generator = context.generator(f"{context.seed} {cases.subject} {left} {right}")
        for case, a, b in _float8_operands(generator, left, right):
            if device == "cpu":
                # On CPUs with AMX oneDNN takes about a core-second for the full sizes.
                a, b = a[: max(1, len(a) // 4)], b[:, : b.shape[1] // 4]
            scale_a = random_scales(generator, a.shape[0] if by_row else 1, 1)
            scale_b = random_scales(generator, 1, b.shape[1] if by_row else 1)
            scaled = (a.double() @ b.double()) * scale_a.double() * scale_b.double()
            magnitudes = (a.double().abs() @ b.double().abs()) * scale_a.double() * scale_b.double()
            bias = (torch.randn(b.shape[1], generator=generator) * scaled.std()).bfloat16()
            on_device = [x.to(device) for x in (a, b.t().contiguous(), scale_a, scale_b, bias)]
            for run, form in (("", "bfloat16"), (" with a bias", "bfloat16"), (" in float32", "float32")):
                added = bias.double() * ("bias" in run)
                # Two scales are applied to sums of at least 16 products, or on a CPU to each factor.
                terms = a.shape[1] / (16 if device == "cuda" else 1)
                summed, expected = gamma(terms + 5, unit) * (magnitudes + added.abs()), scaled + added
                # A kernel may round before it adds the bias.
                rounded = expected.abs() + scaled.abs() * ("bias" in run)
                description = f"{str(left)[13:]} x {str(right)[13:]}, {case}{run}"
                with cases.offered(description) if run else contextlib.nullcontext():
                    options = {"bias": on_device[4] if "bias" in run else None, "out_dtype": getattr(torch, form)}
                    actual = torch._scaled_mm(on_device[0], on_device[1].t(), *on_device[2:4], **options)
                    cases.compare(description, actual, expected, UNIT_ROUNDOFF[form] * (rounded + summed) + summed)


def compare_blocks(cases: Cases, context: Context) -> None:
    """Compare products of E4M3 numbers with a scale for each 128 of a row, as engines compute them.

    The numbers are multiplied by their scales, and then in batches by ``einsum``; some GPUs have a kernel of their own,
    also for weights with a scale for each 128 by 128. Bound: gamma of the number of terms and of two scales.
    """
    generator, device = context.generator(f"{context.seed} blocks"), context.device
    for rows, columns, side in ((80, 96, 1), (400, 384, 1), (400, 384, 128)) if device == "cuda" else ((80, 96, 1),):
        shapes, unit = ((3, rows, 512), (3, columns, 512)), UNIT_ROUNDOFF["bfloat16"]
        a, b = (integers(generator, shape, 2, torch.float32).to(torch.float8_e4m3fn) for shape in shapes)
        scale_a, scale_b = random_scales(generator, 3, rows, 4), random_scales(generator, 3, columns // side, 4)
        scales = scale_a, scale_b.repeat_interleave(side, 1)
        exact_a, exact_b = (x.double() * scale.repeat_interleave(128, -1) for x, scale in zip((a, b), scales))
        expected, magnitudes = exact_a @ exact_b.mT, exact_a.abs() @ exact_b.abs().mT
        bound = gamma(512 + 4, UNIT_ROUNDOFF["float32"]) * magnitudes
        on_device = [(x.to(device), scale.to(device)) for x, scale in zip((a, b), scales)]
        scaled = (x.float() * scale.repeat_interleave(128, -1) for x, scale in on_device)
        case = f"{rows} rows, blocks of 128{' by 128' if side > 1 else ''}"
        cases.compare(f"{case}, by einsum", torch.einsum("bmk,bnk->bmn", *scaled), expected, bound)
        if device == "cpu":
            return
        with cases.offered(case):
            # Scales of one block of a row lie side by side, and those of a row of squares.
            (a, scale_a), (b, _scales) = on_device
            scale_b = scale_b[0].to(device).t()
            sides = scale_a[0].t().contiguous().t(), scale_b if side > 1 else scale_b.contiguous()
            actual = torch._scaled_mm(a[0], b[0].t(), *sides, out_dtype=torch.bfloat16)
            cases.compare(case, actual, expected[0], bound[0] + unit * (expected[0].abs() + bound[0]))


def _compare_groups(cases: Cases, context: Context) -> None:
    """Compare 8-bit products of groups of rows, each with weights of its own; sums are exact, as in the others."""
    generator, sizes = context.generator(f"{context.seed} float8 groups"), [0, 48, 16, 200, 0, 1, 71]
    a, b = (
        integers(generator, shape, 2, torch.float32).to(torch.float8_e4m3fn)
        for shape in ((sum(sizes), 512), (len(sizes), 128, 512))
    )
    scale_a, scale_b = random_scales(generator, len(a)), random_scales(generator, len(b), 128)
    parts = zip(a.double().split(sizes), scale_a.double().split(sizes), b.double(), scale_b.double())
    expected = torch.cat([(x @ weights.mT) * left[:, None] * right for x, left, weights, right in parts])
    ends, unit = torch.tensor(sizes).cumsum(0).int(), UNIT_ROUNDOFF["bfloat16"]
    x, weights, *others = (each.to(context.device) for each in (a, b, scale_a, scale_b, ends))
    product: t.Any = getattr(torch, "_scaled_grouped_mm", None)
    with cases.offered("groups"):
        actual = product(x, weights.mT, *others, out_dtype=torch.bfloat16)
        cases.compare("groups", actual, expected, 2 * unit * expected.abs())


def scale_offset(row: int, block: int, blocks: int) -> int:
    """Return the offset of a block's scale in a row; tiles of 128 rows by 4 blocks have 512 bytes each.

    The layout is cuBLAS's "1D block scaling factors layout".
    """
    tiles = -(-blocks // 4)
    tile = (row // 128) * tiles + block // 4
    return tile * 512 + (row % 32) * 16 + (row % 128) // 32 * 4 + block % 4


def swizzled(scales: torch.Tensor) -> torch.Tensor:
    """Return scales (rows, blocks) as E4M3, in the order in which cuBLAS reads them."""
    rows, blocks = scales.shape
    placed = torch.zeros(-(-rows // 128) * 128 * (-(-blocks // 4) * 4), device=scales.device)
    offsets = [scale_offset(row, block, blocks) for row in range(rows) for block in range(blocks)]
    placed[torch.tensor(offsets, device=scales.device)] = scales.float().flatten()
    return placed.to(torch.float8_e4m3fn)


def from_float4(codes: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Return the exact values of codes and scales as float64."""
    table = torch.tensor([*FLOAT4, *(-value for value in FLOAT4)], dtype=torch.float64, device=codes.device)
    return table[codes.long()] * scales.double().repeat_interleave(16, dim=-1)


def packed(codes: torch.Tensor) -> torch.Tensor:
    """Pack codes into bytes, two in each, with the first in the lower half."""
    return codes[..., ::2] | codes[..., 1::2] << 4


def require_float4() -> None:
    """Require products of 4-bit numbers.

    :raises Skipped: if the device or torch lacks them.
    """
    if torch.cuda.get_device_capability() < (10, 0):
        raise Skipped("4-bit floating point needs compute capability 10.0 or higher.")
    if not hasattr(torch, "float4_e2m1fn_x2"):
        raise Skipped("This torch has no 4-bit floating-point numbers.")


def float4_product(left: tuple[torch.Tensor, torch.Tensor], right: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Return left right^T in bfloat16 as computed by the device, from packed codes and swizzled scales."""
    a, b = (codes.view(torch.float4_e2m1fn_x2) for codes in (left[0], right[0]))
    return torch._scaled_mm(a, b.t(), left[1], right[1], out_dtype=torch.bfloat16)


def float4_bound(left: torch.Tensor, right: torch.Tensor, plain: bool) -> torch.Tensor:
    """Compute the allowed error of left right^T from the exact operands in float64.

    The result is rounded once to bfloat16. If the scales are powers of two (``plain``), every sum has at most 13 bits
    and is exact. Otherwise each instruction adds 64 values as at most 5 addends (4 scaled blocks and the accumulator)
    and keeps at least 13 bits after the largest. The bound is then 5 k / 64 times 2**-13 of the sum of magnitudes.
    """
    length, expected = left.shape[1], left @ right.t()
    summed = 0.0 if plain else 5 * length / 64 * 2.0**-13
    wide = gamma(length / 16 + 4, UNIT_ROUNDOFF["float32"])
    return UNIT_ROUNDOFF["bfloat16"] * expected.abs() + (summed + wide) * (left.abs() @ right.abs().t())


@check("matmul.float4", factor=1)
def float4(context: Context) -> Measured:
    """Check NVFP4 products: E2M1 values with an E4M3 scale for every 16 of them. Bound: see :func:`float4_bound`."""
    require_float4()
    cases = Cases("the NVFP4 matrix product", REBUILD)
    generator = context.generator("matmul.float4")

    def operand(rows: int, length: int, plain: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        codes, shape = torch.randint(0, 16, (rows, length), generator=generator).byte(), (rows, length // 16)
        if plain:
            scales = 2.0 ** torch.randint(0, 2, shape, generator=generator).double()
        else:
            powers = 2.0 ** torch.randint(-3, 4, shape, generator=generator).double()
            scales = torch.randint(8, 16, shape, generator=generator) / 16 * powers
        return packed(codes).to(context.device), swizzled(scales).to(context.device), from_float4(codes, scales)

    for rows, length, columns, plain in (
        (160, 64, 96, True), (256, 256, 128, False), (128, 1024, 256, False), (128, 64, 32, False)
    ):  # fmt: skip
        packed_a, scales_a, a = operand(rows, length, plain)
        packed_b, scales_b, b = operand(columns, length, plain)
        expected, bound = a @ b.t(), float4_bound(a, b, plain)
        case = f"{rows} x {length} x {columns}, scales of {'powers of two' if plain else 'all bits'}"
        for repeat in range(3):
            actual = float4_product((packed_a, scales_a), (packed_b, scales_b))
            cases.compare(f"{case}, run {repeat + 1}", actual, expected, bound)
    return cases.result()


def rowwise_failure(message: str, capability: tuple[int, int]) -> Unanswered | None:
    """Return the failure for an error in the row-wise FP8 product, or None if torch does not offer that product."""
    major, minor = capability
    target = f"{major}{minor}a"
    first = message.strip().splitlines()[0] if message.strip() else "no message"
    if capability < (9, 0) or (major == 11 and "not currently supported on your device" in message):
        return None
    cause = f"The FP8 product with row-wise scales does not run on {major}.{minor}: {first}."
    if major == 12:
        cause += " Official wheels and builds for 12.0 have this kernel only as 120a, which a GB10 (12.1) cannot run."
    return Unanswered(
        REFUSED,
        cause,
        f"Use a torch whose row-wise kernel is built for {target}: the newest release has it for 12.1, and 2.9.1 to "
        f"2.11 have it when built with the stack's patch for 121a; use tensor-wise scales until then.",
        measured=first,
        bound="runs",
    )


@check("matmul.float8_tensorwise", measured=SEEN, factor=1)
@check("matmul.float8_rowwise", measured=SEEN, factor=1)
def float8(context: Context, name: str) -> Measured:
    """Check FP8 products with a scale for each matrix, or for each row and column, for which there must be a kernel.

    E4M3 is multiplied with itself and, as for gradients, with E5M2. torch builds the row-wise kernel for
    architecture-specific targets (90a, 100a, 120a, 121a), which run nowhere else. Sums are exact by construction.
    Bound: gamma(k / 16 + 4) for applying the scales in float32 to sums of at least 16 products, and one rounding to
    bfloat16.
    """
    capability: tuple[int, int] = torch.cuda.get_device_capability()
    if capability < (8, 9):
        raise Skipped("8-bit floating point needs compute capability 8.9 or higher.")
    by_row = name == "float8_rowwise"
    cases = Cases(f"the FP8 product with {'row' if by_row else 'tensor'}-wise scales", REBUILD)
    try:
        compare_float8(cases, context, by_row)
    except (RuntimeError, ValueError) as error:
        if not by_row:
            raise
        failed = rowwise_failure(str(error), capability)
        if failed is not None:
            raise failed from error
        raise Skipped("This torch has no FP8 kernel with row-wise scales for {}.{}.".format(*capability)) from error
    if by_row:
        with allow_tf32(torch.backends.cuda.matmul, False):
            compare_blocks(cases, context)
        _compare_groups(cases, context)
    return cases.result()
