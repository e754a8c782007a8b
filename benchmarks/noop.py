# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cost of a converged site run: `python -m benchmarks.noop [--runs N] [--json FILE]`.

There are two native containers: the collection's site.yml provisions spark01, and baseline/site.yml (the same work as
plain tasks) provisions spark02. Then each is run again, alternating with `ansible -m ping`, over warm ssh connections.

The exit status is nonzero only if a run failed or a converged run changed something. A figure that misses its goal is
printed as such but is not a failure, because it depends on the machine.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import typing as t
from pathlib import Path

from lab import bench as benches
from lab.host import LabError, fail

CHECKOUT = Path(__file__).resolve().parent.parent
OURS, BASELINE = "spark01", "spark02"
#: The maximum number of remote module calls in a converged run of the collection.
CALLS_BOUND = 3
#: The maximum wall time relative to `ansible -m ping`.
PING_GOAL = 6.0
#: The minimum speed relative to the plain tasks.
BASELINE_GOAL = 4.0

_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)
_EXECUTED = re.compile(r"^<[^>]*> SSH: EXEC (.*)$", re.MULTILINE)
# With pipelining, the interpreter has no argument and reads the module from standard input; otherwise its argument is
# the module's file. Ansible ends every remote command with `sleep 0`.
_RUNS_MODULE = re.compile(r"[\s/]python[\d.]*( \S*AnsiballZ_\w+\.py)? && sleep 0")


class BenchmarkError(Exception):
    """A run that failed or changed a converged host."""


@dataclasses.dataclass(frozen=True)
class Calls:
    """A play's calls to a host. ``modules`` counts the module calls among the ``round_trips``, commands over ssh."""

    modules: int
    round_trips: int


@dataclasses.dataclass(frozen=True)
class Times:
    """Wall times of the same command, in seconds."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """Return the middle value, or the mean of the middle two."""
        return statistics.median(self.samples)


@dataclasses.dataclass(frozen=True)
class Result:
    """All figures of a benchmark. ``changed`` is the sum over a side's converged runs."""

    ansible_core: str
    ping: Times
    ours: Times
    baseline: Times
    ours_calls: Calls
    baseline_calls: Calls
    ours_changed: int
    baseline_changed: int
    ours_first: float
    baseline_first: float

    @property
    def ping_ratio(self) -> float:
        """Return the wall time of the collection's converged run relative to a ping."""
        return self.ours.median / self.ping.median

    @property
    def baseline_ratio(self) -> float:
        """Return the wall time of the plain tasks relative to that of the collection."""
        return self.baseline.median / self.ours.median


def count_calls(output: str) -> Calls:
    """Count the commands over ssh in the output of a run with -vvv."""
    # Each shell quotes the command inside it again; without the quotes, all levels look the same.
    commands = [re.sub(r"""['"\\]""", "", line) for line in _EXECUTED.findall(output)]
    return Calls(sum(1 for command in commands if _RUNS_MODULE.search(command)), len(commands))


def changed_tasks(output: str, host: str) -> int:
    """Return the number of tasks that changed ``host``, from a run's recap.

    :raises BenchmarkError: if the host failed, was unreachable, or is missing from the recap.
    """
    rows = {name: counts for name, *counts in _RECAP.findall(output)}
    if host not in rows:
        raise BenchmarkError(f"{host} is not in the recap: the run ended early.\n{output[-3000:]}")
    _ok, changed, unreachable, failed = (int(count) for count in rows[host])
    if unreachable or failed:
        raise BenchmarkError(f"{host} failed or was not reached.\n{output[-3000:]}")
    return changed


def table(result: Result) -> str:
    """Return the figures as text, each with its bound or goal."""

    def judged(good: bool, kind: str) -> str:
        return "met" if good else f"{kind} missed"

    rows: list[tuple[str, ...]] = [
        ("converged run, warm ssh", "median", "min", "max", "runs", "changed", "module calls", "ssh commands")
    ]
    for name, times, changed, calls in (
        ("ansible -m ping", result.ping, "-", None),
        ("sparkforge.dgx_spark", result.ours, str(result.ours_changed), result.ours_calls),
        ("plain tasks (baseline)", result.baseline, str(result.baseline_changed), result.baseline_calls),
    ):
        seconds = [f"{value:.2f} s" for value in (times.median, min(times.samples), max(times.samples))]
        counts = (str(calls.modules), str(calls.round_trips)) if calls else ("1", "1")
        rows.append((name, *seconds, str(len(times.samples)), changed, *counts))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) if not column else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(row, widths)))
        for row in rows
    ]  # fmt: skip
    calls_met = judged(result.ours_calls.modules <= CALLS_BOUND, "bound")
    ping_met = judged(result.ping_ratio <= PING_GOAL, "goal")
    baseline_met = judged(result.baseline_ratio >= BASELINE_GOAL, "goal")
    lines += [
        "",
        f"remote module calls   {result.ours_calls.modules:6d}     bound {CALLS_BOUND} at most   {calls_met}",
        f"ours / ping           {result.ping_ratio:6.1f}     goal {PING_GOAL:g} at most     {ping_met}",
        f"baseline / ours       {result.baseline_ratio:6.1f}     goal {BASELINE_GOAL:g} at least    {baseline_met}",
        f"first run: ours {result.ours_first:.0f} s, baseline {result.baseline_first:.0f} s; "
        f"ansible-core {result.ansible_core}; {os.cpu_count()} cores",
    ]
    return "\n".join(lines)


