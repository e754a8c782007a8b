"""Draws programs in which views, functions, joins and reductions follow each other in new combinations each day.

A program is a view of the inputs, two functions of it, an expression that joins their results, and one that ends it. In
a line ``x`` and ``y`` are the inputs of its step, ``a`` and ``b`` the results of the two functions, and ``D`` is a
dimension.

Compiled code need not round the results of a step to the format. So the functions are small, and later steps do not
enlarge differences: an exponential of a difference from a maximum, a step or a quotient would. An exact
program has a step from each table of ``EXACT``; two lines of any two tables meet after as many programs as there are
such pairs. Its integers do not overflow, because compiled code may wrap those of eight and sixteen bits later
(pytorch#109105).
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
#: The tables from which each step of an exact program is taken. Their lengths have no common factor.
EXACT = ("sources", "exact views", "choices", "conversions", "conversions", "idioms")
#: Views that are copies of their input's shape.
ALIKE = re.compile(r"x\.(flip|roll).*|x\[:, i\]|torch\.(cat|stack)\(\[?x.*")
#: The numbers of programs of a kind: of floating-point numbers, exact, and with changes.
COUNT, EXACT_COUNT, CHANGES_COUNT = 6, 27, 2
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

    def __call__(self, x: torch.Tensor, y: torch.Tensor, i: torch.Tensor, *others: t.Any) -> t.Any:
        if not self.functions:
            z = self.view(x, y, i)
            self.end(x, y, i, z=z)
            return [z.amax(0), x[0] * 2]
        x, y = self.view(x, y, i, *others), self.view(y, x, i, *others[::-1])
        i = i[: x.shape[-1]] % x.shape[-1]
        *formats, first, second, join = self.functions
        for function in formats:
            x, y = function(x, y, i), function(y, x, i)
        a, b = near(first(x, y, i)), near(second(y, x, i))
        return self.end(near(join(x, y, i, a=a, b=b)), y, i)


def draw(turn: int, form: str, smooth: bool, avoid: re.Pattern[str] | None) -> list[list[list[str]]]:
    """Return the steps of programs: of floating-point numbers, of exact ones, and statements that change an input.

    :param turn: the number of the run, whose exact programs follow those of the run before.
    :param smooth: whether the programs must have continuous gradients.
    :param avoid: a pattern of expressions that are not drawn.
    """
    choose = random.Random(f"{turn} {form}")  # noqa: S311 - the choice need not be secret

    def some(*tables: str) -> t.Iterator[str]:
        """Yield the expressions of tables in a drawn order, again and again."""
        texts = [text for table in tables for text in TABLES[table]]
        order = [text for text in texts if not (avoid and avoid.search(text))]
        while True:
            yield from choose.sample(order, len(order))

    views, functions, joins = map(some, ("views", "functions", "joins"))
    steps = (views, functions, functions, joins, some("smooth ends", *([] if smooth else ["other ends"])))
    numbers = range(turn * EXACT_COUNT, (turn + 1) * EXACT_COUNT)
    lines = [[TABLES[table][number % len(TABLES[table])] for table in EXACT] for number in numbers]
    changes = (filter(ALIKE.fullmatch, views), some("changes"))

    def programs(steps: t.Sequence[t.Iterator[str]], count: int) -> list[list[str]]:
        dimensions = (choose.choice(("0", "-1")) for _number in range(count))
        return [[re.sub(r"\bD\b", dimension, next(step)) for step in steps] for dimension in dimensions]

    exact = [[f"q[{source!r}]", *others, "x"] for source, *others in lines]
    return [programs(steps, COUNT), exact, programs(changes, 0 if smooth else CHANGES_COUNT)]
