"""Draw norms, softmax, losses, pooling and functions of numbers, with their gradients, in any format, shape and layout.

The reference composes each layer's definition of elementwise functions and folds in float64 on the same device, and
autograd differentiates it. Inputs are of order 1, and a result may be off by a few units of the largest one: the survey
measures the rounding errors themselves.
"""

from __future__ import annotations

import math
import typing as t

from ...check import X86S_DRAWN, Context, Measured, check
from ..bounds import functional as f, functions_of, torch
from ..draws import ROWS, Draw, Draws, judge
from .reductions import FLOATS, fold, rows_of

#: The number of calls in a run, and the most elements of a usual one and of one in ten.
DRAWN = {"cuda": 2_000, "cpu": 1_200}
USUAL, MOST = 2**13, {"cuda": 2**22, "cpu": 2**16}
#: The lengths of rows: around vectors and blocks of threads, and those of models and vocabularies.
LENGTHS = (*ROWS, (768, 5_120), (8_191, 8_200), (30_000, 66_000))
#: The numbers of rows, images, channels and positions.
COUNTS = ((1, 1), (2, 5), (6, 40), (31, 34), (60, 300), (1_000, 1_100))
#: The allowed error by format, as a share of the largest result.
ALLOWED = {"float64": 2.0**-30, "float32": 2.0**-12, "float16": 2.0**-7, "bfloat16": 2.0**-4}
#: The size below which results of 32 and 64 bits are not expected to be more accurate, because terms cancel.
SMALLEST = 2.0**-4
#: The number of terms from which the allowed error grows.
SUMMED = 2**12
#: The number that norms add to a variance, so that they divide by at least 1.
EPSILON = 1.0


def total(x: torch.Tensor, dimensions: t.Sequence[int]) -> torch.Tensor:
    """Return the sums over some dimensions, which are kept."""
    sums = fold(torch.add, rows_of(x, dimensions))
    for dimension in sorted(each % x.ndim for each in dimensions):
        sums = sums.unsqueeze(dimension)
    return sums


def mean(x: torch.Tensor, dimensions: t.Sequence[int]) -> torch.Tensor:
    return total(x, dimensions) / math.prod(x.shape[each] for each in dimensions)


def standard(x: torch.Tensor, dimensions: t.Sequence[int]) -> torch.Tensor:
    """Return numbers with their mean subtracted and divided by their standard deviation."""
    centred = x - mean(x, dimensions)
    return centred / (mean(centred * centred, dimensions) + EPSILON).sqrt()


def logarithm(x: torch.Tensor, i: int) -> torch.Tensor:
    """Return the logarithm of the sum of the exponentials over a dimension, which is kept."""
    largest = x.detach().amax(i, True)
    return total((x - largest).exp(), [i]).log() + largest


def windows(x: torch.Tensor, kernel: int, stride: int, padding: int, fill: float) -> torch.Tensor:
    """Return the windows over each position of pictures, flattened in the last dimension."""
    count = x.ndim - 2
    x = f.pad(x, [padding] * (2 * count), value=fill)
    for dimension in range(2, 2 + count):
        x = x.unfold(dimension, kernel, stride)
    return x.flatten(2 + count)


