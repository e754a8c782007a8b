"""The guard's journal: a separate thread writes a record of each action, the login message and metrics.

Files in the state directory (/var/lib/sparkforge-guard)::

    acts.jsonl    each action, with the readings from the preceding 60 s; the older half is dropped at 2 MiB
    login         the last action that killed a process, for /etc/update-motd.d
    seen.ring     power, clocks and temperature, fsynced: the last readings before a power-off (power.py)
    down          the time of the last power-off without a shutdown, and the last readings (power.py)
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import typing as t

from . import brakes, nvml, power
from ._shared.module_utils._core import directories
from ._shared.module_utils._core.errors import SparkforgeError
from .brakes import replace
from .host import Host, Memory, Process, gib
from .watch import Act

LONGEST_RECORD = 2 << 20
#: Seconds between GPU readings while there is enough memory, between metrics, and between searches for the driver.
GPU_EVERY, METRICS_EVERY, CONNECT_EVERY = 5.0, 15.0, 60.0
HELP = {
    "memory_available_bytes": "memory that programs can still get: free memory, and caches that can be dropped",
    "memory_cached_bytes": "page cache; its clean pages can be freed at once",
    "memory_dirty_bytes": "page cache that must be written to disk before it can be freed",
    "memory_unaccounted_bytes": "memory that no process, cache or the kernel holds: the GPU's, if it shares the memory",
    "memory_full_stall_percent": "share of the last 10 s in which all processes waited for memory; -1 if unknown",
    "gpu_process_bytes": "GPU memory that a process holds",
    "gpu_power_watts": "power of the GPU",
    "gpu_power_limit_watts": "power limit of the GPU",
    "gpu_clock_hertz": "clock of the GPU's processors",
    "gpu_temperature_celsius": "temperature of the GPU",
    "gpu_slowed": "1 while the GPU slows itself down, by reason",
    "guard_acts_total": "number of the guard's acts since it started: warn, ask, end",
    "guard_last_act_timestamp_seconds": "time at which the guard last asked a process to exit, or killed it",
    "gpu_clocks_stuck": "1 if the clocks stay low under load without a reason and without a cap",
    "guard_down_timestamp_seconds": "time of the last boot that no shutdown preceded; 0 for never",
    "unit_braked": "1 for a unit that stays off because the machine went down with it",
}


def sentence(act: Act) -> str:
    """Return an action as one line; host.py has removed terminal controls from names and units."""
    if not act.victim:
        return f"warning: {act.why}, {gib(act.memory.available)} of {gib(act.memory.total)}"
    leader = max(act.victim, key=lambda process: process.held)
    held, gpu = sum(process.held for process in act.victim), sum(process.gpu for process in act.victim)
    verb = "asked" if act.kind == "ask" else "killed"
    others = f" and {len(act.victim) - 1} more" if len(act.victim) > 1 else ""
    where = f" of {leader.unit}" if leader.unit else ""
    return (
        f"{verb} {leader.name} (process {leader.pid}{others}{where}), which held {gib(held)}, "
        f"{gib(gpu)} of it on the GPU: {act.why}, {gib(act.memory.available)} of {gib(act.memory.total)}"
    )


def record(act: Act) -> dict[str, t.Any]:
    """Return an action as a row of acts.jsonl."""

    def row(process: Process) -> dict[str, t.Any]:
        return {**process._asdict(), "held": process.held}

    figures = [
        {"before": round(act.memory.time - when, 1), "available": available, "swap_free": swap, "full": full}
        for when, available, swap, full in act.figures
    ]
    return {
        "act": act.kind,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(act.when)),
        "why": act.why,
        "said": sentence(act),
        "memory": act.memory._asdict(),
        "victim": [row(process) for process in act.victim],
        "holders": [row(process) for process in act.holders],
        "figures": figures,
    }


def metrics(samples: t.Iterable[tuple[str, t.Mapping[str, str], float | None]]) -> str:
    """Return samples in Prometheus' text format, leaving out None."""
    rows: dict[str, list[str]] = {}
    for name, labels, value in samples:
        if value is None:
            continue
        inside = ",".join(
            '{}="{}"'.format(key, text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"'))
            for key, text in labels.items()
        )
        kind = "counter" if name.endswith("_total") else "gauge"
        head = [f"# HELP sparkforge_{name} {HELP[name]}", f"# TYPE sparkforge_{name} {kind}"]
        rows.setdefault(name, head).append(f"sparkforge_{name}{{{inside}}} {value:.10g}".replace("{}", ""))
    return "".join(f"{line}\n" for lines in rows.values() for line in lines)


class Journal(threading.Thread):
    """The second thread, which does all work that may block.

    :param textfile: the directory of node_exporter's textfile collector, or ''.
    """

    def __init__(self, settings: t.Mapping[str, t.Any], gpu: t.Any, host: Host) -> None:
        super().__init__(daemon=True)
        self.state: str = settings["state_directory"]
        self.textfile: str = settings.get("textfile") or ""
        self.units: t.Sequence[str] = settings.get("units") or ()
        self.device, self.host = gpu, host
        self.recorded: str = settings.get("nvml") or ""
        self.seen = power.PowerLog(os.path.join(self.state, power.RING), settings)
        self.acts: queue.SimpleQueue[Act | None] = queue.SimpleQueue()
        self.counts = {"warn": 0, "ask": 0, "end": 0}
        self.last = 0.0
        self.stopped = False
        self._held: dict[int, int] = {}
        self._observed = 0.0
        self._metrics_due = self._connect_due = 0.0
        self._refused = ""

    def gpu(self) -> dict[int, int]:
        """Return the last known GPU memory of each process."""
        return self._held

    def observed(self) -> float:
        """Return the time at which these figures were read."""
        return self._observed

    def refresh(self) -> None:
        """Request newer figures."""
        self.acts.put(None)

    def tell(self, act: Act) -> None:
        """Queue an act."""
        self.acts.put(act)

    def run(self) -> None:
        """Work until the process exits; report errors and continue."""
        while not self.stopped:
            try:
                act = self.acts.get(timeout=GPU_EVERY)
                # Answer several requests at once.
                while act is None and not self.acts.empty():
                    act = self.acts.get()
            except queue.Empty:
                act = None
            try:
                if act is not None:
                    self._write(act)
                self._observe()
            except (OSError, ValueError, KeyError, SparkforgeError) as error:
                sys.stderr.write(f"The guard cannot write: {error!r}\n")

    def _observe(self) -> None:
        now = time.monotonic()
        memory = self.host.memory()
        self._connect(now)
        if self.device is not None:
            self._held = spread(self.device.processes(), memory)
        else:
            self._held = (
                spread(dict.fromkeys(self.host.gpu_users(), 0), memory) if os.path.exists("/dev/nvidia0") else {}
            )
        self._observed = now
        if now >= self._metrics_due:
            self._metrics_due = now + METRICS_EVERY
            devices = self.device.devices() if self.device is not None else []
            self.seen.note(devices, memory)
            brakes.mark_healthy(self.state)
            if self.textfile:
                self._publish(memory, devices)

    def _connect(self, now: float) -> None:
        """Connect to the driver, which may be loaded or reloaded later."""
        if now < self._connect_due:
            return
        self._connect_due = now + CONNECT_EVERY
        if self.device is None or not self.device.devices():
            self.device = nvml.connect(self.recorded)

    def _write(self, act: Act) -> None:
        self.counts[act.kind] += 1
        line = sentence(act)
        # journald reads the level from the number in front (sd-daemon(3)).
        sys.stdout.write(f"<{4 if act.kind == 'warn' else 2}>{line}\n")
        sys.stdout.flush()
        path = os.path.join(self.state, "acts.jsonl")
        if os.path.exists(path) and os.path.getsize(path) > LONGEST_RECORD:
            with open(path, encoding="utf-8") as stream:
                lines = stream.readlines()
            replace(path, "".join(lines[len(lines) // 2 :]))
        with open(path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(record(act)) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        if act.victim:
            self.last = act.when
            moment = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(act.when))
            replace(
                os.path.join(self.state, "login"),
                f"sparkforge-guard, {moment}: {line}. See journalctl -u sparkforge-guard\n",
            )
        self._metrics_due = 0.0

    def _publish(self, memory: Memory, devices: t.Sequence[nvml.Device]) -> None:
        reason = directories.unsafe_for_metrics(self.textfile)
        if reason != self._refused:
            self._refused = reason
            sys.stderr.write(f"<4>{reason or 'Metrics are written again.'}\n")
        if reason:
            return
        samples: list[tuple[str, t.Mapping[str, str], float | None]] = [
            ("memory_available_bytes", {}, memory.available),
            ("memory_cached_bytes", {}, memory.cached),
            ("memory_dirty_bytes", {}, memory.dirty),
            ("memory_unaccounted_bytes", {}, memory.unaccounted),
            ("memory_full_stall_percent", {}, memory.full),
        ]
        for pid, size in sorted(self._held.items()):
            process = self.host.process(pid, {}, False)
            if process is not None:
                labels = {"pid": str(pid), "name": process.name, "unit": process.unit}
                samples.append(("gpu_process_bytes", labels, size))
        for index, device in enumerate(devices):
            of_device = {"gpu": str(index)}
            clock = device.get("clock")
            samples += [
                ("gpu_power_watts", of_device, device.get("power")),
                ("gpu_power_limit_watts", of_device, device.get("limit")),
                ("gpu_clock_hertz", of_device, None if clock is None else clock * 1e6),
                ("gpu_temperature_celsius", of_device, device.get("temperature")),
                ("gpu_clocks_stuck", of_device, float(self.seen.is_stuck(index))),
            ]
            if device.get("reasons") is not None:
                samples += [
                    ("gpu_slowed", {**of_device, "reason": text}, float(bool(device["reasons"] & bit)))
                    for bit, text in nvml.SLOWED.items()
                ]
        samples += [("guard_acts_total", {"act": kind}, count) for kind, count in self.counts.items()]
        samples += [("guard_last_act_timestamp_seconds", {}, self.last)]
        samples += [("guard_down_timestamp_seconds", {}, power.down(self.state)[0])]
        braked = brakes.braked(self.state)
        samples += [("unit_braked", {"unit": unit}, float(unit in braked)) for unit in {*self.units, *braked}]
        replace(os.path.join(self.textfile, power.TEXTFILE), metrics(samples))


def spread(held: t.Mapping[int, int], memory: Memory) -> dict[int, int]:
    """Divide the unaccounted memory equally among the processes whose GPU memory is unknown."""
    unknown = [pid for pid, size in held.items() if not size]
    rest = max(0, memory.unaccounted - sum(held.values()))
    return {**held, **dict.fromkeys(unknown, rest // max(1, len(unknown)))}
