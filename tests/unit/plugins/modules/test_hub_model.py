"""A model is either downloaded completely and verified, or not at all: the hub's client with the lab's hub."""

import contextlib
import getpass
import json
import socket
import sys
import types
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._serving import hub

from lab.hub import Hub, Model
from tests.unit.run_module import run_module

TOKEN = "hf_s3cretOfTheTests"
NAME = "Org/Tiny"
#: More than two of the client's 10 MB chunks.
WEIGHTS = bytes(range(250)) * 100_000
FILES = {
    "config.json": b"{}", "README.md": b"---\nlicense: apache-2.0\n---\n", "model.safetensors": WEIGHTS,
    "training_args.bin": b"a pickle", "original/consolidated.safetensors": b"the same again",
}  # fmt: skip


class Host:
    """A host with its root and models in one directory, and its hub."""

    def __init__(self, directory: Path, hub: Hub) -> None:
        self.directory, self.hub = directory, hub
        self.models, self.root = directory / "models", directory / "root"
        (self.root / "envs/hub").mkdir(parents=True)
        (self.root / "envs/hub/current").symlink_to(sys.prefix)

    def options(self, **options: t.Any) -> dict[str, t.Any]:
        return {
            "name": NAME, "directory": str(self.models), "root": str(self.root), "hub": self.hub.url,
            "user": getpass.getuser(), **options,
        }  # fmt: skip

    def call(self, check_mode: bool = False, **options: t.Any) -> dict[str, t.Any]:
        result = run_module("hub_model", check_mode=check_mode, **self.options(**options))
        assert TOKEN not in json.dumps(result)
        return result

    def refusal(self, **options: t.Any) -> str:
        """Return the module's message; the module must fail and leave neither a receipt nor a token on the host."""
        result = self.call(**options)
        assert result.get("failed"), result
        assert result["cause"] and result["remedy"]
        assert not list(self.root.rglob("model-*"))
        for path in self.directory.rglob("*"):
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path
        return str(result["msg"])


