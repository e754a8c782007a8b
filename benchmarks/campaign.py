# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A campaign: faults that proof/tests/drawn draws from a seed, and the share of them that the proof detects.

`python -m benchmarks.proof --mutate N` runs it; benchmarks/mutation.py describes how a fault is judged. Each result is
a line of JSON in a file, from which a later run continues.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import typing as t
from concurrent import futures
from pathlib import Path

from sparkforge_proof import catalogue, settings, verdict

CHECKOUT = Path(__file__).resolve().parent.parent
#: Checks that by default do not run on a mutant, because they take minutes or do not test an operator's results. A
#: fault that only these checks would detect counts as missed.
NOT_RUN = (
    "*compilation.*",
    "*collectives.*",
    "*companions.*",
    "*storage.*",
    "*triton_kernels.*",
    "speed.*",
    "attention.cudnn*",
    "*tensors.memory",
    "*sizes.elements",
)
#: Families whose checks are each traced in a separate process, before all others.
LONG = ("survey", "training", "movement")
#: One in this many runs has no fault.
SOUND_EVERY = 20
#: The quantile for a 95 % confidence interval.
Z = 1.959964

Row = t.Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True)
class Share:
    """The number of caught faults out of a total, with Wilson's interval."""

    caught: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        if not self.total:
            return 0.0, 1.0
        part, square = self.caught / self.total, Z * Z / self.total
        middle = (part + square / 2) / (1 + square)
        half = Z * math.sqrt(part * (1 - part) / self.total + square / (4 * self.total)) / (1 + square)
        return max(0.0, middle - half), min(1.0, middle + half)

    def __str__(self) -> str:
        if not self.total:
            return "none"
        low, high = self.interval
        return f"{self.caught} / {self.total} = {self.caught / self.total:.1%} ({low:.1%} to {high:.1%})"


@dataclasses.dataclass(frozen=True)
class Campaign:
    """The settings of a campaign.

    :ivar python: an environment's interpreter.
    :ivar device: ``cpu`` or ``cuda``.
    :ivar checks: patterns of the checks to run; if empty, all except ``NOT_RUN``.
    :ivar seconds: the time after which no further mutant is started.
    :ivar gpus: the number of GPUs shared by the workers.
    :ivar kinds: the kinds of device for which to judge, see :func:`verdict.judge`; if empty, each failure counts.
    """

    python: Path
    device: str
    count: int
    seed: int
    out: Path
    workers: int = 2
    checks: tuple[str, ...] = ()
    seconds: float = math.inf
    survey: float = 3600.0
    gpus: int = 1
    kinds: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """Return the names of the checks to run."""
        return [
            name
            for name, entry in catalogue.CHECKS.items()
            if entry.device == self.device
            and entry.numeric
            and (verdict.selects(self.checks, name) if self.checks else not verdict.selects(NOT_RUN, name))
        ]


def run(campaign: Campaign, say: t.Callable[[str], None]) -> list[dict[str, t.Any]]:
    """Plant the mutants that are not yet in the results file, and return the rows of all mutants."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as directory:
        known = _traced(campaign, Path(directory), say)
        finished = {row["number"] for row in rows_of(campaign.out) if row["seed"] == campaign.seed}
        left = [number for number in range(1, campaign.count + 1) if number not in finished]
        jobs = [
            {"numbers": left[first :: campaign.workers], "trace": str(known), "out": str(campaign.out)}
            for first in range(campaign.workers)
        ]
        _work(campaign, Path(directory), [job for job in jobs if job["numbers"]])
    return rows_of(campaign.out)


def _traced(campaign: Campaign, directory: Path, say: t.Callable[[str], None]) -> Path:
    """Return the file with the operators that each check calls; create it from runs without faults if missing."""
    path = campaign.out.with_suffix(".calls.json")
    if path.exists():
        return path
    names = campaign.names()
    by_lane: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        entry = catalogue.CHECKS[name]
        by_lane[name if entry.family in LONG else entry.family].append(name)
    lanes = sorted(by_lane.values(), key=lambda lane: catalogue.CHECKS[lane[0]].family not in LONG)
    parts = [directory / f"calls-{number}.json" for number in range(len(lanes))]
    jobs: list[dict[str, t.Any]] = [{"checks": lane, "out": str(part)} for lane, part in zip(lanes, parts, strict=True)]
    _work(campaign, directory, jobs)
    traces: dict[str, t.Any] = {"calls": {}, "seconds": {}, "failed": {}, "off": []}
    for part in parts:
        part_traces = json.loads(part.read_text())
        for key in ("calls", "seconds", "failed"):
            traces[key].update(part_traces[key])
        traces["off"] += part_traces.get("off", [])
        traces.update({key: part_traces[key] for key in ("operators", "others")})
    for name in traces["failed"]:
        # A check that fails without a fault proves nothing when it fails on a mutant. In a survey only the operator
        # fails, and that has already been left out.
        if isinstance(traces["calls"].get(name), list):
            del traces["calls"][name]
    path.write_text(json.dumps(traces))
    say(f"{len(traces['calls'])} checks traced; failed unspoiled: {traces['failed'] or 'none'}")
    say(f"operators that are off unspoiled, which are not asked: {'; '.join(traces['off']) or 'none'}")
    return path


def _work(campaign: Campaign, directory: Path, jobs: t.Sequence[t.Mapping[str, t.Any]]) -> None:
    """Run a worker for each job, with at most the campaign's number of workers in parallel, and wait for them."""
    running: list[subprocess.Popen[bytes]] = []

    def work(number: int) -> int:
        scratch = directory / f"worker-{number}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        job = _job(campaign, scratch, jobs[number])
        variables = {
            **os.environ,
            "PYTHONPATH": f"{CHECKOUT / '.collections'}:{CHECKOUT}:{CHECKOUT / 'proof/src'}",
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **({"CUDA_VISIBLE_DEVICES": str(number % campaign.gpus)} if campaign.gpus > 1 else {}),
        }
        command = [str(campaign.python), "-m", "benchmarks.mutation", str(job)]
        with open(scratch / "log", "wb") as log:
            running.append(
                subprocess.Popen(command, cwd=CHECKOUT, env=variables, stdout=log, stderr=log, start_new_session=True)
            )
        return running[-1].wait()

    with futures.ThreadPoolExecutor(campaign.workers) as pool:
        try:
            failed = [number for number, status in enumerate(pool.map(work, range(len(jobs)))) if status]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
    if failed:
        log = (directory / f"worker-{failed[0]}" / "log").read_text(errors="replace")
        sys.exit(f"A worker of the campaign ended with an error:\n{log[-3000:]}")


