"""Compute scaled dot product attention and its gradients in float64, with bounds for the errors of a kernel.

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
  The memory-efficient kernel rounds scale dS: of a subnormal number, that takes more from a scale below 1.
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
the gradients to nearest. Each error is at most u times the rounded number or, near zero, half the smallest number,
has a variance of at most a third of the square of that, and is weighted by the derivative of <A, E>. The sum is
sub-Gaussian and exceeds six standard deviations with a probability below 4e-9. Errors of S, dP and the denominator of P
in float32 are treated in the same way, except that truncation shrinks all numbers by the same factor: its effect
through S and through D is computed and added. In bfloat16 the bound for a head is then about 0.5 per cent, and that
for a lane about 1.
"""

from __future__ import annotations

import functools
import math
import typing as t

from ..bounds import UNDERFLOW, UNIT_ROUNDOFF, Cases, one_thread, torch

#: The unit roundoff of float32 when it truncates instead of rounding to nearest.
_TRUNCATED = 2.0**-23
#: The error of a float32 product computed as three TF32 products.
_SPLIT_PRODUCT = 2.0**-20
_EXPONENTIAL = {False: 2.0**-19, True: 2.0**-13}
#: The numbers of queries and keys after which torch's CPU kernel rounds its sums of gradients.
CPU_BLOCKS = (32, 512)
#: The factor by which products of two errors increase every bound.
_SECOND_ORDER = 1 + 1 / 32


