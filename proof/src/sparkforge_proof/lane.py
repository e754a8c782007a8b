# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lanes: checks that a process of the environment's interpreter runs one after the other, and others beside it."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import json
import math
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing as t

from . import catalogue, endings, sampler
from ._shared.module_utils._core import bundle, disk, processes, shown, unprivileged
from ._shared.module_utils._core.errors import SparkforgeError
from .check import BUSY, CRASH, FAIL, PASS, SKIP, SLOW, TIMEOUT, Result, mismatch
from .checks.stack.device import NO_CONTEXT

#: How long importing torch may take, in seconds: cold from a disk it reads gigabytes.
IMPORT_SECONDS = 300.0

#: How often it is said what a run waits for or how far it is, and how often that is looked at.
TELL_SECONDS, LOOK_SECONDS = 15.0, 1.0

#: Bytes of a line; the longest row of a check has some thousand.
_LONGEST = 1 << 20

#: Bytes that the processes of a run may print.
PRINTED = 64 << 20

#: The program that runs in the environment, and imports the families of the lane.
PROGRAM = f"{__package__}.runner"
_MAIN = """import sys

from {program} import main

main(sys.argv[1], {families})
"""


class Progress:
    """How far a proof is, what of it is said on standard error, and what ends all of it.

    :param verbose: whether what runs is said, and not only what the run waits for.
    :ivar left: by lane, the checks without a result, in their order.
    :ivar ends: what kills the processes of each group of lanes.
    """

    def __init__(self, verbose: bool = False) -> None:
        self.verbose, self._told = verbose, -math.inf
        self.left: dict[int, list[str]] = {}
        self.total, self._waiting = 0, set[int]()
        self.ends: list[t.Callable[[], None]] = []
        self.stopped = False

    def tell(self, text: str) -> None:
        """Say something, once for all lanes and not all the time."""
        if time.monotonic() >= self._told + TELL_SECONDS:
            self._told = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def begin(self, lane: int, names: t.Sequence[str], waits: bool) -> None:
        """Note what a lane is to run, and whether it waits for the others."""
        self.left[lane] = list(names)
        self.total += len(names)
        self._waiting |= {lane} if waits else set()

    def done(self, lane: int, name: str) -> None:
        """Note that a check of a lane has its result."""
        self.left[lane].remove(name)
        self._waiting.discard(lane)

    def say(self, text: str = "") -> None:
        """Say something at once, or from time to time what runs and how much is left."""
        if self.verbose and text:
            print(text, file=sys.stderr, flush=True)
        elif self.verbose:
            lanes = dict(self.left)
            count = self.total - sum(map(len, lanes.values()))
            # Another lane's thread may take the last of its names meanwhile.
            first = [next(iter(names), "") for lane, names in lanes.items() if lane not in self._waiting]
            running = ", ".join(filter(None, first))
            self.tell(f"{count} of {self.total} checks done; running {running or 'none'}")

    def stop(self) -> None:
        """Kill what runs, and what would begin later."""
        self.stopped = True
        for end in self.ends:
            with contextlib.suppress(SparkforgeError):
                end()


@dataclasses.dataclass
class Lanes:
    """What the lanes of one run share.

    :ivar user: whom root runs them as; "": an account of their own, None: root, or whoever else it is.
    :ivar beside: how many run side by side.
    :ivar software: what the environment says of itself.
    :ivar progress: what all lanes of the proof share.
    """

    python: str
    profile: t.Mapping[str, t.Any]
    reference: t.Mapping[str, t.Any]
    limits: t.Mapping[str, float]
    user: str | None
    beside: int = 1
    software: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    progress: Progress = dataclasses.field(default_factory=Progress)


class Gate:
    """Keeps a lane that has imported torch from its first check, until it is opened: a pipe whose end is closed."""

    def __init__(self) -> None:
        self.reading, self._writing = os.pipe()

    def open(self) -> None:
        """Let the lane begin."""
        os.close(self._writing)

    def close(self) -> None:
        """Give up the pipe, when the lane is done."""
        os.close(self.reading)


