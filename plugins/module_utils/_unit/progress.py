# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How far a build is, how long it will take, and the line that a person reads of it.

:class:`Ninja` reads a build's log, and :class:`Estimate` watches the steps go by. Neither knows where a log or a clock
is.
"""

from __future__ import annotations

import collections
import re
import typing as t

# The status at the start of a line, as Ninja's default (``[%f/%t] ``) and most others' NINJA_STATUS print it; pip
# indents it, and a terminal's colours may stand before it.
_STATUS = re.compile(rb"^(?:[ \t]|\x1b\[[0-9;?]*[ -/]*[@-~])*\[ *(\d{1,7})/(\d{1,7})\b[^\]\n]{0,40}\]", re.MULTILINE)
# A status is at the start of its line: what of an unfinished line is kept until the next chunk.
_TAIL = 256


class Ninja:
    """Count the steps of the run of ninja that a build's log is at; a resumed one has only what was left to do.

    :ivar done: finished steps.
    :ivar total: all steps; 0 until a status was seen.
    """

    def __init__(self) -> None:
        self.done = self.total = 0
        self._tail = b""

    def feed(self, data: bytes) -> None:
        """Read the next piece of the log, of any size."""
        text = self._tail + data.replace(b"\r", b"\n")
        for match in _STATUS.finditer(text):
            done, total = map(int, match.groups())
            if done <= total and total:
                self.done, self.total = done, total
        self._tail = text[text.rfind(b"\n") + 1 :][:_TAIL]


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

    def __init__(self, rate: float | None = None) -> None:
        """:param rate: what an earlier attempt at the same build reached; it holds until this one knows better."""
        self.rate = rate
        self.remaining: float | None = None
        #: When the first status was seen, and what was done then.
        self._first = (0.0, 0)
        #: When so many steps were done: the later half of what was seen.
        self._samples: collections.deque[tuple[float, int]] = collections.deque()

    def update(self, done: int, total: int, now: float) -> None:
        """Take in that ``done`` of ``total`` steps are finished.

        :param now: seconds of any clock that runs steadily.
        """
        samples = self._samples
        if samples and done < samples[-1][1]:
            # Another run of ninja.
            samples.clear()
            self.rate = None
        if not samples:
            self._first = now, done
        if not samples or done > samples[-1][1]:
            samples.append((now, done))
        # The compiler cache answers hundreds of steps at once: less than a second is no measure.
        while len(samples) > 1 and samples[1][1] <= (self._first[1] + done) / 2 and samples[1][0] <= now - 1.0:
            samples.popleft()
        began, steps = samples[0]
        if done - self._first[1] >= self.STEPS and now - self._first[0] >= self.SECONDS:
            # Until the next step ends the rate falls, so that a last long step does not seem to be done at once.
            self.rate = 60.0 * (done - steps) / (now - began)
        self.remaining = 60.0 * (total - done) / self.rate if self.rate and total else None


def describe(state: t.Mapping[str, t.Any]) -> str:
    """Return the line that a person reads: ``pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, …``.

    :param state: keys, of which any may be missing or None: ``name``, ``phase``; ``done`` and ``total`` (steps);
        ``elapsed`` and ``remaining`` (seconds); ``jobs``; ``available_mib`` (memory).
    """
    parts = [str(state["name"])] if state.get("name") else []
    work = " ".join(word for word in (str(state.get("phase") or ""), _count(state)) if word)
    times = []
    if state.get("elapsed") is not None:
        times.append(f"{_hours(state['elapsed'], seconds=True)} elapsed")
    if state.get("remaining") is not None:
        times.append(_left(state["remaining"]))
    resources = []
    if state.get("jobs"):
        resources.append(f"{state['jobs']} job{'' if state['jobs'] == 1 else 's'}")
    if state.get("available_mib") is not None:
        resources.append(f"{state['available_mib'] / 1024:.0f} GiB free")
    return " | ".join(part for part in (*parts, work, ", ".join(times), ", ".join(resources)) if part)


def _count(state: t.Mapping[str, t.Any]) -> str:
    done, total = state.get("done"), state.get("total")
    if done is None or not total:
        return ""
    # 100 % means finished, and nothing else does.
    percent = 100 if done >= total else min(99, round(100 * done / total))
    return f"{done}/{total} ({percent} %)"


def _left(seconds: float) -> str:
    return "less than a minute left" if seconds < 60 else f"about {_hours(seconds, seconds=False)} left"


def _hours(duration: float, seconds: bool) -> str:
    """Return ``1:02:11``, or ``1:02`` without the seconds (minutes rounded up: a promise is better kept)."""
    total = max(0, int(duration))
    if not seconds:
        minutes = -(-total // 60)
        return f"{minutes // 60}:{minutes % 60:02d}"
    return f"{total // 3600}:{total // 60 % 60:02d}:{total % 60:02d}"
