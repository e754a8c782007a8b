"""Lanes: parallel processes of the environment's interpreter, each of which runs a sequence of checks."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import math
import os
import pwd
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing as t

from . import catalogue, endings, resources, sampler
from ._shared.module_utils._core import bundle, contents, disk, phrases, processes, sanitize, unprivileged
from ._shared.module_utils._core.errors import SparkforgeError
from .check import BUSY, CRASH, FAIL, PASS, SKIP, SLOW, TIMEOUT, Result, compilers, mismatch
from .checks.stack.device import NO_CONTEXT

#: The timeout for importing torch in seconds; with a cold page cache, the import reads gigabytes from the disk.
IMPORT_SECONDS = 300.0
#: The seconds between two progress messages, and between two checks of the lanes' state.
TELL_SECONDS, LOOK_SECONDS = 15.0, 1.0
#: The maximum number of bytes in a line; the longest row has a few thousand.
_LONGEST = 1 << 20
#: The maximum number of bytes that a run's processes may print.
PRINTED = 64 << 20
#: The number of freed bytes that a process keeps for its next tensors (glibc 2.35 and newer).
KEPT = 512 << 20
#: The variables that lanes inherit; those of Triton name its ptxas and headers if its wheel has none.
_INHERITED = re.compile(r"(?:CUDA|NVIDIA)_VISIBLE_DEVICES|LD_LIBRARY_PATH|TRITON_\w+_PATH")
#: The program that runs in the environment and imports the check modules of its lanes.
PROGRAM = f"{__package__}.runner"
_MAIN = """import os
import sys

from {program} import main