def run(lanes: Lanes, groups: t.Sequence[t.Sequence[str]], gate: Gate | None = None) -> list[Result]:
    """Run groups of checks side by side, those of a group one after the other; torch is imported once.

    :param gate: what the first of them waits for.
    """
    names = [name for group in groups for name in group]
    if not os.access(lanes.python, os.X_OK):
        cause = f"The interpreter {lanes.python} does not exist."
        remedy = "Run playbooks/deploy.yml, or set verify_environment or verify_python to an existing one."
        return _nothing(names, mismatch("python", "absent", "starts", cause, remedy))
    try:
        with _directory() as directory, _account(lanes) as own:
            return _run_in(lanes, directory, groups, gate, own)
    except SparkforgeError as error:
        return _nothing(names, mismatch("python", "an error", "starts", error.cause, error.remedy))
    except OSError as error:
        cause = f"The folder of the checks cannot be written: {error.strerror or error}."
        raise SparkforgeError(cause, "Free space there, or set TMPDIR to a directory with some GiB.") from error


def merged(results: t.Iterable[Result]) -> list[Result]:
    """Return the rows of all lanes, those last that count: each lane on the GPU begins with whether it can be reached.

    The worst answer counts. Where CUDA starts in one process and not in another, the stack is not at fault.
    """
    rows = sorted(results, key=lambda row: row.status != PASS)
    passed = {row.name for row in rows if row.status == PASS}
    for row in rows:
        if row.name in passed and (row.reason == TIMEOUT or (row.reason != BUSY and NO_CONTEXT.search(row.cause))):
            row.reason = SLOW
            row.cause += " It passed in another process of this proof, so that the stack is not at fault."
    return rows


@contextlib.contextmanager
def _directory() -> t.Iterator[str]:
    """Make a directory for a run, and remove it after it."""
    directory = disk.temporary_directory(tempfile.gettempdir(), "sparkforge-proof-")
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _account(lanes: Lanes) -> t.Iterator[int | None]:
    """Hold the account that the checks run as, where it is their own; all that runs as it is killed at the end."""
    if lanes.user != "" or os.geteuid() != 0:
        yield None
        return
    unprivileged.check_open(
        lanes.python, "The interpreter", "Move it, or set verify_user to an account that enters it."
    )
    with unprivileged.account(os.path.dirname(os.path.dirname(lanes.python))) as own:
        yield own


def _run_in(
    lanes: Lanes, directory: str, groups: t.Sequence[t.Sequence[str]], gate: Gate | None, own: int | None
) -> list[Result]:
    names = [name for group in groups for name in group]
    pipes = [os.pipe() for _group in groups]
    scratch = os.path.join(directory, "scratch")
    os.mkdir(scratch)
    families = sorted({f"{__package__}.checks.{catalogue.CHECKS[name].module}" for name in names})
    bundle.write(directory, bundle.files(PROGRAM, *families))
    program = _MAIN.format(program=PROGRAM, families=families)
    job = {
        "lanes": [
            {"checks": list(names), "directory": os.path.join(scratch, str(number)), "results": writing}
            for number, (names, (_reading, writing)) in enumerate(zip(groups, pipes))
        ],
        "profile": lanes.profile,
        "reference": lanes.reference,
        "limits": lanes.limits,
        "gate": gate.reading if gate else None,
    }
    for name, text in (("job.json", json.dumps(job)), ("main.py", program)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as stream:
            stream.write(text)
    identity = _identity(lanes, directory, scratch, own)
    output = os.path.join(directory, "output.log")
    argv = [lanes.python, os.path.join(directory, "main.py"), os.path.join(directory, "job.json")]
    if own is not None:
        argv, identity = unprivileged.dropped(argv, own, identity["extra_groups"]), {}
    printed, printing = os.pipe()
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=printing,
            stderr=subprocess.STDOUT,
            cwd=scratch,
            env=_variables(lanes, scratch),
            pass_fds=[*(writing for _reading, writing in pipes), *([gate.reading] if gate else [])],
            start_new_session=True,
            **identity,
        )
    except OSError as error:
        for reading in (printed, *(reading for reading, _writing in pipes)):
            os.close(reading)
        who = f" as the account {lanes.user}" if identity else ""
        cause = f"{lanes.python} does not start{who}: {error.strerror}."
        remedy = "Run playbooks/deploy.yml to recreate the environment, or correct verify_python."
        if isinstance(error, PermissionError):
            remedy = "Set verify_user to an account that can read the environment."
        return _nothing(names, mismatch("python", "an error", "starts", cause, remedy))
    finally:
        for writing in (printing, *(writing for _reading, writing in pipes)):
            os.close(writing)

    def end() -> None:
        """Kill what runs; its first process is not waited for, so that nobody else has its number."""
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                kill(process.pid, signal.SIGKILL)
        if own is None:
            _end_daemons(identity.get("user"), scratch)
        else:
            unprivileged.end(own)

    def hindrance() -> str:
        """Return what keeps them from their work; where root does not see other accounts' processes, theirs does."""

        def look() -> str:
            return sampler.hindrance(process.pid)

        if own is not None:
            return unprivileged.acting(own, look) or ""
        uid = identity.get("user")
        return (processes.acting(uid, uid, look) or "") if uid else look()

    # A daemon that cannot be found may hold the pipe's end.
    keeping = threading.Thread(target=_keep, args=(printed, output, end), daemon=True)
    keeping.start()
    for lane_names, (reading, _writing) in zip(groups, pipes):
        lanes.progress.begin(reading, lane_names, gate is not None)
    lanes.progress.ends.append(end)
    if lanes.progress.stopped:
        end()
    try:
        # The lanes that it waits for may take as long as it may itself.
        seconds = lanes.limits["seconds"] * (2 if gate else 1)
        with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
            found = [
                pool.submit(_collect, lanes, process, reading, names, output, seconds, hindrance)
                for names, (reading, _writing) in zip(groups, pipes)
            ]
            try:
                concurrent.futures.wait(found)
            except BaseException:
                lanes.progress.stop()
                raise
        return [result for one in found for result in one.result()]
    finally:
        for reading, _writing in pipes:
            os.close(reading)
        with contextlib.suppress(SparkforgeError):
            end()
        process.wait()


