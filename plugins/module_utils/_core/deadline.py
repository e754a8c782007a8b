# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Bounds of time for work whose amount others choose: what they made is read, or they are asked."""

from __future__ import annotations

import queue
import threading
import time
import typing as t

from .errors import SparkforgeError


class TooSlowError(SparkforgeError):
    """A deadline is over."""


class Deadline:
    """So many seconds from now on.

    :param what: is read, as the message calls it.
    """

    def __init__(self, seconds: float, what: str) -> None:
        self.seconds = seconds
        self.what = what
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise once it is over; cheap enough to be called for each file and each name.

        :raises TooSlowError: naming what took so long.
        """
        if time.monotonic() > self._end:
            raise TooSlowError(
                f"{self.what} could not be read within {self.seconds:g} s.",
                "Name a part of it, one environment or one wheel; if it is small, it was made to be slow.",
            )


Answer = t.TypeVar("Answer")


def within(seconds: float, ask: t.Callable[[], Answer]) -> Answer:
    """Return what ``ask`` returns, or raise what it raises.

    A socket's own time-out starts again with each byte, so that a server which drips its status line, its headers or
    the end of its body keeps its client for as long as it likes. Therefore ``ask`` runs in a thread of its own, which
    is left behind when the time is over; it does not keep the process from exiting.

    :raises TimeoutError: ``ask`` took longer.
    """
    answers: queue.SimpleQueue[tuple[t.Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((ask(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(seconds, 0))
    except queue.Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return t.cast(Answer, answer)


#: For what is bounded in another way.
NEVER = Deadline(float("inf"), "")