main(sys.argv[1], {modules})
# The exit handlers of torch take a second.
os._exit(0)
"""


class Progress:
    """Tracks the progress of a proof, reports it on standard error, and can stop the proof.

    :param verbose: whether to report the running checks too, and not only what the run waits for.
    :ivar left: by lane, the checks that have no result yet, in order.
    :ivar killers: for each group of lanes, a function that kills its processes.
    """

    def __init__(self, verbose: bool = False) -> None:
        self.verbose, self._printed_at = verbose, -math.inf
        self.left: dict[int, list[str]] = {}
        self._all, self._waiting = set[str](), set[int]()
        self.killers: list[t.Callable[[], None]] = []
        self.stopped = False

    def tell(self, text: str) -> None:
        """Print a message, but at most one per ``TELL_SECONDS`` for all lanes together."""
        if time.monotonic() >= self._printed_at + TELL_SECONDS:
            self._printed_at = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def begin(self, lane: int, names: t.Sequence[str], waits: bool) -> None:
        """Register the checks of a lane, and whether the lane waits for the others."""
        self.left[lane] = list(names)
        self._all.update(names)
        self._waiting |= {lane} if waits else set()

    def done(self, lane: int, name: str) -> None:
        """Register that a check in a lane has its result."""
        self.left[lane].remove(name)
        self._waiting.discard(lane)

    def say(self, text: str = "") -> None:
        """Print a message immediately; if it is empty, occasionally print the running checks and how many are done."""
        if self.verbose and text:
            print(text, file=sys.stderr, flush=True)
        elif self.verbose:
            lanes = dict(self.left)
            # Many lanes begin with the same check.
            done = self._all.difference(*lanes.values())
            # In the meantime, another lane's thread may remove its last name.
            first = [next(iter(names), "") for lane, names in lanes.items() if lane not in self._waiting]
            running = ", ".join(filter(None, dict.fromkeys(first)))
            self.tell(f"{len(done)} of {len(self._all)} checks done; running {running or 'none'}")

    def stop(self) -> None:
        """Kill all lanes, also those that start later."""
        self.stopped = True
        for kill in self.killers:
            with contextlib.suppress(SparkforgeError):
                kill()


@dataclasses.dataclass
class Lanes:
    """The settings and state that the lanes of one run share.

    :ivar user: the account under which root runs the lanes; "" means a temporary account, and None the current one.
    :ivar parallel: how many lanes run in parallel.
    :ivar software: the versions that the environment reports.
    """

    python: str
    profile: t.Mapping[str, t.Any]
    reference: t.Mapping[str, t.Any]
    limits: t.Mapping[str, float]
    user: str | None
    parallel: int = 1
    software: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    progress: Progress = dataclasses.field(default_factory=Progress)


def run(lanes: Lanes, groups: t.Sequence[t.Sequence[str]], gate: int | None = None) -> list[Result]:
    """Run groups of checks in parallel, and the checks in a group one after the other; torch is imported once.

    :param gate: the reading end of a pipe; the checks start once torch has been imported and the other end is closed.
    """
    names = [name for group in groups for name in group]
    if not os.access(lanes.python, os.X_OK):
        cause = f"The interpreter {lanes.python} does not exist."
        remedy = "Run playbooks/deploy.yml, or set verify_environment or verify_python to an existing interpreter."
        return _with_skips(mismatch("python", "absent", "starts", cause, remedy), names)
    try:
        with _directory() as directory, _account(lanes) as own:
            return _run_in(lanes, directory, groups, gate, own)
    except SparkforgeError as error:
        return _with_skips(mismatch("python", "an error", "starts", error.cause, error.remedy), names)
    except OSError as error:
        cause = f"The folder of the checks cannot be written: {error.strerror or error}."
        raise SparkforgeError(cause, "Free space there, or set TMPDIR to a directory with a few GiB.") from error


def merge_rows(results: t.Iterable[Result]) -> list[Result]:
    """Return the rows from all lanes, failures last; if a check has several rows, the last one counts.

    Each lane on the GPU has a row for the initialisation of CUDA. If it fails in only some, the stack is not at fault.
    """
    rows = sorted(results, key=lambda row: row.status != PASS)
    passed = {row.name for row in rows if row.status == PASS}
    for row in rows:
        if row.name in passed and (row.reason == TIMEOUT or (row.reason != BUSY and NO_CONTEXT.search(row.cause))):
            row.reason = SLOW
            row.cause += " It passed in another process of this proof, so the stack is not at fault."
    return rows


@contextlib.contextmanager
def _directory() -> t.Iterator[str]:
    """Create a temporary directory for a run."""
    directory = disk.temporary_directory(tempfile.gettempdir(), "sparkforge-proof-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _account(lanes: Lanes) -> t.Iterator[int | None]:
    """Allocate a temporary account for the checks if they need one, and kill all its processes at the end."""
    if lanes.user != "" or os.geteuid() != 0:
        yield None
        return
    unprivileged.check_open(
        lanes.python, "The interpreter", "Move it, or set verify_user to an account that can enter its directory."
    )
    with unprivileged.account(os.path.dirname(os.path.dirname(lanes.python))) as own:
        yield own


def _run_in(
    lanes: Lanes, directory: str, groups: t.Sequence[t.Sequence[str]], gate: int | None, own: int | None
) -> list[Result]:
    names = [name for group in groups for name in group]
    pipes = [os.pipe() for _group in groups]
    scratch = os.path.join(directory, "scratch")
    os.mkdir(scratch)
    rows = [
        {"checks": list(names), "directory": os.path.join(scratch, str(number)), "results": writing}
        for number, (names, (_reading, writing)) in enumerate(zip(groups, pipes))
    ]
    _write_program(lanes, directory, names, {"lanes": rows, "gate": gate})
    identity = _identity(lanes, directory, scratch, own)
    output = os.path.join(directory, "output.log")
    argv = [lanes.python, os.path.join(directory, "main.py"), os.path.join(directory, "job.json")]
    if own is not None:
        argv, identity = unprivileged.without_privileges(argv, own, identity["extra_groups"]), {}
    printed, printing = os.pipe()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=printing,
            stderr=subprocess.STDOUT,
            cwd=scratch,
            env=_variables(lanes, scratch),
            pass_fds=[*(writing for _reading, writing in pipes), *([] if gate is None else [gate])],
            start_new_session=True,
            **identity,
        )
    except OSError as error:
        for reading in (printed, *(reading for reading, _writing in pipes)):
            os.close(reading)
        return _with_skips(_start_failure(lanes, error, bool(identity)), names)
    finally:
        for writing in (printing, *(writing for _reading, writing in pipes)):
            os.close(writing)

    def end() -> None:
        """Kill all processes of the run. The leader is not reaped yet, so that no other process gets its PID."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                kill(process.pid, signal.SIGKILL)
        if own is None:
            _kill_daemons(identity.get("user"), scratch)
        else:
            unprivileged.kill_processes(own)

    hindrance = functools.partial(_hindrance, process.pid, own, identity.get("user"))
    # The thread is a daemon, because a process that escaped may keep the pipe open.
    threading.Thread(target=_save_output, args=(printed, output, end), daemon=True).start()
    for lane_names, (reading, _writing) in zip(groups, pipes):
        lanes.progress.begin(reading, lane_names, gate is not None)
    lanes.progress.killers.append(end)
    if lanes.progress.stopped:
        end()
    try:
        # A gated lane first waits for lanes with the same time limit.
        seconds = lanes.limits["seconds"] * (1 if gate is None else 2)
        with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
            futures = [
                pool.submit(_collect, lanes, process, reading, names, output, seconds, hindrance)
                for names, (reading, _writing) in zip(groups, pipes)
            ]
            try:
                concurrent.futures.wait(futures)
            except BaseException:
                lanes.progress.stop()
                raise
        # A killed leader would not add the processor time of its lanes to that of this process.
        _exit_status(process, 1)
        return [result for future in futures for result in future.result()]
    finally:
        for reading, _writing in pipes:
            os.close(reading)
        with contextlib.suppress(SparkforgeError):
            end()
        process.wait()


