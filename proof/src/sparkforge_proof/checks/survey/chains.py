"""The programs that ``compiled`` compiles: chains of steps that are drawn from tables of expressions.

A chain changes ``x`` step by step, without changing its shape, and computes other results from it on the way, so that
every value has several consumers. A compiler fuses such steps, reuses their memory, and replaces views and writes.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import re
import types
import typing as t

from . import panels
from .rounding import seed_of, spacing

if t.TYPE_CHECKING:
    import torch

#: Steps that only move numbers of ``x`` and ``y``, or double them, and keep the shape. The indices ``i`` may be equal.
MOVES = """
x.flip(0); x.roll(1, 1); x * 2; x.t().contiguous().t(); torch.where(y > 0, x, y); x.masked_fill(y > 1, 0.5)
F.pad(x, (1, -1, 0, 0)); F.pad(x[None], (2, 1), "reflect")[0, :, 1:-2]; torch.cat(x.chunk(3, 1)[::-1], 1)
x.tril(2) + y.triu(3); x.gather(1, i.expand(x.shape)); x[:, -1 - i]; x.index_select(1, i); F.embedding(i, x.t()).t()
x.index_copy(1, i.argsort(stable=True), y); x.index_fill(1, i[:2], 0.5); F.dropout(x, 0.0, True); torch.maximum(x, -y)
write(x, lambda z: z[:, ::2].mul_(2)); write(x.contiguous(), lambda z: z.view(-1)[1:].mul_(2))
write(x, lambda z: z.t().copy_(y.t())); write(x, lambda z: z.diagonal().fill_(2))
write(x, lambda z: (z[:, 1:].mul_(0.5), z[:, :-1].mul_(2)))
write(x, lambda z: [z[:, k::3].mul_(2**k) for k in range(3)])
write(x, lambda z: z.index_put_((z.new_zeros(1).long(), i[:1]), z[:1, :1].sum()))
write(x, lambda z: z[1:].copy_(y[:-1]))
"""
#: Steps that keep the shape and move the result little if their input moves little.
SMOOTH = """
x.sin(); x * y; x - 0.5 * y; F.gelu(x); F.silu(x); F.softplus(x); x.erf(); (x * 0.2).cosh(); (x.square() + 0.5).rsqrt()
torch.lerp(x, y, 0.3); torch.addcdiv(x, y, y.abs() + 1, value=0.5); torch.hypot(x, y + 3); x.softmax(-1) * 4
x.softmax(0) * 4; x.log_softmax(-1) * 0.5; F.layer_norm(x, x.shape[-1:]); F.rms_norm(x, x.shape[-1:], y[0], 1e-5)
x - x.mean(-1, keepdim=True); F.normalize(x, dim=0) * 2; sum((x.roll(k, 0) / (k + 1) for k in range(3)), 0 * y)
x.t().contiguous().sin().t(); x.cumsum(-1) * 0.1; x.cumsum(0) * 0.3; x * (1 + y[:1]) + y[-1:]
x + numbers(x, [1.5, -2.0, 0.25]).mul_(2)[i % 3]; x + (torch.arange(x.shape[1], device=x.device) * 0.01).to(x.dtype)
x * torch.linspace(-1, 1, 7, dtype=x.dtype, device=x.device)[i % 7]; x.scatter_add(1, i.expand(x.shape), y)
x.scatter_reduce(1, i.expand(x.shape), y, "mean"); x.index_add(1, i, y, alpha=2)
(z := x.index_add(1, i, y, alpha=2)) * 0.5 + z.sin(); x.t().index_put((-1 - i,), y.t(), accumulate=True).t()
write(x, lambda z: z.mul_(y[:1]).sub_(y[:, :1])); write(x, lambda z: z.index_add_(0, i[:2] % 2, y[:2]))
"""
ENDS = """
x.sum(-1); x.sum(0); x.sum(); x.mean(0, keepdim=True); torch.var_mean(x, -1); x.std(0, correction=0); x.logsumexp(-1)
x.logcumsumexp(-1); torch.linalg.vector_norm(x + 3, 3, -1); (1 + 0.05 * x.tanh()).prod(-1); x @ y.t(); x.t() @ y
F.linear(x, y, y[:, 0]); torch.einsum("ij,kj->ik", x, y); x.tanh().exp() / x.tanh().exp().sum(-1, keepdim=True)
torch.outer(x[0], y[0]); F.scaled_dot_product_attention(x[None, None], y[None, None], x[None, None])
F.scaled_dot_product_attention(x[None, None, :2], y[None, None], y[None, None], is_causal=True)
F.cross_entropy(x.t(), i % x.shape[0]); F.cross_entropy(x.t(), i % x.shape[0], ignore_index=1, label_smoothing=0.1)
F.mse_loss(x, y); F.smooth_l1_loss(x, y, beta=0.3); F.kl_div(x, y, log_target=True, reduction="batchmean")
F.cosine_similarity(x + 3, y + 3, 0); x.diff(dim=0); x.unfold(1, 3, 2).sum(-1)
torch.stack([x, y, x + y], -1).flatten(1); F.conv1d(x[None, :2], y[None, :2, :3], padding=1)
x.t().reshape(-1).view(x.shape).sum(0); F.avg_pool1d(x[None], 3, 2, 1, ceil_mode=True, count_include_pad=False)
x[:2].repeat_interleave(2, 1) + 1
"""
IMAGE_MOVES = """
x.to(memory_format=torch.channels_last); x.roll((1, 2), (2, 3)); write(x, lambda z: z[:, 1, ::2].mul_(2)); x.flip(1)
F.pad(x, (1, 1, 1, 1), "circular")[:, :, 2:, :-2]; F.pad(x, (1, 2, 1, 0), "reflect")[:, :, 1:, 1:-2]; x * 2
"""
IMAGES = """
F.group_norm(x, 2); F.group_norm(x.contiguous(memory_format=torch.channels_last), 2, y[0, :, 0, 0], y[0, :, 0, 1])
F.batch_norm(x, x.new_full((4,), 0.5), x.new_full((4,), 2.0)); F.batch_norm(x, None, None, training=True); x * y
x + F.batch_norm(x.new_ones(1, 4, 1, 1), x.new_zeros(4), x.new_full((4,), 0.25), None, x.new_full((4,), 0.5))
F.instance_norm(x); F.layer_norm(x.permute(0, 2, 3, 1), (4,)).permute(0, 3, 1, 2); F.silu(x); x.softmax(1) * 3
F.conv2d(x, weights(x, 4, 4, 3), padding=1) * 0.2; F.conv2d(x, weights(x, 4, 2, 3), None, 1, 2, 2, 2) * 0.2
x * y.mean((2, 3), keepdim=True).sigmoid(); F.avg_pool2d(F.interpolate(x, scale_factor=2, mode="bilinear"), 2)
F.pixel_shuffle(F.interpolate(x, scale_factor=2), 2).repeat(1, 4, 1, 1)[..., : x.shape[2], : x.shape[3]]
"""
IMAGE_ENDS = """
F.avg_pool2d(x, 3, 2, 1, count_include_pad=False); (F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_avg_pool2d(x, 1))
F.lp_pool2d(x.tanh() + 3, 2, 2); F.interpolate(x, (7, 5), mode="bilinear"); F.interpolate(x, (13, 6), mode="bicubic")
(F.interpolate(x, (1, 1), mode="bilinear"), F.interpolate(x, (3, 1), mode="bilinear", align_corners=True))
(F.interpolate(x, (7, 5)), F.interpolate(x, (7, 5), mode="nearest-exact")); F.unfold(x, 3, padding=1, stride=2)
F.fold(F.unfold(x, 3), x.shape[2:], 3); F.pixel_unshuffle(x[:, :, :8, :8], 2); x.mean((2, 3))
torch.var_mean(x, (0, 2, 3)); F.conv_transpose2d(x, weights(x, 4, 2, 3), stride=2, output_padding=1) * 0.2
F.scaled_dot_product_attention(x, y, x); F.adaptive_avg_pool2d(x, 2).flatten(1).sum(1)
x.flatten(2).mT @ weights(x, 4, 6, 1)[..., 0, 0]
F.grid_sample(x, y[:, :2, :3, :4].permute(0, 2, 3, 1).tanh(), align_corners=False, padding_mode="border")
torch.bmm(x.flatten(0, 1), y.flatten(0, 1).mT)
"""
POOLS = """
F.max_pool2d(x, 3, 2, 1); (F.max_pool2d(x, 3, 1, 1) + x, F.max_pool2d(x, 2, ceil_mode=True)); x.amax((0, 2, 3))
F.adaptive_max_pool2d(x, (3, 4)); F.max_pool2d(x, 3, 1, 1, 2); F.max_pool2d(x, 2, return_indices=True)
F.fractional_max_pool2d(x.float(), 2, output_size=(3, 4), _random_samples=y.detach()[:, :, 0, :2].float().abs() % 1)
F.max_pool2d(x.contiguous(memory_format=torch.channels_last), 3, 2, 1); x.flatten(1).max(1); F.relu(x)
"""
#: Expressions with a transposed order of memory. Fused with a reduction, torch 2.13's vectorised code for CPUs writes
#: beyond its tensors (pytorch#196681).
TRANSPOSING = re.compile(r"\.t\(\)|\.mT|permute|channels_last|transpose")
#: The shapes of rows and pictures; a run uses two that follow each other.
ROWS = ((5, 37), (17, 66), (3, 1030), (33, 19), (9, 129), (4, 257), (65, 16))
LONG = ((5, 40_003), (67, 1031), (40_003, 5), (300, 301))
MATRICES = ((37, 16), (66, 64), (19, 40))
PICTURES = ((2, 4, 9, 11), (3, 4, 12, 13), (1, 4, 17, 8), (5, 4, 10, 33))
#: The formats of integers, and the maximum number of steps in a chain.
WHOLE, STEPS = ("int32", "int64", "int8", "int16", "uint8"), 8
#: The number of steps that a chain's name lists.
NAMED = 16
#: The formats of the other numbers in panels.
FORMS = ("float32", "bfloat16", "float16")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of chains.

    :ivar maps: the expressions that replace ``x``, and ``ends`` those that compute other results.
    :ivar forms: the formats of a panel, and ``changes`` whether its programs change ``x``.
    :ivar exact: whether the results do not depend on the order of operations, so that at most one rounding is allowed.
    """

    maps: str
    ends: str
    shapes: tuple[tuple[int, ...], ...] = ROWS
    exact: bool = False
    forms: tuple[str, ...] = FORMS
    changes: bool = False


