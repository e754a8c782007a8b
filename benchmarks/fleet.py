# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cost of a fleet to its controller: `python -m benchmarks.fleet [--sizes …] [--parts …] [--json FILE]`.

cost: site.yml provisions one host, and baseline/site.yml another; then copies of them are converged again, 1 to 64 of
the first and 16 of the second, and the controller's CPU time is read from the kernel.

rollout: 16 hosts get a stack with one new unit. The benchmark records which hosts compile and how much data goes
through the controller; then all hosts are rolled back to the previous stack.

The exit status is nonzero only if a run failed or a converged run changed something; a missed goal is only printed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import datetime
import json
import math
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing as t
from pathlib import Path

import yaml

from benchmarks import process
from benchmarks.noop import BASELINE, OURS, BenchmarkError, ansible_core
from lab import bench as benches, fleet, image
from lab.host import LabError, fail

CHECKOUT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SIZES = (1, 2, 4, 8, 16, 32, 64)
#: The number of hosts at which both sides are compared.
HOSTS = 16
BASELINE_GOAL = 4.0
#: The maximum exponent that still counts as linear growth (1), allowing for noise.
GROWTH_GOAL = 1.05
ROLLBACK_GOAL = 2.0
#: The fleet sizes in the last table.
PLANNED = (10, 100, 1000)
PARTS = ("cost", "rollout")
#: The number of containers to start at a time, as in lab/bench.py.
STARTERS = 4
#: Connections remain open until the benchmark closes them, because their traffic is counted at the end.
SSH = "-o ControlMaster=auto -o ControlPersist=3600s -o ServerAliveInterval=30"

_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Run:
    """A converged run. Times are in seconds; ``cpu`` is the controller's: Ansible, its workers, and ssh."""

    hosts: int
    forks: int
    wall: float
    cpu: float
    changed: int
    #: Resident memory of the controller's largest process, in MiB.
    memory: float

    @property
    def per_host(self) -> float:
        return self.cpu / self.hosts


