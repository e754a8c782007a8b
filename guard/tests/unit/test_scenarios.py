"""The scenarios of guard/tests on a simulated host with 120 GiB: the process that is killed, and how soon.

The guard is real; memory and processes are simulated with their own clock. Each run draws the growth rates, the times
that processes take to exit, and the delay of NVML's figures. The kernel's behaviour without memory is not simulated
(see guard/tests/vm.py).
"""

import random
import signal
import typing as t

import pytest
from sparkforge_guard import host, policy, watch

from guard.tests.scenarios import SCALED, SCENARIOS, Actor, Scenario

GIB = 1 << 30
TOTAL = 120 * GIB
#: Time limit of a run in seconds.
LONGEST = 60.0


class Running:
    """A process of the simulation."""

    def __init__(self, actor: Actor, pid: int, group: int, start: float, rate: float, goal: float) -> None:
        self.actor, self.pid, self.group, self.start, self.rate, self.goal = actor, pid, group, start, rate, goal
        self.held = 0.0
        self.ends: float | None = None


class Simulated:
    """A host with a simulated clock."""

    has_pressure = True

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.now, self.pid = draw, 1000.0, 1000
        self.running: dict[int, Running] = {}
        self.gone: list[str] = []
        self.snapshot: dict[int, int] = {}
        self.late: tuple[float, dict[int, int]] | None = None
        self.short, self.least = 0.0, 1.0

    def start(self, actor: Actor, ready: bool) -> None:
        """Start an actor; a ready one holds all of its memory already."""
        share = {0: self.draw.uniform(1, 1.5), SCALED: self.draw.uniform(0.5, 1)}.get(actor.rate, actor.rate / SCALED)
        for _ in range(actor.count):
            self.pid += 1
            group = max(self.running) if actor.joined else self.pid
            group = self.running[group].group if actor.joined else group
            running = Running(actor, self.pid, group, self.now, share * 10e9, TOTAL * min(actor.percent, 130) / 100)
            running.held = running.goal if ready else 0.0
            self.running[self.pid] = running

    def available(self) -> float:
        """Return the available memory, which includes the page cache."""
        held = sum(running.held for running in self.running.values() if running.actor.kind != "cache")
        return max(0.0, TOTAL * 0.98 - held)

    def moves(self) -> bool:
        """Tell whether a process is growing or about to exit."""
        return (
            any(running.ends is not None or running.held < running.goal for running in self.running.values())
            or self.late is not None
        )

    def advance(self, seconds: float) -> None:
        """Advance the clock in small steps."""
        while seconds > 0:
            step = min(seconds, 0.02 if self.moves() else 1.0)
            seconds -= step
            self.now += step
            left = self.available()
            for running in list(self.running.values()):
                if running.ends is not None and self.now >= running.ends:
                    self.gone.append(running.actor.name)
                    del self.running[running.pid]
                    continue
                growth = min(running.rate * step, running.goal - running.held, left)
                running.held += growth
                left -= growth
            share = self.available() / TOTAL
            self.least, self.short = min(self.least, share), self.short + step * (share < 0.03)
        if self.late and self.now >= self.late[0]:
            self.snapshot, self.late = self.late[1], None

    def refresh(self) -> None:
        """Read NVML's figures, which become available a little later."""
        held = {running.pid: int(running.held) for running in self.running.values() if running.actor.kind == "gpu"}
        if self.late is None:
            self.late = (self.now + self.draw.uniform(0.01, 0.2), held)

    def memory(self) -> host.Memory:
        return host.Memory(self.now, TOTAL, int(self.available()), 0, 0, 0, 0, 0.0, 0.0, 0, 0)

    def processes(self, gpu: t.Mapping[int, int], swapped: bool, known=()) -> dict[int, host.Process]:
        processes = {pid: self.process(pid, gpu, swapped) for pid in self.running if pid not in known}
        return {pid: process for pid, process in processes.items() if process is not None}

    def process(self, pid: int, gpu: t.Mapping[int, int], swapped: bool) -> host.Process | None:
        running = self.running.get(pid)
        if running is None:
            return None
        own = int(running.held) if running.actor.kind == "plain" else 0
        actor = running.actor
        path = actor.unit if "/" in actor.unit else f"/system.slice/{actor.unit}"
        names = actor.comm or actor.name, host.unit_of(path)
        return host.Process(pid, 1, running.group, running.start, *names, own, gpu.get(pid, 0), actor.uid, path)

    def since_boot(self, moment: float) -> float:
        return moment

    def alive(self, process: host.Process) -> bool:
        return process.pid in self.running

    def kill(self, pid: int, number: int) -> None:
        running = self.running.get(pid)
        if running is None:
            raise ProcessLookupError
        # A process cleans up on SIGTERM; the driver frees 100 GB within a second.
        wait = self.draw.uniform(0.05, 2.0) if number == signal.SIGTERM else self.draw.uniform(0.02, 1.0)
        if number == signal.SIGKILL or not running.actor.deaf:
            running.ends = min(running.ends or 1e18, self.now + wait)
            if number == signal.SIGKILL:
                running.rate = 0.0


def run(scenario: Scenario, seed: int) -> Simulated:
    """Run a scenario with a seed."""
    machine = Simulated(random.Random(seed))
    rules = policy.Rules(first=scenario.first)
    guard = watch.Guard(
        t.cast("t.Any", machine), watch.Levels(), rules, lambda: machine.snapshot, machine.refresh, lambda _act: None,
        machine.kill,
    )  # fmt: skip
    for actor in scenario.before:
        machine.start(actor, True)
        machine.advance(machine.draw.uniform(1, 10))
    for actors in ((), scenario.then):
        for actor in actors:
            machine.start(actor, False)
        end = machine.now + (LONGEST if actors else 10)
        while machine.now < end and (machine.moves() or not actors or machine.available() < 0.06 * TOTAL):
            machine.advance(guard.step() + machine.draw.uniform(0, 0.005))
    return machine


#: Kinds that run only in guard/tests/vm.py; swap is not simulated either.
REAL = ("bomb", "workers", "crowd", "memfd", "file", "leaderless")
NAMES = [
    name
    for name, scenario in SCENARIOS.items()
    if not scenario.swap and all(actor.kind not in REAL for actor in scenario.then)
]


@pytest.mark.parametrize("name", NAMES)
def test_scenario_kills_the_right_process_soon(name: str):
    check(name, range(2))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_scenario_kills_the_right_process_in_twenty_runs(name: str):
    check(name, range(2, 22))


def check(name: str, seeds: t.Iterable[int]) -> None:
    """Run a scenario with each seed, and check its result."""
    scenario = SCENARIOS[name]
    for seed in seeds:
        machine = run(scenario, seed)
        assert set(machine.gone) <= set(scenario.right), (name, seed)
        assert bool(machine.gone) == bool(scenario.right), (name, seed)
        # The seconds spent below the last level.
        assert machine.short < 1.5, (name, seed, machine.short)
