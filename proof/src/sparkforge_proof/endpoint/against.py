# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two servers of one model against each other, where it is too large to be computed again: ``--against URL``.

The other server takes the place of the reference. What the format moves is measured, not assumed: each server computes
the same texts in several ways, whose results differ by rounding alone.
"""

from __future__ import annotations

import dataclasses
import functools
import typing as t

from ..check import WRONG, Measured
from . import judge
from .answers import Answer
from .client import Declined
from .judge import Observation
from .numbers import ENGINE, Failure, Numbers
from .session import Compared, Session
from .texts import ALONE, BATCHED, Text, Texts

#: Tokens that nearly every vocabulary has, none of which is special; and those of a tiny one.
VOCABULARIES = (range(1000, 30000), range(8, 256))
#: What sound numbers differ by at least: a unit roundoff of bfloat16. They differ by more than ordinarily now and then.
FLOOR, MORE = 2.0**-8, 1.5
#: How many times as far apart as each is from itself two servers may be, and one from itself as the other: other
#: kernels round in other places, and another format does so everywhere.
OTHER_KERNELS, OTHER_FORMAT = 4.0, 40.0


def settled(session: Session, longest: int, seed: int) -> Texts:
    """Return texts of tokens that the server has, after it was found out what it takes."""
    for tokens in VOCABULARIES:
        drawn = Texts(tokens, [], longest, seed)
        try:
            session.settle(drawn.draw(6))
            break
        except Declined:
            if tokens == VOCABULARIES[-1]:
                raise
    return drawn


def apart(text: Text, answer: Answer, expected: Answer, sigma: float = 0.0) -> list[Observation]:
    """Return both numbers of each token that both answers name, up to where their texts part."""
    found = []
    for position, (token, other) in enumerate(zip(answer.tokens, expected.tokens), len(text.ids)):
        mine, theirs = ({**one.top, one.name: one.logprob or 0.0} for one in (token, other))
        # What an answer does not name is less likely than all that it does.
        least = min(mine.values())
        found += [
            Observation(text, position, mine.get(name, least), value, sigma)
            for name, value in theirs.items()
            if name in mine or value > least
        ]
        if token.name != other.name:
            break
    return found


def ordinarily(seen: t.Sequence[Observation]) -> float:
    """Return by how much two numbers differ as a standard deviation, of which a fault of less than half is no part."""
    sizes = sorted(filter(None, (abs(one.served - one.expected) for one in seen)))
    return 2.65 * judge.root_mean_square(sizes[: (len(sizes) + 1) // 2])


def largest(seen: t.Iterable[Observation]) -> float:
    """Return by how much two numbers differ at most."""
    return max((abs(one.served - one.expected) for one in seen), default=0.0)


class Itself:
    """What one server returns for the same texts in several ways.

    :ivar alone: the answers to each text alone.
    :ivar ways: by name, the numbers of another way beside those.
    """

    def __init__(self, session: Session, batch: t.Sequence[Text]) -> None:
        self.url = session.endpoint.base
        self.alone, again = ([session.named(text.ids) for text in batch] for _ in range(2))
        beside = session.at_once([text.ids for text in batch])
        self.ways: dict[str, list[Observation]] = {"asked again": [], "asked beside others": [], "read in part": []}
        for text, answer, *others in zip(batch, self.alone, again, beside):
            for way, other in zip(self.ways, others):
                self.ways[way] += apart(text, other, answer)
            half = len(answer.tokens) // 2
            ids = [token.id for token in answer.tokens[:half] if token.id is not None]
            if len(ids) == half:
                longer, rest = Text((*text.ids, *ids), ALONE), dataclasses.replace(answer, tokens=answer.tokens[half:])
                self.ways["read in part"] += apart(longer, session.named(longer.ids), rest)
        # Reading and generating are other kernels in every engine, and so the noise of the format.
        self.noise = max(FLOOR, ordinarily(self.ways["read in part"] or self.ways["asked beside others"]))
        self.most = largest(one for seen in self.ways.values() for one in seen)


class Pair(Session):
    """A server beside another one, whose numbers are the expected ones.

    :param batch: texts by which the noise of both is measured.
    """

    def __init__(self, session: Session, other: Session, batch: t.Sequence[Text]) -> None:
        super().__init__(session.endpoint, session.model)
        self.extras, self.both, self._batch = session.extras, (session, other), batch

    @functools.cached_property
    def itself(self) -> list[Itself]:
        """Both servers, each compared with itself."""
        return [Itself(session, self._batch) for session in self.both]

    @functools.cached_property
    def ordinarily(self) -> float:
        """By how much the numbers of one server ordinarily differ from the other's."""
        answers = zip(self._batch, *(one.alone for one in self.itself))
        return ordinarily([seen for text, mine, theirs in answers for seen in apart(text, mine, theirs)])

    @functools.cached_property
    def sigma(self) -> float:
        """What is no difference of the servers' but noise."""
        # The quieter of the two is the sound one, if one is.
        most = min(one.most for one in self.itself) / judge.SIGMAS
        return MORE * max(self.ordinarily, most, *(one.noise for one in self.itself))

    def compared(self, asked: t.Sequence[tuple[Text, Answer, Answer | None]], temperature: float = 0) -> list[Compared]:
        """Return the numbers of each text beside those of the other server, which is asked in the same way."""
        listed, other = [text.ids for text, _answer, _echo in asked], self.both[1]
        together = asked and asked[0][0].condition == BATCHED
        expected = other.at_once(listed) if together else [other.named(ids) for ids in listed]
        found = []
        for (text, answer, echo), expect in zip(asked, expected):
            echoed = other.echoed(text) if echo else None
            pairs = enumerate(zip(echo.tokens, echoed.tokens)) if echo and echoed else ()
            prompt = [
                Observation(text, at, mine.logprob or 0.0, theirs.logprob or 0.0, self.sigma)
                for at, (mine, theirs) in pairs
                if 0 < at < len(text.ids)
            ]
            found.append(Compared(prompt, apart(text, answer, expect, self.sigma), []))
        return found


