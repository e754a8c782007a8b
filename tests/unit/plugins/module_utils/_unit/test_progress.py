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
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.progress import Estimate, Ninja, describe

PATH = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
NINJA = shutil.which("ninja", path=PATH)


def ninja_after(log: str) -> Ninja:
    ninja = Ninja()
    ninja.feed(log.encode())
    return ninja


# -- status lines


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("[1/6231] Building CXX object a.o", (1, 6231)),
        ("  [12/73] /usr/local/cuda/bin/nvcc -c a.cu", (12, 73)),
        ("      [ 7/73] x", (7, 73)),
        ("\x1b[1m\x1b[32m[3/9]\x1b[0m x", (3, 9)),
        ("\x1b[K\r[3/9] x", (3, 9)),
        ("[3/9 12.5s] NINJA_STATUS with the time", (3, 9)),
    ],
)
def test_status_line_is_recognized(line: str, count: tuple[int, int]) -> None:
    ninja = ninja_after(line)
    assert (ninja.done, ninja.total) == count


@pytest.mark.parametrize(
    "line", ["array[1/2] x", "see [3/4] below", "[5/3] x", "[0/0] x", "[1/2", "[42%] x", "[1.5/2] x", "[a/b] x", "[]"]
)
def test_other_line_is_not_a_status(line: str) -> None:
    assert ninja_after(line).total == 0


# -- several runs


def test_later_run_is_counted_separately() -> None:
    ninja = ninja_after("[4230/6231] a\n[0/1] Re-running CMake...\n[1/2003] b\n[2/2003] c\n")
    assert (ninja.done, ninja.total) == (2, 2003)
    bundled = ninja_after("[1/2000] a\n[1/30] b\n[30/30] c\n[2/2000] d\n")
    assert (bundled.done, bundled.total) == (2, 2000)


def test_status_line_split_between_pieces() -> None:
    ninja = ninja_after("[1/20] a\n[12")
    ninja.feed(b"/20] b")
    assert (ninja.done, ninja.total) == (12, 20)


@pytest.mark.skipif(NINJA is None, reason="ninja is not installed")
def test_real_build_that_fails_and_resumes(tmp_path: pathlib.Path) -> None:
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
    ninja.feed(second)
    assert (ninja.done, ninja.total) == (11, 11)


# -- remaining time


def end_times(seconds: list[float], jobs: int) -> list[float]:
    """Return the time at which each step ends when ``jobs`` steps run in parallel."""
    running: list[float] = []
    ends: list[float] = []
    for duration in seconds:
        start = 0.0
        if len(running) == jobs:
            start = heapq.heappop(running)
            ends.append(start)
        heapq.heappush(running, start + duration)
    return ends + sorted(running)


def around(count: int, middle: float, spread: float) -> list[float]:
    """Return log-normally distributed durations, always the same ones."""
    generator = random.Random(7)
    return [middle * generator.lognormvariate(0, spread) for _step in range(count)]


#: Kind of build -> the seconds taken by its steps, and the number of jobs.
BUILDS: dict[str, tuple[list[float], int]] = {
    "even": ([10.0] * 6000, 9),
    "spread": (around(6000, 10, 1.0), 9),
    "widely spread": (around(6000, 10, 1.5), 9),
    "mixed": (random.Random(7).sample([1.0] * 4000 + [60.0] * 1000, 5000), 9),
    "heavy after light": (around(2000, 2, 0.5) + around(4000, 20, 0.8), 9),
    "twice as heavy after half": ([5.0] * 3000 + [10.0] * 3000, 9),
    "drifting": ([5 + 15 * step / 4000 for step in range(4000)], 8),
    "in waves": (([3.0] * 200 + [12.0] * 200) * 10, 8),
    "few": (around(73, 60, 0.4), 4),
    "two jobs": (around(60, 3, 0.6), 2),
}


@pytest.mark.parametrize("kind", BUILDS)
def test_estimate_is_within_a_fifth_from_halfway(kind: str) -> None:
    ends = end_times(*BUILDS[kind])
    duration = ends[-1]
    estimate = Estimate()
    for now in (duration * step / 1000 for step in range(1, 1001)):
        estimate.update(bisect.bisect_right(ends, now), len(ends), now)
        if duration / 2 <= now < duration:
            assert estimate.remaining is not None
            assert now + estimate.remaining == pytest.approx(duration, rel=0.2)
    assert estimate.remaining == 0.0


def test_rate_of_earlier_attempt_is_used_at_first() -> None:
    estimate = Estimate(600.0)
    estimate.update(0, 1000, 0.0)
    assert estimate.remaining == pytest.approx(100.0)
    for second in range(1, 50):
        estimate.update(3 * second, 1000, float(second))
    assert estimate.rate == pytest.approx(180.0)


def test_new_run_resets_the_estimate() -> None:
    estimate = Estimate()
    for second in range(100):
        estimate.update(second, 1000, 5000.0 + second)
    assert estimate.rate == pytest.approx(60.0)
    estimate.update(1, 5000, 5101.0)
    assert (estimate.rate, estimate.remaining) == (None, None)


# -- the line


def test_progress_line() -> None:
    state = {"name": "pytorch", "phase": "build", "done": 4231, "total": 6231, "jobs": 9}
    state.update(elapsed=3731.4, remaining=1735.0, available_mib=41 * 1024 + 300)
    line = "pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, about 0:29 left | 9 jobs, 41 GiB free"
    assert describe(state) == line


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ({}, ""),
        ({"name": "llvm", "phase": "fetch", "elapsed": 5}, "llvm | fetch | 0:00:05 elapsed"),
        ({"name": "a", "phase": "build", "done": 0, "total": 0, "jobs": 1}, "a | build | 1 job"),
        ({"done": 6230, "total": 6231}, "6230/6231 (99 %)"),
        ({"done": 6231, "total": 6231}, "6231/6231 (100 %)"),
        ({"remaining": 59.0}, "less than a minute left"),
        ({"remaining": 7260.0}, "about 2:01 left"),
        ({"name": "a", "remaining": None, "available_mib": 0}, "a | 0 GiB free"),
        ({"elapsed": 90061}, "25:01:01 elapsed"),
    ],
)
def test_unknown_values_are_omitted(state: dict[str, t.Any], line: str) -> None:
    assert describe(state) == line
