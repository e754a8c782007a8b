"""Check other layouts: torch's five sparse layouts, jagged tensors, and 8-bit and 4-bit weights.

Inputs are integers, so sums are exact in float32. Rounded results are compared with float64, part by part.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import typing as t
import warnings

from ...check import SEEN_ARM, SEEN_GRID, Context, Measured, Skipped, check
from ..bounds import UNIT_ROUNDOFF, Cases, adds_bytes, functions_of, gamma, gradients, setting, torch

REMEDY = "Do not compute with this layout on this stack: use dense tensors, or another torch."
UNIT = UNIT_ROUNDOFF["float32"]


def _integers(context: Context, stream: str, shape: t.Sequence[int], density: float = 1.0) -> torch.Tensor:
    generator = context.generator(f"layouts {stream}")
    values = torch.randint(-4, 5, tuple(shape), generator=generator).double()
    return values * (torch.rand(tuple(shape), generator=generator) < density)


@check("layouts.sparse", devices=("cuda", "cpu"), measured=SEEN_ARM)
def sparse(context: Context) -> Measured:
    """Check sparse layouts: conversions, sums, products with dense and sparse matrices, gradients, solutions."""
    cases, operations = Cases("a sparse tensor", REMEDY), functions_of("sparse", "x, y")
    device = context.device
    shapes = ((1, 1), (8, 12), (33, 64), (128, 96), (257, 130), (1024, 516))
    for rows, columns in shapes if device == "cuda" else shapes[:4]:
        for density in (0.0, 0.02, 0.3, 1.0):
            exact = _integers(context, f"{rows} {columns} {density}", (rows, columns), density)
            right = _integers(context, f"{columns} right", (columns, 9))
            dense, other = exact.float().to(device), right.float().to(device)
            size = f"{rows}x{columns}, {density:g} full"
            results = {operation: function(exact, right) for operation, function in operations.items()}
            block = (2, 2) if rows % 2 == 0 and columns % 2 == 0 else (1, 1)
            tensors = {
                "COO": dense.to_sparse(), "CSR": dense.to_sparse_csr(), "CSC": dense.to_sparse_csc(),
                "BSR": dense.to_sparse_bsr(block), "BSC": dense.to_sparse_bsc(block),
            }  # fmt: skip
            for name, tensor in tensors.items():
                case = f"{name}, {size}"
                for operation, function in operations.items():
                    with cases.offered(f"{name} {operation}"):
                        cases.exactly(f"{case}, {operation}", function(tensor, other), results[operation])
            _compare_coordinates(cases, tensors["COO"], exact, other, right, size)
            _compare_compressed(cases, tensors["CSR"], exact, size)
    with cases.offered("spsolve"):
        _compare_solution(cases, context)
    if device == "cuda":
        _compare_many_rows(cases, context, operations)
    return cases.result()


def _compare_many_rows(cases: Cases, context: Context, operations: t.Mapping[str, t.Any]) -> None:
    """Compare products of sparse matrices with more than 2^20 rows, which repeat."""
    right = _integers(context, "many rows right", (40, 3)).float()
    tall = _integers(context, "many rows", (251, 40), 0.1).float().repeat(4_201, 1)
    dense, other = tall.to(context.device), right.to(context.device)
    matrices = {"COO": dense.to_sparse(), "CSR": dense.to_sparse_csr(), "CSC": dense.to_sparse_csc()}
    for operation in ("times a matrix", "times a vector", "from the left"):
        expected = operations[operation](tall, right)
        for name, matrix in matrices.items():
            with cases.offered(f"{name} {operation}"):
                cases.exactly(f"{name}, {len(tall):,} rows", operations[operation](matrix, other), expected)


def _compare_solution(cases: Cases, context: Context) -> None:
    """Compare a direct solution by cuDSS, if torch is built with it, by its residual in float64.

    The magnitudes off the diagonal of a column of the matrix A sum to at most 4/5 of the diagonal element. Eliminating
    in any order that keeps the diagonal then gives |L|_1 <= 1 + 4/5 and |U|_1 <= |A|_1 / (1 - 4/5), because the column
    sums of the remaining matrix fall by 1/5 of the part that goes into U. By Higham's theorem 9.4, |b - A x|_1 <=
    g(3 n) 9 |A|_1 |x|_1: below 1e-7, while an error of 3 per cent leaves 1e-2.
    """
    exact, right = _integers(context, "system", (1024, 1024), 0.004), _integers(context, "system right", (1024,))
    exact += (1.25 * exact.abs().sum(0) + 1).diag()
    rows = exact.to_sparse_csr()
    indices = rows.crow_indices().int(), rows.col_indices().int()
    matrix = torch.sparse_csr_tensor(*indices, rows.values(), size=rows.shape).to(context.device)
    x = torch.sparse.spsolve(matrix, right.to(context.device)).cpu()
    bound = gamma(3 * len(x), UNIT_ROUNDOFF["float64"]) * 9 * exact.abs().sum(0).max() * x.abs().sum()
    cases.compare(f"spsolve, {len(x)} unknowns", exact @ x, right, bound)


def _compare_coordinates(
    cases: Cases, x: torch.Tensor, exact: torch.Tensor, dense_right: torch.Tensor, right: torch.Tensor, size: str
) -> None:
    """Compare sums, products of two sparse tensors, softmax, gradients and duplicate coordinates (values are added)."""
    indices, values = x.indices(), x.values()
    doubled = torch.sparse_coo_tensor(torch.cat([indices, indices], 1), torch.cat([values, 2 * values]), x.shape)
    operations: dict[str, t.Any] = {}
    for table in ("coordinates", *(["batches of sparse matrices"] if x.device.type == "cpu" else [])):
        operations |= functions_of(table, "", x=x, doubled=doubled, exact=exact, dense=dense_right, right=right)
    for name, function in operations.items():
        with cases.offered(name):
            cases.exactly(f"{name}, {size}", *function())
    shares = torch.sparse.softmax(x, 1).to_dense()
    expected = torch.where(exact != 0, exact, -torch.inf).softmax(1).nan_to_num(0.0)
    cases.compare(f"softmax, {size}", shares, expected, 64 * UNIT * torch.ones_like(expected))
    leaf, dense = x.detach().clone().requires_grad_(), dense_right.clone().requires_grad_()
    upstream, is_stored = torch.arange(9.0).double() - 4, exact != 0
    of_sparse, of_dense = gradients(torch.sparse.mm(leaf, dense), [leaf, dense], upstream.to(dense))
    stored = of_sparse.to_dense() * (x.to_dense() != 0)
    cases.exactly(f"backward of the sparse one, {size}", stored, upstream @ right.t() * is_stored)
    cases.exactly(f"backward of the dense one, {size}", of_dense, exact.sum(0)[:, None] * upstream)


def _compare_compressed(cases: Cases, x: torch.Tensor, exact: torch.Tensor, size: str) -> None:
    left, right = torch.ones(exact.shape[0], 3).double(), torch.arange(3.0 * exact.shape[1]).reshape(3, -1) % 7
    names = {"x": x, "exact": exact, "left": left, "right": right, "stored": exact != 0}
    for name, function in functions_of("compressed", "", **names).items():
        with cases.offered(f"CSR {name}"):
            cases.exactly(f"{name}, {size}", *function())


@check("layouts.nested", devices=("cuda", "cpu"), measured=SEEN_ARM)
def nested(context: Context) -> Measured:
    """Require that operators on jagged tensors return the same as on each part, and so do attention and gradients."""
    cases, device = Cases("a nested tensor", REMEDY), context.device
    weight = _integers(context, "nested weight", (6, 8))
    operators = functions_of("nested", "x, y")
    for lengths in ((3, 1, 5), (1,), (2, 2, 2, 2), (17, 1, 33, 8, 64, 2, 31), (129, 1, 200)):
        parts = [_integers(context, f"nested {number} {length}", (length, 8)) for number, length in enumerate(lengths)]
        leaves = [part.float().to(device).requires_grad_() for part in parts]
        joined = torch.nested.as_nested_tensor(leaves, layout=torch.jagged)
        tensor = joined.detach()
        size = f"{len(lengths)} parts of {max(lengths)} at most"
        ends = torch.tensor([0, *lengths]).cumsum(0)
        cases.exactly(f"offsets, {size}", tensor.offsets(), ends)
        cases.exactly(f"values, {size}", tensor.values(), torch.cat(parts))
        for name, operator in operators.items():
            with cases.offered(name):
                for part, actual in zip(parts, operator(tensor, weight.to(tensor)).unbind()):
                    expected = operator(part, weight)
                    bound = 64 * UNIT * (expected.abs() + 1) * (name in ("softmax", "layer_norm", "silu"))
                    cases.compare(f"{name}, {size}", actual, expected, bound)
        names = {"parts": parts, "joined": joined, "leaves": leaves}
        for name, function in functions_of("jagged", "", x=tensor, **names).items():
            with cases.offered(name):
                for actual, expected, units in function():
                    cases.compare(f"{name}, {size}", actual, expected, units * UNIT * (expected.abs() + 4))
    return cases.result()


@check("layouts.weights", devices=("cuda", "cpu"), measured=SEEN_GRID)
def weights(context: Context) -> Measured:
    """Check products with 8-bit and 4-bit weights, which are exact for integers and powers of two."""
    cases = Cases("a product with weights of few bits", REMEDY)
    _compare_four_bits(cases, context)
    _compare_eight_bits(cases, context)
    if context.device == "cpu":
        _compare_tables(cases, context)
        _compare_packed(cases, context)
        _compare_scaled(cases, context)
        _compare_dynamic(cases, context)
    if not cases.count:
        raise Skipped("This torch offers no product with weights of few bits here.")
    return cases.result()


#: Orders of the left factor in memory.
_ORDERS = functions_of("orders of factors", "value")


def _compare_eight_bits(cases: Cases, context: Context) -> None:
    """Compare products with 8-bit weights, with rows in whole blocks and others, and with a scale per channel.

    On a CPU, 8-bit integers may have any order and size above 1 (with one column or a stride of 0 for a single row,
    torch 2.13 returns other numbers: pytorch#195066). cuBLAS takes one order (see matmul.py).
    """
    device, on_cpu = context.device, context.device == "cpu"
    chance = context.drawing("weights")
    for rows in (1, 2, 3, 4, 5, 7, 16, 17, 31, 33, 64, 128):
        inner, outputs = 64 * chance.randint(1, 16), 64 * chance.randint(1, 4)
        generator = context.generator(f"weights of 8 bits {rows}")
        x = torch.randint(-2, 3, (rows, inner), generator=generator).double()
        w8 = torch.randint(-128, 128, (outputs, inner), generator=generator)
        scale = 2.0 ** torch.randint(-3, 2, (outputs,), generator=generator).double()
        with cases.offered("int8pack"):
            weight, scales = w8.to(torch.int8).to(device), scale.bfloat16().to(device)
            actual = torch.ops.aten._weight_int8pack_mm(x.bfloat16().to(device), weight, scales)
            expected = (x @ w8.double().t()) * scale
            bound = 4 * UNIT_ROUNDOFF["bfloat16"] * expected.abs() + 2.0**-20
            cases.compare(f"weights of 8 bits, {rows} x {inner} x {outputs}", actual, expected, bound)
        if rows <= 16 and not on_cpu:
            continue
        inner, outputs = (chance.randint(2, 130), chance.randint(2, 70)) if on_cpu else (inner, outputs)
        left = torch.randint(-128, 128, (rows, inner), generator=generator)
        right = torch.randint(-128, 128, (outputs, inner), generator=generator)
        narrow, weight = left.to(torch.int8).to(device), right.to(torch.int8).to(device).t()
        for order, lay in list(_ORDERS.items())[: len(_ORDERS) if on_cpu else 1]:
            for turned in (weight, weight.contiguous())[: 2 if on_cpu else 1]:
                with cases.offered("_int_mm"):
                    case = f"both of 8 bits, {order}, {rows} x {inner} x {outputs}"
                    cases.exactly(case, torch._int_mm(lay(narrow), turned), left.double() @ right.double().t())
    with cases.offered("_int_mm") if on_cpu else contextlib.suppress(RuntimeError):
        # No partial sum of these may be kept in 16 bits, and any offset to make them unsigned must be taken back.
        for number, inner in ((50, 577), (-128, 2_049)) if not on_cpu or adds_bytes() else ():
            left, right = torch.full((17, inner), number).to(torch.int8), torch.full((inner, 19), -128).to(torch.int8)
            case = f"{inner} equal products"
            cases.exactly(case, torch._int_mm(left.to(device), right.to(device)), left.double() @ right.double())


def _compare_packed(cases: Cases, context: Context) -> None:
    """Compare linear layers as frozen compiled code calls them: weights in any order are packed, and sums changed."""
    chance, ops = context.drawing("packed"), torch.ops.mkldnn
    for form, (order, lay) in itertools.product(("float32", "bfloat16"), _ORDERS.items()):
        rows, inner, outputs = (chance.choice((chance.randint(2, 130), 64, 384, 512)) for _size in range(3))
        shapes = (rows, inner), (outputs, inner), (rows, outputs), (1, outputs)
        numbers = (_integers(context, f"packed {part} {shape}", shape) for part, shape in enumerate(shapes))
        x, weight, other, bias = (each.clamp(-1, 1) for each in numbers)
        sums, dtype = x @ weight.t() + bias, getattr(torch, form)
        a, w, b, c = (each.to(dtype) for each in (x, weight, bias[0], other))
        a = _ORDERS[chance.choice([*_ORDERS])](a)
        case = f"packed weights {order}, {rows} x {inner} x {outputs}, {form}"
        with cases.offered("packed weights"), contextlib.suppress(AttributeError):
            packed = ops._reorder_linear_weight(lay(w), rows)
            cases.exactly(f"{case}, relu", ops._linear_pointwise(a, packed, b, "relu", [], ""), sums.relu())
            cases.exactly(f"{case}, add", ops._linear_pointwise.binary(a, c, packed, b, "add"), sums + other)
            cases.exactly(f"{case}, blocked", lay(w).to_mkldnn().add_(w.to_mkldnn()).to_dense(), 2 * weight)
            for name, function in functions_of("blocked").items():
                cases.exactly(f"{case}, blocked, {name}", function(lay(w).to_mkldnn()).to_dense(), function(weight))


def _compare_dynamic(cases: Cases, context: Context) -> None:
    """Compare products with 4-bit weights of which the other factor is rounded to 8 bits, each by half a step at most.

    Each row holds -128 and 127, so that the step is 1.
    """
    chance, aten = context.drawing("dynamic"), torch.ops.aten
    for rows, inner, group in ((1, 64, 64), (chance.randint(2, 70), 96, 96), (3, 128, 32), (7, 64, 32)):
        outputs, generator = chance.choice((3, 8, 15, 24, 65)), context.generator(f"{context.seed} dynamic {rows}")
        x = torch.randint(-128, 128, (rows, inner), generator=generator).float()
        x[:, 0], x[:, -1] = -128, 127
        codes = torch.randint(0, 16, (outputs, inner), generator=generator)
        scales = 2.0 ** torch.randint(-3, 2, (outputs, inner // group), generator=generator)
        exact = (codes.double() - 8) * scales.double().repeat_interleave(group, 1)
        with cases.offered("4 bits by 8 bits"), contextlib.suppress(AttributeError):
            pairs, sizes = (codes[:, 1::2] << 4 | codes[:, ::2]).byte(), (group, inner, outputs)
            # Scales of whole rows are numbers of 32 bits.
            dtype = torch.bfloat16 if group < inner else torch.float32
            packed = aten._dyn_quant_pack_4bit_weight(pairs, scales.to(dtype), None, *sizes)
            actual, bound = aten._dyn_quant_matmul_4bit(x, packed, *sizes), exact.abs().sum(1) / 2
            cases.compare(f"4 bits by 8 bits, {rows} x {sizes}", actual, x.double() @ exact.t(), bound)


def _compare_scaled(cases: Cases, context: Context) -> None:
    """Compare linear layers of 8 bits, of which many results exceed the format; sums are exact, and rounded once."""
    chance, ops = context.drawing("scaled"), torch.ops
    largest = 256 if adds_bytes() else 128
    for number, engine in enumerate(("x86", "onednn", "x86", "onednn", "x86", "onednn")):
        generator = context.generator(f"{context.seed} scaled {number}")
        inner, outputs = (chance.randint(1, 4), 64, 257)[number // 2], chance.randint(1, 150)
        rows = chance.choice((1, 5, 6, 33))
        x, zero = torch.randint(0, largest, (rows, inner), generator=generator).byte(), chance.randint(0, 127)
        weight = torch.randint(-127, 128, (outputs, inner), generator=generator).to(torch.int8)
        bias = torch.randint(-999, 999, (outputs,), generator=generator).float()
        scales = 2.0 ** torch.randint(-1, 2, (outputs,), generator=generator)
        factors = weight.double() * scales.double()[:, None]
        exact, case = (x.double() - zero) @ factors.t() + bias, f"scales, {engine}, {rows} x {inner} x {outputs}"
        step = 2.0 ** round(math.log2(float(exact.abs().max()) / 300))
        with cases.offered(case), warnings.catch_warnings(), setting(torch.backends.quantized, "engine", engine):
            warnings.simplefilter("ignore")
            weights = torch._make_per_channel_quantized_tensor(weight, scales, torch.zeros(outputs).long(), 0)
            values = torch._make_per_tensor_quantized_tensor(x, 1.0, zero)
            packed = ops.quantized.linear_prepack(weights, bias)
            for name, offset in (("linear", 100), ("linear_relu", 0)):
                actual = getattr(ops.quantized, name)(values, packed, step, offset).int_repr()
                expected = (exact / step + offset).clamp(0, 255)
                cases.compare(f"{case}, {name}", actual, expected, torch.full_like(expected, 0.5))
            if largest == 256:
                # The step of these is 1, and they are rounded to themselves.
                x[0, :1], x[-1, -1:] = 0, 255
                actual = ops.quantized.linear_dynamic(x.float() - 128, ops.quantized.linear_prepack(weights, bias))
                cases.exactly(f"{case}, dynamic", actual, (x.double() - 128) @ factors.t() + bias)
        with cases.offered("signed numbers and scales"), contextlib.suppress(AttributeError):
            signed, packed = (x.int() - 128).to(torch.int8), ops.onednn.qlinear_prepack(weight, None)
            options: t.Any = (scales, torch.zeros(outputs).int(), None, 1.0, 0, torch.float32, "none", [], "")
            actual = ops.onednn.qlinear_pointwise(signed, 1.0, 0, packed, *options)
            cases.exactly(f"{case}, signed", actual, signed.double() @ factors.t())


def _compare_tables(cases: Cases, context: Context) -> None:
    """Compare sums of weighted rows of tables of few bits. Each row holds the least and the largest code."""
    chance, ops = context.drawing("tables"), torch.ops.quantized
    for kind, codes, columns in itertools.product(("byte", "4bit"), (300, 70_000), (8, 8 * chance.randint(2, 12))):
        generator = context.generator(f"{context.seed} tables {kind} {codes} {columns}")
        largest = 255 if kind == "byte" else 15
        table = torch.randint(0, largest + 1, (codes, columns), generator=generator)
        table[:, 0], table[:, -1] = 0, largest
        table = (table * 2.0 ** torch.randint(-3, 3, (codes, 1), generator=generator) - 4).float()
        index = torch.randint(0, codes, (901,), generator=generator)
        ends = torch.tensor([0, *sorted(chance.randint(0, 901) for _bag in range(90)), 901])
        weights = torch.randint(-3, 4, (901,), generator=generator).float()
        running = (table[index] * weights[:, None]).double().cumsum(0)
        sums = torch.cat([torch.zeros(1, columns), running])[ends].diff(dim=0)
        with cases.offered(f"a table of {kind}"):
            packed = getattr(ops, f"embedding_bag_{kind}_prepack")(table)
            bags = getattr(ops, f"embedding_bag_{kind}_rowwise_offsets")
            options = {"per_sample_weights": weights, "include_last_offset": True}
            cases.exactly(f"a table of {kind}, {codes} x {columns}", bags(packed, index, ends, **options), sums)


def _compare_four_bits(cases: Cases, context: Context) -> None:
    """Compare products with 4-bit weights, with a scale and a zero point per group, that torch packs for the device."""
    device, aten = context.device, torch.ops.aten
    for rows, inner, outputs in ((1, 64, 64), (3, 128, 64), (16, 256, 128), (17, 1024, 192), (128, 128, 256)):
        generator = context.generator(f"weights {rows} {inner}")
        x = _integers(context, f"weights {rows}", (rows, inner)).clamp(-2, 2)
        w4 = torch.randint(0, 16, (outputs, inner), generator=generator)
        for group in (size for size in (32, 64, 128) if inner % size == 0):
            scale = 2.0 ** torch.randint(-3, 2, (inner // group, outputs), generator=generator).double()
            zero = torch.randint(-3, 4, (inner // group, outputs), generator=generator).double()
            scale_and_zero = torch.stack([scale, zero], 2).bfloat16().to(device)
            exact = (w4.double() - 8) * scale.t().repeat_interleave(group, 1) + zero.t().repeat_interleave(group, 1)
            with cases.offered(f"4 bits on {device}"):
                if device == "cpu":
                    packed = aten._convert_weight_to_int4pack_for_cpu(w4.int(), 2)
                    actual = aten._weight_int4pack_mm_for_cpu(x.bfloat16(), packed, group, scale_and_zero)
                else:
                    bytes_of = (w4[:, ::2] << 4 | w4[:, 1::2]).to(torch.uint8).to(device)
                    packed = aten._convert_weight_to_int4pack(bytes_of, 2)
                    actual = aten._weight_int4pack_mm(x.bfloat16().to(device), packed, group, scale_and_zero)
                bound = 2 * UNIT_ROUNDOFF["bfloat16"] * (x.abs() @ exact.abs().t()) + 2.0**-20
                case = f"weights of 4 bits by {group}, {rows} x {inner} x {outputs}"
                cases.compare(case, actual, x @ exact.t(), bound)
