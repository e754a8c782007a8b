# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inference, end to end: a language model with a cache of keys and values, what it samples, and attention's variants.

What the model may be off by is tried as in the family training: the float64 run is made again with each of its steps
moved at random by up to the format's unit roundoff. What is sampled is counted and compared with what was asked for by
Pearson's chi-square; a sound stack exceeds the bound in one of a billion runs (Wilson and Hilferty's cube, six standard
deviations), and the seed is fixed, so that it does so always or never.
"""

from __future__ import annotations

import math
import typing as t
import warnings

from ...check import SEEN, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, one_thread, torch
from ..kernels import matmul

if t.TYPE_CHECKING:
    Step = t.Callable[[torch.Tensor], torch.Tensor]
    Linear = t.Callable[[torch.Tensor, str], torch.Tensor]
    Weights = t.Mapping[str, torch.Tensor]
    Operand = tuple[torch.Tensor, torch.Tensor]
    Product = t.Callable[[Operand, Operand], torch.Tensor]

WORDS, WIDTH, HEADS, SHARED, LAYERS = 97, 64, 4, 2, 2
#: Tokens of a text, of which so many are there from the beginning. cuDNN plans each length of keys anew, which takes a
#: core 0.35 s on an H100's host.
LENGTH, PROMPT = 40, 31
#: In what parts a text is read.
WAYS = {
    "the whole text": [LENGTH],
    "a prompt and word by word": [PROMPT, *[1] * (LENGTH - PROMPT)],
    "in chunks": [1, 16, 7, LENGTH - 24],
}
#: Weights of E2M1 with a scale of E4M3 for each 16 of them.
FLOAT4 = "4 bits"
MARGIN, MOVED = 8.0, 2
#: Standard deviations that a sound stack does not exceed.
SIGMAS = 6.0

REMEDY = (
    "See which checks of the families tensors, matmul, attention and survey also fail: the first one names the "
    "operator. If none does, use another stack."
)


# -- a language model with a cache


def _weights(context: Context) -> dict[str, torch.Tensor]:
    """Return the weights in float64; each is a number of every format of 16 bits."""
    generator = context.generator("inference weights")
    shapes = {"words": (WORDS, WIDTH), "norm": (WIDTH,)}
    for layer in range(LAYERS):
        small = WIDTH // HEADS * SHARED
        shapes.update(
            {
                f"{layer}.before": (WIDTH,),
                f"{layer}.query": (WIDTH, WIDTH),
                f"{layer}.key": (small, WIDTH),
                f"{layer}.value": (small, WIDTH),
                f"{layer}.output": (WIDTH, WIDTH),
                f"{layer}.after": (WIDTH,),
                f"{layer}.gate": (2 * WIDTH, WIDTH),
                f"{layer}.up": (2 * WIDTH, WIDTH),
                f"{layer}.down": (WIDTH, 2 * WIDTH),
            }
        )
    found = {}
    for name, shape in shapes.items():
        drawn = torch.randn(shape, generator=generator)
        drawn = 1 + drawn / 8 if len(shape) == 1 else drawn * (1 if name == "words" else 1.5 / math.sqrt(shape[1]))
        found[name] = drawn.to(torch.bfloat16).to(torch.float16).double()
    return found


class Cache:
    """Keys and values of each layer, for as many tokens as a text may have."""

    def __init__(self, like: torch.Tensor) -> None:
        shape = (like.shape[0], SHARED, LENGTH, WIDTH // HEADS)
        # A position that was never written must never be read.
        self.keys = [like.new_full(shape, math.nan) for _layer in range(LAYERS)]
        self.values = [like.new_full(shape, math.nan) for _layer in range(LAYERS)]

    def take(self, layer: int, start: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Write keys and values of some tokens and return those of all so far."""
        end = start + key.shape[2]
        self.keys[layer][:, :, start:end] = key
        self.values[layer][:, :, start:end] = value
        return self.keys[layer][:, :, :end], self.values[layer][:, :, :end]


