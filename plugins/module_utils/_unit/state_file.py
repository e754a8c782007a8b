# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a running build goes, in one long poll.

It is asked twice a minute for hours. So the action plugin sends this text as it is to the host's Python, where it
stands alone, instead of a module with all that a module provides: it runs with the standard library and nothing else.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import stat
import sys
import time
import typing as t

#: The format of ``state.json`` and of receipts.
FORMAT = 1
#: The account that builds may put a link there, which is not followed, or a pipe, at which opening would wait.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Bytes of a state or a receipt; what is longer is none.
_LONGEST = 16 << 20
#: The keys of a state, by the types that the worker writes; numbers are finite and no larger than any real one.
_WORDS = frozenset({"name", "phase", "status", "unit", "failed_phase", "log", "tree", "host", "fingerprint", "started"})
_NUMBERS = frozenset({"attempts", "done", "total", "elapsed", "remaining", "jobs", "available_mib", "rate"})
_MOST = 1e15
#: Seconds that one look at a running build waits for news.
LONG_POLL = 30.0
#: The prefix of the line that this program prints: no other output of the host is the answer.
MARK = "sparkforge-build: "
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


def sound(found: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
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

    return {key: value for key, value in found.items() if fits(key, value)}


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


def news(found: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return what ends a long poll when it changes."""
    return {key: found.get(key) for key in ("phase", "status", "attempts")}


def observe(directory: str, seen: t.Mapping[str, t.Any] | None) -> dict[str, t.Any] | None:
    """Return the state of the build in ``directory`` once its ``news`` are other than ``seen``, or after half a minute.

    :param seen: None to look once.
    :return: None where it is over, however it ended.
    """
    path = os.path.join(directory, "state.json")
    deadline = time.monotonic() + (LONG_POLL if seen is not None else 0)
    latest: dict[str, t.Any] = {}
    known = None
    while is_running(directory):
        version = _version(path)
        if version != known:
            known, latest = version, state(directory)
        if news(latest) != (seen or {}) or time.monotonic() > deadline:
            return latest
        time.sleep(_GLANCE)
    return None


def _version(path: str) -> tuple[int, int, int] | None:
    """Return what is another one whenever the file was written."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def main(directory: str, user: str, seen: str) -> None:
    """Print the state after an ``observe`` as ``user``; null where the build is over.

    :param user: whose rights root continues with; nobody else can change theirs.
    :param seen: the ``news`` that are known, as JSON.
    """
    if os.geteuid() == 0:
        entry = pwd.getpwnam(user)
        # For good, and first: no link that a build planted is followed with root's rights.
        os.initgroups(user, entry.pw_gid)
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    sys.stdout.write(f"{MARK}{json.dumps(observe(directory, json.loads(seen)))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
