"""What is refused of a model's name, of its directory, and of what the hub's client says, without a program."""

import json
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import accounts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._serving import hub

COMMIT = "a" * 40
LISTED = json.dumps([{"file": "model.safetensors", "size": "2.0K"}, {"file": "config.json", "size": "-"}])


def model(place: Path, **options: t.Any) -> hub.Model:
    given = {"name": "Org/Tiny", "directory": str(place / "models"), "root": str(place), "hub": "https://hub.example"}
    return hub.Model({**given, "allow_pickle": False, "user": "nobody", **options})


@pytest.mark.parametrize("name", ["a/b/c", "a/b c", "a/b\n", "a/b{{ 1 }}", "a", "../x"])
def test_a_name_of_another_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SparkforgeError, match="is not the name of a model"):
        model(tmp_path, name=name)


@pytest.mark.parametrize("revision", ["main x", "v1\n", "a/../b", "-x", "é", "a" * 201])
def test_a_revision_of_another_form_is_refused(tmp_path: Path, revision: str) -> None:
    with pytest.raises(SparkforgeError, match="is no revision"):
        model(tmp_path, revision=revision)
    assert model(tmp_path, revision="refs/pr/1").revision == "refs/pr/1"


@pytest.mark.parametrize("token", ["two words", "hf_é", "hf_a\nhf_b"])
def test_a_token_is_one_word(tmp_path: Path, token: str) -> None:
    with pytest.raises(SparkforgeError, match="more than one word"):
        model(tmp_path, token=token)._check()


@pytest.mark.parametrize(
    ("owner", "content", "refused"), [("other", True, True), ("other", False, False), ("me", True, False)]
)
def test_a_directory_of_somebody_else_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: str, content: bool, refused: bool
) -> None:
    one = model(tmp_path)
    Path(one.client).parent.mkdir(parents=True)
    Path(one.client).touch()
    (tmp_path / "models").mkdir()
    if content:
        (tmp_path / "models/mine").touch()
    monkeypatch.setattr(accounts, "owner_of", lambda _path: one.account.name if owner == "me" else owner)
    if not refused:
        one._check()
        return
    with pytest.raises(SparkforgeError, match="belongs to other and is not empty"):
        one._check()


@pytest.mark.parametrize(
    ("place", "there", "said"),
    [
        (f"snapshots/{COMMIT}", True, ""),
        (f"snapshots/{COMMIT}", False, "Files of Org/Tiny are missing"),
        (f"snapshots/{COMMIT}/original", True, "was got to another place"),
        (f"snapshots/{COMMIT}0", True, "was got to another place"),
        ("snapshots/main", True, "was got to another place"),
    ],
)
def test_what_the_client_says_is_where_the_model_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, there: bool, said: str
) -> None:
    one = model(tmp_path)
    path = Path(one.cache, place)
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    if there:
        (path / "model.safetensors").write_bytes(b"0123")
    answers = iter([LISTED, f"{path}\n"])
    monkeypatch.setattr(one, "_run", lambda _script: next(answers))
    if said:
        with pytest.raises(SparkforgeError, match=said):
            one._download()
    else:
        assert one._download()["revision"] == COMMIT


@pytest.mark.parametrize("free", [1999, 2000])
def test_a_model_that_just_fits_is_got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _path: types.SimpleNamespace(free=free))
    files = {str(row["file"]): str(row["size"]) for row in json.loads(LISTED)}
    if free == 2000:
        model(tmp_path)._check_files(files)
        return
    with pytest.raises(SparkforgeError, match=r"needs .* GB more"):
        model(tmp_path)._check_files(files)
