"""Find the wrong numbers and the first of them, and determine whether batch, cache or length is the cause."""

from __future__ import annotations

import dataclasses
import math
import typing as t

from .texts import ALONE, BATCHED, SMALLEST, Text

#: The maximum number of standard deviations of the format's noise that a sound server shows at any position.
SIGMAS = 6.0
#: The maximum noise over all positions in a text, as a multiple of the format's.
NOISE = 2.0
#: The minimum number of positions in a text whose noise is judged.
FEWEST_POSITIONS = 12
#: By how much two noise levels must improve the log-likelihood to be preferred to a single one.
LIKELIHOOD_MARGIN = 10.0
#: Errors are capped at this many standard deviations.
MOST_SIGMAS = 8.0
#: See :func:`deviation`.
Draw = tuple[float, float, float, float]
#: The maximum distance of drawn tokens from their distribution in standard deviations, exceeded once in a billion runs.
DRAWS = 6.0


@dataclasses.dataclass(frozen=True)
class Observation:
    """A log-probability from the server, and the expected one.

    :ivar position: the token's position in the text with its completion.
    :ivar sigma: the format's noise at that position.
    """

    text: Text
    position: int
    served: float
    expected: float
    sigma: float

    @property
    def condition(self) -> str:
        """The condition under which its text was requested."""
        return self.text.condition

    @property
    def length(self) -> int:
        """The length of its text in tokens."""
        return len(self.text.ids)

    @property
    def ratio(self) -> float:
        """The error divided by its bound; the number is right if this is at most 1."""
        if self.served == self.expected:
            return 0.0
        ratio = abs(self.served - self.expected) / max(SIGMAS * self.sigma, 1e-6)
        return math.inf if math.isnan(ratio) else ratio


@dataclasses.dataclass
class Judgement:
    """The judgement of some observations.

    :ivar ratio: the largest ratio of an error to its bound.
    :ivar wrong: the wrong observations, the worst first, including all observations of texts with too much noise.
    """

    count: int
    ratio: float
    noise: float
    worst: Observation | None
    wrong: list[Observation]


def judge(observations: t.Sequence[Observation]) -> Judgement:
    """Compare each observation with its bound, and each text's noise with the format's."""
    wrong = [each for each in observations if each.ratio > 1]
    worst = max(observations, key=lambda each: each.ratio, default=None)
    ratio, most = worst.ratio if worst else 0.0, 0.0
    texts: dict[Text, list[Observation]] = {}
    for observation in observations:
        texts.setdefault(observation.text, []).append(observation)
    for members in texts.values():
        noise = root_mean_square([min(each.ratio * SIGMAS, 1e6) for each in members])
        if len(members) < FEWEST_POSITIONS:
            continue
        most = max(most, noise)
        if noise > NOISE and not any(each.ratio > 1 for each in members):
            wrong += members
    ratio = max(ratio, most / NOISE)
    return Judgement(len(observations), ratio, most, worst, sorted(wrong, key=lambda each: -each.ratio))


def root_mean_square(values: t.Sequence[float]) -> float:
    """Return the root mean square of the values, or 0 if there are none."""
    return math.sqrt(sum(value * value for value in values) / max(len(values), 1))


def first_wrong(observations: t.Sequence[Observation]) -> int:
    """Return the position from which the numbers of wrong texts are noisier than before it.

    The first number beyond its bound may come much later. The position is the one that splits the numbers into two
    normal distributions with the highest likelihood.
    """
    squares: dict[int, list[float]] = {}
    for observation in observations:
        squares.setdefault(observation.position, []).append(min(observation.ratio * SIGMAS, MOST_SIGMAS) ** 2)
    positions = sorted(squares)
    after, count = sum(map(sum, squares.values())), sum(map(len, squares.values()))
    before, counted = 0.0, 0
    best, split = math.inf, positions[0]
    for position in positions:
        cost = sum(
            number * math.log(max(total / number, 0.01))
            for number, total in ((counted, before), (count, after))
            if number
        )
        # A single noise level is the simpler explanation for numbers that are wrong from the start.
        if cost < best - (LIKELIHOOD_MARGIN if split == positions[0] else 0):
            best, split = cost, position
        part = squares[position]
        before, counted, after, count = before + sum(part), counted + len(part), after - sum(part), count - len(part)
    return min([split, *(each.position for each in observations if each.ratio > 1)])


def describe(wrong: t.Sequence[Observation], right: t.Sequence[Observation], first: int) -> str:
    """Return sentences that describe the common features of the wrong observations.

    :param right: all other observations.
    :param first: the position from :func:`first_wrong`.
    """
    conditions = {each.condition for each in wrong}
    sentences = []
    early = [each for each in wrong if each.position <= 4]
    if conditions == {ALONE} and early and not any(each.position <= 4 for each in right):
        return (
            "Even the first tokens of each text are wrong: the server has other weights, or computes every token wrong."
        )
    if ALONE not in conditions and any(each.condition == ALONE for each in right):
        how = "in a batch" if conditions == {BATCHED} else "with the prefix cache"
        sentences.append(f"Texts that are sent alone for the first time get right numbers; texts {how} do not.")
    short = _length_limit(wrong, right)
    if short:
        sentences.append(f"Texts of up to {short[0]} tokens are right; from {short[1]} tokens on they are wrong.")
    if first > 4:
        near = _boundary(first)
        sentences.append(f"The first wrong number is at position {first}{near}; all numbers before it are right.")
    return " ".join(sentences) or f"Wrong numbers begin at position {first}."


def _length_limit(wrong: t.Sequence[Observation], right: t.Sequence[Observation]) -> tuple[int, int] | None:
    """Return the longest right length and the shortest wrong one, or None unless all right lengths are shorter."""
    bad = {each.length for each in wrong}
    good = {each.length for each in right} - bad
    if good and bad and max(good) < min(bad):
        return max(good), min(bad)
    return None


def _boundary(position: int) -> str:
    """Describe the page or chunk boundary, the largest power of two, within one token of a position."""
    for number in (position, position - 1, position + 1):
        size = number & -number if number > 0 else 0
        if size >= SMALLEST:
            side = {0: "at", 1: "just behind", -1: "just before"}[position - number]
            return f", {side} a multiple of {size}"
    return ""


def deviation(draws: t.Sequence[Draw]) -> float:
    """Return the number of standard deviations by which drawn tokens are likelier than their distribution's mean.

    A server draws with the format's slightly different scores, so any value from the exact to the format's mean is
    right.

    :param draws: each drawn token's log-probability, and at its position the exact mean, the variance, and the format's
        mean.
    """
    from_exact, from_format = (sum(draw[0] - draw[column] for draw in draws) for column in (1, 3))
    variance = sum(draw[2] for draw in draws)
    if from_exact * from_format <= 0 or variance <= 0:
        return 0.0
    return min(from_exact, from_format, key=abs) / math.sqrt(variance)


def shared_beginning(sequence: t.Sequence[t.Any], other: t.Sequence[t.Any]) -> int:
    """Return the length of the common prefix of two sequences."""
    for number, (first, second) in enumerate(zip(sequence, other)):
        if first != second:
            return number
    return min(len(sequence), len(other))
