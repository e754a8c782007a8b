"""Draw calls whose results are exact by the thousand, and compare each on the device without waiting for it.

A report of wrong numbers names three or four conditions that hold at once: an operator, a format, a size, a layout, a
value. A few hundred calls a run seldom meet all of them. Two things make a call cheap here. Its reference is computed
on the device by other kernels, from integers whose results are exact in every order. And the numbers of wrong elements
are read ``TOGETHER``: a GPU that several processes share takes milliseconds to answer each question.
"""

from __future__ import annotations

import math
import random
import typing as t
import warnings

from ..check import Context, Measured
from .bounds import Cases, threads, torch

REMEDY = (
    "Use another stack, or rebuild this one from clean sources; to reproduce it, call the function with the named "
    "shape, strides and format on the device, and on the CPU."
)
TOGETHER = 64
#: Sizes of rows around vectors and blocks of threads.
ROWS = ((1, 1), (2, 9), (10, 70), (127, 130), (71, 700), (1_023, 1_030))
#: The numbers in memory before a view, and behind each of its rows.
BEFORE, GAPS = (0, 0, 1, 2, 3), (0, 0, 1, 2, 3, 5, 8, 16, 28)
#: The number around a view of integers, and around other views if a library is known to read NaN there.
FILLED = 77
#: The numbers of a row in aligned memory are a multiple of this.
ALIGNED = 8
#: The numbers around a view that do not depend on its size.
AROUND = 2**16


class Draw:
    """One call: what its conditions and its numbers are drawn from.

    :ivar number: its number in the run.
    :ivar chance: draws the conditions.
    :ivar fill: what lies around a view of numbers that are not integers.
    :ivar is_aligned: whether each row begins at an aligned address.
    :ivar conditions: the names of the layouts drawn so far, for a message.
    """

    def __init__(self, number: int, chance: random.Random, generator: torch.Generator, fill: float) -> None:
        self.number, self.chance, self.device = number, chance, generator.device.type
        self._generator = generator.manual_seed(chance.getrandbits(48))
        self.fill, self.is_aligned, self.conditions = fill, False, list[str]()

    def between(self, limits: tuple[int, int]) -> int:
        return self.chance.randint(*limits)

    def shape(self, sizes: t.Sequence[tuple[int, int]], dimensions: int, most: int) -> tuple[int, ...]:
        """Return a shape of which one size is any, and the others leave at most ``most`` elements, if they can."""
        shape: list[int] = []
        for _dimension in range(dimensions):
            size = self.between(self.chance.choice(sizes))
            shape.append(max(1, min(size, most // math.prod(shape))) if shape else size)
        self.chance.shuffle(shape)
        return tuple(shape)

    def integers(self, shape: t.Sequence[int], low: int, high: int, dtype: torch.dtype) -> torch.Tensor:
        """Return random integers from ``low`` to ``high`` in a format."""
        options: t.Any = {"generator": self._generator, "device": self.device}
        return torch.randint(low, high + 1, tuple(shape), **options).to(dtype)

    def sparse(self, shape: t.Sequence[int], largest: int, density: float, dtype: torch.dtype) -> torch.Tensor:
        """Return random integers up to ``largest`` of both signs, of which a share ``density`` is not set to zero."""
        numbers = self.integers(shape, -largest, largest, dtype)
        if density >= 1:
            return numbers
        kept = torch.rand(tuple(shape), generator=self._generator, device=self.device) < density
        return numbers * kept

    def lay(self, plain: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return memory that holds ``fill``, and in it a view with the numbers of a tensor.

        The view's dimensions have any order in memory, its rows gaps, and it may use every second number of a row.
        """
        if not plain.ndim:
            return plain, plain
        order = list(range(plain.ndim))
        if self.chance.random() < 0.5:
            self.chance.shuffle(order)
        before, gap, step = self.chance.choice(BEFORE), self.chance.choice(GAPS), self.chance.choice((1, 1, 1, 2))
        physical = plain.permute(order)
        *outer, width = physical.shape
        if self.is_aligned:
            before, gap = 0, gap + -(width * step + gap) % ALIGNED
        if math.prod(outer) * (before + width * step + gap) > 2 * plain.numel() + AROUND:
            # Many narrow rows would take many times the memory.
            before, gap, step = 0, 0, 1
        fill = self.fill if plain.is_floating_point() or plain.is_complex() else FILLED
        row = before + width * step + gap
        memory = torch.full((*outer, row), fill, dtype=plain.dtype, device=plain.device)
        view = memory[..., before : before + width * step : step].copy_(physical)
        view = view.permute([order.index(each) for each in range(plain.ndim)])
        self.conditions.append(f"strides {tuple(view.stride())} from {before}")
        return memory, view


class Draws:
    """The calls that a check draws by the seed.

    :ivar cases: records which of them are right.
    :param stream: a text that tells the check's calls from those of others.
    :param count: the number of calls; a full run has four times as many.
    :param fill: what lies around views of numbers that are not integers.
    """

    def __init__(self, cases: Cases, context: Context, stream: str, count: int, fill: float = math.nan) -> None:
        self.cases, self._context, self._stream, self._fill = cases, context, stream, fill
        self._count = count * (4 if context.full else 1)
        self._pending: list[tuple[str, int]] = []
        self._wrong: list[torch.Tensor] = []

    def __iter__(self) -> t.Iterator[Draw]:
        generator = torch.Generator(self._context.device)
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            for number in range(self._count):
                # Threads on busy cores wait for each other, so that only every fourth call uses all.
                with threads(torch.get_num_threads() if number % 4 == 0 else 1):
                    yield Draw(number, self._context.drawing(f"{self._stream} {number}"), generator, self._fill)
                if len(self._wrong) >= TOGETHER:
                    self._read()
        self._read()

    def compare(
        self, case: str, actual: torch.Tensor, expected: torch.Tensor, allowed: torch.Tensor | None = None
    ) -> None:
        """Compare each element with a reference on the device; NaN equals NaN.

        :param allowed: the allowed error; by default, none is.
        """
        if actual.shape != expected.shape:
            shapes = f"has the shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
            self.cases.expect(case, False, shapes)
            return
        is_right = same(actual, expected)
        if allowed is not None:
            is_right |= (actual.to(expected.dtype) - expected).abs() <= allowed
        self.expect(case, is_right)

    def expect(self, case: str, is_right: torch.Tensor) -> None:
        """Record conditions that the device computes, one for each element."""
        self._pending.append((case, is_right.numel()))
        self._wrong.append((~is_right).sum())

    def _read(self) -> None:
        counts = torch.stack(self._wrong).tolist() if self._wrong else []
        for (case, number), count in zip(self._pending, counts):
            self.cases.expect(case, count == 0, f"is wrong in {count:,} of {number:,} numbers or rows")
        self._pending, self._wrong = [], []


def same(actual: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Tell of each element whether both are equal, or NaN."""
    return (actual == expected) | (actual.isnan() & expected.isnan())


def judge(
    context: Context, subject: str, stream: str, counts: t.Mapping[str, int], compare: t.Callable[[Draws, Draw], None]
) -> Measured:
    """Return the measurement of calls, each of which a function draws and compares.

    :param counts: the numbers of calls by device.
    """
    draws = Draws(Cases(subject, REMEDY), context, stream, counts[context.device])
    for draw in draws:
        compare(draws, draw)
    return draws.cases.result()