@dataclasses.dataclass(frozen=True)
class Rollout:
    """The figures of a rollout in which one unit of the stack is new."""

    hosts: int
    seconds: float
    #: Unit -> the number of hosts that compiled it.
    compiles: dict[str, int]
    #: The size in bytes of the stack's wheels that each host installed.
    wheel_bytes: int
    #: The size in bytes of the controller's wheel cache after the rollout.
    cached_bytes: int
    #: The number of bytes that ssh sent to the hosts, including modules.
    ssh_bytes: int
    #: Host -> seconds taken by the call that switched it back.
    rollback: dict[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Result:
    """All figures of a benchmark."""

    when: str
    machine: str
    load: float
    ansible_core: str
    ours: tuple[Run, ...] = ()
    baseline: Run | None = None
    rollout: Rollout | None = None

    def at(self, hosts: int) -> Run | None:
        """Return the collection's run with this number of hosts."""
        return next((run for run in self.ours if run.hosts == hosts), None)

    @property
    def ratio(self) -> float | None:
        """Return the baseline's controller CPU time relative to the collection's, for the same number of hosts."""
        same = self.at(self.baseline.hosts) if self.baseline else None
        return self.baseline.cpu / same.cpu if self.baseline and same else None


def line(points: t.Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the intercept and slope of the least-squares line."""
    if len(points) < 2:
        return (0.0, points[0][1] / points[0][0]) if points else (0.0, 0.0)
    x_mean = sum(x for x, _y in points) / len(points)
    y_mean = sum(y for _x, y in points) / len(points)
    spread = sum((x - x_mean) ** 2 for x, _y in points)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in points) / spread
    return y_mean - slope * x_mean, slope


def exponent(points: t.Sequence[tuple[float, float]]) -> float | None:
    """Return the power of x with which y grows: 1 if twice the hosts cost twice as much; None for fewer than two x."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    return line(logs)[1] if len({x for x, _y in logs}) > 1 else None


def changed_tasks(output: str, hosts: int) -> int:
    """Return the number of changed tasks from a run's recap.

    :raises BenchmarkError: if a host failed, was unreachable, or is missing from the recap.
    """
    rows = _RECAP.findall(output)
    bad = [row[0] for row in rows if int(row[3]) or int(row[4])]
    if bad or len({row[0] for row in rows} - {"localhost"}) < hosts:
        raise BenchmarkError(f"{', '.join(bad) or 'A host'} failed or was not reached.\n{output[-4000:]}")
    return sum(int(row[2]) for row in rows)


def markdown(rows: t.Sequence[t.Sequence[object]]) -> str:
    """Return a table in Markdown; the first row is the header."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def report(result: Result) -> str:
    """Return the figures as Markdown, each with its goal, for docs/scale.md."""
    parts = [
        f"Measured {result.when} on {result.machine}, load before it {result.load:.1f}, "
        f"ansible-core {result.ansible_core}."
    ]
    if result.ours:
        runs: list[t.Sequence[object]] = [
            ("converged run", "hosts", "forks", "controller CPU", "per host", "wall", "memory", "changed")
        ]
        for name, run in [("sparkforge.dgx_spark", run) for run in result.ours] + (
            [("built-in modules (baseline)", result.baseline)] if result.baseline else []
        ):
            runs.append(
                (name, run.hosts, run.forks, f"{run.cpu:.1f} s", f"{run.per_host:.2f} s", f"{run.wall:.1f} s",
                 f"{run.memory:.0f} MiB", run.changed)
            )  # fmt: skip
        parts.append(markdown(runs))
    parts.append(markdown([("figure", "measured", "goal", ""), *_goals(result)]))
    if len(result.ours) > 1:
        start, slope = line([(run.hosts, run.cpu) for run in result.ours])
        parts.append(
            f"Controller CPU of a converged run: {max(start, 0):.1f} s, and {slope:.2f} s for each host. From that:"
        )
        planned: list[t.Sequence[object]] = [("hosts", "controller CPU", "on 4 cores at least", "on 16 cores at least")]
        for hosts in PLANNED:
            cpu = max(start, 0) + slope * hosts
            planned.append((hosts, f"{cpu:.0f} s", *(_duration(cpu / cores) for cores in (4, 16))))
        parts.append(markdown(planned))
    return "\n\n".join(parts)


def _goals(result: Result) -> t.Iterator[t.Sequence[object]]:
    """Yield each figure's name, value and goal, and whether the goal was met."""

    def judged(good: bool) -> str:
        return "met" if good else "missed"

    if result.baseline and (ratio := result.ratio):
        name = f"controller CPU, baseline / ours, {result.baseline.hosts} hosts"
        yield name, f"{ratio:.1f}", f"{BASELINE_GOAL:g} at least", judged(ratio >= BASELINE_GOAL)
    # Below 4 hosts, Ansible's own start-up time dominates.
    for name, points in (
        ("growth of controller CPU: hosts to the power of", [(run.hosts, run.cpu) for run in result.ours]),
        ("growth of wall time: hosts to the power of", [(run.hosts, run.wall) for run in result.ours]),
    ):
        power = exponent([point for point in points if point[0] >= 4])
        if power is not None:
            yield name, f"{power:.2f}", f"{GROWTH_GOAL:g} at most", judged(power <= GROWTH_GOAL)
    if rollout := result.rollout:
        for unit, compiles in sorted(rollout.compiles.items()):
            yield f"hosts of {rollout.hosts} that compiled {unit}", compiles, "1", judged(compiles == 1)
        yield (
            f"wheels through the controller ({rollout.wheel_bytes / 1e6:.0f} MB for each of {rollout.hosts} hosts)",
            f"{rollout.cached_bytes} bytes", "0", judged(rollout.cached_bytes == 0),
        )  # fmt: skip
        # If the traffic included a wheel for each host, it would exceed all other data.
        carried = rollout.ssh_bytes / rollout.hosts
        yield (
            "all that ssh carried to a host, modules included", f"{carried / 1e6:.1f} MB", "less than a wheel",
            judged(carried < rollout.wheel_bytes),
        )  # fmt: skip
        yield f"rollout to {rollout.hosts} hosts, one unit new", _duration(rollout.seconds), "", ""
        if rollout.rollback:
            worst = max(rollout.rollback.values())
            name = f"rollback, the slowest of {len(rollout.rollback)} hosts"
            yield name, f"{worst:.2f} s", f"{ROLLBACK_GOAL:g} s at most", judged(worst <= ROLLBACK_GOAL)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class Controller:
    """Runs Ansible as a user would, and measures the controller's cost."""

    def __init__(self, inventory: Path, sockets: Path, folder: Path) -> None:
        """:param inventory: the file. :param sockets: the directory for the connections' sockets. :param folder: the
        directory for reports and output."""
        self.inventory = inventory
        self._sockets = sockets
        self._folder = folder
        self._environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_SSH_ARGS": SSH,
            # On a busy machine, sudo may take longer than Ansible's default of 10 s.
            "ANSIBLE_TIMEOUT": "60",
        }

    def play(self, playbook: str | Path, hosts: t.Sequence[str], *arguments: str, **variables: object) -> Run:
        """Run a playbook on hosts.

        :raises BenchmarkError: if it fails on any of them.
        """
        extra = json.dumps({"verify_report_directory": str(self._folder / "reports"), **variables})
        limit = self._folder / f"{hosts[0]}.limit"
        limit.write_text("\n".join(hosts) + "\n")
        run, output = self._run("ansible-playbook", str(playbook), "-l", f"@{limit}", "-e", extra, *arguments)
        return dataclasses.replace(run, hosts=len(hosts), changed=changed_tasks(output, len(hosts)))

    def ping(self, hosts: t.Sequence[str]) -> None:
        """Open the connections that are not open yet."""
        self._run("ansible", ",".join(hosts), "-m", "ansible.builtin.ping")

    def carried(self) -> int:
        """Return the bytes that the open connections have written, most of them to hosts and a few to their clients."""
        return sum(_written(pid) for pid in self._masters())

    def close_connections(self) -> None:
        """Close the ssh processes that keep the connections open."""
        for socket in self._sockets.glob("*"):
            command = ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "bench"]
            subprocess.run(command, capture_output=True, check=False)

    def events(self, playbook: str, hosts: t.Sequence[str], forks: int, **variables: object) -> list[dict[str, t.Any]]:
        """Run a playbook with ansible-runner and return its events, with the duration of each task on each host."""
        import ansible_runner  # type: ignore[import-untyped]

        private = Path(tempfile.mkdtemp(prefix="runner-", dir=self._folder))
        result = ansible_runner.run(
            private_data_dir=str(private), project_dir=str(CHECKOUT), playbook=playbook, quiet=True,
            inventory=str(self.inventory), limit=",".join(hosts), forks=forks, extravars=variables,
            envvars={**self._environment, "PATH": f"{BIN}:{os.environ['PATH']}"},
        )  # fmt: skip
        events = list(result.events)
        if result.rc:
            messages = [
                event["event_data"]["res"].get("msg") for event in events if event["event"] == "runner_on_failed"
            ]
            raise BenchmarkError(f"{playbook} ended with {result.rc}: {messages}")
        return events

    def _run(self, tool: str, *arguments: str) -> tuple[Run, str]:
        command = [str(BIN / tool), "-i", str(self.inventory), *arguments]
        printed = self._folder / "output.log"
        before = self._connections()
        started = time.monotonic()
        with printed.open("wb") as stream:
            child = subprocess.Popen(
                command, cwd=CHECKOUT, env=self._environment, stdin=subprocess.DEVNULL, stdout=stream,
                stderr=subprocess.STDOUT,
            )  # fmt: skip
        # Measure the usage of the child and of all processes that it waited for, which Popen does not report.
        _pid, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        code = child.returncode = os.waitstatus_to_exitcode(status)
        output = printed.read_text(errors="replace")
        if code:
            raise BenchmarkError(f"{' '.join(command)} ended with {code}.\n{output[-6000:]}")
        cpu = usage.ru_utime + usage.ru_stime + self._connections() - before
        return Run(0, self._forks(arguments), wall, cpu, 0, usage.ru_maxrss / 1024), output

    def _forks(self, arguments: t.Sequence[str]) -> int:
        if "-f" in arguments:
            return int(arguments[arguments.index("-f") + 1])
        match = re.search(r"^forks = (\d+)$", (CHECKOUT / "ansible.cfg").read_text(), re.M)
        return int(match[1]) if match else 5

    def _connections(self) -> float:
        """Return the CPU time of the ssh processes that keep the connections open; no process waits for them."""
        return sum(master.own for pid in self._masters() if (master := process.look_at(pid)))

    def _masters(self) -> t.Iterator[int]:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                command_line = path.read_bytes()
                if command_line.startswith(b"ssh: ") and str(self._sockets).encode() in command_line:
                    yield int(path.parent.name)


