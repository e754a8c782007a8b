# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scaled dot product attention: every kernel that torch has for it, forward and backward, and flash-attention's own.

With S = scale Q K^T + mask, P = softmax(S), O = P V, and for a gradient dO: dV = P^T dO, dP = dO V^T,
D = rowsum(dO * O), dS = P * (dP - D), dQ = scale dS K, dK = scale dS^T Q. The reference computes that in float64.

**Element by element.** Errors are carried through these lines in the same order, to first order and with every matrix
replaced by its magnitudes; products of two errors are covered by 1/32 on top. Notation: u is the unit roundoff of the
inputs' format, w = 2^-23 that of float32 when it truncates as tensor cores do, g(k) = k w / (1 - k w), L and d are the
number of keys and the head size.

- S: g(d + 8) scale |Q| |K|^T + 4 w (|S| + |mask| + row maximum): a product in float32, its scaling, which the math
  kernel does on both factors, and the subtraction of the maximum. An error of the exponent is a relative one of P.
- P: that, and e for the exponential itself: 2^-19 in float32 (torch's on the CPU is good to 20 units in the last
  place), 2^-13 for 16 bit (a polynomial of degree 3 on newer GPUs is off by 8.8e-5: FlashAttention-4). The sum below
  the fraction has the mean of these errors and g(L). For 16 bit, P is rounded before it is multiplied: u.
- O: |error of P| |V| + g(L) P |V| + u |O|.
- D: kernels take it from the rounded O, or from P and dP as the math kernel: sum of both errors.
- dS: |error of P| |dP - D| + P (errors of dP and D), and u |dS| for 16 bit, where it is rounded before a product.
- dQ, dK, dV: as O. torch's kernel for the CPU keeps sums of dK and dV in the inputs' format from one block of at least
  32 queries (of dQ: 512 keys) to the next: u for each such partial sum. Heads that share a key add u for each head's.

That kernel asks BLAS for products of 16 bit numbers in float32. In a torch whose BLAS has none (generic or
Eigen; MKL has them, and oneDNN is not asked), it takes torch's own product, which rounds its result to the
inputs' format before that becomes float32 (ATen/native/CPUBlas.cpp, "for the fallback path"). That is no fault of the
build, and twice as far off as the lines above allow. :func:`rounds_scores` computes one product that shows it; where it
does, and nowhere else, S (before its mask), dP and P V have u more, carried through the lines above as the others.
Seen in Debian's torch 2.6 and in one built with BLAS=Eigen: dV of bfloat16 is 1.8 times the bound without that, and
half of it with it.

float32 products have 2^-20 on top, for the memory-efficient kernel makes each of three TF32 ones (CUTLASS,
OpMultiplyAddFastF32: what it drops is below 4 * 2^-22). TF32 itself, which is 2^-10 and off by default, is refused.

**On the whole.** For 16 bit the bound of one element of dQ and dK is tens of per cent, since they are sums with
cancellation. So each head, and each lane (feature) of each head, is also compared as a whole: A being the result and E
what is expected, <A, E> / <E, E> - 1 is what A is too large by. It is a sum of the independent errors of rounding P,
dS, O and the gradients to nearest. Each of them is at most u times what is rounded, has a variance of at most u^2 / 3
times that squared, and counts by the derivative of <A, E> in it. The sum is sub-Gaussian and exceeds six standard
deviations with a probability below 4e-9. Errors of S, dP and the fraction of P in float32 are treated likewise, except
that truncation makes numbers smaller by one factor everywhere: what that does through S and through D is computed and
added. In bfloat16 a head is held to about 0.5 per cent so, and a lane to about 1.

Inputs are of order 1. V and dO have one sign in each lane, so that sums of O and dV do not cancel and the bound of each
of their elements is near 1 per cent in bfloat16 (on the CPU up to 5). 16 bit inputs are multiples of 1/32 below 4,
which float16 and bfloat16 both have, so that they share one reference.
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