def _model(
    weights: Weights, text: torch.Tensor, cache: Cache, start: int, step: Step, linear: Linear | None = None
) -> torch.Tensor:
    """Return the scores of the next word behind each token.

    :param text: tokens (batch, length), which stand in the whole text from ``start`` on.
    :param step: what each intermediate result goes through.
    :param linear: computes a layer's projection, given what goes in and the weight's name; by default by that weight.
    """
    import torch.nn.functional as f

    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return step(f.rms_norm(x, (WIDTH,), weight, eps=1e-5))

    def project(x: torch.Tensor, name: str) -> torch.Tensor:
        return step(f.linear(x, weights[name]) if linear is None else linear(x, name))

    def heads(x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)

    length = text.shape[1]
    turn = _turn(text, start, weights["words"].dtype)
    hidden = f.embedding(text, weights["words"])
    seen = torch.arange(start + length, device=text.device) <= torch.arange(
        start, start + length, device=text.device
    ).view(-1, 1)
    for layer in range(LAYERS):
        x = norm(hidden, weights[f"{layer}.before"])
        query, key = (step(_turned(heads(project(x, f"{layer}.{name}")), turn)) for name in ("query", "key"))
        keys, values = cache.take(layer, start, key, heads(project(x, f"{layer}.value")))
        found = f.scaled_dot_product_attention(query, keys, values, attn_mask=seen, enable_gqa=True)
        hidden = step(hidden + project(step(found).transpose(1, 2).flatten(2), f"{layer}.output"))
        x = norm(hidden, weights[f"{layer}.after"])
        gated = step(step(f.silu(project(x, f"{layer}.gate"))) * project(x, f"{layer}.up"))
        hidden = step(hidden + project(gated, f"{layer}.down"))
    return step(f.linear(norm(hidden, weights["norm"]), weights["words"]))


