"""The checks of a served model's tokens, options, tokenizer and chat template."""

from __future__ import annotations

import math
import typing as t

from ..check import MISMATCH, Measured, Skipped
from . import judge, texts
from .answers import Answer, completion, stream_text
from .client import Declined
from .numbers import BOUND, TIE, Failure, Numbers, expect
from .texts import ALONE, BATCHED, Text

RAW = (
    "Start vLLM with --logprobs-mode raw_logprobs, and SGLang with RETURN_ORIGINAL_LOGPROB=1. If that is not possible,"
    " do not compare its log-probabilities with those of another server."
)
END = (
    "Compare eos_token_id in the generation_config.json and tokenizer_config.json of both, and the options of the"
    " server. If they agree, update the server."
)
TEMPLATE = (
    "Compare the chat templates of model and server: --chat-template, chat_template.jinja, tokenizer_config.json."
)
#: Request options that change which token is chosen.
OPTIONS: dict[str, t.Any] = {
    "temperature": 0.5, "min_p": 0.5, "top_k": 1, "top_p": 1e-6,
    "presence_penalty": 2.0, "frequency_penalty": 2.0, "repetition_penalty": 1.3,
}  # fmt: skip
#: Options that leave only the likeliest token to choose, at any temperature.
NARROW = {"top_k", "top_p"}
PENALTIES = {"presence_penalty", "frequency_penalty"}
CHANGING = (*(name for name in OPTIONS if name not in NARROW), "logit_bias")
#: A character that models do not generate within a few tokens.
NEVER = "\u2063"
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