def _keep(reading: int, path: str, end: t.Callable[[], None]) -> None:
    """Write what is printed to a file until nobody prints; end what prints without an end."""
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


def _end_daemons(uid: int | None, scratch: str) -> None:
    """Kill what has left the group of a lane's process; the report counts, also where one waits for a dead device."""
    with contextlib.suppress(SparkforgeError):
        if uid:
            # A container's root may not read the variables of another account's process (CAP_SYS_PTRACE).
            processes.acting(uid, uid, lambda: processes.end_processes(scratch))
        else:
            processes.end_processes(scratch)


def _identity(lanes: Lanes, directory: str, scratch: str, own: int | None) -> dict[str, t.Any]:
    """Return as whom the checks run; what they may write to becomes theirs."""
    if own is not None:
        uid, gid, groups = own, own, {own}
    elif lanes.user and os.geteuid() == 0:
        entry = pwd.getpwnam(lanes.user)
        uid, gid, groups = entry.pw_uid, entry.pw_gid, set(os.getgrouplist(entry.pw_name, entry.pw_gid))
    else:
        return {}
    os.chmod(directory, 0o755)  # noqa: S103  # the sources must be read by that account; they hold no secret
    os.chown(scratch, uid, gid)
    # The account's own, and those that may open the devices of a Jetson (/dev/nvmap is of the group video).
    for device in ("/dev/nvmap", "/dev/nvidia0", "/dev/dri/renderD128", "/dev/infiniband/uverbs0"):
        if os.path.exists(device):
            groups.add(os.stat(device).st_gid)
    groups |= unprivileged.groups_that_may_enter(lanes.python)
    return {"user": uid, "group": gid, "extra_groups": sorted(groups - {0})}