#: The kinds of programs that each run compiles; see the module ``panels``.
PANELS = {
    "functions": Kind("", panels.FUNCTIONS),
    "special functions": Kind("", panels.SPECIAL, forms=("float32",)),
    "reductions": Kind("", panels.REDUCTIONS, LONG),
    # In float16, the sum of the losses of 40,003 rows overflows on a CPU.
    "totals": Kind("", panels.TOTALS, LONG, forms=FORMS[:2]),
    "copies": Kind("", panels.COPIES, exact=True),
    "writes": Kind("", panels.WRITES),
    "folds": Kind("", panels.FOLDS, exact=True),
    "whole numbers": Kind("", panels.WHOLE_NUMBERS, exact=True, forms=WHOLE),
    "products": Kind("", panels.PRODUCTS, MATRICES),
    "attention": Kind("", panels.ATTENTION, MATRICES),
    "states": Kind("", panels.STATES, changes=True),
    "calls": Kind("", panels.CALLS),
}
#: Rows of panels. A default run compiles a table of two of these rows, other ones each day; a full run compiles all
#: tables. On an H200, a table took about 30 core-seconds.
TURNS = (
    ("functions",),
    ("copies",),
    ("reductions",),
    ("totals", "special functions"),
    ("products", "attention"),
    ("whole numbers", "folds"),
    ("writes", "states", "calls"),
)
KINDS = {
    "rows": Kind(MOVES + SMOOTH, ENDS),
    "pictures": Kind(IMAGE_MOVES + IMAGES, IMAGE_ENDS, PICTURES),
    "pools": Kind(IMAGE_MOVES, POOLS, PICTURES, exact=True),
}


