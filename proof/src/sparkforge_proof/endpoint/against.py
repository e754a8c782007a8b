"""Compare two servers for a model that is too large for the reference: ``--against URL``.

The other server stands in for the reference. The format's noise is measured: each server computes the same texts in
several ways whose results differ only by rounding.
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

#: Ordinary tokens in nearly every vocabulary, and in a tiny one.
VOCABULARIES = (range(1000, 30000), range(8, 256))
#: The minimum noise to assume, bfloat16's unit roundoff, and the factor by which noise may exceed the ordinary.
LEAST_NOISE, NOISE_MARGIN = 2.0**-8, 1.5
#: The factors by which the difference between two servers may exceed the noise of each, and one server's noise the
#: other's. The smaller factor covers other kernels, the larger one another format.
OTHER_KERNELS, OTHER_FORMAT = 4.0, 40.0
#: The factor between a server with compiled code in CUDA graphs and one that computes eagerly. Two of vLLM 0.33.0 on an
#: H200 were both proven, and differed by 13 times the least noise (docs/evidence/endpoint.md).
COMPILED_CODE = 20.0


def settle_texts(session: Session, longest: int, seed: int) -> Texts:
    """Find out which options the server accepts, and return texts of tokens in its vocabulary."""
    for tokens in VOCABULARIES:
        drawn = Texts(tokens, [], longest, seed)
        try:
            session.settle(drawn.draw(6))
            break
        except Declined:
            if tokens == VOCABULARIES[-1]:
                raise
    return drawn


def compare_answers(text: Text, answer: Answer, expected: Answer, sigma: float = 0.0) -> list[Observation]:
    """Return both log-probabilities of each token that both answers report, up to the first different token."""
    observations = []
    for position, (token, other) in enumerate(zip(answer.tokens, expected.tokens), len(text.ids)):
        mine, theirs = ({**each.top, each.name: each.logprob or 0.0} for each in (token, other))
        # Tokens that an answer does not report are less likely than those that it reports.
        least = min(mine.values())
        observations += [
            Observation(text, position, mine.get(name, least), value, sigma)
            for name, value in theirs.items()
            if name in mine or value > least
        ]
        if token.name != other.name:
            break
    return observations


def ordinary_difference(seen: t.Sequence[Observation]) -> float:
    """Return the standard deviation of the differences, robust against faults in less than half of them."""
    sizes = sorted(filter(None, (abs(each.served - each.expected) for each in seen)))
    return 2.65 * judge.root_mean_square(sizes[: (len(sizes) + 1) // 2])


def largest(seen: t.Iterable[Observation]) -> float:
    """Return the largest difference."""
    return max((abs(each.served - each.expected) for each in seen), default=0.0)


class Itself:
    """A server's answers to the same texts, requested in several ways.

    :ivar alone: the answers to texts that were requested one at a time.
    :ivar ways: by name of another way, its log-probabilities compared with those in ``alone``.
    """

    def __init__(self, session: Session, batch: t.Sequence[Text]) -> None:
        self.url = session.endpoint.base
        self.alone, again = ([session.complete_named(text.ids) for text in batch] for _ in range(2))
        beside = session.complete_together([text.ids for text in batch])
        self.ways: dict[str, list[Observation]] = {"asked again": [], "asked with others": [], "read as prompt": []}
        for text, answer, *others in zip(batch, self.alone, again, beside):
            for way, other in zip(self.ways, others):
                self.ways[way] += compare_answers(text, other, answer)
            half = len(answer.tokens) // 2
            ids = [token.id for token in answer.tokens[:half] if token.id is not None]
            if len(ids) == half:
                longer, rest = Text((*text.ids, *ids), ALONE), dataclasses.replace(answer, tokens=answer.tokens[half:])
                self.ways["read as prompt"] += compare_answers(longer, session.complete_named(longer.ids), rest)
        # Engines read and generate with different kernels, so their difference shows the format's noise.
        self.noise = max(
            LEAST_NOISE, ordinary_difference(self.ways["read as prompt"] or self.ways["asked with others"])
        )
        self.most = largest(each for seen in self.ways.values() for each in seen)


class Pair(Session):
    """A server, and another one that provides the expected log-probabilities.

    :param batch: the texts for measuring the noise of both.
    """

    def __init__(self, session: Session, other: Session, batch: t.Sequence[Text]) -> None:
        super().__init__(session.endpoint, session.model)
        self.extras, self.both, self._batch = session.extras, (session, other), batch

    @functools.cached_property
    def itself(self) -> list[Itself]:
        """Both servers, each compared with itself."""
        return [Itself(session, self._batch) for session in self.both]

    @functools.cached_property
    def difference(self) -> float:
        """The ordinary difference between the two servers' log-probabilities."""
        answers = zip(self._batch, *(each.alone for each in self.itself))
        return ordinary_difference([seen for triple in answers for seen in compare_answers(*triple)])

    @functools.cached_property
    def sigma(self) -> float:
        """The noise that explains a difference between sound servers."""
        # If one of them is faulty, the quieter one is sound.
        most = min(each.most for each in self.itself) / judge.SIGMAS
        return NOISE_MARGIN * max(self.difference, most, *(each.noise for each in self.itself))

    def compare(self, asked: t.Sequence[tuple[Text, Answer, Answer | None]], temperature: float = 0) -> list[Compared]:
        """Compare the log-probabilities of each text with those of the other server, which gets the same requests."""
        listed, other = [text.ids for text, _answer, _echo in asked], self.both[1]
        together = asked and asked[0][0].condition == BATCHED
        expected = other.complete_together(listed) if together else [other.complete_named(ids) for ids in listed]
        pairs_of_texts = []
        for (text, answer, echo), expect in zip(asked, expected):
            echoed = other.complete_with_echo(text) if echo else None
            pairs = enumerate(zip(echo.tokens, echoed.tokens)) if echo and echoed else ()
            prompt = [
                Observation(text, at, mine.logprob or 0.0, theirs.logprob or 0.0, self.sigma)
                for at, (mine, theirs) in pairs
                if 0 < at < len(text.ids)
            ]
            pairs_of_texts.append(Compared(prompt, compare_answers(text, answer, expect, self.sigma), []))
        return pairs_of_texts


