"""Fixtures that the tests of several packages need."""

import os
import typing as t
from collections.abc import Iterator

import pytest


@pytest.fixture
def umask() -> Iterator[t.Callable[[int], int]]:
    """os.umask; the umask is restored after the test."""
    before = os.umask(0o022)
    os.umask(before)
    yield os.umask
    os.umask(before)


@pytest.fixture
def synced_before(monkeypatch: pytest.MonkeyPatch) -> t.Callable[[t.Any, str], list[set[int]]]:
    """A function that records, for each call of another function, the inodes that were synced before the call."""

    def watch(module: t.Any, name: str) -> list[set[int]]:
        synced: set[int] = set()
        calls: list[set[int]] = []
        fsync, function = os.fsync, getattr(module, name)

        def recording_fsync(descriptor: int) -> None:
            synced.add(os.fstat(descriptor).st_ino)
            fsync(descriptor)

        def recording_call(*arguments: t.Any) -> t.Any:
            calls.append(set(synced))
            return function(*arguments)

        monkeypatch.setattr(os, "fsync", recording_fsync)
        monkeypatch.setattr(module, name, recording_call)
        return calls

    return watch
