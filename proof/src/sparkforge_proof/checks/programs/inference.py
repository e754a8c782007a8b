"""Check inference end to end: a language model with a cache for keys and values.

The model's allowed error is measured as in the family training: the float64 run is repeated with each of its steps
perturbed at random by up to the format's unit roundoff.
"""

from __future__ import annotations

import math
import typing as t

from ...check import SEEN_ARM_GRID, Context, Measured, check
from ..bounds import UNIT_ROUNDOFF, Cases, allow_tf32, functional as f, one_thread, torch

if t.TYPE_CHECKING:
    Step = t.Callable[[torch.Tensor], torch.Tensor]
    Weights = t.Mapping[str, torch.Tensor]

WORDS, WIDTH, HEADS, SHARED, LAYERS = 97, 64, 4, 2, 2
#: The numbers of tokens in a text and in its prompt. cuDNN makes a new plan for each number of keys, which takes one
#: core 0.35 s on a host with an H100.
LENGTH, PROMPT = 40, 31
#: The chunks in which a text is read.
WAYS = {
    "the whole text": [LENGTH],
    "a prompt and word by word": [PROMPT, *[1] * (LENGTH - PROMPT)],
    "in chunks": [1, 16, 7, LENGTH - 24],
}
MARGIN, PERTURBED_RUNS = 8.0, 2

REMEDY = (
    "See which checks of the families tensors, matmul, attention and survey also fail: the first one names the "
    "operator. If none does, use another stack."
)


def _weights(context: Context) -> dict[str, torch.Tensor]:
    """Return the weights in float64; each of them can be represented in every 16-bit format."""
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
    weights = {}
    for name, shape in shapes.items():
        drawn = torch.randn(shape, generator=generator)
        drawn = 1 + drawn / 8 if len(shape) == 1 else drawn * (1 if name == "words" else 1.5 / math.sqrt(shape[1]))
        weights[name] = drawn.to(torch.bfloat16).to(torch.float16).double()
    return weights


