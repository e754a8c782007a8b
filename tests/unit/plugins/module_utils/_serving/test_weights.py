"""The location and owner of a model's weights, and weights that no server may load."""

import json
import os
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._serving import weights

REVISION = "0123456789abcdef0123456789abcdef01234567"


def make_model(directory: Path, *names: str) -> Path:
    """Create a model's directory that all accounts can read."""
    directory.mkdir(parents=True)
    directory.chmod(0o755)
    for name in names or ("config.json", "model.safetensors"):
        (directory / name).write_text("1234")
        (directory / name).chmod(0o644)
    return directory


def make_cached_model(home: Path) -> Path:
    """Create a model's directory in a Hugging Face cache, with a snapshot of links to blobs."""
    directory = home / "hub/models--Org--Tiny"
    snapshot = directory / "snapshots" / REVISION
    make_model(directory / "blobs", "a", "b")
    snapshot.mkdir(parents=True)
    (directory / "refs").mkdir()
    (directory / "refs/main").write_text(REVISION)
    (snapshot / "config.json").symlink_to("../../blobs/a")
    (snapshot / "model.safetensors").symlink_to("../../blobs/b")
    return directory


def find(directory: Path | str, root: Path = Path("/nonexistent"), **options: t.Any) -> dict[str, t.Any]:
    model = weights.find(str(directory), str(root), **options)
    assert model
    return model


def refusal(directory: Path, **options: t.Any) -> str:
    with pytest.raises(SparkforgeError) as caught:
        weights.find(str(directory), "/nonexistent", **options)
    return str(caught.value)


def test_model_directory_is_bound(tmp_path: Path) -> None:
    directory = make_model(tmp_path / "m")
    (tmp_path / "link").symlink_to(directory)
    expected = {"directory": str(directory), "bind": str(directory), "bytes": 8, "account": None, "name": ""}
    assert find(tmp_path / "link").items() >= expected.items()


@pytest.mark.parametrize("below", ["", f"snapshots/{REVISION}"])
def test_model_in_hub_cache_is_bound_with_its_name(tmp_path: Path, below: str) -> None:
    directory = make_cached_model(tmp_path)
    model = find(directory / below)
    assert model["directory"] == f"{directory}/snapshots/{REVISION}"
    assert (model["bind"], model["name"], model["bytes"]) == (str(directory), "Org/Tiny", 8 + 40)
    # If a directory is renamed, it no longer gives the model's name.
    assert find(directory.rename(f"{directory} (copy)") / below)["name"] == ""


def test_private_files_name_their_account(tmp_path: Path) -> None:
    directory = make_model(tmp_path / "m")
    (directory / "model.safetensors").chmod(0o600)
    assert find(directory)["account"] == {"uid": os.getuid(), "gid": os.getgid()}


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files to others")
def test_private_files_of_several_accounts_are_refused(tmp_path: Path) -> None:
    directory = make_model(tmp_path / "m", "config.json", "a.safetensors", "b.safetensors")
    for number, name in enumerate(("a.safetensors", "b.safetensors")):
        (directory / name).chmod(0o600)
        os.chown(directory / name, 1000 + number, 1000)
    assert "several accounts" in refusal(directory)


def test_model_by_name_is_read_from_its_receipt(tmp_path: Path) -> None:
    directory = make_model(tmp_path / "models/x")
    (tmp_path / "receipts").mkdir()
    receipt = {"name": "Org/Tiny", "directory": str(directory), "revision": REVISION, "license": "mit"}
    (tmp_path / "receipts/model-Org--Tiny.json").write_text(json.dumps(receipt))
    assert find("Org/Tiny", tmp_path).items() >= receipt.items()
    assert weights.find("Org/Other", str(tmp_path)) is None


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth", "model.pt", "model.ckpt"])
def test_pickled_weights_are_refused_unless_allowed(tmp_path: Path, name: str) -> None:
    directory = make_model(tmp_path / "m", "config.json", name)
    assert "run code when" in refusal(directory)
    assert find(directory, allow_pickle=True)["bytes"] == 8
    (directory / "model.safetensors").write_text("")
    (directory / "model.safetensors").chmod(0o644)
    assert find(directory)["account"] is None


def test_safetensors_elsewhere_do_not_allow_pickle(tmp_path: Path) -> None:
    directory = make_model(tmp_path / "m", "config.json", "pytorch_model.bin")
    make_model(directory / "draft")
    assert "run code when" in refusal(directory)


def test_directory_without_model_is_refused(tmp_path: Path) -> None:
    assert "no directory" in refusal(tmp_path / "none")
    assert "not a model" in refusal(make_model(tmp_path / "docs", "README.md"))
    assert "no snapshot" in refusal(make_model(tmp_path / "hub/models--a--b", "x"))
    directory = make_model(tmp_path / "pipe")
    os.mkfifo(directory / "tokenizer.json")
    assert "neither a file" in refusal(directory)
    directory = make_model(tmp_path / "out")
    (directory / "tokenizer.json").symlink_to("/etc/passwd")
    assert "leads out of" in refusal(directory)
    assert "without quotes" in refusal(make_model(tmp_path / 'a"b'))


def test_search_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "MOST_ENTRIES", 3)
    assert "more than 3 files" in refusal(make_model(tmp_path / "many", "config.json", "a", "b", "c"))
    directory = make_model(tmp_path / "deep")
    for _level in range(weights.DEEPEST + 1):
        directory = directory / "d"
        directory.mkdir()
    monkeypatch.setattr(weights, "MOST_ENTRIES", 1000)
    assert "levels of directories" in refusal(tmp_path / "deep")


def test_revision_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    directory = make_cached_model(tmp_path)
    (directory / "refs/main").unlink()
    os.mkfifo(directory / "refs/main")
    assert "neither a file" in refusal(directory)
