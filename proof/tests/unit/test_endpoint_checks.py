"""What the checks of a served model say of sound servers and of faults that others reported, on lab/word_server.py."""

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
#: Checks whose answers others use.
BEFORE = {
    "greedy": ["completion", "batch"],
    "batch": ["completion"],
    "cache": ["completion"],
    "max_tokens": ["completion"],
}
SEED, LONGEST = 5, 150


def drawn(seed: int = SEED) -> texts.Texts:
    return texts.Texts(range(word_server.FIRST, word_server.SIZE), [word_server.BEGIN], LONGEST, seed)


def conversation(server: word_server.Server, with_reference: bool = True) -> session.Session:
    ref = t.cast(t.Any, word_server.Reference(MODEL)) if with_reference else None
    made = session.Session(t.cast(t.Any, server), "model", ref)
    made.settle((0, 5, 6, 7, 8))
    return made


def made(fault: str = "", seed: int = SEED, **options: t.Any) -> checks.Checks:
    return checks.Checks(conversation(word_server.Server(MODEL, fault, **options)), drawn(seed))


def rows(of: t.Any, names: t.Collection[str] = ()) -> dict[str, Result]:
    """Return by name the rows of these checks, by default of all."""
    wanted = [row for row in of.rows() if not names or row[0].partition(".")[2] in names]
    return {row.name.partition(".")[2]: row for row in cli.rows(wanted, lambda: of.session.complete((0, 5, 6)))}


@pytest.mark.parametrize("seed", [SEED, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 25))])
def test_sound_server_is_proven(seed: int) -> None:
    found = rows(made(seed=seed))
    assert {name: row.cause for name, row in found.items() if row.status != "pass"} == {}
    assert len(found) == 18


@pytest.mark.parametrize("fault", CAUGHT)
def test_fault_is_caught(fault: str) -> None:
    name = CAUGHT[fault]["check"]
    row = rows(made(fault), [*BEFORE.get(name, []), name])[name]
    assert row.status == "fail" and CAUGHT[fault]["says"] in row.cause and row.remedy, row


def test_every_fault_has_a_record() -> None:
    assert set(REPORTS) == set(word_server.FAULTS)


def test_some_requests_are_counted_where_the_same_text_is_right_the_next_time() -> None:
    row = rows(made("one_in_five"), ["completion"])["completion"]
    assert row.reason == "wrong" and "Asked again, that text is wrong in 1 of 5 requests." in row.cause


@pytest.mark.parametrize("name", ["logit_bias", "end", "logprobs"])
def test_option_that_a_server_declines_is_skipped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = made()
    complete = one.session.complete

    def declined(prompt: t.Any, **more: t.Any) -> answers.Answer:
        if more.get("logit_bias"):
            raise client.Declined("It has no logit_bias.", "Do without.")
        return complete(prompt, **more)

    monkeypatch.setattr(one.session, "complete", declined)
    row = rows(one, [name])[name]
    assert (row.status, "logit_bias" in row.measured) == ("pass" if name == "logprobs" else "skip", False)


def test_server_without_token_ids_or_lengths_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    one = made()
    complete = one.session.complete
    monkeypatch.setattr(
        one.session, "complete",
        lambda *asked, **more: dataclasses.replace(complete(*asked, **more), prompt_ids=None, prompt_tokens=None),
    )  # fmt: skip
    with pytest.raises(Skipped, match="neither the tokens nor the length"):
        one.tokenizer()
    monkeypatch.setattr(MODEL, "chat_template", None)
    with pytest.raises(Skipped, match="no chat template"):
        one.template()


def test_texts_of_a_cache_are_asked_where_the_context_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "values" in made().cache().measured
    for name in ("repeated", "shared"):
        monkeypatch.setattr(texts.Texts, name, lambda *_arguments: [])
    with pytest.raises(Skipped, match="too short for a page"):
        made().cache()


@pytest.mark.parametrize("logprobs", [[], [None] * 2])
def test_server_without_log_probabilities_is_refused(logprobs: list[None], monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"tokens": ["a"] * len(logprobs), "token_logprobs": logprobs}
    monkeypatch.setattr(
        word_server.Server,
        "post",
        lambda *_asked: {"choices": [{"text": "a", "finish_reason": "stop", "logprobs": listed}]},
    )
    with pytest.raises(SparkforgeError, match="returns no log-probabilities"):
        made()


# -- one server against another


def pair(fault: str = "", way: str = "b", seed: int = SEED) -> against.Against:
    first, second = (
        conversation(word_server.Server(MODEL, *words), with_reference=False)
        for words in ((fault, 0.02, "a"), ("", 0.02, way))
    )
    return against.Against(against.Pair(first, second, drawn(seed).batches()[0]), drawn(seed))


@pytest.mark.parametrize("seed", [SEED, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 25))])
def test_two_sound_servers_agree_although_they_round_in_other_ways(seed: int) -> None:
    found = rows(pair(seed=seed))
    assert {name: row.cause for name, row in found.items() if row.status != "pass"} == {}
    assert found["itself"].measured.startswith("the same numbers when it is asked again")


@pytest.mark.parametrize(
    ("fault", "name", "said"),
    [
        ("drift", "completion", "at position 97"),
        ("window", "completion", "are off"),
        ("echo_shifted", "prompt", "are off"),
        ("neighbour", "itself", "disagrees with itself where a text is asked beside others"),
        ("one_in_five", "itself", "disagrees with itself where a text is "),
        ("drafts", "greedy", "a less likely token"),
        ("nan", "itself", "are no numbers"),
    ],
)
def test_two_servers_are_told_apart(fault: str, name: str, said: str) -> None:
    row = rows(pair(fault))[name]
    assert row.status == "fail" and said in row.cause, row
    assert "word_server" not in row.cause


def test_server_that_rounds_otherwise_each_time_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    one = pair()
    monkeypatch.setattr(one.session.both[0].endpoint, "way", "a")
    original = word_server.Request.rounded

    def rounded(self: word_server.Request, ids: tuple[int, ...], row: list[float]) -> list[float]:
        self.server.way = str(self.number) if self.server.way[:1] != "b" else "b"
        return original(self, ids, row)

    monkeypatch.setattr(word_server.Request, "rounded", rounded)
    found = rows(one)
    assert {row.status for row in found.values()} == {"pass"}
    assert found["itself"].measured.startswith("not deterministic: other numbers in ")
    assert found["other"].measured.startswith("the same numbers")


# -- the reference


@pytest.mark.parametrize("kept", ["bf16", "fp8", "nvfp4"])
def test_reference_is_refused_before_memory_runs_out(
    kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.safetensors").touch()
    where = reference.Folder(str(tmp_path), "", kept, kept != "bf16", 0, 0)
    reference._check_memory(where, "cpu")
    monkeypatch.setattr(reference.os.path, "getsize", lambda _path: 1 << 50)
    with pytest.raises(
        SparkforgeError, match=rf"needs about {(1 << 50) * {'fp8': 4, 'nvfp4': 7}.get(kept, 2) / 1e9:.0f} GB"
    ):
        reference._check_memory(where, "cpu")


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
    class Vocabulary:
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
