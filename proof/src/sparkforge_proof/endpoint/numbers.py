"""Check a server's log-probabilities: send requests in different ways, and compare the answers with a reference."""

from __future__ import annotations

import functools
import typing as t

from .._shared.module_utils._core.errors import SparkforgeError
from ..check import MISMATCH, WRONG, Failed, Measured, Skipped
from . import judge, texts
from .answers import Answer
from .judge import Observation
from .session import Compared, Session
from .texts import ALONE, BATCHED, Text

ENGINE = (
    "Start the server repeatedly, each time without one of these: prefix cache, CUDA graphs, speculative decoding,"
    " quantised KV cache, attention backend. If the numbers are then right, that part is at fault; else use another"
    " version."
)
FORMAT = "If the server quantises weights or activations while loading, set --format. If not: "
UNRELIABLE = "Update the server, or do not rely on that parameter."
PENALTY = (
    "Check whether the server applies a repetition, presence or frequency penalty that the request does not set (vLLM:"
    " --generation-config vllm; llama.cpp: --repeat-penalty 1)."
)
GREEDY = "Check whether it overrides the temperature, or its speculative decoding accepts wrong tokens."
OCCURRED = ", each time instead of a token that had occurred before"
#: By how much a chosen token may be less likely than the likeliest one, because 16-bit scores are often equal.
TIE = 1e-3
BOUND = "at most the error that the format explains, against float32"
#: How often a wrong text is repeated, and how many of its beginnings are requested to find the first wrong number.
REPETITIONS, BEGINNINGS = 5, 8


class Failure(Failed):
    """A failed check: a number is wrong, or the server did not follow the request."""

    def __init__(self, reason: str, cause: str, remedy: str, measured: str = "", ratio: float | None = None) -> None:
        super().__init__(cause, remedy, measured, BOUND if ratio is not None else "", ratio)
        self.reason = reason


def expect(is_right: bool, cause: str, remedy: str = UNRELIABLE) -> None:
    """Fail unless a condition holds."""
    if not is_right:
        raise Failure(MISMATCH, cause, remedy)


