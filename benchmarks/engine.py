# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cost of the engine versus a plain build: `python -m benchmarks.engine [--runs N] [--parts PART] [--json FILE]`.

A tree structured like PyTorch is built by hand and with source_build, with enough code to take some minutes. Then
follow a rerun, a build with a flag that affects one file and a warm ccache, and a build killed halfway and resumed.

The exit status is nonzero only if a run failed or if the same inputs led to a change. A figure that misses its goal is
printed as such but is not a failure, because it depends on the machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pwd
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import typing as t
from collections.abc import Callable
from pathlib import Path

from benchmarks import process
from benchmarks.noop import BenchmarkError, ansible_core, changed_tasks
from tests import upstream

CHECKOUT = Path(__file__).resolve().parent.parent
#: The maximum additional wall time compared with building by hand.
OVERHEAD_GOAL = 0.03
#: The maximum number of remote module calls, and of compilations, if nothing has changed.
CALLS_BOUND, TOOLS_BOUND = 1, 0
#: The maximum share of a cold build's time for a build with a flag that affects one file and a warm ccache.
WARM_GOAL = 0.15
#: The maximum CPU work relative to an uninterrupted build.
WORK_GOAL = 1.05
#: The maximum share of a core used while a build is followed.
HOST_GOAL, CONTROLLER_GOAL = 0.02, 0.02

#: The interpreter for the modules and the unit; it needs its headers (python3-dev).
PYTHON = "/usr/bin/python3"
TAG = "v2.9.1"
REQUIREMENTS = ["setuptools==79.0.1", "packaging==26.3", "pyyaml==6.0.3", "typing-extensions==4.16.0"]
#: FIXTURE_WEIGHT per job, so that a build takes about as long with two jobs as with four.
WEIGHT_PER_JOB = 12
OPTIONS = {
    "BUILD_TEST": "0",
    "USE_CUDA": "0",
    "USE_CUDSS": "0",
    "USE_CUSPARSELT": "0",
    "PYTORCH_BUILD_VERSION": "2.9.1",
    "PYTORCH_BUILD_NUMBER": "1",
}
#: A flag that affects one file of the tree; it is on by default.
FLAG = {"USE_FLASH_ATTENTION": "0"}
#: The number of pings, and of runs with the same inputs, in each round.
_SHORT_RUNS = 3
_PATH = "/usr/local/bin:/usr/bin:/bin"

#: The commands that a user would run instead of source_build.
BY_HAND = """set -euo pipefail
mark() { echo "$1 $EPOCHREALTIME" >> marks; }
mark fetch
git -c protocol.file.allow=always -c "url.$MIRROR.insteadOf=$ELSEWHERE" clone --quiet --depth 1 --branch "$TAG" \
  --recurse-submodules --shallow-submodules "$REPOSITORY" source
git -C source apply "$PATCH"
mark prepare
"$PYTHON" -m venv environment
environment/bin/pip install --no-index --find-links "$WHEELS" --no-deps -r "$REQUIREMENTS"
mark build
export PATH="$PWD/environment/bin:$PATH"
pip wheel --no-build-isolation --no-deps --wheel-dir out ./source
mark end
"""
# Replaces each compiler and build tool, on both sides, and records its calls.
_TOOL = """#!/bin/sh
case " $* " in *" -c "*) echo compile;; *) echo other;; esac >> {record}
exec {real} "$@"
"""
# The interpreter for Ansible's modules. It uses bash, whose `times` has a resolution of milliseconds.
_INTERPRETER = """#!/bin/bash
export LC_ALL=C
{python} "$@"
code=$?
{{ echo "call $$"; times; }} >> {record}
exit $code
"""
_TIMES = re.compile(r"(\d+)m([\d.]+)s (\d+)m([\d.]+)s")


@dataclasses.dataclass(frozen=True)
class Following:
    """CPU time while the compilers run, as a share of one core."""

    seconds: float
    controller: float
    #: Ansible's module calls.
    modules: float
    worker: float

    @property
    def host(self) -> float:
        return self.modules + self.worker


@dataclasses.dataclass(frozen=True)
class Cold:
    """A cold build each way. Wall times and CPU work are in seconds, or ``None`` if not measurable on this machine."""

    hand: float
    ours: float
    hand_phases: dict[str, float]
    our_phases: dict[str, float]
    hand_work: float
    our_work: float
    #: The CPU time of ansible-playbook and of the module calls during that build.
    asking: float
    compilations: int
    followed: Following | None


