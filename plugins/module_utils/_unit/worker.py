"""The process that builds one unit, detached from its caller.

It runs the phases, keeps ``state.json`` up to date, and publishes the artefact and its receipt at the end. After being
killed at any point it resumes: finished phases are skipped, and an interrupted build reuses its objects. It does not
need Ansible: ``_unit.start`` starts it with a copy of these files.
"""

# This is a separate, detached process, which has no AnsibleModule to exit through.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys
import time
import typing as t

from .._core import detached, phrases, processes
from .._core.errors import SparkforgeError
from . import model, publishing, resume
from .attempt import Attempt, State
from .phases import build, package, prepare, sources

#: The phases, in order.
PHASES: dict[str, t.Callable[[Attempt], None]] = {
    "fetch": sources.fetch,
    "patch": sources.patch,
    "prepare": prepare.run,
    "configure": build.configure,
    "build": build.build,
    "package": package.package,
    "check": package.check,
}


def run(attempt: Attempt) -> None:
    """Run the phases that are not done yet."""
    resume.take_stock(attempt)
    paths, state = attempt.paths, attempt.state
    state.update(
        name=paths.name,
        fingerprint=paths.fingerprint,
        status="running",
        attempts=state.data["attempts"] + 1,
        started=state.data.get("started") or phrases.now(),
        boot_id=detached.boot_id(),
        host=socket.gethostname(),
        pid=os.getpid(),
        log=paths.log,
        error=None,
    )
    for phase, run_phase in PHASES.items():
        if state.is_done(phase):
            continue
        began = time.monotonic()
        if state.data.get("phase") != phase:
            state.update(done=0, total=0, rate=None)
        state.update(phase=phase, remaining=None, elapsed=attempt.elapsed())
        attempt.say(f"== {paths.name} {paths.fingerprint}: {phase}, attempt {state.data['attempts']}")
        run_phase(attempt)
        if phase == "configure":
            # Sync the compiler's input. That takes minutes; if power is lost before this, it is recreated.
            attempt.checkpoint()
        phases = dict(state.data["phases"])
        seconds = time.monotonic() - began + float(phases.get(phase, {}).get("seconds") or 0)
        phases[phase] = {"done": True, "seconds": round(seconds, 1)}
        state.update(phases=phases, elapsed=attempt.elapsed())
    # Report publishing as packaging, because a failure here is not a failure of the check.
    state.update(phase="package")
    publishing.publish(attempt)


def main(directory: str) -> int:
    """Build the unit in ``<directory>/request.json`` and return the exit status.

    A second worker in the same directory exits at once, because the first holds the lock.
    """
    lock = detached.Lock(os.path.join(directory, "lock"))
    deadline = time.monotonic() + 5
    while not lock.take():
        # A process that only checks for a worker holds the lock for an instant.
        if time.monotonic() > deadline:
            return 0
        time.sleep(0.05)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    state = State(os.path.join(directory, "state.json"))
    try:
        with open(os.path.join(directory, "request.json"), encoding="utf-8") as stream:
            request = json.load(stream)
        ended = processes.kill_marked(model.Paths(**request["paths"]).marker)
        if ended:
            state.note(f"{ended} processes of an interrupted attempt were killed.")
        host_lock = detached.Lock(os.path.join(request["paths"]["root"], "builds", ".lock"))
        while not host_lock.take():
            if state.data.get("phase") != "waiting":
                state.update(status="running", phase="waiting")
            time.sleep(0.5)
        attempt = Attempt(request)
        state = attempt.state
        run(attempt)
    except SparkforgeError as error:
        state.fail(error)
        return 1
    except OSError as error:
        full = error.errno in (28, 122)
        free_text = f" ({shutil.disk_usage(directory).free >> 20} MiB free)" if full else ""
        state.fail(
            SparkforgeError(
                f"The build failed at {error.filename or directory}: {error.strerror or error}{free_text}.",
                "Free space on that file system and run again, which resumes." if full else "Correct it and run again.",
            )
        )
        return 1
    except SystemExit:
        processes.kill_marked(os.environ.get(processes.MARKER, ""))
        state.update(status="stopped")
        return 143
    return 0