class Against(Numbers):
    """The checks that compare two servers with each other."""

    session: Pair

    def rows(self) -> list[tuple[str, bool, t.Callable[[], Measured]]]:
        """Return the name of each check, whether it compares numbers, and its function."""
        return [
            ("endpoint.itself", True, functools.partial(self.itself, 0)),
            ("endpoint.other", True, functools.partial(self.itself, 1)),
            ("endpoint.ordinary", True, self.ordinary),
            *self.deterministic_rows(),
            ("endpoint.lengths", False, self.lengths),
        ]

    def itself(self, number: int) -> Measured:
        """Require that a server returns the same log-probabilities for a text in each of the ways."""
        server, other = self.session.itself[number], self.session.itself[1 - number]
        sigma = max(OTHER_KERNELS * server.noise, NOISE_MARGIN * other.most / judge.SIGMAS)
        again = server.ways["asked again"]
        moved = {seen.text for seen in again if seen.served != seen.expected}
        count = f"other numbers in {len(moved)} of {len({seen.text for seen in again})} requests"
        measured = f"not deterministic: {count}" if moved else "repeated requests give the same numbers"
        for way, numbers in server.ways.items():
            measured += f"; {way} {ordinary_difference(numbers):.2g}, at most {largest(numbers):.2g}"
            judged = judge.judge([dataclasses.replace(seen, sigma=sigma) for seen in numbers])
            if judged.wrong:
                wrong, affected = judged.wrong[0], {seen.text for seen in judged.wrong}
                raise Failure(
                    WRONG,
                    f"{server.url} contradicts itself if a text is {way}, in {len(affected)} of"
                    f" {len({seen.text for seen in numbers})} requests, such as {wrong.served:.5g} instead of"
                    f" {wrong.expected:.5g}, {judged.ratio:.3g} times the bound.",
                    ENGINE,
                    measured,
                    judged.ratio,
                )
        cause = f"{server.url} varies more than the other server"
        return self._judge_factor(server.noise, other.noise, measured, cause, OTHER_KERNELS)

    def ordinary(self) -> Measured:
        """Require that two servers differ from each other by little more than each does from itself."""
        noise, size = max(each.noise for each in self.session.itself), self.session.difference
        measured = f"typical difference {size:.2g}; each server varies by at most {noise:.2g}"
        return self._judge_factor(size, noise, measured, "All numbers of the two servers differ", COMPILED_CODE)

    def _judge_factor(self, size: float, noise: float, measured: str, cause: str, usual: float) -> Measured:
        """Pass a factor of at most ``usual``, warn if another format explains it, and fail above that."""
        times = size / noise
        remedy = "Check that both have the same weights, format and context; one may compute all numbers wrong."
        failure = Failure(WRONG, f"{cause}, by a factor of {times:.2g}.", remedy, measured, times / OTHER_FORMAT)
        if times > OTHER_FORMAT:
            raise failure
        return Measured(measured, f"{usual:g} times", times / usual, warning=failure if times > usual else None)
