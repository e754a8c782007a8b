# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tensors of other layouts: sparse in each of torch's five, nested and jagged, with weights of 8 and 4 bits.

Whole numbers, of which every sum is exact in float32; what rounds is compared with float64, part by part.
"""

from __future__ import annotations

import contextlib
import typing as t

from ...check import SEEN_ARM, Context, Measured, Skipped, check
from ..bounds import UNIT_ROUNDOFF, Cases, torch

REMEDY = "Do not compute with this layout on this stack: use dense tensors, or another torch."
UNIT = UNIT_ROUNDOFF["float32"]


def _whole(context: Context, words: str, shape: t.Sequence[int], density: float = 1.0) -> torch.Tensor:
    generator = context.generator(f"layouts {words}")
    values = torch.randint(-4, 5, tuple(shape), generator=generator).double()
    return values * (torch.rand(tuple(shape), generator=generator) < density)


@check("layouts.sparse", devices=("cuda", "cpu"), measured=SEEN_ARM)
def sparse(context: Context) -> Measured:
    """Each sparse layout to and from each other, sums, products with dense and sparse matrices, softmax; backward."""
    cases = Cases("a sparse tensor", REMEDY)
    device = context.device
    refused: list[str] = []
    shapes = ((1, 1), (8, 12), (33, 64), (128, 96), (257, 130), (1024, 516))
    for rows, columns in shapes:
        if device == "cpu" and rows > 128:
            continue
        for density in (0.0, 0.02, 0.3, 1.0):
            exact = _whole(context, f"{rows} {columns} {density}", (rows, columns), density)
            right = _whole(context, f"{columns} right", (columns, 9))
            dense, other = exact.float().to(device), right.float().to(device)
            words = f"{rows}x{columns}, {density:g} full"
            block = (2, 2) if rows % 2 == 0 and columns % 2 == 0 else (1, 1)
            made = {
                "COO": dense.to_sparse(),
                "CSR": dense.to_sparse_csr(),
                "CSC": dense.to_sparse_csc(),
                "BSR": dense.to_sparse_bsr(block),
                "BSC": dense.to_sparse_bsc(block),
            }
            for name, tensor in made.items():
                case = f"{name}, {words}"
                cases.exactly(f"{case}, to dense", tensor.to_dense(), exact)
                for words_of, work, wanted in (
                    ("times a matrix", lambda x: x @ other, exact @ right),  # noqa: B023
                    ("times a vector", lambda x: x @ other[:, 0], exact @ right[:, 0]),  # noqa: B023
                    ("twice", lambda x: (x * 2).to_dense(), exact * 2),
                    ("negative", lambda x: (-x).to_dense(), -exact),
                    ("transposed", lambda x: x.t().to_dense(), exact.t()),
                    ("clone", lambda x: x.clone().to_dense(), exact),
                    (
                        "addmm",
                        lambda x: torch.addmm(torch.ones(x.shape[0], 9, device=device), x, other),  # noqa: B023
                        1 + exact @ right,
                    ),
                    ("abs", lambda x: x.abs().to_dense(), exact.abs()),
                    ("relu", lambda x: x.relu().to_dense(), exact.relu()),
                    (
                        "from the left",
                        lambda x: torch.ones(2, x.shape[0], device=device) @ x,
                        torch.ones(2, rows).double() @ exact,
                    ),
                ):
                    with _offered(refused, f"{name} {words_of}"):
                        cases.exactly(f"{case}, {words_of}", work(tensor), wanted)
                for target in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
                    with _offered(refused, f"{name} to {target}"):
                        cases.exactly(f"{case}, to {target}", tensor.to_sparse(layout=target).to_dense(), exact)
            _coordinates(cases, made["COO"], exact, other, right, words)
            _compressed(cases, made["CSR"], exact, device, words, refused)
    result = cases.result()
    result.measured += f"; {len(set(refused))} not offered"
    return result


@contextlib.contextmanager
def _offered(refused: list[str], what: str) -> t.Iterator[None]:
    """Pass over what torch does not offer for a layout; a crash of the device is none."""
    try:
        yield
    except (RuntimeError, NotImplementedError, IndexError, TypeError, ValueError) as error:
        if "CUDA error" in str(error) or "illegal" in str(error):
            raise
        refused.append(what)


def _coordinates(
    cases: Cases, x: torch.Tensor, exact: torch.Tensor, other: torch.Tensor, right: torch.Tensor, words: str
) -> None:
    """What only coordinates have: doubled places that add up, sums, products of two, softmax, gradients."""
    indices, values = x.indices(), x.values()
    doubled = torch.sparse_coo_tensor(torch.cat([indices, indices], 1), torch.cat([values, 2 * values]), x.shape)
    cases.exactly(f"doubled places, {words}", doubled.to_dense(), exact * 3)
    cases.exactly(f"coalesced, {words}", doubled.coalesce().values(), (exact[exact != 0] * 3))
    cases.exactly(f"sum of rows, {words}", torch.sparse.sum(x, 1).to_dense(), exact.sum(1))
    cases.exactly(f"sum of all, {words}", torch.sparse.sum(x), exact.sum())
    cases.exactly(f"sum of two, {words}", (x + doubled).to_dense(), exact * 4)
    cases.exactly(f"product of each, {words}", (x * x).to_dense(), exact * exact)
    cases.exactly(f"product of two, {words}", torch.sparse.mm(x, x.t().coalesce()).to_dense(), exact @ exact.t())
    for call in range(4):
        # One after the other, for what is wrong in some calls alone.
        cases.exactly(f"product with a dense one, call {call + 1}, {words}", torch.sparse.mm(x, other), exact @ right)
    ends = torch.tensor([0, exact.shape[0] - 1], device=x.device)
    cases.exactly(f"rows by index, {words}", x.index_select(0, ends).to_dense(), exact[[0, -1]])
    cases.exactly(f"joined, {words}", torch.cat([x, x], 1).to_dense(), torch.cat([exact, exact], 1))
    cases.exactly(f"masked, {words}", other.new_ones(exact.shape).sparse_mask(x).to_dense(), (exact != 0).double())
    shares = torch.sparse.softmax(x, 1).to_dense()
    wanted = torch.where(exact != 0, exact, -torch.inf).softmax(1).nan_to_num(0.0)
    cases.compare(f"softmax, {words}", shares, wanted, 64 * UNIT * torch.ones_like(wanted))
    leaf, dense = x.detach().clone().requires_grad_(), other.clone().requires_grad_()
    up = torch.arange(9.0, device=x.device) - 4
    back = torch.autograd.grad((torch.sparse.mm(leaf, dense) * up).sum(), [leaf, dense])
    cases.exactly(f"backward of the sparse one, {words}", back[0].to_dense() * (x.to_dense() != 0),
                  ((torch.arange(9.0).double() - 4) @ right.t()).expand(exact.shape) * (exact != 0))  # fmt: skip
    cases.exactly(
        f"backward of the dense one, {words}", back[1], exact.sum(0)[:, None] * (torch.arange(9.0).double() - 4)
    )


def _compressed(
    cases: Cases, x: torch.Tensor, exact: torch.Tensor, device: str, words: str, refused: list[str]
) -> None:
    kept = exact != 0
    cases.exactly(f"row pointers, {words}", x.crow_indices(), torch.cat([torch.zeros(1), kept.sum(1).cumsum(0)]))
    cases.exactly(f"columns, {words}", x.col_indices(), kept.nonzero()[:, 1])
    cases.exactly(f"values, {words}", x.values(), exact[kept])
    left, right = torch.ones(exact.shape[0], 3), torch.arange(3.0 * exact.shape[1]).reshape(3, -1).remainder(7)
    with _offered(refused, "sampled_addmm"):
        found = torch.sparse.sampled_addmm(x, left.to(device), right.to(device), beta=2.0)
        cases.exactly(
            f"sampled product, {words}", found.to_dense(), (2 * exact + left.double() @ right.double()) * kept
        )
    with _offered(refused, "CSR times CSR"):
        cases.exactly(f"product of two, {words}", (x @ x.t().to_sparse_csr()).to_dense(), exact @ exact.t())
    with _offered(refused, "CSR plus CSR"):
        cases.exactly(f"sum of two, {words}", (x + x).to_dense(), exact * 2)


@check("layouts.nested", devices=("cuda", "cpu"), measured=SEEN_ARM)
def nested(context: Context) -> Measured:
    """Nested tensors, strided and jagged: what is computed of the whole is what is computed of each part."""
    import warnings

    import torch.nn.functional as f

    refused: list[str] = []
    cases = Cases("a nested tensor", REMEDY)
    device = context.device
    for lengths in ((3, 1, 5), (1,), (2, 2, 2, 2), (17, 1, 33, 8, 64, 2, 31), (129, 1, 200)):
        parts = [_whole(context, f"nested {number} {length}", (length, 8)) for number, length in enumerate(lengths)]
        weight = _whole(context, "nested weight", (6, 8))
        for layout in (torch.strided, torch.jagged):
            if len(lengths) == 7 and layout is torch.strided and device == "cpu":
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = torch.nested.nested_tensor([part.float() for part in parts], layout=layout, device=device)
            words = f"{layout}, {len(lengths)} parts of {max(lengths)} at most"
            operators: dict[str, t.Callable[[torch.Tensor], torch.Tensor]] = {
                "as it is": lambda x: x,
                "twice": lambda x: x * 2,
                "added to itself": lambda x: x + x,
                "relu": torch.relu,
                "linear": lambda x: f.linear(x, weight.to(x.device, x.dtype)),  # noqa: B023
                "softmax": lambda x: f.softmax(x, -1),
                "sum": lambda x: x.sum(-1, keepdim=True),
                "layer_norm": lambda x: f.layer_norm(
                    x, (8,), torch.ones(8).to(x.device, x.dtype), torch.zeros(8).to(x.device, x.dtype)
                ),
                "silu": f.silu,
                "clone": lambda x: x.clone(),
                "abs": torch.abs,
                "product": lambda x: x @ weight.t().to(x.device, x.dtype),  # noqa: B023
                "dropout of nothing": lambda x: f.dropout(x, 0.0),
            }
            for name, operator in operators.items():
                with _offered(refused, f"{name}, {layout}"):
                    found = operator(whole).unbind()
                    for part, one in zip(parts, found):
                        wanted = operator(part)
                        cases.compare(
                            f"{name}, {words}", one, wanted, 64 * UNIT * (wanted.abs() + 1) * (name in _ROUNDED)
                        )
            with _offered(refused, f"padded, {layout}"):
                padded = torch.nested.to_padded_tensor(whole, -7.0)
                wanted = torch.full((len(parts), max(lengths), 8), -7.0, dtype=torch.float64)
                for number, part in enumerate(parts):
                    wanted[number, : len(part)] = part
                cases.exactly(f"padded, {words}", padded, wanted)
            if layout is torch.jagged:
                _jagged(cases, context, whole, parts, words, refused)
    result = cases.result()
    result.measured += f"; {len(set(refused))} not offered"
    return result


_ROUNDED = ("softmax", "layer_norm", "silu")


def _jagged(
    cases: Cases, context: Context, whole: torch.Tensor, parts: list[torch.Tensor], words: str, refused: list[str]
) -> None:
    """Offsets, sums over parts, attention among each part's own rows, gradients."""
    import torch.nn.functional as f

    offsets = torch.cat([torch.zeros(1), torch.tensor([len(part) for part in parts]).cumsum(0)])
    cases.exactly(f"offsets, {words}", whole.offsets(), offsets)
    cases.exactly(f"values, {words}", whole.values(), torch.cat(parts))
    with _offered(refused, "sums of parts"):
        cases.exactly(f"sums of parts, {words}", whole.sum(1), torch.stack([part.sum(0) for part in parts]))
    with _offered(refused, "from values"):
        again = torch.nested.nested_tensor_from_jagged(
            torch.cat(parts).float().to(whole.device), offsets.long().to(whole.device)
        )
        for part, one in zip(parts, again.unbind()):
            cases.exactly(f"from values and offsets, {words}", one, part)
    with _offered(refused, "attention"):
        query = whole.unflatten(-1, [2, 4]).transpose(1, 2)
        found = f.scaled_dot_product_attention(query, query, query).transpose(1, 2)
        for part, one in zip(parts, found.unbind()):
            own = part.unflatten(-1, [2, 4]).transpose(0, 1)
            wanted = f.scaled_dot_product_attention(own, own, own).transpose(0, 1)
            cases.compare(f"attention, {words}", one, wanted, 512 * UNIT * (wanted.abs() + 4))
    with _offered(refused, "backward"):
        leaves = [part.float().to(whole.device).requires_grad_() for part in parts]
        joined = torch.nested.as_nested_tensor(leaves, layout=torch.jagged)
        back = torch.autograd.grad((joined * joined).values().sum(), leaves)
        for part, one in zip(parts, back):
            cases.exactly(f"backward, {words}", one, 2 * part)


