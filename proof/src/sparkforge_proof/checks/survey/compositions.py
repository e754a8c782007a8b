"""Draws programs in which views, functions, joins and reductions follow each other in new combinations each day.

A program is a view of the inputs, two functions of it, an expression that joins their results, and one that ends it. In
a line ``x`` and ``y`` are the inputs of its step, ``a`` and ``b`` the results of the two functions, and ``D`` is a
dimension.

Compiled code need not round the results of a step to the format. So the functions are small, and later steps do not
enlarge differences: an exponential of a difference from a maximum, a step or a quotient would. Integers do not
overflow, because compiled code may wrap those of eight and sixteen bits later (pytorch#109105).
"""

from __future__ import annotations

import random
import re
import typing as t

from ..bounds import torch
from . import expressions

#: Views and copies of tensors of two dimensions. Those with a transposed order of memory come last.
VIEWS = """
x; x.flip(1); x[:, ::2]; x[1:, 1:]; x[:, 1]; x[1]; x[None].expand(2, *x.shape); x.unfold(1, 5, 2)[..., 2]
x[:, i]; torch.cat([x[:, 3:], x[:, :3]], 1); x.roll(1, 0); torch.stack(x.unbind(0)[::-1]); F.pad(x, (1, 2), value=0.5)
x.reshape(-1)[1:]; x.reshape(x.shape[::-1]); x[i[:7] % len(x)]; x.repeat(2, 1); x[:, :12].unflatten(1, (3, 4))[:, 1]
torch.cat([z * -1 for z in x.chunk(3, 1)], 1); x.t(); x.t().contiguous(); x[:, :12].unflatten(1, (3, 4)).transpose(1, 2)
"""
#: Functions whose results are small.
FUNCTIONS = """
x.sin(); x.cos(); x.tanh(); x.sigmoid(); x.erf(); x.erfc(); x.atan(); (x * 0.125).asin(); (x * 0.125).acos(); x.asinh()
F.gelu(x); F.gelu(x, approximate="tanh"); F.silu(x); F.mish(x); F.softplus(x); F.logsigmoid(x); F.softsign(x)
F.elu(x, 0.7); F.hardtanh(x, -0.5, 0.75); F.hardsigmoid(x); F.hardswish(x); F.relu(x); x.clamp(-1, 0.5); x.abs()
torch.maximum(x, y); torch.minimum(x, y); torch.hypot(x, y); torch.atan2(x, y); torch.logaddexp(x, y); x.lerp(y, 0.75)
(x * x + 0.5).rsqrt(); (x * x + 1).log(); (x.abs() + 0.5).lgamma(); x / (y * y + 1); x.copysign(y); x.softmax(-1)
x * (y > 0); torch.where(x > y, x, -y); F.leaky_relu(x, -0.25); x.softmax(0); F.layer_norm(x, x.shape[-1:], eps=0.5)
"""
#: Joins of the results of two functions.
JOINS = """
torch.cat([a, b], -1); torch.stack([a, b, x], -1); torch.stack([a, b, y, x]).flatten(0, 1); torch.cat([a, y, b])
torch.where(x > y, a + x * y, a); torch.where(y > 0, a, b); a + b * x; a.lerp(b, 0.25)
sum([z for z in torch.cat([a, b, x], -1).unbind(-1)[:9]])[None] * 0.125; torch.addcmul(a, b, x, value=0.5)
again(lambda z: z.sin() * b, a); custom.scaled(a, 2) + b
write(a, lambda z: z[1:].add_(b[:-1])); write(a, lambda z: z[..., ::2].mul_(b[..., ::2]))
[(z := a + 1), custom.scale_(z, 3), z + b][-1]; a.masked_fill(x > 0.5, 0.25) + b
a.index_add(-1, i, b[..., : len(i)]); a.scatter_add(-1, i.expand(*a.shape[:-1], len(i)), b[..., : len(i)])
torch.cat([torch.where(torch.cat([x > 0, y > 0], -1), torch.cat([a, b], -1), 0.5), a], -1); a[..., i] * 2 + b[..., i]
[z * (x > k) + b for k, z in enumerate(torch.stack([a, b, x]).unbind())][1]
torch.cat([a.reshape(-1), x.reshape(-1)[3:]])
"""
#: Ends with continuous gradients, and others.
ENDS = """
x; x.mean(D); x - x.mean(D, keepdim=True); x.square().mean(D); x[..., 1:] - x[..., :-1]; x.flip(0) + x; x.mean()
x.reshape(-1)[::3]; x.float().mean(D); F.gelu(x); torch.cat([x, x.sin()], D)[..., 1:]; x * x.sigmoid()
(x.to(torch.float32) * 0.5).cos().to(x.dtype); x[..., :3].cumsum(-1)
"""
EXTREMA = """
x.amax(D); x - x.amax(D, True); x.relu().mean(D); x.abs().mean(D); x.clamp(-1, 0.5); torch.aminmax(x, dim=0)
x.max(D)[0] + x.min(D)[0]
"""
#: Formats of integers, operations on them, and ends; all results are exact.
INTEGERS = """
x.mul(16).int(); x.mul(8).long(); x.mul(4).to(torch.int32); (x > y).long()
"""
OPERATIONS = """
x + y; x - y; x * y; -x; x + 1; 3 - x; x * 100; ~x; x & y; x | y; x ^ y; x << 1; x >> 1; x.clamp(1, 99); x.minimum(y)
x.maximum(y); x.square(); x.long(); x > y; x == y; (x & 7) != (y & 7); x.sign(); x.bool(); x.abs()
"""
COUNTS = """
x; x.sum(D); x.long().amax(D); x.int().amin(D); x.long() * 3; x.any(D); x.flip(0); (x > 1).sum(D); (x != 3).all(D)
x[..., 1:] != x[..., :-1]; x.sum(); torch.cat([x, x * 2], D)[..., 1:]; torch.where(x > 1, x, 1); (x > 1).cumsum(D)
"""
#: The joins whose results are exact.
EXACT_JOINS = re.compile(r"^(torch\.(cat|stack|where)\(|a \+|a\[)(?!.*0\.5)")
#: Statements that change the first input.
CHANGES = """
x.copy_(z); x[1:].copy_(z[:-1]); x[:, ::2].copy_(z[:, ::2]); x.mul_(2).add_(z); x.view(-1)[3:].copy_(z.reshape(-1)[3:])
x.index_copy_(1, i.argsort(stable=True), z); x.masked_fill_(z > 0.5, 0.25); x.add_(z).clamp_(-2, 2); x[0].copy_(z[-1])
"""
#: Views that are copies of their input's shape.
ALIKE = re.compile(r"x\.(flip|roll).*|x\[:, i\]|torch\.(cat|stack)\(\[?x.*")
#: The numbers of programs of a kind: of floating-point numbers, exact, and with changes.
COUNT, EXACT_COUNT, CHANGES_COUNT = 6, 4, 2
#: The step by which :func:`near` moves intermediate results, if any.
_STEP: list[float] = []


