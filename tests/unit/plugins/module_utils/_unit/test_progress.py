# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import bisect
import heapq
import os
import pathlib
import random
import shutil
import subprocess
import sys
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.progress import Estimate, Ninja

PATH = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
NINJA = shutil.which("ninja", path=PATH)


def counted(log: str, **earlier: int) -> Ninja:
    ninja = Ninja(**earlier)
    ninja.feed(log.encode())
    return ninja


# -- what is a status


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("[1/6231] Building CXX object a.o", (1, 6231)),
        ("  [12/73] /usr/local/cuda/bin/nvcc -c a.cu", (12, 73)),
        ("      [ 7/73] x", (7, 73)),
        ("\x1b[1m\x1b[32m[3/9]\x1b[0m x", (3, 9)),
        ("\x1b[K\r[3/9] x", (3, 9)),
        ("[3/9 12.5s] NINJA_STATUS with the time", (3, 9)),
        ("[ 42%] Building CXX object a.o", (42, 100)),
        ("[100%] Built target demo", (100, 100)),
    ],
)
def test_a_status_is_recognised(line: str, count: tuple[int, int]) -> None:
    ninja = counted(line)
    assert (ninja.done, ninja.total) == count
    assert ninja.unit == ("percent" if "%]" in line else "steps")


@pytest.mark.parametrize(
    "line", ["array[1/2] x", "see [3/4] below", "[5/3] x", "[0/0] x", "[1/2", "[101%] x", "[1.5/2] x", "[a/b] x", "[]"]
)
def test_what_is_no_status_counts_nothing(line: str) -> None:
    assert counted(line).total == 0


# -- several runs


def test_a_run_that_goes_on_after_a_kill_counts_from_where_the_first_one_was() -> None:
    first = "".join(f"[{n}/6231] a\n" for n in range(1, 4232))
    ninja = counted(first + "[0/1] Re-running CMake...\n[1/2003] b\n[2/2003] c\n")
    assert (ninja.done, ninja.total) == (4230, 6231)
    ninja.feed(b"[2003/2003] d\n")
    assert (ninja.done, ninja.total) == (6231, 6231)


def test_a_resumed_build_goes_on_from_what_an_earlier_log_reached() -> None:
    ninja = counted("[1/2000] a\n", done=4231, total=6231)
    assert (ninja.done, ninja.total) == (4232, 6231)
    bundled = counted("[1/30] a\n[30/30] b\n[1/2000] c\n", done=4231, total=6231)
    assert (bundled.done, bundled.total) == (4232, 6231)
    changed_source = counted("[1/5900] a\n", done=4231, total=6231)
    assert (changed_source.done, changed_source.total) == (1, 5900)


def test_make_s_percentages_count_where_ninja_s_steps_do_not() -> None:
    ninja = counted("[  1%] a\n[ 42%] b\n[ 41%] c\n")
    assert (ninja.done, ninja.total, ninja.unit) == (42, 100, "percent")
    assert counted("[1/9] a\n  [ 42%] of a bundled library\n").total == 9
    assert counted("[ 42%] a\n[1/9] b\n").unit == "steps"
    assert counted("[1/9] a\n[9/9] b\n[  3%] c\n").done == 3


@pytest.mark.skipif(NINJA is None, reason="ninja is not installed")
def test_a_real_build_that_fails_in_the_middle_and_goes_on(tmp_path: pathlib.Path) -> None:
    steps = [f"build {n}.out: step {n - 1}.out\n" for n in range(1, 31)]
    rule = "rule step\n  command = { test $out != 20.out || test -e go; } && touch $out\n"
    (tmp_path / "build.ninja").write_text(rule + "".join(steps))
    (tmp_path / "0.out").touch()

    def run() -> bytes:
        return subprocess.run([str(NINJA)], cwd=tmp_path, capture_output=True, check=False).stdout

    ninja = Ninja()
    ninja.feed(run())
    reached = (ninja.done, ninja.total)
    assert 19 <= reached[0] <= 20
    assert reached[1] == 30
    (tmp_path / "go").touch()
    second = run()
    assert b"/11]" in second
    assert b"/30]" not in second
    for counter in (ninja, Ninja(*reached)):
        counter.feed(second)
        assert (counter.done, counter.total) == (30, 30)


# -- how long it takes


def finished(seconds: list[float], jobs: int) -> list[float]:
    """Return when each step ends, with ``jobs`` at a time."""
    running: list[float] = []
    ends: list[float] = []
    for duration in seconds:
        start = 0.0
        if len(running) == jobs:
            start = heapq.heappop(running)
            ends.append(start)
        heapq.heappush(running, start + duration)
    return ends + sorted(running)


def uneven(kind: str) -> tuple[list[float], int]:
    """Return the seconds of each step and the number of jobs; the same ones each time."""
    draw = random.Random(7)

    def around(count: int, middle: float, spread: float) -> list[float]:
        return [middle * draw.lognormvariate(0, spread) for _step in range(count)]

    if kind == "mixed":
        return draw.sample([1.0] * 4000 + [60.0] * 1000, 5000), 9
    return {
        "even": ([10.0] * 6000, 9),
        "spread": (around(6000, 10, 1.0), 9),
        "widely spread": (around(6000, 10, 1.5), 9),
        "heavy after light": (around(2000, 2, 0.5) + around(4000, 20, 0.8), 9),
        "twice as heavy after half": ([5.0] * 3000 + [10.0] * 3000, 9),
        "drifting": ([5 + 15 * step / 4000 for step in range(4000)], 8),
        "in waves": (([3.0] * 200 + [12.0] * 200) * 10, 8),
        "few": (around(73, 60, 0.4), 4),
        "two jobs": (around(60, 3, 0.6), 2),
    }[kind]


KINDS = (
    "even",
    "spread",
    "widely spread",
    "mixed",
    "heavy after light",
    "twice as heavy after half",
    "drifting",
    "in waves",
    "few",
    "two jobs",
)


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_within_a_fifth_from_the_halfway_point(kind: str) -> None:
    seconds, jobs = uneven(kind)
    ends = finished(seconds, jobs)
    duration = ends[-1]
    estimate = Estimate()
    for now in (duration * step / 1000 for step in range(1, 1001)):
        estimate.update(bisect.bisect_right(ends, now), len(ends), now)
        if duration / 2 <= now < duration:
            assert estimate.remaining is not None
            assert now + estimate.remaining == pytest.approx(duration, rel=0.2)
    assert estimate.remaining == 0.0


def test_a_clock_that_goes_back_and_a_new_run_begin_anew() -> None:
    estimate = Estimate()
    for second in range(100):
        estimate.update(second, 1000, 5000.0 + second)
    rate = t.cast(float, estimate.rate)
    estimate.update(100, 1000, 10.0)
    assert estimate.rate == rate
    for second in range(1, 50):
        estimate.update(100 + 3 * second, 1000, 10.0 + second)
    assert estimate.rate == pytest.approx(180.0)
    estimate.update(1, 5000, 70.0)
    assert (estimate.rate, estimate.remaining) == (None, None)
