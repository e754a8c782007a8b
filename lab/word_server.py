# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A language model with 40 words and a server for it, in-process and without torch, with real servers' faults.

Its results depend on the complete preceding text, vary by rounding with the rest of the batch, and tend to repeat, as
trained models' do. It answers in vLLM's format. ``FAULTS`` lists the faults that can be planted;
proof/tests/unit/served_reports.yml names the users who reported similar ones.
"""

from __future__ import annotations

import heapq
import math
import random
import threading
import time
import types
from typing import Any

SIZE, BEGIN, ENDS, FIRST = 40, 0, (1, 2), 3
FAULTS = {
    "finish_stop": "max_tokens ends an answer, and 'stop' is said to have",
    "finish_length": "a stop string ends an answer, and 'length' is said to have",
    "stop_ignored": "stop is ignored",
    "stop_included": "the text ends after the stop string",
    "stop_leaks_streamed": "a stream has sent the first half of the stop string",
    "end_lost_streamed": "a stream with stop strings loses its last word",
    "end_held_back": "the end that a stop string may begin with is never sent",
    "text_behind_stop": "the tokens generated after the stop string are sent too",
    "stop_tokens_ignored": "stop_token_ids is ignored",
    "second_end_ignored": "only the first end token ends a text",
    "ends_ignored": "no token ends a text",
    "end_added": "tokens that are not end tokens end texts",
    "one_too_many": "one token more than max_tokens",
    "one_too_few": "one token less than max_tokens",
    "capacity": "every fifth answer ends early, by 'length'",
    "aborted": "every ninth answer is aborted",
    "word_lost_streamed": "a stream loses a word in its middle",
    "repetition_default": "a repetition penalty of 1.1 that the request does not set",
    "repetition_reported": "the same, in the reported numbers as well",
    "presence_default": "a presence penalty of 0.5",
    "frequency_default": "a frequency penalty of 0.3",
    "temperature_reported": "reported numbers are those after the temperature",
    "top_p_reported": "reported numbers are those after top_p",
    "top_k_reported": "reported numbers are those after top_k",
    "penalties_reported": "reported numbers are those after penalties",
    "bias_reported": "reported numbers are those after logit_bias",
    "echo_shifted": "a prompt's numbers are those of the next token",
    "echo_of_last": "a prompt's numbers all come from its last row",
    "echo_stale": "a prompt's numbers that a cache should have are those of the request before",
    "echo_overwritten": "every third request has another one's numbers of its prompt",
    "nan_as_null": "every seventh answer has null instead of a number",
    "nan": "every seventh answer has a NaN",
    "drift": "from position 96 on scores are off, more and more",
    "one_in_five": "every fifth request has other weights",
    "neighbour": "in a batch a text reads the first page of another one",
    "page_by_content": "a page is found by what is in it, whatever was before it",
    "window": "only the last 48 tokens are read",
    "chunk": "two tokens at the end of a chunk of 64 change places",
    "seed_ignored": "the seed is ignored",
    "seed_shared": "all seeds draw the same",
    "draws_at_zero": "temperature 0 draws",
    "drafts": "every third token is an unverified draft",
    "half_temperature": "scores are divided by the square root of the temperature",
    "top_k_ignored": "top_k is ignored",
    "top_k_default": "top_k is 3 if the request has none",
    "top_p_ignored": "top_p is ignored",
    "bias_ignored": "logit_bias is ignored",
    "penalties_ignored": "requested penalties are ignored",
    "penalty_of_neighbour": "in a batch with a request that has a penalty all have it",
    "cut": "texts are cut to their last 80 tokens",
    "begin_doubled": "messages begin with two beginning tokens",
    "other_template": "messages get another template",
    "other_tokens": "a text becomes other tokens",
}


def log_softmax(scores: list[float]) -> list[float]:
    """Convert scores to log-probabilities."""
    most = max(scores)
    total = most + math.log(sum(math.exp(score - most) for score in scores))
    return [score - total for score in scores]


class Model:
    """The model with exact results.

    :ivar texts: the text of each token.
    """

    chat_template = "x"
    eos_token_id = ENDS[0]

    def __init__(self, seed: int = 1) -> None:
        draw = random.Random(seed)  # noqa: S311 - draws weights
        self.after, self.around = (
            [[draw.gauss(0, size) for _ in range(SIZE)] for _ in range(SIZE)] for size in (1.6, 0.3)
        )
        self.states: dict[tuple[int, ...], list[float]] = {}
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.texts = [""] * FIRST + [f" {letters[at % 26]}{letters[at * 7 % 26]}{at}" for at in range(FIRST, SIZE)]

    def scores(self, ids: tuple[int, ...]) -> list[float]:
        """Return the scores for the token that follows a text."""
        return self.rows(ids)[-1]

    def rows(self, ids: tuple[int, ...], first: int = -1) -> list[list[float]]:
        """Return the scores after each token from a position onwards, by default only after the last."""
        first = len(ids) - 1 if first < 0 else first
        start = len(ids) - 1 if first == len(ids) - 1 and ids[:-1] in self.states else 0
        state, rows = self.states[ids[:-1]] if start else [0.0] * SIZE, []
        for position, token in enumerate(ids[start:], start):
            state = [0.97 * value + change for value, change in zip(state, self.around[token])]
            if position < first:
                continue
            row = [value + change for value, change in zip(state, self.after[token])]
            for earlier in range(position):
                if ids[earlier] == token:
                    row[ids[earlier + 1]] += 0.8
            # Texts end only by chance, because otherwise all answers would be short.
            rows.append([score - 4 if number < FIRST else score for number, score in enumerate(row)])
        if len(self.states) > 2000:
            self.states.clear()
        self.states[ids] = state
        return rows

    # Methods that a tokenizer has

    def __call__(self, text: str) -> Any:
        ids = [BEGIN, *(FIRST + ord(letter) % (SIZE - FIRST) for letter in text)]
        return type("Encoding", (), {"input_ids": ids})

    def get_vocab(self) -> dict[str, int]:
        return {word or f"<{number}>": number for number, word in enumerate(self.texts)}

    def decode(self, ids: list[int]) -> str:
        return "".join(self.texts[token] for token in ids)

    def convert_ids_to_tokens(self, token: int) -> str:
        return self.texts[token]

    def apply_chat_template(self, messages: list[dict[str, str]], **_options: object) -> dict[str, list[int]]:
        return {
            "input_ids": [BEGIN, *(token for row in messages for token in (3, *self(row["content"]).input_ids[1:], 4))]
        }


class Reference:
    """The exact results in the form of a :class:`reference.Reference`, with the size of their rounding errors."""

    def __init__(self, model: Model, noise: float = 0.02) -> None:
        self.tokenizer, self.noise, self.form = model, noise, types.SimpleNamespace(name="bf16")

    def token_ids(self) -> list[int]:
        return list(range(FIRST, SIZE))

    def end_tokens(self) -> set[int]:
        return set(ENDS)

    def neutral_penalties(self) -> dict[str, float]:
        return {}

    def score(self, asked: Any, trials: int = 4, drawn: float = 0) -> list[dict[int, Any]]:
        """Return the reference's scores for the given token positions in each text."""
        return [self.positions(ids, named, drawn) for ids, named in asked]

    def positions(self, ids: tuple[int, ...], named: Any, drawn: float) -> dict[int, Any]:
        first = min(named, default=1)
        rows = [log_softmax(row) for row in self.tokenizer.rows(tuple(ids[: max(named, default=1)]), first - 1)]
        numbers_at = {}
        for at, tokens in named.items():
            row = rows[at - first]
            p = [math.exp(value) for value in log_softmax([value / (drawn or 1) for value in row])]
            mean = sum(share * value for share, value in zip(p, row))
            variance = sum(share * (value - mean) ** 2 for share, value in zip(p, row))
            numbers = {token: row[token] for token in tokens}
            # A log-probability varies with its own score and with the sum of all, which the likeliest ones dominate.
            sigma = self.noise * math.sqrt(1 + sum(math.exp(2 * value) for value in row))
            numbers_at[at] = types.SimpleNamespace(logprobs=numbers, sigma=sigma, moments=(mean, variance, mean))
        return numbers_at


