"""A model comes from the hub whole and verified, or not at all: the hub's own client against the lab's hub."""

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
#: Weights of more than two of the client's chunks of 10 MB.
WEIGHTS = bytes(range(250)) * 100_000
FILES = {
    "config.json": b"{}",
    "README.md": b"---\nlicense: apache-2.0\n---\n",
    "model.safetensors": WEIGHTS,
    "training_args.bin": b"a pickle",
    "original/consolidated.safetensors": b"the same again",
}


class Host:
    """A host whose root and models lie below one directory, and the hub that it asks."""

    def __init__(self, directory: Path, hub: Hub) -> None:
        self.directory, self.hub = directory, hub
        self.models, self.root = directory / "models", directory / "root"
        (self.root / "envs/hub").mkdir(parents=True)
        (self.root / "envs/hub/current").symlink_to(sys.prefix)

    def call(self, name: str | None = NAME, check_mode: bool = False, **options: t.Any) -> dict[str, t.Any]:
        given = {
            "name": name, "directory": str(self.models), "root": str(self.root), "hub": self.hub.url,
            "user": getpass.getuser(), **options,
        }  # fmt: skip
        result = run_module("hub_model", check_mode=check_mode, **given)
        assert TOKEN not in json.dumps(result)
        return result

    def refused(self, **options: t.Any) -> str:
        """Return why the module fails; the host then vouches for nothing and keeps no token."""
        result = self.call(**options)
        assert result.get("failed"), result
        assert result["cause"] and result["remedy"]
        assert not list(self.root.rglob("model-*"))
        for path in self.directory.rglob("*"):
            assert not path.is_file() or TOKEN.encode() not in path.read_bytes(), path
        return str(result["msg"])


def command_lines() -> list[bytes]:
    """Return the command line of every process."""
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


def test_a_model_is_got_once_verified_and_recorded_though_the_connection_breaks_off(host: Host) -> None:
    assert host.call(check_mode=True)["changed"]
    assert not host.models.exists()
    host.hub.cuts["model.safetensors"] = [12_000_000, 11_000_000]
    got = host.call()
    assert not got.get("failed"), got
    commit = host.hub.models[NAME].commit
    assert (got["changed"], got["revision"], got["license"]) == (True, commit, "apache-2.0")
    # No byte that was written is fetched twice.
    assert host.hub.ranges("model.safetensors") == ["", "bytes=10485760-", "bytes=20971520-"]
    place = Path(got["directory"])
    assert (place / "model.safetensors").read_bytes() == WEIGHTS
    assert sorted(path.name for path in place.iterdir()) == ["README.md", "config.json", "model.safetensors"]
    host.hub.requests.clear()
    assert host.call()["changed"] is False
    assert host.hub.requests == []
    # Its own revision, by name, is what is there.
    assert host.call(revision="main")["changed"] is False
    (place / "model.safetensors").resolve().unlink()
    assert host.call()["changed"] is True
    assert host.call(state="absent", check_mode=True)["changed"] and place.exists()
    assert host.call(state="absent")["changed"] and not place.exists()
    assert host.call(state="absent")["changed"] is False
    assert host.call(None, state="absent")["changed"] and not host.models.exists()
    assert host.call(None, state="absent")["changed"] is False


def test_a_model_that_needs_a_licence_needs_the_token_of_who_accepted_it(host: Host) -> None:
    model = host.hub.models[NAME]
    model.gated, model.members = True, {TOKEN}
    assert "accepted its licence on the hub, and no token was given" in host.refused()
    refused = host.refused(token="hf_other")
    assert "not of an account that did" in refused and f"Accept it at {host.hub.url}/{NAME}" in refused
    assert "does not accept the token" in host.refused(token=f"{TOKEN}-mistyped")
    host.hub.requests.clear()
    commands: list[bytes] = []
    host.hub.before["model.safetensors"] = lambda: commands.extend(command_lines())
    got = host.call(token=f"{TOKEN}\n")
    assert any(b"hf\0download\0" in line for line in commands)
    assert not any(TOKEN.encode() in line for line in commands)
    assert got["changed"] is True
    # The network that has the content is another server, and is told no token.
    told = {path.count("/resolve/") > 0 or path.startswith("/api/"): who for _m, path, _r, who in host.hub.requests}
    assert told == {True: f"Bearer {TOKEN}", False: ""}