def lines(table: str) -> list[str]:
    return re.split(r"[;\n]\s*", table.strip())


def near(value: t.Any) -> t.Any:
    """Return an intermediate result, moved by a step if a shifted reference is computed."""
    if not _STEP or not value.is_floating_point():
        return value
    signs = torch.arange(value.numel()).div(2, rounding_mode="floor").remainder(2).mul(2).sub(1).reshape(value.shape)
    return value * (1 + _STEP[0] * signs)


def moved(shifted: t.Callable[[], t.Any], step: float) -> t.Any:
    """Return a shifted reference for which intermediate results are moved by a step, too."""
    _STEP.append(step)
    try:
        return shifted()
    finally:
        _STEP.clear()


class Composition:
    """A program's steps, of which each gets the results of the one before.

    :param texts: a view, the functions, a join and an end; or a view and a statement that changes the first input.
    """

    def __init__(self, texts: t.Sequence[str]) -> None:
        self.view, *self.functions, self.end = map(expressions.compiled, texts)

    def __call__(self, x: torch.Tensor, y: torch.Tensor, i: torch.Tensor, *_others: torch.Tensor) -> t.Any:
        if not self.functions:
            z = self.view(x, y, i)
            self.end(x, y, i, z=z)
            return [z.amax(0), x[0] * 2]
        x, y = self.view(x, y, i), self.view(y, x, i)
        i = i[: x.shape[-1]] % x.shape[-1]
        *formats, first, second, join = self.functions
        for function in formats:
            x, y = function(x, y, i), function(y, x, i)
        a, b = near(first(x, y, i)), near(second(y, x, i))
        return self.end(near(join(x, y, i, a=a, b=b)), y, i)


def draw(seed: str, smooth: bool, avoid: re.Pattern[str] | None) -> list[list[list[str]]]:
    """Return the steps of programs: of floating-point numbers, of exact ones, and statements that change an input.

    :param smooth: whether the programs must have continuous gradients.
    :param avoid: a pattern of expressions that are not drawn.
    """
    choose = random.Random(seed)  # noqa: S311 - the choice need not be secret

    def some(table: str) -> t.Iterator[str]:
        """Yield the lines of a table in a drawn order, again and again."""
        order = [text for text in lines(table) if not (avoid and avoid.search(text))]
        while True:
            yield from choose.sample(order, len(order))

    views, functions, joins, operations = map(some, (VIEWS, FUNCTIONS, JOINS, OPERATIONS))
    ends, exact_joins = some(ENDS if smooth else ENDS + EXTREMA.lstrip()), filter(EXACT_JOINS.match, joins)
    steps = (views, functions, functions, joins, ends)
    exact_steps = (views, some(INTEGERS), operations, operations, exact_joins, some(COUNTS))
    changes = (filter(ALIKE.fullmatch, views), some(CHANGES))

    def programs(steps: t.Sequence[t.Iterator[str]], count: int) -> list[list[str]]:
        drawn = []
        for _number in range(count):
            dimension = choose.choice(("0", "-1"))
            drawn.append([re.sub(r"\bD\b", dimension, next(step)) for step in steps])
        return drawn

    return [
        programs(steps, COUNT),
        programs(exact_steps, EXACT_COUNT),
        programs(changes, 0 if smooth else CHANGES_COUNT),
    ]