def _write_program(lanes: Lanes, directory: str, names: t.Sequence[str], job: t.Mapping[str, t.Any]) -> None:
    """Write the program that runs the checks, and its job."""
    modules: dict[str, list[str]] = {}
    for name in names:
        modules.setdefault(f"{__package__}.checks.{catalogue.CHECKS[name].module}", []).append(name)
    data = {f"{__package__}/{path}": resources.text(path) for path in resources.OF_CHECKS}
    bundle.write(directory, {**bundle.files(PROGRAM, *modules), **data})
    job = {**job, "profile": lanes.profile, "reference": lanes.reference, "limits": lanes.limits}
    texts = {"job.json": json.dumps(job), "main.py": _MAIN.format(program=PROGRAM, modules=modules)}
    for name, text in texts.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
            stream.write(text)


def _start_failure(lanes: Lanes, error: OSError, as_account: bool) -> Result:
    """Return the failure for an interpreter that does not start."""
    clause = f" as the account {lanes.user}" if as_account else ""
    cause = f"{lanes.python} does not start{clause}: {error.strerror}."
    remedy = "Run playbooks/deploy.yml to recreate the environment, or correct verify_python."
    if isinstance(error, PermissionError):
        remedy = "Set verify_user to an account that can read the environment."
    return mismatch("python", "an error", "starts", cause, remedy)


def _hindrance(pid: int, own: int | None, uid: int | None) -> str:
    """Return the reason why the lanes are slow; look as their account if root may not see its processes."""
    look = functools.partial(sampler.hindrance, pid)
    if own is not None:
        return unprivileged.run_as(own, look) or ""
    return (processes.run_as(uid, uid, look) or "") if uid else look()


def _save_output(reading: int, path: str, end: t.Callable[[], None]) -> None:
    """Copy a run's output from a pipe to a file; kill a run that prints more than ``PRINTED`` bytes."""
    left = PRINTED
    with os.fdopen(reading, "rb", buffering=0) as stream, open(path, "wb", buffering=0) as log:
        while block := stream.read(1 << 16):
            left -= len(block)
            if left < 0:
                log.write(f"\nIt printed more than {PRINTED} bytes and was killed.\n".encode())
                with contextlib.suppress(SparkforgeError):
                    end()
                return
            log.write(block)


def _kill_daemons(uid: int | None, scratch: str) -> None:
    """Kill processes that left the process group; keep the report by ignoring those that cannot be killed."""
    with contextlib.suppress(SparkforgeError):
        if uid:
            # In a container, root may lack CAP_SYS_PTRACE, which is needed for reading another account's variables.
            processes.run_as(uid, uid, lambda: processes.kill_marked(scratch))
        else:
            processes.kill_marked(scratch)


