# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks of a served model: what each asks, and what it says of the answers."""

from __future__ import annotations

import typing as t

from ..check import MISMATCH, WRONG, Failed, Measured, Skipped
from . import judge, texts
from .answers import Answer, completion, streamed
from .client import Declined
from .judge import Observation
from .session import Session
from .texts import ALONE, Text

ENGINE = (
    "Start the server without one after the other of: its prefix cache, CUDA graphs, speculative decoding, a quantised"
    " KV cache, its attention backend. The one without which the numbers are right is at fault. If none is, use another"
    " version."
)
FORMAT = "If the server quantises weights or activations when it loads them, say so with --format. If not: "


class Failure(Failed):
    """A check that failed, and why: a number is wrong, or something is not as it was asked for."""

    def __init__(self, reason: str, cause: str, remedy: str, measured: str = "", ratio: float | None = None) -> None:
        super().__init__(cause, remedy, measured, _BOUND if ratio is not None else "", ratio)
        self.reason = reason


_BOUND = "1 time what the format explains, against float32"
SAMPLES = (
    "The quick brown fox jumps over the lazy dog.",
    "  Two  spaces,\ttabs\n\nand lines; 3.14159 and 1,000,000.",
    "Grüße, 世界, мир, 🙂 — naïve café",
    "<|user|></s><s>[INST]",
)
MESSAGES = (
    [{"role": "user", "content": "What is two and two?"}],
    [
        {"role": "user", "content": "Name a number."},
        {"role": "assistant", "content": "Seven."},
        {"role": "user", "content": "And another one?"},
    ],
)