class Inputs(t.NamedTuple):
    """The inputs of attention: in float64, numbers that the tested format can represent, or in that format.

    :ivar scale: the factor of the scores, or None for the default.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    gradient: torch.Tensor
    mask: torch.Tensor | None
    scale: float | None = None


class Bound(t.NamedTuple):
    """One result of attention with its bounds.

    An element may be off by fixed + u rounded. A head, and each of its lanes, may be off by a share: bias + 2 u^2 sums
    + 6 sqrt(own + u^2 unit + s^2 small), where s is half the format's smallest number. Roundings are not independent of
    what they round: each of ``sums`` partial sums of a head shrank it by up to 2 u^2 (bfloat16, torch 2.13, on a CPU).
    Nor are those of ``blocks``, sums in the order of a CPU's kernel. Each but the first adds a block to a number of the
    format, so that its rounding error depends on the block alone: if all keys have nearly equal blocks, all sums are
    rounded in one direction. So are the results of queries that weigh all keys nearly equally.
    """

    expected: torch.Tensor
    fixed: torch.Tensor
    rounded: torch.Tensor
    bias: torch.Tensor
    own: torch.Tensor
    unit: torch.Tensor
    small: torch.Tensor
    sums: int
    blocks: t.Sequence[torch.Tensor]

    def allowed(self, form: str) -> torch.Tensor:
        """Return the allowed error of each element."""
        return self.fixed + UNIT_ROUNDOFF[form] * self.rounded + UNDERFLOW[form]

    def allowed_share(self, form: str) -> torch.Tensor:
        """Return the allowed excess of each head and each of its lanes, as a share of its value; 0 if unknown."""
        variance = self.own + UNIT_ROUNDOFF[form] ** 2 * self.unit + UNDERFLOW[form] ** 2 * self.small
        rounding = torch.zeros_like(self.expected)
        for before, after in zip(self.blocks, self.blocks[1:]):
            step = (2 * UNIT_ROUNDOFF[form] * after.abs().log2().floor().exp2()).clamp_min(2 * UNDERFLOW[form])
            block = (after - before) / step
            rounding += (block.round() - block) * step
        result = self.expected.to(getattr(torch, form)).double() - self.expected
        joint = _sums(rounding * self.expected).abs() + _sums(result * self.expected).abs()
        independent = self.bias + 2 * UNIT_ROUNDOFF[form] ** 2 * self.sums + 6 * variance.sqrt()
        return torch.where(independent > 0, independent + joint / _sums(self.expected.square()), 0.0)


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


class _Exact:
    """The values in the module's docstring, with an entry for each query head.

    :ivar product: the scores before the mask is added.
    :ivar top: the maximum of each row of scores.
    :ivar e_k: dK, summed over the query heads that share a key head and repeated for each of them; ``e_v`` is the same
        for dV.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.group = inputs.query.shape[1] // inputs.key.shape[1]
        q, do = inputs.query, inputs.gradient
        k, v = (x.repeat_interleave(self.group, 1) for x in (inputs.key, inputs.value))
        scale = inputs.scale or 1 / math.sqrt(q.shape[-1])
        mask = torch.zeros((), dtype=torch.float64) if inputs.mask is None else inputs.mask
        allowed = mask if mask.dtype == torch.bool else mask.isfinite()
        added = torch.zeros((), dtype=torch.float64) if allowed is mask else mask.masked_fill(~allowed, 0.0)
        self.q, self.k, self.v, self.do, self.scale, self.allowed, self.added = q, k, v, do, scale, allowed, added
        self.product = scale * (q @ k.mT)
        self.s = self.product + added
        visible = self.s.masked_fill(~allowed, -math.inf)
        # A query that sees no key has the result zero.
        self.top = visible.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
        self.p = p = torch.softmax(visible, -1).nan_to_num()
        self.o = p @ v
        self.dp = do @ v.mT
        self.d = (do * self.o).sum(-1, keepdim=True)
        self.ds = p * (self.dp - self.d)
        self.dq, self.dk, self.dv = scale * (self.ds @ k), scale * (self.ds.mT @ q), p.mT @ do
        self.dk_sum, self.dv_sum = self.sums(self.dk), self.sums(self.dv)
        self.e_k, self.e_v = (x.repeat_interleave(self.group, 1) for x in (self.dk_sum, self.dv_sum))

    def sums(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum the contributions of the query heads that share a key head."""
        return tensor.unflatten(1, (-1, self.group)).sum(2)


class _Errors:
    """The errors of a kernel's scores and of its dP, and the numbers that it rounds.

    :ivar scores: the error of S in float32, with that of the exponential.
    :ivar rounded_scores: the error of a product Q K^T that is rounded to the inputs' format, in units of u.
    :ivar dp: the error of dP in float32.
    :ivar dq_parts: dQ and its partial sums; ``dk_parts`` and ``dv_parts`` are the same for dK and dV.
    """

    def __init__(self, x: _Exact, half: bool, cpu: bool, rounds: bool) -> None:
        self.half, self.extra = half, float(rounds)
        size, value_size = x.q.shape[-1], x.v.shape[-1]
        self.scores = (
            self.sum_of(size + 8) * x.scale * (x.q.abs() @ x.k.abs().mT)
            + 4 * _TRUNCATED * (x.s.abs() + x.added.abs() + x.top.abs())
            + _EXPONENTIAL[half]
        )
        self.rounded_scores = self.extra * x.product.abs()
        self.dp = self.sum_of(value_size + 4) * (x.do.abs() @ x.v.abs().mT)
        self.dq_parts, self.dk_parts, self.dv_parts = [x.dq], [x.dk], [x.dv]
        if half and cpu:
            self.dq_parts += _partial_sums(x.scale * x.ds, x.k, CPU_BLOCKS[1])
            self.dk_parts += _partial_sums(x.scale * x.ds.mT, x.q, CPU_BLOCKS[0])
            self.dv_parts += _partial_sums(x.p.mT, x.do, CPU_BLOCKS[0])

    def blocks(self, x: _Exact, parts: t.Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Return partial sums in the order in which torch's CPU kernel stores them, one head of a group after another.

        It adds blocks of 64 queries if there are 192 or more, and of 256 if there are 768.
        """
        queries = x.q.shape[-2]
        step = 1 if queries < 192 else 2 if queries < 768 else 8
        heads = [part.unflatten(1, (-1, x.group)) for part in [*parts[step::step], parts[0]]]
        before = heads[-1].cumsum(2) - heads[-1]
        return [(before + part)[:, :, head] for head in range(x.group) for part in heads]

    def sum_of(self, length: int) -> float:
        """Return the relative error of a sum, which the module's docstring calls g."""
        return length * _TRUNCATED / (1 - length * _TRUNCATED) + (0.0 if self.half else _SPLIT_PRODUCT)


def _element_bounds(x: _Exact, errors: _Errors) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return the errors of each element of O, dQ, dK and dV: those of float32 numbers, and those in units of u."""
    half, extra, g, e, dp_fixed = errors.half, errors.extra, errors.sum_of, errors.scores, errors.dp
    p, dp, d, allowed, scale = x.p, x.dp, x.d, x.allowed, x.scale
    aq, ak, av, ado = x.q.abs(), x.k.abs(), x.v.abs(), x.do.abs()
    queries, keys, size = x.q.shape[-2], x.k.shape[-2], x.v.shape[-1]
    # A kernel may flush subnormal exponentials to zero.
    smallest = UNDERFLOW["float16"] if half else 2.0**-126

    relative = (e + (p * e).sum(-1, keepdim=True) + g(keys + 4)) * allowed
    p_fixed = p * relative + smallest * allowed
    e_product = errors.rounded_scores
    p_rounded = (p if half else torch.zeros_like(p)) + p * (e_product + (p * e_product).sum(-1, keepdim=True))

    o_fixed = p_fixed @ av + g(keys + 4) * (p @ av) + smallest
    o_rounded = p_rounded @ av + (1 + extra) * x.o.abs()

    d_fixed = (ado * (o_fixed + g(size + 4) * x.o.abs())).sum(-1, keepdim=True)
    d_fixed = d_fixed + (p * dp.abs() * (relative + g(keys + 4)) + p * dp_fixed).sum(-1, keepdim=True)
    d_rounded = (ado * o_rounded).sum(-1, keepdim=True)

    ds_fixed = p_fixed * (dp - d).abs() + smallest * max(1.0, 1 / scale) * allowed
    ds_fixed = ds_fixed + p * (dp_fixed + d_fixed + _TRUNCATED * (dp.abs() + d.abs()))
    ds_rounded = p_rounded * (dp - d).abs() + p * (d_rounded + extra * dp.abs()) + (x.ds.abs() if half else 0.0)

    dq_fixed = scale * ((ds_fixed + g(keys + 4) * x.ds.abs()) @ ak) + smallest
    dk_fixed = scale * ((ds_fixed + g(queries + 4) * x.ds.abs()).mT @ aq) + smallest
    dv_fixed = (p_fixed + g(queries + 4) * p).mT @ ado + smallest
    dq_rounded = sum((part.abs() for part in errors.dq_parts), scale * (ds_rounded @ ak))
    dk_rounded = sum((part.abs() for part in errors.dk_parts), scale * (ds_rounded.mT @ aq))
    dv_rounded = sum((part.abs() for part in errors.dv_parts), p_rounded.mT @ ado)
    return (
        [o_fixed, dq_fixed, x.sums(dk_fixed), x.sums(dv_fixed)],
        [o_rounded, dq_rounded, x.sums(dk_rounded), x.sums(dv_rounded)],
    )


def _of_parts(parts: t.Sequence[torch.Tensor], e: torch.Tensor) -> torch.Tensor:
    """Return the variance of <sum of parts, E> when the parts are rounded."""
    return _sums(torch.stack([(x * e).square() for x in parts]).sum(0))


def _of_product(left: torch.Tensor, right: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """Return the variance of <left right, E> when the elements of ``left`` are rounded."""
    head = (left * (e @ right.mT)).square().sum((-1, -2))
    lanes = (e.square() * (left.square() @ right.square())).sum(-2)
    return torch.cat([head.unsqueeze(-1), lanes], -1)


def _of_rows(variance: torch.Tensor, lanes: torch.Tensor) -> torch.Tensor:
    """Return the variance of the sum over queries of ``lanes`` times an error with this variance."""
    head = variance * lanes.sum(-1, keepdim=True).square()
    return torch.cat([head.sum(-2), (variance * lanes.square()).sum(-2)], -1)


def _score_variances(x: _Exact, e: torch.Tensor, dp_off: torch.Tensor) -> list[torch.Tensor]:
    """Return the variances from errors of S and dP, one per element, and of P's denominator, one per row."""
    pe = x.p * e
    fraction = pe.square().sum(-1, keepdim=True)
    of_d = (pe * (x.dp - x.d)).square().sum(-1, keepdim=True)
    of_ds = x.scale * ((x.ds * e).square() + (x.p * dp_off).square()).sqrt()
    return [
        _of_product(pe, x.v, x.o) + _of_rows(fraction, x.o * x.o),
        _of_product(of_ds, x.k, x.dq) + _of_rows(fraction, x.dq * x.dq) + _of_rows(of_d, x.scale * (x.p @ x.k) * x.dq),
        _of_product(of_ds.mT, x.q, x.e_k)
        + _of_rows(fraction, x.scale * (x.ds @ x.e_k) * x.q)
        + _of_rows(of_d, x.scale * (x.p @ x.e_k) * x.q),
        _of_product(pe.mT, x.do, x.e_v) + _of_rows(fraction, (x.p @ x.e_v) * x.do),
    ]


def _rounding_variances(x: _Exact, errors: _Errors) -> list[torch.Tensor]:
    """Return the variances from numbers that are rounded to the inputs' format, in units of u."""
    extra = errors.extra
    rows = (1 + extra) * (x.do * x.o).square().sum(-1, keepdim=True)
    o_unit, dq_unit = (1 + extra) * _of_parts([x.o], x.o), _of_parts(errors.dq_parts, x.dq)
    dk_unit, dv_unit = _of_parts(errors.dk_parts, x.e_k), _of_parts(errors.dv_parts, x.e_v)
    if errors.half:
        # P is rounded in the forward pass, and again in the backward pass for dV and, in some kernels, for dS.
        rows = rows + (x.p * x.dp).square().sum(-1, keepdim=True)
        o_unit = o_unit + _of_product(x.p, x.v, x.o)
        dq_unit = dq_unit + 2 * _of_product(x.scale * x.ds, x.k, x.dq)
        dk_unit = dk_unit + 2 * _of_product(x.scale * x.ds.mT, x.q, x.e_k)
        dv_unit = dv_unit + _of_product(x.p.mT, x.do, x.e_v)
    dq_unit = dq_unit + _of_rows(rows, x.scale * (x.p @ x.k) * x.dq)
    dk_unit = dk_unit + _of_rows(rows, x.scale * (x.p @ x.e_k) * x.q)
    units = [o_unit, dq_unit, dk_unit, dv_unit]
    if extra:
        score_variances = _score_variances(x, errors.rounded_scores, x.dp.abs())
        units = [unit + variance for unit, variance in zip(units, score_variances)]
    return units


def _small_variances(x: _Exact) -> list[torch.Tensor]:
    """Return the variances if P, dS and the results are rounded to multiples of 1."""
    ones = torch.ones_like(x.p)
    scaled = max(1.0, x.scale) * ones
    return [
        _sums(x.o.square()) + _of_product(ones, x.v, x.o),
        _sums(x.dq.square()) + _of_product(scaled, x.k, x.dq),
        _sums(x.e_k.square()) + _of_product(scaled.mT, x.q, x.e_k),
        _sums(x.e_v.square()) + _of_product(ones.mT, x.do, x.e_v),
    ]


def _biases(x: _Exact, factor: float) -> list[torch.Tensor]:
    """Return the effect of a truncation that shrinks S, and D in relation to dP, by a factor."""
    p_hot = x.p * (x.s - (x.p * x.s).sum(-1, keepdim=True))
    o_hot = p_hot @ x.v
    ds_hot = p_hot * (x.dp - x.d) - x.p * (x.do * o_hot).sum(-1, keepdim=True)
    pd = x.p * x.d

    def bias(e: torch.Tensor, *responses: torch.Tensor) -> torch.Tensor:
        return sum((_sums(response * e).abs() for response in responses), _sums(e.square())) * factor

    return [
        bias(x.o, o_hot),
        bias(x.dq, x.scale * (ds_hot @ x.k), x.scale * (pd @ x.k)),
        bias(x.dk_sum, x.sums(x.scale * (ds_hot.mT @ x.q)), x.sums(x.scale * (pd.mT @ x.q))),
        bias(x.dv_sum, x.sums(p_hot.mT @ x.do)),
    ]


def reference(inputs: Inputs, half: bool, cpu: bool, rounds: bool = False, heads: bool = True) -> dict[str, Bound]:
    """Compute attention, its gradients and the bounds derived in the module's docstring, in float64.

    :param half: whether the bounds are for 16-bit inputs.
    :param cpu: whether the bounds are for torch's CPU kernel.
    :param rounds: whether the kernel rounds S, dP and P V; see :func:`rounds_scores`.
    :param heads: whether to compute the bounds for heads and lanes, which takes most of the time.
    """
    x = _Exact(inputs)
    errors = _Errors(x, half, cpu, rounds)
    fixed, rounded = _element_bounds(x, errors)
    queries, keys, size = x.q.shape[-2], x.k.shape[-2], x.q.shape[-1]
    biases = own = unit = small = [torch.zeros((), dtype=torch.float64)] * 4
    if heads:
        own, unit = _score_variances(x, errors.scores, errors.dp), _rounding_variances(x, errors)
        biases = _biases(x, errors.sum_of(queries + keys + size + x.v.shape[-1]))
        small = _small_variances(x) if half else [torch.zeros_like(part) for part in own]
        for parts in (own, unit, small):
            parts[2:] = map(x.sums, parts[2:])
    if x.group > 1:
        # The CPU kernel continues with the sums of the previous head.
        blocks = math.ceil(queries / CPU_BLOCKS[0]) if half and cpu else 0
        for number, gradient, total in ((2, x.dk, x.dk_sum), (3, x.dv, x.dv_sum)):
            parts = [total] + [x.sums(gradient.abs())] * blocks
            rounded[number] = rounded[number] + torch.stack(parts).abs().sum(0)
            if heads:
                unit[number] = unit[number] + _of_parts(parts, total)

    bounds, sums = {}, ([x.o], errors.dq_parts, errors.dk_parts, errors.dv_parts)
    expected = {"forward O": x.o, "backward dQ": x.dq, "backward dK": x.dk_sum, "backward dV": x.dv_sum}
    for number, (name, exact) in enumerate(expected.items()):
        norms = _sums(exact.square())
        bounds[name] = Bound(
            exact,
            fixed[number] * _SECOND_ORDER,
            rounded[number] * _SECOND_ORDER,
            biases[number] / norms * _SECOND_ORDER,
            own[number] / 3 / norms.square() * _SECOND_ORDER**2,
            unit[number] / 3 / norms.square() * _SECOND_ORDER**2,
            small[number] / 3 / norms.square(),
            x.group * len(sums[number]) if heads else 0,
            errors.blocks(x, sums[number]) if heads and half and cpu and number > 1 else (),
        )
    return bounds


def compare(
    cases: Cases, name: str, form: str, bounds: t.Mapping[str, Bound], results: t.Sequence[torch.Tensor]
) -> None:
    """Compare each element of O, dQ, dK and dV, and each head that has bounds."""
    with one_thread():
        for (result, bound), actual in zip(bounds.items(), results):
            computed = actual.detach().to("cpu", torch.float64)
            cases.compare(f"{name}, {result}", computed, bound.expected, bound.allowed(form))
            if computed.shape == bound.expected.shape:
                # A share of nearly nothing, such as of dQ with a single key, has no bound.
                allowed = bound.allowed_share(form)
                has_bound = (allowed > 0) & (allowed < 1)
                shares = share(computed, bound.expected).masked_fill(~has_bound, 1.0)
                case = f"{name}, {result}, each head and lane as a share of what it should be"
                cases.compare(case, shares, torch.ones_like(shares), allowed.nan_to_num(1.0))


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