def _identity(lanes: Lanes, directory: str, scratch: str, own: int | None) -> dict[str, t.Any]:
    """Return the checks' account as arguments for Popen, and make it the owner of the scratch directory."""
    if own is not None:
        uid, gid, groups = own, own, {own}
    elif lanes.user and os.geteuid() == 0:
        entry = pwd.getpwnam(lanes.user)
        uid, gid, groups = entry.pw_uid, entry.pw_gid, set(os.getgrouplist(entry.pw_name, entry.pw_gid))
    else:
        return {}
    os.chmod(directory, 0o755)  # noqa: S103  # that account must be able to read the sources, which contain no secrets
    os.chown(scratch, uid, gid)
    # The account also needs the groups that own the GPU devices, such as video for a Jetson's /dev/nvmap.
    for device in ("/dev/nvmap", "/dev/nvidia0", "/dev/dri/renderD128", "/dev/infiniband/uverbs0"):
        if os.path.exists(device):
            groups.add(os.stat(device).st_gid)
    groups |= unprivileged.groups_that_may_enter(lanes.python)
    return {"user": uid, "group": gid, "extra_groups": sorted(groups - {0})}


def _variables(lanes: Lanes, scratch: str) -> dict[str, str]:
    """Return the variables that activating the environment sets, and hardly any from this process."""
    receipt = lanes.reference.get("receipt") or {}
    bin_directory = os.path.dirname(lanes.python)
    cuda = [f"/usr/local/cuda-{toolkit}/bin"] if (toolkit := lanes.reference.get("cuda_version")) else []
    variables = {
        "PATH": ":".join([bin_directory, *cuda, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]),
        "LANG": "C.UTF-8",
        "HOME": scratch,
        # A temporary account has no passwd entry, which getpass.getuser() looks up without LOGNAME.
        "LOGNAME": lanes.user or "sparkforge",
        "TMPDIR": scratch,
        processes.MARKER: scratch,
        "VIRTUAL_ENV": os.path.dirname(bin_directory),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TRITON_CACHE_DIR": os.path.join(scratch, "triton"),
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "inductor"),
        # Processes that compile kernels; they start when a program is compiled first.
        "TORCHINDUCTOR_COMPILE_THREADS": str(compilers()),
        "CUDA_CACHE_PATH": os.path.join(scratch, "cuda"),
        # Parallel lanes share the cores, so waiting threads must not spin.
        "OMP_WAIT_POLICY": "PASSIVE",
        # By default, glibc unmaps the memory of each large tensor, and the next tensor costs its page faults again.
        "MALLOC_MMAP_THRESHOLD_": str(KEPT),
        "MALLOC_TRIM_THRESHOLD_": str(KEPT),
        "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // lanes.parallel)),
    }
    variables.update({name: value for name, value in os.environ.items() if _INHERITED.fullmatch(name)})
    paths = [*(receipt.get("library_paths") or []), variables.get("LD_LIBRARY_PATH", "")]
    if any(paths):
        variables["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    variables.update({key: str(value) for key, value in (receipt.get("environment") or {}).items()})
    return variables


def _collect(
    lanes: Lanes,
    process: subprocess.Popen[bytes],
    reading: int,
    names: t.Sequence[str],
    output: str,
    seconds: float,
    hindrance_now: t.Callable[[], str],
) -> list[Result]:
    """Read a lane's results until the runner exits or the time is up."""
    results: dict[str, Result] = {}
    end = time.monotonic() + seconds
    deadline = min(end, time.monotonic() + IMPORT_SECONDS * lanes.limits["factor"])
    ready, buffered = False, b""
    while time.monotonic() < deadline and len(buffered) < _LONGEST:
        pause = max(0.0, min(LOOK_SECONDS, deadline - time.monotonic()))
        readable, _unused, _unused = select.select([reading], [], [], pause)
        lanes.progress.say()
        if not readable:
            continue
        block = os.read(reading, 1 << 16)
        if not block:
            break
        *lines, buffered = (buffered + block).split(b"\n")
        for line in lines:
            event = _parse_event(line)
            if isinstance(event, str):
                lanes.progress.tell(event)
            elif isinstance(event, Result):
                # Ignore rows for other checks, and a second row for the same check.
                if event.name in names and event.name not in results:
                    results[event.name] = event
                    lanes.progress.done(reading, event.name)
            elif event is not None and not ready:
                ready, deadline, lanes.software = True, end, event
    lanes.progress.left.pop(reading)
    missing = [name for name in names if name not in results]
    rows = list(results.values())
    if not missing:
        return rows
    late = time.monotonic() >= deadline
    hindrance = hindrance_now() if late else ""
    # The parent process lives as long as other lanes run, so it may not have a status yet.
    status = None if late else _exit_status(process, 10)
    # Read the output only now: Python prints its last traceback after the pipe is closed.
    printed = [line for line in contents.tail(output).splitlines() if line.strip()]
    last = phrases.last_line("\n".join(printed))[:400]
    how = "did not respond in time" if late else endings.how_it_ended(status) if status is not None else "exited"
    if hindrance:
        how += f", because {hindrance}"
    if not ready:
        row = _import_failure(lanes.python, last, how)
        if late:
            row.reason, row.remedy = (SLOW, endings.IDLE) if hindrance else (TIMEOUT, row.remedy)
        return rows + _with_skips(row, missing)
    cause = f"The process that runs the checks {how} before {missing[0]} was done."
    cause += f" It printed: {last}" if last else ""
    remedy = "If it ran out of time, raise limits.seconds; otherwise read its output, and run the proof again."
    reason = SLOW if hindrance else TIMEOUT if late else CRASH
    failed = [catalogue.CHECKS[name].result(FAIL, cause=cause, remedy=remedy, reason=reason) for name in missing]
    if not late:
        endings.explain("\n".join(printed), *failed)
    return rows + failed


def _parse_event(line: bytes) -> Result | dict[str, t.Any] | str | None:
    """Return the event in a line: a check's row, the software versions, or a message that the lane is waiting.

    The environment may write anything to that pipe. Return None for an invalid line, whose row is then missing.
    """
    try:
        fields = json.loads(line)
        event = fields.pop("event")
        if event == "ready":
            return {str(name): version and str(version) for name, version in fields["software"].items()}
        if event == "waiting":
            users = sanitize.line(", ".join(map(str, fields["users"])))[:200]
            clause = f"it is in use by {users}" if users else "no other process is visible on it"
            return f"Waiting for the GPU, {float(fields['seconds']):.0f} s so far: CUDA does not start, and {clause}."
        return Result.from_row(fields)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _exit_status(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return the exit status of a process in the form of ``Popen.returncode``, or None if it is still running.

    The process remains a zombie, so that no other process gets its PID before its group is killed.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        status = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if status is not None:
            return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status
        time.sleep(0.05)
    return None


def _import_failure(python: str, last: str, how: str) -> Result:
    """Return the failure for a torch that could not be imported."""
    cause = f"torch cannot be imported by {python}: {last or how}".rstrip(".") + "."
    if "No module named 'torch'" in last:
        cause = f"The environment of {python} has no torch."
        remedy = "Run playbooks/deploy.yml, or set verify_environment to an environment that has it."
    elif "undefined symbol" in last:
        remedy = "Its libraries are from two builds: run playbooks/deploy.yml to recreate the environment from one."
    elif "cannot open shared object file" in last:
        remedy = "Run playbooks/libraries.yml; the closure checks name the missing library and its package."
    else:
        remedy = f"Run {python} -c 'import torch' on the host; run playbooks/deploy.yml to recreate the environment."
    return mismatch("python", "an error" if last else how, "imports torch", cause, remedy)


def _with_skips(failure: Result, names: t.Iterable[str]) -> list[Result]:
    """Return a failure and a skip for each check that it prevented."""
    cause = f"Not run: see {failure.name}."
    return [failure, *(catalogue.CHECKS[name].result(SKIP, cause=cause, blocked=True) for name in names)]
