# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the units and the role start: ``COMMAND SETTINGS [UNIT]``; run, figures, cap, uncap, may-start, allow."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import typing as t

from .._core.errors import SparkforgeError
from . import brakes, figures, nvml, policy, watched
from .host import Host
from .notes import Notes
from .watch import Guard, Levels, Turn, fill_memory, lock_memory

#: Bytes of the second thread's stack, all of which are in memory.
STACK = 512 << 10


def guard(settings: t.Mapping[str, t.Any]) -> int:
    """Guard this host until SIGTERM."""
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.append(1))
    os.makedirs(settings["state_directory"], exist_ok=True)
    host = Host(settings.get("proc") or "/proc", settings.get("meminfo") or "")
    device = nvml.connect(settings.get("nvml") or "")
    notes = Notes(settings, device, host)
    rules = policy.Rules(*(tuple(settings.get(name) or ()) for name in ("protected", "first", "last")))
    levels = Levels(*(float(settings[name]) for name in ("warn_percent", "ask_percent", "end_percent")))
    watch = Guard(host, levels, rules, notes.gpu, notes.refresh, notes.tell, observed=notes.observed)
    turn = Turn()
    signal.signal(signal.SIGXCPU, turn.give)
    refused = [one for one in (lock_memory(), turn.take()) if one]
    watch.rehearse()
    said = [f"guards {host.memory().total >> 20} MiB: warns below {levels.warn:g} %, asks below {levels.ask:g} %, "
            f"ends below {levels.end:g} %", *refused]  # fmt: skip
    if not host.has_pressure:
        said.append("this kernel tells no pressure (CONFIG_PSI): only MemAvailable is judged")
    if device is None:
        said.append("no NVML: who holds the GPU is guessed from open devices")
    sys.stdout.write("; ".join(said) + "\n")
    down = watched.note_start(settings["state_directory"], brakes.boot_id())
    if down:
        sys.stdout.write(f"<2>{down}\n")
    sys.stdout.flush()
    threading.stack_size(STACK)
    notes.start()
    fill_memory()
    watch.run(lambda: bool(stopping), turn)
    watched.note_end(settings["state_directory"], brakes.boot_id())
    if brakes.is_shutting_down():
        brakes.mark_shutdown(settings["state_directory"])
    return 0


def main(arguments: t.Sequence[str]) -> int:
    """Run one command."""
    command, path, *rest = arguments
    with open(path, encoding="utf-8") as stream:
        settings = json.load(stream)
    state = settings["state_directory"]
    try:
        if command == "run":
            return guard(settings)
        if command == "figures":
            return figures.stream(settings, "once" in rest)
        if command == "cap":
            device = nvml.connect(settings.get("nvml") or "")
            power, clock = float(settings["power_cap"]), int(settings["clock_cap"])
            for line in watched.apply_caps(device, power, clock):
                sys.stdout.write(line + "\n")
            os.makedirs(state, exist_ok=True)
            caps = json.dumps({"power_w": power or None, "clock_mhz": clock or None})
            watched.replace(os.path.join(state, watched.CAPS), caps)
        elif command == "uncap":
            watched.remove_caps(nvml.connect(settings.get("nvml") or ""), settings)
        elif command == "may-start":
            os.makedirs(state, exist_ok=True)
            why = brakes.may_start(state, rest[0], brakes.boot_id())
            if why:
                sys.stdout.write(f"<3>{rest[0]} stays off: {why}. To start it again: {brakes.remedy(rest[0])}\n")
                return 1
        elif command == "allow":
            brakes.allow(state, rest[0])
    except SparkforgeError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0