@dataclasses.dataclass(frozen=True)
class Later:
    """The figures after a cold build, in the same units."""

    unfollowed: Following | None
    ping: tuple[float, ...]
    again: tuple[float, ...]
    again_changed: int
    again_calls: int
    again_tools: int
    #: The cold build that fills ccache, the build after it, and the number of compilers that the second one started.
    filled: float | None
    warm: float | None
    warm_compilations: int | None
    resumed_at: float
    resumed_work: float
    resumed_compilations: int


@dataclasses.dataclass(frozen=True)
class Result:
    """All rounds, with the machine and the build settings."""

    colds: tuple[Cold, ...]
    #: It is empty if only cold builds were requested.
    laters: tuple[Later, ...]
    ansible_core: str
    jobs: int
    weight: int
    #: The load average over one minute before the first build.
    load: float

    def cold(self, value: Callable[[Cold], float]) -> float:
        """Return the median of a figure over the cold builds."""
        return statistics.median(map(value, self.colds))

    def later(self, value: Callable[[Later], float | tuple[float, ...] | None]) -> float | None:
        """Return the median of a figure's samples over all rounds that have it."""
        samples: list[float] = []
        for figure in map(value, self.laters):
            samples += figure if isinstance(figure, tuple) else [] if figure is None else [figure]
        return statistics.median(samples) if samples else None

    @property
    def overhead(self) -> float:
        return self.cold(lambda build: build.ours) / self.cold(lambda build: build.hand) - 1

    @property
    def ping_ratio(self) -> float | None:
        return _ratio(self.later(lambda run: run.again), self.later(lambda run: run.ping))

    @property
    def warm_ratio(self) -> float | None:
        """Return a warm build's time relative to a cold one without ccache, which is faster than one that fills it."""
        return _ratio(self.later(lambda figures: figures.warm), self.cold(lambda figures: figures.ours))

    @property
    def work_ratio(self) -> float | None:
        return _ratio(self.later(lambda figures: figures.resumed_work), self.cold(lambda figures: figures.our_work))

    def phases(self, *names: str) -> float:
        """Return the total seconds of the engine's phases with these names."""
        return self.cold(lambda build: sum(build.our_phases[name] for name in names))

    def step_by_hand(self, name: str) -> float:
        """Return the seconds taken by one step of the script."""
        return self.cold(lambda build: build.hand_phases[name])

    def followed(self, value: Callable[[Following], float]) -> float | None:
        """Return the median share of a core used while a build was followed, or None if the build was too short."""
        samples = [value(build.followed) for build in self.colds if build.followed]
        return statistics.median(samples) if samples else None

    def unfollowed(self, value: Callable[[Following], float]) -> float | None:
        """Return the same for a build that was not followed."""
        return self.later(lambda run: value(run.unfollowed) if run.unfollowed else None)

    def goals(self) -> dict[str, tuple[float | None, float]]:
        """Return each figure that has a goal, with that goal, which is an upper limit."""
        return {
            "overhead": (self.overhead, OVERHEAD_GOAL),
            "again_calls": (max((run.again_calls for run in self.laters), default=None), CALLS_BOUND),
            "again_tools": (max((run.again_tools for run in self.laters), default=None), TOOLS_BOUND),
            "warm_ratio": (self.warm_ratio, WARM_GOAL),
            "work_ratio": (self.work_ratio, WORK_GOAL),
            "host": (self.followed(lambda following: following.host), HOST_GOAL),
            "controller": (self.followed(lambda following: following.controller), CONTROLLER_GOAL),
        }


def _ratio(figure: float | None, beside: float | None) -> float | None:
    return None if figure is None or beside is None else figure / beside


# --- output ----------------------------------------------------------------------------------------------------


def judged(figure: float | None, goal: float) -> str:
    """Return a sentence on whether a figure meets its goal."""
    return "not measured" if figure is None else "met" if figure <= goal else "missed"