def _variables(lanes: Lanes, scratch: str) -> dict[str, str]:
    """Return the process environment: what the environment's activation sets, and nothing of ours."""
    receipt = lanes.reference.get("receipt") or {}
    bin_directory = os.path.dirname(lanes.python)
    toolkit = lanes.reference.get("cuda_version")
    places = [bin_directory, f"/usr/local/cuda-{toolkit}/bin" if toolkit else "", "/usr/local/sbin:/usr/local/bin"]
    variables = {
        "PATH": ":".join([place for place in places if place] + ["/usr/sbin:/usr/bin:/sbin:/bin"]),
        "LANG": "C.UTF-8",
        "HOME": scratch,
        # An account of its own has no entry that getpass.getuser() would find.
        "LOGNAME": lanes.user or "sparkforge",
        "TMPDIR": scratch,
        processes.MARKER: scratch,
        "VIRTUAL_ENV": os.path.dirname(bin_directory),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TRITON_CACHE_DIR": os.path.join(scratch, "triton"),
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "CUDA_CACHE_PATH": os.path.join(scratch, "cuda"),
        # Lanes that run in parallel share the cores, and a waiting thread must not occupy one.
        "OMP_WAIT_POLICY": "PASSIVE",
        "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // lanes.beside)),
    }
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"):
        if name in os.environ:
            variables[name] = os.environ[name]
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
    """Read results until the runner ends or the time is up."""
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
            said = _event(line)
            if said is None:
                continue
            if isinstance(said, str):
                lanes.progress.tell(said)
            elif isinstance(said, Result):
                # No word on another check than those asked for, and none a second time.
                if said.name in names and said.name not in results:
                    results[said.name] = said
                    lanes.progress.done(reading, said.name)
            elif not ready:
                ready, deadline, lanes.software = True, end, said
    lanes.progress.left.pop(reading)
    missing = [name for name in names if name not in results]
    found = list(results.values())
    if not missing:
        return found
    late = time.monotonic() >= deadline
    hindrance = hindrance_now() if late else ""
    # Where other lanes go on, so does what forked them.
    status = None if late else _status(process, 10)
    # After its end: the pipe is closed before Python prints what it ends with.
    printed = [line for line in disk.tail(output).splitlines() if line.strip()]
    last = " ".join(printed[-1].split())[:400] if printed else ""
    how = "did not respond in time" if late else endings.how_it_ended(status) if status is not None else "exited"
    if hindrance:
        how += f", since {hindrance}"
    if not ready:
        row = _import_failure(lanes.python, last, how)
        if hindrance:
            row.reason, row.remedy = SLOW, endings.IDLE
        return found + _nothing(missing, row)
    cause = f"The process that runs the checks {how} before {missing[0]} was done." + (
        f" It printed: {last}" if last else ""
    )
    remedy = "If it ran out of time, raise limits.seconds; otherwise read its output, and run the proof again."
    if not late:
        # A lane that goes well does without the table.
        from ._shared.module_utils._diagnosis import scan

        known = scan.diagnose("\n".join(printed))
        cause, remedy = (f"{cause} {known.cause}", known.remedy) if known.rule else (cause, remedy)
    reason = SLOW if hindrance else TIMEOUT if late else CRASH
    return found + [catalogue.CHECKS[name].result(FAIL, cause=cause, remedy=remedy, reason=reason) for name in missing]


def _event(line: bytes) -> Result | dict[str, t.Any] | str | None:
    """Return the row that a line is, what the environment says of its software at the beginning, or what it waits for.

    The environment may write anything to that pipe: what is neither is passed over, and the row is missing then.
    """
    try:
        said = json.loads(line)
        event = said.pop("event")
        if event == "ready":
            return {str(name): version and str(version) for name, version in said["software"].items()}
        if event == "waiting":
            users = shown.line(", ".join(map(str, said["users"])))[:200]
            who = f"it is in use by {users}" if users else "no other process is seen on it"
            return f"Waiting for the GPU, {float(said['seconds']):.0f} s so far: CUDA does not start, and {who}."
        return Result.from_row(said)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _status(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """Return how a process ended, as ``Popen.returncode`` has it; None where it has not.

    It stays a zombie: until its group is killed, nobody else may get its number.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is not None:
            return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        time.sleep(0.05)
    return None


def _import_failure(python: str, last: str, how: str) -> Result:
    """Return the row that says why torch could not be imported."""
    cause = f"torch cannot be imported by {python}: {last or how}".rstrip(".") + "."
    if "No module named 'torch'" in last:
        cause = f"The environment of {python} has no torch."
        remedy = "Run playbooks/deploy.yml, or set verify_environment to an environment that has it."
    elif "undefined symbol" in last:
        remedy = "Its libraries are from two builds: run playbooks/deploy.yml to recreate the environment from one."
    elif "cannot open shared object file" in last:
        remedy = "Run playbooks/libraries.yml; the closure checks say what is missing and what provides it."
    else:
        remedy = f"Run {python} -c 'import torch' on the host; run playbooks/deploy.yml to recreate the environment."
    return mismatch("python", "an error" if last else how, "imports torch", cause, remedy)


def _nothing(names: t.Iterable[str], why: Result) -> list[Result]:
    """Return a failure and, for every check that it kept from running, a skip."""
    cause = f"Not run, see {why.name}."
    return [why, *(catalogue.CHECKS[name].result(SKIP, cause=cause, blocked=True) for name in names)]
