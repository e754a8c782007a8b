"""The programs that ``compiled`` compiles: tables of expressions, with the line of a table as a program.

The programs of a table share their inputs, so that the compiler fuses what reads the same numbers, and one kernel holds
dozens of functions. For what the tables meet in the compiler, see ``proof/tests/mechanisms.yml``.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing as t

from . import compositions, expressions
from .rounding import seed_of, spacing

if t.TYPE_CHECKING:
    import torch

#: Functions of single numbers. Each line is one program; ``x`` and ``y`` are normally distributed.
FUNCTIONS = """
x.sin(); x.cos(); (x * 0.4).tan(); (x * 0.2).asin(); (x * 0.2).acos(); x.atan(); torch.atan2(x, y); torch.hypot(x, y)
x.sinh(); x.cosh(); x.tanh(); x.asinh(); (x.abs() + 1.25).acosh(); (x * 0.2).atanh(); x.sigmoid(); F.logsigmoid(x)
x.exp(); x.exp2(); x.expm1(); (x * x + 1).log(); (x * x + 1).log2(); (x * x + 1).log10(); x.abs().log1p()
torch.logaddexp(x, y); torch.logaddexp2(x, y); torch.xlogy(x, y * y + 1); x.square(); x.pow(3); x**-2; 2.0**x; x.sinc()
(x * x + 0.5).sqrt(); (x * x + 0.5).rsqrt(); (x + 8).reciprocal(); (x * x + 0.5) ** y; (x * x + 0.5) ** 0.3
1 / (x + 8); x / (y * y + 0.5); x.erf(); x.erfc(); (x * 0.2).erfinv(); (x.abs() + 0.5).lgamma()
x.logit(0.25); x + 2 * y; x.add(y, alpha=-0.5); x.sub(y, alpha=0.5); torch.rsub(x, y)
torch.addcmul(x, x, y, value=0.3); x * y + y; torch.addcdiv(x, y, y * y + 1, value=-0.5); x.lerp(y, 0.7)
x.lerp(y, y.sigmoid()); torch.maximum(x, y); x.fmod(y.abs() + 8); F.gelu(x); F.gelu(x, approximate="tanh"); F.silu(x)
F.mish(x); F.softplus(x, 2, 3); F.elu(x, 0.7); F.selu(x); F.celu(x, 1.3); F.hardtanh(x, -0.5, 0.75); F.hardsigmoid(x)
F.hardswish(x); F.hardshrink(x, 0.4); F.softshrink(x, 0.4); F.tanhshrink(x); F.softsign(x); F.relu6(x * 4)
F.leaky_relu(x, -0.1); F.threshold(x, 0.25, -3.0); F.prelu(x, y[0, :1]); x.clamp(-1, 0.5); x.clamp_min(y)
x.clamp(max=y); x.copysign(y); x.abs() * x.sign(); torch.where(x > y, x, -y); x.deg2rad()
x + x.new_tensor(0.375); 3 - x; x * (y > 0); (x > y).to(x.dtype) * 2; x * True; torch.ldexp(x, (y * 0).long() + 3)
"""
#: Functions for which torch has no code in 16 bits.
SPECIAL = """
torch.special.ndtr(x); torch.special.log_ndtr(x); torch.special.erfcx(x); torch.special.i0(x); torch.special.i0e(x)
torch.special.i1(x); torch.special.i1e(x); torch.special.bessel_j0(x); torch.special.bessel_j1(x); x.sigmoid().logit()
torch.special.entr(x * x); torch.special.xlog1py(x, y * y); (x.abs() + 0.5).digamma()
torch.polygamma(1, x.abs() + 0.5); torch.special.modified_bessel_i0(x); torch.special.modified_bessel_i1(x)
torch.special.modified_bessel_k0(x * x + 1); x.float_power(2); x.detach().nextafter(y.detach()); x.frexp()
torch.special.ndtri(x.sigmoid() * 0.5 + 0.25); x.double().sin(); x.angle(); torch.complex(x, y) * torch.complex(y, x)
torch.view_as_real(torch.polar(x.abs() + 1, y)); torch.complex(x, y).abs()
"""
#: Reductions and scans; ``D`` is each of the two dimensions.
REDUCTIONS = """
x.sum(D); x.mean(D, keepdim=True); x.amax(D); x.amin(D); torch.var_mean(x, D); x.std(D, correction=0); x.logsumexp(D)
x.softmax(D); x.log_softmax(D); F.softmin(x, D); (x - x.amax(D, keepdim=True)).exp().sum(D)
x.sub(x.mean(D, True)).square(); x.norm(dim=D); torch.linalg.vector_norm(x, 1, D); torch.linalg.vector_norm(x, 3, D)
torch.linalg.vector_norm(x, math.inf, D); (x > y).sum(D); (x > 4).any(D); (x < 4).all(D); x.nansum(D); (x * y).sum(D)
x.abs().sum(D).sqrt(); (x.square() * y).mean(D); (x.tanh() * 0.01 + 1).narrow(D, 0, 3).prod(D); F.normalize(x, dim=D)
x / x.abs().amax(D, True); (x + y).sum(D, True) - y.sum(D, True); x.narrow(D, 0, 3).cumsum(D)
(x.narrow(D, 1, 2) * 0.1).logcumsumexp(D); (x > y).cumsum(D); (x * 0.1 + 1).narrow(D, 0, 3).cumprod(D)
"""
#: Reductions of all numbers, and those of the last dimension alone.
TOTALS = """
x.sum(); x.mean(); x.std(); x.var(); x.amax(); x.amin(); x.norm(); (x * y).sum(); (x - y).square().mean()
x.abs().max(); F.layer_norm(x, x.shape[-1:]); F.layer_norm(x + y, x.shape[-1:], y[0], y[-1]) * 2 + x
F.rms_norm(x, x.shape[-1:], y[0], 1e-5); F.layer_norm(F.layer_norm(x, x.shape[-1:], y[0]) + y, x.shape[-1:], y[0])
x.softmax(-1).matmul(y.t()[:, :2]); F.cross_entropy(x, i[:1] % x.shape[1] + x.new_zeros(x.shape[0]).long())
F.nll_loss(x.log_softmax(-1), i.new_ones(len(x))); F.cross_entropy(x, y.softmax(-1))
F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"); F.mse_loss(x, y); F.l1_loss(x, y)
F.smooth_l1_loss(x, y, beta=0.3); F.huber_loss(x, y, delta=0.7); F.binary_cross_entropy_with_logits(x, y.sigmoid())
F.soft_margin_loss(x, y.detach().sign()); F.poisson_nll_loss(x * 0.1, y.abs()); F.cosine_similarity(x, y, 1)
x[:9, :9].trace(); [(z := x.new_full(x.shape, 2.0)), custom.scale_(z, 3), (z * x).mean(1)][-1]
F.adaptive_avg_pool1d(x[None, :9], 1501)[0].sum(1)
"""
#: Copies of numbers: views, joins, parts, padding, and selections by index. Each result must be exact.
COPIES = """
torch.cat([x[:, :5], x[:, 5:]], 1); torch.cat([x, x * 2, y], 1); torch.cat([y[:1], x, x[:0]], 0)
torch.cat([x.long(), x], 1); torch.cat([z * k for k, z in enumerate(x.split(3, 1))], 1)
torch.cat(x.unbind(1)[::-1], -1); torch.stack(x.unbind(0)[::-1], 1)
torch.stack([x[:, :3].abs(), x[:, 1:4].neg(), x[:, 2:5] * 2], 1); torch.cat([torch.cat([x, y], 1)[:, 3:-2], x > y], 1)
torch.cat([torch.where(torch.cat([x > 0, y > 0], 1), 2.0, torch.cat([y, x], 1)), x], 1); torch.hstack([x, y])[:, ::3]
torch.cat(torch.cat([x, y], 1).split([x.shape[1], x.shape[1]], 1)[::-1], 1)
[z.squeeze(1) * 2 for z in x[:, :4].split(1, 1)]; torch.stack([z.squeeze(1) for z in x[:, :4].split(1, 1)], 1)
[z.relu() for z in x.chunk(4, 1)]; x.tensor_split([2, 3], 1); F.pad(x, (1, 2, 3, 0)); F.pad(x, (-1, 2), value=3.0)
F.pad(x[None], (2, 3), "reflect"); F.pad(x[None], (2, 0), "replicate"); F.pad(x[None], (3, 1), "circular")
F.pad(torch.cat([x, y], 1) * 2, (1, 1)); torch.constant_pad_nd(x.relu(), (0, 0, 1, 1), -1); x[:, i]; x[:, -1 - i]
x[i[:3] % len(x)]; x[(i % len(x))[:4], i[:4]]; x.gather(1, i.expand(x.shape)); x[:, i[:, None] * 0 + 1]; x.take(i)
x.index_select(0, i % len(x)); F.embedding(i % len(x), x); x.take_along_dim(i[None], 1); F.one_hot(i % 5, 5)
F.embedding_bag(i[:6] % len(x), x, i.new_tensor([0, 2, 2]), mode="max"); x.roll((1, -2), (0, 1)); x.rot90()
x.flip(0, 1); x[::2, 1::3]; x[1:, None, :-1]; x.diagonal(1); x.tril(-1); x.triu(1); x.unfold(1, 4, 3)
x.as_strided((3, 4), (2, 5), 1); x.repeat(2, 3); x.repeat_interleave(2, 0); x.expand(2, *x.shape) * 2
x.t().reshape(-1)[3:-2]; x.t().contiguous(); x.mT[None]
x.view(-1)[1:-1].unflatten(0, (-1, 2))[::3] if x.numel() % 2 == 0 else x[0]; x.movedim(0, 1).clone()
x.kron(y[:1, :2]).relu(); x.index_fill(1, i[:2], 0.5); x.index_copy(1, i.argsort(stable=True), y)
x.scatter(1, i.expand(x.shape), 2.0); x.masked_fill(y > 0, -1); x.select_scatter(y[0], 0, 1)
x.slice_scatter(y[:, 2:], 1, 2); x.slice_scatter(y[:, :2], 1, 0, 4, 2); x.diagonal_scatter(y.diagonal())
x.masked_scatter(y > 0, y); torch.meshgrid(x[0], y[:, 0], indexing="ij"); torch.tril_indices(4, 5, device=x.device)
x.where(y > 0, 2)
"""
#: Writes into a copy, and sums at indices of which some are equal.
WRITES = """
x.index_add(1, i, y, alpha=2); x.index_add(0, i % len(x), y[0, :, None] * y[:1])
x.scatter_add(1, i.expand(x.shape), y); x.index_put((i % len(x), i), y[0], accumulate=True)
x.index_put((i[:2] % len(x),), y[:2], accumulate=True); x.put(i, y[0], True)
x.scatter_reduce(1, i.expand(x.shape), y, "amax")
x.scatter_reduce(1, i.expand(x.shape), y, "amin", include_self=False)
x.scatter_reduce(1, i.expand(x.shape), y, "mean", include_self=False)
x.scatter_reduce(1, i[:3].expand(len(x), 3), y[:, :3], "prod"); x.index_reduce(1, i[:4] + 0, y[:, :4], "amax")
(y.new_zeros(3, x.shape[1]).index_add(0, i[:2] % 3, y[:2].square()) + 1).reciprocal()
x / (x.new_ones(1, x.shape[1]).index_add(0, i.new_zeros(len(x)), y.square()))
F.embedding_bag(i[:6] % len(x), x, i[:1] * 0); write(x, lambda z: z.add_(y))
write(x, lambda z: z[1:].add_(z[:-1].clone())); write(x, lambda z: z.copy_(z.flip(1))).sum(0)
write(x, lambda z: z[:, i[:3]].add_(5)); write(x, lambda z: z.__setitem__(i % len(x), z[i % len(x)] * 2))
x.clone().zero_() + y; write(x, lambda z: z.__setitem__(z > 1, 0.25))
write(x, lambda z: z.__setitem__((slice(None), i[:1]), y[:, :1])) * 2
write(x, lambda z: z.unflatten(1, (1, -1)).transpose(0, 2).mul_(2)); x.clone().t().add_(1)
write(x, lambda z: [z[k].mul_(k).add_(z[k - 1]) for k in (1, 2, 0)]); write(x, lambda z: z.view(-1).cumsum_(0)) * 0.01
write(x, lambda z: z.scatter_(1, i[:1].expand(len(x), 1), 7).neg_()).amax(1)
write(y, lambda z: z.t().copy_(x.t().sin())); [(z := x * 2), z.add_(1), z.mul_(y), z.t()][-1]
[(z := x.clone()), (v := z[1:]), z.mul_(3), v + 1][-1]; x.index_add(1, i, y) * 0.5
[(z := x.clone()), (w := z.view_as(z)), w.neg_(), z.abs_(), w * 2][-1]
torch.sum(x.new_zeros(x.shape).index_add(1, i, y), 1)
"""
#: Operations that a compiler may remove or compute in advance, on whole numbers, halves, NaN, infinities and zeros.
FOLDS = """
x + 0; x - 0; x * 1; x / 1; x - x; x / x; 0 - x; -(-x); x**1; x**0; x + (-x); x * -1; x.abs().abs(); --x; x.neg().abs()
x + torch.zeros_like(x); x * torch.ones_like(x); x + torch.full_like(x, 0.5); x.new_full((3, 4), 2).cumsum(1) + 1
x.sigmoid() == 1; torch.ones(3, 5, device=x.device, dtype=x.dtype).cumsum(0); torch.arange(7, device=x.device) * 3 + 1
torch.eye(4, device=x.device); torch.full((3,), 2, device=x.device).cumsum(0)
torch.arange(0, 1, 0.25, device=x.device, dtype=x.dtype); x[:]; x[0:99999]; torch.where(x > y, x, x)
torch.where(x == x, 1.0, 0.0); x.masked_fill(x != x, 0); x.clamp(-1, 1).clamp(-2, 2); x.relu().relu()
x.minimum(y).maximum(y); x.clamp(2, -2); x.clamp(min=-math.inf); x.maximum(x); (x > y) == ~(x <= y)
(x < y) | (x >= y) | x.isnan(); x.float().double().float(); x.to(x.dtype); x.double() + 0.1
x.nan_to_num(0, 3, 3).long().to(x.dtype); x.isnan(); x.isinf(); x.isfinite(); x.sign(); x.signbit()
x.nan_to_num(1, 2, -2); x == y; x != y; x.logical_not(); x.bool(); x.relu(); F.relu6(x); F.hardtanh(x)
F.leaky_relu(x, 0.5); F.threshold(x, 0, 5); x.clamp(-1, 1); x.clamp_max(y); x.fmin(y); x.maximum(y); x.minimum(y)
x.amax(1); x.amin(0); x.argmax(1); x.argmin(0); x.max(1); x.min(0); torch.aminmax(x, dim=1); x.max(); x.argmin()
x.sort(dim=1, stable=True); x.sort(dim=0, descending=True, stable=True); x.cummax(1)[0]; x.cummin(0)[0]
x[1:].sum(1).isnan(); x.any(1); x.all(0); x.count_nonzero(0); x.fmax(y); torch.isclose(x, y); x.floor(); x.ceil()
x.round(); x.trunc(); x.frac(); x // 2; x // -0.5; x % 3; x % -3; x.fmod(3); x / 0; x.div(2, rounding_mode="trunc")
x / 3 > 1; signs(x + 0); signs(x * -1); signs(-x); signs(x.relu()); signs(x.trunc()); signs(x.abs())
signs(x.copysign(y)); signs(0 - x); signs(x.view(bits(x)).view(x.dtype))
(x.view(bits(x)) ^ torch.iinfo(bits(x)).min).view(x.dtype); ((x * 2).view(bits(x)) + 0).view(x.dtype)
x.to(torch.float16) * 2; x.clamp(-3, 3).nan_to_num(0).to(torch.int8); x.nan_to_num(0, 3, -3).to(torch.int16) + 1
x.nan_to_num(9, 8, 7).abs().to(torch.uint8)
"""
#: Operations on integers, for each of their formats; ``x`` and ``y`` contain the limits of the narrowest format.
WHOLE_NUMBERS = """
x + y; x - y; x * y; -x; x.abs(); x.square(); x + 1; 3 - x; x * 100; ~x; x & y; x | y; x ^ y; x << 1; x << (y & 7)
x >> 1; x >> (y & 7); x // (y % 5 + 2); x // 3; x % 3; x % (y % 5 + 2); x.fmod(y % 5 + 2)
torch.div(x, 3, rounding_mode="trunc"); x / 4; x * 0.5; x + 0.25; x > y; x <= y; x == y; x.clamp(1, 99); x.minimum(y)
x.maximum(y); x.sign(); x.bool(); x.float() * 2; torch.where(x > y, x, y); x**2; x**3; x.sum(1)
x.sum(0, dtype=x.dtype); x.amax(1); x.amin(0); x.argmax(1); x.argmin(0); x.max(0); x.min(1); x.prod(1, dtype=x.dtype)
x.any(0); (x > 3).sum(1); (x != 3).all(1); x.cumsum(1); x.cumsum(0, dtype=x.dtype); (x & 63).float().mean(0)
x.sort(1)[0]; x.cummax(1)[0]; x.index_add(1, i, y); x.scatter_add(1, i.expand(x.shape), y); x.long() * 3
x.to(torch.int32) * y.to(torch.int32); (x + y).long(); (x + y).int(); x.t().contiguous(); torch.cat([x, y], 1)[:, 1:]
torch.arange(x.shape[1], device=x.device) * (x.long() * 10**9); F.pad(x, (1, 2), value=7); x[:, i]; x.bitwise_xor(5)
torch.bitwise_left_shift(x.long(), 6 if x.is_cuda else 66); x.bitwise_not(); torch.gcd(x & 63, (y & 63) + 1); x.sum()
x.amax(); x.amin(); x.argmax(); (x + y).amin(1); x.to(torch.int8); x.to(torch.uint8); x.to(torch.int16)
x.to(torch.bool)
"""
#: Products; ``x`` and ``y`` are matrices, and ``q`` to ``m`` queries, keys, values of four heads, and a mask.
PRODUCTS = """
x @ y.t(); x.t() @ y; (x @ y.t()).relu(); (x @ y.t() * 0.5 + 1).sigmoid(); x @ y.t() + y @ x.t(); (x @ y.t()).t() @ x
x[:1] @ y.t(); x @ y[:1].t(); x[:, :1] @ y[:1]; x[:1, :1] * y; x[None] @ y.t()[None]; x @ y[0]; x[0] @ y[0]
torch.outer(x[0], y[0]); x.mv(y[0]); torch.addmm(y[0, :3], x, y.t()[:, :3])
torch.addmm(x, x, x.t() @ y, beta=0.5, alpha=2); torch.baddbmm(x[None], x[None], (x.t() @ y)[None]); F.linear(x, y)
F.linear(x, y, y[:, 0]).relu() * 2; F.gelu(F.linear(x[None], y, y[:, 1]))
F.linear(x, y[:5]) + F.linear(x, y[:5], y[:5, 0]); [F.linear(x, w) for w in y.split(3)]
torch.cat([F.linear(x, y), x], 1); F.linear(torch.cat([x, y], 1), torch.cat([y, x], 1)); x.t()[1:] @ y
torch.bmm(x.unflatten(1, (-1, 4)).transpose(0, 1), y.unflatten(1, (-1, 4)).permute(1, 2, 0))
torch.einsum("ij,kj->ki", x, y).softmax(-1); torch.einsum("bij,bkj->bik", q[0], k[0]); torch.matmul(q, k.mT)[:, ::2]
q.transpose(1, 2).flatten(2) @ q.new_ones(q.shape[1] * q.shape[3], 3); x.t() @ y @ x.t() * 0.1; cast(x, F.linear, x, y)
F.linear(x, y.trunc().repeat(2, 1)[:33].to(torch.int8).to(x.dtype)) * 0.5
[(s := y[:6].chunk(6)), *[x := (norm(x) * (1 + s[k]) + s[k + 1]) * s[k + 2] for k in (0, 3)]][-1]
"""
#: Attention in the forms that the compiler replaces by one operator, and in others.
ATTENTION = """
(q @ k.mT / 4).softmax(-1) @ v; (q @ k.mT * 0.25).softmax(dim=-1) @ v; (q @ k.mT / 2 + m).softmax(-1) @ v
(q @ k.mT + m).softmax(-1) @ v; torch.bmm(torch.bmm(q[0], k[0].mT).softmax(-1), v[0])
(q @ (k * 0.25).mT).softmax(-1) @ v; ((q / 4) @ k.mT).softmax(-1) @ v; (m > 0) * 1
(q @ k.mT / 4).masked_fill(m < 0, -math.inf).softmax(-1) @ v; torch.where(m < 0, -1e4, q @ k.mT / 4).softmax(-1) @ v
(q @ k.mT).softmax(2)
[(s := rows(q, k, v)), (s[0].matmul(s[1].mT).div(4)).softmax(-1).matmul(s[2])][-1]
(q @ k.mT).logsumexp(-1)
[(s := rows(q, k, v)), (s[0] @ s[1].mT / 4 + m[: q.shape[1], : q.shape[1]]).softmax(-1) @ s[2]][-1]
m * 2
[(s := rows(q, k, v)), s[0].matmul(s[1].permute(0, 1, 3, 2)).float().softmax(-1).type_as(v).matmul(s[2])][-1]
F.scaled_dot_product_attention(q, k, v); F.scaled_dot_product_attention(q, k, v, is_causal=True)
F.scaled_dot_product_attention(q, k, v, m)
F.scaled_dot_product_attention(q, k, v, m < 0.5, scale=0.3).transpose(1, 2).flatten(2)
(q.float() @ k.float().mT).softmax(-1).to(v.dtype) @ v
"""
#: Changes of an input, one after another, of which later results must see all; ``x`` is the state.
STATES = """
x.mul_(0.9).add_(y, alpha=0.1).clone(); x[:, 1::2].copy_(y[:, 1::2]); x.t().mul_(2).sum(1); x[0].zero_()
x.index_add_(1, i, y).sum(0); x.index_copy_(0, i[:1] % len(x), y[:1]) + 1; x.copy_(x.flip(1)).clone()
(x + 1, x.sub_(1))[0]; x.clamp_(-2, 2).sin(); x[1:].view(-1)[3:9]
F.batch_norm(y, x[0], x[1].abs_(), training=True, momentum=0.3, eps=0.5); x.masked_fill_(y > 1, 0.5) * 2
(custom.scale_(x[2], 3), x + 1)[1]; x[2] * 2; x.sum(1); x.scatter_(1, i[:1].expand(len(x), 1), 7).amax(1)
x.detach().add_(1).mean(); x.index_put_((i % len(x), i), y[0], True).clone(); x.t()
"""
#: Calls of other functions: recomputation, derivatives, control flow, a custom operator, a kernel, and random numbers.
CALLS = """
again(lambda z: z.sin() * z.cos(), x); kept(x, 0.5); kept(x.t().clone(), 0.25)
(F.dropout(x, 0.5) == F.dropout(x, 0.5)).all(); torch.func.vmap(lambda u, w: (u * w).sum() * u)(x, y)
torch.func.grad(lambda z: (z.sin() * y).sum())(x); custom.scaled(x.sin(), 2) + x; torch.func.jvp(torch.sin, (x,), (y,))
torch.cond(x.sum() > 0, lambda z: z.sin(), lambda z: z.cos(), (x,)) if not x.requires_grad else x
F.dropout(torch.ones_like(x), 0.5).mul(0.5).frac().any(); likely(torch.rand(9999, device=x.device), 0.5, 1 / 12)
doubled(x.detach().cos()) + x; likely(torch.randn(9999, device=x.device, dtype=torch.float32), 0, 1)
likely(torch.randint(5, (9999,), device=x.device).float(), 2, 2)
likely(torch.empty(9999, device=x.device).bernoulli_(0.25), 0.25, 0.1875)
F.fractional_max_pool2d(x[None], 2, 2)
torch.randperm(99, device=x.device).sort()[0]; likely(torch.rand(2, 9999, device=x.device)[1].sub(0.5), 0, 1 / 12)
"""
#: Convolutions, normalisations, resampling and average pools of pictures.
PICTURES = """
F.group_norm(x, 2); F.batch_norm(x, x.new_full((4,), 0.5), x.new_full((4,), 2.0)); F.instance_norm(x)
F.batch_norm(x, None, None, training=True); F.group_norm(x.to(memory_format=torch.channels_last), 2)
x + F.batch_norm(x.new_ones(1, 4, 1, 1), x.new_zeros(4), x.new_full((4,), 0.25), None, x.new_full((4,), 0.5))
F.group_norm(x.to(memory_format=torch.channels_last), 2, y[0, :, 0, 0], y[0, :, 0, 1]); torch.var_mean(x, (0, 2, 3))
F.layer_norm(x.permute(0, 2, 3, 1), (4,)).permute(0, 3, 1, 2); F.silu(x) * y.mean((2, 3), keepdim=True).sigmoid()
F.conv2d(x, weights(x, 4, 4, 3), padding=1).relu() + x; F.conv2d(x, weights(x, 4, 2, 3), None, 1, 2, 2, 2)
F.conv2d(x.to(memory_format=torch.channels_last), weights(x, 4, 4, 1), x[0, :, 0, 0], 2)
F.conv_transpose2d(x, weights(x, 4, 2, 3), stride=2, output_padding=1); F.unfold(x, 3, padding=1, stride=2)
F.fold(F.unfold(x, 3), x.shape[2:], 3); x.flatten(2).mT @ weights(x, 4, 6, 1)[..., 0, 0]
F.interpolate(x, (7, 5), mode="bilinear"); F.interpolate(x, (13, 6), mode="bicubic"); F.interpolate(x, (7, 5))
F.interpolate(x, (1, 1), mode="bilinear"); F.interpolate(x, (3, 1), mode="bilinear", align_corners=True)
F.interpolate(x, (7, 5), mode="nearest-exact"); F.avg_pool2d(F.interpolate(x, scale_factor=2, mode="bilinear"), 2)
F.pixel_shuffle(F.interpolate(x, scale_factor=2), 2).repeat(1, 4, 1, 1)[..., : x.shape[2], : x.shape[3]]
F.grid_sample(x.float(), y.detach()[:, :2, :3, :4].permute(0, 2, 3, 1).float().tanh(), "bilinear", "border", False)
F.avg_pool2d(x, 3, 2, 1, count_include_pad=False); F.adaptive_avg_pool2d(x, (3, 4)); F.adaptive_avg_pool2d(x, 1)
F.adaptive_avg_pool2d(x, 2).flatten(1).sum(1); F.lp_pool2d(x.tanh() + 3, 2, 2); x.mean((2, 3)); x.softmax(1)
F.scaled_dot_product_attention(x, y, x); torch.bmm(x.flatten(0, 1), y.flatten(0, 1).mT)
"""
#: Copies, padding and maxima of pictures. Each result must be exact.
POOLS = """
F.max_pool2d(x, 3, 2, 1); F.max_pool2d(x, 3, 1, 1) + x; F.max_pool2d(x, 2, ceil_mode=True); F.max_pool2d(x, 3, 1, 1, 2)
F.max_pool2d(x, 2, return_indices=True); F.adaptive_max_pool2d(x, (3, 4)); F.relu(F.max_pool2d(x, 2)).amax((0, 2, 3))
F.fractional_max_pool2d(x.float(), 2, output_size=(3, 4), _random_samples=y.detach()[:, :, 0, :2].float().abs() % 1)
F.max_pool2d(x.to(memory_format=torch.channels_last), 3, 2, 1); x.flatten(1).max(1); x.roll((1, 2), (2, 3)).flip(1)
F.pad(x, (1, 1, 1, 1), "circular")[:, :, 2:, :-2] * 2; F.pad(x, (1, 2, 1, 0), "reflect"); F.pad(x, (3, 0, 1, 2))
write(x, lambda z: z[:, 1, ::2].mul_(2)); F.pixel_unshuffle(x[:, :, :8, :8], 2); x.to(memory_format=torch.channels_last)
F.interpolate(x.flatten(2), scale_factor=4); F.interpolate(x, scale_factor=1.37)
"""
#: Expressions with a transposed order of memory. Fused with a reduction, torch 2.13's vectorised code for CPUs writes
#: beyond its tensors (pytorch#196681).
TRANSPOSING = re.compile(r"\.t\(\)|\.mT|permute|channels_last|transpose")
#: The shapes of inputs; a table that is compiled for any shape gets two of them that follow each other.
ROWS = ((5, 37), (17, 66), (3, 1030), (33, 19), (9, 129), (4, 257), (65, 16))
LONG = ((5, 40_003), (67, 1031), (40_003, 5), (300, 301))
MATRICES = ((37, 16), (66, 64), (19, 40))
IMAGES = ((2, 4, 9, 11), (3, 4, 12, 13), (1, 4, 17, 8), (5, 4, 10, 33))
#: The formats of integers.
WHOLE = ("int32", "int64", "int8", "int16", "uint8")
#: The number of expressions that a program's name lists.
NAMED = 16
#: The formats of the other numbers in panels.
FORMS = ("float32", "bfloat16", "float16")


@dataclasses.dataclass(frozen=True)
class Panel:
    """A table of expressions.

    :ivar exact: whether the results do not depend on the order of operations, so that at most one rounding is allowed.
    :ivar changes: whether the expressions change ``x``.
    """

    table: str
    shapes: tuple[tuple[int, ...], ...] = ROWS
    exact: bool = False
    forms: tuple[str, ...] = FORMS
    changes: bool = False


PANELS = {
    "functions": Panel(FUNCTIONS),
    "special functions": Panel(SPECIAL, forms=("float32",)),
    "reductions": Panel(REDUCTIONS, LONG),
    # In float16, the sum of the losses of 40,003 rows overflows on a CPU.
    "totals": Panel(TOTALS, LONG, forms=FORMS[:2]),
    "copies": Panel(COPIES, exact=True),
    "writes": Panel(WRITES),
    "folds": Panel(FOLDS, exact=True),
    "whole numbers": Panel(WHOLE_NUMBERS, exact=True, forms=WHOLE),
    "products": Panel(PRODUCTS, MATRICES),
    "attention": Panel(ATTENTION, MATRICES),
    "states": Panel(STATES, changes=True),
    "calls": Panel(CALLS),
    "pictures": Panel(PICTURES, IMAGES, forms=FORMS[:2]),
    "pools": Panel(POOLS, IMAGES, exact=True, forms=FORMS[:2]),
    # A run's own; see :mod:`compositions`.
    "compositions": Panel(""),
}
#: Rows of panels. A default run compiles a table of two of these rows, other ones each day; a full run compiles all
#: tables. On an H200, a table took about 30 core-seconds.
TURNS = (
    ("functions",),
    ("copies",),
    ("reductions",),
    ("totals", "special functions"),
    ("products", "attention", "pictures"),
    ("whole numbers", "folds", "pools"),
    ("writes", "states", "calls"),
)


class Program:
    """Several expressions that are called like one of the catalogue's operators."""

    def __init__(self, name: str, kind: Panel, texts: t.Sequence[str], steps: t.Sequence[t.Any] = ()) -> None:
        functions = [re.findall(r"\.(\w+)\(", text) or [text] for text in texts[:NAMED]]
        functions += [["more"]] if len(texts) > NAMED else []
        # A name ends at its first comma; see :func:`all_operators.judge`.
        self.name = f"{name} ({' > '.join(' '.join(dict.fromkeys(each)) for each in functions)})".replace(",", "")
        self.kind, self.steps = kind, list(steps or map(expressions.compiled, texts))
        # A sum of terms that cancel is compared with numbers of this size.
        self.op, self.scale = self, 0.0 if kind.exact else 1.0

    def __call__(self, *inputs: torch.Tensor) -> list[t.Any]:
        """Return the results of all expressions, and the first input if they change it."""
        results = [step(*inputs) for step in self.steps]
        return [*results, inputs[0]] if self.kind.changes else results


