# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A conversation with one server: what is asked of it, and its numbers beside the reference's."""

from __future__ import annotations

import concurrent.futures
import math
import threading
import typing as t

from .._shared.module_utils._core.errors import SparkforgeError
from . import answers, judge, reference
from .answers import Answer, Token
from .client import Declined, Endpoint
from .judge import Observation
from .texts import GENERATED, Ids, Text

#: Tokens of which an answer names the log-probability at each position.
TOP = 5
#: Of how many texts at most the noise is computed again where a number is off, and how often then. In a mixture of
#: experts a token whose scores of two experts are nearly equal takes the other one in a few of many computations.
FEW, MANY = 4, 32
#: Options of engines beyond OpenAI's interface: the ids of tokens; nothing that a model's generation_config.json or an
#: engine's own defaults would do to a distribution; and no end before the text is as long as was asked for.
_IDS = {"return_token_ids": True, "return_tokens_as_token_ids": True}
_PLAIN = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
_LONG = {"ignore_eos": True}
EXTRAS: tuple[dict[str, t.Any], ...] = ({**_IDS, **_PLAIN, **_LONG}, {**_PLAIN, **_LONG}, _PLAIN, {})


class Session:
    """One server and the reference beside it.

    :ivar extras: which of :data:`EXTRAS` the server takes.
    """

    def __init__(self, endpoint: Endpoint, model: str, ref: reference.Reference) -> None:
        self.endpoint, self.model, self.reference = endpoint, model, ref
        self.extras: dict[str, t.Any] = {}
        self._spelled: dict[str, list[int]] | None = None

    def settle(self, ids: Ids) -> None:
        """Find out what the server takes.

        :raises SparkforgeError: it returns no log-probabilities, or refuses a plain completion.
        """
        for number, extras in enumerate(EXTRAS):
            self.extras = extras
            try:
                answer = self.complete(ids, max_tokens=2)
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
        """Return the greedy answer to a text, or what ``more`` asks for."""
        asked = {"temperature": 0, "top_p": 1.0, "max_tokens": GENERATED, "logprobs": TOP, **self.extras, **more}
        body = {"model": self.model, "prompt": prompt if isinstance(prompt, str) else list(prompt), **asked}
        return answers.completion(self.endpoint.post("/v1/completions", body))

    def named(self, prompt: Ids, **more: t.Any) -> Answer:
        """Return an answer of which every token is named.

        llama.cpp's server leaves out those that end within a character, and nothing says where: then one token is asked
        for, which it names always.
        """
        answer = self.complete(prompt, **more)
        if answer.completion_tokens in (None, len(answer.tokens)):
            return answer
        return self.complete(prompt, **{**more, "max_tokens": 1})

    def at_once(self, prompts: t.Sequence[Ids], **more: t.Any) -> list[Answer]:
        """Return the answers to texts that are asked at the same moment; ``seeds`` has one for each."""
        seeds = more.pop("seeds", None)
        barrier = threading.Barrier(len(prompts))

        def one(number: int) -> Answer:
            barrier.wait()
            return self.named(prompts[number], **more, **({"seed": seeds[number]} if seeds else {}))

        with concurrent.futures.ThreadPoolExecutor(len(prompts)) as pool:
            return list(pool.map(one, range(len(prompts))))

    def generated(self, prompt: Ids, answer: Answer) -> list[int]:
        """Return the ids of the generated tokens; where only their text is known, those that the text may be."""
        found: list[int] = []
        # More than was asked for is what the check endpoint.max_tokens fails for, and would have to be computed here.
        for token in answer.tokens[:GENERATED]:
            if token.id is not None:
                found.append(token.id)
                continue
            candidates = self._candidates(token.text)
            if len(candidates) > 1:
                place = len(prompt) + len(found)
                scored = self.reference.score([((*prompt, *found), {place: candidates})], 0)[0][place].logprobs
                candidates = sorted(candidates, key=lambda one: -scored.get(one, -math.inf))
            if not candidates:
                raise SparkforgeError(
                    f"The server generated {token.text!r}, which is no token of the model's tokenizer.",
                    "Compare the tokenizer.json of both: the server has another one.",
                )
            found.append(candidates[0])
        return found

    def _candidates(self, text: str) -> list[int]:
        if self._spelled is None:
            self._spelled = {}
            tokenizer = self.reference.tokenizer
            for one in tokenizer.get_vocab().values():
                for spelled in {tokenizer.decode([one]), str(tokenizer.convert_ids_to_tokens(one))}:
                    self._spelled.setdefault(spelled, []).append(one)
        return self._spelled.get(text, [])

    def echoed(self, text: Text) -> Answer | None:
        """Return an answer with the log-probabilities of the text's own tokens; None where the server names none."""
        try:
            answer = self.complete(text.ids, echo=True, max_tokens=1, logprobs=1)
        except Declined:
            return None
        if len(answer.tokens) not in (len(text.ids), len(text.ids) + 1) or not answer.has_logprobs:
            return None
        return answer

    def compared(
        self, asked: t.Sequence[tuple[Text, Answer, Answer | None]]
    ) -> list[tuple[list[Observation], list[Observation]]]:
        """Return of each text the log-probabilities of its own tokens, and of those that were generated.

        The latter with those of the likeliest tokens beside them.

        :param asked: each text, its answer, and the answer with its own tokens, where there is one.
        """
        listed = []
        for text, answer, echo in asked:
            ids = self.generated(text.ids, answer)
            named: dict[int, dict[int, float]] = {}
            for place in reference.places(len(text.ids)) if echo else ():
                named[place] = {text.ids[place]: _number(t.cast(Answer, echo).tokens[place].logprob)}
            for place, token, one in zip(range(len(text.ids), len(text.ids) + len(ids)), answer.tokens, ids):
                named[place] = {**self._of_top(token), one: _number(token.logprob)}
            listed.append(((*text.ids, *ids), named))
        found = [
            _beside(number, one[0], named, said)
            for number, (one, (_ids, named), said) in enumerate(zip(asked, listed, self.reference.score(listed)))
        ]
        off = [number for number, pair in enumerate(found) if judge.judge([*pair[0], *pair[1]]).wrong]
        if 0 < len(off) <= FEW:
            for number, said in zip(off, self.reference.score([listed[one] for one in off], MANY)):
                found[number] = _beside(number, asked[number][0], listed[number][1], said)
        return found

    def draws(self, asked: t.Sequence[tuple[Ids, Answer]], temperature: float) -> list[judge.Draw]:
        """Return for each drawn token its log-probability, and that one's moments."""
        listed = []
        for prompt, answer in asked:
            ids = self.generated(prompt, answer)
            places = range(len(prompt), len(prompt) + len(ids))
            listed.append(((*prompt, *ids), {place: [one] for place, one in zip(places, ids)}))
        scored = self.reference.score(listed, drawn=temperature)
        return [
            (said[at].logprobs[tokens[0]], *said[at].moments)
            for (_ids, named), said in zip(listed, scored)
            for at, tokens in named.items()
        ]

    def _of_top(self, token: Token) -> dict[int, float]:
        """Return the likeliest tokens whose id is certain: a text may be that of several."""
        found = {}
        for name, logprob in token.top.items():
            candidates = [name] if isinstance(name, int) else self._candidates(name)
            if len(candidates) == 1:
                found[int(candidates[0])] = logprob
        return found


def _beside(
    number: int, text: Text, named: t.Mapping[int, t.Mapping[int, float]], said: t.Mapping[int, reference.Position]
) -> tuple[list[Observation], list[Observation]]:
    """Return what the server and the reference say of a text's own tokens, and of those behind it."""
    seen = [
        Observation(text.condition, number, len(text.ids), at, served, said[at].logprobs[one], said[at].sigma)
        for at, tokens in named.items()
        for one, served in tokens.items()
        if one in said[at].logprobs
    ]
    of_text = [one for one in seen if one.position < len(text.ids)]
    return of_text, [one for one in seen if one.position >= len(text.ids)]


def _number(logprob: float | None) -> float:
    return math.nan if logprob is None else logprob
