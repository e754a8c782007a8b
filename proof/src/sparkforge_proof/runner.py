# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the checks in the environment's interpreter, so that a crash or a hang is a result and not the end.

torch is imported once, which takes a core some seconds. Then a child is forked for each lane, which runs beside the
others, and where ``job["gate"]`` is a file descriptor not before its other end is closed. A lane forks a child for each
family, before CUDA is initialised anywhere, so that each has a context, a memory and flags of its own. That child runs
its checks one after the other and says when each begins and what it found. When one crashes, hangs or leaves the device
unusable, a new child does the rest. A check without an answer (see :data:`check.UNANSWERED`) is run once more after its
family, in a process of its own.

What a lane says goes to a file descriptor of its own, ``results``, one JSON object a line: ``{"event": "ready"}`` once
torch is imported, then for each check ``{"event": "result", …}`` with the fields of :class:`check.Result`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import typing as t

from . import check, endings, sampler
from ._shared.module_utils._core import disk
from .check import FAIL, MEMORY, MISMATCH, PASS, SKIP, SLOW, TIMEOUT, UNANSWERED, WARN, WRONG, Result
from .checks.stack import device, identity

#: By name, those of the families that were imported: a lane imports its own.
CHECKS = check.REGISTERED

#: How long a killed child may take to go, in seconds: one that the GPU's driver holds cannot be killed.
REAP = 10.0
#: How often it is looked whether a silent child has ended, in seconds.
LOOK = 0.5
#: How many parts of a check may crash or hang before the check does.
MOST_PASSED_OVER = 10
#: Checks of the longest lanes, and how far all lanes without one of them stand behind where cores are short.
LONGEST = {
    *("survey.float32", "survey.float64", "survey.bfloat16"),
    *("training.transformer", "training.convolutional", "sizes.many"),
}
BEHIND = 5


