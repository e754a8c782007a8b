# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Brakes: a unit with which the machine went down does not take it down again at the next boot.

``may-start UNIT`` is the unit's ExecCondition=. It counts the start as unsafe until the unit has run ten minutes, or
the machine is shut down as it should be. A start that finds an earlier one of another boot still unsafe is refused, and
all later ones, until ``allow UNIT``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import typing as t

from ._shared.module_utils._core import disk

HEALTHY = 600.0
FILE = "starts.json"
#: The first line of each unit.
WRITTEN = "# Written by sparkforge-guard; a change is lost when it is installed again.\n"


def boot_id() -> str:
    """Return what changes with each start of the kernel."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
        return stream.read().strip()


def read(state: str) -> dict[str, dict[str, t.Any]]:
    """Return what is known of each unit; a torn file is none."""
    try:
        with open(os.path.join(state, FILE), encoding="utf-8") as stream:
            found = json.load(stream)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(state: str, starts: t.Mapping[str, t.Any]) -> None:
    """Keep it, synced: the machine may go down at once."""
    replace(os.path.join(state, FILE), json.dumps(starts))


def replace(path: str, text: str) -> None:
    """Write a file for all to read, at login and in node_exporter."""
    disk.write_file(path, text.encode())


def braked(state: str) -> dict[str, str]:
    """Return why each unit that stays off does so."""
    return {unit: str(one["off"]) for unit, one in read(state).items() if isinstance(one, dict) and one.get("off")}


def may_start(state: str, unit: str, boot: str, most: int = 1) -> str:
    """Note a start; return why it must not be, or an empty text.

    :param most: with how many boots in a row the machine may go down.
    """
    starts = read(state)
    one = starts.get(unit) or {}
    if not one.get("off") and one.get("unsafe") and one.get("boot") != boot:
        one["downs"] = int(one.get("downs", 0)) + 1
        if one["downs"] >= most:
            began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(one.get("time", 0)))
            one["off"] = f"the machine went down without a shutdown within ten minutes of its start of {began}"
    if not one.get("off"):
        one.update({"boot": boot, "time": time.time(), "uptime": time.monotonic(), "unsafe": True})
    starts[unit] = one
    write(state, starts)
    _say_at_login(state, starts)
    return str(one.get("off") or "")


def mark_healthy(state: str) -> None:
    """Clear the count of units that have run ten minutes in this boot."""
    starts = read(state)
    old = [one for one in starts.values() if one.get("unsafe") and one.get("boot") == boot_id()]
    # Not by the time of day, which may be set meanwhile.
    due = [one for one in old if time.monotonic() - one.get("uptime", 0) >= HEALTHY]
    for one in due:
        one.update({"unsafe": False, "downs": 0})
    if due:
        write(state, starts)


def mark_shutdown(state: str) -> None:
    """The machine goes down as it should: no start of this boot counts."""
    starts = read(state)
    for one in starts.values():
        one["unsafe"] = False
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
        f"{unit} stays off: {one['off']}. To start it again: {remedy(unit)}\n"
        for unit, one in starts.items()
        if one.get("off")
    ]
    if off:
        replace(path, "".join(off))
    elif os.path.exists(path):
        os.unlink(path)


def remedy(unit: str) -> str:
    """Return what starts a unit again."""
    return f"sudo sparkforge-guard allow {unit} && sudo systemctl start {unit}"


def is_shutting_down() -> bool:
    """Say whether systemd shuts the machine down."""
    done = subprocess.run(["systemctl", "is-system-running"], capture_output=True, check=False, text=True)
    return done.stdout.strip() == "stopping"


def drop_in(unit: str, program: str, settings: str, starts: int) -> str:
    """Return what is added to a unit: its start is counted, and it starts a few times only, later each time."""
    text = f"{WRITTEN}[Unit]\nAfter=sparkforge-guard.service\n"
    # Those of sparkforge's own units are limited there, by the time that they may take.
    own = unit.startswith("sparkforge-")
    if not own:
        text += f"StartLimitBurst={starts}\nStartLimitIntervalSec=1h\n"
    text += f"\n[Service]\nExecCondition=+/usr/bin/python3 -I -B {program} may-start {settings} {unit}\n"
    return text if own else f"{text}RestartSec=10\nRestartSteps=5\nRestartMaxDelaySec=300\n"


def is_unit(name: str) -> bool:
    """Say whether a name is that of a service."""
    return re.fullmatch(r"[A-Za-z0-9:_.@-]+\.service", name) is not None