class Against(Numbers):
    """What two servers return for the same texts."""

    session: Pair

    def rows(self) -> list[tuple[str, bool, t.Callable[[], Measured]]]:
        """Return name, whether it compares numbers, and function of each check."""
        return [
            ("endpoint.itself", True, functools.partial(self.itself, 0)),
            ("endpoint.other", True, functools.partial(self.itself, 1)),
            ("endpoint.ordinary", True, self.ordinary),
            ("endpoint.prompt", True, self.prompt),
            ("endpoint.completion", True, self.completion),
            ("endpoint.batch", True, self.batch),
            ("endpoint.cache", True, self.cache),
            ("endpoint.greedy", False, self.greedy),
        ]

    def itself(self, number: int) -> Measured:
        """A server returns the same numbers for a text, in whatever way it computes them."""
        one, other = self.session.itself[number], self.session.itself[1 - number]
        sigma = max(OTHER_KERNELS * one.noise, MORE * other.most / judge.SIGMAS)
        again = one.ways["asked again"]
        moved = {seen.text for seen in again if seen.served != seen.expected}
        count = f"other numbers in {len(moved)} of {len({seen.text for seen in again})} requests"
        measured = f"not deterministic: {count}" if moved else "the same numbers when it is asked again"
        for way, numbers in one.ways.items():
            measured += f"; {way} {ordinarily(numbers):.2g}, at most {largest(numbers):.2g}"
            judged = judge.judge([dataclasses.replace(seen, sigma=sigma) for seen in numbers])
            if judged.wrong:
                wrong, affected = judged.wrong[0], {seen.text for seen in judged.wrong}
                raise Failure(
                    WRONG,
                    f"{one.url} disagrees with itself where a text is {way}, in {len(affected)} of"
                    f" {len({seen.text for seen in numbers})} requests, such as {wrong.served:.5g} instead of"
                    f" {wrong.expected:.5g}, {judged.ratio:.3g} times the bound.",
                    ENGINE,
                    measured,
                    judged.ratio,
                )
        return self._beside(one.noise, other.noise, measured, f"{one.url} is further from itself than the other")

    def ordinary(self) -> Measured:
        """Two servers differ by little more than each does from itself, or all their numbers differ."""
        noise, size = max(one.noise for one in self.session.itself), self.session.ordinarily
        measured = f"ordinarily {size:.2g} apart, each at most {noise:.2g} from itself"
        return self._beside(size, noise, measured, "All numbers of the two servers differ")

    def _beside(self, size: float, noise: float, measured: str, cause: str) -> Measured:
        """Pass what other kernels explain, warn of what another format does, and fail for more."""
        times = size / noise
        remedy = "See whether both have the same weights, format and context; a fault may be in all numbers of one."
        failure = Failure(WRONG, f"{cause}: {times:.2g} times as much.", remedy, measured, times / OTHER_FORMAT)
        if times > OTHER_FORMAT:
            raise failure
        return Measured(
            measured,
            f"{OTHER_KERNELS:g} times",
            times / OTHER_KERNELS,
            warning=failure if times > OTHER_KERNELS else None,
        )
