"""Refused names and directories of models, and refused output from the hub's client, without running the client."""

import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import accounts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._serving import hub

COMMIT = "a" * 40
LISTING = json.dumps([{"file": "model.safetensors", "size": "2.0K"}, {"file": "config.json", "size": "-"}])


def make_model(root: Path, **options: t.Any) -> hub.Model:
    paths = {"directory": str(root / "models"), "root": str(root), "hub": "https://hub.example"}
    return hub.Model({"name": "Org/Tiny", **paths, "allow_pickle": False, "user": "nobody", **options})


@pytest.mark.parametrize("name", ["a/b/c", "a/b c", "a/b\n", "a/b{{ 1 }}", "a", "../x"])
def test_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SparkforgeError, match="the name of"):
        make_model(tmp_path, name=name)


@pytest.mark.parametrize("revision", ["main x", "v1\n", "a/../b", "-x", "é", "a" * 201])
def test_invalid_revision_is_refused(tmp_path: Path, revision: str) -> None:
    with pytest.raises(SparkforgeError, match="not a revision"):
        make_model(tmp_path, revision=revision)
    assert make_model(tmp_path, revision="refs/pr/1").revision == "refs/pr/1"


@pytest.mark.parametrize("token", ["two words", "hf_é", "hf_a\nhf_b"])
def test_token_with_several_words_is_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(SparkforgeError, match="one word"):
        make_model(tmp_path, token=token)._check()


@pytest.mark.parametrize(
    ("owner", "content", "refused"), [("other", True, True), ("other", False, False), ("me", True, False)]
)
def test_directory_of_another_account_must_be_empty(tmp_path, monkeypatch, owner, content, refused):
    model = make_model(tmp_path)
    Path(model.client).parent.mkdir(parents=True)
    Path(model.client).touch()
    (tmp_path / "models").mkdir()
    if content:
        (tmp_path / "models/mine").touch()
    monkeypatch.setattr(accounts, "owner_of", lambda _path: model.account.name if owner == "me" else owner)
    if not refused:
        model._check()
        return
    with pytest.raises(SparkforgeError, match="belongs to other"):
        model._check()


@pytest.mark.parametrize(
    ("location", "is_complete", "message"),
    [
        (f"snapshots/{COMMIT}", True, ""),
        (f"snapshots/{COMMIT}", False, "Files of Org/Tiny are missing"),
        (f"snapshots/{COMMIT}/original", True, "path outside"),
        (f"snapshots/{COMMIT}0", True, "path outside"),
        ("snapshots/main", True, "path outside"),
    ],
)
def test_path_printed_by_the_client_is_checked(tmp_path, monkeypatch, location, is_complete, message):
    model = make_model(tmp_path)
    path = Path(model.cache, location)
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    if is_complete:
        (path / "model.safetensors").write_bytes(b"0123")
    answers = iter([LISTING, f"{path}\n"])
    monkeypatch.setattr(model, "_run", lambda _script: next(answers))
    if message:
        with pytest.raises(SparkforgeError, match=message):
            model._download()
    else:
        assert model._download()["revision"] == COMMIT