def of_day(seed: int, full: bool, part: str = "panels") -> list[tuple[str, int]]:
    """Return the names of the panels of a run, each with a number that selects its format, shape and direction.

    :param part: ``compositions``, or ``panels`` for all others.
    """
    names = [name for name in PANELS if (name == "compositions") == (part == "compositions")]
    if full:
        return [(name, seed + form) for name in names for form in range(len(PANELS[name].forms))]
    if part == "compositions":
        return [(part, seed)]
    week, rows = seed // len(TURNS), [(2 * seed + number) % len(TURNS) for number in range(2)]
    return [(TURNS[row][week % len(TURNS[row])], week // len(TURNS[row]) + row) for row in rows]


def programs(name: str, form: str, turn: int, together: bool, on_cpu: bool) -> list[Program]:
    """Return the programs of a table: each line, or all lines together.

    :param turn: selects the dimension of reductions.
    :param on_cpu: whether to leave out expressions of ``TRANSPOSING`` in tables with reductions.
    """
    kind = PANELS[name]
    if kind is PANELS["compositions"]:
        return _drawn(form, turn, together, on_cpu)
    lines = re.sub(r"\bD\b", str(-(turn // 2 % 2)), kind.table.strip()).splitlines()
    parts = [re.split(r";\s*", line) for line in (["; ".join(lines)] if together or kind.changes else lines)]
    if on_cpu and kind.shapes is not MATRICES and name != "copies":
        parts = [[text for text in texts if not TRANSPOSING.search(text)] for texts in parts]
    return [Program(f"{name} {number} in {form}", kind, texts) for number, texts in enumerate(parts) if texts]


def _drawn(form: str, turn: int, together: bool, on_cpu: bool) -> list[Program]:
    """Return the programs that are drawn for a turn; those with gradients as one."""
    # A custom operator that changes its argument has no gradient.
    avoided = [*(["scale_"] if together else []), *([TRANSPOSING.pattern] if on_cpu else [])]
    draws = compositions.draw(f"{turn} {form}", together, re.compile("|".join(avoided) or "$^"))
    exact = Panel("", exact=True)
    kinds = (PANELS["compositions"], exact, dataclasses.replace(exact, changes=True))
    made: list[Program] = []
    for kind, drawn in zip(kinds, draws):
        groups = [drawn] if together and not kind.exact else [[texts] for texts in drawn]
        for group in groups:
            texts = [text for texts in group for text in texts]
            made.append(
                Program(f"compositions {len(made)} in {form}", kind, texts, list(map(compositions.Composition, group)))
            )
    return made


def bounds(kind: Panel, form: str) -> tuple[float, float]:
    """Return the bounds for results and gradients of a panel in a format, in units."""
    if kind.exact:
        return 2.0, 16.0
    if form == "float32":
        return (64.0, 128.0) if kind.shapes in (LONG, IMAGES) else (16.0, 64.0)
    return 4.0, 16.0


def sample(kind: Panel, form: str, device: str, seed: str, second: bool) -> t.Any:
    """Return inputs of a panel's programs in a format, like those of the catalogue, in one of two shapes."""
    import torch

    generator = torch.Generator().manual_seed(seed_of(f"{seed} {second}"))
    shapes = kind.shapes
    shape = shapes[(seed_of(seed) + second) % len(shapes)]
    x, y = (torch.randn(shape, generator=generator, dtype=torch.float64) for _number in range(2))
    if kind.forms is WHOLE:
        limits = torch.iinfo(getattr(torch, form))
        x, y = (
            torch.randint(max(limits.min, -(2**40)), min(limits.max, 2**40), shape, generator=generator)
            for _number in range(2)
        )
        x.view(-1)[:4] = torch.tensor([limits.min, limits.max, limits.max // 2, 0])
    dtype = getattr(torch, form)
    if kind is PANELS["folds"]:
        # Whole numbers and halves, their neighbours in the format, and numbers that are not finite.
        x = torch.randint(-8, 9, shape, generator=generator) / 2.0
        x *= 1 + spacing(dtype) * torch.randint(-1, 2, shape, generator=generator)
        x[0, 0], x[1, 1], x[1, 2] = math.nan, math.inf, -math.inf
    indices = torch.randint(0, shape[-1], (shape[-1],), generator=generator).to(device)
    values = [value.to(device, dtype).requires_grad_(not kind.exact) for value in (x, y)]
    others: list[torch.Tensor] = []
    if kind.shapes is MATRICES:
        sizes = [*[(2, 4, *shape)] * 3, (shape[0], shape[0])]
        others = [torch.randn(size, generator=generator).to(device, dtype).requires_grad_() for size in sizes]
    return types.SimpleNamespace(
        input=values[0], args=(values[1], indices, *others), kwargs={}, output_process_fn_grad=lambda result: result
    )
