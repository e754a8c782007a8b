"""Runs combinations on a machine and judges the results."""

import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.host import LabError
from tests.chaos import breaking, state
from tests.chaos.machine import HOST, Held, Machine
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.chaos.table import Combination

NOBODY = Held([], "")
#: Seconds after which a run counts as hung; this is an error limit, not a measure of speed.
LIMIT = 900


@dataclass
class Outcome:
    """The outcome of a combination: the run's output, the state that it left, and the problems."""

    combination: Combination
    said: str = ""
    state: str = ""
    problems: list[str] = field(default_factory=list)
    unmade: str = ""
    seconds: float = 0
    #: The commit of the checkout that was tested.
    commit: str = ""

    @property
    def kept(self) -> tuple[str, str, list[str], str, float, str]:
        return self.said, self.state, self.problems, self.unmade, self.seconds, self.commit

    def __str__(self) -> str:
        result = f"not made ({self.unmade})" if self.unmade else "FAILED" if self.problems else "survived"
        head = f"{result:8} {self.seconds:5.0f} s  {': '.join(self.combination.names)} [{self.said}; {self.state}]"
        return "\n".join([head, *(f"    {problem}" for problem in self.problems[:12])])


@dataclass(frozen=True)
class Prepared:
    """A prepared scenario: its initial disk, and the host before and after an undisturbed run."""

    scenario: Scenario
    kept: Path
    before: state.Look
    after: state.Look
    mounts: list[str]


class Runner:
    """A machine and the scenarios that have been prepared on it."""

    def __init__(self, name: str, commit: str = "") -> None:
        self.machine = Machine(name)
        self.commit = commit
        self.fresh: Path | None = None
        self.ready: dict[str, Prepared] = {}
        self.log = self.machine.folder / "run.log"

    def __enter__(self) -> "Runner":
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

    def _start(self, name: str) -> tuple[Scenario, Path]:
        assert self.fresh
        scenario = SCENARIOS[name]
        self.machine.restore(self.fresh)
        scenario.prepare(self.machine)
        return scenario, self.machine.keep(name)

    def trace(self, name: str) -> str:
        """Return those calls of an undisturbed run that touch paths or programs the collection uses."""
        scenario, _kept = self._start(name)
        self.machine.plan("*", r"/opt/|/etc/|/usr/local|/var/(log|lib|tmp)|apt|dpkg")
        self._converge(scenario)
        return (self.machine.control / "trace").read_text()

    def prepared(self, name: str) -> Prepared:
        """Return a prepared scenario, with the host's state before and after an undisturbed run."""
        if name not in self.ready:
            scenario, kept = self._start(name)
            before = state.look(self.machine.root)
            self._converge(scenario)
            self.ready[name] = Prepared(scenario, kept, before, state.look(self.machine.root), self.machine.mounts())
        return self.ready[name]

    def outcome(self, combination: Combination) -> Outcome:
        """Disturb a run with this combination, and judge the result."""
        if combination.unmade:
            return Outcome(combination, unmade=combination.unmade)
        ready = self.prepared(combination.point.scenario)
        began = time.monotonic()
        outcome = Outcome(combination, commit=self.commit)
        try:
            self.machine.restore(ready.kept)
            self._disturb(ready.scenario, combination, outcome)
            now = state.look(self.machine.root)
            outcome.state = state.called(ready.before, now, ready.after)
            apt = combination.point.kind in ("dpkg", "apt", "lock")
            outcome.problems += state.neither(ready.before, now, ready.after, apt, combination.fault == "power loss")
            self._again(ready, combination, outcome)
        except (LabError, OSError, subprocess.SubprocessError) as error:
            outcome.problems.append(f"{type(error).__name__}: {error}")
        outcome.seconds = time.monotonic() - began
        return outcome

    def _disturb(self, scenario: Scenario, combination: Combination, outcome: Outcome) -> None:
        """Run with the fault, repair it, and record the message that the run printed."""
        point, fault = combination.point, breaking.FAULTS[combination.fault]
        steps = None
        if point.event:
            self.machine.plan(point.event, point.match, point.nth)
        else:
            steps = fault(self.machine, NOBODY, point.paths)
            next(steps)
        run = self._play(scenario)
        try:
            if point.event:
                steps = fault(self.machine, self._wait(run), point.paths)
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
        killed = combination.fault.startswith(("kill", "container", "power"))
        # If the host has no space for the module, Ansible fails with a message of its own.
        trace = re.search(r"Traceback.*sparkforge/dgx_spark/plugins.*", output, re.S)
        if trace and not killed:
            outcome.problems.append(f"a traceback: {trace[0][:1500]}")

    def _wait(self, run: subprocess.Popen[bytes]) -> Held:
        while True:
            # Check in this order, because the run may end between the two checks.
            ended = run.poll() is not None
            held = self.machine.held()
            if held:
                return held
            if ended:
                raise LabError(f"The run ended and never came to the point: {_said(self.log.read_text(), 0)}")
            time.sleep(0.05)

    def _again(self, ready: Prepared, combination: Combination, outcome: Outcome) -> None:
        """Run the playbook again, unaided."""
        again = self._play(ready.scenario)
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
        outcome.problems += [f"after the next run {combination}" for combination in state.unlike(ready.after, now)]
        if combination.fault == "network cut":
            self.machine.close_connections()
        deadline = time.monotonic() + 20
        while left := [command for inside, (_, command) in self.machine.processes().items()
                       if inside != 1 and command and not re.match(r"sshd|\(?sftp", command)]:  # fmt: skip
            if time.monotonic() > deadline:
                outcome.problems += [f"a process is left: {command[:150]}" for command in left]
                break
            time.sleep(0.2)
        if mounts := set(self.machine.mounts()) ^ set(ready.mounts):
            outcome.problems.append(f"mounts are left: {mounts}")


def _said(output: str, code: int) -> str:
    """Return the message that a user sees, as one line."""
    if not code and "fatal:" not in output:
        return "went through"
    failure = re.search(rf"^fatal: \[{HOST}\]: (\w+)", output, re.M | re.S)
    message = re.search(r"^ *msg: *(?:[|>]-?\n\s*|')?(.+)$", output[output.find("fatal:") :], re.M)
    text = message[1] if message else output[-200:]
    return f"{failure[1].lower() if failure else 'failed'}: {' '.join(text.split())[:160]}"
