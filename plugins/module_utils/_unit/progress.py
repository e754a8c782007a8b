"""The progress of a build, its remaining time, and the status line for users.

:class:`Ninja` parses a build's log, and :class:`Estimate` computes the rate. Neither opens a log or reads a clock.
"""

from __future__ import annotations

import collections
import re
import typing as t

# The status at the start of a line, in the format of Ninja's default (``[%f/%t] ``) and most projects' NINJA_STATUS.
# pip indents it, and terminal colour codes may precede it.
_STATUS = re.compile(rb"^(?:[ \t]|\x1b\[[0-9;?]*[ -/]*[@-~])*\[ *(\d{1,7})/(\d{1,7})\b[^\]\n]{0,40}\]", re.MULTILINE)
# A status is at the start of its line, so the start of an unfinished line is kept until the next chunk.
_TAIL = 256


class Ninja:
    """Count the steps of the current ninja run in a build's log; a resumed run counts only the remaining steps.

    :ivar done: finished steps.
    :ivar total: all steps; 0 before the first status line.
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
    """Estimate the remaining time from the steps so far.

    Steps differ in length, and similar steps come in blocks (small files first, CUDA kernels last). The rate is
    therefore that of the later half of the steps: it follows such a change and still averages over many steps.

    :ivar rate: steps per minute; None until there are enough samples.
    :ivar remaining: seconds; None until there are enough samples.
    """

    #: The minimum number of steps and seconds before an estimate.
    STEPS = 5
    SECONDS = 5.0

    def __init__(self, rate: float | None = None) -> None:
        """:param rate: the rate of an earlier attempt at the same build, used until there are enough samples."""
        self.rate = rate
        self.remaining: float | None = None
        #: The time of the first status, and its number of finished steps.
        self._first = (0.0, 0)
        #: (time, finished steps) for the later half of the steps.
        self._samples: collections.deque[tuple[float, int]] = collections.deque()

    def update(self, done: int, total: int, now: float) -> None:
        """Record that ``done`` of ``total`` steps are finished.

        :param now: seconds on a monotonic clock.
        """
        samples = self._samples
        if samples and done < samples[-1][1]:
            # A new run of ninja has started.
            samples.clear()
            self.rate = None
        if not samples:
            self._first = now, done
        if not samples or done > samples[-1][1]:
            samples.append((now, done))
        # The compiler cache finishes hundreds of steps at once, so keep at least one second of samples.
        while len(samples) > 1 and samples[1][1] <= (self._first[1] + done) / 2 and samples[1][0] <= now - 1.0:
            samples.popleft()
        began, steps = samples[0]
        if done - self._first[1] >= self.STEPS and now - self._first[0] >= self.SECONDS:
            # The rate falls until the next step finishes, so that a long last step does not seem almost done.
            self.rate = 60.0 * (done - steps) / (now - began)
        self.remaining = 60.0 * (total - done) / self.rate if self.rate and total else None


def describe(state: t.Mapping[str, t.Any]) -> str:
    """Return the status line for users: ``pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, …``.

    :param state: keys, any of which may be missing or None: ``name``, ``phase``; ``done`` and ``total`` (steps);
        ``elapsed`` and ``remaining`` (seconds); ``jobs``; ``available_mib`` (memory).
    """
    parts = [str(state["name"])] if state.get("name") else []
    work = " ".join(word for word in (str(state.get("phase") or ""), _count(state)) if word)
    times = []
    if state.get("elapsed") is not None:
        times.append(f"{_hours(state['elapsed'], seconds=True)} elapsed")
    if state.get("remaining") is not None:
        left = (
            f"about {_hours(state['remaining'], seconds=False)}" if state["remaining"] >= 60 else "less than a minute"
        )
        times.append(f"{left} left")
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
    # Show 100 % only for a finished build.
    percent = 100 if done >= total else min(99, round(100 * done / total))
    return f"{done}/{total} ({percent} %)"


def _hours(duration: float, seconds: bool) -> str:
    """Return ``1:02:11``, or ``1:02`` without the seconds, with minutes rounded up so as not to promise too much."""
    total = max(0, int(duration))
    if not seconds:
        minutes = -(-total // 60)
        return f"{minutes // 60}:{minutes % 60:02d}"
    return f"{total // 3600}:{total // 60 % 60:02d}:{total % 60:02d}"