def table(result: Result) -> str:
    """Return the figures as text, each with its comparison and its goal."""
    rows: list[tuple[str, str, str, str]] = [("", "figure", "beside", "goal")]
    goals = result.goals()

    def row(name: str, figure: str, beside: str, key: str = "", goal: str = "") -> None:
        rows.append((name, figure, beside, f"{goal} at most: {judged(*goals[key])}" if key else ""))

    def percent(value: float | None, digits: int = 1) -> str:
        return "-" if value is None else f"{100 * value:.{digits}f} %"

    def seconds(value: float | None, digits: int = 1) -> str:
        return "-" if value is None else f"{value:.{digits}f} s"

    def number(value: float | None, digits: int = 0) -> str:
        return "-" if value is None else f"{value:.{digits}f}"

    hand, ours = result.cold(lambda figures: figures.hand), result.cold(lambda figures: figures.ours)
    row("cold build, wall", seconds(ours), f"by hand {seconds(hand)}")
    row("  more than by hand", percent(result.overhead), seconds(ours - hand), "overhead", "3 %")
    work = result.cold(lambda figures: figures.our_work + figures.asking)
    by_hand, asking = result.cold(lambda figures: figures.hand_work), result.cold(lambda figures: figures.asking)
    row("  CPU work", seconds(work), f"by hand {seconds(by_hand)}; Ansible and its calls {seconds(asking)} of ours")
    for phase in ("fetch", "prepare", "build"):
        row(f"  {phase}", seconds(result.phases(phase)), f"by hand {seconds(result.step_by_hand(phase))}")
    others = result.phases("patch", "configure", "package", "check")
    row("  patch, configure, package, check", seconds(others), "by hand part of the above")
    rest = result.cold(lambda figures: figures.ours - sum(figures.our_phases.values()))
    row("  Ansible, starting, publishing", seconds(rest), "by hand nothing")
    modules, worker = (
        result.followed(lambda following: following.modules),
        result.followed(lambda following: following.worker),
    )
    row(
        "following: host, of one core",
        percent(goals["host"][0], 2),
        f"calls {percent(modules, 2)}, worker {percent(worker, 2)}",
        "host",
        "2 %",
    )
    row("  controller, of one core", percent(goals["controller"][0], 2), "", "controller", "2 %")
    compilations = result.cold(lambda figures: figures.compilations)
    if result.laters:
        row(
            "  not followed: host, of one core",
            percent(result.unfollowed(lambda following: following.host), 2),
            f"controller {percent(result.unfollowed(lambda following: following.controller), 2)}",
        )
        row(
            "same inputs: remote module calls",
            number(goals["again_calls"][0]), "ping 1", "again_calls", str(CALLS_BOUND),
        )  # fmt: skip
        row(
            "  compilations",
            number(goals["again_tools"][0]),
            f"cold build {number(compilations)} compilations",
            "again_tools",
            str(TOOLS_BOUND),
        )
        ping = result.later(lambda figures: figures.ping)
        row("  wall", seconds(result.later(lambda figures: figures.again), 2), f"ansible -m ping {seconds(ping, 2)}")
        row("  wall / ping", number(result.ping_ratio, 2), "")
        row(
            "flag for one file, ccache warm: wall",
            seconds(result.later(lambda figures: figures.warm)),
            f"cold {seconds(ours)}, filling ccache {seconds(result.later(lambda figures: figures.filled))}",
        )
        row("  of a cold build without ccache", percent(result.warm_ratio), "", "warm_ratio", "15 %")
        row("  compilations", number(result.later(lambda figures: figures.warm_compilations)), "")
        row(
            f"killed at {percent(result.later(lambda figures: figures.resumed_at), 0)} and resumed: CPU work",
            seconds(result.later(lambda figures: figures.resumed_work)),
            f"uninterrupted {seconds(result.cold(lambda figures: figures.our_work))}",
        )
        row("  of an uninterrupted build", number(result.work_ratio, 3), "", "work_ratio", str(WORK_GOAL))
        row(
            "  compilations",
            number(result.later(lambda figures: figures.resumed_compilations)),
            f"uninterrupted {number(compilations)}",
        )
    widths = [max(len(cells[column]) for cells in rows) for column in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in rows]
    lines.append("")
    if result.laters and result.warm_ratio is None:
        lines.append("ccache is not installed: nothing that needs it was measured. Install the package ccache.")
    lines.append(
        f"medians of {len(result.colds)} rounds; {result.jobs} jobs, FIXTURE_WEIGHT {result.weight}; ansible-core "
        f"{result.ansible_core}; {process.cores()} cores, load {result.load:.1f} before the first round"
    )
    return "\n".join(lines)


