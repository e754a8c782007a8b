"""Requests to a server, and the comparison of its numbers with the reference's."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import math
import threading
import typing as t

from .._shared.module_utils._core.errors import SparkforgeError
from . import answers, judge, reference
from .answers import Answer, Token
from .client import OTHER_KERNELS, Declined, Endpoint, NotNumbers
from .judge import Observation
from .texts import GENERATED, Ids, Text

#: How many of the likeliest tokens at each position an answer lists with their log-probabilities.
TOP = 5
#: If at most ``FEW`` texts are off, their noise is computed again with ``MANY`` trials: in a mixture of experts, a
#: token with nearly equal scores for two experts is rarely routed to the other one.
FEW, MANY = 4, 32
#: Options that engines have beyond OpenAI's interface: return token ids, disable the engine's sampling defaults, and do
#: not stop before the requested length.
_IDS = {"return_token_ids": True, "return_tokens_as_token_ids": True}
_PLAIN = {"top_k": -1, "min_p": 0.0}
_LONG = {"ignore_eos": True}
EXTRAS: tuple[dict[str, t.Any], ...] = ({**_IDS, **_PLAIN, **_LONG}, {**_PLAIN, **_LONG}, _PLAIN, {})


class Compared(t.NamedTuple):
    """A text's log-probabilities compared with the reference's.

    :ivar prompt: observations of the text's tokens.
    :ivar completion: observations of the generated tokens and the likeliest alternatives.
    :ivar draws: for each generated token, its log-probability, and the moments at its position.
    """

    prompt: list[Observation]
    completion: list[Observation]
    draws: list[judge.Draw]


class Session:
    """A server and its reference.

    :ivar extras: the element of :data:`EXTRAS` that the server accepts.
    """

    def __init__(self, endpoint: Endpoint, model: str, ref: reference.Reference | None = None) -> None:
        # A comparison of two servers does not use the reference.
        self.endpoint, self.model, self.reference = endpoint, model, t.cast(reference.Reference, ref)
        self.extras: dict[str, t.Any] = {}
        self._spelled: dict[str, list[int]] | None = None

    def settle(self, ids: Ids) -> None:
        """Find out which options the server accepts.

        :raises SparkforgeError: if the server does not return log-probabilities, or refuses a plain completion.
        """
        for number, extras in enumerate(EXTRAS):
            # Undo only the penalties from the model's configuration; the check endpoint.greedy finds others.
            self.extras = {**extras, **(self.reference.neutral_penalties() if extras and self.reference else {})}
            try:
                answer = self.complete(ids, max_tokens=2)
            except NotNumbers:
                return  # the checks report this
            except Declined:
                if number == len(EXTRAS) - 1:
                    raise
                continue
            if not answer.tokens or answer.tokens[0].logprob is None:
                raise SparkforgeError(
                    f"{self.endpoint.base} returns no log-probabilities, without which its numbers cannot be judged.",
                    "Start llama-cpp-python with --logits_all true, and TensorRT-LLM with gather_generation_logits; a "
                    "proxy in front of the server may also remove them.",
                )
            return

    def complete(self, prompt: Ids | str, **more: t.Any) -> Answer:
        """Return the greedy answer to a text.

        :param more: other options for the request, which may replace the default ones.
        :raises NotNumbers: if a log-probability is not a number.
        :raises SparkforgeError: if the answer was cut off.
        """
        asked = {"temperature": 0, "top_p": 1.0, "max_tokens": GENERATED, "logprobs": TOP, **self.extras, **more}
        body = {"model": self.model, "prompt": prompt if isinstance(prompt, str) else list(prompt), **asked}
        answer = answers.completion(self.endpoint.post("/v1/completions", body))
        answer = dataclasses.replace(answer, asked=asked["max_tokens"])
        # The first token of a prompt has no log-probability; if no token has one, the server does not support echo.
        tokens = answer.tokens[1 : len(prompt)] if asked.get("echo") else answer.tokens
        numbers = [token.logprob for token in tokens]
        bad = sum(number is None or not math.isfinite(number) for number in numbers)
        if bad and any(number is not None for number in numbers):
            raise NotNumbers(
                f"{bad} of {len(numbers)} log-probabilities of an answer are not numbers (NaN, infinite or null).",
                OTHER_KERNELS,
            )
        if answer.is_cut_off:
            raise SparkforgeError(
                f"{self.endpoint.base} cut an answer off: {answer.count} of {answer.asked} tokens came, ended by"
                f" {answer.finish or 'nothing'!r}.",
                "Find the reason in the server's log.",
            )
        return answer

    def complete_named(self, prompt: Ids, **more: t.Any) -> Answer:
        """Return an answer that names every token.

        llama.cpp's server omits tokens that end within a character, and does not report where. In that case, request a
        single token, which it always names.
        """
        answer = self.complete(prompt, **more)
        if answer.completion_tokens in (None, len(answer.tokens)):
            return answer
        return self.complete(prompt, **{**more, "max_tokens": 1})

    def complete_together(
        self, prompts: t.Sequence[Ids], each: t.Sequence[t.Mapping[str, t.Any]] = (), **more: t.Any
    ) -> list[Answer]:
        """Return the answers to texts that are requested at the same time; ``each`` has more options for each text."""
        barrier = threading.Barrier(len(prompts))

        def ask(number: int) -> Answer:
            barrier.wait()
            return self.complete_named(prompts[number], **more, **(each[number] if each else {}))

        with concurrent.futures.ThreadPoolExecutor(len(prompts)) as pool:
            return list(pool.map(ask, range(len(prompts))))

    def generated_ids(self, prompt: Ids, answer: Answer) -> list[int]:
        """Return the generated tokens' ids; for a token without an id, that of the likeliest one with its text."""
        ids: list[int] = []
        # Ignore surplus tokens, which would have to be computed; the check endpoint.max_tokens reports them.
        for token in answer.tokens[:GENERATED]:
            if token.id is not None:
                ids.append(token.id)
                continue
            candidates = self._candidates(token.text)
            if len(candidates) > 1:
                position = len(prompt) + len(ids)
                scored = self.reference.score([((*prompt, *ids), {position: candidates})], 0)[0][position].logprobs
                candidates = sorted(candidates, key=lambda candidate: -scored.get(candidate, -math.inf))
            if not candidates:
                raise SparkforgeError(
                    f"The server generated {token.text!r}, which is not a token of the model's tokenizer.",
                    "Compare the tokenizer.json of both: the server has another tokenizer.",
                )
            ids.append(candidates[0])
        return ids

    def _candidates(self, text: str) -> list[int]:
        if self._spelled is None:
            self._spelled = {}
            tokenizer = self.reference.tokenizer
            for id_ in tokenizer.get_vocab().values():
                for spelled in {tokenizer.decode([id_]), str(tokenizer.convert_ids_to_tokens(id_))}:
                    self._spelled.setdefault(spelled, []).append(id_)
        return self._spelled.get(text, [])

    def complete_with_echo(self, text: Text) -> Answer | None:
        """Return an answer with the log-probabilities of the text's tokens, or None if the server omits them."""
        try:
            answer = self.complete(text.ids, echo=True, max_tokens=1, logprobs=1)
        except Declined:
            return None
        # If one token in the prompt has a log-probability, all have one: complete() has checked that.
        is_named = len(answer.tokens) in (len(text.ids), len(text.ids) + 1) and answer.tokens[1].logprob is not None
        return answer if is_named else None

    def compare(self, asked: t.Sequence[tuple[Text, Answer, Answer | None]], temperature: float = 0) -> list[Compared]:
        """Compare the log-probabilities of each text with the reference's.

        :param asked: each text, its answer, and the answer from :meth:`complete_with_echo`, if there is one.
        :param temperature: the temperature at which tokens were drawn, if they were.
        """
        listed = []
        for text, answer, echo in asked:
            ids = self.generated_ids(text.ids, answer)
            named: dict[int, dict[int, float]] = {}
            for position in reference.compared_positions(len(text.ids)) if echo else ():
                named[position] = {text.ids[position]: _number(t.cast(Answer, echo).tokens[position].logprob)}
            for position, (token, id_) in enumerate(zip(answer.tokens, ids), len(text.ids)):
                named[position] = {**self._certain_alternatives(token), id_: _number(token.logprob)}
            listed.append(((*text.ids, *ids), named))
        scored = self.reference.score(listed, drawn=temperature)
        pairs = [_compare(row[0], *line, scores) for row, line, scores in zip(asked, listed, scored)]
        off = [number for number, pair in enumerate(pairs) if judge.judge([*pair.prompt, *pair.completion]).wrong]
        if 0 < len(off) <= FEW:
            for number, scores in zip(off, self.reference.score([listed[index] for index in off], MANY, temperature)):
                pairs[number] = _compare(asked[number][0], *listed[number], scores)
        return pairs

    def _certain_alternatives(self, token: Token) -> dict[int, float]:
        """Return the likeliest tokens by id, leaving out texts that several tokens share."""
        logprobs = {}
        for name, logprob in token.top.items():
            candidates = [name] if isinstance(name, int) else self._candidates(name)
            if len(candidates) == 1:
                logprobs[int(candidates[0])] = logprob
        return logprobs


def _compare(
    text: Text, ids: Ids, named: t.Mapping[int, t.Mapping[int, float]], scores: t.Mapping[int, reference.Position]
) -> Compared:
    seen = [
        Observation(text, at, served, scores[at].logprobs[id_], scores[at].sigma)
        for at, tokens in named.items()
        for id_, served in tokens.items()
        if id_ in scores[at].logprobs
    ]
    length = len(text.ids)
    return Compared(
        [observation for observation in seen if observation.position < length],
        [observation for observation in seen if observation.position >= length],
        [(scores[at].logprobs[ids[at]], *scores[at].moments) for at in range(length, len(ids))],
    )


def _number(logprob: float | None) -> float:
    return math.nan if logprob is None else logprob
