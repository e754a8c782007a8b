"""The state of one build on disk, readable at any time: ``state.json``, and the worker's lock.

The worker writes the state as the build account. A reader may run as root, so it trusts none of the content.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import typing as t

#: The format of ``state.json`` and of receipts.
FORMAT = 1
#: The build account may have put a link here, which must not be followed, or a FIFO, on which opening would block.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: The maximum size in bytes of a state or a receipt; anything longer is invalid.
_LONGEST = 16 << 20
#: The keys of a state, by type; numbers must be finite and no larger than any realistic value.
_WORDS = frozenset({"name", "phase", "status", "failed_phase", "log", "host", "fingerprint", "started"})
_NUMBERS = frozenset({"attempts", "done", "total", "elapsed", "remaining", "jobs", "available_mib", "rate"})
_MOST = 1e15


def read(path: str) -> dict[str, t.Any] | None:
    """Return the state or receipt at ``path``, or None if it is missing or unreadable."""
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as stream:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            data = json.loads(stream.read(_LONGEST).decode("utf-8")) if is_file else None
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def state(directory: str) -> dict[str, t.Any]:
    """Return the valid entries of the state in ``directory``, which are none if it has no state."""
    return valid_entries(read(os.path.join(directory, "state.json")) or {})


def valid_entries(state: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return a state without entries that no worker would write, because the build account can write anything there."""

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
    """Tell whether a worker, no matter who started it, is building in ``directory`` and so holds the lock.

    If the account has replaced the lock with a link, a socket or an unreadable file, it does not count as held.
    """
    try:
        descriptor = os.open(os.path.join(directory, "lock"), _FLAGS)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        # Take a shared lock, so that two simultaneous readers do not mistake each other for a worker.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