def _turn(text: torch.Tensor, start: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosine and sine of each position and pair of features (RoPE)."""
    size = WIDTH // HEADS
    frequencies = 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.arange(start, start + text.shape[1], dtype=torch.float64).view(-1, 1) * frequencies
    return angles.cos().to(text.device, dtype), angles.sin().to(text.device, dtype)


def _turned(x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    one, other = x.chunk(2, -1)
    cosine, sine = turn
    return torch.cat([one * cosine - other * sine, other * cosine + one * sine], -1)


def _generate(
    weights: Weights, text: torch.Tensor, chunks: t.Sequence[int], step: Step, linear: Linear | None = None
) -> torch.Tensor:
    """Return the scores behind every token, which come in chunks."""
    cache, start, found = Cache(weights["words"][:1].expand(text.shape[0], -1)), 0, []
    for chunk in chunks:
        found.append(_model(weights, text[:, start : start + chunk], cache, start, step, linear))
        start += chunk
    return torch.cat(found, 1)


@check("inference.decode", devices=("cuda", "cpu"), measured=SEEN)
def decode(context: Context) -> Measured:
    """A model that reads a prompt and then word by word, by its cache: the same scores as from the whole text."""
    cases = Cases("a language model", REMEDY)
    exact, text = _weights(context), _text(context)
    with torch.no_grad(), allow_tf32(torch.backends.cuda.matmul, False):
        for form in ("float32", "bfloat16", "float16"):
            for word in ("", "float8_e4m3fn", FLOAT4):
                if "float8" in word and not hasattr(torch, word):
                    continue
                dtype = getattr(torch, form)
                if word == FLOAT4:
                    given, held = _of_4_bits(exact, dtype, context.device)
                else:
                    stored = _stored(exact, word)
                    held = {name: weight.double() * scale for name, (weight, scale) in stored.items()}
                    # Of 8 bits they become the format's where they are needed; their scales are powers of two.
                    given = {
                        name: weight.to(context.device).to(dtype) * scale for name, (weight, scale) in stored.items()
                    }
                wanted, allowed = _explained(context, held, text, form)
                for name, chunks in WAYS.items():
                    found = _generate(given, text.to(context.device), chunks, lambda x: x)
                    away = (found.to("cpu", torch.float64) - wanted).norm(dim=-1)
                    case = f"{form}{', weights of ' + word if word else ''}, {name}"
                    cases.compare(case, away, torch.zeros_like(away), allowed)
    return cases.result()


def _text(context: Context) -> torch.Tensor:
    """Return some texts (3, length)."""
    return torch.randint(0, WORDS, (3, LENGTH), generator=context.generator("inference text"))


def _is_projection(name: str) -> bool:
    """Say whether a weight is one that is kept in 4 bits: of the layers, which is where all of a large model is."""
    return name.partition(".")[2] in ("query", "key", "value", "output", "gate", "up", "down")


def _of_4_bits(exact: Weights, dtype: torch.dtype, device: str) -> tuple[dict[str, torch.Tensor], Weights]:
    """Return weights that were kept in 4 bits as a device makes them the format's, and what they are exactly.

    Two of E2M1 in a byte, and a scale of E4M3 for each 16: 2 bits and 4 bits, whose product each format has.
    """
    given, held = {}, {}
    for name, weight in exact.items():
        given[name], held[name] = weight.to(device).to(dtype), weight
        if _is_projection(name):
            codes, scales = matmul.as_float4(weight)
            there, table = matmul.packed(codes).to(device), torch.tensor([*matmul.FLOAT4], device=device)
            found = matmul.unpacked(there).long()
            values = torch.where(found >= 8, -table[found % 8], table[found % 8]).to(dtype)
            given[name] = values * scales.to(device).to(dtype).repeat_interleave(16, dim=-1)
            held[name] = matmul.from_float4(codes, scales)
    return given, held


def _stored(exact: Weights, word: str) -> dict[str, tuple[torch.Tensor, float]]:
    """Return weights as they are kept, each with its scale: matrices in 8 bits where that is asked for."""
    found = {}
    for name, weight in exact.items():
        scale = 1.0
        if word and weight.dim() == 2:
            scale = 2.0 ** math.ceil(math.log2(float(weight.abs().max()) / 448.0))
            weight = (weight / scale).float().to(getattr(torch, word))
        found[name] = (weight, scale)
    return found


def _explained(
    context: Context, weights: Weights, text: torch.Tensor, form: str, linear: Linear | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the float64 scores, and how far as a whole those behind each token may be off."""
    unit = UNIT_ROUNDOFF[form]
    with one_thread():
        wanted = _generate(weights, text, [LENGTH], lambda x: x, linear)
        away = torch.zeros(wanted.shape[:2], dtype=torch.float64)
        for number in range(MOVED):
            generator = context.generator(f"inference {form} {number}")

            def moved(x: torch.Tensor, generator: torch.Generator = generator) -> torch.Tensor:
                return x * (1 + unit * (torch.rand(x.shape, generator=generator, dtype=torch.float64) * 2 - 1))

            away = torch.maximum(away, (_generate(weights, text, [LENGTH], moved, linear) - wanted).norm(dim=-1))
    return wanted, MARGIN * (away + unit * wanted.norm(dim=-1))


class Of4Bits:
    """The projections of a model whose weights and inputs have 4 bits, as Blackwell's matrix units multiply them.

    :param weights: all of the model's; those of projections become codes and scales on the device.
    :param product: multiplies two matrices of packed codes and swizzled scales: the device's, or none for float64.
    :param cases: what each product is compared in with the same codes' in float64.
    """

    def __init__(self, weights: Weights, product: Product | None = None, cases: Cases | None = None) -> None:
        self.product, self.cases = product, cases
        self.coded = {name: matmul.as_float4(weight) for name, weight in weights.items() if _is_projection(name)}
        self.given = {
            name: (matmul.packed(codes), matmul.swizzled(scales)) for name, (codes, scales) in self.coded.items()
        }

    def __call__(self, x: torch.Tensor, name: str) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1])
        count, right = rows.shape[0], matmul.from_float4(*(part.cpu() for part in self.coded[name]))
        if self.product is None:
            return (matmul.from_float4(*matmul.as_float4(rows)) @ right.t()).view(*x.shape[:-1], -1)
        # As many rows as a tile of scales has.
        whole = torch.zeros(-(-count // 128) * 128, rows.shape[1], dtype=rows.dtype, device=rows.device)
        whole[:count] = rows
        coded = matmul.as_float4(whole)
        left = matmul.from_float4(*(part[:count].cpu() for part in coded))
        found = self.product((matmul.packed(coded[0]), matmul.swizzled(coded[1])), self.given[name])[:count]
        if self.cases is not None:
            self.cases.exactly("numbers of 4 bits", left, matmul.from_float4(*matmul.as_float4(rows.cpu())))
            bound = matmul.float4_bound(left, right, plain=False)
            self.cases.compare(f"{name}, {count} rows", found, left @ right.t(), bound)
        return found.view(*x.shape[:-1], -1).to(x.dtype)


@check("inference.float4")
def float4(context: Context) -> Measured:
    """The model with weights and inputs of 4 bits (NVFP4), multiplied as such: read at once, in chunks, word by word.

    Bound: of each product that of matmul.float4, beside the same codes in float64. What goes into it is rounded to 4
    bits, and a rounding before that decides to which: so the scores as a whole are held to no more than the moved runs
    of the reference explain, which is much.
    """
    matmul.require_float4()
    return float4_scores(context, matmul.float4_product)


def float4_scores(context: Context, product: Product) -> Measured:
    """Compare what the model makes of a product of 4-bit numbers with float64."""
    cases = Cases("a language model of 4 bits", REMEDY)
    exact, text = _weights(context), _text(context)
    with torch.no_grad():
        wanted, allowed = _explained(context, exact, text, "bfloat16", Of4Bits(exact))
        given = {name: weight.to(context.device, torch.bfloat16) for name, weight in exact.items()}
        linear = Of4Bits(given, product, cases)
        for name, chunks in WAYS.items():
            found = _generate(given, text.to(context.device), chunks, lambda x: x, linear)
            away = (found.to("cpu", torch.float64) - wanted).norm(dim=-1)
            cases.compare(name, away, torch.zeros_like(away), allowed)
    return cases.result()


# -- what is drawn


def chi_square_bound(freedom: int) -> float:
    """Return what chi-square of so many degrees of freedom exceeds in one of a billion draws."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + SIGMAS * math.sqrt(part)) ** 3


def _distributed(cases: Cases, name: str, counts: torch.Tensor, shares: torch.Tensor) -> None:
    """Compare how often each was drawn with how often it should have been."""
    counts, shares = counts.to("cpu", torch.float64), shares.to("cpu", torch.float64)
    total = counts.sum()
    there = shares > 0
    cases.exactly(f"{name}, what cannot be drawn", counts[~there], torch.zeros(int((~there).sum())))
    wanted = total * shares[there] / shares.sum()
    away = ((counts[there] - wanted).square() / wanted).sum()
    bound = torch.tensor(chi_square_bound(max(1, int(there.sum()) - 1)), dtype=torch.float64)
    cases.compare(name, away, torch.zeros_like(away), bound)


@check("inference.sampling", devices=("cuda", "cpu"), measured=SEEN)
def sampling(context: Context) -> Measured:
    """What is sampled follows its distribution: words, by temperature and top-p, and dropout in attention."""
    import torch.nn.functional as f

    cases = Cases("a distribution", REMEDY)
    draws, device = 200_000, context.device
    logits = torch.randn(50, generator=context.generator("sampling"))
    logits[[3, 20]] = -math.inf
    shares = f.softmax(logits.double(), -1)
    with torch.random.fork_rng(devices=[0] if device == "cuda" else []):
        torch.manual_seed(20_261_124)
        for form in ("float32", "bfloat16", "float16"):
            given = shares.to(device, getattr(torch, form))
            held = given.to("cpu", torch.float64)
            drawn = given.float().multinomial(draws, replacement=True)
            _distributed(cases, f"multinomial, {form}", drawn.bincount(minlength=50), held)
        given = shares.to(device, torch.float32)
        each = given.expand(draws // 4, -1).multinomial(1).flatten()
        _distributed(cases, "multinomial, one of each row", each.bincount(minlength=50), shares)
        # As vLLM and others draw: the largest of the shares by an exponential variable.
        raced = (given.expand(draws // 4, -1) / torch.empty(draws // 4, 50, device=device).exponential_()).argmax(-1)
        _distributed(cases, "the largest by an exponential variable", raced.bincount(minlength=50), shares)
        nucleus = _nucleus(logits.to(device), 0.7, 0.8)
        wanted = _nucleus(logits.double(), 0.7, 0.8)
        cases.compare("temperature and top-p", nucleus, wanted, 1e-5 * (wanted + 1e-3))
        _distributed(
            cases,
            "drawn by temperature and top-p",
            nucleus.multinomial(draws, replacement=True).bincount(minlength=50),
            wanted,
        )
        _left_by_dropout(cases, device)
    return cases.result()


def _nucleus(logits: torch.Tensor, temperature: float, top: float) -> torch.Tensor:
    """Return the shares of the likeliest words that have ``top`` together."""
    shares = torch.softmax(logits / temperature, -1)
    ordered, places = shares.sort(descending=True)
    kept = ordered.cumsum(-1) - ordered < top
    found = torch.zeros_like(shares).scatter(-1, places, ordered * kept)
    return found / found.sum()


def _left_by_dropout(cases: Cases, device: str) -> None:
    """Compare how much dropout leaves in attention, and that the rest is larger; chance.rates has the other ways."""
    import torch.nn.functional as f

    # Each key has the same part and the value 1, so that a result is how many were kept.
    keys = 64
    query = torch.zeros(8, 4, 128, 32, device=device)
    value = torch.ones(8, 4, keys, 32, device=device)
    found = f.scaled_dot_product_attention(query, value, value, dropout_p=0.25)[..., 0]
    kept = (found * 0.75 * keys).round()
    cases.compare(
        "attention with dropout, shares", found, kept.to("cpu", torch.float64) / 0.75 / keys, torch.tensor(1e-5)
    )
    split = torch.stack([kept.sum(), keys * kept.numel() - kept.sum()])
    _distributed(cases, "attention with dropout of 0.25", split, torch.tensor([0.75, 0.25]))


# -- attention's variants


@check("inference.attention", devices=("cuda", "cpu"), measured=SEEN)
def attention_variants(context: Context) -> Measured:
    """Sliding windows, distances that count and packed texts: by masks, and by flex_attention where there is one."""
    import torch.nn.functional as f

    cases = Cases("attention", REMEDY)
    heads, shared, length, size = 4, 2, 72, 32
    generator = context.generator("attention variants")
    query, key, value = (torch.randn(2, count, length, size, generator=generator) for count in (heads, shared, shared))
    places = torch.arange(length)
    distance = places.view(-1, 1) - places
    texts = (places // 20).view(-1, 1) == places // 20
    slopes = 2.0 ** -torch.arange(1, heads + 1).double()
    inside = {
        "a sliding window": (distance >= 0) & (distance < 16),
        "packed texts": texts & (distance >= 0),
        "a prefix and what follows": (distance >= 0) | (places < 12),
    }
    flexible = _flexible()
    with warnings.catch_warnings(), allow_tf32(torch.backends.cuda.matmul, False):
        warnings.simplefilter("ignore")
        for form in ("float32", "bfloat16", "float16"):
            dtype = getattr(torch, form)
            given = [x.to(dtype).to(context.device) for x in (query, key, value)]
            exact = [x.to("cpu", torch.float64) for x in given]
            # The scores have the size of their root of the head's size; each rounding of them is a relative error.
            unit = UNIT_ROUNDOFF[form] * 12 + 2.0**-20
            for name, mask in inside.items():
                wanted = _by_definition(exact[0], exact[1], exact[2], torch.zeros(()).double(), mask)
                bound = unit * exact[2].abs().amax() * torch.ones_like(wanted)
                found = f.scaled_dot_product_attention(*given, attn_mask=mask.to(context.device), enable_gqa=True)
                cases.compare(f"{name}, {form}, by a mask", found, wanted, bound)
                if flexible is not None:
                    seen = mask.to(context.device)
                    block = flexible.create_block_mask(
                        lambda b, h, q, k, seen=seen: seen[q, k], None, None, length, length, device=context.device
                    )
                    found = flexible.flex_attention(*given, block_mask=block, enable_gqa=True)
                    cases.compare(f"{name}, {form}, by flex_attention", found, wanted, bound)
            slope = -slopes.view(-1, 1, 1) * distance.abs()
            wanted = _by_definition(exact[0], exact[1], exact[2], slope, distance >= 0)
            bound = 4 * unit * exact[2].abs().amax() * torch.ones_like(wanted)
            added = slope.masked_fill(distance < 0, -math.inf).to(context.device, dtype)
            found = f.scaled_dot_product_attention(*given, attn_mask=added, enable_gqa=True)
            cases.compare(f"distances that count, {form}, by a mask", found, wanted, bound)
            if flexible is not None:
                weights = slopes.to(context.device, torch.float32)

                def counted(score: t.Any, b: t.Any, h: t.Any, q: t.Any, k: t.Any, weights: t.Any = weights) -> t.Any:
                    return torch.where(q >= k, score - weights[h] * (q - k), -math.inf)

                found = flexible.flex_attention(*given, score_mod=counted, enable_gqa=True)
                cases.compare(f"distances that count, {form}, by flex_attention", found, wanted, bound)
    return cases.result()


def _flexible() -> t.Any:
    """Return torch's module of flex_attention, None where it has none."""
    try:
        from torch.nn.attention import flex_attention
    except ImportError:
        return None
    return flex_attention


def _by_definition(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, added: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    group = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(group, 1) for x in (key, value))
    scores = query @ key.mT / math.sqrt(query.shape[-1]) + added
    return torch.softmax(scores.masked_fill(~mask, -math.inf), -1) @ value
