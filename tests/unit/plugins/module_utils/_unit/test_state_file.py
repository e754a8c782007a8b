"""Observing a running build, which returns as soon as the state has changed."""

import json
import os
import threading
import time
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import detached
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import outcome, state_file

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
        """Write the state as the worker would."""
        temporary = self.directory / "state.json.new"
        temporary.write_text(json.dumps({"format": 1, **values}))
        temporary.replace(self.directory / "state.json")

    def observe(self, known: t.Any = None) -> dict[str, t.Any] | None:
        return outcome.poll(str(self.directory), known)


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    build = Build(tmp_path / "builds/tiny/0123456789abcdef")
    yield build
    build.lock.release()


@pytest.mark.parametrize("kind", ["pipe", "link", "nested", "directory"])
def test_special_file_as_state_is_ignored(tmp_path: Path, kind: str) -> None:
    """Opening a pipe would wait forever; a link would be followed with the observer's privileges."""
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


def test_pipe_as_lock_is_not_a_worker(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    assert not state_file.is_running(str(tmp_path))


def start_later(action: t.Callable[[], object]) -> threading.Timer:
    thread = threading.Timer(0.5, action)
    thread.start()
    return thread


def test_observation_returns_on_news_and_not_on_progress(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "LONG_POLL", 60.0)
    began = time.monotonic()
    build.write(**{**STATE, "done": 4})

    def progress_then_news() -> None:
        build.write(**{**STATE, "done": 5})
        time.sleep(0.5)
        build.write(**{**STATE, "done": 9, "phase": "package"})

    thread = start_later(progress_then_news)
    state = build.observe(outcome.watched_entries(STATE))
    thread.join()
    assert state is not None
    assert (state["phase"], state["done"]) == ("package", 9)
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 2}'])
def test_unreadable_state_is_empty(build: Build, content: str) -> None:
    (build.directory / "state.json").write_text(content)
    assert build.observe() == {}
    (build.directory / "state.json").unlink()
    assert build.observe() == {}


def test_link_as_state_is_not_followed(build: Build, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps(STATE))
    (build.directory / "state.json").unlink()
    (build.directory / "state.json").symlink_to(tmp_path / "elsewhere")
    assert build.observe() == {}
