"""Messages that the `guard` role leaves for others: its last act, a boot after a power-off, and the stopped units."""

from __future__ import annotations

import contextlib
import os
import time
import typing as t

from .._core import disk

DIRECTORY = "/var/lib/sparkforge-guard"
#: The last act that stopped something, a power-off without a shutdown, and the units kept stopped since then.
ACT, DOWN, BRAKED = "login", "down", "braked"
#: Seconds for which the first two are shown, as at login.
WEEK = 7 * 86400


def messages(names: t.Iterable[str] = (ACT, DOWN, BRAKED)) -> list[str]:
    """Return the lines of some of these messages."""
    lines = []
    for name in names:
        with contextlib.suppress(OSError), disk.open_regular(os.path.join(DIRECTORY, name)) as stream:
            if name == BRAKED or time.time() - os.fstat(stream.fileno()).st_mtime < WEEK:
                lines += stream.read(4096).decode("utf-8", "replace").splitlines()
    return lines
