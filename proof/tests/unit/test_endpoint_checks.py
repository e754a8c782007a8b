"""What the checks of a served model say of a server that ignores what it is asked for, without computing a model."""

import sys
import types
import typing as t
from pathlib import Path

import pytest
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof.check import Skipped
from sparkforge_proof.endpoint import checks, reference, session, texts, tiny

Ask = t.Callable[[t.Any, dict[str, t.Any]], dict[str, t.Any]]
WHOLE = "onetwothree"


def honest(prompt: t.Any, asked: dict[str, t.Any]) -> dict[str, t.Any]:
    """Answer as a server that does what it is asked for; a token has the number of its letter."""
    bias = {int(token): value for token, value in asked.get("logit_bias", {}).items()}
    letters = [chr(96 + max(bias, key=lambda token: bias[token]))] if 100 in bias.values() else []
    letters += ["z"] if -100 in bias.values() else []
    text = ("".join(letters) + WHOLE)[: asked.get("max_tokens", 17)]
    text = text[: min([text.find(word) for word in asked.get("stop", []) if word in text], default=len(text))]
    return {"text": text, "prompt_tokens": sum(len(row["content"]) if isinstance(row, dict) else 1 for row in prompt)}


class Server:
    """A server with one answer for each request."""

    base = "http://127.0.0.1"

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def post(self, _path: str, body: dict[str, t.Any]) -> dict[str, t.Any]:
        said = self.ask(body.get("prompt", body.get("messages")), body)
        if "choices" in said:
            return said
        text = said["text"]
        numbers = said.get("logprobs", [-0.5] * len(text))
        listed = {"tokens": list(text), "token_logprobs": numbers, "top_logprobs": [{"e": -0.5}] * len(text)}
        choice = {
            "text": text,
            "finish_reason": "stop",
            "logprobs": listed,
            "token_ids": [ord(one) - 96 for one in text],
        }
        if "prompt_ids" in said:
            choice["prompt_token_ids"] = said["prompt_ids"]
        usage = {"prompt_tokens": said.get("prompt_tokens"), "completion_tokens": len(text)}
        return {"choices": [choice], "usage": usage}

    def stream(self, _path: str, body: dict[str, t.Any]) -> list[dict[str, t.Any]]:
        return [{"choices": [{"text": self.ask(body["prompt"], {**body, "stream": True})["text"]}]}]


class Tokenizer:
    """One token a character."""

    chat_template: str | None = "x"

    def __call__(self, text: str) -> t.Any:
        return types.SimpleNamespace(input_ids=[ord(one) for one in text])

    def get_vocab(self) -> dict[str, int]:
        return {chr(96 + number): number for number in range(1, 27)}

    def decode(self, ids: list[int]) -> str:
        return "".join(chr(96 + number) for number in ids)

    convert_ids_to_tokens = chr

    def apply_chat_template(self, messages: list[dict[str, str]], **_options: object) -> dict[str, list[int]]:
        return {"input_ids": [ord(one) for row in messages for one in row["content"]]}


class Reference:
    """Finds every number right."""

    def __init__(self) -> None:
        self.tokenizer = Tokenizer()

    def words(self) -> list[int]:
        return list(range(1, 27))

    def score(self, asked: t.Any, trials: int = 4, drawn: float = 0) -> list[dict[int, reference.Position]]:
        return [
            {at: reference.Position(dict.fromkeys(tokens, -0.5), 0.1, (0, 0, 0)) for at, tokens in wanted.items()}
            for _ids, wanted in asked
        ]


def made(ask: Ask = honest) -> checks.Checks:
    at = session.Session(t.cast(t.Any, Server(ask)), "model", t.cast(t.Any, Reference()))
    at.extras = {"top_k": -1}
    return checks.Checks(at, texts.Texts(range(1, 27), [1], 300, 3))


def but(**change: t.Any) -> Ask:
    return lambda prompt, asked: {**honest(prompt, asked), **change}


def deaf(*names: str) -> Ask:
    """Answer as if these had not been asked for."""
    return lambda prompt, asked: honest(prompt, {key: value for key, value in asked.items() if key not in names})


def begins_otherwise(prompt: t.Any, asked: dict[str, t.Any]) -> dict[str, t.Any]:
    said = honest(prompt, asked)
    return {**said, "text": f"x{said['text'][1:]}"} if asked.get("stop") or asked.get("stream") else said


def keeps_out_and_brings_nothing(prompt: t.Any, asked: dict[str, t.Any]) -> dict[str, t.Any]:
    return honest(prompt, {"logit_bias": {"1": -100}} if asked.get("logit_bias") else asked)


def brings_and_keeps_nothing_out(prompt: t.Any, asked: dict[str, t.Any]) -> dict[str, t.Any]:
    return honest(prompt, {**asked, "logit_bias": {k: v for k, v in asked.get("logit_bias", {}).items() if v > 0}})


@pytest.mark.parametrize("name", ["logit_bias", "max_tokens", "stop", "stream", "template"])
def test_server_that_does_what_it_is_asked_for_passes(name: str) -> None:
    getattr(made(), name)()


