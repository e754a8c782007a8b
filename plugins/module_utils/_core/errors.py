# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one exception that the cores raise and that every plugin maps to a failure."""

from __future__ import annotations

import typing as t

from . import shown

#: Characters of a cause or a remedy: what was fetched is quoted in them, and may have any length.
LONGEST = 4000


class SparkforgeError(Exception):
    """A failure that a person can act on.

    :param cause: one sentence that says what is wrong, naming the file, URL, package or value.
    :param remedy: one sentence that says what to do about it.
    :param details: further keys of the module's result (``url``, ``expected``, ``stderr`` …).
    """

    def __init__(self, cause: str, remedy: str, **details: t.Any) -> None:
        super().__init__(_shortened(cause))
        self.cause = _shortened(cause)
        self.remedy = _shortened(remedy)
        self.details = details

    def __str__(self) -> str:
        return f"{self.cause} {self.remedy}"

    def as_result(self) -> dict[str, t.Any]:
        """Return the keys that ``fail_json`` gets: ``msg``, ``cause``, ``remedy`` and the details."""
        return {"msg": str(self), "cause": self.cause, "remedy": self.remedy, **self.details}


def _shortened(text: str) -> str:
    """Return what can be shown of the beginning and the end of a long text: what is wrong is said there."""
    text = shown.text(text)
    half = LONGEST // 2 - 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


class UnreachableError(SparkforgeError):
    """Nobody answered: the name is unknown, nothing listens, or nothing came in time."""
