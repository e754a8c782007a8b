# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the worker waits for its children and keeps the state. Whole builds: modules/test_source_build.py."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils import _follow, _worker


def sleeper(seconds: float, code: int = 0) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", f"sleep {seconds}; exit {code}"])


@pytest.fixture(params=["pidfd", "no such call", "not in this Python"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what the kernel and Python have."""

    def refuses(_pid: int) -> int:
        raise OSError(38, "Function not implemented")

    if request.param == "no such call":
        monkeypatch.setattr(os, "pidfd_open", refuses)
    elif request.param == "not in this Python":
        monkeypatch.delattr(os, "pidfd_open")
    return str(request.param)


def test_the_end_of_a_child_is_seen_when_it_comes(kernel: str) -> None:
    child = sleeper(0.3, 7)
    began = time.monotonic()
    assert _worker._wait(child, 600) == 7
    assert time.monotonic() - began < 300


def test_a_child_that_goes_on_is_not_waited_for_any_longer(kernel: str) -> None:
    child = sleeper(600)
    try:
        assert _worker._wait(child, 0.1) is None
    finally:
        child.kill()
    assert _worker._wait(child, 600) == -9


def test_a_child_that_has_ended_long_ago_is_seen_too(kernel: str) -> None:
    child = sleeper(0)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert _worker._wait(child, 600) == 0


def test_no_descriptor_is_left() -> None:
    before = len(os.listdir("/proc/self/fd"))
    child = sleeper(0.2)
    while _worker._wait(child, 0.02) is None:
        pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_waiting_takes_next_to_no_cpu_time() -> None:
    child = sleeper(600)
    before = time.process_time()
    _worker._wait(child, 2)
    used = time.process_time() - before
    child.kill()
    child.wait()
    assert used < 0.01


def test_a_state_is_on_the_disk_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = _worker.State(str(path))
    state.update(phase="build")
    state.note("once")
    state.note("once")
    assert _follow.read(str(path)) == state.data
    assert (state.data["phase"], state.data["notes"]) == ("build", ["once"])
    assert [found.name for found in tmp_path.iterdir()] == ["state.json"]
    assert _worker.State(str(path)).data == state.data
