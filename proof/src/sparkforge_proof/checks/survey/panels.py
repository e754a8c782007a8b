"""The programs that ``compiled`` compiles: the tables of expressions in ``panels.txt``.

The programs of a table share their inputs, so that the compiler fuses what reads the same numbers, and one kernel holds
dozens of functions. For what the tables meet in the compiler, see ``proof/tests/mechanisms.yml``.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing as t

from ... import resources
from ..._shared.module_utils._core import versions
from ..bounds import torch
from . import compositions, expressions
from .rounding import seed_of, spacing

TABLES = resources.tables("checks/survey/panels.txt")
#: Expressions with a transposed order of memory. Fused with a reduction, vectorised code of torch 2.11 to 2.13 for CPUs
#: writes beyond its tensors (pytorch#196681).
TRANSPOSING = re.compile(r"\.t\(\)|\.mT|permute|channels_last|transpose|stack\(.*, -1\)")
#: A custom operator that changes a part of a tensor. Code for any shape changes its beginning instead (pytorch#198068).
OF_A_PART = re.compile(r"scale_\(x\[")
#: Each of a row's parts, of which there are up to 1,030. For any shape, torch computes with symbols for minutes.
ALL_PARTS = re.compile(r"unbind\([^)]")
#: An operator that torch 2.6 does not have in bfloat16 on a CPU, and 2.10 has.
TRACE = re.compile(r"trace")
#: A custom operator that changes its argument, which has no gradient.
CHANGING = re.compile(r"scale_")
#: The shapes of inputs; a table that is compiled for any shape gets two of them that follow each other.
ROWS = ((5, 37), (17, 66), (3, 1030), (33, 19), (9, 129), (4, 257), (65, 16))
LONG = ((5, 40_003), (67, 1031), (40_003, 5), (300, 301))
MATRICES = ((37, 16), (66, 64), (19, 40))
IMAGES = ((2, 4, 9, 11), (3, 4, 12, 13), (1, 4, 17, 8), (5, 4, 10, 33))
SCANNED = ((200, 301), (301, 140), (130, 1030))
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
    :ivar calls: how often the programs are called with other numbers of one shape. Of a CUDA graph, the first call is
        eager, and the second is captured.
    """

    table: str
    shapes: tuple[tuple[int, ...], ...] = ROWS
    exact: bool = False
    forms: tuple[str, ...] = FORMS
    changes: bool = False
    calls: int = 1


PANELS = {
    "functions": Panel(TABLES["functions"]),
    "special functions": Panel(TABLES["special functions"], forms=("float32",)),
    "reductions": Panel(TABLES["reductions"], LONG),
    # In float16, the sum of the losses of 40,003 rows overflows on a CPU.
    "totals": Panel(TABLES["totals"], LONG, forms=FORMS[:2]),
    "copies": Panel(TABLES["copies"], exact=True),
    "writes": Panel(TABLES["writes"]),
    "folds": Panel(TABLES["folds"], exact=True),
    "whole numbers": Panel(TABLES["whole numbers"], exact=True, forms=WHOLE),
    "products": Panel(TABLES["products"], MATRICES),
    "attention": Panel(TABLES["attention"], MATRICES),
    "states": Panel(TABLES["states"], changes=True),
    "calls": Panel(TABLES["calls"]),
    "pictures": Panel(TABLES["pictures"], IMAGES, forms=FORMS[:2]),
    "pools": Panel(TABLES["pools"], IMAGES, exact=True, forms=FORMS[:2]),
    # A run's own; see :mod:`compositions`.
    "compositions": Panel(""),
    "replays": Panel(TABLES["replays"], SCANNED, exact=True, forms=FORMS[:1], calls=4),
}
#: The panels that each run compiles, in checks of their own.
DAILY = "compositions", "replays"
#: Rows of panels. A default run compiles a table of two of these rows, other ones each day; a full run compiles all
#: tables, each in one format. On an H200, a table took about 30 core-seconds, and all in all formats over 20 minutes.
TURNS = (
    ("functions",), ("copies",), ("reductions",), ("totals", "special functions"),
    ("products", "attention", "pictures"), ("whole numbers", "folds", "pools"), ("writes", "states", "calls"),
)  # fmt: skip


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


def of_equal_numbers(seed: int, on_cpu: bool) -> Program:
    """Return the program of a run with many equal numbers, for the inputs of any table but that of whole numbers."""
    lines = TABLES["equal numbers"].strip().splitlines()
    lines += TABLES["equal numbers on a CPU"].strip().splitlines() if on_cpu else []
    daily = TABLES["daily on a CPU"].strip().splitlines() if on_cpu else []
    return Program("equal numbers", Panel("", exact=True), [*lines[seed % 4 :: 4], *daily])