class Checks(Numbers):
    """All checks, in the order in which they run."""

    def rows(self) -> list[tuple[str, bool, t.Callable[[], Measured]]]:
        """Return the name of each check, whether it compares numbers, and its function."""
        return [
            *self.deterministic_rows(), ("endpoint.draws", True, lambda: self.draws(1.0)),
            ("endpoint.seed", False, self.seed), ("endpoint.temperature", True, lambda: self.draws(0.5)),
            ("endpoint.logprobs", False, lambda: self.options(*CHANGING)),
            ("endpoint.top_k", False, lambda: self.options("top_k")),
            ("endpoint.top_p", False, lambda: self.options("top_p")), ("endpoint.logit_bias", False, self.logit_bias),
            ("endpoint.end", False, self.end), ("endpoint.max_tokens", False, self.max_tokens),
            ("endpoint.stop", False, self.stop), ("endpoint.stream", False, self.stream),
            ("endpoint.tokenizer", False, self.tokenizer), ("endpoint.template", True, self.template),
        ]  # fmt: skip

    def _require_repeatable(self) -> None:
        if self.draws_at_zero:
            raise Skipped("The server samples even at temperature 0, so its answers differ each time.")

    def seed(self) -> Measured:
        """Require that the same seed draws the same tokens, and another seed draws others."""
        ids = self._starts(1)[0]
        same = [self._text(self.session.complete(ids, temperature=1.0, seed=7)) for _ in range(4)]
        others = [self._text(self.session.complete(ids, temperature=1.0, seed=seed)) for seed in (8, 9, 10)]
        expect(
            len({tuple(names) for names in (same[0], *others)}) > 1,
            "Four seeds give the same tokens at temperature 1: the server does not sample.",
            "Check whether the server overrides the temperature, or caches answers.",
        )
        # Rounding may change a token in one repetition, but not in three.
        shared = sorted(judge.shared_beginning(same[0], names) for names in same[1:])
        shared_with_others = max(judge.shared_beginning(same[0], names) for names in others)
        expect(
            same[0] in same[1:] or shared[-1] > max(shared_with_others, 3),
            "The same seed gives other tokens each time: the server ignores the seed.",
            "Update the server, or do not rely on seeds: SGLang needs --enable-deterministic-inference for them.",
        )
        return Measured(f"the same tokens {same.count(same[0])} of {len(same)} times", "other tokens with other seeds")

    def _text(self, answer: Answer) -> list[t.Any]:
        return [token.name for token in answer.tokens]

    def options(self, *names: str) -> Measured:
        """Require that options change the choice of tokens but no log-probability; narrow ones choose the likeliest."""
        if not {*names} <= NARROW:
            self._require_right_alone()
        starts, heeded = [Text(ids, BATCHED) for ids in self._starts(4)], []
        for name in names:
            value = {str(token): -5 for token in starts[0].ids} if name == "logit_bias" else OPTIONS[name]
            more = {"temperature": 2.0, "seed": 3} if name in NARROW else {}
            options = [{**more, name: value}] * len(starts) + [{}] * len(starts)
            try:
                asked = self.session.complete_together([text.ids for text in starts * 2], options)
            except Declined:
                continue
            # OpenAI's interface does not have top_k, so other servers silently ignore it.
            if name == "top_k" and name not in self.session.extras:
                continue
            heeded.append(name)
            with_option, plain = asked[: len(starts)], asked[len(starts) :]
            off = [token.margin > TIE for answer in with_option for token in answer.tokens]
            expect(
                not any(off) or name not in NARROW,
                f"{name} {value} allows only the likeliest token, but {sum(off)} of {len(off)} tokens are others: the"
                f" server ignores {name}.",
            )
            expect(
                self.draws_at_zero or not any(token.margin > TIE for answer in plain for token in answer.tokens),
                f"The server applies {name} of one request to a simultaneous request without options.",
            )
            pairs = self.session.compare([(text, answer, None) for text, answer in zip(starts, with_option)])
            wrong = judge.judge([observation for pair in pairs for observation in pair.completion]).wrong
            expect(
                not wrong or self.wrong_alone,
                f"With {name} the server reports log-probabilities after applying {name} instead of the model's own"
                f"{f': {wrong[0].served:.5g} instead of {wrong[0].expected:.5g}' if wrong else ''}.",
                RAW,
            )
            expect(
                name not in PENALTIES or not any(map(self._repeats, starts, with_option)),
                f"A token is repeated although another one is as likely: the server ignores {name}.",
            )
        if not heeded:
            raise Skipped(f"The server does not support {', '.join(names)}.")
        return Measured(f"the model's own numbers with {', '.join(heeded)}", "the numbers without them")

    def _repeats(self, text: Text, answer: Answer) -> bool:
        for number, token in enumerate(answer.tokens):
            before = {earlier.name for earlier in answer.tokens[:number]}
            others = [value for name, value in token.top.items() if name not in before | {*text.ids}]
            if token.name in before and max(others, default=-math.inf) > t.cast(float, token.logprob) - 1:
                return True
        return False

    def _biased(self, ids: texts.Ids, token: int, bias: int, **more: t.Any) -> Answer:
        try:
            return self.session.complete(ids, max_tokens=4, logit_bias={str(token): bias}, **more)
        except Declined as error:
            raise Skipped(f"The server does not support logit_bias: {error.cause}") from None

    def logit_bias(self) -> Measured:
        """Require that a bias of -100 prevents a token, and that a bias of 100 forces it."""
        # llama.cpp's server may not report a token yet if the first ones end within a character.
        for ids in self._starts(12):
            generated = self.session.generated_ids(ids, self.session.complete(ids, max_tokens=4))
            if generated:
                break
        else:
            raise Skipped("The server does not report the tokens that it generates.")
        plain, other = generated[0], next(id_ for id_ in self.session.reference.token_ids() if id_ != generated[0])
        without = self.session.generated_ids(ids, self._biased(ids, plain, -100))[:1]
        forced = self.session.generated_ids(ids, self._biased(ids, other, 100))[:1]
        expect(
            without != [plain] and forced == [other],
            "A bias does not change the chosen token: the server ignores logit_bias.",
        )
        return Measured("-100 prevents a token, and 100 forces one", "both")

    def end(self) -> Measured:
        """Require that an end token ends the answer, and that no other token does."""
        ends = self.session.reference.end_tokens()
        heeded = {"ignore_eos": False} if "ignore_eos" in self.session.extras else {}
        for ids in self._starts(6):
            short, long = (self.session.complete(ids, **more) for more in (heeded, {}))
            tokens, longer = self._text(short), self._text(long)
            count = len(tokens)
            has_ids = count == short.count and all(isinstance(token, int) for token in longer)
            if not has_ids or longer[:count] != tokens or len(longer) == count or {*tokens[-1:]} & ends:
                continue
            # With ignore_eos, llama.cpp's server generates another token instead of the end token.
            following, position = longer[count], len(ids) + count
            asked = ((*ids, *longer[: count + 1]), {position: [*ends, following]})
            scores = self.session.reference.score([asked])[0][position]
            likely = max((scores.logprobs[end] for end in ends), default=-math.inf) + 2 * judge.SIGMAS * scores.sigma
            expect(
                likely >= scores.logprobs[following],
                f"An answer stops after {count} tokens, although the likeliest next token is not an end token.",
                END,
            )
        for token in sorted(ends):
            answer = self._biased(ids, token, 100, **heeded)
            expect(
                answer.count <= 1 and answer.finish != "length",
                f"An answer continues after the end token {token}.",
                END,
            )
        return Measured(f"{len(ends)} end tokens end the answer", "only these")

    def max_tokens(self) -> Measured:
        """Require that an answer has max_tokens tokens, and that its finish reason is the length."""
        ids = self._starts(1)[0]
        most = self.session.complete(ids).count
        for asked in (1, 7, 17):
            answer = self.session.complete(ids, max_tokens=asked)
            count = max(len(answer.tokens), answer.count)
            expect(
                count <= asked and (answer.count >= min(asked, most) or self.draws_at_zero),
                f"{count} tokens were generated although max_tokens is {asked}.",
                "Update the server: it ignores max_tokens.",
            )
            expect(
                answer.finish == "length" or not answer.count == asked < most,
                f"max_tokens ended an answer, but the server reports the reason {answer.finish!r}.",
            )
        self.lengths()
        return Measured("1, 7 and 17 tokens", "max_tokens")

    def stop(self) -> Measured:
        """Require that an answer ends right before its stop sequence, streamed or not."""
        self._require_repeatable()
        for ids in self._starts(12):
            complete = self.session.complete(ids)
            text = complete.text
            pairs = (text[at : at + 2] for at in range(3, len(text) - 2))
            pair = next((pair for pair in pairs if pair.isascii() and pair.isalnum() and text.index(pair) > 2), None)
            if pair is not None:
                break
        else:
            raise Skipped("No generated text has two letters for a stop sequence.")
        for stop, expected in ((pair, text[: text.index(pair)]), (text[-2:] + NEVER, text)):
            answer = self.session.complete(ids, stop=[stop])
            for how, got in (("A text", answer.text), ("A streamed text", self._streamed(ids, stop=[stop]))):
                # The texts may diverge at equally likely tokens.
                is_other = judge.shared_beginning(got, expected) < min(len(got), len(expected))
                cut = expected.startswith(got)
                loses = f"loses {expected[len(got) :]!r}" if cut else "continues: the server ignores stop"
                expect(got == expected or is_other, f"{how} with the stop sequence {stop!r} {loses}.")
            expect(stop != pair or answer.finish != "length", "stop ended a text, but the server reports 'length'.")
        self._stop_token(ids, complete)
        return Measured(f"stopped at {pair!r}", "the text before it")

    def _stop_token(self, ids: texts.Ids, complete: Answer) -> None:
        """Check stop_token_ids in vLLM and SGLang; other servers silently ignore it."""
        names = self._text(complete)
        last = next((name for name in names if name != names[0]), None)
        if complete.prompt_ids is not None and isinstance(last, int):
            answer = self.session.complete(ids, stop_token_ids=[last])
            expect(
                answer.count <= names.index(last) + 1 and answer.finish != "length",
                "An answer continues after a stop token: the server ignores stop_token_ids.",
            )

    def stream(self) -> Measured:
        """Require that a streamed answer is the same as one that is not streamed."""
        self._require_repeatable()
        ids = self._starts(1)[0]
        plain = [self.session.complete(ids).text for _ in range(3)]
        streams = [self._streamed(ids) for _ in range(3)]
        # Answers may diverge at equally likely tokens.
        is_other = len({*plain}) > 1 and judge.shared_beginning(streams[0], plain[0]) > 3
        expect(
            bool({*plain} & {*streams}) or is_other,
            f"A streamed answer is {streams[0]!r}, but without streaming it is {plain[0]!r}.",
            "Update the server: one of the two differs from the text that it generates.",
        )
        return Measured("the same text", "the answer without a stream")

    def _streamed(self, ids: texts.Ids, **more: t.Any) -> str:
        body = {"model": self.session.model, "prompt": list(ids), "temperature": 0, "max_tokens": texts.GENERATED}
        plain = {name: value for name, value in self.session.extras.items() if not name.startswith("return_")}
        return stream_text(self.session.endpoint.stream("/v1/completions", {**body, **plain, **more}))

    def tokenizer(self) -> Measured:
        """Require that the server tokenizes texts as the model's tokenizer does."""
        compared = 0
        for sample in SAMPLES:
            expected = tuple(self.session.reference.tokenizer(sample).input_ids)
            answer = self.session.complete(sample, max_tokens=1)
            ids = answer.prompt_ids or None
            count = answer.prompt_tokens if ids is None else len(ids)
            compared += count is not None
            expect(
                count is None or (count == len(expected) and ids in (None, expected)),
                f"For {sample!r}, the server has {count} tokens, and the model's tokenizer {len(expected)}, or others:"
                f" {list(ids or [])[:6]} and {list(expected)[:6]}.",
                "Compare tokenizer.json and tokenizer_config.json of both; a token for the beginning may be"
                " added or missing.",
            )
        if not compared:
            raise Skipped("The server reports neither the tokens nor the length of a prompt.")
        return Measured(f"{compared} texts", "the tokens of the model's tokenizer")

    def template(self) -> Measured:
        """Require that the server applies the model's chat template to messages, judging by its log-probabilities."""
        tokenizer = self.session.reference.tokenizer
        if not getattr(tokenizer, "chat_template", None):
            raise Skipped("The model has no chat template.")
        asked: list[tuple[Text, Answer, None]] = []
        for messages in MESSAGES:
            inputs = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=True
            )
            text = Text(tuple(inputs["input_ids"]), ALONE)
            answer = self._chat(messages)
            expect(
                answer.prompt_tokens in (None, len(text.ids)),
                f"For messages, the server has {answer.prompt_tokens} tokens, and the model's chat template"
                f" {len(text.ids)}: it has another template.",
                TEMPLATE,
            )
            if answer.tokens and answer.tokens[0].logprob is not None:
                asked.append((text, answer, None))
        observations = [observation for pair in self.session.compare(asked) for observation in pair.completion]
        if not observations:
            raise Skipped("The server's chat reports no log-probabilities.")
        judged = judge.judge(observations)
        if judged.wrong and not self.wrong_alone:
            raise Failure(
                MISMATCH,
                "Answers to messages have other numbers than the model's chat template gives, while those to texts are"
                " right: the server has another template.",
                TEMPLATE,
                ratio=judged.ratio,
            )
        if judged.wrong:
            raise Skipped("The numbers of texts are already wrong, so those of messages are not judged.")
        return Measured(f"{judged.ratio:.2g} of the bound at worst, {judged.count} values", BOUND, judged.ratio)

    def _chat(self, messages: t.Sequence[t.Mapping[str, str]]) -> Answer:
        extras = {name: value for name, value in self.session.extras.items() if name != "return_tokens_as_token_ids"}
        asked = {"messages": messages, "temperature": 0, "logprobs": True, "top_logprobs": 5}
        body = {"model": self.session.model, **asked, **extras}
        try:
            for count in (4, 1):
                answer = completion(self.session.endpoint.post("/v1/chat/completions", {**body, "max_tokens": count}))
                # A single token is always reported; see Session.complete_named.
                if answer.completion_tokens in (None, len(answer.tokens)):
                    break
            return answer
        except Declined as error:
            raise Skipped(f"The server has no chat: {error.cause}") from None
