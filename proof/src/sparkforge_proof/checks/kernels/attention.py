# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check scaled dot product attention: torch's kernels, forward and backward, and those of the package flash-attention.

With S = scale Q K^T + mask, P = softmax(S), O = P V, and for a gradient dO: dV = P^T dO, dP = dO V^T,
D = rowsum(dO * O), dS = P * (dP - D), dQ = scale dS K, dK = scale dS^T Q. The reference computes these in float64.

**Each element.** Errors are carried through these equations in the same order, to first order and with every matrix
replaced by its magnitudes; a margin of 1/32 covers products of two errors. Notation: u is the unit roundoff of the
inputs' format, w = 2^-23 is that of float32 when it truncates as tensor cores do, g(k) = k w / (1 - k w), and L and d
are the number of keys and the head size.

- S: g(d + 8) scale |Q| |K|^T + 4 w (|S| + |mask| + row maximum) for a product in float32, its scaling, which the math
  kernel applies to both factors, and the subtraction of the maximum. An error in the exponent is a relative error in P.
- P: that error, and e for the exponential itself: 2^-19 in float32 (torch's on the CPU is accurate to 20 units in the
  last place), and 2^-13 in 16-bit formats (a polynomial of degree 3 on newer GPUs is off by 8.8e-5: FlashAttention-4).
  The denominator has the mean of these errors and g(L). In 16-bit formats, P is rounded before it is multiplied: u.
- O: |error of P| |V| + g(L) P |V| + u |O|.
- D: kernels compute it from the rounded O, or, like the math kernel, from P and dP: the sum of both errors.
- dS: |error of P| |dP - D| + P (errors of dP and D), and u |dS| in 16-bit formats, as dS is rounded before a product.
- dQ, dK, dV: like O. torch's CPU kernel keeps sums of dK and dV in the inputs' format from one block of at least 32
  queries (for dQ: 512 keys) to the next: u for each such partial sum. If heads share a key, each head adds u.

The CPU kernel asks BLAS for products of 16-bit numbers in float32. If torch's BLAS does not have them (a generic BLAS
or Eigen; MKL has them, and oneDNN is not used), the kernel uses torch's own product, which rounds its result to the
inputs' format before the conversion to float32 (ATen/native/CPUBlas.cpp, "for the fallback path"). Such a build is
sound, but its errors are twice the bounds above. :func:`rounds_scores` detects it with one product; only then is an
additional u allowed for S (before its mask), dP and P V, carried through the equations like the other errors. Debian's
torch 2.6 and a build with BLAS=Eigen do this: in bfloat16, dV is off by 1.8 times the smaller bound, or half of the
larger.

For float32 products an additional 2^-20 is allowed, because the memory-efficient kernel computes each as three TF32
products (CUTLASS, OpMultiplyAddFastF32: the omitted part is below 4 * 2^-22). TF32 itself, which is off by 2^-10 and
disabled by default, exceeds the bound.

**Each head.** In 16-bit formats the bound for one element of dQ and dK is tens of per cent, since they are sums with
cancellation. So each head, and each lane (feature) of each head, is also compared as a unit: with A the result and E
its reference, <A, E> / <E, E> - 1 is the excess of A. It is a sum of the independent errors of rounding P, dS, O and
the gradients to nearest. Each error is at most u times the rounded number, has a variance of at most u^2 / 3 times its
square, and is weighted by the derivative of <A, E>. The sum is sub-Gaussian and exceeds six standard deviations with a
probability below 4e-9. Errors of S, dP and the denominator of P in float32 are treated in the same way, except that
truncation shrinks all numbers by the same factor: its effect through S and through D is computed and added. In bfloat16
the bound for a head is then about 0.5 per cent, and that for a lane about 1.

Inputs are of order 1. V and dO have one sign in each lane, so that the sums in O and dV do not cancel, and the bound
for each of their elements is near 1 per cent in bfloat16 (up to 5 on the CPU). 16-bit inputs are multiples of 1/32
below 4, which float16 and bfloat16 both represent, so that the two formats share one reference.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import math
import typing as t

from ...check import ABSENT, CRASH, H200_BUILT, SEEN, SEEN_ARM, Context, Failed, Measured, Skipped, Unanswered, check
from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, gradients, one_thread, torch
from ..stack.architectures import list_for

FLOAT32 = ("float32",)
HALF = ("float16", "bfloat16")
FORMATS = FLOAT32 + HALF
MASKS = ("none", "causal", "float", "bool")
HEAD_SIZES = (32, 64, 96, 128, 192, 256)
SMALL_HEAD_SIZES = (32, 64, 128)

