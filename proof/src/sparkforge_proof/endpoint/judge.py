# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say which numbers are wrong, where they begin to be, and whether batch, cache or length brings it about."""

from __future__ import annotations

import dataclasses
import math
import typing as t

from .texts import ALONE, BATCHED, SMALLEST, Text

#: Standard deviations of the format's own noise that a sound server does not exceed, at any position.
SIGMAS = 6.0
#: How much more noise than the format's a server may have over all positions of a text.
NOISE = 2.0
#: Positions of a text that its noise is judged by at least.
ENOUGH = 12
#: By how much the logarithm of a likelihood has to be better for two noises to be said of a text in place of one.
SIMPLER = 10.0
#: Standard deviations from which on it does not matter how far off a number is.
CLEAR = 8.0
Draw = tuple[float, float, float, float]

#: Draws of a token deviate from their distribution by so many standard deviations at most (one of a billion runs).
DRAWS = 6.0


@dataclasses.dataclass(frozen=True)
class Observation:
    """One log-probability of the server's, beside the reference's.

    :ivar position: of the token in the text and what was generated behind it.
    :ivar sigma: what the format moves a log-probability by there.
    """

    text: Text
    position: int
    served: float
    expected: float
    sigma: float

    @property
    def condition(self) -> str:
        """How its text was asked."""
        return self.text.condition

    @property
    def length(self) -> int:
        """Tokens of its text."""
        return len(self.text.ids)

    @property
    def ratio(self) -> float:
        """The error by its bound: 1 and less is right."""
        if self.served == self.expected:
            return 0.0
        found = abs(self.served - self.expected) / max(SIGMAS * self.sigma, 1e-6)
        return math.inf if math.isnan(found) else found


@dataclasses.dataclass
class Judgement:
    """What observations mean together.

    :ivar ratio: the worst by its bound.
    :ivar wrong: those that are off, worst first; of a text with too much noise all.
    """

    count: int
    ratio: float
    noise: float
    worst: Observation | None
    wrong: list[Observation]


def judge(observations: t.Sequence[Observation]) -> Judgement:
    """Compare each observation with its bound, and each text's noise with the format's."""
    wrong = [one for one in observations if one.ratio > 1]
    worst = max(observations, key=lambda one: one.ratio, default=None)
    ratio, most = worst.ratio if worst else 0.0, 0.0
    texts: dict[Text, list[Observation]] = {}
    for one in observations:
        texts.setdefault(one.text, []).append(one)
    for members in texts.values():
        noise = root_mean_square([min(one.ratio * SIGMAS, 1e6) for one in members])
        if len(members) < ENOUGH:
            continue
        most = max(most, noise)
        if noise > NOISE and not any(one.ratio > 1 for one in members):
            wrong += members
    ratio = max(ratio, most / NOISE)
    return Judgement(len(observations), ratio, most, worst, sorted(wrong, key=lambda one: -one.ratio))


def root_mean_square(values: t.Sequence[float]) -> float:
    """Return how large values are together; 0 of none."""
    return math.sqrt(sum(value * value for value in values) / max(len(values), 1))


def begin(observations: t.Sequence[Observation]) -> int:
    """Return the position from which on the numbers of wrong texts are noisier than before.

    The first number beyond its bound may stand well behind it. The position parts all numbers into two noises, each
    normally distributed, that are likelier than any other two.
    """
    squares: dict[int, list[float]] = {}
    for one in observations:
        squares.setdefault(one.position, []).append(min(one.ratio * SIGMAS, CLEAR) ** 2)
    positions = sorted(squares)
    behind, count = sum(map(sum, squares.values())), sum(map(len, squares.values()))
    before, counted = 0.0, 0
    best, found = math.inf, positions[0]
    for position in positions:
        cost = sum(
            number * math.log(max(total / number, 0.01))
            for number, total in ((counted, before), (count, behind))
            if number
        )
        # One noise alone is the simpler explanation of numbers that are wrong from the beginning on.
        if cost < best - (SIMPLER if found == positions[0] else 0):
            best, found = cost, position
        part = squares[position]
        before, counted, behind, count = before + sum(part), counted + len(part), behind - sum(part), count - len(part)
    return min([found, *(one.position for one in observations if one.ratio > 1)])


def where(wrong: t.Sequence[Observation], right: t.Sequence[Observation], first: int) -> str:
    """Return what the wrong observations have in common, one sentence or more.

    :param right: all others.
    :param first: from where on they are wrong, see :func:`begin`.
    """
    conditions = {one.condition for one in wrong}
    said = []
    early = [one for one in wrong if one.position <= 4]
    if conditions == {ALONE} and early and not any(one.position <= 4 for one in right):
        return (
            "Even the first tokens of each text are wrong: the server has other weights, or computes every token wrong."
        )
    if ALONE not in conditions and any(one.condition == ALONE for one in right):
        how = "in a batch" if conditions == {BATCHED} else "where an answer may come from the prefix cache"
        said.append(f"Alone and asked for the first time, texts get right numbers; only {how} they do not.")
    short = _length_limit(wrong, right)
    if short:
        said.append(f"Texts of up to {short[0]} tokens are right; from {short[1]} tokens on they are wrong.")
    if first > 4:
        near = _boundary(first)
        said.append(f"The first wrong number is at position {first}{near}; what is before it is right.")
    return " ".join(said) or f"Wrong numbers begin at position {first}."


def _length_limit(wrong: t.Sequence[Observation], right: t.Sequence[Observation]) -> tuple[int, int] | None:
    """Return the longest length that is right and the shortest that is wrong, where every one between agrees."""
    bad = {one.length for one in wrong}
    good = {one.length for one in right} - bad
    if good and bad and max(good) < min(bad):
        return max(good), min(bad)
    return None


def _boundary(position: int) -> str:
    """Say which boundary of a page or a chunk is within one token of a position, the largest that divides."""
    for number in (position, position - 1, position + 1):
        size = number & -number if number > 0 else 0
        if size >= SMALLEST:
            side = {0: "at", 1: "just behind", -1: "just before"}[position - number]
            return f", {side} a multiple of {size}"
    return ""


def deviation(draws: t.Sequence[Draw]) -> float:
    """Return by how many standard deviations drawn tokens are likelier than they would be on average.

    A server that draws in a format draws by slightly other scores. What lies between the exact mean and that of the
    format is right.

    :param draws: for each drawn token its log-probability, and of that where it was drawn the exact mean, the variance,
        and the mean in the format.
    """
    exact, format_ = (sum(one[0] - one[column] for one in draws) for column in (1, 3))
    variance = sum(one[2] for one in draws)
    if exact * format_ <= 0 or variance <= 0:
        return 0.0
    return min(exact, format_, key=abs) / math.sqrt(variance)


def shared_beginning(one: t.Sequence[t.Any], other: t.Sequence[t.Any]) -> int:
    """Return how many members two sequences have in common from their beginning on."""
    for number, (first, second) in enumerate(zip(one, other)):
        if first != second:
            return number
    return min(len(one), len(other))
