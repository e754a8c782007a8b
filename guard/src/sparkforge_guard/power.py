"""Power, clocks and temperature: the owner's caps, stuck clocks, and the last readings before a power-off.

Files in the state directory::

    seen.ring   the figures of the last hours
    caps.json   the caps in effect, so that the proof does not mistake them for a fault
    ended       the id of the boot in which the machine was shut down, or the guard was stopped
    down        the last power-off without a shutdown, shown for a week in the status and at login
    down.json   the same with the figures of the last minutes before it

The ring file has lines of equal length, which are overwritten in turn and synced, at most one every 5 s. The number in
each line shows which is newest, so an incomplete write loses only one line.
"""

from __future__ import annotations

import json
import os
import time
import typing as t

from . import brakes, nvml
from ._shared.module_utils._core import contents
from ._shared.module_utils._core.errors import SparkforgeError
from .brakes import replace
from .host import Memory

LINE, LINES = 512, 720
EVERY = 5.0
RING, CAPS, ENDED, DOWN = "seen.ring", "caps.json", "ended", "down"
#: The number of lines kept from a boot that ended without a shutdown, and for how many seconds this is reported.
BEFORE, WEEK = 20, 7 * 86400.0
#: The file in the directory of node_exporter's textfile collector.
TEXTFILE = "sparkforge_guard.prom"
#: A clock is stuck if it is below LOW of its maximum, for no reported reason, in LOOKS readings at BUSY per cent load.
LOW, BUSY, LOOKS = 0.5, 80, 4


class PowerLog:
    """Writes the ring file.

    :param settings: ``clock_cap`` in MHz, 0 for none: a clock at its cap is not stuck.
    """

    def __init__(self, path: str, settings: t.Mapping[str, t.Any]) -> None:
        self.path = path
        self.clock_cap = float(settings.get("clock_cap") or 0)
        self._number = -1
        self._wrote = -1e9
        self._low: dict[int, int] = {}

    def note(self, devices: t.Sequence[nvml.Device], memory: Memory) -> None:
        """Judge the clocks and write one line, unless the last is younger than 5 s."""
        for index, device in enumerate(devices):
            self._low[index] = self._low.get(index, 0) + 1 if sticks(device, self.clock_cap) else 0
        if time.monotonic() - self._wrote < EVERY:
            return
        self._wrote = time.monotonic()
        if self._number < 0:
            self._number = max((int(row["n"]) for row in read(self.path)), default=-1)
        self._number += 1
        kept = ("power", "limit", "clock", "temperature", "reasons", "busy")
        line = json.dumps({
            "n": self._number, "boot": brakes.boot_id()[:8], "time": int(time.time()), "available": memory.available,
            "devices": [[device.get(key) for key in kept] for device in devices[:4]],
        }).encode()  # fmt: skip
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.path, flags, 0o644)
        try:
            os.pwrite(descriptor, line[: LINE - 1].ljust(LINE - 1) + b"\n", self._number % LINES * LINE)
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)

    def is_stuck(self, index: int) -> bool:
        """Tell whether a device's clocks were low for a minute under load without a reason."""
        return self._low.get(index, 0) >= LOOKS


def sticks(device: nvml.Device, cap: float) -> bool:
    """Tell whether a device is busy at a low clock that neither a cap nor a reason explains."""
    clock, most, reasons = device.get("clock"), device.get("clock_max"), int(device.get("reasons") or 0)
    if not clock or not most or (device.get("busy") or 0) < BUSY:
        return False
    explained = reasons & (sum(nvml.SLOWED) | sum(nvml.CHOSEN)) or device.get("clock_cap")
    return clock < LOW * (min(cap, most) if cap else most) and not explained


def read(path: str) -> list[dict[str, t.Any]]:
    """Return the lines of a ring file, oldest first, without incomplete ones."""
    rows = []
    try:
        with open(path, "rb") as stream:
            lines = stream.read(LINE * LINES).split(b"\n")
    except OSError:
        return []
    for line in lines:
        try:
            row = json.loads(line)
            int(row["n"])
        except (ValueError, TypeError, KeyError):
            continue
        rows.append(row)
    return sorted(rows, key=lambda row: int(row["n"]))


