"""Run the checks in the environment's interpreter, in child processes, so that a crash or a hang fails only one check.

The runner imports torch once, which takes a few seconds, and forks a process for each lane; the lanes run in parallel.
If ``job["gate"]`` is a file descriptor, the lane waits until its other end is closed. Before CUDA is initialised
anywhere, a lane forks a child for each family, so that each family has its own CUDA context, memory and flags. The
child runs its checks one after the other and reports the start and the result of each one. If a check crashes, hangs or
leaves the device unusable, a new child runs the remaining checks. An unanswered check (see :data:`check.UNANSWERED`) is
repeated after its family, in a separate process.

Each lane writes JSON lines to the file descriptor ``results``: ``{"event": "ready"}`` once torch has been imported,
then for each check ``{"event": "result", …}`` with the fields of :class:`check.Result`.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import gc
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
from ._shared.module_utils._core import contents, phrases
from .check import FAIL, MEMORY, MISMATCH, PASS, SKIP, SLOW, TIMEOUT, UNANSWERED, WARN, WRONG, Result
from .checks.stack import device, identity

#: The checks in the modules imported so far, by name.
CHECKS = check.REGISTERED

#: How many seconds to wait for a killed child to exit: a child that is blocked in the GPU driver cannot be killed.
REAP = 10.0
#: The interval in seconds at which to test whether a silent child has exited.
LOOK = 0.5
#: The factor on the time limits in a full proof, in which many checks compute or compile far more.
IN_FULL = 4.0
#: How many parts of a check may crash or hang before the check fails.
MOST_PASSED_OVER = 10
#: Checks in the longest lanes; all other lanes get the niceness ``NICENESS``.
LONGEST = {
    *("survey.float32", "survey.float64", "survey.bfloat16", "compilation.panels"),
    *("training.transformer", "sizes.many"),
}
NICENESS = 5
#: A module that all checks in these families import. Without byte code, this takes 3 seconds of a core.
SHARED, SHARING = "torch._dynamo", {"attention", "collectives", "layouts", "survey", "training"}


def main(path: str, modules: t.Mapping[str, t.Sequence[str]] | None = None) -> None:
    """Import the check modules, which import torch, and run the lanes in the job file.

    :param modules: the names of the checks in each module.
    """
    with open(path, encoding="utf-8") as stream:
        job = json.load(stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    _keep_byte_code("torch", os.path.abspath("byte-code"))
    # The parent process limits the time for this import, and reports its error.
    torch = importlib.import_module("torch")
    for module, names in (modules or {}).items():
        try:
            importlib.import_module(module)
        except Exception as error:
            _register_broken(names, error)
    initialised = getattr(getattr(torch, "cuda", None), "is_initialized", lambda: False)()
    processes = _fork_lanes(job, identity.software(), initialised)
    for lane in job["lanes"]:
        # Only the lane may keep its pipe open, so that the pipe closes when the lane exits.
        os.close(lane["results"])
    for process in processes:
        os.waitpid(process, 0)


def _keep_byte_code(package: str, directory: str) -> None:
    """Cache byte code in the run's directory if the environment has none.

    uv installs packages without byte code, and each of about sixty processes would compile torch's modules again.
    """
    spec = importlib.util.find_spec(package)
    if spec and spec.cached and not os.path.exists(spec.cached):
        sys.pycache_prefix, sys.dont_write_bytecode = directory, False
        # The ranks of a collective are interpreters of their own.
        os.environ["PYTHONPYCACHEPREFIX"] = directory
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _register_broken(names: t.Sequence[str], error: Exception) -> None:
    """Let checks raise the error with which the import of their module ended."""

    def function(context: check.Context) -> t.NoReturn:
        raise error

    for name in names:
        family = name.removeprefix("cpu.").partition(".")[0]
        CHECKS[name], check.FUNCTIONS[name] = check.Definition(name, family, "none", True, 60, ""), function


def _fork_lanes(job: dict[str, t.Any], software: t.Mapping[str, str | None], initialised: bool) -> list[int]:
    """Run each lane in a forked process, those that share a module after its import, and return the PIDs."""
    later = [lane for lane in job["lanes"] if any(CHECKS[name].family in SHARING for name in lane["checks"])]
    lanes = [lane for lane in job["lanes"] if lane not in later]
    # A collection in a lane would visit and thereby copy all objects.
    gc.disable()
    gc.freeze()
    processes = [fork(functools.partial(_run_lane, job, lane, software, initialised)) for lane in lanes]
    if later and _can_be_shared(SHARED):
        importlib.import_module(SHARED)
        gc.freeze()
    return processes + [fork(functools.partial(_run_lane, job, lane, software, initialised)) for lane in later]


def _can_be_shared(module: str) -> bool:
    """Tell whether a module can be imported before lanes are forked; torch 2.11's compiler starts CUDA, and cannot."""

    def try_import() -> None:
        importlib.import_module(module)
        with contextlib.suppress(OSError):
            # Before cuInit, the driver answers CUDA_ERROR_NOT_INITIALIZED (cuda.h).
            if ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != 3:
                os._exit(2)

    return os.waitpid(fork(try_import), 0)[1] == 0


