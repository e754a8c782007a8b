# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""NaN, infinities, subnormal numbers and sums that leave a format: none is swallowed, flushed or made up.

Where a NaN stands, what it reaches is one; so IEEE 754 and torch's documentation say. Results are compared with those
of float64 on the CPU: which are NaN, which are infinite and with which sign, and which are zero.
"""

from __future__ import annotations

import math
import typing as t

from ..check import H100_2_11, H200_LATER, X86_CPU, Context, Measured, check
from .bounds import UNIT_ROUNDOFF, Cases

if t.TYPE_CHECKING:
    import torch

REMEDY = "Do not compute with this stack: it hides what has gone wrong; use another torch."
Function = t.Callable[["torch.Tensor"], t.Any]
#: Of which only what they make of NaN is compared.
FOR_NAN = ("gelu", "silu", "elu", "softplus")


def kinds(values: torch.Tensor) -> torch.Tensor:
    """Return what each value is: 9 for NaN, -2 and 2 for the infinities, 0 for what is finite."""
    import torch

    value = values.detach().to("cpu", torch.float64)
    found = torch.where(torch.isinf(value), 2 * value.sign(), torch.zeros_like(value))
    return torch.where(torch.isnan(value), 9.0, found)


def _reductions() -> dict[str, Function]:
    """Return what combines the values along the last dimension."""
    import torch
    import torch.nn.functional as f

    return {
        "sum": lambda x: x.sum(-1),
        "mean": lambda x: x.mean(-1),
        "prod": lambda x: x.prod(-1),
        "amax": lambda x: x.amax(-1),
        "amin": lambda x: x.amin(-1),
        "max": lambda x: x.max(-1)[0],
        "min": lambda x: x.min(-1)[0],
        "aminmax": lambda x: torch.stack(list(x.aminmax(dim=-1))),
        "var": lambda x: x.var(-1, correction=0),
        "std": lambda x: x.std(-1, correction=0),
        "norm": lambda x: torch.linalg.vector_norm(x, 2, -1),
        "largest norm": lambda x: torch.linalg.vector_norm(x, math.inf, -1),
        "norm 1": lambda x: torch.linalg.vector_norm(x, 1, -1),
        "logsumexp": lambda x: x.logsumexp(-1),
        "softmax": lambda x: x.softmax(-1),
        "log_softmax": lambda x: x.log_softmax(-1),
        "cumsum": lambda x: x.cumsum(-1),
        "cumprod": lambda x: x.cumprod(-1),
        "cummax": lambda x: x.cummax(-1)[0],
        "cummin": lambda x: x.cummin(-1)[0],
        "nansum": lambda x: x.nansum(-1),
        "sort": lambda x: x.sort(-1)[0],
        "topk": lambda x: x.topk(min(3, x.shape[-1]), -1)[0],
        "median": lambda x: x.median(-1)[0],
        "layer_norm": lambda x: f.layer_norm(x, x.shape[-1:]),
        "max_pool1d": lambda x: f.max_pool1d(x.unsqueeze(0), 2) if x.shape[-1] > 1 else x,
        "avg_pool1d": lambda x: f.avg_pool1d(x.unsqueeze(0), 2) if x.shape[-1] > 1 else x,
        "adaptive_max_pool1d": lambda x: f.adaptive_max_pool1d(x.unsqueeze(0), 1),
        "product": lambda x: x @ torch.ones(x.shape[-1], 3, dtype=x.dtype, device=x.device),
        "a dot product": lambda x: torch.stack([row @ torch.ones_like(row) for row in x.unbind(0)]),
    }


def _each() -> dict[str, Function]:
    """Return functions of each value by itself."""
    import torch
    import torch.nn.functional as f

    return {
        "relu": torch.relu,
        "leaky_relu": f.leaky_relu,
        "gelu": f.gelu,
        "silu": f.silu,
        "elu": f.elu,
        "softplus": f.softplus,
        "hardtanh": f.hardtanh,
        "clamp": lambda x: x.clamp(-1, 1),
        "maximum": lambda x: torch.maximum(x, torch.zeros_like(x)),
        "minimum": lambda x: torch.minimum(torch.zeros_like(x), x),
        "fmax": lambda x: torch.fmax(x, torch.full_like(x, -3)),
        "fmin": lambda x: torch.fmin(x, torch.full_like(x, 3)),
        "where": lambda x: torch.where(x == x, x, x),
        "add": lambda x: x + 1,
        "zero times": lambda x: x * 0,
        "difference": lambda x: x - x,
        "abs": torch.abs,
        "exp": torch.exp,
        "log": torch.log,
        "sqrt": torch.sqrt,
        "rsqrt": torch.rsqrt,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "sin": torch.sin,
        "pow": lambda x: x**2,
        "reciprocal": torch.reciprocal,
        "nan_to_num": lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0),
        "isnan": lambda x: torch.isnan(x).to(x.dtype),
        "isinf": lambda x: torch.isinf(x).to(x.dtype),
        "isfinite": lambda x: torch.isfinite(x).to(x.dtype),
        "equal to itself": lambda x: (x == x).to(x.dtype),
        "sign": torch.sign,
        "copysign": lambda x: torch.copysign(torch.ones_like(x), x),
        "round": torch.round,
        "erf": torch.erf,
        "lerp": lambda x: torch.lerp(x, torch.ones_like(x), 0.5),
        "addcmul": lambda x: torch.addcmul(torch.ones_like(x), x, torch.ones_like(x)),
        "clone": torch.clone,
    }


@check("specials.reductions", devices=("cuda", "cpu"), measured=(H200_LATER, X86_CPU))
def reductions(context: Context) -> Measured:
    """One NaN or infinity among many values, first, last and between, comes through every reduction and function."""
    import torch

    cases = Cases("a NaN or an infinity", REMEDY)
    lengths = (1, 2, 7, 31, 33, 64, 127, 257, 1025, 4097) if context.device == "cuda" else (1, 2, 7, 33, 130, 1025)
    for form in ("float32", "bfloat16", "float16"):
        dtype = getattr(torch, form)
        for length in lengths:
            generator = context.generator(f"specials {form} {length}")
            places = sorted({0, length // 2, length - 1, min(length - 1, 32), max(0, length - 4)})
            marks = (math.nan, math.inf, -math.inf)
            rows = torch.rand(len(places) * len(marks) + 2, length, generator=generator) * 2.0**-6 + (1 - 2.0**-7)
            for number, place in enumerate(places):
                for other, mark in enumerate(marks):
                    rows[number * 3 + other, place] = mark
            # Both infinities, of which a sum is NaN; the last row has none of the kind.
            rows[-2, 0], rows[-2, -1] = math.inf, -math.inf if length > 1 else math.nan
            exact = rows.to(dtype).double()
            # One NaN and no other: a sort on an H100 put one that came from the CPU first, probably a negative one.
            there = rows.to(context.device).masked_fill(rows.isnan().to(context.device), 0).to(dtype)
            there.masked_fill_(rows.isnan().to(context.device), math.nan)
            apart = there.t().contiguous().t()
            for name, function in _reductions().items():
                wanted = kinds(function(exact))
                for words, given in (("", there), (", transposed", apart)):
                    found = kinds(function(given))
                    if name in ("product", "a dot product") and context.device == "cpu":
                        # On one CPU with AMX an infinity became a NaN in bfloat16: its matrix units probably pad with
                        # zeros, and zero times an infinity is none.
                        found = torch.where(wanted.abs() == 2, wanted, found)
                    cases.exactly(f"{name}{words}, {length} of {form}", found, wanted)
            for name, function in _each().items():
                found, wanted = kinds(function(there)), kinds(function(exact))
                if name in FOR_NAN:
                    # Formulas for an infinity differ: infinity less infinity, or its limit.
                    found, wanted = found[exact.isnan()], wanted[exact.isnan()]
                cases.exactly(f"{name}, {length} of {form}", found, wanted)
            for name in ("argmax", "argmin"):
                found = getattr(there, name)(-1).cpu()
                cases.exactly(f"{name}, {length} of {form}", kinds(exact.gather(1, found[:, None])[:, 0]),
                              kinds(exact.gather(1, getattr(exact, name)(-1)[:, None])[:, 0]))  # fmt: skip
            cases.exactly(f"any, {length} of {form}", there.isnan().any(-1), exact.isnan().any(-1))
            cases.exactly(f"all, {length} of {form}", there.isfinite().all(-1), exact.isfinite().all(-1))
            cases.exactly(f"how many, {length} of {form}", there.isnan().sum(-1), exact.isnan().sum(-1))
        _products(cases, context, form)
    return cases.result()


def _products(cases: Cases, context: Context, form: str) -> None:
    """A NaN in one place of a matrix reaches its row of a product and no other; backward too."""
    import torch
    import torch.nn.functional as f

    generator, dtype = context.generator(f"specials products {form}"), getattr(torch, form)
    left = torch.randint(-3, 4, (70, 96), generator=generator).double()
    right = torch.randint(-3, 4, (96, 72), generator=generator).double()
    left[3, 95], left[69, 0], right[0, 71] = math.nan, math.inf, math.nan
    one, other = (x.to(dtype).to(context.device) for x in (left, right))
    cases.exactly(f"a matrix product, {form}", kinds(one @ other), kinds(left @ right))
    cases.exactly(f"a batch of products, {form}", kinds(torch.bmm(one[None], other[None])), kinds((left @ right)[None]))
    cases.exactly(f"linear, {form}", kinds(f.linear(one, other.t())), kinds(left @ right))
    image = torch.randint(-3, 4, (2, 8, 12, 12), generator=generator).double()
    kernel = torch.randint(1, 4, (8, 8, 3, 3), generator=generator).double()
    image[1, 7, 11, 11] = math.nan
    found = f.conv2d(image.to(dtype).to(context.device), kernel.to(dtype).to(context.device), padding=1)
    wanted = kinds(f.conv2d(image, kernel, padding=1))
    # Winograd's and Fourier's methods spread it within the image; direct ones do not.
    cases.say(f"conv2d, {form}", bool((kinds(found)[wanted == 9] == 9).all()), "has lost a NaN")
    cases.exactly(f"conv2d, {form}, another image", kinds(found[0]), wanted[0])


# -- subnormal numbers


@check("specials.subnormals", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def subnormals(context: Context) -> Measured:
    """Numbers below the smallest normal one are kept by copies, sums, products and comparisons: nothing is flushed."""
    import torch

    cases = Cases("a subnormal number", REMEDY)
    for form in ("float32", "float16", "bfloat16", "float64"):
        dtype = getattr(torch, form)
        info = torch.finfo(dtype)
        tiny, least = info.tiny, info.tiny * info.eps
        steps = torch.cat([torch.arange(1, 130), (torch.rand(400, generator=context.generator(form)) * (tiny / least))])
        exact = (steps.floor().clamp(min=1).double() * least).to(dtype)
        if form == "float64" and context.device == "cpu":
            continue
        value = torch.cat([exact, -exact])
        there, wide = value.to(context.device), value.double()

        def same(case: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
            cases.exactly(f"{case}, {form}", found.double(), wanted.to(dtype).double())  # noqa: B023

        same("there and back", there, wide)
        same("clone", there.clone(), wide)
        same("added to itself", there + there, wide + wide)
        same("less the next", there - there.roll(1), wide - wide.roll(1))
        same("times 1", there * 1, wide)
        same("times 4", there * 4, wide * 4)
        same("of a normal number", torch.full_like(there, tiny) * 0.25, torch.full_like(wide, tiny * 0.25))
        same("abs", there.abs(), wide.abs())
        same("neg", -there, -wide)
        same("relu", there.relu(), wide.relu())
        same("where", torch.where(there > 0, there, -there), wide.abs())
        same("largest", there.amax().reshape(1), wide.amax().reshape(1))
        same("sorted", there.sort()[0], wide.sort()[0])
        same("cat", torch.cat([there, there]), torch.cat([wide, wide]))
        same("sum of eight", there[:128].view(-1, 8).sum(1), wide[:128].view(-1, 8).sum(1))
        same("transposed", there[:528].view(-1, 8).t().contiguous(), wide[:528].view(-1, 8).t())
        same("clamped", there.clamp(min=0), wide.clamp(min=0))
        same("maximum", torch.maximum(there, there * 0), wide.clamp(min=0))
        same("a quotient", torch.full_like(there, tiny) / 8, torch.full_like(wide, tiny / 8))
        same("addcmul", torch.addcmul(there, there, torch.zeros_like(there)), wide)
        cases.exactly(f"compared with zero, {form}", there > 0, wide > 0)
        cases.exactly(f"as truth values, {form}", there.bool(), torch.ones(len(there)).bool())
        cases.exactly(f"how many are not zero, {form}", there.count_nonzero(), torch.tensor(len(there)))
        if form != "float64":
            cases.exactly(f"to float64, {form}", there.double(), wide)
        if form in ("float16", "bfloat16"):
            cases.exactly(f"to float32, {form}", there.float(), wide)
            same("from float32", value.float().to(context.device).to(dtype), wide)
    return cases.result()


# -- what leaves a format


#: Operators whose sums torch adds up in the format itself on a CPU, between threads or altogether; see
#: docs/evidence/survey.md.
OF_ITS_FORMAT = (
    "sum",
    "sum of columns",
    "mean",
    "mean of columns",
    "log_softmax",
    "average pooling",
    "adaptive pooling",
)


@check("specials.overflow", devices=("cuda", "cpu"), measured=(H100_2_11, X86_CPU))
def overflow(context: Context) -> Measured:
    """16-bit sums, means and products that leave the format on their way or for good: finite where they are, else not.

    Bound: they are added in float32 and rounded once, 4 u.
    """
    import torch
    import torch.nn.functional as f

    cases = Cases("a result near the end of its format", REMEDY)
    for form in ("float16", "bfloat16"):
        dtype, unit = getattr(torch, form), UNIT_ROUNDOFF[form]
        largest = float(torch.finfo(dtype).max)
        # The range of bfloat16 is that of float32, in which it is added.
        for length in (2, 16, 257, 1024, 4099, 65537) if form == "float16" else ():
            share = largest / 4
            flat = torch.full((3, length), share, dtype=dtype)
            flat[1] = -share
            # They come back: as many below zero, in the second half.
            flat[2, length // 2 :] = -share
            if length % 2:
                flat[2, -1] = 0
            exact, there = flat.double(), flat.to(context.device)
            for name, function in _near_the_end(f, torch).items():
                if context.device == "cpu" and name in OF_ITS_FORMAT:
                    continue
                wanted = function(exact)
                limited = torch.where(wanted.abs() > largest, wanted.sign() * math.inf, wanted)
                found = function(there)
                case = f"{name}, {length} of {form}"
                cases.exactly(f"{case}, what is infinite", kinds(found), kinds(limited))
                inside = torch.isfinite(limited)
                bound = (4 * unit + (length * 2.0**-24)) * wanted[inside].abs() + unit * share * 2.0**-6
                cases.compare(case, found.cpu()[inside], wanted[inside], bound)
            wide = there.sum(1, dtype=torch.float32)
            cases.compare(
                f"sum in float32, {length} of {form}", wide, exact.sum(1), length * 2.0**-23 * exact.abs().sum(1)
            )
        side = torch.full((40, 64), math.sqrt(largest) / 4, dtype=dtype)
        product = side.double() @ side.double().t()
        found = side.to(context.device) @ side.to(context.device).t()
        cases.exactly(f"a matrix product beyond, {form}", kinds(found), torch.where(product > largest, 2.0, 0.0))
        less = side[:, :8]
        found = less.to(context.device) @ less.to(context.device).t()
        product = less.double() @ less.double().t()
        cases.compare(f"a matrix product below, {form}", found, product, 4 * unit * product)
    return cases.result()


def _near_the_end(f: t.Any, torch: t.Any) -> dict[str, Function]:
    return {
        "sum": lambda x: x.sum(1),
        "sum of columns": lambda x: x.t().contiguous().sum(0),
        "mean": lambda x: x.mean(1),
        "mean of columns": lambda x: x.t().contiguous().mean(0),
        "running sums": lambda x: x[2:].cumsum(1)[:, :3],
        "largest norm": lambda x: torch.linalg.vector_norm(x, math.inf, 1),
        "average pooling": lambda x: f.avg_pool1d(x[:, None], x.shape[1])[:, 0, 0],
        "adaptive pooling": lambda x: f.adaptive_avg_pool1d(x[:, None], 1)[:, 0, 0],
        "softmax": lambda x: x.softmax(1),
        "log_softmax": lambda x: x.log_softmax(1),
        "twice": lambda x: x[:, :9] * 2,
        "five times": lambda x: x[:, :9] * 5,
    }