def _written(pid: int) -> int:
    try:
        match = re.search(r"^wchar: (\d+)$", Path(f"/proc/{pid}/io").read_text(), re.M)
    except OSError:
        return 0
    return int(match[1]) if match else 0


class Copies:
    """Containers whose root file systems are based on a provisioned container's; each has its own address."""

    def __init__(self, bench: benches.Bench) -> None:
        self._bench = bench

    def start(self, like: str, hosts: t.Sequence[str]) -> dict[str, str]:
        """Start the containers; return host -> address. ``like`` is stopped, for its file system must not change."""
        source = self._bench.containers[like]
        image.podman("stop", "-t", "0", source)
        root = image.podman("mount", source).stdout.strip()
        try:
            with concurrent.futures.ThreadPoolExecutor(STARTERS) as pool:
                return dict(zip(hosts, pool.map(lambda host: self._start(host, root), hosts)))
        finally:
            # Sorted by name, ours… and plain… come before spark…: copies are stopped before the container below them.
            self._bench.containers = dict(sorted(self._bench.containers.items()))
            self._bench.save()

    def _start(self, host: str, root: str) -> str:
        options = ["--hostname", host, "--name", f"{self._bench.id}-{host}"]
        options += ["--add-host", f"{benches.MIRROR_NAME}:{benches.bridge_address()}"]
        command = ["--rootfs", f"{root}:O", *benches.INIT_COMMANDS["sshd"]]
        known = image.podman("run", "-d", *options, *command).stdout.strip()
        # The bench stops the containers it has recorded.
        self._bench.containers[host] = known
        return image.podman("inspect", known, "--format", benches.ADDRESS_FORMAT).stdout.strip()

    @staticmethod
    def describe(inventory: Path, copies: t.Mapping[str, t.Mapping[str, str]]) -> None:
        """Write the inventory of the copies, which share the host key of their original."""
        hosts = {
            host: {
                "ansible_host": address,
                "ansible_ssh_common_args": f"-F {{{{ lab_ssh_config }}}} -o HostKeyAlias={like}",
            }
            for like, addresses in copies.items()
            for host, address in addresses.items()
        }
        inventory.write_text(yaml.safe_dump({"all": {"children": {"lab": {"hosts": hosts}}}}))