class Server:
    """A server that stands in for an :class:`Endpoint`.

    :param noise: the standard deviation of a score's rounding error.
    :param way: a seed; servers with different values round differently.
    """

    def __init__(self, model: Model, fault: str = "", noise: float = 0.02, way: str = "", engine: str = "vllm") -> None:
        self.model, self.fault, self.noise, self.way, self.engine = model, fault, noise, way, engine
        self.base = f"http://{fault or 'sound'}{way}"
        self.other = Model(99)
        self.lock, self.count = threading.Lock(), 0
        self.active: dict[int, tuple[tuple[int, ...], dict[str, Any]]] = {}
        self.pages: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.before: list[float] = []

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""
        with self.lock:
            self.count += 1
            number = self.count
            ids = self.read(path, body)
            self.active[number] = (ids, body)
        # Requests that arrive at the same moment form a batch.
        settled = -1
        while settled != self.count:
            settled = self.count
            time.sleep(0.004)
        with self.lock:
            beside = [request for other, request in self.active.items() if other != number]
        try:
            return Request(self, number, ids, body, beside).answer(path)
        finally:
            with self.lock:
                del self.active[number]

    def stream(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Answer a request word by word."""
        text = self.post(path, {**body, "stream": True})["choices"][0]["text"]
        pieces = text.replace(" ", "\0 ").split("\0")
        if self.fault == "word_lost_streamed" and len(pieces) > 6:
            del pieces[5]
        if self.fault == "end_lost_streamed" and body.get("stop"):
            pieces = pieces[:-1]
        return [{"choices": [{"text": word}]} for word in pieces]

    def read(self, path: str, body: dict[str, Any]) -> tuple[int, ...]:
        """Return the tokens of a request."""
        if path.endswith("chat/completions"):
            ids = self.model.apply_chat_template(body["messages"])["input_ids"]
            ids = [BEGIN, *ids] if self.fault == "begin_doubled" else ids
            return tuple([ids[0], *ids[2:]] if self.fault == "other_template" else ids)
        prompt = body["prompt"]
        if isinstance(prompt, str):
            ids = self.model(prompt).input_ids
            return tuple(ids[1:] if self.fault == "other_tokens" else ids)
        return tuple(prompt[-80:] if self.fault == "cut" else prompt)


class Request:
    """A request and its answer."""

    def __init__(
        self, server: Server, number: int, ids: tuple[int, ...], body: dict[str, Any], beside: list[Any]
    ) -> None:
        self.server, self.number, self.prompt, self.body, self.beside = server, number, ids, body, beside
        self.fault, self.model = server.fault, server.model
        if self.fault == "one_in_five" and number % 5 == 0:
            self.model = server.other
        seed = 0 if self.fault == "seed_shared" else body.get("seed")
        self.draw = random.Random(None if self.fault == "seed_ignored" else seed)  # noqa: S311 - draws tokens

    def visible_tokens(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """Return those tokens of a text that the model reads."""
        if self.fault == "window":
            return ids[-48:]
        if self.fault == "chunk" and len(ids) > 64:
            return (*ids[:62], ids[63], ids[62], *ids[64:])
        if self.fault == "neighbour" and self.beside and len(ids) > 16 < len(self.beside[0][0]):
            return (*self.beside[0][0][:16], *ids[16:])
        if self.fault == "page_by_content":
            for start in range(0, len(self.prompt) - 16, 16):
                page = ids[start : start + 16]
                ids = (*self.server.pages.setdefault((start, *page), ids[:start]), *ids[start:])
        return ids

    def with_rounding(self, ids: tuple[int, ...], row: list[float]) -> list[float]:
        """Return scores with this request's rounding errors."""
        way = (ids, self.server.way, len(self.beside) if self.beside else len(ids) - len(self.prompt) > 0)
        draw = random.Random(str(way))  # noqa: S311 - draws rounding
        size = 0.1 + 0.01 * (len(ids) - 96) if self.fault == "drift" and len(ids) > 96 else 0.0
        return [score + draw.gauss(0, self.server.noise) + size * (token % 5 - 2) for token, score in enumerate(row)]

    def with_penalties(self, row: list[float], generated: tuple[int, ...]) -> list[float]:
        """Return scores with penalties applied."""
        asked = {} if self.fault == "penalties_ignored" else self.body
        if self.fault == "penalty_of_neighbour":
            asked = next((body for _ids, body in self.beside if body.get("frequency_penalty")), asked)
        defaults = {"presence_default": 0.5}.get(self.fault, 0.0), {"frequency_default": 0.3}.get(self.fault, 0.0)
        presence, frequency = asked.get("presence_penalty", defaults[0]), asked.get("frequency_penalty", defaults[1])
        repetition = asked.get("repetition_penalty", 1.1 if self.fault.startswith("repetition") else 1.0)
        row = [
            score - presence * (token in generated) - frequency * generated.count(token)
            for token, score in enumerate(row)
        ]
        if repetition != 1.0:
            for token in {*self.prompt, *generated}:
                row[token] = row[token] / repetition if row[token] > 0 else row[token] * repetition
        return row

    def choose(self, row: list[float], generated: tuple[int, ...]) -> tuple[int, list[float]]:
        """Return the next token and the numbers to report."""
        reported, fault, asked = row, self.fault, self.body
        bias = {} if fault == "bias_ignored" else asked.get("logit_bias") or {}
        row = [score + bias.get(str(token), 0) for token, score in enumerate(row)]
        reported = row if fault == "bias_reported" else reported
        row = self.with_penalties(row, generated)
        reported = row if fault in ("penalties_reported", "repetition_reported") else reported
        temperature = asked.get("temperature", 1.0) or (0.7 if fault == "draws_at_zero" else 0)
        if fault == "drafts" and len(generated) % 3 == 2:
            return sorted(range(SIZE), key=lambda token: -row[token])[1], reported
        if fault == "temperature_reported" and temperature:
            reported = [score / temperature for score in reported]
        if not temperature:
            return max(range(SIZE), key=lambda token: row[token]), reported
        row = log_softmax([score / (temperature**0.5 if fault == "half_temperature" else temperature) for score in row])
        order = sorted(range(SIZE), key=lambda token: -row[token])
        top_k = asked.get("top_k", 3 if fault == "top_k_default" else -1)
        candidates = order[:top_k] if top_k > 0 and fault != "top_k_ignored" else order
        reported = (
            [row[token] if token in candidates else -1e4 for token in range(SIZE)]
            if fault == "top_k_reported"
            else reported
        )
        total, most = 0.0, 1.0 if fault == "top_p_ignored" else asked.get("top_p", 1.0)
        for count, token in enumerate(candidates):
            total += math.exp(row[token])
            if total >= most:
                candidates = candidates[: count + 1]
                break
        candidates = [
            token for token in candidates if row[token] >= row[order[0]] + math.log(asked.get("min_p") or 1e-30)
        ]
        reported = (
            [row[token] if token in candidates else -1e4 for token in range(SIZE)]
            if fault == "top_p_reported"
            else reported
        )
        return self.draw.choices(candidates, [math.exp(row[token]) for token in candidates])[0], reported

    def ends_at(self, token: int) -> bool:
        """Tell whether a token ends the answer."""
        asked, fault = self.body, self.fault
        if token in (asked.get("stop_token_ids") or []) and fault != "stop_tokens_ignored":
            return True
        if asked.get("ignore_eos") or fault == "ends_ignored":
            return False
        return token in {"second_end_ignored": ENDS[:1], "end_added": (*ENDS, *range(7, 20))}.get(fault, ENDS)

    def generate(self) -> tuple[list[int], list[list[float]], str, str]:
        """Return the tokens, their numbers, the text and its finish reason."""
        limit = self.body.get("max_tokens", 16) + {"one_too_many": 1, "one_too_few": -1}.get(self.fault, 0)
        if self.fault == "capacity" and self.number % 5 == 0:
            limit = min(limit, 3)
        stops = [] if self.fault == "stop_ignored" else self.body.get("stop") or []
        tokens: list[int] = []
        rows: list[list[float]] = []
        while len(tokens) < max(limit, 1):
            ids = self.visible_tokens((*self.prompt, *tokens))
            token, reported = self.choose(self.with_rounding(ids, self.model.scores(ids)), tuple(tokens))
            tokens.append(token)
            rows.append(log_softmax(reported))
            text = self.model.decode(tokens)
            stop = next((string for string in stops if string in text), None)
            if self.ends_at(token):
                return tokens, rows, text, "stop"
            if stop is not None:
                return tokens, rows, self.text_until(text, stop), "length" if self.fault == "finish_length" else "stop"
        text = self.model.decode(tokens)
        if self.fault == "end_held_back" and any(text.endswith(stop[:1]) or text[-2:] == stop[:2] for stop in stops):
            text = text[:-2]
        return tokens, rows, text, "stop" if self.fault == "finish_stop" else "length"

    def text_until(self, text: str, stop: str) -> str:
        """Return the part of a text that is sent after a stop string has ended it."""
        at = text.index(stop)
        if self.fault == "stop_included":
            return text[: at + len(stop)]
        if self.fault == "text_behind_stop":
            return text[:at] + self.model.texts[9]
        return text[: at + 1] if self.fault == "stop_leaks_streamed" and self.body.get("stream") else text[:at]

    def prompt_rows(self) -> list[list[float] | None]:
        """Return the numbers for the prompt's own tokens."""
        ids = self.visible_tokens(self.prompt)
        rows = [log_softmax(self.with_rounding(ids[: at + 1], row)) for at, row in enumerate(self.model.rows(ids, 0))]
        if self.fault == "echo_shifted":
            rows = rows[1:] + rows[-1:]
        if self.fault == "echo_of_last":
            rows = [rows[-1]] * len(rows)
        if self.fault == "echo_overwritten" and self.number % 3 == 0:
            rows = rows[::-1]
        if self.fault == "echo_stale" and len(rows) > 32:
            rows[:16] = [self.server.before or rows[0]] * 16
        self.server.before = rows[-1]
        return [None, *rows[: len(self.prompt) - 1]]

    def answer(self, path: str) -> dict[str, Any]:
        """Return the answer in vLLM's format."""
        tokens, rows, text, finish = self.generate()
        if self.fault == "aborted" and self.number % 9 == 0:
            tokens, rows, text, finish = tokens[:2], rows[:2], text[:4], "abort"
        listed = list(tokens)
        numbers: list[list[float] | None] = [*rows]
        if self.body.get("echo"):
            listed, numbers = [*self.prompt, *tokens], [*self.prompt_rows(), *rows]
        lp: list[float | None] = [None if row is None else row[token] for row, token in zip(numbers, listed)]
        if self.number % 7 == 0 and self.fault in ("nan", "nan_as_null"):
            lp[len(lp) // 2] = None if self.fault == "nan_as_null" else math.nan
        named = [
            {f"token_id:{token}": value for value, token in heapq.nlargest(5, zip(row or [], range(SIZE)))}
            for row in numbers
        ]
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": finish,
            "token_ids": tokens,
            "prompt_token_ids": list(self.prompt),
        }
        if path.endswith("chat/completions"):
            choice["message"] = {"content": text}
            choice["logprobs"] = {
                "content": [
                    {
                        "token": name,
                        "logprob": at,
                        "top_logprobs": [{"token": key, "logprob": value} for key, value in top.items()],
                    }
                    for name, at, top in zip((f"token_id:{token}" for token in listed), lp, named)
                ]
            }
        else:
            choice["text"] = text
            choice["logprobs"] = {
                "tokens": [f"token_id:{token}" for token in listed],
                "token_logprobs": lp,
                "top_logprobs": named,
            }
        usage = {"prompt_tokens": len(self.prompt), "completion_tokens": len(tokens)}
        return {"choices": [choice], "usage": usage}