class Cache:
    """The keys and values of each layer, with room for the tokens of a text."""

    def __init__(self, like: torch.Tensor) -> None:
        shape = (like.shape[0], SHARED, LENGTH, WIDTH // HEADS)
        # A position that was never written must never be read.
        self.keys = [like.new_full(shape, math.nan) for _layer in range(LAYERS)]
        self.values = [like.new_full(shape, math.nan) for _layer in range(LAYERS)]

    def take(self, layer: int, start: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store the keys and values of some tokens, and return those of all tokens so far."""
        end = start + key.shape[2]
        self.keys[layer][:, :, start:end] = key
        self.values[layer][:, :, start:end] = value
        return self.keys[layer][:, :, :end], self.values[layer][:, :, :end]


def _model(weights: Weights, text: torch.Tensor, cache: Cache, start: int, step: Step) -> torch.Tensor:
    """Return the scores for the next word after each token.

    :param text: tokens (batch, length), which begin at ``start`` in the complete text.
    :param step: a function that is applied to each intermediate result.
    """

    def norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return step(f.rms_norm(x, (WIDTH,), weight, eps=1e-5))

    def project(x: torch.Tensor, name: str) -> torch.Tensor:
        return step(f.linear(x, weights[name]))

    def heads(x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2)

    length = text.shape[1]
    rotation = _rotation(text, start, weights["words"].dtype)
    hidden = f.embedding(text, weights["words"])
    is_visible = torch.arange(start + length, device=text.device) <= torch.arange(
        start, start + length, device=text.device
    ).view(-1, 1)
    for layer in range(LAYERS):
        x = norm(hidden, weights[f"{layer}.before"])
        query, key = (step(_rotated(heads(project(x, f"{layer}.{name}")), rotation)) for name in ("query", "key"))
        keys, values = cache.take(layer, start, key, heads(project(x, f"{layer}.value")))
        attended = f.scaled_dot_product_attention(query, keys, values, attn_mask=is_visible, enable_gqa=True)
        hidden = step(hidden + project(step(attended).transpose(1, 2).flatten(2), f"{layer}.output"))
        x = norm(hidden, weights[f"{layer}.after"])
        gated = step(step(f.silu(project(x, f"{layer}.gate"))) * project(x, f"{layer}.up"))
        hidden = step(hidden + project(gated, f"{layer}.down"))
    return step(f.linear(norm(hidden, weights["norm"]), weights["words"]))


def _rotation(text: torch.Tensor, start: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosine and sine for each position and pair of features (RoPE)."""
    size = WIDTH // HEADS
    frequencies = 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.arange(start, start + text.shape[1], dtype=torch.float64).view(-1, 1) * frequencies
    return angles.cos().to(text.device, dtype), angles.sin().to(text.device, dtype)


def _rotated(x: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    cosine, sine = rotation
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


def _generate(weights: Weights, text: torch.Tensor, chunks: t.Sequence[int], step: Step) -> torch.Tensor:
    """Return the scores after every token of a text that is read in chunks."""
    cache, start, scores = Cache(weights["words"][:1].expand(text.shape[0], -1)), 0, []
    for chunk in chunks:
        scores.append(_model(weights, text[:, start : start + chunk], cache, start, step))
        start += chunk
    return torch.cat(scores, 1)


@check("inference.decode", devices=("cuda", "cpu"), measured=SEEN_ARM_GRID)
def decode(context: Context) -> Measured:
    """Require that a model scores a prompt, then single words with its cache, as it scores the complete text."""
    cases = Cases("a language model", REMEDY)
    exact, text = _weights(context), _text(context)
    with torch.no_grad(), allow_tf32(torch.backends.cuda.matmul, False):
        for form in ("float32", "bfloat16", "float16"):
            for weight_format in ("", "float8_e4m3fn"):
                dtype = getattr(torch, form)
                stored = _stored(exact, weight_format)
                exact_weights = {name: weight.double() * scale for name, (weight, scale) in stored.items()}
                # 8-bit weights are converted to the format when they are used; their scales are powers of two.
                weights = {
                    name: weight.to(context.device).to(dtype) * scale for name, (weight, scale) in stored.items()
                }
                expected, allowed = _scores_and_bound(context, exact_weights, text, form)
                for name, chunks in WAYS.items():
                    scores = _generate(weights, text.to(context.device), chunks, lambda x: x)
                    distance = (scores.to("cpu", torch.float64) - expected).norm(dim=-1)
                    case = f"{form}{', weights of ' + weight_format if weight_format else ''}, {name}"
                    cases.compare(case, distance, torch.zeros_like(distance), allowed)
    return cases.result()


def _text(context: Context) -> torch.Tensor:
    """Return three texts (3, length)."""
    return torch.randint(0, WORDS, (3, LENGTH), generator=context.generator("inference text"))


def _stored(exact: Weights, weight_format: str) -> dict[str, tuple[torch.Tensor, float]]:
    """Return the weights as stored, each with its scale; matrices have 8 bits if an 8-bit format is named."""
    stored = {}
    for name, weight in exact.items():
        scale = 1.0
        if weight_format and weight.dim() == 2:
            scale = 2.0 ** math.ceil(math.log2(float(weight.abs().max()) / 448.0))
            weight = (weight / scale).float().to(getattr(torch, weight_format))
        stored[name] = (weight, scale)
    return stored


def _scores_and_bound(
    context: Context, weights: Weights, text: torch.Tensor, form: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the float64 scores, and the allowed error of the scores after each token as a norm."""
    unit = UNIT_ROUNDOFF[form]
    with one_thread():
        expected = _generate(weights, text, [LENGTH], lambda x: x)
        distance = torch.zeros(expected.shape[:2], dtype=torch.float64)
        for number in range(PERTURBED_RUNS):
            generator = context.generator(f"inference {form} {number}")

            def perturbed(x: torch.Tensor, generator: torch.Generator = generator) -> torch.Tensor:
                return x * (1 + unit * (torch.rand(x.shape, generator=generator, dtype=torch.float64) * 2 - 1))

            distance = torch.maximum(distance, (_generate(weights, text, [LENGTH], perturbed) - expected).norm(dim=-1))
    return expected, MARGIN * (distance + unit * expected.norm(dim=-1))