def measure_cost(folder: Path, sizes: t.Sequence[int], baseline_hosts: int) -> tuple[list[Run], Run]:
    """Provision one host for each side, copy both, and converge the copies.

    :raises BenchmarkError: if a run fails.
    """
    name = f"bench-{os.getpid()}"
    inventory = folder / "inventory"
    controller = Controller(inventory / "lab.yml", benches.Bench(name, "native").folder / "cp", folder)
    try:
        bench = benches.up(name, "native", [OURS, BASELINE], inventory)
        listed = dict.fromkeys((OURS, BASELINE))
        (inventory / "lab.yml").write_text(yaml.safe_dump({"all": {"children": {"lab": {"hosts": listed}}}}))
        for host, playbook in ((OURS, "site.yml"), (BASELINE, "benchmarks/baseline/site.yml")):
            _say(f"cost: provisioning {host} with {playbook} (a minute or more)")
            controller.play(playbook, [host])
        controller.close_connections()
        ours = [f"ours{number:02d}" for number in range(1, max(sizes) + 1)]
        plain = [f"plain{number:02d}" for number in range(1, baseline_hosts + 1)]
        _say(f"cost: starting {len(ours)} copies of {OURS} and {len(plain)} of {BASELINE}")
        copies = Copies(bench)
        addresses = {OURS: copies.start(OURS, ours), BASELINE: copies.start(BASELINE, plain)}
        copies.describe(inventory / "lab.yml", addresses)
        # The baseline writes a report to the controller; a report with a new name would count as a change.
        written = json.loads((folder / "reports" / f"{BASELINE}.json").read_text())
        for host in plain:
            text = json.dumps({**written, "host": host}, indent=4, sort_keys=True)
            (folder / "reports" / f"{host}.json").write_text(f"{text}\n")
        controller.ping([*ours, *plain])
        runs = []
        for size in sizes:
            runs.append(controller.play("site.yml", ours[:size]))
            _say(f"cost: {size} hosts: {runs[-1].cpu:.1f} s of CPU, {runs[-1].wall:.1f} s")
        baseline = controller.play("benchmarks/baseline/site.yml", plain)
        _say(f"cost: baseline, {baseline_hosts} hosts: {baseline.cpu:.1f} s of CPU, {baseline.wall:.1f} s")
        return runs, baseline
    finally:
        controller.close_connections()
        benches.down(name, inventory)


