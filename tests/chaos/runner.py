# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs combinations on a machine and judges what is left of them."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.host import LabError
from tests.chaos import breaking, state
from tests.chaos.machine import HOST, Held, Machine
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.chaos.table import Combination

NOBODY = Held([], "")
#: Seconds after which a run is ended that comes to no end: an error, not a measure of speed.
LIMIT = 900


@dataclass
class Outcome:
    """What became of a combination: what the run said, the state that it left, and what is wrong."""

    combination: Combination
    said: str = ""
    state: str = ""
    problems: list[str] = field(default_factory=list)
    unmade: str = ""
    seconds: float = 0

    def __str__(self) -> str:
        result = f"not made ({self.unmade})" if self.unmade else "FAILED" if self.problems else "survived"
        head = f"{result:8} {self.seconds:5.0f} s  {': '.join(self.combination.names)} [{self.said}; {self.state}]"
        return "\n".join([head, *(f"    {problem}" for problem in self.problems[:12])])


class Runner:
    """A machine and the scenarios that were prepared on it."""

    def __init__(self, name: str) -> None:
        self.machine = Machine(name)
        self.fresh: Path | None = None
        self.log = self.machine.folder / "run.log"

    def __enter__(self) -> Runner:
        try:
            self.machine.up()
            self.fresh = self.machine.keep("fresh")
        except BaseException:
            self.machine.down()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.machine.down()

    def _play(self, scenario: Scenario) -> subprocess.Popen[bytes]:
        return self.machine.play(scenario.playbook(self.machine), scenario.variables(self.machine), self.log)

    def _converge(self, scenario: Scenario) -> None:
        if self._play(scenario).wait(LIMIT):
            raise LabError(f"The scenario {scenario.name} fails undisturbed:\n{self.log.read_text()[-3000:]}")

    def _prepared(self, name: str) -> tuple[Scenario, Path]:
        assert self.fresh
        scenario = SCENARIOS[name]
        self.machine.restore(self.fresh)
        scenario.prepare(self.machine)
        return scenario, self.machine.keep(name)

    def trace(self, name: str) -> str:
        scenario, _kept = self._prepared(name)
        self.machine.plan("*", r"/opt/|/etc/|/usr/local|/var/(log|lib|tmp)|apt|dpkg")
        self._converge(scenario)
        return (self.machine.control / "trace").read_text()

    def run(self, name: str, combinations: Sequence[Combination], deadline: float | None) -> Iterator[Outcome]:
        """Prepare a scenario, see what it does undisturbed, and disturb it."""
        scenario, kept = self._prepared(name)
        before = state.look(self.machine.root)
        self._converge(scenario)
        after = state.look(self.machine.root)
        mounts = self.machine.mounts()
        for one in combinations:
            if deadline and time.monotonic() > deadline:
                return
            if one.unmade:
                yield Outcome(one, unmade=one.unmade)
                continue
            began = time.monotonic()
            outcome = Outcome(one)
            try:
                self.machine.restore(kept)
                self._disturb(scenario, one, outcome)
                now = state.look(self.machine.root)
                outcome.state = state.called(before, now, after)
                outcome.problems += state.neither(before, now, after, apt=one.point.kind in ("dpkg", "apt", "lock"))
                self._again(scenario, outcome, after, mounts)
            except (LabError, OSError, subprocess.TimeoutExpired) as error:
                outcome.problems.append(f"{type(error).__name__}: {error}")
                self.machine.restart()
            outcome.seconds = time.monotonic() - began
            yield outcome

    def _disturb(self, scenario: Scenario, one: Combination, outcome: Outcome) -> None:
        """Run with the fault, mend it, and say what the run printed of it."""
        point, fault = one.point, breaking.FAULTS[one.fault]
        steps = None
        if point.event:
            self.machine.plan(point.event, point.match, point.nth)
        else:
            steps = fault(self.machine, NOBODY, point.paths)
            next(steps)
        run = self._play(scenario)
        try:
            if point.event:
                held = self._wait(run)
                steps = fault(self.machine, held, point.paths)
                lasts = next(steps)
                self.machine.release()
                if lasts is not None:
                    time.sleep(lasts)
                    next(steps, None)
            run.wait(LIMIT)
        finally:
            self.machine.release()
            if run.poll() is None:
                run.kill()
                run.wait()
        assert steps
        next(steps, None)
        output = self.log.read_text(errors="replace")
        outcome.said = _said(output, run.returncode)
        killed = one.fault.startswith(("kill", "container", "power"))
        if "Traceback" in output and not killed:
            outcome.problems.append(f"a traceback: {output[output.index('Traceback') :][:600]}")

    def _wait(self, run: subprocess.Popen[bytes]) -> Held:
        while True:
            # Asked in this order: a run may end between the two.
            ended = run.poll() is not None
            held = self.machine.held()
            if held:
                return held
            if ended:
                raise LabError(f"The run ended and never came to the point: {_said(self.log.read_text(), 0)}")
            time.sleep(0.05)

    def _again(self, scenario: Scenario, outcome: Outcome, after: state.Look, mounts: list[str]) -> None:
        """The next ordinary run, without help."""
        again = self._play(scenario)
        try:
            code = again.wait(LIMIT)
        except subprocess.TimeoutExpired:
            again.kill()
            outcome.problems.append("the next run comes to no end")
            return
        output = self.log.read_text(errors="replace")
        if code:
            outcome.problems.append(f"the next run fails: {_said(output, code)}")
        now = state.look(self.machine.root)
        outcome.problems += [f"after the next run {one}" for one in state.unlike(after, now)]
        deadline = time.monotonic() + 20
        while left := [command for inside, (_, command) in self.machine.processes().items()
                       if inside != 1 and command and not re.match(r"sshd|\(?sftp", command)]:  # fmt: skip
            if time.monotonic() > deadline:
                outcome.problems += [f"a process is left: {command[:150]}" for command in left]
                break
            time.sleep(0.2)
        if self.machine.mounts() != mounts:
            outcome.problems.append(f"mounts are left: {set(self.machine.mounts()) ^ set(mounts)}")


def _said(output: str, code: int) -> str:
    """Return what a person reads of a run in one line."""
    if not code and "fatal:" not in output:
        return "went through"
    found = re.search(r"^fatal: \[%s\]: (\w+)!?.*?(?:^ *msg: (.*?)$|$)" % HOST, output, re.M | re.S)
    message = re.search(r"^ *msg: *(?:[|>]-?\n\s*|')?(.+)$", output[output.find("fatal:") :], re.M)
    text = message[1] if message else output[-200:]
    return f"{found[1].lower() if found else 'failed'}: {' '.join(text.split())[:160]}"