def _run_lane(
    job: t.Mapping[str, t.Any], lane: t.Mapping[str, t.Any], software: t.Mapping[str, str | None], initialised: bool
) -> None:
    gc.enable()
    for other in job["lanes"]:
        if other is not lane:
            os.close(other["results"])
    os.makedirs(lane["directory"], exist_ok=True)
    results = t.cast(t.TextIO, os.fdopen(lane["results"], "w", encoding="utf-8", buffering=1))
    write_event(results, event="ready", software=software)
    run({**job, **lane}, results, initialised)


def fork(work: t.Callable[[], None]) -> int:
    """Run ``work`` in a forked process and return its PID."""
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
        # The exit handlers belong to the parent process.
        os._exit(status)


def run(job: t.Mapping[str, t.Any], results: t.TextIO, initialised: bool) -> None:
    """Run the checks in a lane.

    :param job: the content of the job file, with this lane's ``checks`` and ``directory``.
    :param initialised: whether importing torch has initialised CUDA; a forked process cannot tell.
    """
    if job.get("gate") is not None:
        # This call returns once the other end is closed.
        os.read(job["gate"], 1)
    elif not LONGEST.intersection(job["checks"]):
        os.nice(NICENESS)
    blocked, refused = False, None
    # A gated lane has the device to itself, so a single child runs all its families, and CUDA is initialised once.
    for names in [list(job["checks"])] if job.get("gate") is not None else by_process(job["checks"]):
        if initialised:
            # CUDA cannot be used in a forked process if it was initialised before the fork.
            for name in names:
                cause = "Importing torch initialised CUDA, so no processes can be forked for the checks."
                remedy = "Find the cause with python -X importtime: a .pth file or sitecustomize of the environment."
                write_result(results, CHECKS[name].result(FAIL, cause=cause, remedy=remedy))
            continue
        passed_over: dict[str, dict[str, str]] = {}
        queue: list[tuple[list[str], Result | None]] = [(names, None)]
        while queue:
            left, first = queue.pop(0)
            for name in [name for name in left if blocked and CHECKS[name].device == "cuda"]:
                left.remove(name)
                cause = f"Not run: torch does not reach the GPU; see {device.NAME}."
                write_result(results, CHECKS[name].result(SKIP, cause=cause, blocked=True))
            if not left:
                continue
            child = Child(left, job, results, passed_over, first)
            left = child.run()
            if child.refusal is None:
                refused = None
            else:
                # A process that could not initialise CUDA cannot do so later, so another process retries.
                now, reason, factor = time.monotonic(), child.refusal.reason, float(job["limits"]["factor"])
                users = sampler.computing() or sampler.holders()
                refused, tries_again = device.after_refusal(refused, now, users, reason, factor)
                if tries_again:
                    write_event(results, event="waiting", seconds=now - refused.began, users=refused.users)
                    time.sleep(device.PAUSE * factor)
                    left.insert(0, child.refusal.name)
                else:
                    write_result(results, device.given_up(child.refusal, refused, now))
                    child.failed.add(child.refusal.name)
            blocked = blocked or device.NAME in child.failed
            if left:
                queue.insert(0, (left, None))
            # Repeat each of these checks in a separate process, unaffected by earlier checks.
            queue += [([result.name], result) for result in child.unanswered]


def by_process(names: t.Sequence[str]) -> list[list[str]]:
    """Group the checks by process, with one process for each family.

    The check that CUDA can be initialised shares a process with the next family, because initialisation takes seconds.
    """
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(CHECKS[name].family, []).append(name)
    groups = list(families.values())
    if len(groups) > 1 and groups[0] == [device.NAME]:
        groups[:2] = [groups[0] + groups[1]]
    return groups


def write_event(stream: t.TextIO, **fields: t.Any) -> None:
    """Write an event as one line of JSON."""
    stream.write(json.dumps(fields) + "\n")
    stream.flush()


def write_result(stream: t.TextIO, result: Result) -> None:
    """Write a check's result as an event."""
    write_event(stream, event="result", **result.as_row())


