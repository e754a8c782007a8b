# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs a command along with the processes that it leaves behind, and measures the cost of both.

A build is detached: it is not a child of the command that requested it, so that command's resource usage does not
include it. Here this process acts as init for the build, so that the kernel reports the usage of each of its
processes, including killed ones.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")
#: The seconds between checks of whether the command has exited, which limit the precision of its wall time.
_POLL = 0.02
#: Seconds between two calls of the observer.
_LOOK = 1.0


@dataclasses.dataclass(frozen=True)
class CommandResult:
    """A command's result. Times are in seconds; ``cpu`` includes the processes that the command waited for."""

    code: int
    wall: float
    #: The time until the last of the processes left behind had exited as well.
    whole: float
    cpu: float
    #: The CPU time of the processes left behind: for a build, the worker and all of its descendants.
    detached: float


@dataclasses.dataclass(frozen=True)
class Process:
    """A row of /proc. CPU times are in seconds; ``children`` is the time of exited children that were waited for."""

    pid: int
    own: float
    children: float

    @property
    def total(self) -> float:
        return self.own + self.children


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent exits (prctl(2)).

    :raises OSError: if the kernel does not support this.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    output: Path,
    look: Callable[[int], bool] | None = None,
) -> CommandResult:
    """Run a command, and wait for it and for all processes that it leaves behind; call ``adopt_orphans`` first.

    :param output: the file for the command's output.
    :param look: called every second with the command's process id; if it returns true, all processes are killed.
    """
    with output.open("wb") as stream:
        started = time.monotonic()
        child = subprocess.Popen(
            argv, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
        )
    looked = started
    cpu = detached = 0.0
    code, wall = 0, 0.0
    # The processes of a killed command are inherited one by one, like those that it left behind.
    part = {child.pid}
    try:
        for pid, status, used in _reaped():
            if pid in part:
                cpu += used
            else:
                detached += used
            if pid == child.pid:
                wall = time.monotonic() - started
                code = child.returncode = os.waitstatus_to_exitcode(status)
            elif not pid and look and time.monotonic() - looked >= _LOOK:
                looked = time.monotonic()
                if look(child.pid):
                    part |= {process.pid for process in below(child.pid)}
                    _signal_all()
    finally:
        kill_all()
    return CommandResult(code, wall, time.monotonic() - started, cpu, detached)


def kill_all() -> None:
    """Kill all descendants of this process, and the processes they leave behind, until none is left."""
    for pid, _status, _used in _reaped():
        if not pid:
            _signal_all()


def below(pid: int) -> Iterator[Process]:
    """Yield ``pid`` and all of its descendants that are alive, or have exited but have not been waited for."""
    process = look_at(pid)
    if process is None:
        return
    yield process
    for child in _children(pid):
        yield from below(child)


def look_at(pid: int) -> Process | None:
    """Return the CPU times of a process, or None if it does not exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    user, system, children_user, children_system = (int(field) / _TICKS for field in fields[11:15])
    return Process(pid, user + system, children_user + children_system)


def _reaped() -> Iterator[tuple[int, int, float]]:
    """Yield the process id, status and CPU seconds of each child that has exited; yield three zeros while none has."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        yield pid, status, usage.ru_utime + usage.ru_stime
        if not pid:
            time.sleep(_POLL)


def _signal_all() -> None:
    for process in list(below(os.getpid()))[1:]:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _children(pid: int) -> list[int]:
    """Return the children that any thread of ``pid`` started or inherited."""
    pids: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    for task in tasks:
        try:
            pids += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split())
        except OSError:
            continue
    return pids


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))