#: The unit roundoff of float32 when it truncates instead of rounding to nearest.
_TRUNCATED = 2.0**-23
#: The error of a float32 product computed as three TF32 products.
_SPLIT_PRODUCT = 2.0**-20
_EXPONENTIAL = {False: 2.0**-19, True: 2.0**-13}
#: The numbers of queries and keys after which torch's CPU kernel rounds its sums of gradients.
_CPU_BLOCKS = (32, 512)
#: The factor by which products of two errors increase every bound.
_SECOND_ORDER = 1 + 1 / 32


class Case(t.NamedTuple):
    """One call of attention; ``shape`` holds batch, query heads, key heads, queries, keys and head size."""

    format: str
    mask: str
    shape: tuple[int, int, int, int, int, int]

    def __str__(self) -> str:
        _unused, heads, key_heads, queries, keys, size = self.shape
        parts = [self.format, {"none": "no mask", "causal": "causal"}.get(self.mask, f"{self.mask} mask")]
        parts.append(f"head size {size}")
        parts.append(f"{queries} tokens" if queries == keys else f"{queries} queries of {keys} keys")
        if key_heads != heads:
            parts.append(f"{heads} heads share {key_heads}")
        return ", ".join(parts)


def plan(formats: t.Sequence[str], thin: bool = False, small: bool = False) -> list[Case]:
    """Return the cases for one kernel: formats x masks x head sizes, plus longer, uneven and grouped cases.

    :param thin: omit every second case, so that each pair of format, mask and head size remains, and boolean masks,
        which torch converts to numbers before it calls the kernel.
    :param small: return cases that two CPU cores compute in a second.
    """
    cases = []
    # One length is a multiple of the kernels' tiles, the other is not.
    even, odd = ((1, 2, 2, 40, 40), (1, 1, 1, 77, 77)) if small else ((1, 2, 2, 128, 128), (1, 1, 1, 197, 197))
    long = (1, 1, 1, 200, 200, 64) if small else (1, 1, 1, 640, 640, 64)
    for form in formats:
        number = FORMATS.index(form)
        for mask_number, mask in enumerate(MASKS[:3] if thin and not small else MASKS):
            for size_number, size in enumerate(SMALL_HEAD_SIZES if small else HEAD_SIZES):
                if not (thin and (number + mask_number + size_number) % 2):
                    cases.append(Case(form, mask, (*(odd if (mask_number + size_number // 2) % 2 else even), size)))
        cases.append(Case(form, "causal", long))
        cases.append(Case(form, "none", (2, 2, 2, 20, 50, 64) if small else (2, 2, 2, 77, 333, 128)))
        cases.append(Case(form, "causal", (2, 4, 2, 64, 64, 64)))
    return cases


class Inputs(t.NamedTuple):
    """The inputs of attention in float64; each number can be represented in the tested format."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    gradient: torch.Tensor
    mask: torch.Tensor | None


class Bound(t.NamedTuple):
    """One result of attention with its bounds.

    An element may be off by fixed + u rounded. A head, and each of its lanes, may be off by a share: bias + 6 sqrt(own
    + u^2 unit).
    """

    expected: torch.Tensor
    fixed: torch.Tensor
    rounded: torch.Tensor
    bias: torch.Tensor
    own: torch.Tensor
    unit: torch.Tensor

    def allowed(self, form: str) -> torch.Tensor:
        """Return the allowed error of each element."""
        return self.fixed + UNIT_ROUNDOFF[form] * self.rounded + UNDERFLOW[form]

    def allowed_share(self, form: str) -> torch.Tensor:
        """Return the allowed excess of each head and each of its lanes, as a share of its value."""
        return self.bias + 6 * (self.own + UNIT_ROUNDOFF[form] ** 2 * self.unit).sqrt()


def draw(context: Context, case: Case) -> Inputs:
    """Return the inputs of a case, which are the same for float16 and bfloat16."""
    batch, heads, key_heads, queries, keys, size = case.shape
    half = case.format in HALF
    generator = context.generator(f"attention {half} {case.mask} {case.shape}")

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    def one_sign(*shape: int) -> torch.Tensor:
        sign = torch.randint(0, 2, (shape[0], shape[1], 1, shape[3]), generator=generator) * 2 - 1
        return sign * (normal(*shape).abs() + 0.25)

    def representable(values: torch.Tensor) -> torch.Tensor:
        return ((values.clamp(-3.9, 3.9) * 32).round() / 32 if half else values).double()

    mask = None
    # Kernels broadcast a mask in their own ways, so both shapes are tested.
    form = (queries, keys) if size % 64 else (batch, heads, queries, keys)
    if case.mask == "float":
        mask = representable(normal(*form))
    elif case.mask == "bool":
        mask = torch.rand(form, generator=generator) < 0.7
        # The result is undefined for a query that does not attend to any key.
        mask[..., torch.arange(queries), torch.arange(queries) % keys] = True
    return Inputs(
        representable(normal(batch, heads, queries, size) * 1.5),
        representable(normal(batch, key_heads, keys, size)),
        representable(one_sign(batch, key_heads, keys, size)),
        representable(one_sign(batch, heads, queries, size)),
        mask,
    )


def _sums(values: torch.Tensor) -> torch.Tensor:
    """Return the sum over the tokens of each head, followed by the sums for each of its lanes."""
    lanes = values.sum(-2)
    return torch.cat([lanes.sum(-1, keepdim=True), lanes], -1)


def share(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return <A, E> / <E, E> of each head and each of its lanes."""
    return _sums(actual * expected) / _sums(expected.square())


def _partial_sums(left: torch.Tensor, right: torch.Tensor, block: int) -> list[torch.Tensor]:
    """Return the matrix product summed up to the end of each block of terms except the last."""
    sums: list[torch.Tensor] = []
    for start in range(0, right.shape[-2] - block, block):
        part = left[..., start : start + block] @ right[..., start : start + block, :]
        sums.append(sums[-1] + part if sums else part)
    return sums


def reference(inputs: Inputs, causal: bool, half: bool, cpu: bool, rounds: bool = False) -> dict[str, Bound]:
    """Compute attention, its gradients and the bounds derived in the module's docstring, in float64.

    :param half: whether the bounds are for 16-bit inputs.
    :param cpu: whether the bounds are for torch's CPU kernel.
    :param rounds: whether the kernel rounds S, dP and P V; see :func:`rounds_scores`.
    """
    key_heads = inputs.key.shape[1]
    group = inputs.query.shape[1] // key_heads
    q, do = inputs.query, inputs.gradient
    k, v = (x.repeat_interleave(group, 1) for x in (inputs.key, inputs.value))
    queries, keys, size = q.shape[-2], k.shape[-2], q.shape[-1]
    scale = 1 / math.sqrt(size)
    aq, ak, av, ado = q.abs(), k.abs(), v.abs(), do.abs()
    smallest = UNDERFLOW["float16" if half else "float32"]
    split = 0.0 if half else _SPLIT_PRODUCT

    def g(length: int) -> float:
        return length * _TRUNCATED / (1 - length * _TRUNCATED) + split

    allowed = torch.ones((), dtype=torch.bool)
    added = torch.zeros((), dtype=torch.float64)
    if causal:
        allowed = torch.ones(queries, keys, dtype=torch.bool).tril()
    elif inputs.mask is not None and inputs.mask.dtype == torch.bool:
        allowed = inputs.mask
    elif inputs.mask is not None:
        added = inputs.mask

    product = scale * (q @ k.mT)
    s = product + added
    top = s.masked_fill(~allowed, -math.inf).amax(-1, keepdim=True)
    p = torch.softmax(s.masked_fill(~allowed, -math.inf), -1)
    e = g(size + 8) * scale * (aq @ ak.mT) + 4 * _TRUNCATED * (s.abs() + added.abs() + top.abs()) + _EXPONENTIAL[half]
    relative = (e + (p * e).sum(-1, keepdim=True) + g(keys + 4)) * allowed
    p_fixed = p * relative + smallest * allowed
    # The error of a product that is rounded to the inputs' format, in units of u.
    extra = float(rounds)
    e_product = extra * product.abs()
    p_rounded = (p if half else torch.zeros_like(p)) + p * (e_product + (p * e_product).sum(-1, keepdim=True))

    o = p @ v
    o_fixed = p_fixed @ av + g(keys + 4) * (p @ av) + smallest
    o_rounded = p_rounded @ av + (1 + extra) * o.abs()

    dp = do @ v.mT
    d = (do * o).sum(-1, keepdim=True)
    dp_fixed = g(size + 4) * (ado @ av.mT)
    d_fixed = (ado * (o_fixed + g(size + 4) * o.abs())).sum(-1, keepdim=True)
    d_fixed = d_fixed + (p * dp.abs() * (relative + g(keys + 4)) + p * dp_fixed).sum(-1, keepdim=True)
    d_rounded = (ado * o_rounded).sum(-1, keepdim=True)

    ds = p * (dp - d)
    ds_fixed = p_fixed * (dp - d).abs() + smallest * allowed
    ds_fixed = ds_fixed + p * (dp_fixed + d_fixed + _TRUNCATED * (dp.abs() + d.abs()))
    ds_rounded = p_rounded * (dp - d).abs() + p * (d_rounded + extra * dp.abs()) + (ds.abs() if half else 0.0)

    dq, dk, dv = scale * (ds @ k), scale * (ds.mT @ q), p.mT @ do
    dq_fixed = scale * ((ds_fixed + g(keys + 4) * ds.abs()) @ ak) + smallest
    dk_fixed = scale * ((ds_fixed + g(queries + 4) * ds.abs()).mT @ aq) + smallest
    dv_fixed = (p_fixed + g(queries + 4) * p).mT @ ado + smallest
    dq_parts, dk_parts, dv_parts = [dq], [dk], [dv]
    if half and cpu:
        dq_parts += _partial_sums(scale * ds, k, _CPU_BLOCKS[1])
        dk_parts += _partial_sums(scale * ds.mT, q, _CPU_BLOCKS[0])
        dv_parts += _partial_sums(p.mT, do, _CPU_BLOCKS[0])
    dq_rounded = scale * (ds_rounded @ ak) + torch.stack(dq_parts).abs().sum(0)
    dk_rounded = scale * (ds_rounded.mT @ aq) + torch.stack(dk_parts).abs().sum(0)
    dv_rounded = p_rounded.mT @ ado + torch.stack(dv_parts).abs().sum(0)

    def sums(tensor: torch.Tensor) -> torch.Tensor:
        """Sum the contributions of the query heads that share a key head."""
        return tensor.unflatten(1, (key_heads, group)).sum(2)

    def of_parts(parts: t.Sequence[torch.Tensor], e: torch.Tensor) -> torch.Tensor:
        """Return the variance of <sum of parts, E> when the parts are rounded."""
        return _sums(torch.stack([(x * e).square() for x in parts]).sum(0))

    def of_product(left: torch.Tensor, right: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
        """Return the variance of <left right, E> when the elements of ``left`` are rounded."""
        head = (left * (e @ right.mT)).square().sum((-1, -2))
        lanes = (e.square() * (left.square() @ right.square())).sum(-2)
        return torch.cat([head.unsqueeze(-1), lanes], -1)

    def of_rows(variance: torch.Tensor, lanes: torch.Tensor) -> torch.Tensor:
        """Return the variance of the sum over queries of ``lanes`` times an error with this variance."""
        head = variance * lanes.sum(-1, keepdim=True).square()
        return torch.cat([head.sum(-2), (variance * lanes.square()).sum(-2)], -1)

    dk_sum, dv_sum = sums(dk), sums(dv)
    e_k, e_v = (x.repeat_interleave(group, 1) for x in (dk_sum, dv_sum))

    # The errors of numbers that are rounded to 16 bits, in units of u.
    rows = (1 + extra) * (do * o).square().sum(-1, keepdim=True)
    o_unit, dq_unit = (1 + extra) * of_parts([o], o), of_parts(dq_parts, dq)
    dk_unit, dv_unit = of_parts(dk_parts, e_k), of_parts(dv_parts, e_v)
    if half:
        # P is rounded in the forward pass, and again in the backward pass for dV and, in some kernels, for dS.
        rows = rows + (p * dp).square().sum(-1, keepdim=True)
        o_unit = o_unit + of_product(p, v, o)
        dq_unit = dq_unit + 2 * of_product(scale * ds, k, dq)
        dk_unit = dk_unit + 2 * of_product(scale * ds.mT, q, e_k)
        dv_unit = dv_unit + of_product(p.mT, do, e_v)
    dq_unit = dq_unit + of_rows(rows, scale * (p @ k) * dq)
    dk_unit = dk_unit + of_rows(rows, scale * (p @ e_k) * q)

    def of_scores(e: torch.Tensor, dp_off: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the variances from errors of S and dP, one per element, and of P's denominator, one per row."""
        pe = p * e
        fraction = pe.square().sum(-1, keepdim=True)
        of_d = (pe * (dp - d)).square().sum(-1, keepdim=True)
        of_ds = scale * ((ds * e).square() + (p * dp_off).square()).sqrt()
        return (
            of_product(pe, v, o) + of_rows(fraction, o * o),
            of_product(of_ds, k, dq) + of_rows(fraction, dq * dq) + of_rows(of_d, scale * (p @ k) * dq),
            of_product(of_ds.mT, q, e_k)
            + of_rows(fraction, scale * (ds @ e_k) * q)
            + of_rows(of_d, scale * (p @ e_k) * q),
            of_product(pe.mT, do, e_v) + of_rows(fraction, (p @ e_v) * do),
        )

    # The errors of float32 numbers, and then those in units of u.
    o_own, dq_own, dk_own, dv_own = of_scores(e, dp_fixed)
    if rounds:
        score_variances = of_scores(e_product, dp.abs())
        o_unit, dq_unit, dk_unit, dv_unit = (
            x + y for x, y in zip((o_unit, dq_unit, dk_unit, dv_unit), score_variances)
        )

    # Truncation shrinks S, and D in relation to dP, by this factor.
    factor = g(queries + keys + size)
    p_hot = p * (s - (p * s).sum(-1, keepdim=True))
    o_hot = p_hot @ v
    ds_hot = p_hot * (dp - d) - p * (do * o_hot).sum(-1, keepdim=True)
    pd = p * d

    def bias(e: torch.Tensor, *responses: torch.Tensor) -> torch.Tensor:
        return sum((_sums(x * e).abs() for x in responses), _sums(e.square())) * factor

    o_bias = bias(o, o_hot)
    dq_bias = bias(dq, scale * (ds_hot @ k), scale * (pd @ k))
    dk_bias = bias(dk_sum, sums(scale * (ds_hot.mT @ q)), sums(scale * (pd.mT @ q)))
    dv_bias = bias(dv_sum, sums(p_hot.mT @ do))

    dk_rounded, dv_rounded, dk_unit, dv_unit = sums(dk_rounded), sums(dv_rounded), sums(dk_unit), sums(dv_unit)
    if group > 1:
        # The CPU kernel continues with the sums of the previous head.
        blocks = math.ceil(queries / _CPU_BLOCKS[0]) if half and cpu else 0
        dk_more, dv_more = [dk_sum] + [sums(dk.abs())] * blocks, [dv_sum] + [sums(dv.abs())] * blocks
        dk_rounded = dk_rounded + torch.stack(dk_more).abs().sum(0)
        dv_rounded = dv_rounded + torch.stack(dv_more).abs().sum(0)
        dk_unit, dv_unit = dk_unit + of_parts(dk_more, dk_sum), dv_unit + of_parts(dv_more, dv_sum)

    def bound(
        expected: torch.Tensor,
        fixed: torch.Tensor,
        rounded: torch.Tensor,
        bias: torch.Tensor,
        own: torch.Tensor,
        unit: torch.Tensor,
    ) -> Bound:
        norms = _sums(expected.square())
        score_variances = _SECOND_ORDER
        return Bound(
            expected,
            fixed * score_variances,
            rounded * score_variances,
            bias / norms * score_variances,
            own / 3 / norms.square() * score_variances**2,
            unit / 3 / norms.square() * score_variances**2,
        )

    return {
        "forward O": bound(o, o_fixed, o_rounded, o_bias, o_own, o_unit),
        "backward dQ": bound(dq, dq_fixed, dq_rounded, dq_bias, dq_own, dq_unit),
        "backward dK": bound(dk_sum, sums(dk_fixed), dk_rounded, dk_bias, sums(dk_own), dk_unit),
        "backward dV": bound(dv_sum, sums(dv_fixed), dv_rounded, dv_bias, sums(dv_own), dv_unit),
    }


def compare(
    cases: Cases, name: str, form: str, bounds: t.Mapping[str, Bound], results: t.Sequence[torch.Tensor]
) -> None:
    """Compare each element and each head of O, dQ, dK and dV."""
    with one_thread():
        for (result, bound), actual in zip(bounds.items(), results):
            computed = actual.detach().to("cpu", torch.float64)
            cases.compare(f"{name}, {result}", computed, bound.expected, bound.allowed(form))
            if computed.shape == bound.expected.shape:
                shares = share(computed, bound.expected)
                case = f"{name}, {result}, each head and lane as a share of what it should be"
                cases.compare(case, shares, torch.ones_like(shares), bound.allowed_share(form))


@functools.lru_cache(None)
def rounds_scores(form: str) -> bool:
    """Tell whether torch's CPU kernel rounds Q K^T to the inputs' format; see the module's docstring.

    Two scores differ by 1. The greater one is halfway between two numbers of the format and would be rounded to the
    smaller score. If torch keeps the scores in float32, it returns 1 / (1 + 1/e) = 0.73; if it rounds them, 0.5.
    """
    half = 1 / UNIT_ROUNDOFF[form]
    query, key, value = torch.zeros(3, 1, 1, 2, 32)
    query[..., 0], query[..., 1] = 16, 1
    key[..., 0], key[..., 0, 1], value[..., 0, :] = half / 16, 1, 1
    inputs = (x.to(getattr(torch, form)) for x in (query, key, value))
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        output = torch.nn.functional.scaled_dot_product_attention(*inputs, scale=1.0)
    return bool((output - 0.5).abs().max() < 0.05)


#: References that several checks use, because the checks in a family run in one process.
_REFERENCES: dict[tuple[t.Any, ...], tuple[Inputs, dict[str, Bound]]] = {}


def _expected(context: Context, case: Case, kernel: str = "") -> tuple[Inputs, dict[str, Bound]]:
    """Return the inputs of a case and its bounds, which are specific to a kernel if one is named."""
    half, cpu = case.format in HALF, context.device == "cpu"
    rounds = half and cpu and kernel != "math" and rounds_scores(case.format)
    key = (half, case.mask, case.shape, cpu, rounds)
    if key not in _REFERENCES:
        with one_thread():
            inputs = draw(context, case)
            _REFERENCES[key] = inputs, reference(inputs, case.mask == "causal", half, cpu, rounds)
    return _REFERENCES[key]


class _Arguments(t.NamedTuple):
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    gradient: torch.Tensor
    mask: torch.Tensor | None


def _arguments(case: Case, inputs: Inputs, device: str, strided: bool) -> _Arguments:
    """Move the inputs to a device; if ``strided``, with tokens before heads in memory, as in models."""
    form = getattr(torch, case.format)

    def move(values: torch.Tensor) -> torch.Tensor:
        on_device = values.to(device, form)
        return on_device.transpose(1, 2).contiguous().transpose(1, 2) if strided else on_device

    query, key, value = (move(x).requires_grad_() for x in (inputs.query, inputs.key, inputs.value))
    mask = inputs.mask
    if mask is not None:
        mask = mask.to(device) if mask.dtype == torch.bool else mask.to(device, form)
    return _Arguments(query, key, value, inputs.gradient.to(device, form), mask)


def _attend(case: Case, arguments: _Arguments) -> tuple[torch.Tensor, ...]:
    options = {"enable_gqa": True} if case.shape[1] != case.shape[2] else {}
    output = torch.nn.functional.scaled_dot_product_attention(
        arguments.query,
        arguments.key,
        arguments.value,
        attn_mask=arguments.mask,
        is_causal=case.mask == "causal",
        **options,
    )
    return (output, *gradients(output, (arguments.query, arguments.key, arguments.value), arguments.gradient))


@contextlib.contextmanager
def _without_tf32() -> t.Iterator[None]:
    """Disable TF32, regardless of environment variables."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _offers(context: Context, backend: str, case: Case, arguments: _Arguments) -> bool:
    """Tell whether torch itself would select a backend; call this while that backend is enabled."""
    causal, grouped = case.mask == "causal", case.shape[1] != case.shape[2]
    if backend == "math":
        return True
    if context.device == "cpu":
        flash_backend = torch.nn.attention.SDPBackend.FLASH_ATTENTION
        # With the math kernel as an alternative, torch answers even if the kernel does not fit.
        with torch.nn.attention.sdpa_kernel([flash_backend, torch.nn.attention.SDPBackend.MATH]):
            answer = torch._fused_sdp_choice(
                arguments.query, arguments.key, arguments.value, arguments.mask, 0.0, causal, enable_gqa=grouped
            )
        return int(answer) == int(flash_backend.value)
    parameters = torch.backends.cuda.SDPAParams(
        arguments.query, arguments.key, arguments.value, arguments.mask, 0.0, causal, grouped
    )
    return bool(getattr(torch.backends.cuda, f"can_use_{backend}_attention")(parameters))


_OTHER_KERNEL = "until then select another kernel with torch.nn.attention.sdpa_kernel."
_REBUILD_CPU = (
    "Run it again with ATEN_CPU_CAPABILITY=default: if the result is then right, the code for this CPU's vector "
    "instructions is wrong, so build torch with another compiler, or use a stack with official wheels; if not, see the "
    "checks cpu.matmul.*;"
    f" {_OTHER_KERNEL}"
)
_NO_KERNEL = "Use a stack whose torch is built with it, or remove the check from the profile's required checks."

_NAMES = {
    "math": "attention by torch's math kernel",
    "efficient": "memory-efficient attention",
    "flash": "flash attention",
    "cudnn": "cuDNN's attention",
}
#: The remedies that do not depend on the device; :func:`_remedy` returns those of "efficient" and "flash".
_REMEDY = {
    "math": "See the checks of family matmul first, since this kernel consists of matrix products; if they pass, use "
    "another stack.",
    "cudnn": "Use a stack with a newer cuDNN (before 9.15.1 it is wrong for lengths that are not multiples of 128), or "
    "turn"
    " this kernel off with torch.backends.cuda.enable_cudnn_sdp(False).",
}


def _remedy(context: Context, backend: str) -> str:
    """Return the remedy for wrong results from a kernel on this device."""
    if backend in _REMEDY:
        return _REMEDY[backend]
    if context.device == "cpu":
        return _REBUILD_CPU
    capability = "{}.{}".format(*torch.cuda.get_device_capability(0))
    return (
        f"Rebuild torch with TORCH_CUDA_ARCH_LIST={list_for(capability)} (stack_method: build), or use a stack with "
        f"official wheels; {_OTHER_KERNEL}"
    )


@contextlib.contextmanager
def _explained_on_spark() -> t.Iterator[None]:
    """Add to a failure the known cause of wrong memory-efficient attention on a Spark."""
    try:
        yield
    except Failed as error:
        if not isinstance(error, Unanswered) and torch.cuda.get_device_capability(0) == (12, 1):
            error.cause += (
                " This GPU has compute capability 12.1, for which torch 2.9 to 2.11 compiles memory-efficient attention"
                " to empty kernels."
            )
            error.remedy = (
                "Rebuild torch with TORCH_CUDA_ARCH_LIST=12.0 or with the stack's guard patch, or use a stack with "
                "torch 2.12 or newer."
            )
        raise


def _not_built(backend: str) -> str | None:
    """Return the reason why torch was built without a kernel, or None if it has the kernel."""
    if backend == "flash" and not torch.backends.cuda.is_flash_attention_available():
        return "This torch is built without flash attention."
    if backend == "cudnn" and not torch.backends.cudnn.is_available():
        return "This torch is built without cuDNN."
    if backend == "cudnn" and (torch.backends.cudnn.version() or 0) < 90000:
        return f"torch uses cuDNN for attention since 9.0, this is {torch.backends.cudnn.version()}."
    return None


def _backend(context: Context, backend: str, formats: t.Sequence[str] = FORMATS) -> Measured:
    """Compare one kernel for every combination for which torch offers it."""
    cuda = context.device == "cuda"
    if cuda and backend != "math":
        if torch.cuda.get_device_capability(0) < (8, 0):
            raise Skipped("Kernels for attention need compute capability 8.0.")
        missing = _not_built(backend)
        if missing:
            raise Skipped(missing)
    kernel = {
        "math": torch.nn.attention.SDPBackend.MATH,
        "efficient": torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION,
        "flash": torch.nn.attention.SDPBackend.FLASH_ATTENTION,
        "cudnn": torch.nn.attention.SDPBackend.CUDNN_ATTENTION,
    }[backend]
    cases = Cases(_NAMES[backend], _remedy(context, backend))
    # cuDNN compiles a graph for each new shape, which dominates the time.
    planned = plan(formats, thin=backend == "cudnn" or not cuda, small=not cuda)
    if backend in ("flash", "cudnn") and cuda:
        planned = [case for case in planned if case.format in HALF]
    offered_count = 0
    without_plan = set()
    with _without_tf32(), torch.nn.attention.sdpa_kernel(kernel):
        for number, case in enumerate(planned):
            inputs, bounds = _expected(context, case, backend)
            arguments = _arguments(case, inputs, context.device, strided=bool(number % 2))
            if not _offers(context, backend, case, arguments):
                continue
            try:
                results = _attend(case, arguments)
            except RuntimeError as error:
                # torch offers cuDNN for some sizes above 128 for which cuDNN has no plan.
                if backend == "cudnn" and case.shape[-1] > 128 and "execution plan" in str(error):
                    without_plan.add(case.shape[-1])
                    continue
                raise
            offered_count += 1
            compare(cases, str(case), case.format, bounds, results)
    if not offered_count:
        raise Unanswered(
            ABSENT,
            f"torch has {_NAMES[backend]} for none of {len(planned)} combinations of format, mask and head size here.",
            _NO_KERNEL,
            f"0 of {len(planned)} combinations",
            "at least one",
        )
    result = cases.result()
    result.measured += f"; offered for {offered_count} of {len(planned)} combinations"
    if not cuda and backend == "flash":
        result.measured += _note_on_rounding()
    if without_plan:
        result.measured += f"; cuDNN has no plan for head size {', '.join(map(str, sorted(without_plan)))}"
    return result


@check("attention.math", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def math_kernel(context: Context) -> Measured:
    """Check attention composed of matrix products, for every format and mask. Bounds: see the module."""
    return _backend(context, "math")


@check("attention.efficient", measured=SEEN, factor=1)
def efficient(context: Context) -> Measured:
    """Check memory-efficient attention, the default for float32 and for masks. Bounds: see the module."""
    with _explained_on_spark():
        return _backend(context, "efficient")


@check("attention.flash", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def flash(context: Context) -> Measured:
    """Check flash attention, the default for 16-bit formats without a mask. Bounds: see the module."""
    return _backend(context, "flash")


@check("attention.cudnn", seconds=120, measured=SEEN, factor=1)
def cudnn(context: Context) -> Measured:
    """Check cuDNN's attention in bfloat16, the default on data centre GPUs. Bounds: see the module."""
    return _backend(context, "cudnn", ("bfloat16",))


@check("attention.cudnn_float16", seconds=120, measured=SEEN, factor=1)
def cudnn_float16(context: Context) -> Measured:
    """Check cuDNN's attention in float16, separately because building its plans takes a core twenty seconds."""
    return _backend(context, "cudnn", ("float16",))


@check("attention.default", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def default(context: Context) -> Measured:
    """Check attention with the kernel that torch selects, as in models, also without a batch dimension.

    The bounds in the module's docstring hold for every kernel.
    """
    small = context.device == "cpu"
    cases = Cases("attention by the kernel that torch chooses", "See which other checks attention.* fail.")
    with _without_tf32():
        # Seven has no common factor with the numbers of masks and sizes, so all of them occur.
        chosen = [*plan(FORMATS, small=small)[::7], Case("bfloat16", "none", (2, 2, 2, 33, 33, 80))]
        chosen.append(Case("float16", "causal", (2, 4, 2, 64, 64, 64)))
        for number, case in enumerate(chosen):
            inputs, bounds = _expected(context, case)
            arguments = _arguments(case, inputs, context.device, strided=not number % 2)
            compare(cases, str(case), case.format, bounds, _attend(case, arguments))
        case = Case("float32", "causal", (1, 2, 2, 40, 40, 32) if small else (1, 2, 2, 128, 128, 32))
        inputs, bounds = _expected(context, case)
        arguments = _arguments(case, inputs, context.device, strided=False)
        q, k, v = (x[0].detach().requires_grad_() for x in (arguments.query, arguments.key, arguments.value))
        flat = _Arguments(q, k, v, arguments.gradient[0], None)
        compare(cases, f"{case}, no batches", case.format, bounds, [x.unsqueeze(0) for x in _attend(case, flat)])
        return cases.result()


def _note_on_rounding() -> str:
    rounding = [form for form in HALF if rounds_scores(form)]
    return (
        f"; its BLAS has no product of {' and '.join(rounding)} in float32, so scores are rounded" if rounding else ""
    )


@check("attention.flash_package", measured=(H200_BUILT,), factor=1)
def flash_package(context: Context) -> Measured:
    """Check the package flash-attention, also with sequences of several lengths in a tensor. Bounds: see the module."""
    if importlib.util.find_spec("flash_attn") is None:
        raise Skipped("The package flash_attn is not installed.")
    if torch.cuda.get_device_capability(0) < (8, 0):
        raise Skipped("flash_attn needs compute capability 8.0.")
    try:
        package = importlib.import_module("flash_attn")
        attend_batch, attend_packed = package.flash_attn_func, package.flash_attn_varlen_func
    except (ImportError, AttributeError) as error:
        raise Unanswered(
            CRASH,
            f"flash_attn is installed but cannot be imported: {' '.join(str(error).split())[:300].rstrip('.')}.",
            "Build it against this environment's torch (playbooks/build.yml), or remove it from the environment.",
            type(error).__name__,
            "an import",
        ) from error
    cases = Cases(
        "attention by the package flash_attn",
        "Rebuild it against this environment's torch with FLASH_ATTN_CUDA_ARCHS=120 (90 for 9.0).",
    )

    def run(case: Case, inputs: t.Sequence[torch.Tensor], attend: t.Callable[..., torch.Tensor]) -> list[torch.Tensor]:
        form = getattr(torch, case.format)
        q, k, v, gradient = (x.to(context.device, form) for x in inputs)
        for x in (q, k, v):
            x.requires_grad_()
        output = attend(q, k, v, causal=case.mask == "causal")
        return [output, *gradients(output, (q, k, v), gradient)]

    for case in plan(HALF):
        if case.mask not in ("none", "causal"):
            continue
        inputs, bounds = _expected(context, case)
        results = run(
            case,
            [x.transpose(1, 2).contiguous() for x in (inputs.query, inputs.key, inputs.value, inputs.gradient)],
            attend_batch,
        )
        compare(cases, str(case), case.format, bounds, [x.transpose(1, 2) for x in results])
    for form in HALF:
        parts = [Case(form, "causal", (1, 2, 2, tokens, tokens, 64)) for tokens in (40, 128, 77)]
        references = [_expected(context, part) for part in parts]
        # A sequence starts after the tokens of all sequences before it.
        starts = torch.tensor([0, 40, 168, 245], dtype=torch.int32, device=context.device)
        attend = functools.partial(
            attend_packed, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=128, max_seqlen_k=128
        )
        together = [
            torch.cat([getattr(inputs, name)[0].transpose(0, 1) for inputs, _unused in references])
            for name in ("query", "key", "value", "gradient")
        ]
        results = run(parts[0], together, attend)
        for part, (_unused, bounds), number in zip(parts, references, range(3)):
            cut = slice(int(starts[number]), int(starts[number + 1]))
            unpacked = [x[cut].transpose(0, 1).unsqueeze(0) for x in results]
            compare(cases, f"packed, {part}", form, bounds, unpacked)
    result = cases.result()
    result.measured += f"; flash_attn {getattr(package, '__version__', 'of unknown version')}"
    return result