class Child:
    """A process that runs the checks in one family.

    :param results: the stream for the results.
    :param passed_over: by check, the parts that crashed or hung, and how. The check is restarted without them.
    :param first: the earlier result if this process repeats a single check.
    :ivar unanswered: the results of checks that are to be repeated.
    :ivar failed: the checks that failed.
    :ivar refusal: the row of a check for which CUDA could not be initialised, perhaps due to another program.
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
        """Run the checks; return those that another process must still run."""
        reading, writing = os.pipe()

        def work() -> None:
            os.close(reading)
            os.close(self.results.fileno())
            self._work(os.fdopen(writing, "w", encoding="utf-8", buffering=1))

        process = fork(work)
        os.close(writing)
        with contextlib.suppress(OSError):  # the child does the same, and may already have exited
            os.setpgid(process, process)
        try:
            return self._follow(process, reading)
        finally:
            os.close(reading)

    def _work(self, pipe: t.TextIO) -> None:
        os.setpgid(0, 0)
        log = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        if all(CHECKS[name].device == "cpu" for name in self.names):
            # Some parts of torch, such as its list of operators, would start CUDA, which takes seconds and memory.
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        # A process that has the device to itself measures speed, so it polls.
        if self.job.get("gate") is None and any(CHECKS[name].device == "cuda" for name in self.names):
            device.sleep_during_waits()
        for name in self.names:
            definition = CHECKS[name]
            write_event(pipe, event="start", check=name)
            offset = os.path.getsize(self.output)
            began, used = time.monotonic(), sum(os.times()[:4])
            result, usable = self._run_check(definition, pipe, offset)
            result.seconds = round(time.monotonic() - began, 3)
            result.core_seconds = round(sum(os.times()[:4]) - used, 2)
            self._read_output(result, offset)
            endings.add_lost_parts(result, definition, self.passed_over.get(name, {}))
            write_result(pipe, result)
            if not usable or (name == device.NAME and result.status == FAIL):
                return

    def _run_check(self, definition: check.Definition, pipe: t.TextIO, offset: int) -> tuple[Result, bool]:
        """Run a check, whose output begins at ``offset``; return its result, and whether the process can run more."""
        name = definition.name
        context = check.Context(
            device="cpu" if definition.device == "none" else definition.device,
            profile=self.job["profile"],
            reference=self.job["reference"],
            limits=self.job["limits"],
            directory=self.job["directory"],
            step=lambda part: write_event(pipe, event="step", part=part),
            passed_over=self.passed_over.get(name, {}),
        )
        try:
            measured = check.FUNCTIONS[name](context)
            if definition.device == "cuda":
                importlib.import_module("torch").cuda.synchronize()
            result = definition.result(
                PASS, measured.measured, measured.bound, ratio=measured.ratio, rates=measured.rates
            )
            result.covered, result.coverage = list(measured.covered), measured.coverage
            if warning := measured.warning:
                result.status, result.cause, result.remedy = WARN, warning.cause, warning.remedy
                result.reason, result.blocks = warning.reason, warning.blocks
            return result, True
        except check.Skipped as skipped:
            return definition.result(SKIP, cause=str(skipped)), True
        except Exception as error:
            if not isinstance(error, check.Failed):
                if definition.steps and endings.OF_KERNEL.search(str(error)):
                    raise  # The process exits, and another one runs the check's other parts.
                # The error of a compiler may be hidden by "from None".
                error.__suppress_context__ = False
                traceback.print_exc()
            usable = self._usable(definition) and not endings.STICKY.search(str(error))
            return endings.failure(definition, error, contents.tail(self.output, offset)), usable

    @staticmethod
    def _usable(definition: check.Definition) -> bool:
        """Tell whether the device still works: after an illegal access, every call in the CUDA context fails."""
        if definition.device != "cuda":
            return True
        try:
            importlib.import_module("torch").cuda.synchronize()
            return True
        except Exception:
            return False

    def _read_output(self, result: Result, offset: int) -> None:
        """Fail a check that printed a fatal message, regardless of its results."""
        sys.stdout.flush()
        sys.stderr.flush()
        fatal, line = endings.fatal_line(contents.tail(self.output, offset))
        if fatal and result.reason not in (WRONG, MISMATCH):
            result.status, result.reason, result.cause = FAIL, fatal.reason, f"{fatal.cause}: {line.rstrip('.')}."
            result.ratio = None  # it was measured on wrong results
            result.remedy = getattr(endings.remedies(CHECKS[result.name]), fatal.remedy)

    def _follow(self, process: int, reading: int) -> list[str]:
        """Forward the child's results; if it exits early or must be killed, fail the check that it was running."""
        left = list(self.names)
        current: str | None = None
        deadline = time.monotonic() + self._limit(left[0])
        buffered = b""
        while True:
            ready, _unused, _unused = select.select([reading], [], [], max(0.0, min(LOOK, deadline - time.monotonic())))
            block = os.read(reading, 1 << 16) if ready else b""
            *lines, buffered = (buffered + block).split(b"\n")
            for line in lines:
                event = json.loads(line)
                if event["event"] == "start":
                    current, self.part = event["check"], None
                    deadline = time.monotonic() + self._limit(current)
                elif event["event"] == "step" and current:
                    self.part = event["part"]
                    deadline = time.monotonic() + self._limit(current)
                else:
                    del event["event"]
                    self._report(Result.from_row(event))
                    left.remove(event["name"])
                    current = None
            # Processes that the child started may keep the pipe open after it has exited.
            if (ready and not block) or (not ready and has_exited(process)):
                status = self._kill(process)
                lost = current or (left[0] if left == self.names else None)
                if lost and not self._passes_over(lost, f"{endings.how_it_ended(status)}{self._last_line(status)}"):
                    self._report_lost(endings.exited(CHECKS[lost], status))
                    left.remove(lost)
                return left
            if not ready and time.monotonic() >= deadline:
                lost = current or left[0]
                hindrance = self._hindrance(process, lost)
                self._kill(process)
                seconds = self._limit(lost)
                # If the machine is busy, the part is not at fault.
                if hindrance or not self._passes_over(lost, f"{endings.LATE} {seconds:.0f} seconds"):
                    self._report_lost(endings.timed_out(CHECKS[lost], seconds, hindrance))
                    left.remove(lost)
                return left

    @staticmethod
    def _hindrance(process: int, name: str) -> str:
        """Return the reason why a silent check is slow: a busy machine, or another program on its GPU."""
        others = sampler.others() if CHECKS[name].device == "cuda" else []
        return f"the GPU is in use by {', '.join(map(str, others))}" if others else sampler.hindrance(process)

    def _last_line(self, status: int) -> str:
        """Return the reason that a process printed before it exited by itself, in parentheses."""
        last = phrases.last_line(contents.tail(self.output)) if status > 0 else ""
        return f" ({last[:200]})" if last else ""

    def _limit(self, name: str) -> float:
        limits = self.job["limits"]
        longer = IN_FULL if check.is_full(float(limits["samples"])) else 1.0
        return CHECKS[name].seconds * float(limits["factor"]) * longer

    def _passes_over(self, name: str, how: str) -> bool:
        """Exclude the part in which a check stopped; tell whether the check can be restarted without that part."""
        passed = self.passed_over.setdefault(name, {})
        if not CHECKS[name].steps or self.part in (None, *passed) or len(passed) >= MOST_PASSED_OVER:
            return False
        passed[str(self.part)] = how
        return True

    def _report_lost(self, result: Result) -> None:
        """Report a check whose process exited, with the cause according to its output."""
        printed = contents.tail(self.output)
        fatal, line = endings.fatal_line(printed)
        if fatal and fatal.reason == WRONG:
            result.reason = WRONG
        if fatal and result.reason == fatal.reason:
            result.remedy = getattr(endings.remedies(CHECKS[result.name]), fatal.remedy)
        if line:
            result.cause = f"{result.cause} It printed: {line}"
        if not fatal:
            endings.explain(printed, result)
        self._report(result)

    def _report(self, result: Result) -> None:
        """Write a result, or hold it back if the check is to be repeated."""
        definition, first = CHECKS[result.name], self.first
        of_gpu = definition.device == "cuda" or "CUDA" in result.cause
        late = result.name == device.NAME and result.reason in (TIMEOUT, SLOW)
        refused = late or (of_gpu and device.is_refused(result, sampler.computing() if result.reason == MEMORY else []))
        if result.status == FAIL and self.refusal is None and refused:
            self.refusal = result
            return
        if result.status == FAIL:
            self.failed.add(result.name)
        # The check that CUDA can be initialised has its own retries; see run().
        is_repeated = first is None and result.name != device.NAME
        if result.reason in UNANSWERED and result.status == FAIL and is_repeated:
            self.unanswered.append(result)
            return
        if first is not None and result.reason in UNANSWERED:
            result.cause += " It was run twice."
        elif first is not None:
            result.measured += f" (in the second run; first run: {first.reason})"
        write_result(self.results, result)

    @staticmethod
    def _kill(process: int) -> int:
        """Give the child a second to exit, then kill it and its process group; return its exit code."""
        deadline = time.monotonic() + REAP
        while not has_exited(process) and time.monotonic() < deadline - REAP + 1:
            time.sleep(0.01)
        # Until the child is reaped, no other process can get its PID.
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                kill(process, signal.SIGKILL)
        while not has_exited(process) and time.monotonic() < deadline:
            time.sleep(0.01)
        return os.waitstatus_to_exitcode(os.waitpid(process, os.WNOHANG)[1])


def has_exited(process: int) -> bool:
    """Tell whether a child has exited, without reaping it."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