def as_json(result: Result) -> dict[str, t.Any]:
    """Return the figures, ratios and goals as plain data."""
    return {
        **dataclasses.asdict(result),
        "ping_ratio": result.ping_ratio,
        "goals": {
            name: {"figure": figure, "at_most": goal, "met": None if figure is None else figure <= goal}
            for name, (figure, goal) in result.goals().items()
        },
        "cores": process.cores(),
    }


# --- measurement -----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Sample:
    """The CPU seconds used up to a given moment, excluding the compilers'."""

    at: float
    controller: float
    modules: float
    worker: float


def following(samples: t.Sequence[Sample]) -> Following | None:
    """Return the CPU time between the first and the last sample, or None if there are fewer than two."""
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    took = last.at - first.at
    return Following(
        seconds=took,
        controller=(last.controller - first.controller) / took,
        modules=(last.modules - first.modules) / took,
        worker=(last.worker - first.worker) / took,
    )


def read_calls(text: str) -> dict[int, float]:
    """Return the CPU seconds of each completed module call, by process id, from the interpreter's record."""
    calls: dict[int, float] = {}
    for part in text.split("call ")[1:]:
        pid, _newline, rest = part.partition("\n")
        calls[int(pid)] = sum(
            60 * int(minutes) + float(two) + 60 * int(three) + float(four)
            for minutes, two, three, four in _TIMES.findall(rest)
        )
    return calls


def phases_by_hand(text: str) -> dict[str, float]:
    """Return the seconds of each step of the script, computed from the times at which the steps began."""
    marks = [(name, float(at)) for name, at in (line.split() for line in text.splitlines())]
    return {name: later - at for (name, at), (_next, later) in zip(marks, marks[1:], strict=False)}


class Watch:
    """Observes a running build: takes a sample per second during the phase build, and decides when to kill it.

    :param root: the build's root.
    :param interpreter: the interpreter that Ansible starts on the host.
    :param calls: the file in which the interpreter records its calls.
    :param kill_at: the share of ninja's steps after which everything is killed, or None for an undisturbed build.
    """

    def __init__(self, root: Path, interpreter: Path, calls: Path, kill_at: float | None = None) -> None:
        self.samples: list[Sample] = []
        self.killed_at: float | None = None
        self._root = root
        self._interpreter = os.fsencode(interpreter)
        self._calls = calls
        self._kill_at = kill_at

    def __call__(self, pid: int) -> bool:
        state = newest_state(self._root)
        if state.get("phase") != "build" or state.get("status") != "running":
            return False
        self._take(pid, int(state["pid"]))
        total = state.get("total") or 0
        if self._kill_at is None or self.killed_at is not None or not total:
            return False
        if state["done"] / total < self._kill_at:
            return False
        self.killed_at = state["done"] / total
        return True

    def _take(self, command: int, worker: int) -> None:
        builder = process.look_at(worker)
        if builder is None:
            return
        finished = read_calls(self._calls.read_text()) if self._calls.exists() else {}
        processes = process.below(command)
        everything = running = 0.0
        for running_process in processes:
            everything += running_process.total
            if running_process.pid not in finished and self._is_call(running_process.pid):
                running += sum(child.total for child in process.below(running_process.pid))
        modules = sum(finished.values()) + running
        self.samples.append(Sample(time.monotonic(), everything - modules, modules, builder.own))

    def _is_call(self, pid: int) -> bool:
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        # The command line starts with bash, followed by the script that it runs.
        return self._interpreter in arguments[:2]


def newest_state(root: Path) -> dict[str, t.Any]:
    """Return the most recently written state of a build in ``root``, or {} if there is none."""
    paths = sorted(root.glob("builds/*/*/state.json"), key=lambda path: path.stat().st_mtime)
    try:
        return dict(json.loads(paths[-1].read_text())) if paths else {}
    except (OSError, ValueError):
        return {}


