# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A conversation with one server: what is asked of it, and its numbers beside the reference's."""

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

#: Tokens of which an answer names the log-probability at each position.
TOP = 5
#: Of how many texts at most the noise is computed again where a number is off, and how often then. In a mixture of
#: experts a token whose scores of two experts are nearly equal takes the other one in a few of many computations.
FEW, MANY = 4, 32
#: Options of engines beyond OpenAI's interface: the ids of tokens; nothing that an engine's own defaults would do to a
#: distribution; and no end before the text is as long as was asked for.
_IDS = {"return_token_ids": True, "return_tokens_as_token_ids": True}
_PLAIN = {"top_k": -1, "min_p": 0.0}
_LONG = {"ignore_eos": True}
EXTRAS: tuple[dict[str, t.Any], ...] = ({**_IDS, **_PLAIN, **_LONG}, {**_PLAIN, **_LONG}, _PLAIN, {})


class Compared(t.NamedTuple):
    """The numbers of one text beside the reference's.

    :ivar prompt: of its own tokens.
    :ivar completion: of those that were generated, and the likeliest beside them.
    :ivar draws: for each generated token its log-probability, and that one's moments.
    """

    prompt: list[Observation]
    completion: list[Observation]
    draws: list[judge.Draw]


class Session:
    """One server and the reference beside it.

    :ivar extras: which of :data:`EXTRAS` the server takes.
    """

    def __init__(self, endpoint: Endpoint, model: str, ref: reference.Reference | None = None) -> None:
        # Where two servers are compared, nothing asks for it.
        self.endpoint, self.model, self.reference = endpoint, model, t.cast(reference.Reference, ref)
        self.extras: dict[str, t.Any] = {}
        self._spelled: dict[str, list[int]] | None = None

    def settle(self, ids: Ids) -> None:
        """Find out what the server takes.

        :raises SparkforgeError: it returns no log-probabilities, or refuses a plain completion.
        """
        for number, extras in enumerate(EXTRAS):
            # A penalty is undone only where the model itself asks for it: nobody else is to apply any.
            self.extras = {**extras, **(self.reference.defaults() if extras and self.reference else {})}
            try:
                answer = self.complete(ids, max_tokens=2)
            except NotNumbers:
                # The checks say so.
                return
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
        """Return the greedy answer to a text, or what ``more`` asks for.

        :raises NotNumbers: a log-probability is none.
        :raises SparkforgeError: it was cut off.
        """
        asked = {"temperature": 0, "top_p": 1.0, "max_tokens": GENERATED, "logprobs": TOP, **self.extras, **more}
        body = {"model": self.model, "prompt": prompt if isinstance(prompt, str) else list(prompt), **asked}
        answer = answers.completion(self.endpoint.post("/v1/completions", body))
        answer = dataclasses.replace(answer, asked=asked["max_tokens"])
        # The first token of a prompt has no number; where none has one, the server does not name those of prompts.
        numbers = [one.logprob for one in (answer.tokens[1 : len(prompt)] if asked.get("echo") else answer.tokens)]
        bad = sum(one is None or not math.isfinite(one) for one in numbers)
        if bad and any(one is not None for one in numbers):
            raise NotNumbers(
                f"{bad} of {len(numbers)} log-probabilities of an answer are no numbers (NaN, infinite or null).",
                OTHER_KERNELS,
            )
        if answer.is_cut_off:
            raise SparkforgeError(
                f"{self.endpoint.base} cut an answer off: {answer.count} of {answer.asked} tokens came, ended by"
                f" {answer.finish or 'nothing'!r}.",
                "Look at the server's log for what ended it.",
            )
        return answer

    def named(self, prompt: Ids, **more: t.Any) -> Answer:
        """Return an answer of which every token is named.

        llama.cpp's server leaves out those that end within a character, and nothing says where: then one token is asked
        for, which it names always.
        """
        answer = self.complete(prompt, **more)
        if answer.completion_tokens in (None, len(answer.tokens)):
            return answer
        return self.complete(prompt, **{**more, "max_tokens": 1})

    def at_once(
        self, prompts: t.Sequence[Ids], each: t.Sequence[t.Mapping[str, t.Any]] = (), **more: t.Any
    ) -> list[Answer]:
        """Return the answers to texts that are asked at the same moment; ``each`` has more options of each."""
        barrier = threading.Barrier(len(prompts))

        def one(number: int) -> Answer:
            barrier.wait()
            return self.named(prompts[number], **more, **(each[number] if each else {}))

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
        # Where one token of a prompt has a number, all have, or Session.complete would have said so.
        is_named = len(answer.tokens) in (len(text.ids), len(text.ids) + 1) and answer.tokens[1].logprob is not None
        return answer if is_named else None

    def compared(self, asked: t.Sequence[tuple[Text, Answer, Answer | None]], temperature: float = 0) -> list[Compared]:
        """Return the numbers of each text beside the reference's.

        :param asked: each text, its answer, and the answer with its own tokens, where there is one.
        :param temperature: at which its tokens were drawn, if they were.
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
        scored = self.reference.score(listed, drawn=temperature)
        found = [_beside(one[0], *line, said) for one, line, said in zip(asked, listed, scored)]
        off = [number for number, pair in enumerate(found) if judge.judge([*pair.prompt, *pair.completion]).wrong]
        if 0 < len(off) <= FEW:
            for number, said in zip(off, self.reference.score([listed[one] for one in off], MANY, temperature)):
                found[number] = _beside(asked[number][0], *listed[number], said)
        return found

    def _of_top(self, token: Token) -> dict[int, float]:
        """Return the likeliest tokens whose id is certain: a text may be that of several."""
        found = {}
        for name, logprob in token.top.items():
            candidates = [name] if isinstance(name, int) else self._candidates(name)
            if len(candidates) == 1:
                found[int(candidates[0])] = logprob
        return found


def _beside(
    text: Text, ids: Ids, named: t.Mapping[int, t.Mapping[int, float]], said: t.Mapping[int, reference.Position]
) -> Compared:
    seen = [
        Observation(text, at, served, said[at].logprobs[one], said[at].sigma)
        for at, tokens in named.items()
        for one, served in tokens.items()
        if one in said[at].logprobs
    ]
    length = len(text.ids)
    return Compared(
        [one for one in seen if one.position < length],
        [one for one in seen if one.position >= length],
        [(said[at].logprobs[ids[at]], *said[at].moments) for at in range(length, len(ids))],
    )


def _number(logprob: float | None) -> float:
    return math.nan if logprob is None else logprob