def test_a_file_that_is_not_what_the_hub_says_is_not_kept(host: Host) -> None:
    model = host.hub.models[NAME]
    model.served["model.safetensors"] = WEIGHTS[:-1] + b"!"
    assert "Files of Org/Tiny do not have the hashes that the hub names" in host.refused()
    model.served.clear()
    host.hub.requests.clear()
    got = host.call()
    assert got["changed"] and host.hub.ranges("model.safetensors") == [""] and host.hub.ranges("config.json") == []
    # A later revision with a wrong file leaves the one that is there as it is.
    later = host.hub.models[NAME] = Model(NAME, {**FILES, "model.safetensors": b"later"})
    later.served["model.safetensors"] = b"wrong"
    assert "do not have the hashes" in host.call(revision="main")["msg"]
    assert (Path(got["directory"]) / "model.safetensors").read_bytes() == WEIGHTS
    assert host.call()["changed"] is False


def test_what_cannot_be_got_is_said_before_anything_is_written(host: Host) -> None:
    pickled = {"config.json": b"{}", "pytorch_model.bin": b"x", "tf_model.h5": b"of another framework"}
    host.hub.models["Org/Pickled"] = Model("Org/Pickled", pickled)
    assert "The hub has no model Org/None" in host.refused(name="Org/None")
    assert "no such revision" in host.refused(revision="v9")
    assert "only files that run code" in host.refused(name="Org/Pickled")
    assert not list(host.models.rglob("blobs"))
    place = Path(host.call(name="Org/Pickled", allow_pickle=True)["directory"])
    assert sorted(path.name for path in place.iterdir()) == ["config.json", "pytorch_model.bin"]


def test_a_model_that_is_larger_than_the_disk_is_refused(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "name": NAME, "directory": str(host.models), "root": str(host.root), "hub": host.hub.url,
        "user": getpass.getuser(), "allow_pickle": False,
    }  # fmt: skip
    free = types.SimpleNamespace(free=24_000_000)
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _path: free)
    with pytest.raises(SparkforgeError, match=r"Org/Tiny needs 0\.0 GB more, and .* has 0\.0 GB"):
        hub.Model(options).get()
    assert not list(host.models.rglob("blobs"))
    # A part of it is there already.
    begun = host.models / "models--Org--Tiny/blobs/0123.incomplete"
    begun.parent.mkdir()
    begun.write_bytes(bytes(2_000_000))
    assert hub.Model(options).get()["changed"]


def test_a_part_that_the_client_takes_for_the_model_is_not_recorded(host: Host) -> None:
    # Other files are asked for at the same time, and one of them might get the answer that is meant for the weights.
    host.hub.models["Org/Alone"] = Model("Org/Alone", {"model.safetensors": WEIGHTS})
    host.hub.cuts["model.safetensors"] = [11_000_000]
    # The client asks again at once, gets no answer, and returns the part that it has.
    host.hub.before["model.safetensors"] = lambda: setattr(host.hub, "down", 1)
    assert "Files of Org/Alone are missing. Run it again" in host.refused(name="Org/Alone")
    host.hub.before.clear()
    assert host.call(name="Org/Alone")["changed"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "a/b/c"}, "is not the name of a model"),
        ({"name": "../x"}, "is not the name of a model"),
        ({"name": "{{ 1 }}/x"}, "is not the name of a model"),
        ({"revision": "a/../b"}, "is no revision"),
        ({"token": "two words"}, "more than one word"),
        ({"token": TOKEN, "hub": "http://hub.example.com"}, "no hub to send a token to"),
        ({"hub": "file:///etc"}, "no hub"),
        ({"root": "/nonexistent"}, "no environment with the hub's client"),
    ],
)
def test_bad_input_is_refused_before_a_process_starts(host: Host, options: dict[str, t.Any], words: str) -> None:
    assert words in host.refused(**options)
    assert host.hub.requests == [] and not host.models.exists()


def test_a_hub_that_does_not_answer_is_named(host: Host) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    assert f"The connection to {url} failed or broke off. Check the network" in host.refused(hub=url)
