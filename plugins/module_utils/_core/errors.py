"""The one exception that the cores raise and that every plugin turns into a failure."""

from __future__ import annotations

import typing as t

from . import sanitize

#: The maximum number of characters in a cause or a remedy, which may quote downloads of any length.
LONGEST = 4000


class SparkforgeError(Exception):
    """A failure that a user can act on.

    :param cause: one sentence that states the problem and names the file, URL, package or value.
    :param remedy: one sentence that tells how to fix it.
    :param details: further keys of the module's result (``url``, ``expected``, ``stderr`` …).
    """

    def __init__(self, cause: str, remedy: str, **details: t.Any) -> None:
        super().__init__(_shorten(cause))
        self.cause = _shorten(cause)
        self.remedy = _shorten(remedy)
        self.details = details

    def __str__(self) -> str:
        return f"{self.cause} {self.remedy}"

    def as_result(self) -> dict[str, t.Any]:
        """Return the arguments for ``fail_json``: ``msg``, ``cause``, ``remedy`` and the details."""
        return {"msg": str(self), "cause": self.cause, "remedy": self.remedy, **self.details}


def _shorten(text: str) -> str:
    """Return the beginning and the end of a long text, which state the problem, with unsafe characters replaced."""
    text = sanitize.text(text)
    half = LONGEST // 2 - 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


class UnreachableError(SparkforgeError):
    """There was no response: the name is unknown, nothing listens, or nothing arrived in time."""
