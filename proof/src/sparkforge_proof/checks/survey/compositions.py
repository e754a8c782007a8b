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

from ... import resources
from ..bounds import torch
from . import expressions

#: The expressions of each table.
TABLES = {
    name: re.split(r"[;\n]\s*", table.strip())
    for name, table in resources.tables("checks/survey/compositions.txt").items()
}
#: The joins whose results are exact.
EXACT_JOINS = re.compile(r"^(torch\.(cat|stack|where)\(|a \+|a\[)(?!.*0\.5)")
#: Views that are copies of their input's shape.
ALIKE = re.compile(r"x\.(flip|roll).*|x\[:, i\]|torch\.(cat|stack)\(\[?x.*")
#: The numbers of programs of a kind: of floating-point numbers, exact, and with changes.
COUNT, EXACT_COUNT, CHANGES_COUNT = 6, 3, 2
#: The step by which :func:`near` moves intermediate results, if any.
_STEP: list[float] = []


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

    def some(*tables: str) -> t.Iterator[str]:
        """Yield the expressions of tables in a drawn order, again and again."""
        texts = [text for table in tables for text in TABLES[table]]
        order = [text for text in texts if not (avoid and avoid.search(text))]
        while True:
            yield from choose.sample(order, len(order))

    views, functions, joins, operations = map(some, ("views", "functions", "joins", "operations"))
    ends, exact_joins = some("smooth ends", *([] if smooth else ["other ends"])), filter(EXACT_JOINS.match, joins)
    steps = (views, functions, functions, joins, ends)
    exact_steps = (views, some("integers"), operations, operations, exact_joins, some("exact ends"))
    changes = (filter(ALIKE.fullmatch, views), some("changes"))

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
