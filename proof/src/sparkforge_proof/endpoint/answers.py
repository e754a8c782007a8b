# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read what engines answer: vLLM's, SGLang's, llama.cpp's and TensorRT-LLM's completions are the same in four forms.

Log-probabilities come as lists (``tokens``, ``token_logprobs``, ``top_logprobs``) or as a list of objects, ``content``;
a token as its text, as ``token_id:17``, or with its ``id``. Whatever is missing is None, never a guess.
"""

from __future__ import annotations

import dataclasses
import typing as t

from .._shared.module_utils._core.errors import SparkforgeError

_BY_ID = "token_id:"
OTHER_SERVER = "Use the URL of an OpenAI-compatible server; a proxy in front of it may change its answers."
#: What ends an answer when something went wrong.
_CUT = ("abort", "error", "cancelled")
#: What reading raises of an answer in another form.
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


@dataclasses.dataclass(frozen=True)
class Token:
    """One generated or echoed token.

    :ivar top: the likeliest tokens there, by id where the engine says it, else by text.
    """

    text: str
    id: int | None
    logprob: float | None
    top: t.Mapping[int | str, float] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> int | str:
        """What tells it from others: its id where the engine says it, else its text."""
        return self.text if self.id is None else self.id

    @property
    def margin(self) -> float:
        """By how much the likeliest token there is likelier; 0 where the engine does not say."""
        return max(self.top.values()) - self.logprob if self.top and self.logprob is not None else 0.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """One choice of an answer.

    :ivar tokens: generated ones; after ``echo`` those of the prompt go before them.
    :ivar prompt_ids: the prompt as the server read it, where it says so.
    :ivar prompt_tokens: how many it says that the prompt had.
    :ivar asked: how many tokens were to be generated at most.
    """

    text: str
    finish: str
    tokens: tuple[Token, ...]
    prompt_ids: tuple[int, ...] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    asked: int = 0

    @property
    def count(self) -> int:
        """How many tokens were generated, as the server says, or as many as it names."""
        return len(self.tokens) if self.completion_tokens is None else self.completion_tokens

    @property
    def is_cut_off(self) -> bool:
        """Whether something went wrong before it was complete."""
        return self.finish in _CUT or (not self.finish and self.count < self.asked)


def completion(body: t.Any) -> Answer:
    """Return the first choice of ``/v1/completions`` or ``/v1/chat/completions``.

    :raises SparkforgeError: it is no answer of that form.
    """
    try:
        choice = body["choices"][0]
        usage = body.get("usage") or {}
        message = choice.get("message") or {}
        text = choice["text"] if "text" in choice else (message.get("content") or "")
        ids = choice.get("token_ids")
        tokens = _tokens(choice.get("logprobs"), ids)
        prompt_ids = choice.get("prompt_token_ids") or body.get("prompt_token_ids")
        return Answer(
            str(text),
            str(choice.get("finish_reason") or ""),
            tuple(tokens),
            tuple(map(int, prompt_ids)) if prompt_ids else None,
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
        )
    except MALFORMED as error:
        raise _other("The server's answer is", error) from None


def _other(subject: str, error: Exception) -> SparkforgeError:
    return SparkforgeError(f"{subject} not a completion ({type(error).__name__}: {error}).", OTHER_SERVER)


def streamed(events: t.Sequence[t.Any]) -> str:
    """Return the text of a streamed completion.

    :raises SparkforgeError: an event has another form.
    """
    try:
        return "".join(str(one["choices"][0].get("text") or "") for one in events if one.get("choices"))
    except MALFORMED as error:
        raise _other("The server streams what is", error) from None


def models(body: t.Any) -> list[dict[str, t.Any]]:
    """Return what ``/v1/models`` lists.

    :raises SparkforgeError: it is no such list, or empty.
    """
    data = body.get("data") if isinstance(body, dict) else None
    listed = data if isinstance(data, list) else []
    found = [one for one in listed if isinstance(one, dict) and isinstance(one.get("id"), str)]
    if not found:
        raise SparkforgeError("The server lists no model at /v1/models.", "Load a model into it, or correct the URL.")
    return found


def context(listed: t.Mapping[str, t.Any]) -> int | None:
    """Return how many tokens a listed model takes, vLLM's or llama.cpp's way; None where that is not said.

    :raises SparkforgeError: what is said is no such number.
    """
    meta = listed.get("meta")
    value = listed.get("max_model_len") or (meta.get("n_ctx_train") if isinstance(meta, dict) else None)
    if value is None:
        return None
    if not isinstance(value, int) or not 0 < value < 1 << 31:
        raise SparkforgeError(f"The server says that its model takes {str(value)[:40]!r} tokens.", OTHER_SERVER)
    return value


def _tokens(found: t.Any, ids: t.Sequence[int] | None) -> t.Iterator[Token]:
    if not found:
        return
    if found.get("content") is not None:
        for number, one in enumerate(found["content"]):
            said = one.get("id", ids[number] if ids and number < len(ids) else None)
            top = dict(_named(other) for other in one.get("top_logprobs") or [])
            yield _token(str(one["token"]), said, one.get("logprob"), top)
        return
    texts, numbers = found.get("tokens") or [], found.get("token_logprobs") or []
    tops = found.get("top_logprobs") or [None] * len(texts)
    shift = len(texts) - len(ids or [])
    for number, (text, logprob, top) in enumerate(zip(texts, numbers, tops)):
        known = ids[number - shift] if ids and number >= shift else None
        listed = top.items() if isinstance(top, dict) else ()
        yield _token(str(text), known, logprob, dict(_named({"token": name, "logprob": at}) for name, at in listed))


def _token(text: str, said: t.Any, logprob: t.Any, top: dict[int | str, float]) -> Token:
    known = int(said) if said is not None else _id_of(text)
    return Token(text, known, None if logprob is None else float(logprob), top)


def _id_of(text: str) -> int | None:
    return int(text[len(_BY_ID) :]) if text.startswith(_BY_ID) and text[len(_BY_ID) :].isdigit() else None


def _named(one: t.Mapping[str, t.Any]) -> tuple[int | str, float]:
    name = one["id"] if "id" in one else _id_of(str(one["token"]))
    return (int(name) if name is not None else str(one["token"])), float(one["logprob"])


def _count(value: t.Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