def measure_rollout(folder: Path, count: int) -> Rollout:
    """Start a fleet, roll out a stack with one new unit, and roll back.

    :raises BenchmarkError: if a run fails.
    """
    name = f"bench-fleet-{os.getpid()}"
    inventory = folder / "inventory"
    controller = Controller(inventory / "fleet.yml", benches.Bench(name, "native").folder / "cp", folder)
    hosts = fleet.names(count)
    first, second = hosts[:2]
    try:
        bench = fleet.up([first, second], name, inventory)
        _say(f"rollout: provisioning {first} and {second}, which the others are copies of (a minute or more)")
        controller.play("site.yml", [first, second])
        serve = folder / "serve.yml"
        roles = ["sparkforge.dgx_spark.stack", "sparkforge.dgx_spark.wheelhouse"]
        serve.write_text(yaml.safe_dump([{"hosts": "all", "become": True, "gather_facts": False, "roles": roles}]))
        controller.play(serve, [first])
        fleet.join(bench, hosts[2:], inventory, like=second)
        stack = "lab-fleet-next"
        fleet.add_stack(bench, inventory, stack)
        url = {"sparkforge_wheelhouse_url": f"http://{bench.addresses[first]}:8629"}
        cache = bench.folder / "wheelhouse"
        # Until the wheelhouse was served, the second host's wheels came through the controller.
        built, carried, cached = _built(bench, hosts), controller.carried(), _cached(cache)
        _say(f"rollout: {stack} to {count} hosts in waves (some minutes)")
        run = controller.play("site.yml", hosts, stack_name=stack, **url)
        rollout = Rollout(
            hosts=count,
            seconds=run.wall,
            compiles=compiled(built, _built(bench, hosts)),
            wheel_bytes=sum(wheel["size"] for wheel in _wheels(cache, stack)),
            cached_bytes=_cached(cache) - cached,
            ssh_bytes=controller.carried() - carried,
        )
        # A rollback needs no network, so stop the mirror and the wheelhouse.
        if bench.server:
            os.kill(bench.server, signal.SIGTERM)
        image.podman("exec", bench.containers[first], "sh", "-c", "nginx -s stop || true", quiet=True)
        _say(f"rollout: {count} hosts back to the stack before, with the mirror and the wheelhouse gone")
        # Run as many at once as there are cores: the hosts share them here, and would otherwise wait for one another.
        events = controller.events(
            "playbooks/rollback.yml", hosts, forks=process.cores(), verify_report_directory=str(folder / "reports")
        )
        return dataclasses.replace(rollout, rollback=switches(events))
    finally:
        controller.close_connections()
        benches.down(name, inventory)