def note_start(state: str, boot: str) -> str:
    """Return a message if the previous boot ended without a shutdown, else ''; save its last readings.

    A boot in which the guard was stopped is not judged, because its end was not observed.
    """
    rows, ended = read(os.path.join(state, RING)), contents.tail(os.path.join(state, ENDED)).strip()
    if ended == boot:
        os.unlink(os.path.join(state, ENDED))
    last = rows[-1] if rows else {}
    if not last or last.get("boot") in (boot[:8], ended[:8]):
        return ""
    before = [row for row in rows if row.get("boot") == last.get("boot")][-BEFORE:]
    seen = [f"{float(last.get('available') or 0) / (1 << 30):.1f} GiB available"]
    for power, limit, clock, heat, *_more in last.get("devices") or ():
        pairs = ((power, f" W of {limit:g} W" if limit else " W"), (clock, " MHz"), (heat, " C"))
        seen += [f"{value:g}{unit}" for value, unit in pairs if value is not None]
    moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(float(last.get("time") or 0)))
    message = (
        f"The machine went down without a shutdown after {moment}; last readings: {', '.join(seen)}. See journalctl "
        f"-b -1 and {state}/{DOWN}.json; if it turns off under load, set power_cap or clock_cap."
    )
    replace(os.path.join(state, f"{DOWN}.json"), json.dumps({"said": message, "seen": before}))
    replace(os.path.join(state, DOWN), f"{message}\n")
    return message


def note_end(state: str, boot: str) -> None:
    """Record that the guard was stopped in this boot, by a shutdown or by hand."""
    replace(os.path.join(state, ENDED), boot)


def down(state: str) -> tuple[float, str]:
    """Return the time and the message of the last boot after a power-off without a shutdown."""
    path = os.path.join(state, DOWN)
    try:
        when = os.stat(path).st_mtime
    except OSError:
        return 0.0, ""
    return when, contents.tail(path).strip() if time.time() - when < WEEK else ""


def check_caps(device: t.Any, power: float, clock: int) -> list[nvml.Device]:
    """Return the devices if all of them support these caps.

    :raises SparkforgeError: if there is no device, or a device does not support the caps.
    """
    rows: list[nvml.Device] = device.devices() if device is not None else []
    if not rows:
        raise SparkforgeError("This host has no GPU that can be capped.", "Unset power_cap and clock_cap.")
    for row in rows:
        limits, most = row.get("limits"), row.get("clock_max")
        if power and not limits:
            raise SparkforgeError("This GPU does not support a power limit.", "Set clock_cap instead of power_cap.")
        if power and limits and not limits[0] <= power <= limits[1]:
            raise SparkforgeError(
                f"power_cap is {power:g} W, but this GPU accepts {limits[0]:g} to {limits[1]:g} W.",
                "Set power_cap to a value in this range.",
            )
        if clock and most and not most / 10 <= clock <= most:
            raise SparkforgeError(
                f"clock_cap is {clock} MHz, but this GPU's highest clock is {most} MHz.",
                f"Set clock_cap to a value between {most // 10} and {most}.",
            )
    return rows


def apply_caps(device: t.Any, power: float, clock: int) -> list[str]:
    """Set the caps that differ on each device; return the caps that were set.

    :raises SparkforgeError: if a device does not support a cap (then nothing is set), or the driver refuses it.
    """
    done = []
    for index, row in enumerate(check_caps(device, power, clock)):
        codes = []
        if power and row.get("limit") != power:
            codes.append((device.set_power(index, power), f"power limit {power:g} W"))
        # No query shows a locked clock, so set it each time.
        if clock:
            codes.append((device.set_clocks(index, clock), f"clock at most {clock} MHz"))
        for code, cap in codes:
            if code:
                raise SparkforgeError(
                    f"The driver refused the {cap} for GPU {index}: NVML error {code}.",
                    "Run this as root. Error 3: the GPU does not support this cap; unset it.",
                )
            done.append(f"GPU {index}: {cap}")
    return done


def remove_caps(device: t.Any, settings: t.Mapping[str, t.Any]) -> None:
    """Remove the caps: unlock the clocks and restore the device's own power limit."""
    rows = device.devices() if device is not None else []
    for index, row in enumerate(rows):
        if settings.get("clock_cap"):
            device.set_clocks(index, 0)
        usual = row.get("limit_default")
        if settings.get("power_cap") and usual and row.get("limit") != usual:
            device.set_power(index, usual)
