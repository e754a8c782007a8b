"""One look at a build that runs: what is news, when it ends, and that its text needs nothing of the collection."""

import json
import os
import threading
import time
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import state_file

#: Of the host, and not the tests' own: whatever that has installed is not there.
STATE = {"format": 1, "phase": "build", "status": "running", "attempts": 1, "done": 3, "total": 9}


class Build:
    """A build directory whose worker is this test."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True)
        self.directory = directory
        self.lock = detached.Lock(str(directory / "lock"))
        assert self.lock.take()
        self.write(**STATE)

    def write(self, **values: t.Any) -> None:
        """Write the state as the worker does."""
        temporary = self.directory / "state.json.new"
        temporary.write_text(json.dumps({"format": 1, **values}))
        temporary.replace(self.directory / "state.json")

    def look(self, seen: t.Any = None) -> dict[str, t.Any] | None:
        return state_file.observe(str(self.directory), seen)


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    made = Build(tmp_path / "builds/tiny/0123456789abcdef")
    yield made
    made.lock.release()


@pytest.mark.parametrize("kind", ["pipe", "link", "nested", "directory"])
def test_what_the_account_puts_there_in_place_of_a_state_is_none(tmp_path: Path, kind: str) -> None:
    """Opening a pipe would wait for ever; a link would be followed with the rights of whoever looks."""
    path = tmp_path / "state.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        (tmp_path / "other").write_text(json.dumps(STATE))
        path.symlink_to("other")
    elif kind == "nested":
        path.write_text("[" * 100_000)
    else:
        path.mkdir()
    assert state_file.read(str(path)) is None


def test_a_pipe_in_place_of_the_lock_is_no_worker(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    assert not state_file.is_running(str(tmp_path))


def later(action: t.Callable[[], object]) -> threading.Timer:
    thread = threading.Timer(0.5, action)
    thread.start()
    return thread


def test_news_end_a_look_and_progress_does_not(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_file, "LONG_POLL", 60.0)
    began = time.monotonic()
    build.write(**{**STATE, "done": 4})

    def progress_then_news() -> None:
        build.write(**{**STATE, "done": 5})
        time.sleep(0.5)
        build.write(**{**STATE, "done": 9, "phase": "package"})

    thread = later(progress_then_news)
    found = build.look(state_file.news(STATE))
    thread.join()
    assert found is not None
    assert (found["phase"], found["done"]) == ("package", 9)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 2}'])
def test_a_state_that_cannot_be_read_is_none(build: Build, content: str) -> None:
    (build.directory / "state.json").write_text(content)
    assert build.look() == {}
    (build.directory / "state.json").unlink()
    assert build.look() == {}


def test_a_link_in_place_of_the_state_is_not_followed(build: Build, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps(STATE))
    (build.directory / "state.json").unlink()
    (build.directory / "state.json").symlink_to(tmp_path / "elsewhere")
    assert build.look() == {}
