"""The figures for `sparkforge top`: a JSON line each second with memory, GPU processes, power, clocks, acts, units."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import typing as t

from . import brakes, nvml, power
from ._shared.module_utils._core import contents
from .host import Host
from .journal import spread


def figures(settings: t.Mapping[str, t.Any], host: Host, device: t.Any) -> dict[str, t.Any]:
    """Return the current figures."""
    memory, state = host.memory(), settings["state_directory"]
    held = spread(device.processes(), memory) if device is not None else {}
    users = [host.process(pid, held, False) for pid in held]
    processes = sorted((user for user in users if user is not None), key=lambda user: -user.gpu)[:8]
    devices = device.devices() if device is not None else []
    return {
        "memory": memory._asdict(),
        "processes": [{"pid": user.pid, "name": user.name, "unit": user.unit, "gpu": user.gpu} for user in processes],
        "devices": [{**row, "sticks": power.sticks(row, float(settings.get("clock_cap") or 0))} for row in devices],
        "slowed": [text for row in devices for bit, text in nvml.SLOWED.items() if int(row.get("reasons") or 0) & bit],
        "guard": _last(os.path.join(state, "acts.jsonl")),
        "down": power.down(state)[1],
        "braked": brakes.braked(state),
        "units": _units(settings.get("units") or ()),
    }


def _last(path: str) -> str:
    """Return the guard's last act as a sentence."""
    try:
        row = json.loads(contents.tail(path).splitlines()[-1])
    except (ValueError, IndexError):
        return ""
    return f"{row.get('time')} {row.get('said')}"


def _units(units: t.Sequence[str]) -> dict[str, str]:
    if not units:
        return {}
    try:
        done = subprocess.run(["systemctl", "is-active", *units], capture_output=True, check=False, text=True)
    except OSError:
        return {}
    return dict(zip(units, done.stdout.split()))


def stream(settings: t.Mapping[str, t.Any], once: bool) -> int:
    """Print the figures every second until the reader closes the pipe."""
    host, device = Host(settings["proc"], settings["meminfo"] or ""), nvml.connect(settings["nvml"] or "")
    try:
        while True:
            sys.stdout.write(json.dumps(figures(settings, host, device)) + "\n")
            sys.stdout.flush()
            if once:
                return 0
            time.sleep(1)
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