class Checks:
    """All checks, in their order; what one learns the next ones use.

    :ivar seen: every observation so far, by which a fault is told to be a batch's, a cache's or a length's.
    """

    def __init__(self, session: Session, drawn: texts.Texts) -> None:
        self.session, self.drawn = session, drawn
        self.alone = drawn.alone()
        self.seen: list[Observation] = []
        self.answers: dict[texts.Ids, Answer] = {}
        self.wrong_alone = self.draws_at_zero = False
        self._seen_alone: list[tuple[list[Observation], list[Observation]]] | None = None

    def rows(self) -> list[tuple[str, bool, t.Callable[[], Measured]]]:
        """Return name, whether it compares numbers, and function of each check."""
        return [
            ("endpoint.prompt", True, self.prompt),
            ("endpoint.completion", True, self.completion),
            ("endpoint.batch", True, self.batch),
            ("endpoint.cache", True, self.cache),
            ("endpoint.greedy", False, self.greedy),
            ("endpoint.draws", True, self.draws),
            ("endpoint.seed", False, self.seed),
            ("endpoint.temperature", True, self.temperature),
            ("endpoint.top_k", False, self.top_k),
            ("endpoint.top_p", False, self.top_p),
            ("endpoint.logit_bias", False, self.logit_bias),
            ("endpoint.max_tokens", False, self.max_tokens),
            ("endpoint.stop", False, self.stop),
            ("endpoint.stream", False, self.stream),
            ("endpoint.tokenizer", False, self.tokenizer),
            ("endpoint.template", True, self.template),
        ]

    # -- numbers

    def prompt(self) -> Measured:
        """The log-probabilities of a text's own tokens, at every length, alone."""
        found = [one for pair in self._alone() for one in pair[0]]
        if not found:
            raise Skipped("The server names no log-probabilities of a prompt (echo with logprobs).")
        return self._judged("the log-probabilities of prompts", found)

    def completion(self) -> Measured:
        """What is generated greedily behind each length, alone and for the first time."""
        return self._judged("the log-probabilities of completions", [one for pair in self._alone() for one in pair[1]])

    def _alone(self) -> list[tuple[list[Observation], list[Observation]]]:
        if self._seen_alone is None:
            asked = []
            echoes = True
            for text in self.alone:
                answer = self.answers[text.ids] = self._asked(text)
                echo = self.session.echoed(text) if echoes and len(text.ids) > 1 else None
                echoes = echoes and (echo is not None or len(text.ids) == 1)
                asked.append((text, answer, echo))
            self._seen_alone = self.session.compared(asked)
        return self._seen_alone

    def batch(self) -> Measured:
        """Texts that are asked at once, some of them twice beside others."""
        self._right_alone()
        both: list[dict[texts.Ids, list[Observation]]] = []
        for batch in self.drawn.batches():
            asked = self.session.at_once([one.ids for one in batch])
            for text, answer in zip(batch, asked):
                self._whole(text, answer)
            pairs = self.session.compared([(text, answer, None) for text, answer in zip(batch, asked)])
            both.append({text.ids: pair[1] for text, pair in zip(batch, pairs)})
        moved = [ids for ids in both[0] if ids in both[1] and judge.differs(both[0][ids], both[1][ids])]
        also = ""
        if moved:
            also = f" {len(moved)} of {len(set(both[0]) & set(both[1]))} texts got another answer beside other texts:"
            also += " an answer depends on its neighbours in the batch."
        return self._judged(
            "answers in a batch", [one for each in both for seen in each.values() for one in seen], also
        )

    def cache(self) -> Measured:
        """Texts that a prefix cache has, wholly or in part."""
        self._right_alone()
        listed = [*self.drawn.repeated(self.alone), *(one for group in self.drawn.shared() for one in group)]
        if not listed:
            raise Skipped("The context is too short for a page of a cache.")
        pairs = self.session.compared([(text, self._asked(text), None) for text in listed])
        return self._judged("answers with a prefix cache", [one for pair in pairs for one in pair[1]])

    def _asked(self, text: Text) -> Answer:
        answer = self.session.named(text.ids)
        self._whole(text, answer)
        return answer

    def _whole(self, text: Text, answer: Answer) -> None:
        if answer.prompt_tokens not in (None, len(text.ids)):
            raise Failure(
                WRONG,
                f"Of a text of {len(text.ids)} tokens the server read {answer.prompt_tokens}: it cuts texts, or adds to"
                " them.",
                "Raise the server's context (--max-model-len, --context-length, --ctx-size with --parallel), and have"
                " it refuse longer texts instead of cutting them.",
                f"{answer.prompt_tokens} tokens of {len(text.ids)}",
            )

    def _judged(self, what: str, found: list[Observation], also: str = "") -> Measured:
        self.seen += found
        judged = judge.judge(found)
        worst = judged.worst
        if worst is None:
            raise Skipped(f"{what[0].upper()}{what[1:]} have nothing that can be compared.")
        where = f"{worst.length} tokens {worst.condition}, position {worst.position}"
        measured = f"{judged.ratio:.2g} of the bound at worst ({where}), {judged.noise:.2g} of the noise"
        measured += f", {judged.count} values"
        if not judged.wrong and not also:
            return Measured(measured, _BOUND, judged.ratio)
        cause = f"{what[0].upper()}{what[1:]} are off"
        if judged.wrong:
            one = judged.wrong[0]
            bad = set(judged.wrong)
            off = f"{one.served:.5g} instead of {one.expected:.5g}, {max(one.ratio, judged.ratio):.3g} times the bound"
            cause += f": {len(bad)} of {judged.count} are, such as {off} ({where}). "
            others = [seen for seen in self.seen if seen not in bad]
            cause += judge.where(judged.wrong, others)
        else:
            cause += "."
        hint = (
            FORMAT if judged.wrong and judged.ratio < 30 and {one.condition for one in judged.wrong} == {ALONE} else ""
        )
        remedy = hint + ENGINE
        self.wrong_alone = self.wrong_alone or found[0].condition == ALONE
        raise Failure(WRONG, cause + also, remedy, measured, max(judged.ratio, 1.001))

    def _right_alone(self) -> None:
        """Skip what says nothing new where texts are wrong already that are asked alone."""
        if self.wrong_alone:
            raise Skipped("The numbers of texts that are asked alone are wrong already.")

    # -- what a request asks for

    def _starts(self, count: int) -> list[texts.Ids]:
        """Return texts that are short, of which each begins otherwise."""
        return [self.drawn.draw(8 + number % 5) for number in range(count)]

    def greedy(self) -> Measured:
        """Temperature 0 chooses the likeliest token, by the server's own numbers."""
        chosen = [
            token
            for answer in self.answers.values()
            for token in answer.tokens
            if token.top and token.logprob is not None
        ]
        if not chosen:
            raise Skipped("The server names no other tokens beside the chosen one.")
        # Ties are a matter of rounding: engines of 16 bits have many.
        wrong = [one for one in chosen if max(one.top.values()) > t.cast(float, one.logprob) + 1e-3]
        if wrong:
            self.draws_at_zero = True
            raise Failure(
                MISMATCH,
                f"With temperature 0 a less likely token was chosen {len(wrong)} of {len(chosen)} times.",
                "See whether it overrides the temperature, or its speculative decoding accepts what it should not.",
            )
        return Measured(f"the likeliest of its tokens {len(chosen)} times", "each time")

    def _same_twice(self) -> None:
        if self.draws_at_zero:
            raise Skipped("With temperature 0 the server draws, so that no answer is twice the same.")

    def _drawn(self, temperature: float) -> Measured:
        self._right_alone()
        draws: list[judge.Draw] = []
        for round_ in range(2):
            starts = self._starts(texts.BATCH)
            seeds = [1000 * (round_ + 1) + number for number in range(len(starts))]
            asked = self.session.at_once(starts, temperature=temperature, seeds=seeds)
            draws += self.session.draws(list(zip(starts, asked)), temperature)
        found = judge.deviation(draws)
        measured = f"{found:+.1f} standard deviations, {len(draws)} tokens"
        if abs(found) > judge.DRAWS:
            kind = "likelier" if found > 0 else "less likely"
            raise Failure(
                WRONG,
                f"At temperature {temperature:g} the server draws tokens that are {kind} than their distribution says:"
                f" {abs(found):.1f} standard deviations over {len(draws)} tokens.",
                "See whether the server ignores the temperature, or sets top_k, top_p, min_p or a penalty of its own"
                " (vLLM: --generation-config vllm), and whether speculative decoding is on.",
                measured,
                abs(found) / judge.DRAWS,
            )
        return Measured(measured, f"{judge.DRAWS:g} standard deviations", abs(found) / judge.DRAWS)

    def draws(self) -> Measured:
        """At temperature 1 tokens are drawn as their distribution says."""
        return self._drawn(1.0)

    def temperature(self) -> Measured:
        """At temperature 0.5 they are drawn from the sharper distribution."""
        return self._drawn(0.5)

    def seed(self) -> Measured:
        """The same seed draws the same tokens, another one others."""
        ids = self._starts(1)[0]
        same = [self._text(self.session.complete(ids, temperature=1.0, seed=7)) for _ in range(4)]
        others = [self._text(self.session.complete(ids, temperature=1.0, seed=seed)) for seed in (8, 9, 10)]
        if len({tuple(one) for one in (same[0], *others)}) == 1:
            raise Failure(
                MISMATCH,
                "Four seeds draw the same tokens at temperature 1: the server draws nothing.",
                "See whether the server overrides the temperature, or caches answers.",
            )
        # Two equal draws may part where rounding puts a number on the other side of a step; three do not.
        shared = sorted(judge.shared_beginning(same[0], one) for one in same[1:])
        apart = max(judge.shared_beginning(same[0], one) for one in others)
        if same[0] not in same[1:] and shared[-1] <= max(apart, 3):
            raise Failure(
                MISMATCH,
                "The same seed draws other tokens each time: the server ignores the seed.",
                "Update the server, or do not rely on seeds: SGLang needs --enable-deterministic-inference for them.",
            )
        return Measured(f"{same.count(same[0])} of {len(same)} times the same tokens", "another seed, other tokens")

    def _text(self, answer: Answer) -> list[t.Any]:
        return [one.text if one.id is None else one.id for one in answer.tokens]

    def _needs(self, option: str) -> None:
        if option not in self.session.extras:
            raise Skipped(f"The server does not take {option}.")

    def _narrow(self, name: str, **more: t.Any) -> Measured:
        """A narrow choice at a high temperature is the greedy one."""
        answer = self.session.complete(self._starts(1)[0], temperature=2.0, seed=3, **more)
        tokens = [one for one in answer.tokens if one.top and one.logprob is not None]
        if not tokens:
            raise Skipped("The server names no other tokens beside the chosen one.")
        off = [one for one in tokens if max(one.top.values()) > t.cast(float, one.logprob) + 1e-3]
        if off:
            raise Failure(
                MISMATCH,
                f"{name} leaves the likeliest token alone, but {len(off)} of {len(tokens)} tokens are others: the"
                f" server ignores {name.split()[0]}.",
                "Update the server, or do not rely on that parameter.",
            )
        return Measured(f"the likeliest token {len(tokens)} times", "each time")

    def top_k(self) -> Measured:
        """``top_k`` of 1 is greedy at any temperature."""
        self._needs("top_k")
        return self._narrow("top_k 1", top_k=1)

    def top_p(self) -> Measured:
        """``top_p`` of nearly 0 is greedy at any temperature."""
        return self._narrow("top_p 0.000001", top_p=1e-6)

    def _first(self) -> tuple[texts.Ids, int]:
        """Return a text, and the first token that is generated behind it.

        llama.cpp's server keeps a token back that ends within a character, and names it with the next ones.
        """
        for ids in self._starts(12):
            found = self.session.generated(ids, self.session.complete(ids, max_tokens=4))
            if found:
                return ids, found[0]
        raise Skipped("The server names no token of what it generates.")

    def logit_bias(self) -> Measured:
        """A bias of -100 keeps a token out, one of 100 brings it."""
        ids, plain = self._first()
        other = next(one for one in self.session.reference.words() if one != plain)
        try:
            without, brought = (
                self.session.generated(ids, self.session.complete(ids, max_tokens=4, logit_bias={str(one): bias}))[:1]
                for one, bias in ((plain, -100), (other, 100))
            )
        except Declined as error:
            raise Skipped(f"The server does not take logit_bias: {error.cause}") from None
        if without == [plain] or brought != [other]:
            raise Failure(
                MISMATCH,
                "A token is generated as if it had no bias: the server ignores logit_bias.",
                "Update the server, or do not rely on that parameter.",
            )
        return Measured("-100 keeps a token out, and 100 brings one", "both")

    def max_tokens(self) -> Measured:
        """So many tokens are generated as were asked for."""
        ids = self._starts(1)[0]
        for count in (1, 7, 17):
            answer = self.session.complete(ids, max_tokens=count)
            named = len(answer.tokens)
            counted = named if answer.completion_tokens is None else answer.completion_tokens
            if max(named, counted) > count or (answer.finish == "length" and counted != count):
                raise Failure(
                    MISMATCH,
                    f"{max(named, counted)} tokens were generated where max_tokens is {count}.",
                    "Update the server: it ignores max_tokens.",
                )
        return Measured("1, 7 and 17 tokens", "as asked for")

    def stop(self) -> Measured:
        """A text ends before what it is to stop at."""
        self._same_twice()
        for ids in self._starts(12):
            whole = self.session.complete(ids).text
            found = [
                at for at in range(3, len(whole) - 2) if whole[at : at + 2].isascii() and whole[at : at + 2].isalnum()
            ]
            at = next((one for one in found if whole.index(whole[one : one + 2]) == one), None)
            if at is None:
                continue
            answer = self.session.complete(ids, stop=[whole[at : at + 2]])
            if whole[at : at + 2] in answer.text or not whole.startswith(answer.text) or len(answer.text) > at:
                raise Failure(
                    MISMATCH,
                    f"A text that is to stop at {whole[at : at + 2]!r} goes on: the server ignores stop.",
                    "Update the server, or cut texts where they are used.",
                )
            return Measured(f"stopped at {whole[at : at + 2]!r}", "the text before it")
        raise Skipped("No generated text has two letters to stop at.")

    def stream(self) -> Measured:
        """A streamed answer is the same."""
        self._same_twice()
        ids = self._starts(1)[0]
        whole = self.session.complete(ids).text
        body = {"model": self.session.model, "prompt": list(ids), "temperature": 0, "max_tokens": texts.GENERATED}
        plain = {name: value for name, value in self.session.extras.items() if not name.startswith("return_")}
        text = streamed(self.session.endpoint.stream("/v1/completions", {**body, **plain}))
        if text != whole and judge.shared_beginning(text, whole) < min(4, len(whole)):
            raise Failure(
                MISMATCH,
                f"A streamed answer begins {text[:20]!r}, and the same without a stream {whole[:20]!r}.",
                "Update the server: one of the two is not what it generates.",
            )
        return Measured("the same text", "the answer without a stream")

    def tokenizer(self) -> Measured:
        """A text becomes the tokens that the directory's tokenizer makes of it."""
        compared = 0
        for sample in SAMPLES:
            expected = list(self.session.reference.tokenizer(sample).input_ids)
            answer = self.session.complete(sample, max_tokens=1)
            got = list(answer.prompt_ids) if answer.prompt_ids else None
            if got is None and answer.prompt_tokens is None:
                continue
            compared += 1
            if (got if got is not None else answer.prompt_tokens) != (expected if got is not None else len(expected)):
                shown = f"{len(got) if got is not None else answer.prompt_tokens} tokens"
                raise Failure(
                    MISMATCH,
                    f"The server makes {shown} of {sample!r}, and the model's tokenizer {len(expected)}, or others:"
                    f" {(got or [])[:6]} and {expected[:6]}.",
                    "Compare tokenizer.json and tokenizer_config.json of both; a token that marks the beginning may be"
                    " added or missing.",
                )
        if not compared:
            raise Skipped("The server says neither the tokens nor the length of a prompt.")
        return Measured(f"{compared} texts", "the tokens of the model's tokenizer")

    def template(self) -> Measured:
        """Messages become the text that the directory's template makes of them, by the numbers of the answer."""
        tokenizer = self.session.reference.tokenizer
        if not getattr(tokenizer, "chat_template", None):
            raise Skipped("The model has no chat template.")
        asked: list[tuple[Text, Answer, None]] = []
        for messages in MESSAGES:
            made = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)
            text = Text(tuple(made["input_ids"]), ALONE)
            answer = self._chat(messages)
            if answer.prompt_tokens not in (None, len(text.ids)):
                raise Failure(
                    MISMATCH,
                    f"The server makes {answer.prompt_tokens} tokens of messages, and the model's chat template"
                    f" {len(text.ids)}: it has another template.",
                    "Compare the chat template of both: --chat-template, chat_template.jinja, tokenizer_config.json.",
                )
            if answer.tokens and answer.tokens[0].logprob is not None:
                asked.append((text, answer, None))
        found = [one for pair in self.session.compared(asked) for one in pair[1]]
        if not found:
            raise Skipped("The server's chat names no log-probabilities.")
        judged = judge.judge(found)
        bad = {one.text for one in judged.wrong}
        if bad and not self.wrong_alone:
            raise Failure(
                MISMATCH,
                "An answer to messages has other numbers than the model's chat template gives, while those of texts are"
                " right: the server has another template.",
                "Compare the chat template of both: --chat-template, chat_template.jinja, tokenizer_config.json.",
                ratio=judged.ratio,
            )
        if bad:
            raise Skipped("The numbers of texts are wrong already, so that those of messages say nothing.")
        return Measured(f"{judged.ratio:.2g} of the bound at worst, {judged.count} values", _BOUND, judged.ratio)

    def _chat(self, messages: t.Sequence[t.Mapping[str, str]]) -> Answer:
        extras = {name: value for name, value in self.session.extras.items() if name != "return_tokens_as_token_ids"}
        asked = {"messages": messages, "temperature": 0, "logprobs": True, "top_logprobs": 5}
        body = {"model": self.session.model, **asked, **extras}
        try:
            for count in (4, 1):
                answer = completion(self.session.endpoint.post("/v1/chat/completions", {**body, "max_tokens": count}))
                # As in Session.named.
                if answer.completion_tokens in (None, len(answer.tokens)):
                    break
            return answer
        except Declined as error:
            raise Skipped(f"The server has no chat: {error.cause}") from None
