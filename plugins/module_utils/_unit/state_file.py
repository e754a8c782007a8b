# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of one build on the disk, for readers at any time: ``state.json``, and the lock of its worker.

The worker writes the state as the account that builds. A reader may be root and trusts nothing in it.
"""

# Runs in the detached worker too, where there is no module to log.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
import typing as t

from .._core.errors import SparkforgeError

#: The format of ``state.json`` and of receipts.
FORMAT = 1
#: The account that builds may put a link there, which is not followed, or a pipe, at which opening would wait.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Bytes of a state or a receipt; what is longer is none.
_LONGEST = 16 << 20
#: The keys of a state, by the types that the worker writes; numbers are finite and no larger than any real one.
_WORDS = frozenset({"name", "phase", "status", "failed_phase", "log", "host", "fingerprint", "started"})
_NUMBERS = frozenset({"attempts", "done", "total", "elapsed", "remaining", "jobs", "available_mib", "rate"})
_MOST = 1e15
#: Seconds that one look at a running build waits for news.
LONG_POLL = 30.0
#: Seconds between two glances at the state meanwhile, as long as the end of a build may go unnoticed.
_GLANCE = 0.2


def read(path: str) -> dict[str, t.Any] | None:
    """Return the state or receipt that is at ``path``, or None if there is none that can be read."""
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as stream:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            data = json.loads(stream.read(_LONGEST).decode("utf-8")) if is_file else None
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def state(directory: str) -> dict[str, t.Any]:
    """Return what the state in ``directory`` soundly says, empty where there is none."""
    return sound(read(os.path.join(directory, "state.json")) or {})


def sound(state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return a state without what no worker writes: its author is the account that builds, which may write anything."""

    def fits(key: str, value: t.Any) -> bool:
        if key in _WORDS:
            return isinstance(value, str)
        if key in _NUMBERS:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and -_MOST < value < _MOST
        if key == "notes":
            return isinstance(value, list) and all(isinstance(note, str) for note in value)
        if key == "error":
            return isinstance(value, dict) and all(isinstance(value.get(part), str) for part in ("cause", "remedy"))
        return True

    return {key: value for key, value in state.items() if fits(key, value)}


def is_running(directory: str) -> bool:
    """Tell whether a worker is at the build in ``directory``, whoever started it: it holds the lock there.

    What the account may have put in the lock's place, a link, a socket or a file that cannot be read, nobody holds.
    """
    try:
        descriptor = os.open(os.path.join(directory, "lock"), _FLAGS)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        # A shared lock: two that look at once do not see each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def news(state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return what ends a long poll when it changes."""
    return {key: state.get(key) for key in ("phase", "status", "attempts")}


def observe(directory: str, seen: t.Mapping[str, t.Any] | None) -> dict[str, t.Any] | None:
    """Return the state of the build in ``directory`` once its ``news`` are other than ``seen``, or after half a minute.

    :param seen: None to look once.
    :return: None where it is over, however it ended.
    """
    deadline = time.monotonic() + (LONG_POLL if seen is not None else 0)
    while is_running(directory):
        latest = state(directory)
        if news(latest) != (seen or {}) or time.monotonic() > deadline:
            return latest
        time.sleep(_GLANCE)
    return None


class State:
    """The state of one build.

    :param path: of the file; what it says already continues.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: dict[str, t.Any] = read(path) or {
            "format": FORMAT,
            "phases": {},
            "attempts": 0,
            "notes": [],
        }

    def update(self, **values: t.Any) -> None:
        """Take ``values`` over and write the file."""
        self.data.update(values)
        self.data["updated"] = time.time()
        temporary = f"{self.path}.{os.getpid()}"
        with open(temporary, "w", encoding="ascii") as stream:
            # Not json.dump, which does not use the encoder that is written in C.
            stream.write(json.dumps(self.data, sort_keys=True))
        # No fsync: after a power loss an older state is as good, and this is written every few seconds.
        os.replace(temporary, self.path)

    def note(self, text: str) -> None:
        """Keep a sentence for the result, once."""
        if text not in self.data["notes"]:
            self.update(notes=[*self.data["notes"], text])

    def is_done(self, phase: str) -> bool:
        return bool(self.data["phases"].get(phase, {}).get("done"))

    def undo(self, *phases: str) -> None:
        """Mark phases as not done."""
        self.update(phases={name: value for name, value in self.data["phases"].items() if name not in phases})

    def fail(self, error: SparkforgeError) -> None:
        """Put the failure into the state and the log; a full disk must not keep it from being told."""
        with contextlib.suppress(OSError):
            print(f"== failed in {self.data.get('phase')}: {error}", flush=True)
        values = {"status": "failed", "failed_phase": self.data.get("phase"), "error": error.as_result()}
        try:
            self.update(**values)
        except OSError:
            # In place and no longer than before, which takes no block that a full disk does not have.
            self.data.update(values)
            text = json.dumps({**self.data, "notes": [], "applied": []}, sort_keys=True)
            with contextlib.suppress(OSError), open(self.path, "r+", encoding="ascii") as stream:
                stream.write(text)
                stream.truncate()


def now() -> str:
    """Return the time as state and receipt have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
