# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Say which numbers are wrong, where they begin to be, and whether batch, cache or length brings it about."""

from __future__ import annotations

import dataclasses
import math
import typing as t

from .texts import ALONE, BATCHED, SMALLEST

#: Standard deviations of the format's own noise that a sound server does not exceed, at any position.
SIGMAS = 6.0
#: How much more noise than the format's a server may have over all positions of a text.
NOISE = 2.0
#: Positions of a text that its noise is judged by at least.
ENOUGH = 12
Draw = tuple[float, float, float, float]

#: Draws of a token deviate from their distribution by so many standard deviations at most (one of a billion runs).
DRAWS = 6.0


@dataclasses.dataclass(frozen=True)
class Observation:
    """One log-probability of the server's, beside the reference's.

    :ivar text: number of the text; ``length`` of it as it was asked.
    :ivar position: of the token in the text and what was generated behind it.
    :ivar sigma: what the format moves a log-probability by there.
    """

    condition: str
    text: int
    length: int
    position: int
    served: float
    expected: float
    sigma: float

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
    texts: dict[tuple[str, int], list[Observation]] = {}
    for one in observations:
        texts.setdefault((one.condition, one.text), []).append(one)
    for members in texts.values():
        noise = math.sqrt(sum(min(one.ratio * SIGMAS, 1e6) ** 2 for one in members) / len(members))
        if len(members) < ENOUGH:
            continue
        most = max(most, noise)
        if noise > NOISE and not any(one.ratio > 1 for one in members):
            wrong += members
    ratio = max(ratio, most / NOISE)
    return Judgement(len(observations), ratio, most, worst, sorted(wrong, key=lambda one: -one.ratio))


def where(wrong: t.Sequence[Observation], right: t.Sequence[Observation]) -> str:
    """Return what the wrong observations have in common, one sentence or more; ``right`` are all others."""
    conditions = {one.condition for one in wrong}
    said = []
    begin = _begin(wrong)
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
    if begin > 4:
        near = _boundary(begin)
        said.append(f"The first wrong number is at position {begin}{near}; what is before it is right.")
    return " ".join(said) or f"Wrong numbers begin at position {begin}."


def _begin(wrong: t.Sequence[Observation]) -> int:
    return min(one.position for one in wrong)


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


def differs(one: t.Sequence[Observation], other: t.Sequence[Observation]) -> bool:
    """Whether two answers to the same text are further apart than the format explains."""
    first = {seen.position: seen for seen in one}
    pairs = [(first[seen.position], seen) for seen in other if seen.position in first]
    same = [(a, b) for a, b in pairs if a.expected == b.expected]
    return any(not abs(a.served - b.served) <= 2 * SIGMAS * max(a.sigma, 1e-7) for a, b in same)


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