def main(path: str, families: t.Sequence[str] = ()) -> None:
    """Import the modules of the checks, which import torch, and run the lanes of the job file."""
    with open(path, encoding="utf-8") as stream:
        job = json.load(stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    _keep_byte_code("torch", os.path.abspath("byte-code"))
    # The first import decides whether anything can be computed at all; the parent times it, and reads our output.
    torch = importlib.import_module("torch")
    for family in families:
        importlib.import_module(family)
    software = identity.software()
    initialised = getattr(getattr(torch, "cuda", None), "is_initialized", lambda: False)()
    processes = [_forked(job, number, software, initialised) for number in range(len(job["lanes"]))]
    for one in job["lanes"]:
        # So that the end of a lane is the end of what it says.
        os.close(one["results"])
    for process in processes:
        os.waitpid(process, 0)


def _keep_byte_code(package: str, directory: str) -> None:
    """Keep the byte code of what is imported in a directory of the run, where the environment has none.

    uv installs without it, and each of some sixty processes would compile again what it imports of torch.
    """
    spec = importlib.util.find_spec(package)
    if spec and spec.cached and not os.path.exists(spec.cached):
        sys.pycache_prefix, sys.dont_write_bytecode = directory, False


def _forked(job: dict[str, t.Any], number: int, software: t.Mapping[str, str | None], initialised: bool) -> int:
    """Run a lane in a process of its own and return its number."""

    def work() -> None:
        mine = job["lanes"][number]
        for one in job["lanes"]:
            if one is not mine:
                os.close(one["results"])
        os.makedirs(mine["directory"], exist_ok=True)
        results = t.cast(t.TextIO, os.fdopen(mine["results"], "w", encoding="utf-8", buffering=1))
        say(results, event="ready", software=software)
        run({**job, **mine}, results, initialised)

    return fork(work)


def fork(work: t.Callable[[], None]) -> int:
    """Run ``work`` in a process of its own and return its number."""
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Without the exit handlers, which belong to the process that was forked.
        os._exit(status)


def run(job: t.Mapping[str, t.Any], results: t.TextIO, initialised: bool) -> None:
    """Run the checks of a lane.

    :param job: the file's, with ``checks`` and ``directory`` of this lane.
    :param initialised: whether importing torch has started CUDA.
    """
    if job.get("gate") is not None:
        # Until the other end is closed: torch is there by then.
        os.read(job["gate"], 1)
    elif not LONGEST.intersection(job["checks"]):
        os.nice(BEHIND)
    blocked, refused = False, None
    # What waits for the others to end has the device for itself, and need not start CUDA for each family.
    for names in [list(job["checks"])] if job.get("gate") is not None else by_process(job["checks"]):
        if initialised:
            # A torch that starts CUDA while it is imported cannot be used after a fork.
            for name in names:
                cause = "Importing torch initialised CUDA, so no processes can be forked for the checks."
                remedy = "Find the cause with python -X importtime: a .pth file or sitecustomize of the environment."
                say_result(results, CHECKS[name].result(FAIL, cause=cause, remedy=remedy))
            continue
        passed_over: dict[str, dict[str, str]] = {}
        queue: list[tuple[list[str], Result | None]] = [(names, None)]
        while queue:
            left, first = queue.pop(0)
            for name in [name for name in left if blocked and CHECKS[name].device == "cuda"]:
                left.remove(name)
                cause = f"Not run: torch does not reach the GPU, see {device.NAME}."
                say_result(results, CHECKS[name].result(SKIP, cause=cause, blocked=True))
            if not left:
                continue
            child = Child(left, job, results, passed_over, first)
            left = child.run()
            if child.refusal is None:
                refused = None
            else:
                # A process in which CUDA did not start cannot try again itself.
                now, reason, factor = time.monotonic(), child.refusal.reason, float(job["limits"]["factor"])
                users = sampler.computing() or sampler.holders()
                refused, tries_again = device.after_refusal(refused, now, users, reason, factor)
                if tries_again:
                    say(results, event="waiting", seconds=now - refused.began, users=refused.users)
                    time.sleep(device.PAUSE * factor)
                    left.insert(0, child.refusal.name)
                else:
                    say_result(results, device.given_up(child.refusal, refused, now))
                    child.failed.add(child.refusal.name)
            blocked = blocked or device.NAME in child.failed
            if left:
                queue.insert(0, (left, None))
            # Each in a process of its own: what one leaves behind is not the next one's.
            queue += [([one.name], one) for one in child.unanswered]


def by_process(names: t.Sequence[str]) -> list[list[str]]:
    """Return the checks that share a process: a family each.

    Whether the GPU can be reached is seen in the process of the family behind it, for CUDA takes seconds to start.
    """
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(CHECKS[name].family, []).append(name)
    found = list(families.values())
    if len(found) > 1 and found[0] == [device.NAME]:
        found[:2] = [found[0] + found[1]]
    return found


def say(stream: t.TextIO, **words: t.Any) -> None:
    """Say one line."""
    stream.write(json.dumps(words) + "\n")
    stream.flush()


def say_result(stream: t.TextIO, result: Result) -> None:
    """Say what a check found."""
    say(stream, event="result", **result.as_row())


class Child:
    """A process that runs checks of one family.

    :param names: the checks, in order.
    :param job: the job file's content.
    :param results: where the results go.
    :param passed_over: by check, its parts that crashed or hung, and how; such a check is begun again without them.
    :param first: what the only check among ``names`` found the first time, where this is the second.
    :ivar unanswered: what is to be run a second time.
    :ivar refusal: the row of a check that another program keeps from the GPU.
    """

    def __init__(
        self,
        names: list[str],
        job: t.Mapping[str, t.Any],
        results: t.TextIO,
        passed_over: dict[str, dict[str, str]],
        first: Result | None = None,
    ) -> None:
        self.names, self.job, self.results, self.passed_over = names, job, results, passed_over
        self.first = first
        self.unanswered: list[Result] = []
        self.failed: set[str] = set()
        self.refusal: Result | None = None
        self.part: str | None = None
        self.output = os.path.join(job["directory"], f"output-{CHECKS[names[0]].family}.log")

    def run(self) -> list[str]:
        """Return the checks that are still to be run, in another process."""
        reading, writing = os.pipe()

        def work() -> None:
            os.close(reading)
            os.close(self.results.fileno())
            self._work(os.fdopen(writing, "w", encoding="utf-8", buffering=1))

        process = fork(work)
        os.close(writing)
        with contextlib.suppress(OSError):  # it did so itself, and may have ended since
            os.setpgid(process, process)
        try:
            return self._follow(process, reading)
        finally:
            os.close(reading)

    # -- in the child

    def _work(self, pipe: t.TextIO) -> None:
        os.setpgid(0, 0)
        log = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        for name in self.names:
            definition = CHECKS[name]
            say(pipe, event="start", check=name)
            offset = os.path.getsize(self.output)
            began = time.monotonic()
            result, usable = self._one(definition, pipe)
            result.seconds = round(time.monotonic() - began, 3)
            self._read_output(result, offset)
            say_result(pipe, result)
            if not usable or (name == device.NAME and result.status == FAIL):
                return

    def _one(self, definition: check.Definition, pipe: t.TextIO) -> tuple[Result, bool]:
        """Run one check; return what it found, and whether the process can still be used."""
        name = definition.name
        context = check.Context(
            device="cpu" if definition.device == "none" else definition.device,
            profile=self.job["profile"],
            reference=self.job["reference"],
            limits=self.job["limits"],
            directory=self.job["directory"],
            step=lambda part: say(pipe, event="step", part=part),
            passed_over=self.passed_over.get(name, {}),
        )
        try:
            found = check.FUNCTIONS[name](context)
            if definition.device == "cuda":
                importlib.import_module("torch").cuda.synchronize()
            result = definition.result(PASS, found.measured, found.bound, ratio=found.ratio, rates=found.rates)
            result.covered, result.coverage = list(found.covered), found.coverage
            if warning := found.warning:
                result.status, result.cause, result.remedy = WARN, warning.cause, warning.remedy
                result.reason, result.blocks = warning.reason, warning.blocks
            return result, True
        except check.Skipped as skipped:
            return definition.result(SKIP, cause=str(skipped)), True
        except Exception as error:
            if not isinstance(error, check.Failed):
                traceback.print_exc()
            usable = self._usable(definition) and not endings.STICKY.search(str(error))
            return endings.failure(definition, error), usable

    @staticmethod
    def _usable(definition: check.Definition) -> bool:
        """Whether the device still answers: an illegal access spoils the context for all that follows."""
        if definition.device != "cuda":
            return True
        try:
            importlib.import_module("torch").cuda.synchronize()
            return True
        except Exception:
            return False

    def _read_output(self, result: Result, offset: int) -> None:
        """Fail a check that printed one of ``FATAL``, whatever the numbers were."""
        sys.stdout.flush()
        sys.stderr.flush()
        fatal, line = endings.telling(disk.tail(self.output, offset))
        if fatal and result.reason not in (WRONG, MISMATCH):
            result.status, result.reason, result.cause = FAIL, fatal.reason, f"{fatal.cause}: {line.rstrip('.')}."
            # What was measured is void.
            result.ratio = None
            result.remedy = getattr(endings.remedies(CHECKS[result.name]), fatal.remedy)

    # -- in the parent

    def _follow(self, process: int, reading: int) -> list[str]:
        """Pass on the child's results; when it ends or must be ended, say which check it was."""
        left = list(self.names)
        current: str | None = None
        deadline = time.monotonic() + self._limit(left[0])
        buffered = b""
        while True:
            ready, _unused, _unused = select.select([reading], [], [], max(0.0, min(LOOK, deadline - time.monotonic())))
            block = os.read(reading, 1 << 16) if ready else b""
            *lines, buffered = (buffered + block).split(b"\n")
            for line in lines:
                said = json.loads(line)
                if said["event"] == "start":
                    current, self.part = said["check"], None
                    deadline = time.monotonic() + self._limit(current)
                elif said["event"] == "step" and current:
                    self.part = said["part"]
                    deadline = time.monotonic() + self._limit(current)
                else:
                    del said["event"]
                    self._tell(Result.from_row(said))
                    left.remove(said["name"])
                    current = None
            # Processes that it started may hold the pipe open after its end.
            if (ready and not block) or (not ready and has_ended(process)):
                status = self._end(process)
                lost = current or (left[0] if left == self.names else None)
                if lost and self._passes_over(lost, endings.how_it_ended(status)):
                    return left
                if lost:
                    self._lost(endings.ended_by(CHECKS[lost], status))
                    left.remove(lost)
                return left
            if not ready and time.monotonic() >= deadline:
                lost = current or left[0]
                hindrance = self._hindrance(process, lost)
                self._end(process)
                seconds = self._limit(lost)
                # On a busy machine it is no fault of that part.
                if not hindrance and self._passes_over(lost, f"did not respond within {seconds:.0f} seconds"):
                    return left
                self._lost(endings.hung(CHECKS[lost], seconds, hindrance))
                left.remove(lost)
                return left

    @staticmethod
    def _hindrance(process: int, name: str) -> str:
        """Return what keeps a silent check from its work: a busy machine, or another program on its GPU."""
        others = sampler.others() if CHECKS[name].device == "cuda" else []
        return f"the GPU is in use by {', '.join(map(str, others))}" if others else sampler.hindrance(process)

    def _limit(self, name: str) -> float:
        return CHECKS[name].seconds * float(self.job["limits"]["factor"])

    def _passes_over(self, name: str, how: str) -> bool:
        """Say whether a check is begun again without the part that ended it."""
        passed = self.passed_over.setdefault(name, {})
        if not CHECKS[name].steps or self.part is None or len(passed) >= MOST_PASSED_OVER:
            return False
        passed[self.part] = how
        return True

    def _lost(self, result: Result) -> None:
        """Tell what became of a check whose process ended."""
        from ._shared.module_utils._diagnosis import scan  # that nobody needs where all goes well

        printed = disk.tail(self.output)
        fatal, line = endings.telling(printed)
        if fatal and fatal.reason == WRONG:
            result.reason = WRONG
        if fatal and result.reason == fatal.reason:
            result.remedy = getattr(endings.remedies(CHECKS[result.name]), fatal.remedy)
        if line:
            result.cause = f"{result.cause} It printed: {line}"
        if not fatal and (known := scan.diagnose(printed)).rule:
            result.cause, result.remedy = f"{result.cause} {known.cause}", known.remedy
        self._tell(result)

    def _tell(self, result: Result) -> None:
        """Pass a result on; what has no answer is run once more before."""
        definition, first = CHECKS[result.name], self.first
        of_gpu = definition.device == "cuda" or "CUDA" in result.cause
        late = result.name == device.NAME and result.reason in (TIMEOUT, SLOW)
        refused = late or (of_gpu and device.is_refused(result, sampler.computing() if result.reason == MEMORY else []))
        if result.status == FAIL and self.refusal is None and refused:
            self.refusal = result
            return
        if result.status == FAIL:
            self.failed.add(result.name)
        # All that follows on the GPU waits for whether it can be reached, and is skipped by then.
        repeated = result.name != device.NAME
        if result.reason in UNANSWERED and result.status == FAIL and first is None and repeated:
            self.unanswered.append(result)
            return
        if first is not None and result.reason in UNANSWERED:
            result.cause += " It was run twice."
        elif first is not None:
            result.measured += f" (at the second try; the first: {first.reason})"
        say_result(self.results, result)

    @staticmethod
    def _end(process: int) -> int:
        """Kill what is left of the process and of what it started, and return its code."""
        deadline = time.monotonic() + REAP
        while not has_ended(process) and time.monotonic() < deadline - REAP + 1:
            time.sleep(0.01)
        # Before it is reaped, so that the number still is that of its group.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                kill(process, signal.SIGKILL)
        while not has_ended(process) and time.monotonic() < deadline:
            time.sleep(0.01)
        return os.waitstatus_to_exitcode(os.waitpid(process, os.WNOHANG)[1])


def has_ended(process: int) -> bool:
    """Say whether a child has ended, without reaping it."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


if __name__ == "__main__":
    main(sys.argv[1])