class Bench:
    """A directory with all inputs, and the two ways to build them."""

    def __init__(self, folder: Path, jobs: int, weight: int) -> None:
        self.folder = folder
        self.jobs = jobs
        self.weight = weight
        self.upstream = upstream.make(folder / "upstream")
        self.repository = f"file://{self.upstream.repository('pytorch').path}"
        # The submodule's original URL does not exist.
        self.mirror = f"file://{self.upstream.repository('fmtlike').path.parent}/"
        self.wheels = folder / "wheels"
        self.tools = folder / "tools"
        self.record = folder / "started"
        self.calls = folder / "calls"
        self.interpreter = self.tools / "python-of-modules"
        self._number = 0

    def prepare(self) -> None:
        """Fetch the build's requirements, so that the timing excludes the network, and install the wrappers.

        :raises BenchmarkError: if a tool or a requirement is missing.
        """
        result = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
             "--python-version", _python_version(), "--dest", str(self.wheels), *REQUIREMENTS],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if result.returncode:
            raise BenchmarkError(f"pip does not get {', '.join(REQUIREMENTS)}.\n{result.stderr[-2000:]}")
        self.tools.mkdir()
        for name in ("gcc", "g++", "cmake", "ninja"):
            real = shutil.which(name, path=f"{_PATH}:{Path(sys.executable).parent}")
            if real is None:
                raise BenchmarkError(f"{name} is missing. Install it.")
            _write_script(self.tools / name, _TOOL.format(record=self.record, real=real))
        _write_script(self.interpreter, _INTERPRETER.format(python=PYTHON, record=self.calls))
        (self.folder / "requirements.txt").write_text("\n".join(REQUIREMENTS) + "\n")
        (self.folder / "inventory").write_text(f"localhost ansible_python_interpreter={self.interpreter}\n")

    def by_hand(self, folder: Path, weight: int | None = None) -> process.CommandResult:
        """Build by hand in ``folder``."""
        folder.mkdir(parents=True)
        environment = {
            **OPTIONS,
            "FIXTURE_WEIGHT": str(self.weight if weight is None else weight),
            "PATH": f"{self.tools}:{_PATH}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "CC": str(self.tools / "gcc"),
            "CXX": str(self.tools / "g++"),
            "MAX_JOBS": str(self.jobs),
            "CMAKE_BUILD_PARALLEL_LEVEL": str(self.jobs),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHON": PYTHON,
            "TAG": TAG,
            "REPOSITORY": self.repository,
            "ELSEWHERE": upstream.ELSEWHERE,
            "MIRROR": self.mirror,
            "PATCH": str(upstream.PYTORCH_PATCH),
            "WHEELS": str(self.wheels),
            "REQUIREMENTS": str(self.folder / "requirements.txt"),
        }
        return self._run(["bash", "-c", BY_HAND], folder, environment)

    def build(
        self,
        folder: Path,
        watch: Watch | None = None,
        *,
        weight: int | None = None,
        ccache: bool = False,
        follow: bool = True,
        flags: t.Mapping[str, str] | None = None,
    ) -> tuple[process.CommandResult, str]:
        """Build with source_build in ``folder``, and return the measurements and Ansible's output."""
        folder.mkdir(parents=True, exist_ok=True)
        environment = {
            **OPTIONS,
            "FIXTURE_WEIGHT": str(self.weight if weight is None else weight),
            **(flags or {}),
        }
        options = {
            "name": "pytorch",
            "kind": "wheel",
            "source": {"repo": self.repository, "version": self.upstream.commits["pytorch"][TAG]},
            "rewrite": {upstream.ELSEWHERE: self.mirror},
            "patches": [str(upstream.PYTORCH_PATCH)],
            "environment": environment,
            "requirements": REQUIREMENTS,
            "index_url": "",
            "find_links": [str(self.wheels)],
            "python": PYTHON,
            "toolchain": {
                "cc": str(self.tools / "gcc"),
                "cxx": str(self.tools / "g++"),
                "cmake": str(self.tools / "cmake"),
                "ninja": str(self.tools / "ninja"),
            },
            "jobs": self.jobs,
            "memory_reserve": 1,
            "memory_per_job": 1,
            "ccache": ccache,
            "root": str(folder / "root"),
            "log_root": str(folder / "log"),
            "user": pwd.getpwuid(os.geteuid()).pw_name,
            "follow": follow,
        }
        tasks = [{"name": "Build", "sparkforge.dgx_spark.source_build": options}]
        playbook = folder / "playbook.yml"
        playbook.write_text(
            json.dumps([{"name": "Bench", "hosts": "localhost", "gather_facts": False, "tasks": tasks}])
        )
        result = self._ansible("ansible-playbook", str(playbook), folder=folder, watch=watch)
        return result, self.printed

    def ping(self) -> float:
        """Run `ansible -m ping` and return its wall time in seconds."""
        return self._ansible("ansible", "localhost", "-m", "ansible.builtin.ping", folder=self.folder).wall

    def watch(self, folder: Path, kill_at: float | None = None) -> Watch:
        return Watch(folder / "root", self.interpreter, self.calls, kill_at)

    def started(self) -> list[str]:
        """Return the names of the compilers and build tools started since the last call."""
        tools = self.record.read_text().split() if self.record.exists() else []
        self.record.unlink(missing_ok=True)
        return tools

    def called(self) -> int:
        """Return the number of module calls since the last call."""
        count = len(read_calls(self.calls.read_text())) if self.calls.exists() else 0
        self.calls.unlink(missing_ok=True)
        return count

    def _ansible(self, tool: str, *arguments: str, folder: Path, watch: Watch | None = None) -> process.CommandResult:
        environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_NOCOLOR": "1",
        }
        command = [str(Path(sys.executable).parent / tool), "-c", "local", "-i", str(self.folder / "inventory")]
        return self._run([*command, *arguments], folder, environment, watch)

    def _run(
        self,
        argv: list[str],
        folder: Path,
        environment: t.Mapping[str, str],
        watch: Watch | None = None,
    ) -> process.CommandResult:
        self._number += 1
        output = self.folder / f"output-{self._number}"
        result = process.run(argv, cwd=folder, environment=environment, output=output, look=watch)
        self.printed = output.read_text(errors="replace")
        if result.code and (watch is None or watch.killed_at is None):
            raise BenchmarkError(f"{' '.join(argv)[:200]} ended with {result.code}.\n{self.printed[-6000:]}")
        return result