#: float32 that truncates instead of rounding to nearest.
_TRUNCATED = 2.0**-23
#: The error of three TF32 products instead of one float32 product.
_SPLIT_PRODUCT = 2.0**-20
_EXPONENTIAL = {False: 2.0**-19, True: 2.0**-13}
#: Queries and keys after which torch's kernel for the CPU rounds its sums of gradients.
_CPU_BLOCKS = (32, 512)
#: The factor on every bound, for products of two errors.
_SECOND_ORDER = 1 + 1 / 32


class Case(t.NamedTuple):
    """One call of attention: ``shape`` is batch, query heads, key heads, queries, keys, head size."""

    format: str
    mask: str
    shape: tuple[int, int, int, int, int, int]

    def __str__(self) -> str:
        _unused, heads, key_heads, queries, keys, size = self.shape
        words = [self.format, {"none": "no mask", "causal": "causal"}.get(self.mask, f"{self.mask} mask")]
        words.append(f"head size {size}")
        words.append(f"{queries} tokens" if queries == keys else f"{queries} queries of {keys} keys")
        if key_heads != heads:
            words.append(f"{heads} heads share {key_heads}")
        return ", ".join(words)


def plan(formats: t.Sequence[str], thin: bool = False, small: bool = False) -> list[Case]:
    """Return the cases of one kernel: formats x masks x head sizes, and longer, uneven and grouped ones.

    :param thin: leave out every second one, so that still each pair of format, mask and head size occurs, and masks
        of truth values, which torch turns into numbers before the kernel sees them.
    :param small: what two cores of a CPU do in a second.
    """
    cases = []
    # One length that kernels cut into whole tiles, and one that they do not.
    even, odd = ((1, 2, 2, 40, 40), (1, 1, 1, 77, 77)) if small else ((1, 2, 2, 128, 128), (1, 1, 1, 197, 197))
    long = (1, 1, 1, 200, 200, 64) if small else (1, 1, 1, 640, 640, 64)
    for form in formats:
        number = FORMATS.index(form)
        for row, mask in enumerate(MASKS[:3] if thin and not small else MASKS):
            for column, size in enumerate(SMALL_HEAD_SIZES if small else HEAD_SIZES):
                if not (thin and (number + row + column) % 2):
                    cases.append(Case(form, mask, (*(odd if (row + column // 2) % 2 else even), size)))
        cases.append(Case(form, "causal", long))
        cases.append(Case(form, "none", (2, 2, 2, 20, 50, 64) if small else (2, 2, 2, 77, 333, 128)))
        cases.append(Case(form, "causal", (2, 4, 2, 64, 64, 64)))
    return cases


class Inputs(t.NamedTuple):
    """What is given to attention; every number is one of the format that it is for, held as float64."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    gradient: torch.Tensor
    mask: torch.Tensor | None


class Bound(t.NamedTuple):
    """One result of attention: the number itself and what it may be off by.

    An element by fixed + u rounded; all of a head, and all of each of its lanes, by the share
    bias + 6 sqrt(own + u^2 unit).
    """

    expected: torch.Tensor
    fixed: torch.Tensor
    rounded: torch.Tensor
    bias: torch.Tensor
    own: torch.Tensor
    unit: torch.Tensor

    def allowed(self, form: str) -> torch.Tensor:
        """Return what each element may be off by."""
        return self.fixed + UNIT_ROUNDOFF[form] * self.rounded + UNDERFLOW[form]

    def allowed_on_the_whole(self, form: str) -> torch.Tensor:
        """Return what each head and each lane of it may be too large or too small by, as a share of it."""
        return self.bias + 6 * (self.own + UNIT_ROUNDOFF[form] ** 2 * self.unit).sqrt()


def draw(context: Context, case: Case) -> Inputs:
    """Return the inputs of a case: the same for float16 and bfloat16."""
    batch, heads, key_heads, queries, keys, size = case.shape
    half = case.format in HALF
    generator = context.generator(f"attention {half} {case.mask} {case.shape}")

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    def one_sign(*shape: int) -> torch.Tensor:
        sign = torch.randint(0, 2, (shape[0], shape[1], 1, shape[3]), generator=generator) * 2 - 1
        return sign * (normal(*shape).abs() + 0.25)

    def held(values: torch.Tensor) -> torch.Tensor:
        return ((values.clamp(-3.9, 3.9) * 32).round() / 32 if half else values).double()

    mask = None
    # Kernels broadcast a mask in their own ways, so that both forms are tried.
    form = (queries, keys) if size % 64 else (batch, heads, queries, keys)
    if case.mask == "float":
        mask = held(normal(*form))
    elif case.mask == "bool":
        mask = torch.rand(form, generator=generator) < 0.7
        # A query that sees no key at all has no defined result.
        mask[..., torch.arange(queries), torch.arange(queries) % keys] = True
    return Inputs(
        held(normal(batch, heads, queries, size) * 1.5),
        held(normal(batch, key_heads, keys, size)),
        held(one_sign(batch, key_heads, keys, size)),
        held(one_sign(batch, heads, queries, size)),
        mask,
    )


def _whole(values: torch.Tensor) -> torch.Tensor:
    """Return the sum over all tokens of each head, and behind it those of each of its lanes."""
    lanes = values.sum(-2)
    return torch.cat([lanes.sum(-1, keepdim=True), lanes], -1)


def share(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Return <A, E> / <E, E> of each head and each of its lanes."""
    return _whole(actual * expected) / _whole(expected.square())


def _partial_sums(left: torch.Tensor, right: torch.Tensor, block: int) -> list[torch.Tensor]:
    """Return what the matrix product has come to after each block of terms but the last."""
    sums: list[torch.Tensor] = []
    for start in range(0, right.shape[-2] - block, block):
        part = left[..., start : start + block] @ right[..., start : start + block, :]
        sums.append(sums[-1] + part if sums else part)
    return sums


def reference(inputs: Inputs, causal: bool, half: bool, cpu: bool, rounds: bool = False) -> dict[str, Bound]:
    """Compute attention, its gradients and the bounds that the head of this file derives, in float64.

    :param half: for inputs of 16 bit.
    :param cpu: for torch's kernel for the CPU.
    :param rounds: for one that rounds S, dP and P V, see :func:`rounds_scores`.
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
    # By u: what a product is off by that was rounded to the inputs' format.
    again = float(rounds)
    e_product = again * product.abs()
    p_rounded = (p if half else torch.zeros_like(p)) + p * (e_product + (p * e_product).sum(-1, keepdim=True))

    o = p @ v
    o_fixed = p_fixed @ av + g(keys + 4) * (p @ av) + smallest
    o_rounded = p_rounded @ av + (1 + again) * o.abs()

    dp = do @ v.mT
    d = (do * o).sum(-1, keepdim=True)
    dp_fixed = g(size + 4) * (ado @ av.mT)
    d_fixed = (ado * (o_fixed + g(size + 4) * o.abs())).sum(-1, keepdim=True)
    d_fixed = d_fixed + (p * dp.abs() * (relative + g(keys + 4)) + p * dp_fixed).sum(-1, keepdim=True)
    d_rounded = (ado * o_rounded).sum(-1, keepdim=True)

    ds = p * (dp - d)
    ds_fixed = p_fixed * (dp - d).abs() + smallest * allowed
    ds_fixed = ds_fixed + p * (dp_fixed + d_fixed + _TRUNCATED * (dp.abs() + d.abs()))
    ds_rounded = p_rounded * (dp - d).abs() + p * (d_rounded + again * dp.abs()) + (ds.abs() if half else 0.0)

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
        """Add what the query heads that share a key head contribute."""
        return tensor.unflatten(1, (key_heads, group)).sum(2)

    def of_parts(parts: t.Sequence[torch.Tensor], e: torch.Tensor) -> torch.Tensor:
        """Return the variance of <sum of parts, E> where the parts are rounded."""
        return _whole(torch.stack([(x * e).square() for x in parts]).sum(0))

    def of_product(left: torch.Tensor, right: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
        """Return the variance of <left right, E> where the elements of ``left`` are rounded."""
        head = (left * (e @ right.mT)).square().sum((-1, -2))
        lanes = (e.square() * (left.square() @ right.square())).sum(-2)
        return torch.cat([head.unsqueeze(-1), lanes], -1)

    def of_rows(variance: torch.Tensor, lanes: torch.Tensor) -> torch.Tensor:
        """Return the variance of a sum over queries of an error with ``variance`` times ``lanes``."""
        head = variance * lanes.sum(-1, keepdim=True).square()
        return torch.cat([head.sum(-2), (variance * lanes.square()).sum(-2)], -1)

    dk_sum, dv_sum = sums(dk), sums(dv)
    e_k, e_v = (x.repeat_interleave(group, 1) for x in (dk_sum, dv_sum))

    # By u: what is rounded to 16 bit.
    rows = (1 + again) * (do * o).square().sum(-1, keepdim=True)
    o_unit, dq_unit = (1 + again) * of_parts([o], o), of_parts(dq_parts, dq)
    dk_unit, dv_unit = of_parts(dk_parts, e_k), of_parts(dv_parts, e_v)
    if half:
        # P is rounded in the forward pass and again in the backward pass: for dV and, by some kernels, for dS.
        rows = rows + (p * dp).square().sum(-1, keepdim=True)
        o_unit = o_unit + of_product(p, v, o)
        dq_unit = dq_unit + 2 * of_product(scale * ds, k, dq)
        dk_unit = dk_unit + 2 * of_product(scale * ds.mT, q, e_k)
        dv_unit = dv_unit + of_product(p.mT, do, e_v)
    dq_unit = dq_unit + of_rows(rows, scale * (p @ k) * dq)
    dk_unit = dk_unit + of_rows(rows, scale * (p @ e_k) * q)

    def of_scores(e: torch.Tensor, dp_off: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the variances of errors of S and dP, each element's its own, and of the fraction of P, each row's."""
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

    # In float32, and by u.
    o_own, dq_own, dk_own, dv_own = of_scores(e, dp_fixed)
    if rounds:
        more = of_scores(e_product, dp.abs())
        o_unit, dq_unit, dk_unit, dv_unit = (x + y for x, y in zip((o_unit, dq_unit, dk_unit, dv_unit), more))

    # Truncation makes these smaller by one factor everywhere: S, and D in relation to dP.
    factor = g(queries + keys + size)
    p_hot = p * (s - (p * s).sum(-1, keepdim=True))
    o_hot = p_hot @ v
    ds_hot = p_hot * (dp - d) - p * (do * o_hot).sum(-1, keepdim=True)
    pd = p * d

    def bias(e: torch.Tensor, *responses: torch.Tensor) -> torch.Tensor:
        return sum((_whole(x * e).abs() for x in responses), _whole(e.square())) * factor

    o_bias = bias(o, o_hot)
    dq_bias = bias(dq, scale * (ds_hot @ k), scale * (pd @ k))
    dk_bias = bias(dk_sum, sums(scale * (ds_hot.mT @ q)), sums(scale * (pd.mT @ q)))
    dv_bias = bias(dv_sum, sums(p_hot.mT @ do))

    dk_rounded, dv_rounded, dk_unit, dv_unit = sums(dk_rounded), sums(dv_rounded), sums(dk_unit), sums(dv_unit)
    if group > 1:
        # The CPU's kernel continues with the sums of the head before.
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
        norms = _whole(expected.square())
        more = _SECOND_ORDER
        return Bound(
            expected,
            fixed * more,
            rounded * more,
            bias / norms * more,
            own / 3 / norms.square() * more**2,
            unit / 3 / norms.square() * more**2,
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
    """Compare O, dQ, dK and dV, element by element and on the whole."""
    with one_thread():
        for (result, bound), actual in zip(bounds.items(), results):
            got = actual.detach().to("cpu", torch.float64)
            cases.compare(f"{name}, {result}", got, bound.expected, bound.allowed(form))
            if got.shape == bound.expected.shape:
                size = share(got, bound.expected)
                case = f"{name}, {result}, each head and lane as a share of what it should be"
                cases.compare(case, size, torch.ones_like(size), bound.allowed_on_the_whole(form))


@functools.lru_cache(None)
def rounds_scores(form: str) -> bool:
    """Whether torch's kernel for the CPU rounds Q K^T to the inputs' format: the head of this file says which does.

    Of two scores that differ by 1, the greater is halfway between two numbers of the format and is rounded to the
    smaller: a torch that keeps them in float32 answers 1 / (1 + 1/e) = 0.73, one that rounds them 0.5.
    """
    half = 1 / UNIT_ROUNDOFF[form]
    query, key, value = torch.zeros(3, 1, 1, 2, 32)
    query[..., 0], query[..., 1] = 16, 1
    key[..., 0], key[..., 0, 1], value[..., 0, :] = half / 16, 1, 1
    given = (x.to(getattr(torch, form)) for x in (query, key, value))
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
        found = torch.nn.functional.scaled_dot_product_attention(*given, scale=1.0)
    return bool((found - 0.5).abs().max() < 0.05)


#: References that more than one check compares with: the checks of a family run in one process.
_KNOWN: dict[tuple[t.Any, ...], tuple[Inputs, dict[str, Bound]]] = {}


def _expected(context: Context, case: Case, kernel: str = "") -> tuple[Inputs, dict[str, Bound]]:
    """Return the inputs of a case and the bounds, which are those of one kernel where it is named."""
    half, cpu = case.format in HALF, context.device == "cpu"
    rounds = half and cpu and kernel != "math" and rounds_scores(case.format)
    key = (half, case.mask, case.shape, cpu, rounds)
    if key not in _KNOWN:
        with one_thread():
            inputs = draw(context, case)
            _KNOWN[key] = inputs, reference(inputs, case.mask == "causal", half, cpu, rounds)
    return _KNOWN[key]


class _Arguments(t.NamedTuple):
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    gradient: torch.Tensor
    mask: torch.Tensor | None


def _arguments(case: Case, inputs: Inputs, device: str, strided: bool) -> _Arguments:
    """Put the inputs where they are needed; ``strided``: tokens before heads in memory, as models have them."""
    form = getattr(torch, case.format)

    def put(values: torch.Tensor) -> torch.Tensor:
        moved = values.to(device, form)
        return moved.transpose(1, 2).contiguous().transpose(1, 2) if strided else moved

    query, key, value = (put(x).requires_grad_() for x in (inputs.query, inputs.key, inputs.value))
    mask = inputs.mask
    if mask is not None:
        mask = mask.to(device) if mask.dtype == torch.bool else mask.to(device, form)
    return _Arguments(query, key, value, inputs.gradient.to(device, form), mask)


def _attend(case: Case, given: _Arguments) -> tuple[torch.Tensor, ...]:
    options = {"enable_gqa": True} if case.shape[1] != case.shape[2] else {}
    output = torch.nn.functional.scaled_dot_product_attention(
        given.query, given.key, given.value, attn_mask=given.mask, is_causal=case.mask == "causal", **options
    )
    return (output, *gradients(output, (given.query, given.key, given.value), given.gradient))


@contextlib.contextmanager
def _whole_float32() -> t.Iterator[None]:
    """Keep TF32 out, whatever an environment variable has set."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _offers(context: Context, backend: str, case: Case, given: _Arguments) -> bool:
    """Return what torch itself answers when it chooses a kernel; call it where that backend is chosen."""
    causal, grouped = case.mask == "causal", case.shape[1] != case.shape[2]
    if backend == "math":
        return True
    if context.device == "cpu":
        chosen = torch.nn.attention.SDPBackend.FLASH_ATTENTION
        # With the math kernel beside it, the question has an answer even where the kernel does not fit.
        with torch.nn.attention.sdpa_kernel([chosen, torch.nn.attention.SDPBackend.MATH]):
            answer = torch._fused_sdp_choice(
                given.query, given.key, given.value, given.mask, 0.0, causal, enable_gqa=grouped
            )
        return int(answer) == int(chosen.value)
    asked = torch.backends.cuda.SDPAParams(given.query, given.key, given.value, given.mask, 0.0, causal, grouped)
    return bool(getattr(torch.backends.cuda, f"can_use_{backend}_attention")(asked))


_OTHER_KERNEL = "until then select another kernel with torch.nn.attention.sdpa_kernel."
_REBUILD_CPU = (
    "Run it again with ATEN_CPU_CAPABILITY=default: if the result is then right, the code for this CPU's vector "
    "instructions is wrong, so build torch with another compiler, or use a stack with official wheels; if not, see the "
    "checks cpu.matmul.*;"
    f" {_OTHER_KERNEL}"
)
_NO_KERNEL = "Use a stack whose torch is built with it, or remove the check from the profile's required checks."

_WHAT = {
    "math": "attention by torch's math kernel",
    "efficient": "memory-efficient attention",
    "flash": "flash attention",
    "cudnn": "cuDNN's attention",
}
#: For a GPU: of "efficient" and "flash", what it has to be built for.
_REMEDY = {
    "math": "See the checks of family matmul first, since this kernel consists of matrix products; if they pass, use "
    "another stack.",
    "cudnn": "Use a stack with a newer cuDNN (before 9.15.1 it is wrong for lengths that are not multiples of 128), or "
    "turn"
    " this kernel off with torch.backends.cuda.enable_cudnn_sdp(False).",
}


def _remedy(context: Context, backend: str) -> str:
    """Return what to do about a wrong kernel, for the device that it computes on."""
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
def _with_the_known_trap() -> t.Iterator[None]:
    """Name what is known to make memory-efficient attention wrong on a Spark."""
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
    """Return why torch has no such kernel at all, where it says so."""
    if backend == "flash" and not torch.backends.cuda.is_flash_attention_available():
        return "This torch is built without flash attention."
    if backend == "cudnn" and not torch.backends.cudnn.is_available():
        return "This torch is built without cuDNN."
    if backend == "cudnn" and (torch.backends.cudnn.version() or 0) < 90000:
        return f"torch uses cuDNN for attention since 9.0, this is {torch.backends.cudnn.version()}."
    return None


def _backend(context: Context, backend: str, formats: t.Sequence[str] = FORMATS) -> Measured:
    """Compare one kernel over all that torch offers it for."""
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
    cases = Cases(_WHAT[backend], _remedy(context, backend))
    # cuDNN compiles a graph for each new shape, which takes longer than all the rest.
    planned = plan(formats, thin=backend == "cudnn" or not cuda, small=not cuda)
    if backend in ("flash", "cudnn") and cuda:
        planned = [case for case in planned if case.format in HALF]
    offered = 0
    without_plan = set()
    with _whole_float32(), torch.nn.attention.sdpa_kernel(kernel):
        for number, case in enumerate(planned):
            inputs, bounds = _expected(context, case, backend)
            given = _arguments(case, inputs, context.device, strided=bool(number % 2))
            if not _offers(context, backend, case, given):
                continue
            try:
                results = _attend(case, given)
            except RuntimeError as error:
                # torch's answer is too kind for some sizes above 128: cuDNN itself then has no plan for the graph.
                if backend == "cudnn" and case.shape[-1] > 128 and "execution plan" in str(error):
                    without_plan.add(case.shape[-1])
                    continue
                raise
            offered += 1
            compare(cases, str(case), case.format, bounds, results)
    if not offered:
        raise Unanswered(
            ABSENT,
            f"torch has {_WHAT[backend]} for none of {len(planned)} combinations of format, mask and head size here.",
            _NO_KERNEL,
            f"0 of {len(planned)} combinations",
            "at least one",
        )
    result = cases.result()
    result.measured += f"; offered for {offered} of {len(planned)} combinations"
    if not cuda and backend == "flash":
        result.measured += _said_of_rounding()
    if without_plan:
        result.measured += f"; cuDNN has no plan for head size {', '.join(map(str, sorted(without_plan)))}"
    return result


@check("attention.math", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def math_kernel(context: Context) -> Measured:
    """Attention made of matrix products, which every format and mask can use. The head of this file has the bounds."""
    return _backend(context, "math")


@check("attention.efficient", measured=SEEN, factor=1)
def efficient(context: Context) -> Measured:
    """Memory-efficient attention: the default for float32 and for masks. The head of this file has the bounds."""
    with _with_the_known_trap():
        return _backend(context, "efficient")


@check("attention.flash", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def flash(context: Context) -> Measured:
    """Flash attention: the default for 16 bit without a mask. The head of this file has the bounds."""
    return _backend(context, "flash")


@check("attention.cudnn", seconds=120, measured=SEEN, factor=1)
def cudnn(context: Context) -> Measured:
    """cuDNN's attention in bfloat16: the default on data centre GPUs. The head of this file has the bounds."""
    return _backend(context, "cudnn", ("bfloat16",))


@check("attention.cudnn_float16", seconds=120, measured=SEEN, factor=1)
def cudnn_float16(context: Context) -> Measured:
    """The same in float16, by itself: a core builds cuDNN's plans for one format in twenty seconds."""
    return _backend(context, "cudnn", ("float16",))


@check("attention.default", devices=("cuda", "cpu"), measured=SEEN_ARM, factor=1)
def default(context: Context) -> Measured:
    """Attention as models call it: torch chooses the kernel. Also without batches.

    The bounds hold for every kernel; the head of this file has them.
    """
    small = context.device == "cpu"
    cases = Cases("attention by the kernel that torch chooses", "See which other checks attention.* fail.")
    with _whole_float32():
        # Seven and the numbers of masks and sizes have no common factor, so that all occur.
        chosen = [*plan(FORMATS, small=small)[::7], Case("bfloat16", "none", (2, 2, 2, 33, 33, 80))]
        chosen.append(Case("float16", "causal", (2, 4, 2, 64, 64, 64)))
        for number, case in enumerate(chosen):
            inputs, bounds = _expected(context, case)
            given = _arguments(case, inputs, context.device, strided=not number % 2)
            compare(cases, str(case), case.format, bounds, _attend(case, given))
        case = Case("float32", "causal", (1, 2, 2, 40, 40, 32) if small else (1, 2, 2, 128, 128, 32))
        inputs, bounds = _expected(context, case)
        given = _arguments(case, inputs, context.device, strided=False)
        q, k, v = (x[0].detach().requires_grad_() for x in (given.query, given.key, given.value))
        flat = _Arguments(q, k, v, given.gradient[0], None)
        compare(cases, f"{case}, no batches", case.format, bounds, [x.unsqueeze(0) for x in _attend(case, flat)])
        return cases.result()


def _said_of_rounding() -> str:
    rounding = [form for form in HALF if rounds_scores(form)]
    return (
        f"; its BLAS has no product of {' and '.join(rounding)} in float32, so scores are rounded" if rounding else ""
    )


@check("attention.flash_package", measured=(H200_BUILT,), factor=1)
def flash_package(context: Context) -> Measured:
    """flash-attention's own package, also for sequences of several lengths in one tensor. Bounds: head of this file."""
    if importlib.util.find_spec("flash_attn") is None:
        raise Skipped("The package flash_attn is not installed.")
    if torch.cuda.get_device_capability(0) < (8, 0):
        raise Skipped("flash_attn needs compute capability 8.0.")
    try:
        package = importlib.import_module("flash_attn")
        plain, packed = package.flash_attn_func, package.flash_attn_varlen_func
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
            plain,
        )
        compare(cases, str(case), case.format, bounds, [x.transpose(1, 2) for x in results])
    for form in HALF:
        parts = [Case(form, "causal", (1, 2, 2, tokens, tokens, 64)) for tokens in (40, 128, 77)]
        known = [_expected(context, part) for part in parts]
        # A sequence's own place in the tensor is what its tokens before it add up to.
        starts = torch.tensor([0, 40, 168, 245], dtype=torch.int32, device=context.device)
        attend = functools.partial(packed, cu_seqlens_q=starts, cu_seqlens_k=starts, max_seqlen_q=128, max_seqlen_k=128)
        together = [
            torch.cat([getattr(inputs, name)[0].transpose(0, 1) for inputs, _unused in known])
            for name in ("query", "key", "value", "gradient")
        ]
        results = run(parts[0], together, attend)
        for part, (_unused, bounds), place in zip(parts, known, range(3)):
            cut = slice(int(starts[place]), int(starts[place + 1]))
            own = [x[cut].transpose(0, 1).unsqueeze(0) for x in results]
            compare(cases, f"packed, {part}", form, bounds, own)
    result = cases.result()
    result.measured += f"; flash_attn {getattr(package, '__version__', 'of unknown version')}"
    return result