@check("layouts.weights", devices=("cuda", "cpu"), measured=SEEN_ARM)
def weights(context: Context) -> Measured:
    """Products with weights of 8 and 4 bits, and quantisation: whole numbers and powers of two, exact."""
    refused: list[str] = []
    cases = Cases("a product with weights of few bits", REMEDY)
    device, aten = context.device, torch.ops.aten
    for rows, inner, outputs in (
        (1, 64, 64),
        (3, 128, 64),
        (16, 256, 128),
        (17, 1024, 192),
        (33, 512, 64),
        (128, 128, 256),
    ):
        generator = context.generator(f"weights {rows} {inner}")
        x = torch.randint(-2, 3, (rows, inner), generator=generator).double()
        w8 = torch.randint(-128, 128, (outputs, inner), generator=generator)
        scale = 2.0 ** torch.randint(-3, 2, (outputs,), generator=generator).double()
        given, words = x.bfloat16().to(device), f"{rows} x {inner} x {outputs}"
        with _offered(refused, "int8pack"):
            found = aten._weight_int8pack_mm(given, w8.to(torch.int8).to(device), scale.bfloat16().to(device))
            wanted = (x @ w8.double().t()) * scale
            cases.compare(
                f"weights of 8 bits, {words}", found, wanted, 4 * UNIT_ROUNDOFF["bfloat16"] * wanted.abs() + 2.0**-20
            )
        if rows > 16:
            with _offered(refused, "_int_mm"):
                left = torch.randint(-128, 128, (rows, inner), generator=generator)
                found = torch._int_mm(left.to(torch.int8).to(device), w8.to(torch.int8).to(device).t())
                cases.exactly(f"both of 8 bits, {words}", found, left.double() @ w8.double().t())
        _four_bits(cases, context, refused, x, generator, outputs, words)
    _quantised(cases, context, refused)
    if not cases.count:
        raise Skipped("This torch offers no product with weights of few bits here.")
    result = cases.result()
    result.measured += f"; {len(set(refused))} not offered"
    return result


