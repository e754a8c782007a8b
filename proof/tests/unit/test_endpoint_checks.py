"""The endpoint checks on lab/word_server.py: sound servers, and faults that users have reported."""

import dataclasses
import sys
import types
import typing as t
from pathlib import Path

import pytest
import yaml
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError
from sparkforge_proof.check import Result, Skipped
from sparkforge_proof.endpoint import against, answers, checks, cli, client, reference, session, texts

from lab import word_server

MODEL = word_server.Model()
REPORTS = yaml.safe_load((Path(__file__).parent / "served_reports.yml").read_text())
CAUGHT = {fault: record for fault, record in REPORTS.items() if "check" in record}
#: For each check, the checks whose answers it uses.
BEFORE = {
    "greedy": ["completion", "batch"], "batch": ["completion"], "cache": ["completion"], "max_tokens": ["completion"],
}  # fmt: skip
SEED, LONGEST = 5, 150


def drawn(seed: int = SEED) -> texts.Texts:
    return texts.Texts(range(word_server.FIRST, word_server.SIZE), [word_server.BEGIN], LONGEST, seed)


def conversation(server: word_server.Server, with_reference: bool = True) -> session.Session:
    ref = t.cast(t.Any, word_server.Reference(MODEL)) if with_reference else None
    settled = session.Session(t.cast(t.Any, server), "model", ref)
    settled.settle((0, 5, 6, 7, 8))
    return settled


def make_checks(fault: str = "", seed: int = SEED) -> checks.Checks:
    return checks.Checks(conversation(word_server.Server(MODEL, fault)), drawn(seed))


def rows(checked: t.Any, names: t.Collection[str] = ()) -> dict[str, Result]:
    """Return the rows of the named checks, or of all checks if none are named."""
    selected = [row for row in checked.rows() if not names or row[0].partition(".")[2] in names]
    results = cli.rows(selected, lambda: checked.session.complete((0, 5, 6)))
    return {row.name.partition(".")[2]: row for row in results}


def failures(results: dict[str, Result]) -> dict[str, str]:
    return {name: row.cause for name, row in results.items() if row.status != "pass"}


@pytest.mark.parametrize("seed", [SEED, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 25))])
def test_sound_server_is_proven(seed: int) -> None:
    results = rows(make_checks(seed=seed))
    assert failures(results) == {}
    assert len(results) == 18


@pytest.mark.parametrize("fault", CAUGHT)
def test_fault_is_caught(fault: str) -> None:
    name = CAUGHT[fault]["check"]
    row = rows(make_checks(fault), [*BEFORE.get(name, []), name])[name]
    assert row.status == "fail" and CAUGHT[fault]["says"] in row.cause and row.remedy, row


def test_every_fault_has_a_record() -> None:
    assert set(REPORTS) == set(word_server.FAULTS)


def test_intermittent_fault_is_counted() -> None:
    row = rows(make_checks("one_in_five"), ["completion"])["completion"]
    assert row.reason == "wrong" and "1 of 5 requests" in row.cause


@pytest.mark.parametrize("name", ["logit_bias", "end", "logprobs"])
def test_option_that_a_server_declines_is_skipped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = make_checks()
    complete = checked.session.complete

    def decline(prompt: t.Any, **options: t.Any) -> answers.Answer:
        if options.get("logit_bias"):
            raise client.Declined("It has no logit_bias.", "Do without.")
        return complete(prompt, **options)

    monkeypatch.setattr(checked.session, "complete", decline)
    row = rows(checked, [name])[name]
    assert (row.status, "logit_bias" in row.measured) == ("pass" if name == "logprobs" else "skip", False)


def test_server_without_token_ids_or_lengths_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = make_checks()
    complete = checked.session.complete

    def without_prompt(*prompt: t.Any, **options: t.Any) -> answers.Answer:
        return dataclasses.replace(complete(*prompt, **options), prompt_ids=None, prompt_tokens=None)

    monkeypatch.setattr(checked.session, "complete", without_prompt)
    with pytest.raises(Skipped, match="reports neither"):
        checked.tokenizer()
    monkeypatch.setattr(MODEL, "chat_template", None)
    with pytest.raises(Skipped, match="no chat template"):
        checked.template()


def test_cache_check_needs_a_long_context(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "values" in make_checks().cache().measured
    for name in ("repeated", "shared"):
        monkeypatch.setattr(texts.Texts, name, lambda *_arguments: [])
    with pytest.raises(Skipped, match="too short"):
        make_checks().cache()


@pytest.mark.parametrize("logprobs", [[], [None] * 2])
def test_server_without_log_probabilities_is_refused(logprobs: list[None], monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"tokens": ["a"] * len(logprobs), "token_logprobs": logprobs}
    completion = {"choices": [{"text": "a", "finish_reason": "stop", "logprobs": listed}]}
    monkeypatch.setattr(word_server.Server, "post", lambda *_request: completion)
    with pytest.raises(SparkforgeError, match="returns no log-probabilities"):
        make_checks()


def pair(fault: str = "", seed: int = SEED) -> against.Against:
    """Return the results of comparing a server with a sound one that rounds differently."""
    first, second = (
        conversation(word_server.Server(MODEL, *arguments), with_reference=False)
        for arguments in ((fault, 0.02, "a"), ("", 0.02, "b"))
    )
    return against.Against(against.Pair(first, second, drawn(seed).batches()[0]), drawn(seed))


@pytest.mark.parametrize("seed", [SEED, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 25))])
def test_sound_servers_with_different_rounding_agree(seed: int) -> None:
    results = rows(pair(seed=seed))
    assert failures(results) == {}
    assert results["itself"].measured.startswith("repeated requests give")