def as_json(result: Result) -> dict[str, t.Any]:
    """Return the figures, ratios and goals as plain data."""
    return {
        **dataclasses.asdict(result),
        "median": {name: getattr(result, name).median for name in ("ping", "ours", "baseline")},
        "ping_ratio": result.ping_ratio,
        "baseline_ratio": result.baseline_ratio,
        "bounds": {"calls": CALLS_BOUND, "ping_ratio": PING_GOAL, "baseline_ratio": BASELINE_GOAL},
        "cores": os.cpu_count(),
        "connections": "warm",
    }


class Site:
    """The two hosts of a bench and the commands to compare, run as a user would run them."""

    def __init__(self, folder: Path, sockets: Path) -> None:
        """:param folder: this run's directory. :param sockets: the directory of the bench's ssh connections."""
        self.inventory = folder / "inventory"
        self._reports = folder / "reports"
        self._sockets = sockets
        self._environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            # On a busy machine, sudo may take longer than Ansible's default of 10 s.
            "ANSIBLE_TIMEOUT": "60",
        }

    def list_hosts(self) -> None:
        """List both hosts in the copy of the inventory."""
        hosts = "".join(f"        {host}:\n" for host in (OURS, BASELINE))
        (self.inventory / "lab.yml").write_text(f"---\nall:\n  children:\n    lab:\n      hosts:\n{hosts}")

    def ping(self, host: str) -> float:
        """Run `ansible -m ping` and return its wall time in seconds."""
        seconds, _output = self._run("ansible", host, "-m", "ansible.builtin.ping")
        return seconds

    def play(self, host: str, *arguments: str) -> tuple[float, str]:
        """Run the playbook for ``host``'s side and return its wall time in seconds and its output."""
        playbook = {OURS: "site.yml", BASELINE: "benchmarks/baseline/site.yml"}[host]
        variables = json.dumps({"verify_report_directory": str(self._reports)})
        return self._run("ansible-playbook", playbook, "-l", host, "-e", variables, *arguments)

    def close_connections(self) -> None:
        """Close the ssh processes that keep the connections open."""
        for socket in self._sockets.glob("*"):
            subprocess.run(
                ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "bench"],
                capture_output=True,
                check=False,
            )

    def _run(self, tool: str, *arguments: str) -> tuple[float, str]:
        command = [str(Path(sys.executable).parent / tool), "-i", str(self.inventory / "lab.yml"), *arguments]
        started = time.monotonic()
        result = subprocess.run(
            command, cwd=CHECKOUT, env=self._environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        seconds = time.monotonic() - started
        if result.returncode:
            raise BenchmarkError(f"{' '.join(command)} ended with {result.returncode}.\n{result.stdout[-6000:]}")
        return seconds, result.stdout


def measure(site: Site, runs: int) -> Result:
    """Provision both hosts, then time a ping, the collection and the baseline in turn, ``runs`` times.

    :raises BenchmarkError: if a run fails.
    """
    first: dict[str, float] = {}
    for number, (host, name) in enumerate(((OURS, "the collection"), (BASELINE, "plain tasks")), 1):
        _say(f"step {number} of 4: provisioning {host} with {name} (a minute or more)")
        first[host], output = site.play(host)
        _say(f"  {first[host]:.0f} s, {changed_tasks(output, host)} tasks changed it")
    _say("step 3 of 4: counting the remote calls of a converged run, untimed")
    calls = {host: count_calls(site.play(host, "-vvv")[1]) for host in (OURS, BASELINE)}
    times: dict[str, list[float]] = {"ping": [], OURS: [], BASELINE: []}
    changed = {OURS: 0, BASELINE: 0}
    for run in range(1, runs + 1):
        # An untimed ping before each timed command opens the connection, so that all commands start warm.
        site.ping(OURS)
        times["ping"].append(site.ping(OURS))
        for host in (OURS, BASELINE):
            site.ping(host)
            seconds, output = site.play(host)
            times[host].append(seconds)
            changed[host] += changed_tasks(output, host)
        _say(
            f"step 4 of 4: round {run} of {runs}: ping {times['ping'][-1]:.2f} s, ours {times[OURS][-1]:.2f} s, "
            f"baseline {times[BASELINE][-1]:.2f} s"
        )
    return Result(
        ansible_core=ansible_core(),
        ping=Times(tuple(times["ping"])),
        ours=Times(tuple(times[OURS])),
        baseline=Times(tuple(times[BASELINE])),
        ours_calls=calls[OURS],
        baseline_calls=calls[BASELINE],
        ours_changed=changed[OURS],
        baseline_changed=changed[BASELINE],
        ours_first=first[OURS],
        baseline_first=first[BASELINE],
    )


def ansible_core() -> str:
    """Return the version of ansible-core that runs the plays."""
    from ansible.release import __version__

    return str(__version__)


def _say(text: str) -> None:
    print(f"noop: {text}", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Start the bench, measure and print; in any case, stop the bench."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.noop",
        description="What a converged site run costs, beside ping and plain tasks.",
    )
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each command (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args(argv)
    if arguments.runs < 1:
        parser.error("--runs takes a number from 1")
    name = f"bench-{os.getpid()}"
    folder = Path(tempfile.mkdtemp(prefix="noop-"))
    site = Site(folder, benches.Bench(name, "native").folder / "cp")
    try:
        benches.up(name, "native", [OURS, BASELINE], site.inventory)
        site.list_hosts()
        result = measure(site, arguments.runs)
    except LabError as error:
        return fail(error)
    except BenchmarkError as error:
        print(f"noop: error: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        site.close_connections()
        benches.down(name, site.inventory)
        shutil.rmtree(folder)
    print(table(result))
    if arguments.json:
        arguments.json.write_text(json.dumps(as_json(result), indent=1) + "\n")
    if result.ours_changed or result.baseline_changed:
        print("noop: error: a converged run changed something.", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
