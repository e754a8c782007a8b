"""Attention with a BLAS that lacks 16-bit products with float32 results, like Debian's: wider bounds allow its errors.

The package index's torch uses MKL, which has these products, so its kernel is replaced to round like Debian's.
"""

from collections.abc import Callable
from typing import Any

import pytest

from proof.tests import record
from proof.tests.environment import Environment
from proof.tests.faults import RESTORED

KERNEL = """
import builtins as _builtins
import math as _math
import torch.library as _library


def _product(left, right, form):
    return (left.float() @ right.float()).to(form).float()


def _scores(query, key, is_causal, attn_mask, scale):
    scale = 1 / _math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (scale * (query.float() @ key.float().mT)).to(query.dtype).float()
    if attn_mask is not None:
        scores = scores + attn_mask.float()
    if is_causal:
        scores = scores.masked_fill(~ones(scores.shape[-2:], dtype=bool).tril(), -_math.inf)
    return scores


def _forward(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = _scores(query, key, is_causal, attn_mask, scale)
    # A query that sees no key has the result zero.
    top = scores.amax(-1, keepdim=True).clamp(min=-1e30)
    parts = (scores - top).exp()
    total = parts.sum(-1, keepdim=True).clamp(min=1e-30)
    output = _product(parts.to(query.dtype), value, query.dtype) / total * FACTOR
    return output.to(query.dtype), (top + total.log()).squeeze(-1)


def _backward(grad, query, key, value, out, lse, dropout_p, is_causal, *, attn_mask=None, scale=None):
    group, form = query.shape[1] // key.shape[1], query.dtype
    wide = [x.repeat_interleave(group, 1) for x in (key, value)]
    p = (_scores(query, wide[0], is_causal, attn_mask, scale) - lse.unsqueeze(-1)).exp()
    scale = 1 / _math.sqrt(query.shape[-1]) if scale is None else scale
    total = (grad.float() * out.float()).sum(-1, keepdim=True)
    ds = (p * (_product(grad, wide[1].mT, form) - total)).to(form).float()
    dq = scale * (ds @ wide[0].float())
    dk, dv = (zeros_like(x) for x in wide)
    for first in _builtins.range(0, query.shape[-2], 32):
        block = slice(first, first + 32)
        dk = (dk.float() + scale * (ds[..., block, :].mT @ query[..., block, :].float())).to(form)
        dv = (dv.float() + p[..., block, :].to(form).float().mT @ grad[..., block, :].float()).to(form)
    return dq.to(form), *(x.unflatten(1, (-1, group)).sum(2) for x in (dk, dv))


_aten = _library.Library("aten", "IMPL")
_name = "_scaled_dot_product_flash_attention_for_cpu"
_aten.impl(_name, _forward, "CPU")
_aten.impl(_name + "_backward", _backward, "CPU")
"""


@pytest.fixture
def prove(broken: Callable[[], Environment]) -> Callable[[float], dict[str, dict[str, Any]]]:
    def prove(factor: float) -> dict[str, dict[str, Any]]:
        environment = broken()
        environment.append("torch/__init__.py", KERNEL.replace("FACTOR", str(factor)) + RESTORED)
        record.rewrite(environment, "torch/__init__.py")
        report = environment.prove("cpu.attention.flash", "cpu.attention.default")
        return {row["name"]: row for row in report["checks"] if row["numeric"]}

    return prove


def test_rounded_scores_pass(prove: Callable[[float], dict[str, Any]]) -> None:
    rows = prove(1.0)
    assert {row["status"] for row in rows.values()} == {"pass"}, [row["cause"] for row in rows.values()]
    assert "no product of float16 and bfloat16 in float32" in rows["cpu.attention.flash"]["measured"]


def test_rounded_scores_two_per_cent_too_large_fail(prove: Callable[[float], dict[str, Any]]) -> None:
    rows = prove(1.02)
    assert {row["status"] for row in rows.values()} == {"fail"}
    flash = rows["cpu.attention.flash"]
    assert "times the bound" in flash["cause"]
    # Changing the GPU architectures does not help on the CPU.
    assert "ATEN_CPU_CAPABILITY" in flash["remedy"] and "TORCH_CUDA_ARCH_LIST" not in flash["remedy"]
