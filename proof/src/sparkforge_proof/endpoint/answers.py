"""Parse the completions of vLLM, SGLang, llama.cpp and TensorRT-LLM, which have four forms.

Log-probabilities are lists (``tokens``, ``token_logprobs``, ``top_logprobs``) or a list of objects, ``content``. A
token is given by its text, as ``token_id:17``, or with an ``id``. Missing values are None, never a guess.
"""

from __future__ import annotations

import dataclasses
import typing as t

from .._shared.module_utils._core.errors import SparkforgeError

_BY_ID = "token_id:"
OTHER_SERVER = "Use the URL of an OpenAI-compatible server; a proxy in front of it may change its answers."
#: The finish reasons of answers that were cut off.
_CUT = ("abort", "error", "cancelled")
#: Exceptions raised by an answer in another form.
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


@dataclasses.dataclass(frozen=True)
class Token:
    """A generated or echoed token.

    :ivar top: the log-probabilities of the likeliest tokens at this position, by id if the engine reports it, else by
        text.
    """

    text: str
    id: int | None
    logprob: float | None
    top: t.Mapping[int | str, float] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> int | str:
        """The token's id if the engine reports it, else its text."""
        return self.text if self.id is None else self.id

    @property
    def margin(self) -> float:
        """By how much the likeliest token at its position is likelier, or 0 if unknown."""
        return max(self.top.values()) - self.logprob if self.top and self.logprob is not None else 0.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """The first choice in an answer.

    :ivar tokens: the generated tokens; with ``echo``, those of the prompt come first.
    :ivar prompt_ids: the prompt's token ids according to the server, if it reports them.
    :ivar prompt_tokens: the number of tokens in the prompt, if the server reports it.
    :ivar asked: the ``max_tokens`` of the request.
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
        """The number of generated tokens that the server reports, or the number of tokens in the answer."""
        return len(self.tokens) if self.completion_tokens is None else self.completion_tokens

    @property
    def is_cut_off(self) -> bool:
        """Whether the answer was cut off."""
        return self.finish in _CUT or (not self.finish and self.count < self.asked)


def completion(body: t.Any) -> Answer:
    """Return the first choice in an answer from ``/v1/completions`` or ``/v1/chat/completions``.

    :raises SparkforgeError: if the answer has another form.
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
        raise _malformed("The server's answer is", error) from None


def _malformed(subject: str, error: Exception) -> SparkforgeError:
    return SparkforgeError(f"{subject} not a completion ({type(error).__name__}: {error}).", OTHER_SERVER)


def stream_text(events: t.Sequence[t.Any]) -> str:
    """Return the text of a streamed completion.

    :raises SparkforgeError: if an event has another form.
    """
    try:
        return "".join(str(event["choices"][0].get("text") or "") for event in events if event.get("choices"))
    except MALFORMED as error:
        raise _malformed("The server's stream is", error) from None


def models(body: t.Any) -> list[dict[str, t.Any]]:
    """Return the models in an answer from ``/v1/models``.

    :raises SparkforgeError: if the answer does not list any model.
    """
    data = body.get("data") if isinstance(body, dict) else None
    rows = data if isinstance(data, list) else []
    listed = [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    if not listed:
        raise SparkforgeError("The server lists no model at /v1/models.", "Load a model into it, or correct the URL.")
    return listed


def context(listed: t.Mapping[str, t.Any]) -> int | None:
    """Return a listed model's context length from vLLM's or llama.cpp's field, or None if it is not reported.

    :raises SparkforgeError: if the field is not a valid number.
    """
    meta = listed.get("meta")
    value = listed.get("max_model_len") or (meta.get("n_ctx_train") if isinstance(meta, dict) else None)
    if value is None:
        return None
    if not isinstance(value, int) or not 0 < value < 1 << 31:
        raise SparkforgeError(f"The server reports an invalid context length: {str(value)[:40]!r}.", OTHER_SERVER)
    return value


def _tokens(logprobs: t.Any, ids: t.Sequence[int] | None) -> t.Iterator[Token]:
    if not logprobs:
        return
    if logprobs.get("content") is not None:
        for number, row in enumerate(logprobs["content"]):
            id_ = row.get("id", ids[number] if ids and number < len(ids) else None)
            top = dict(_name_and_logprob(other) for other in row.get("top_logprobs") or [])
            yield _token(str(row["token"]), id_, row.get("logprob"), top)
        return
    texts, numbers = logprobs.get("tokens") or [], logprobs.get("token_logprobs") or []
    tops = logprobs.get("top_logprobs") or [None] * len(texts)
    shift = len(texts) - len(ids or [])
    for number, (text, logprob, listed) in enumerate(zip(texts, numbers, tops)):
        id_ = ids[number - shift] if ids and number >= shift else None
        pairs = listed.items() if isinstance(listed, dict) else ()
        top = dict(_name_and_logprob({"token": name, "logprob": value}) for name, value in pairs)
        yield _token(str(text), id_, logprob, top)


def _token(text: str, id_: t.Any, logprob: t.Any, top: dict[int | str, float]) -> Token:
    known = int(id_) if id_ is not None else _id_of(text)
    return Token(text, known, None if logprob is None else float(logprob), top)


def _id_of(text: str) -> int | None:
    return int(text[len(_BY_ID) :]) if text.startswith(_BY_ID) and text[len(_BY_ID) :].isdigit() else None


def _name_and_logprob(row: t.Mapping[str, t.Any]) -> tuple[int | str, float]:
    name = row["id"] if "id" in row else _id_of(str(row["token"]))
    return (int(name) if name is not None else str(row["token"])), float(row["logprob"])


def _count(value: t.Any) -> int | None:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