class Chain:
    """A program of several steps that is called like one of the catalogue's operators.

    :param steps: the expressions, each with whether its result replaces ``x``.
    """

    def __init__(self, name: str, kind: Kind, steps: t.Sequence[tuple[bool, str]]) -> None:
        functions = [re.findall(r"\.(\w+)\(", text) or [text] for _is_map, text in steps[:NAMED]]
        functions += [["more"]] if len(steps) > NAMED else []
        # A name ends at its first comma; see :func:`all_operators.judge`.
        self.name = f"{name} ({' > '.join(' '.join(dict.fromkeys(each)) for each in functions)})".replace(",", "")
        self.kind, self.steps = kind, [(is_map, _step(text)) for is_map, text in steps]
        # A sum of terms that cancel is compared with numbers of this size.
        self.op, self.scale = self, 0.0 if kind.exact else 1.0

    def __call__(self, x: torch.Tensor, *others: torch.Tensor) -> list[t.Any]:
        """Return the results of all steps that do not replace ``x``, and the last ``x``."""
        results = []
        for is_map, step in self.steps:
            value = step(x, *others)
            if is_map:
                x = value
            else:
                results.append(value)
        return [*results, x] if self.kind.maps or self.kind.changes else results


def _step(text: str) -> t.Any:
    import torch

    names = {"torch": torch, "math": math, "F": torch.nn.functional, "write": _write, "bits": _bits, "signs": _signs}
    names |= {"numbers": _numbers, "weights": _weights, **panels.functions()}
    return eval(f"lambda x, y, i, q=None, k=None, v=None, m=None: {text}", names)  # noqa: S307 - the tables above are the only source