def of_day(seed: int, full: bool, part: str = "panels") -> list[tuple[str, int]]:
    """Return the names of the panels of a run, each with a number that selects its format, shape and direction.

    :param part: one of ``DAILY``, or ``panels`` for all others.
    """
    if part in DAILY:
        return [(part, seed + form) for form in range(len(PANELS[part].forms) if full else 1)]
    if full:
        return [(name, seed + number) for number, name in enumerate(PANELS) if name not in DAILY]
    week, rows = seed // len(TURNS), [(2 * seed + number) % len(TURNS) for number in range(2)]
    return [(TURNS[row][week % len(TURNS[row])], week // len(TURNS[row]) + row) for row in rows]


def programs(name: str, form: str, turn: int, together: bool, on_cpu: bool) -> list[Program]:
    """Return the programs of a table: each line, or all lines together, without those that are known to fail.

    :param turn: selects the dimension of reductions; of every seventh, the programs are compiled for any shape.
    :param on_cpu: whether to leave out expressions of ``TRANSPOSING`` in tables with reductions.
    """
    kind, is_drawn = PANELS[name], name == "compositions"
    patterns = [TRANSPOSING] if on_cpu and kind.shapes is not MATRICES and name != "copies" else []
    patterns += [OF_A_PART, ALL_PARTS] if turn % len(TURNS) == 0 else []
    patterns += [CHANGING] if is_drawn and together else []
    patterns += [TRACE] if versions.numbers(torch.__version__) < (2, 10) else []
    avoided = re.compile("|".join(pattern.pattern for pattern in patterns) or "$^")
    if is_drawn:
        return _drawn(form, turn, together, avoided)
    lines = re.sub(r"\bD\b", str(-(turn // 2 % 2)), kind.table.strip()).splitlines()
    parts = [re.split(r";\s*", line) for line in (["; ".join(lines)] if together or kind.changes else lines)]
    parts = [[text for text in texts if not avoided.search(text)] for texts in parts]
    return [Program(f"{name} {number} in {form}", kind, texts) for number, texts in enumerate(parts) if texts]


def _drawn(form: str, turn: int, together: bool, avoided: re.Pattern[str]) -> list[Program]:
    """Return the programs that are drawn for a turn; those with gradients as one."""
    draws = compositions.draw(turn, form, together, avoided)
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


def sample(kind: Panel, form: str, device: str, seed: str, number: int) -> t.Any:
    """Return inputs of a panel's programs in a format, like those of the catalogue; each number has other inputs.

    They have another shape, too, unless the programs are replayed.
    """
    shapes, is_replayed = kind.shapes, kind.calls > 1
    generator = torch.Generator().manual_seed(seed_of(f"{seed} {number if is_replayed else bool(number)}"))
    shape = shapes[(seed_of(seed) + number * (not is_replayed)) % len(shapes)]
    x, y = (torch.randn(shape, generator=generator, dtype=torch.float64) for _number in range(2))
    if kind.forms is WHOLE:
        limits = torch.iinfo(getattr(torch, form))
        x, y = (
            torch.randint(max(limits.min, -(2**40)), min(limits.max, 2**40), shape, generator=generator)
            for _number in range(2)
        )
        x.view(-1)[:4] = torch.tensor([limits.min, limits.max, limits.max // 2, 0])
    dtype = getattr(torch, form)
    if is_replayed:
        x, y = (torch.randint(-4, 5, shape, generator=generator).double() for _number in range(2))
    if kind is PANELS["folds"]:
        # Whole numbers and halves, their neighbours in the format, and numbers that are not finite.
        x = torch.randint(-8, 9, shape, generator=generator) / 2.0
        x *= 1 + spacing(dtype) * torch.randint(-1, 2, shape, generator=generator)
        # A conversion may give NaN a sign, with which a GPU sorts it first (pytorch#190781).
        x = x.to(dtype)
        x[0, 0], x[1, 1], x[1, 2] = math.nan, math.inf, -math.inf
    indices = torch.randint(0, shape[-1], (shape[-1],), generator=generator).to(device)
    values = [value.to(device, dtype).requires_grad_(not kind.exact) for value in (x, y)]
    others: list[t.Any] = []
    if kind.shapes is MATRICES:
        sizes = [*[(2, 4, *shape)] * 3, (shape[0], shape[0])]
        others = [torch.randn(size, generator=generator).to(device, dtype).requires_grad_() for size in sizes]
    if kind is PANELS["compositions"]:
        stored = {text: expressions.compiled(text) for text in compositions.TABLES["sources"]}
        numbers = torch.randint(-8, 9, (2, *shape), generator=generator)
        others = [{text: store(z, z, None).to(device) for text, store in stored.items()} for z in numbers]
    return types.SimpleNamespace(
        input=values[0], args=(values[1], indices, *others), kwargs={}, output_process_fn_grad=lambda result: result
    )
