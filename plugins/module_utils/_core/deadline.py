# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When work on what others made has to be done: its amount is theirs to choose."""

from __future__ import annotations

import time

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


#: For what is bounded in another way.
NEVER = Deadline(float("inf"), "")