def _write(x: torch.Tensor, change: t.Callable[[torch.Tensor], t.Any]) -> torch.Tensor:
    """Return a copy of a tensor after a function has changed it in place."""
    copy = x.clone()
    change(copy)
    return copy


def _bits(x: torch.Tensor) -> torch.dtype:
    import torch

    return {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]


def _signs(x: torch.Tensor) -> torch.Tensor:
    """Return the sign bits of numbers except NaN, through a view in another format."""
    return (x.view(_bits(x)) < 0) & ~x.isnan()


def _numbers(x: torch.Tensor, values: list[t.Any]) -> torch.Tensor:
    """Return a tensor that is made of a list, in a tensor's format."""
    import torch

    return torch.tensor(values, dtype=x.dtype, device=x.device)


def _weights(x: torch.Tensor, outputs: int, inputs: int, size: int) -> torch.Tensor:
    """Return constant weights of a convolution."""
    import torch

    values = torch.linspace(-1, 1, outputs * inputs * size**2, dtype=x.dtype, device=x.device)
    return values.view(outputs, inputs, size, size)


def draw(seed: int, part: int, parts: int, on_cpu: bool) -> list[Chain]:
    """Return one part of the chains of all kinds; all parts for a seed use each expression once.

    :param on_cpu: whether to leave out expressions of ``TRANSPOSING``.
    """
    chains = []
    for name, kind in KINDS.items():
        order = random.Random(f"{seed} {name}")  # noqa: S311 - no secret
        maps, ends = (re.split(r"[;\n]\s*", text.strip()) for text in (kind.maps, kind.ends))
        order.shuffle(maps)
        order.shuffle(ends)
        count = math.ceil((len(maps) + len(ends)) / STEPS)
        count = math.ceil(count / parts) * parts
        for number in range(part, count, parts):
            mine = itertools.zip_longest(ends[number::count], maps[number::count])
            steps = [(side == 1, text) for pair in mine for side, text in enumerate(pair) if text]
            steps = [step for step in steps if not (on_cpu and TRANSPOSING.search(step[1]))]
            if steps:
                chains.append(Chain(f"{name} {number}", kind, steps))
    return chains


def tables(seed: int, full: bool) -> list[tuple[str, int]]:
    """Return the names of the panels of a run, each with a number that selects its format, shape and direction."""
    if full:
        return [(name, seed + form) for name, kind in PANELS.items() for form in range(len(kind.forms))]
    week, rows = seed // len(TURNS), [(2 * seed + number) % len(TURNS) for number in range(2)]
    return [(TURNS[row][week % len(TURNS[row])], week // len(TURNS[row]) + row) for row in rows]


def panel(name: str, form: str, turn: int, together: bool, on_cpu: bool) -> list[Chain]:
    """Return the programs of a table: each line, or all lines together.

    :param turn: selects the dimension of reductions.
    :param on_cpu: whether to leave out expressions of ``TRANSPOSING`` in tables with reductions.
    """
    kind = PANELS[name]
    lines = re.sub(r"\bD\b", str(-(turn // 2 % 2)), kind.ends.strip()).splitlines()
    programs = [re.split(r";\s*", line) for line in (["; ".join(lines)] if together or kind.changes else lines)]
    if on_cpu and kind.shapes is not MATRICES and name != "copies":
        programs = [[text for text in texts if not TRANSPOSING.search(text)] for texts in programs]
    return [
        Chain(f"{name} {number} in {form}", kind, [(False, text) for text in texts])
        for number, texts in enumerate(programs)
        if texts
    ]


def panel_bounds(kind: Kind, form: str) -> tuple[float, float]:
    """Return the bounds for results and gradients of a panel in a format, in units."""
    if kind.exact:
        return 2.0, 16.0
    if form == "float32":
        return (64.0, 128.0) if kind.shapes is LONG else (16.0, 64.0)
    return 4.0, 16.0


def sample(kind: Kind, form: str, device: str, seed: str, second: bool) -> t.Any:
    """Return inputs of a kind's chain in a format, like those of the catalogue, in one of two shapes."""
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
    values = [value.to(device, dtype).requires_grad_(kind.shapes is PICTURES or not kind.exact) for value in (x, y)]
    others: list[torch.Tensor] = []
    if kind.shapes is MATRICES:
        sizes = [*[(2, 4, *shape)] * 3, (shape[0], shape[0])]
        others = [torch.randn(size, generator=generator).to(device, dtype).requires_grad_() for size in sizes]
    return types.SimpleNamespace(
        input=values[0], args=(values[1], indices, *others), kwargs={}, output_process_fn_grad=lambda result: result
    )