def measure(bench: Bench, runs: int, later: bool = True) -> tuple[tuple[Cold, ...], tuple[Later, ...]]:
    """Build each way ``runs`` times.

    :param later: also measure the runs after a cold build.
    :raises BenchmarkError: if a build fails.
    """
    _say("warming up: a light build by hand and with source_build, untimed")
    warm_up = bench.folder / "warm-up"
    bench.by_hand(warm_up / "hand", weight=0)
    _built(bench.build(warm_up / "ours", weight=0)[1])
    shutil.rmtree(warm_up)
    colds, laters = [], []
    for number in range(1, runs + 1):
        folder = bench.folder / f"round-{number}"
        _say(f"round {number} of {runs}")
        figures: dict[str, t.Any] = {}
        # Alternate between the two ways, because a machine's speed drifts.
        for side in ("hand", "ours") if number % 2 else ("ours", "hand"):
            figures.update(_cold_by_hand(bench, folder / "hand") if side == "hand" else _cold(bench, folder / "ours"))
        colds.append(Cold(**figures))
        if later:
            after = (
                _again(bench, folder / "ours"),
                _cached(bench, folder / "cached"),
                _killed(bench, folder / "killed"),
            )
            laters.append(Later(**{name: value for part in after for name, value in part.items()}))
        shutil.rmtree(folder)
    return tuple(colds), tuple(laters)


def _cold_by_hand(bench: Bench, folder: Path) -> dict[str, t.Any]:
    result = bench.by_hand(folder)
    _say(f"  by hand {result.wall:.1f} s")
    return {
        "hand": result.wall,
        "hand_phases": phases_by_hand((folder / "marks").read_text()),
        "hand_work": result.cpu,
    }


def _cold(bench: Bench, folder: Path) -> dict[str, t.Any]:
    bench.started()
    bench.called()
    watch = bench.watch(folder)
    result, output = bench.build(folder, watch)
    _built(output)
    _say(f"  source_build {result.wall:.1f} s")
    return {
        "ours": result.wall,
        "our_phases": _receipt(folder)["seconds"],
        "our_work": result.detached,
        "asking": result.cpu,
        "compilations": bench.started().count("compile"),
        "followed": following(watch.samples),
    }


def _again(bench: Bench, folder: Path) -> dict[str, t.Any]:
    ping, again, calls, changed = [], [], [], 0
    bench.started()
    for _run in range(_SHORT_RUNS):
        ping.append(bench.ping())
        bench.called()
        result, output = bench.build(folder)
        calls.append(bench.called())
        again.append(result.wall)
        changed += changed_tasks(output, "localhost")
    tools = bench.started().count("compile")
    _say(f"  the same inputs {statistics.median(again):.2f} s, ping {statistics.median(ping):.2f} s")
    return {
        "ping": tuple(ping),
        "again": tuple(again),
        "again_changed": changed,
        "again_calls": max(calls),
        "again_tools": tools,
    }