def _job(campaign: Campaign, scratch: Path, job: t.Mapping[str, t.Any]) -> Path:
    """Write a worker's job file, and return its path."""
    content = {
        "checks": campaign.names(),
        "device": campaign.device,
        "seed": campaign.seed,
        "sound_every": SOUND_EVERY,
        "directory": str(scratch),
        "profile": {"name": "generic"},
        "reference": {"capabilities": ["9.0"]},
        "limits": {
            **settings.LIMITS,
            "factor": 10.0,
            "survey": campaign.survey,
            "memory_share": 0.3 / campaign.workers + 0.1,
        },
        **({"kinds": campaign.kinds} if campaign.kinds and "trace" in job else {}),
        **({} if math.isinf(campaign.seconds) else {"seconds": campaign.seconds}),
        **job,
    }
    file = scratch / "job.json"
    file.write_text(json.dumps(content))
    return file


def rows_of(path: Path) -> list[dict[str, t.Any]]:
    """Return the rows in a results file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report(rows: t.Sequence[Row]) -> str:
    """Return the figures as text: shares with their 95 % confidence intervals, by class, defect and condition."""
    sound = [row for row in rows if not row["defect"]]
    planted = [row for row in rows if row["defect"]]
    lost = [row for row in planted if "error" in row]
    shown = [row for row in planted if row["size"] > 1 and "error" not in row]
    large = [row for row in shown if row["large"]]
    seeds = ", ".join(map(str, dict.fromkeys(row["seed"] for row in rows)))
    lines = [
        f"seeds {seeds}",
        f"drawn                            {len(planted)}",
        f"  could not be judged            {len(lost)}",
        f"  no program shows a change      {len(planted) - len(shown) - len(lost)}",
        f"  not more than 10 times a bound {len(shown) - len(large)}",
        f"    of these caught              {_share([row for row in shown if not row['large']])}",
        f"  larger                         {len(large)}",
        f"    of these caught              {_share(large)}",
        f"    of these caught by --full    {_by_full(large)}",
        f"false alarms of sound wrappers   {sum(bool(row['caught']) for row in sound)} / {len(sound)}"
        f" ({sum(bool(row['calls']) for row in sound)} of them called)",
        "",
        "larger than 10 times the bound, caught, by class:",
        *_by(large, lambda row: row["class"]),
        "by defect:",
        *_by(large, lambda row: row["defect"]),
        "by condition:",
        *_by(large, lambda row: row["condition"] or "always"),
        "seen first by:",
    ]
    first = collections.Counter(
        catalogue.CHECKS[name].family for row in large if row["caught"] for name in list(row["caught"])[:1]
    )
    lines += [f"  {name:30} {count}" for name, count in first.most_common()]
    missed = [row for row in large if not row["caught"]]
    if missed:
        lines.append("missed:")
        lines += [f"  {described(row)}" for row in missed]
    return "\n".join(lines)


def described(row: Row) -> str:
    """Describe a fault in words."""
    return (
        f"{row['class']}: {row['words']}; shown by {row['program']}, {row['size']:.3g} times; {row['faults']} faults in"
        f" {row['calls']} calls of {len(row['ran'])} checks"
    )


def _share(rows: t.Sequence[Row]) -> Share:
    return Share(sum(bool(row["caught"]) for row in rows), len(rows))


def _by_full(rows: t.Sequence[Row]) -> Share | str:
    """Return the share that ``--full`` catches of the faults that a default run missed."""
    if any(not row["caught"] and "full" not in row for row in rows):
        return "not asked of each"
    return Share(sum(bool(row["caught"] or row["full"]["caught"]) for row in rows), len(rows))


def _by(rows: t.Sequence[Row], key: t.Callable[[Row], str]) -> list[str]:
    groups: dict[str, list[Row]] = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return [f"  {name:30} {_share(groups[name])}" for name in sorted(groups)]
