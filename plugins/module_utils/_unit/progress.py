# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a build is, and how long it will take.

:class:`Ninja` reads a build's log, and :class:`Estimate` watches the steps go by. Neither knows where a log or a clock
is.
"""

from __future__ import annotations

import bisect
import re

# The status at the start of a line, as Ninja's default (``[%f/%t] ``) and most others' NINJA_STATUS print it, and
# as CMake's makefiles do (``[ 42%]``); pip indents it, and a terminal's colours may stand before it.
_STATUS = re.compile(
    rb"^(?:[ \t]|\x1b\[[0-9;?]*[ -/]*[@-~])*\[ *(?:(\d{1,7})/(\d{1,7})\b[^\]\n]{0,40}|(\d{1,3})%)\]", re.MULTILINE
)
# A status is at the start of its line: what of an unfinished line is kept until the next chunk.
_TAIL = 256

# Runs of ninja that ended before they were done are remembered, so that a later run that continues with one of
# them is recognised.
_UNFINISHED = 8


class Ninja:
    """Count the steps of a build from its log.

    A log holds several runs, one after another: of ninja on a bundled library, of ninja again after CMake has
    changed its mind, of ninja that continues where a killed one ended. Ninja counts what a run has to do, so that
    a run that continues begins at ``[1/2000]``: such a run is recognised by its total, which is what the run
    before had left, and is counted as the rest of it.

    :ivar done: finished steps, or per cent.
    :ivar total: all steps, or 100; 0 until a status was seen.
    :ivar unit: ``steps``, or ``percent`` where only make's percentages are known.
    """

    def __init__(self, done: int = 0, total: int = 0) -> None:
        """Begin with what an earlier log of the same build reached, so that a resumed build continues from there."""
        self.done = done
        self.total = total
        self.unit = "steps"
        self._unfinished: list[tuple[int, int]] = [(done, total)] if 0 < done < total else []
        self._tail = b""
        # The counter of this run of ninja, and the steps that were done before it.
        self._run: tuple[int, int] | None = None
        self._before = 0

    def feed(self, data: bytes) -> None:
        """Read the next piece of the log, of any size."""
        text = self._tail + data.replace(b"\r", b"\n")
        for match in _STATUS.finditer(text):
            done, total, percent = match.groups()
            if percent is None:
                self._step(int(done), int(total))
            else:
                self._percent(int(percent))
        # Reading a status twice, in the tail and with what follows, changes nothing.
        self._tail = text[text.rfind(b"\n") + 1 :][:_TAIL]

    def _step(self, done: int, total: int) -> None:
        if done > total or total == 0:
            return
        if self._run is None or self.unit == "percent" or self._is_new(done, total):
            self._begin(total)
        self.unit = "steps"
        self._run = (done, total)
        # The total of a run changes where ninja finds that an output did not change, or reads dyndeps.
        self.done, self.total = self._before + done, self._before + total

    def _is_new(self, done: int, total: int) -> bool:
        last, last_total = self._run or (0, 0)
        return done < last or (total != last_total and (done <= 1 or last == last_total))

    def _begin(self, total: int) -> None:
        if self._run is not None and self.unit == "steps" and self._run[0] < self._run[1]:
            self._unfinished = [*self._unfinished, (self.done, self.total)][-_UNFINISHED:]
        self._before = 0
        for place in range(len(self._unfinished) - 1, -1, -1):
            done, all_steps = self._unfinished[place]
            left = all_steps - done
            # Some steps whose end was not written down, or CMake's own, come in addition.
            if abs(total - left) <= max(4, left // 20) and total <= all_steps:
                self._before = all_steps - total
                del self._unfinished[place]
                break

    def _percent(self, percent: int) -> None:
        if percent > 100 or (self._run is not None and self.unit == "steps" and self._run[0] < self._run[1]):
            return  # a library that ninja builds by make counts nothing
        # With several jobs, make's percentages come a little out of order.
        if self.unit != "percent" or percent < self.done - 10:
            self.done = 0
        self.unit, self.total, self._run = "percent", 100, (percent, 100)
        self.done = max(self.done, percent)


class Estimate:
    """Tell from the steps seen so far how long the rest takes.

    Steps are not alike, and their kinds come in blocks (small files first, CUDA kernels last): the rate is that
    of the later half of the steps seen, which follows such a change and still averages over many steps.

    :ivar rate: steps per minute; None until enough were seen.
    :ivar remaining: seconds, None likewise.
    """

    #: Steps and seconds that must have been seen before anything is said.
    STEPS = 5
    SECONDS = 5.0
    #: Samples that are kept; where there are more, every second one goes.
    SAMPLES = 512

    def __init__(self, rate: float | None = None) -> None:
        """:param rate: what an earlier attempt at the same build reached; it holds until this one knows better."""
        self._earlier = rate
        self.rate = rate
        self.remaining: float | None = None
        self._times: list[float] = []
        self._done: list[int] = []
        self._now = 0.0

    def update(self, done: int, total: int, now: float) -> None:
        """Take in that ``done`` of ``total`` steps are finished.

        :param now: seconds of any clock that runs steadily; where it went back, or another run began, what was
            seen before is dropped.
        """
        if self._times and now < self._now:
            self._forget(self.rate)
        if self._done and done < self._done[-1]:
            self._forget(None)
        self._now = now
        if self._done and now == self._times[-1]:
            self._done[-1] = done
        elif not self._done or done > self._done[-1]:
            self._times.append(now)
            self._done.append(done)
            if len(self._times) > self.SAMPLES:
                # The first and the last one stay.
                self._times = self._times[:-1:2] + self._times[-1:]
                self._done = self._done[:-1:2] + self._done[-1:]
        self._reckon(done, total)

    def _forget(self, rate: float | None) -> None:
        self._earlier = rate
        self._times, self._done = [], []

    def _reckon(self, done: int, total: int) -> None:
        seen, seconds = done - self._done[0], self._now - self._times[0]
        if seen >= self.STEPS and seconds >= self.SECONDS:
            # The compiler cache answers hundreds of steps at once: less than a second is no measure.
            half = bisect.bisect_right(self._done, done - seen / 2) - 1
            start = max(0, min(half, bisect.bisect_right(self._times, self._now - 1.0) - 1))
            # Until the next step ends the rate falls, so that a last long step does not seem to be done at once.
            self.rate = 60.0 * (done - self._done[start]) / (self._now - self._times[start])
        else:
            self.rate = self._earlier
        if total and done >= total:
            self.remaining = 0.0
        elif self.rate and total:
            self.remaining = 60.0 * (total - done) / self.rate
        else:
            self.remaining = None