def of_channels(weights: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Return a weight for each channel of pictures, in a shape that is broadcast to theirs."""
    return weights.view(-1, *[1] * (x.ndim - 2))


_DEFINITIONS = {"total": total, "mean": mean, "standard": standard, "logarithm": logarithm, "windows": windows,
                "fold": fold, "of": of_channels, "EPSILON": EPSILON,
                "pool": lambda kind, x: getattr(f, f"{kind}_pool{x.ndim - 2}d")}  # fmt: skip
#: Layers by table: of ``x``, weights ``w`` and ``b`` of the last dimension or of each channel, a dimension ``i`` and a
#: count ``n``; capital letters are the same in float64. They return a result and its reference.
LAYERS = {
    table: functions_of(table, "x, w, b, X, W, B, i, n", **_DEFINITIONS)
    for table in ("layers of rows", "layers of channels")
}
#: Functions of one number or of two, and the names of layers, among which "" stands for such a function.
OF_NUMBERS = functions_of("functions of numbers", "x, y")
_NAMES = [*((table, name) for table, functions in LAYERS.items() for name in functions), *[("", "")] * 12]


@check("layers.drawn", devices=("cuda", "cpu"), seconds=120, measured=X86S_DRAWN)
def drawn(context: Context) -> Measured:
    """Check norms, softmax, losses, pooling and functions of numbers with their gradients, thousands of calls."""
    return judge(context, "a layer", "layers", DRAWN, _compare)


def _shape(draw: Draw, table: str) -> tuple[int, ...]:
    chance, most = draw.chance, MOST[draw.device] if draw.chance.random() < 0.1 else USUAL
    if table == "layers of channels":
        return draw.shape(COUNTS, chance.choice((3, 4, 4, 5)), most)
    length = draw.between(chance.choice(LENGTHS))
    rows = min(draw.between(chance.choice(COUNTS)), max(4, most // length))
    return chance.choice(((rows, length), (rows, 1, length), (1, rows, length), (2, rows, length)))


def _compare(draws: Draws, draw: Draw) -> None:
    # With some unaligned inputs, an H200 ended with "misaligned address" (2.11.0).
    draw.is_aligned = draw.device == "cuda"
    chance, (table, name), form = draw.chance, draw.chance.choice(_NAMES), draw.chance.choice((*FLOATS, "float32"))
    shape, dtype = _shape(draw, table), getattr(torch, form)
    channels = shape[1] if table == "layers of channels" else shape[-1]
    name = name or chance.choice([*OF_NUMBERS])

    def numbers(shape: t.Sequence[int]) -> torch.Tensor:
        # Between 1 and 3, of both signs: no function has a corner there, and nothing is divided by a small number.
        signs = 1 - 2 * draw.integers(shape, 0, 1, dtype)
        plain = signs * (1 + draw.integers(shape, 1, 31, dtype) / 16)
        # On a CPU, torch's gradients of batch_norm ignore the strides of weights, statistics and a batch of one (2.6 to
        # 2.14; docs/evidence/found.md).
        is_known = name.startswith("batch_norm") and draw.device == "cpu"
        return (plain if is_known else draw.lay(plain)[1]).requires_grad_()

    leaves = [numbers(shape), numbers((channels,) if table else shape), numbers((channels,))]
    exact = [each.detach().double().contiguous().requires_grad_() for each in leaves]
    i, n = chance.randrange(len(shape)), chance.randint(1, 5)
    case = f"{name}, {shape}, {form}, {i} {n}, {', '.join(draw.conditions)}"
    with draws.cases.offered(f"{name}, {form}"), torch.enable_grad():
        if table:
            actual, expected = LAYERS[table][name](*leaves, *exact, i, n)
        else:
            actual, expected = OF_NUMBERS[name](*leaves[:2]), OF_NUMBERS[name](*exact[:2])
        # A CPU adds up strided rows one number after another.
        share = ALLOWED[form] * max(1.0, max(shape) / SUMMED)
        upstream = draw.integers(expected.shape, -8, 8, torch.float64) / 8
        results = [(case, actual, expected)]
        if "pool" not in name:
            gradients = (
                torch.autograd.grad((result.double() * upstream).sum(), inputs, allow_unused=True)
                for result, inputs in ((actual, leaves), (expected, exact))
            )
            # A CPU adds up the gradients of weights in 16 bits.
            parts = slice(1 if dtype.itemsize == 2 and table else None)
            results += [(f"{case}, gradient", *pair) for pair in list(zip(*gradients))[parts] if pair[0] is not None]
        for part, result, reference in results:
            if reference.numel():
                # The terms of a weight's gradient may cancel.
                smallest = math.sqrt(math.prod(shape) / reference.numel()) if part != case else SMALLEST
                largest = reference.detach().abs().amax().clamp_min(max(smallest, dtype.itemsize == 2))
                draws.compare(part, result.detach(), reference.detach(), share * largest)