def _built(bench: benches.Bench, hosts: t.Sequence[str]) -> dict[str, set[str]]:
    """Return host -> the units with fingerprints in its wheelhouse."""
    script = "cd /opt/sparkforge/wheelhouse 2>/dev/null && ls -d */*/* || true"
    by_host = {}
    for host in hosts:
        listed = image.podman("exec", bench.containers[host], "sh", "-c", script).stdout.split()
        by_host[host] = {path for path in listed if re.fullmatch(r"[^/]+/[^/]+/[0-9a-f]{16}", path)}
    return by_host


def compiled(before: t.Mapping[str, set[str]], after: t.Mapping[str, set[str]]) -> dict[str, int]:
    """Return unit -> the number of hosts on which one of its fingerprints is new."""
    counts: dict[str, int] = {}
    for host, paths in after.items():
        for path in paths - before.get(host, set()):
            unit = path.split("/")[1]
            counts[unit] = counts.get(unit, 0) + 1
    return counts


def _cached(cache: Path) -> int:
    """Return the size in bytes of the controller's cached wheels."""
    return sum(path.stat().st_size for path in cache.glob("*/wheels/**/*") if path.is_file())


def _wheels(cache: Path, stack: str) -> list[dict[str, t.Any]]:
    """Return the wheels in the controller's cached manifest."""
    manifests = [json.loads(path.read_text()) for path in cache.glob(f"*/manifests/{stack}-*.json")]
    return [wheel for manifest in manifests for unit in manifest["units"] for wheel in unit["wheels"]]


def switches(events: t.Iterable[t.Mapping[str, t.Any]]) -> dict[str, float]:
    """Return host -> seconds of its python_env call, from a rollback's events."""
    seconds: dict[str, float] = {}
    for event in events:
        data = event.get("event_data", {})
        if event["event"] == "runner_on_ok" and data.get("task_action", "").endswith("python_env"):
            seconds[data["host"]] = max(seconds.get(data["host"], 0.0), float(data["duration"]))
    return seconds


def _say(text: str) -> None:
    print(f"fleet: {text}", flush=True)


def main(argv: list[str] | None = None) -> int:
    """Measure and print; in any case, stop the benches."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fleet", description="What a fleet costs its controller, beside plain tasks."
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N", help="numbers of hosts")
    parser.add_argument("--hosts", type=int, default=HOSTS, metavar="N", help=f"of baseline and rollout ({HOSTS})")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what is measured (all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args(argv)
    if min(*arguments.sizes, arguments.hosts) < 1 or ("rollout" in arguments.parts and arguments.hosts < 2):
        parser.error("--sizes takes numbers from 1, and --hosts one from 2")
    result = Result(
        when=f"{datetime.datetime.now():%Y-%m-%d}",
        machine=f"{process.cores()} cores, {platform.machine()}",
        load=os.getloadavg()[0],
        ansible_core=ansible_core(),
    )
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    try:
        for part in arguments.parts:
            (folder / part).mkdir()
        if "cost" in arguments.parts:
            # Both sides are compared at the same number of hosts.
            sizes = sorted({*arguments.sizes, arguments.hosts})
            ours, baseline = measure_cost(folder / "cost", sizes, arguments.hosts)
            result = dataclasses.replace(result, ours=tuple(ours), baseline=baseline)
        if "rollout" in arguments.parts:
            result = dataclasses.replace(result, rollout=measure_rollout(folder / "rollout", arguments.hosts))
    except LabError as error:
        return fail(error)
    except BenchmarkError as error:
        print(f"fleet: error: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        shutil.rmtree(folder)
    print(f"\n{report(result)}\n")
    _say(f"{_duration(time.monotonic() - started)} in all")
    if arguments.json:
        arguments.json.write_text(json.dumps(dataclasses.asdict(result), indent=1) + "\n")
    changed = sum(run.changed for run in result.ours) + (result.baseline.changed if result.baseline else 0)
    if changed:
        print("fleet: error: a converged run changed something.", file=sys.stderr, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
