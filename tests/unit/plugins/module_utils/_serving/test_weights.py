"""Where the weights of a model are, whose they are, and which of them no server may load."""

import json
import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._serving import weights

REVISION = "0123456789abcdef0123456789abcdef01234567"


def folder(place: Path, *names: str) -> Path:
    """Make a model's directory that everybody can read."""
    place.mkdir(parents=True)
    place.chmod(0o755)
    for name in names or ("config.json", "model.safetensors"):
        (place / name).write_text("1234")
        (place / name).chmod(0o644)
    return place


def cached(home: Path) -> Path:
    """Make the directory of one model as the hub's client keeps it: a snapshot is links into blobs."""
    place = home / "hub/models--Org--Tiny"
    snapshot = place / "snapshots" / REVISION
    folder(place / "blobs", "a", "b")
    snapshot.mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs/main").write_text(REVISION)
    (snapshot / "config.json").symlink_to("../../blobs/a")
    (snapshot / "model.safetensors").symlink_to("../../blobs/b")
    return place


def find(place: Path | str, root: Path = Path("/nonexistent"), **options: t.Any) -> dict[str, t.Any]:
    found = weights.find(str(place), str(root), **options)
    assert found
    return found


def refused(place: Path, **options: t.Any) -> str:
    with pytest.raises(SparkforgeError) as caught:
        weights.find(str(place), "/nonexistent", **options)
    return str(caught.value)


def test_a_directory_is_bound_as_it_is(tmp_path: Path) -> None:
    place = folder(tmp_path / "m")
    (tmp_path / "link").symlink_to(place)
    expected = {"directory": str(place), "bind": str(place), "bytes": 8, "account": None, "name": ""}
    assert find(tmp_path / "link").items() >= expected.items()


@pytest.mark.parametrize("below", ["", f"snapshots/{REVISION}"])
def test_of_a_cache_of_the_hub_s_client_all_of_the_model_is_bound_and_its_name_is_known(
    tmp_path: Path, below: str
) -> None:
    place = cached(tmp_path)
    found = find(place / below)
    assert found["directory"] == f"{place}/snapshots/{REVISION}"
    assert (found["bind"], found["name"], found["bytes"]) == (str(place), "Org/Tiny", 8 + 40)
    # What a person called it is no name of the hub's.
    copy = place.rename(f"{place} (copy)")
    assert find(copy / below)["name"] == ""


def test_files_that_their_owner_keeps_to_himself_are_his_to_show(tmp_path: Path) -> None:
    place = folder(tmp_path / "m")
    (place / "model.safetensors").chmod(0o600)
    assert find(place)["account"] == {"uid": os.getuid(), "gid": os.getgid()}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to others")
def test_files_that_several_keep_to_themselves_are_refused(tmp_path: Path) -> None:
    place = folder(tmp_path / "m", "config.json", "a.safetensors", "b.safetensors")
    for number, name in enumerate(("a.safetensors", "b.safetensors")):
        (place / name).chmod(0o600)
        os.chown(place / name, 1000 + number, 1000)
    assert "several accounts" in refused(place)


def test_a_model_by_name_is_the_one_of_its_receipt(tmp_path: Path) -> None:
    place = folder(tmp_path / "models/x")
    (tmp_path / "receipts").mkdir()
    receipt = {"name": "Org/Tiny", "directory": str(place), "revision": REVISION, "license": "mit"}
    (tmp_path / "receipts/model-Org--Tiny.json").write_text(json.dumps(receipt))
    found = find("Org/Tiny", tmp_path)
    assert (found["directory"], found["name"], found["revision"], found["license"]) == (
        str(place), "Org/Tiny", REVISION, "mit",
    )  # fmt: skip
    assert weights.find("Org/Other", str(tmp_path)) is None


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", "model.pt", "model.ckpt"])
def test_pickled_weights_are_refused_unless_they_are_asked_for(tmp_path: Path, name: str) -> None:
    place = folder(tmp_path / "m", "config.json", name)
    assert "run code when they are loaded" in refused(place)
    assert find(place, allow_pickle=True)["bytes"] == 8
    (place / "model.safetensors").write_text("")
    (place / "model.safetensors").chmod(0o644)
    assert find(place)["account"] is None


def test_safetensors_in_another_directory_excuse_no_pickle(tmp_path: Path) -> None:
    place = folder(tmp_path / "m", "config.json", "pytorch_model.bin")
    folder(place / "draft")
    assert "run code when they are loaded" in refused(place)


def test_what_is_no_model_is_refused_before_anything_starts(tmp_path: Path) -> None:
    assert "There is no directory" in refused(tmp_path / "none")
    assert "is no model" in refused(folder(tmp_path / "docs", "README.md"))
    assert "no snapshot" in refused(folder(tmp_path / "hub/models--a--b", "x"))
    place = folder(tmp_path / "pipe")
    os.mkfifo(place / "tokenizer.json")
    assert "neither a file nor a directory" in refused(place)
    place = folder(tmp_path / "out")
    (place / "tokenizer.json").symlink_to("/etc/passwd")
    assert "leads out of" in refused(place)
    assert "without quotes" in refused(folder(tmp_path / 'a"b'))


def test_the_search_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "MOST_ENTRIES", 3)
    assert "more than 3 files" in refused(folder(tmp_path / "many", "config.json", "a", "b", "c"))
    deep = folder(tmp_path / "deep")
    for _level in range(weights.DEEPEST + 1):
        deep = deep / "d"
        deep.mkdir()
    monkeypatch.setattr(weights, "MOST_ENTRIES", 1000)
    assert "levels of directories" in refused(tmp_path / "deep")


def test_nothing_of_the_files_is_read_but_what_names_a_revision(tmp_path: Path) -> None:
    place = cached(tmp_path)
    (place / "refs/main").unlink()
    os.mkfifo(place / "refs/main")
    assert "neither a file nor a directory" in refused(place)