def _cached(bench: Bench, folder: Path) -> dict[str, t.Any]:
    bench.called()
    watch = bench.watch(folder)
    result, output = bench.build(folder, watch, ccache=has_ccache(), follow=False)
    _built(output)
    if not list(folder.glob("root/receipts/units/*.json")):
        raise BenchmarkError(f"The build that nobody followed did not end well.\n{_log(folder)[-3000:]}")
    figures: dict[str, t.Any] = {"unfollowed": following(watch.samples)}
    if not has_ccache():
        return {**figures, "filled": None, "warm": None, "warm_compilations": None}
    bench.started()
    warm, output = bench.build(folder, ccache=True, flags=FLAG)
    _built(output)
    _say(f"  filling ccache, not followed, {result.whole:.1f} s; a flag for one file {warm.wall:.1f} s")
    count = bench.started().count("compile")
    return {**figures, "filled": result.whole, "warm": warm.wall, "warm_compilations": count}


def _killed(bench: Bench, folder: Path) -> dict[str, t.Any]:
    bench.started()
    watch = bench.watch(folder, kill_at=0.5)
    first, _output = bench.build(folder, watch)
    if watch.killed_at is None:
        raise BenchmarkError("The build was over before it could be killed. Give a larger --weight.")
    second, output = bench.build(folder)
    _built(output)
    attempts = _receipt(folder)["attempts"]
    if attempts != 2:
        raise BenchmarkError(f"The killed build went on as attempt {attempts} instead of 2.")
    _say(f"  killed at {100 * watch.killed_at:.0f} % of the steps and resumed: {first.wall:.1f} + {second.wall:.1f} s")
    return {
        "resumed_at": watch.killed_at,
        "resumed_work": first.detached + second.detached,
        "resumed_compilations": bench.started().count("compile"),
    }


def _built(output: str) -> None:
    if changed_tasks(output, "localhost") != 1:
        raise BenchmarkError(f"Nothing was built.\n{output[-3000:]}")


def _receipt(folder: Path) -> dict[str, t.Any]:
    (path,) = folder.glob("root/receipts/units/*.json")
    return dict(json.loads(path.read_text()))


def _log(folder: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in folder.glob("log/*.log"))


def has_ccache() -> bool:
    """Tell whether the engine finds ccache."""
    return shutil.which("ccache", path=_PATH) is not None


def _write_script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _python_version() -> str:
    result = subprocess.run(
        [PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def _write(path: Path | None, data: t.Mapping[str, t.Any]) -> None:
    if path:
        path.write_text(json.dumps(data, indent=1) + "\n")


def _say(text: str) -> None:
    print(f"engine: {text}", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Measure in a temporary directory and print the result; in any case, kill this run's processes and remove
    files."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engine",
        description="What the engine costs beside the build, each figure beside its comparison.",
    )
    parser.add_argument("--runs", type=int, default=3, help="rounds, of about 13 minutes each (default: 3)")
    parser.add_argument(
        "--parts",
        choices=("all", "cold"),
        default="all",
        help="cold: the cold builds alone, half of a round",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    jobs = min(process.cores(), 4)
    parser.add_argument("--jobs", type=int, default=jobs, help=f"compiler jobs, on both sides (default: {jobs})")
    parser.add_argument("--weight", type=int, help=f"FIXTURE_WEIGHT (default: {WEIGHT_PER_JOB} for each job)")
    arguments = parser.parse_args(argv)
    if arguments.runs < 1 or arguments.jobs < 1:
        parser.error("--runs and --jobs take a number from 1")
    if os.geteuid() == 0 and Path("/run/systemd/system").is_dir():
        parser.error("systemd would be the parent of root's builds, which could not be measured: run it as a person")
    weight = arguments.weight if arguments.weight is not None else WEIGHT_PER_JOB * arguments.jobs
    load = os.getloadavg()[0]
    process.adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    try:
        bench = Bench(folder, arguments.jobs, weight)
        bench.prepare()
        colds, laters = measure(bench, arguments.runs, arguments.parts == "all")
        result = Result(colds, laters, ansible_core(), arguments.jobs, weight, load)
    except BenchmarkError as error:
        print(f"engine: error: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        process.kill_all()
        shutil.rmtree(folder)
    print(table(result))
    _write(arguments.json, as_json(result))
    if any(run.again_changed for run in result.laters):
        print("engine: error: the same inputs changed something.", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
