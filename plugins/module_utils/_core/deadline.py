"""Time limits for reading files and calling servers that others control."""

from __future__ import annotations

import queue
import threading
import time
import typing as t

from .errors import SparkforgeError


class TooSlowError(SparkforgeError):
    """A deadline has passed."""


class Deadline:
    """A time limit that starts now.

    :param subject: the path or other name with which the error message begins.
    """

    def __init__(self, seconds: float, subject: str) -> None:
        self.seconds = seconds
        self.subject = subject
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise an error if the deadline has passed; this is cheap enough to do for each file and each name."""
        if time.monotonic() > self._end:
            raise TooSlowError(
                f"{self.subject} could not be read within {self.seconds:g} s.",
                "Name a part of it, one environment or one wheel; if it is small, it may have been made to be slow.",
            )


Answer = t.TypeVar("Answer")


def within(seconds: float, ask: t.Callable[[], Answer]) -> Answer:
    """Return the result of ``ask`` or raise its exception, within a time limit.

    A socket's own timeout restarts with each byte, so a server that sends its status line, its headers or the end of
    its body very slowly can hold its client indefinitely. Therefore ``ask`` runs in a separate thread, which is
    abandoned when the time is up; it does not keep the process from exiting.

    :raises TimeoutError: if ``ask`` took longer.
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


#: The deadline for work that is limited in another way.
NEVER = Deadline(float("inf"), "")
