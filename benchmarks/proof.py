# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Findings and cost of the proof: `python -m benchmarks.proof [--runs N] [--python PATH] [--json FILE]`.

With --mutate N, it instead draws N faults from a seed and plants those; see benchmarks/campaign.py.

Every fault in proof/tests that needs no GPU is planted in a copy of an environment with torch, and proven; a sound copy
is proven N times. Each result is compared with the check that is common today. With --python, the interpreter of an
environment that computes on this host's GPU, the faults for a GPU and that environment are used instead, and rates are
also printed.

The exit status is nonzero if a fault was missed or a sound environment failed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import typing as t
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / ".collections"), str(CHECKOUT / "proof/src")]

from benchmarks import campaign
from proof.tests import environment, on_gpu, outcome, provisioned
from proof.tests.faults import FAULTS, Report

#: The maximum number of seconds for the complete proof on a GPU host.
SECONDS_GOAL = 75.0

#: Below, 4 stands for two products (queries with keys, probabilities with values) of two operations per term.
_ATTENTION = """
import json, torch
from torch.nn.attention import SDPBackend, sdpa_kernel
shape = batch, heads, tokens, size = 4, 16, 4096, 128
found = {}
for name, kernel in (("flash", SDPBackend.FLASH_ATTENTION), ("efficient", SDPBackend.EFFICIENT_ATTENTION),
                     ("cudnn", SDPBackend.CUDNN_ATTENTION), ("math", SDPBackend.MATH)):
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    try:
        with sdpa_kernel(kernel):
            for count in (3, 10):
                start.record()
                for _ in range(count):
                    torch.nn.functional.scaled_dot_product_attention(q, k, v)
                end.record()
                end.synchronize()
        found[name] = 4 * batch * heads * tokens**2 * size * 10 / start.elapsed_time(end) / 1e9
    except RuntimeError as error:
        found[name] = None
print(json.dumps(found))
"""


@dataclasses.dataclass(frozen=True)
class Run:
    """A proof of a sound environment."""

    seconds: float
    failed: dict[str, str]
    checks: dict[str, float]


@dataclasses.dataclass(frozen=True)
class Result:
    """All figures. ``lacking`` lists the faults that could not be planted, each with the missing program.

    :ivar device: the GPU, or '' without one.
    :ivar rates: the last run's rates, by check and name.
    :ivar attention: TFLOP/s for each kernel, or None for a kernel that is not available.
    """

    faults: list[outcome.Outcome]
    lacking: dict[str, str]
    runs: list[Run]
    device: str = ""
    rates: dict[str, dict[str, float]] = dataclasses.field(default_factory=dict)
    attention: dict[str, float | None] = dataclasses.field(default_factory=dict)

    @property
    def caught(self) -> int:
        return sum(fault.caught for fault in self.faults)

    @property
    def baseline(self) -> int:
        return sum(fault.baseline for fault in self.faults)

    @property
    def false_alarms(self) -> int:
        return sum(bool(run.failed) for run in self.runs)

    def seconds(self) -> dict[str, float]:
        """Return the median seconds of each check that ran, the slowest first."""
        names = self.runs[0].checks if self.runs else {}
        medians = {name: statistics.median(run.checks.get(name, 0.0) for run in self.runs) for name in names}
        return dict(sorted(medians.items(), key=lambda item: -item[1]))


def plant_all(healthy: environment.Environment, work: Path) -> tuple[list[outcome.Outcome], dict[str, str]]:
    """Plant each fault in a separate copy; return the outcomes, and the missing program for each fault left out."""
    outcomes, lacking = [], {}
    for number, fault in enumerate(FAULTS, 1):
        missing_programs = [program for program in fault.needs if shutil.which(program) is None]
        if missing_programs:
            lacking[fault.planter] = missing_programs[0]
            continue
        directory = Path(tempfile.mkdtemp(dir=work))
        try:
            copy = provisioned.provision(environment.copy(healthy, directory))
            outcomes.append(outcome.of(fault, copy))
        finally:
            environment.remove(directory)
        _say(f"fault {number} of {len(FAULTS)}: {outcome.table(outcomes[-1:])}")
    return outcomes, lacking


def run_sound(sound: environment.Environment, count: int, **options: t.Any) -> tuple[list[Run], Report]:
    """Prove a sound environment ``count`` times as a user would; return the runs and the last report."""
    runs: list[Run] = []
    report: Report = {}
    for number in range(1, count + 1):
        report = sound.prove(**options)
        failed = {row["name"]: row["cause"] for row in report["checks"] if row["status"] == "fail"}
        if not failed and report["verdict"] != "proven":
            failed["verdict"] = report["verdict"]
        seconds = {row["name"]: row["seconds"] for row in report["checks"] if row["status"] == "pass"}
        runs.append(Run(report["seconds"], failed, {name: value for name, value in seconds.items() if value}))
        _say(f"sound run {number} of {count}: {report['seconds']:.0f} s, {failed or 'nothing failed'}")
    return runs, report


def on_cpu(work: Path, count: int) -> Result:
    """Measure with the environment of the proof's tests."""
    healthy = environment.make()
    faults, lacking = plant_all(healthy, work)
    directory = Path(tempfile.mkdtemp(dir=work))
    runs, _report = run_sound(provisioned.provision(environment.copy(healthy, directory)), count)
    return Result(faults, lacking, runs)