@pytest.mark.parametrize(
    ("fault", "name", "cause"),
    [
        ("drift", "completion", "at position 97"), ("window", "completion", "are wrong: "),
        ("echo_shifted", "prompt", "are wrong: "), ("neighbour", "itself", "a text is asked with others"),
        ("one_in_five", "itself", "contradicts itself"), ("drafts", "greedy", "less likely token"),
        ("nan", "itself", "are not numbers"), ("capacity", "lengths", "for an answer of fewer"),
        ("aborted", "itself", "cut an answer off"),
    ],
)  # fmt: skip
def test_servers_disagree(fault: str, name: str, cause: str) -> None:
    row = rows(pair(fault))[name]
    assert row.status == "fail" and cause in row.cause, row
    assert "word_server" not in row.cause


def test_nondeterministic_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = pair()
    monkeypatch.setattr(checked.session.both[0].endpoint, "way", "a")
    original = word_server.Request.with_rounding

    def rounded(self: word_server.Request, ids: tuple[int, ...], row: list[float]) -> list[float]:
        self.server.way = str(self.number) if self.server.way[:1] != "b" else "b"
        return original(self, ids, row)

    monkeypatch.setattr(word_server.Request, "with_rounding", rounded)
    results = rows(checked)
    assert {row.status for row in results.values()} == {"pass"}
    assert results["itself"].measured.startswith("not deterministic: ")
    assert results["other"].measured.startswith("repeated requests")


@pytest.mark.parametrize(("form", "factor"), [("bf16", 2), ("fp8", 4), ("nvfp4", 7)])
def test_reference_too_large_for_memory(form: str, factor: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "model.safetensors").touch()
    folder = reference.Folder(str(tmp_path), "", form, form != "bf16", 0, 0)
    reference._check_memory(folder, "cpu")
    monkeypatch.setattr(reference.os.path, "getsize", lambda _path: 1 << 50)
    with pytest.raises(SparkforgeError, match=rf"needs about {(1 << 50) * factor / 1e9:.0f} GB"):
        reference._check_memory(folder, "cpu")


def test_batches_of_texts_are_bounded() -> None:
    def groups(vocabulary: int, lengths: list[int]) -> list[list[int]]:
        model = t.cast(t.Any, types.SimpleNamespace(vocabulary=vocabulary))
        return [list(group) for group in reference.Reference._groups(model, lengths)]

    batches = groups(1000, [500] * 20 + [0])
    assert [len(group) for group in batches] == [16, 4] and {*batches[0], *batches[1]} == set(range(20))
    assert [len(group) for group in groups(reference.MOST_SCORES // 500, [250, 250])] == [2]
    assert [len(group) for group in groups(reference.MOST_SCORES // 500 + 1, [250, 250])] == [1, 1]


@pytest.mark.parametrize(
    ("tokens", "highest", "vocabulary", "refused"),
    [(1000, 999, 1000, False), (1300, 1299, 1000, True), (1200, 1199, 1000, False), (1300, 999, 1000, False)],
)
def test_tokenizer_of_another_model_is_refused(tmp_path, monkeypatch, tokens, highest, vocabulary, refused):
    class Vocabulary:
        def __len__(self) -> int:
            return tokens

        def get_vocab(self) -> dict[str, int]:
            return {"a": highest}

    threads: list[int] = []
    weight = types.SimpleNamespace(weight=types.SimpleNamespace(shape=(vocabulary, 8)))
    numbers = reference.SMALL_MODEL - (0 if refused else 1)
    model = types.SimpleNamespace(num_parameters=lambda: numbers, get_input_embeddings=lambda: weight)
    model.to = model.eval = lambda *_device: model

    def loads(loaded: t.Any) -> t.Any:
        return types.SimpleNamespace(from_pretrained=lambda *_path, **_options: loaded)

    logging = types.SimpleNamespace(set_verbosity_error=lambda: None, disable_progress_bar=lambda: None)
    transformers = types.SimpleNamespace(
        utils=types.SimpleNamespace(logging=logging), AutoTokenizer=loads(Vocabulary()),
        AutoModelForCausalLM=loads(model), AutoConfig=loads(types.SimpleNamespace()),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "transformers", transformers)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(set_num_threads=threads.append))
    folder = reference.Folder(str(tmp_path), "", "bf16", False, 0, 0)
    if refused:
        with pytest.raises(SparkforgeError, match="belongs to another"):
            reference.Reference(folder, t.cast(t.Any, None), "cpu")
    else:
        assert reference.Reference(folder, t.cast(t.Any, None), "cpu").vocabulary == vocabulary
    # A small model gets a single thread, because on busy cores each step waits for the slowest thread.
    assert threads == ([] if refused else [1])