@pytest.mark.parametrize(
    ("name", "ask", "said"),
    [
        ("logit_bias", deaf("logit_bias"), "ignores logit_bias"),
        ("logit_bias", keeps_out_and_brings_nothing, "ignores logit_bias"),
        ("logit_bias", brings_and_keeps_nothing_out, "ignores logit_bias"),
        ("max_tokens", deaf("max_tokens"), "tokens were generated where max_tokens is 1"),
        ("stop", deaf("stop"), "ignores stop"),
        ("stop", begins_otherwise, "ignores stop"),
        ("stream", begins_otherwise, "A streamed answer begins"),
        ("tokenizer", but(prompt_tokens=3), "The server makes 3 tokens of"),
        ("tokenizer", but(prompt_ids=[1, 2]), "The server makes 2 tokens of"),
        ("template", but(prompt_tokens=3), "it has another template"),
    ],
)
def test_server_that_ignores_what_it_is_asked_for_fails(name: str, ask: Ask, said: str) -> None:
    with pytest.raises(checks.Failure, match=said):
        getattr(made(ask), name)()


def test_what_a_server_does_not_say_is_skipped() -> None:
    with pytest.raises(Skipped, match="neither the tokens nor the length"):
        made(but(prompt_tokens=None)).tokenizer()
    one = made()
    one.session.reference.tokenizer.chat_template = None
    with pytest.raises(Skipped, match="no chat template"):
        one.template()


def test_texts_of_a_cache_are_asked_where_the_context_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "values" in made().cache().measured
    for name in ("repeated", "shared"):
        monkeypatch.setattr(texts.Texts, name, lambda *_arguments: [])
    with pytest.raises(Skipped, match="too short for a page"):
        made().cache()


@pytest.mark.parametrize("logprobs", [[], [None] * 2])
def test_server_without_log_probabilities_is_refused(logprobs: list[None]) -> None:
    at = made(but(logprobs=logprobs)).session
    with pytest.raises(SparkforgeError, match="returns no log-probabilities"):
        at.settle((1, 2))
    made().session.settle((1, 2))


def test_model_is_written_into_no_directory_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(SparkforgeError, match="is not empty"):
        tiny.make(str(tmp_path))
    with pytest.raises(SparkforgeError, match="no family x"):
        tiny.make(str(tmp_path), "x")


@pytest.mark.parametrize("kept", ["bf16", "fp8", "nvfp4"])
def test_reference_is_refused_before_memory_runs_out(
    kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.safetensors").touch()
    where = reference.Folder(str(tmp_path), "", kept, kept != "bf16", 0, 0)
    reference._room(where, "cpu")
    monkeypatch.setattr(reference.os.path, "getsize", lambda _path: 1 << 50)
    with pytest.raises(
        SparkforgeError, match=rf"needs about {(1 << 50) * {'fp8': 4, 'nvfp4': 7}.get(kept, 2) / 1e9:.0f} GB"
    ):
        reference._room(where, "cpu")


def test_texts_are_computed_together_up_to_a_bound() -> None:
    at = types.SimpleNamespace(vocabulary=1000)
    groups = list(reference.Reference._groups(t.cast(t.Any, at), [500] * 20 + [0]))
    assert [len(group) for group in groups] == [16, 4] and {number for group in groups for number in group} == set(
        range(20)
    )
    at.vocabulary = reference.TOGETHER // 500
    assert [len(group) for group in reference.Reference._groups(t.cast(t.Any, at), [250, 250])] == [2]
    at.vocabulary += 1
    assert [len(group) for group in reference.Reference._groups(t.cast(t.Any, at), [250, 250])] == [1, 1]


@pytest.mark.parametrize(
    ("tokens", "highest", "vocabulary", "refused"),
    [(1000, 999, 1000, False), (1300, 1299, 1000, True), (1200, 1199, 1000, False), (1300, 999, 1000, False)],
)
def test_tokenizer_of_another_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: int, highest: int, vocabulary: int, refused: bool
) -> None:
    class Vocabulary(Tokenizer):
        def __len__(self) -> int:
            return tokens

        def get_vocab(self) -> dict[str, int]:
            return {"a": highest}

    threads: list[int] = []
    weight = types.SimpleNamespace(weight=types.SimpleNamespace(shape=(vocabulary, 8)))
    numbers = reference.SMALL - (0 if refused else 1)
    model = types.SimpleNamespace(num_parameters=lambda: numbers, get_input_embeddings=lambda: weight)
    model.to = model.eval = lambda *_device: model

    def loads(found: t.Any) -> t.Any:
        return types.SimpleNamespace(from_pretrained=lambda *_path, **_options: found)

    logging = types.SimpleNamespace(set_verbosity_error=lambda: None, disable_progress_bar=lambda: None)
    transformers = types.SimpleNamespace(
        utils=types.SimpleNamespace(logging=logging), AutoTokenizer=loads(Vocabulary()),
        AutoModelForCausalLM=loads(model), AutoConfig=loads(types.SimpleNamespace()),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(set_num_threads=threads.append))
    where = reference.Folder(str(tmp_path), "", "bf16", False, 0, 0)
    if refused:
        with pytest.raises(SparkforgeError, match="is another model's"):
            reference.Reference(where, t.cast(t.Any, None), "cpu")
    else:
        assert reference.Reference(where, t.cast(t.Any, None), "cpu").vocabulary == vocabulary
    # Where the cores are busy, each step of a small model waits for the slowest thread.
    assert threads == ([] if refused else [1])