class Numbers:
    """The checks of log-probabilities, in the order in which they run; later checks use the findings of earlier ones.

    :ivar seen: all observations so far, which show whether batch, cache or length causes a fault.
    :ivar answers: each text that was requested with temperature 0, with its answer.
    """

    def __init__(self, session: Session, drawn: texts.Texts) -> None:
        self.session, self.drawn = session, drawn
        self.alone = drawn.alone()
        self.seen: list[Observation] = []
        self.answers: list[tuple[Text, Answer]] = []
        self.wrong_alone = self.draws_at_zero = False

    def deterministic_rows(self) -> list[tuple[str, bool, t.Callable[[], Measured]]]:
        """Return the checks that do not draw tokens at random; see ``Checks.rows``."""
        return [
            ("endpoint.prompt", True, self.prompt), ("endpoint.completion", True, self.completion),
            ("endpoint.batch", True, self.batch), ("endpoint.cache", True, self.cache),
            ("endpoint.greedy", False, self.greedy),
        ]  # fmt: skip

    def lengths(self) -> Measured:
        """Require that an answer that the length ended has max_tokens tokens."""
        short = [answer for _text, answer in self.answers if answer.finish == "length" and answer.count < answer.asked]
        expect(
            not short,
            f"In {len(short)} of {len(self.answers)} requests the server reports 'length' for an answer of fewer"
            f" tokens than max_tokens{f', {short[0].count} of {short[0].asked}' if short else ''}.",
            "Read the server's log: its context may be full.",
        )
        return Measured(f"{len(self.answers)} answers", "max_tokens")

    def prompt(self) -> Measured:
        """Check the log-probabilities of prompts, for texts of every length, requested one at a time."""
        observations = [observation for pair in self._alone for observation in pair.prompt]
        if not observations:
            raise Skipped("The server reports no log-probabilities of a prompt (echo with logprobs).")
        return self._judge("the log-probabilities of prompts", observations)

    def completion(self) -> Measured:
        """Check the log-probabilities of greedy completions, for new texts that are requested one at a time."""
        return self._judge_completions("the log-probabilities of completions", self._alone)

    @functools.cached_property
    def _alone(self) -> list[Compared]:
        asked = []
        echoes = True
        for text in self.alone:
            answer = self._ask(text)
            echo = self.session.complete_with_echo(text) if echoes and len(text.ids) > 1 else None
            echoes = echoes and (echo is not None or len(text.ids) == 1)
            asked.append((text, answer, echo))
        return self.session.compare(asked)

    def batch(self) -> Measured:
        """Check answers to texts that are requested at the same time; some are requested twice, next to others."""
        self._require_right_alone()
        pairs: list[Compared] = []
        for batch in self.drawn.batches():
            answers = self.session.complete_together([text.ids for text in batch])
            for text, answer in zip(batch, answers):
                self._record(text, answer)
            pairs += self.session.compare([(text, answer, None) for text, answer in zip(batch, answers)])
        return self._judge_completions("answers in a batch", pairs)

    def cache(self) -> Measured:
        """Check answers to texts that are completely or partly in a prefix cache."""
        self._require_right_alone()
        listed = [*self.drawn.repeated(self.alone), *self.drawn.shared()]
        if not listed:
            raise Skipped("The context is too short for a page of a cache.")
        pairs = self.session.compare([(text, self._ask(text), None) for text in listed])
        return self._judge_completions("answers with a prefix cache", pairs)

    def _ask(self, text: Text) -> Answer:
        answer = self.session.complete_named(text.ids)
        self._record(text, answer)
        return answer

    def _record(self, text: Text, answer: Answer) -> None:
        if answer.prompt_tokens not in (None, len(text.ids)):
            raise Failure(
                WRONG,
                f"The server read {answer.prompt_tokens} tokens of a text of {len(text.ids)}: it cuts texts, or adds to"
                " them.",
                "Raise the server's context (--max-model-len, --context-length, --ctx-size with --parallel), and have"
                " it refuse longer texts instead of cutting them.",
                f"{answer.prompt_tokens} tokens of {len(text.ids)}",
            )
        self.answers.append((text, answer))

    def _judge_completions(self, subject: str, pairs: t.Iterable[Compared]) -> Measured:
        return self._judge(subject, [observation for pair in pairs for observation in pair.completion])

    def _judge(self, subject: str, observations: list[Observation]) -> Measured:
        self.seen += observations
        judged = judge.judge(observations)
        worst = judged.worst
        if worst is None:
            raise Skipped(f"{subject[0].upper()}{subject[1:]} have no numbers to compare.")
        where = f"{worst.length} tokens {worst.condition}, position {worst.position}"
        measured = f"{judged.ratio:.2g} of the bound at worst ({where}), {judged.noise:.2g} of the noise"
        measured += f", {judged.count} values"
        if not judged.wrong:
            return Measured(measured, BOUND, judged.ratio)
        wrong, bad = judged.wrong[0], set(judged.wrong)
        affected = {seen.text for seen in bad}
        again, nearer = self._ask_again(wrong)
        first = judge.first_wrong([*(seen for seen in observations if seen.text in affected), *nearer])
        cause = (
            f"{subject[0].upper()}{subject[1:]} are wrong: {len(bad)} of {judged.count}, in {len(affected)} of"
            f" {len({seen.text for seen in observations})} requests, such as {wrong.served:.5g} instead of"
            f" {wrong.expected:.5g}, {max(wrong.ratio, judged.ratio):.3g} times the bound ({where}). "
            f"{again or judge.describe(judged.wrong, [seen for seen in self.seen if seen not in bad], first)}"
        )
        is_format = self.session.reference and judged.ratio < 30 and {seen.condition for seen in bad} == {ALONE}
        self.wrong_alone = self.wrong_alone or observations[0].condition == ALONE
        raise Failure(WRONG, cause, (FORMAT if is_format else "") + ENGINE, measured, max(judged.ratio, 1.001))

    def _ask_again(self, wrong: Observation) -> tuple[str, list[Observation]]:
        """Request a wrong text again, and its beginnings around the shortest wrong one.

        :return: a sentence if the text is not wrong each time, and the numbers of the beginnings.
        """
        text, of_prompt = wrong.text, wrong.position < wrong.length

        def numbers(asked: t.Sequence[Text]) -> list[list[Observation]]:
            rows = []
            for each in asked:
                answer = self.session.complete_named(each.ids)
                rows.append((each, answer, self.session.complete_with_echo(each) if of_prompt else None))
            pairs = self.session.compare(rows)
            return [pair.prompt if of_prompt else pair.completion for pair in pairs]

        if text.condition == BATCHED:
            return "", []
        try:
            count = sum(bool(judge.judge(seen).wrong) for seen in numbers([text] * REPETITIONS))
            if count < REPETITIONS:
                return f"When repeated, {count} of {REPETITIONS} requests of that text are wrong.", []
            right, bad = 0, len(text.ids)
            while bad - right > BEGINNINGS and not of_prompt:
                middle = (right + bad) // 2
                observations = numbers([Text(text.ids[:middle], text.condition)])[0]
                right, bad = (right, middle) if judge.judge(observations).wrong else (middle, bad)
            lengths = range(bad, max(right, 0) if not of_prompt else bad, -1)
            nearer = numbers([Text(text.ids[:length], text.condition) for length in lengths])
        except SparkforgeError:
            return "", []
        return "", [observation for observations in nearer for observation in observations]

    def greedy(self) -> Measured:
        """Require that temperature 0 chooses the likeliest token according to the server's own log-probabilities."""
        count, requests, wrong, had_occurred = 0, 0, 0, True
        for text, answer in self.answers:
            off = 0
            before: set[int | str] = {*text.ids}
            for token in answer.tokens:
                count += bool(token.top)
                if token.margin > TIE:
                    off += 1
                    had_occurred = had_occurred and max(token.top, key=lambda name: token.top[name]) in before
                before.add(token.name)
            wrong, requests = wrong + off, requests + bool(off)
        if not count:
            raise Skipped("The server reports only the chosen token, no alternatives.")
        self.draws_at_zero = bool(wrong) and not had_occurred
        expect(
            not wrong,
            f"With temperature 0 a less likely token was chosen {wrong} of {count} times, in {requests} of"
            f" {len(self.answers)} requests{OCCURRED if had_occurred else ''}.",
            PENALTY if had_occurred else GREEDY,
        )
        return Measured(f"the likeliest of its tokens {count} times", "each time")

    def _require_right_alone(self) -> None:
        """Skip a check if texts requested one at a time are already wrong, because it would not add anything."""
        if self.wrong_alone:
            raise Skipped("The numbers of texts that are sent alone are already wrong.")

    def _starts(self, count: int) -> list[texts.Ids]:
        """Return short texts with different beginnings."""
        return [self.drawn.draw(8 + number % 5) for number in range(count)]

    def draws(self, temperature: float) -> Measured:
        """Require that tokens are drawn from the model's distribution at a temperature."""
        self._require_right_alone()
        draws: list[judge.Draw] = []
        for round_ in range(2):
            starts = self._starts(texts.BATCH)
            seeds = [{"seed": 1000 * (round_ + 1) + number} for number in range(len(starts))]
            asked = self.session.complete_together(starts, seeds, temperature=temperature)
            pairs = [(Text(ids, BATCHED), answer, None) for ids, answer in zip(starts, asked)]
            draws += [draw for pair in self.session.compare(pairs, temperature) for draw in pair.draws]
        deviation = judge.deviation(draws)
        measured = f"{deviation:+.1f} standard deviations, {len(draws)} tokens"
        if abs(deviation) > judge.DRAWS:
            kind = "likelier" if deviation > 0 else "less likely"
            raise Failure(
                WRONG,
                f"At temperature {temperature:g} the server draws tokens that are {kind} than their distribution says:"
                f" {abs(deviation):.1f} standard deviations over {len(draws)} tokens.",
                "Check whether the server ignores the temperature, or sets top_k, top_p, min_p or a penalty of its own"
                " (vLLM: --generation-config vllm), and whether speculative decoding is on.",
                measured,
                abs(deviation) / judge.DRAWS,
            )
        return Measured(measured, f"{judge.DRAWS:g} standard deviations", abs(deviation) / judge.DRAWS)