def command_lines() -> list[bytes]:
    """Return the command lines of all processes."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes())
    return lines


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    hub = Hub(Model(NAME, FILES))
    hub.tokens = {TOKEN, "hf_other"}
    yield Host(tmp_path, hub)
    hub.close()


def test_a_model_is_downloaded_once_despite_interruptions(host: Host) -> None:
    assert host.call(check_mode=True)["changed"]
    assert not host.models.exists()
    host.hub.cuts["model.safetensors"] = [12_000_000, 11_000_000]
    result = host.call()
    assert not result.get("failed"), result
    commit = host.hub.models[NAME].commit
    assert (result["changed"], result["revision"], result["license"]) == (True, commit, "apache-2.0")
    # No byte that has been written is downloaded again.
    assert host.hub.ranges("model.safetensors") == ["", "bytes=10485760-", "bytes=20971520-"]
    model = Path(result["directory"])
    assert (model / "model.safetensors").read_bytes() == WEIGHTS
    assert sorted(path.name for path in model.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    host.hub.requests.clear()
    assert host.call()["changed"] is False
    assert host.hub.requests == []
    # The branch main is the installed revision.
    assert host.call(revision="main")["changed"] is False
    (model / "model.safetensors").resolve().unlink()
    assert host.call()["changed"] is True
    assert host.call(state="absent", check_mode=True)["changed"] and model.exists()
    assert host.call(state="absent")["changed"] and not model.exists()
    assert host.call(state="absent")["changed"] is False
    assert host.call(name=None, state="absent")["changed"] and not host.models.exists()
    assert host.call(name=None, state="absent")["changed"] is False


def test_a_gated_model_needs_the_token_of_an_account_with_access(host: Host) -> None:
    model = host.hub.models[NAME]
    model.gated, model.members = True, {TOKEN}
    assert "no token was" in host.refusal()
    refused = host.refusal(token="hf_other")
    assert "that did not" in refused and f"Accept it at {host.hub.url}/{NAME}" in refused
    assert "accept the token" in host.refusal(token=f"{TOKEN}-mistyped")
    host.hub.requests.clear()
    commands: list[bytes] = []
    host.hub.before["model.safetensors"] = lambda: commands.extend(command_lines())
    result = host.call(token=f"{TOKEN}\n")
    assert any(b"hf\0download\0" in line for line in commands)
    assert not any(TOKEN.encode() in line for line in commands)
    assert result["changed"] is True
    # The server that has the content is not the hub itself and receives no token.
    tokens = {"/resolve/" in path or path.startswith("/api/"): token for _m, path, _r, token in host.hub.requests}
    assert tokens == {True: f"Bearer {TOKEN}", False: ""}


def test_a_file_with_a_wrong_hash_is_not_kept(host: Host) -> None:
    model = host.hub.models[NAME]
    model.served["model.safetensors"] = WEIGHTS[:-1] + b"!"
    assert "the hashes" in host.refusal()
    model.served.clear()
    host.hub.requests.clear()
    result = host.call()
    assert result["changed"] and host.hub.ranges("model.safetensors") == [""] and host.hub.ranges("config.json") == []
    # A later revision with a wrong file leaves the installed one unchanged.
    later = host.hub.models[NAME] = Model(NAME, {**FILES, "model.safetensors": b"later"})
    later.served["model.safetensors"] = b"wrong"
    assert "the hashes" in host.call(revision="main")["msg"]
    assert (Path(result["directory"]) / "model.safetensors").read_bytes() == WEIGHTS
    assert host.call()["changed"] is False


def test_unavailable_models_are_refused_before_anything_is_written(host: Host) -> None:
    pickled = {"config.json": b"{}", "pytorch_model.bin": b"x", "tf_model.h5": b"of another framework"}
    host.hub.models["Org/Pickled"] = Model("Org/Pickled", pickled)
    assert "no model Org/None" in host.refusal(name="Org/None")
    assert "no such revision" in host.refusal(revision="v9")
    assert "that run code" in host.refusal(name="Org/Pickled")
    assert not list(host.models.rglob("blobs"))
    model = Path(host.call(name="Org/Pickled", allow_pickle=True)["directory"])
    assert sorted(path.name for path in model.iterdir()) == ["config.json", "pytorch_model.bin"]


def test_a_model_that_is_larger_than_the_disk_is_refused(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    options = host.options(allow_pickle=False)
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _path: types.SimpleNamespace(free=24_000_000))
    with pytest.raises(SparkforgeError, match=r"Org/Tiny needs 0\.0 GB more.* has 0\.0 GB"):
        hub.Model(options).get()
    assert not list(host.models.rglob("blobs"))
    # Part of the weights has already been downloaded.
    begun = host.models / "models--Org--Tiny/blobs/0123.incomplete"
    begun.parent.mkdir()
    begun.write_bytes(bytes(2_000_000))
    assert hub.Model(options).get()["changed"]


def test_an_incomplete_download_is_not_recorded(host: Host) -> None:
    # The model has only one file, because a request for another file might receive the weights' answer.
    host.hub.models["Org/Alone"] = Model("Org/Alone", {"model.safetensors": WEIGHTS})
    host.hub.cuts["model.safetensors"] = [11_000_000]
    # The client retries immediately, gets no answer, and returns the part that it has.
    host.hub.before["model.safetensors"] = lambda: setattr(host.hub, "down", 1)
    assert "Files of Org/Alone are missing" in host.refusal(name="Org/Alone")
    host.hub.before.clear()
    assert host.call(name="Org/Alone")["changed"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a/b/c"}, "the name of"),
        ({"name": "../x"}, "the name of"),
        ({"name": "{{ 1 }}/x"}, "the name of"),
        ({"revision": "a/../b"}, "not a revision"),
        ({"token": "two words"}, "one word"),
        ({"token": TOKEN, "hub": "http://hub.example.com"}, "not a hub"),
        ({"hub": "file:///etc"}, "not a hub"),
        ({"root": "/nonexistent"}, "hub's client"),
    ],
)
def test_bad_input_is_refused_before_a_process_starts(host: Host, options: dict[str, t.Any], message: str) -> None:
    assert message in host.refusal(**options)
    assert host.hub.requests == [] and not host.models.exists()


def test_an_unreachable_hub_is_named(host: Host) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    assert f"connection to {url}" in host.refusal(hub=url)