def on_this_gpu(python: Path, work: Path, count: int) -> Result:
    """Measure with an environment that computes on this host's GPU."""
    environment_folder = python.absolute().parent.parent
    # The first import reads several gigabytes.
    subprocess.run([str(python), "-c", "import torch; torch.ones(1, device='cuda')"], check=True)
    runs, report = run_sound(environment.Environment(environment_folder, work / "root"), count, gpu_required=True)
    result = subprocess.run([str(python), "-c", _ATTENTION], check=True, capture_output=True, text=True)
    return Result(
        faults=on_gpu.plant_all(environment_folder, work, 8, _say),
        lacking={},
        runs=runs,
        device=", ".join(str(device["name"]) for device in report.get("devices", [])) or "GPU",
        rates={row["name"]: row["rates"] for row in report.get("checks", []) if row["rates"]},
        attention=json.loads(result.stdout.splitlines()[-1]),
    )


def table(result: Result) -> str:
    """Return the figures as text, each with its comparison."""
    planted = len(result.faults)
    lines = [outcome.table(result.faults), ""]
    lines += [f"not planted: {fault}, for {program} is not here" for fault, program in result.lacking.items()]
    lines += [f"{seconds:8.2f} s  {name}" for name, seconds in result.seconds().items()]
    if result.runs:
        median = statistics.median(run.seconds for run in result.runs)
        goal = f"   goal {SECONDS_GOAL:.0f} s: {_judged(median <= SECONDS_GOAL)}" if result.device else ""
        lines.append(f"{median:8.1f} s  in all, median of {len(result.runs)} runs{goal}")
    baseline = outcome.ON_GPU if result.device else outcome.ON_CPU
    alarms = f"{result.false_alarms} / {len(result.runs)}"
    lines += [
        "",
        f"faults caught / planted         {result.caught} / {planted}   {_judged(result.caught == planted)}",
        f"  by the check that people run  {result.baseline} / {planted}   {baseline}",
        f"false alarms / sound runs       {alarms}   {_judged(not result.false_alarms)}",
    ]
    for name, rates in result.rates.items():
        lines += [f"{name} {rate}: {value:.4g}" for rate, value in rates.items()]
    for name, figure in result.attention.items():
        rate = "not offered" if figure is None else f"{figure:.4g} TFLOP/s"
        lines.append(f"attention {name}, bfloat16, 4 x 16 heads x 4096 tokens x 128, forward: {rate}")
    lines.append(f"{result.device or 'no GPU'}, {os.cpu_count()} cores")
    return "\n".join(lines)


def _judged(good: bool) -> str:
    return "met" if good else "missed"


def _say(text: str) -> None:
    print(f"proof: {text}", flush=True)


def mutate(arguments: argparse.Namespace) -> int:
    """Run a campaign of mutants; return 0 if nine in ten large faults were caught and no sound run failed."""
    python = arguments.python or environment.make().python
    rows = campaign.run(
        campaign.Campaign(
            python,
            "cuda" if arguments.python else "cpu",
            arguments.mutate,
            arguments.seed,
            arguments.out or Path(tempfile.mkdtemp(prefix="campaign-")) / "mutants.jsonl",
            arguments.workers or min(8, os.cpu_count() or 1),
            tuple(arguments.check),
            arguments.seconds,
            kinds=tuple(arguments.kind),
        ),
        _say,
    )
    print(campaign.report(rows))
    large_faults = [row for row in rows if row["large"]]
    alarms = [row for row in rows if not row["defect"] and row["caught"]]
    return 0 if sum(bool(row["caught"]) for row in large_faults) >= 0.9 * len(large_faults) and not alarms else 1


def main(argv: list[str] | None = None) -> int:
    """Plant, prove, print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.proof", description="What the proof finds and what it costs."
    )
    parser.add_argument("--runs", type=int, help="proofs of a sound environment (default: 20, on a GPU 3)")
    parser.add_argument("--python", type=Path, help="of an environment that computes on this host's GPU")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--mutate", type=int, metavar="N", help="draw N faults and plant each")
    parser.add_argument("--seed", type=int, default=1, help="which faults (default: 1)")
    parser.add_argument("--workers", type=int, help="mutants at a time (default: the cores, 8 at most)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which no further mutant is begun")
    parser.add_argument("--out", type=Path, help="the campaign's file, which a further run goes on from")
    parser.add_argument(
        "--check", action="append", default=[], metavar="PATTERN", help="only these checks, of a campaign"
    )
    parser.add_argument(
        "--kind", action="append", default=[], metavar="KIND", help="a campaign's host is played as that: aarch64"
    )
    arguments = parser.parse_args(argv)
    if arguments.mutate is not None:
        return mutate(arguments)
    count = (3 if arguments.python else 20) if arguments.runs is None else arguments.runs
    if count < 1:
        parser.error("--runs takes a number from 1")
    work = Path(tempfile.mkdtemp(prefix="proof-"))
    try:
        result = on_this_gpu(arguments.python, work, count) if arguments.python else on_cpu(work, count)
    finally:
        environment.remove(work)
    print(table(result))
    if arguments.json:
        goals = {"caught": result.caught, "baseline": result.baseline, "false_alarms": result.false_alarms}
        arguments.json.write_text(json.dumps({**dataclasses.asdict(result), **goals}, indent=1) + "\n")
    return 0 if result.caught == len(result.faults) and not result.false_alarms else 1


if __name__ == "__main__":
    sys.exit(main())