def _four_bits(
    cases: Cases,
    context: Context,
    refused: list[str],
    x: torch.Tensor,
    generator: torch.Generator,
    outputs: int,
    words: str,
) -> None:
    """Weights of 4 bits with a scale and a zero for each group, as torch packs them for the device."""
    device, aten, inner = context.device, torch.ops.aten, x.shape[1]
    w4 = torch.randint(0, 16, (outputs, inner), generator=generator)
    for group in (32, 64, 128):
        if inner % group:
            continue
        scale = 2.0 ** torch.randint(-3, 2, (inner // group, outputs), generator=generator).double()
        zero = torch.randint(-3, 4, (inner // group, outputs), generator=generator).double()
        both = torch.stack([scale, zero], 2).bfloat16().to(device)
        exact = (w4.double() - 8) * scale.t().repeat_interleave(group, 1) + zero.t().repeat_interleave(group, 1)
        wanted = x @ exact.t()
        with _offered(refused, f"4 bits on {device}"):
            if device == "cpu":
                packed = aten._convert_weight_to_int4pack_for_cpu(w4.int(), 2)
                found = aten._weight_int4pack_mm_for_cpu(x.bfloat16(), packed, group, both)
            else:
                bytes_of = (w4[:, ::2] << 4 | w4[:, 1::2]).to(torch.uint8).to(device)
                packed = aten._convert_weight_to_int4pack(bytes_of, 2)
                found = aten._weight_int4pack_mm(x.bfloat16().to(device), packed, group, both)
            size = x.abs() @ exact.abs().t()
            cases.compare(
                f"weights of 4 bits by {group}, {words}", found, wanted, 2 * UNIT_ROUNDOFF["bfloat16"] * size + 2.0**-20
            )


def _quantised(cases: Cases, context: Context, refused: list[str]) -> None:
    """Quantisation by a tensor's and by a channel's scale: half a step is rounded to even, the ends hold.

    Zeros are even, for some kernels add them before they round and some after.
    """
    device = context.device
    values = (torch.arange(-700, 701).double() / 4).reshape(3, 467)
    there = values.float().to(device)
    for form, low, high in ((torch.qint8, -128, 127), (torch.quint8, 0, 255)):
        for scale, zero in ((0.5, 4), (1.0, 0), (2.0, -2 if low else 6)):
            wanted = ((values / scale).round() + zero).clamp(low, high)
            with _offered(refused, "quantize_per_tensor"):
                found = torch.quantize_per_tensor(there, scale, zero, form)
                cases.exactly(f"quantised by {scale}, {form}", found.int_repr(), wanted)
                cases.exactly(f"quantised by {scale} and back, {form}", found.dequantize(), (wanted - zero) * scale)
            with _offered(refused, "fake_quantize"):
                fake = torch.fake_quantize_per_tensor_affine(there, scale, zero, low, high)
                cases.exactly(f"as if quantised by {scale}, {form}", fake, (wanted - zero) * scale)
        with _offered(refused, "quantize_per_channel"):
            scales, zeros = torch.tensor([0.5, 1.0, 4.0]).double(), torch.tensor([0, 2, 6])
            found = torch.quantize_per_channel(there, scales.to(device), zeros.to(device), 0, form)
            wanted = ((values / scales[:, None]).round() + zeros[:, None]).clamp(low, high)
            cases.exactly(f"quantised by channel, {form}", found.int_repr(), wanted)
