"""Brakes: prevent a unit that was starting when the machine went down from taking it down again at the next boot.

``may-start UNIT`` is the unit's ExecCondition=. A start is unsafe until the unit has run for ten minutes, or the
machine was shut down properly. If an earlier boot ended with an unsafe start, this start and all later ones are refused
until ``allow UNIT`` is run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import typing as t

from ._shared.module_utils._core import disk, receipts
from ._shared.module_utils._core.detached import boot_id as boot_id

HEALTHY = 600.0
FILE = "starts.json"
#: The first line of each unit.
WRITTEN = "# Written by sparkforge-guard; a change is lost when it is installed again.\n"


def read(state: str) -> dict[str, dict[str, t.Any]]:
    """Return the record of each unit's starts; an incomplete file counts as empty."""
    return receipts.load(os.path.join(state, FILE)) or {}


def write(state: str, starts: t.Mapping[str, t.Any]) -> None:
    """Write the record and sync it, because the machine may go down at any moment."""
    replace(os.path.join(state, FILE), json.dumps(starts))


def replace(path: str, text: str) -> None:
    """Write a world-readable file, such as the login message or node_exporter's metrics."""
    disk.write_file(path, text.encode())


def braked(state: str) -> dict[str, str]:
    """Return each unit whose starts are refused, with the reason."""
    starts = {unit: start for unit, start in read(state).items() if isinstance(start, dict)}
    return {unit: str(start["off"]) for unit, start in starts.items() if start.get("off")}


def may_start(state: str, unit: str, boot: str) -> str:
    """Record a start. Return the reason if it is refused, or ''.

    Starts are refused after a boot that ended without a shutdown, soon after the unit's start.
    """
    starts = read(state)
    start = starts.get(unit) or {}
    if not start.get("off") and start.get("unsafe") and start.get("boot") != boot:
        began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(start.get("time", 0)))
        start["off"] = f"the machine went down without a shutdown within ten minutes of its start at {began}"
    if not start.get("off"):
        start.update({"boot": boot, "time": time.time(), "uptime": time.monotonic(), "unsafe": True})
    starts[unit] = start
    write(state, starts)
    _say_at_login(state, starts)
    return str(start.get("off") or "")


def mark_healthy(state: str) -> None:
    """Count the start of each unit as safe that has run for ten minutes in this boot."""
    starts = read(state)
    old = [start for start in starts.values() if start.get("unsafe") and start.get("boot") == boot_id()]
    # Use the uptime, because the clock may have been set in the meantime.
    due = [start for start in old if time.monotonic() - start.get("uptime", 0) >= HEALTHY]
    for start in due:
        start["unsafe"] = False
    if due:
        write(state, starts)


def mark_shutdown(state: str) -> None:
    """Record a proper shutdown: all starts in this boot were safe."""
    starts = read(state)
    for start in starts.values():
        start["unsafe"] = False
    if starts:
        write(state, starts)


def allow(state: str, unit: str) -> None:
    """Let a unit start again."""
    starts = read(state)
    if starts.pop(unit, None) is not None:
        write(state, starts)
        _say_at_login(state, starts)


def _say_at_login(state: str, starts: t.Mapping[str, t.Any]) -> None:
    path = os.path.join(state, "braked")
    off = [
        f"{unit} stays off: {start['off']}. To start it again: {remedy(unit)}\n"
        for unit, start in starts.items()
        if start.get("off")
    ]
    if off:
        replace(path, "".join(off))
    elif os.path.exists(path):
        os.unlink(path)


def remedy(unit: str) -> str:
    """Return the command that starts a unit again."""
    return f"sudo sparkforge-guard allow {unit} && sudo systemctl start {unit}"


def is_shutting_down() -> bool:
    """Tell whether systemd is shutting the machine down."""
    done = subprocess.run(["systemctl", "is-system-running"], capture_output=True, check=False, text=True)
    return done.stdout.strip() == "stopping"


def drop_in(unit: str, program: str, settings: str, starts: int) -> str:
    """Return a unit's drop-in, which counts and limits starts and increases the delays between them."""
    text = f"{WRITTEN}[Unit]\nAfter=sparkforge-guard.service\n"
    # sparkforge's own units already limit their restarts, according to how long a start may take.
    own = unit.startswith("sparkforge-")
    if not own:
        text += f"StartLimitBurst={starts}\nStartLimitIntervalSec=1h\n"
    text += f"\n[Service]\nExecCondition=+/usr/bin/python3 -I -B {program} may-start {settings} {unit}\n"
    return text if own else f"{text}RestartSec=10\nRestartSteps=5\nRestartMaxDelaySec=300\n"


def is_unit(name: str) -> bool:
    """Tell whether this is a valid name for a service unit."""
    return re.fullmatch(r"[A-Za-z0-9:_.@-]+\.service", name) is not None
