# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nvidia-smi says of a GPU while it works, who else uses it, and what else keeps the machine busy."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import re
import subprocess
import time
import typing as t

from ._shared.module_utils._host import gpu

#: Of nvidia-smi's ``clocks_event_reasons.active``: NVML's ``nvmlClocksEventReasons``.
REASONS = {
    0x1: "idle",
    0x2: "clocks set by the administrator",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clocks",
}

_QUERY = "clocks.sm,clocks.max.sm,power.draw,power.limit,utilization.gpu,clocks_event_reasons.active"
_FORMAT = "--format=csv,noheader,nounits"
#: Seconds: a wedged driver lets nvidia-smi hang for ever.
_PATIENCE = 20
#: How long processes are looked at, in seconds, and from which part of it on a thread that waits for a core is starved.
LOOK, STARVED = 0.5, 0.25
#: From how many per cent of the last ten seconds on, in which every program waited, disk or memory stall the machine.
STALLED = 25.0
#: What every program that computes with CUDA has open; nvidia-persistenced has other devices.
DEVICE = "/dev/nvidia-uvm"


#: The caps that the collection's role guard set because the owner asked for them; a GB10 shows no locked clock.
CAPS = "/var/lib/sparkforge-guard/caps.json"
#: How near to a cap a value is held by it.
NEAR = 0.85


class NoSampler(Exception):
    """There is no nvidia-smi, or it does not answer."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """One look at a GPU; None for what it does not say: a GB10 has no power limit, and its memory is the host's."""

    sm_clock_mhz: float | None = None
    sm_clock_most_mhz: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    utilization: float | None = None
    reasons: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Caps:
    """What the owner limits on purpose; None for no limit."""

    power_w: float | None = None
    clock_mhz: float | None = None

    def explain(self, clock: float, power: float | None) -> bool:
        """Say whether a device is where a cap holds it."""
        slow = self.clock_mhz is not None and NEAR * self.clock_mhz <= clock <= self.clock_mhz / NEAR
        return slow or (self.power_w is not None and power is not None and power >= NEAR * self.power_w)

    def __str__(self) -> str:
        pairs = ((self.power_w, "W"), (self.clock_mhz, "MHz"))
        return " and ".join(f"{value:g} {unit}" for value, unit in pairs if value is not None)


def caps(path: str = CAPS) -> Caps:
    """Return the caps of this host; none if the file is not there, or is torn."""
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)
        values = [found.get(one.name) for one in dataclasses.fields(Caps)]
        return Caps(*(float(one) if one else None for one in values))
    except (OSError, ValueError, TypeError, AttributeError):
        return Caps()


@dataclasses.dataclass(frozen=True)
class Process:
    """A process that uses a GPU.

    :ivar own: it is one of this proof.
    """

    pid: int
    name: str
    used_mib: int | None = None
    own: bool = False

    def __str__(self) -> str:
        memory = f", {self.used_mib} MiB" if self.used_mib is not None else ""
        return f"{self.name} (process {self.pid}{memory})"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def parse(line: str) -> Sample:
    """Read one line of nvidia-smi's answer.

    :raises NoSampler: it is not one.
    """
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != 6:
        raise NoSampler(f"nvidia-smi answered {line.strip()!r}")
    try:
        active = int(fields[5], 16)
    except ValueError:
        active = 0
    clock, most, power, limit, utilization = (_number(field) for field in fields[:5])
    reasons = frozenset(name for bit, name in REASONS.items() if active & bit)
    return Sample(clock, most, power, limit, utilization, reasons)


def _ask(*options: str) -> str:
    command = ["nvidia-smi", *options]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except FileNotFoundError as error:
        raise NoSampler("nvidia-smi is not on the PATH") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSampler(f"nvidia-smi does not respond: {error}") from error
    if done.returncode not in (0, gpu.INFOROM_CORRUPTED):
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NoSampler(f"nvidia-smi failed: {said[-1] if said else f'status {done.returncode}'}")
    return done.stdout


def sample(index: str) -> Sample:
    """Look at one GPU.

    :param index: what ``nvidia-smi -i`` takes: a number or a UUID.
    :raises NoSampler: it cannot be looked at.
    """
    answer = _ask(f"--query-gpu={_QUERY}", _FORMAT, "-i", index)
    lines = [line for line in answer.strip().splitlines() if not line.startswith("WARNING")]
    return parse(lines[0] if lines else "")


def descendants(pid: int, parents: t.Mapping[int, int]) -> set[int]:
    """Return the processes that one started, and those that these started.

    :param parents: of each process the one that started it.
    """
    found: set[int] = set()
    grown = {pid}
    while grown:
        grown = {child for child, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def family(pid: int, parents: t.Mapping[int, int]) -> set[int]:
    """Return a process, those that it descends from, and all that the one which started it started."""
    line = [pid]
    while parents.get(line[-1], 0) > 1:
        line.append(parents[line[-1]])
    return set(line) | descendants(line[min(1, len(line) - 1)], parents)


def parents() -> dict[int, int]:
    """Return of each process that is seen here the one that started it."""
    pids = map(int, filter(str.isdigit, os.listdir("/proc")))
    return {pid: int(fields[1]) for pid in pids if (fields := _stat(pid))}


def _stat(pid: int) -> list[str]:
    """Return state, parent, group, session and the rest; nothing of a process that has ended."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
        # The name may hold spaces and brackets.
        return stream.read().rpartition(")")[2].split()
    return []


def hindrance(leader: int) -> str:
    """Return in words what keeps the processes of a group or a session from their work now; empty for nothing.

    A process that hangs waits for no core, however many others do.

    :param leader: the process that began it.
    """
    before = _waited(leader)
    time.sleep(LOOK)
    shares = [
        (waited - before[thread]) / (LOOK * 1e9) for thread, waited in _waited(leader).items() if thread in before
    ]
    if max(shares, default=0.0) >= STARVED:
        return f"other processes had the processor for {min(1.0, max(shares)):.0%} of its time"
    for kind, name in (("memory", "memory"), ("io", "the disk")):
        with contextlib.suppress(OSError), open(f"/proc/pressure/{kind}", encoding="utf-8") as stream:
            full = re.search(r"^full avg10=([\d.]+)", stream.read(), re.MULTILINE)
            if full and float(full[1]) >= STALLED:
                return f"every program waited for {name} in {float(full[1]):.0f} % of the last ten seconds"
    return ""


def _waited(leader: int) -> dict[str, int]:
    """Return for each thread of these processes the nanoseconds in which it could run and no core was free."""
    waited = {}
    for pid in (pid for pid in parents() if str(leader) in _stat(pid)[2:4]):
        with contextlib.suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as stream:
                    waited[thread] = int(stream.read().split()[1])
    return waited


def others(index: str = "") -> list[Process]:
    """Return the processes that :func:`computing` has and that are not of the proof."""
    return [process for process in computing(index) if not process.own]


def computing(index: str = "") -> list[Process]:
    """Return the processes on the GPUs that are seen here; none where nvidia-smi does not say.

    In a container nvidia-smi names the host's numbers, which tell nothing.

    :param index: of one GPU, as ``nvidia-smi -i`` takes it; by default of all.
    """
    answer = ""
    with contextlib.suppress(NoSampler):
        answer = _ask(f"--query-compute-apps={gpu.QUERY_PROCESSES}", _FORMAT, *(["-i", index] if index else []))
    known = parents()
    own = _own(known)
    rows = [row for row in gpu.parse_processes(answer) if row["pid"] in known or _runs(row["pid"])]
    return [Process(row["pid"], row["name"], row["used_mib"], row["pid"] in own) for row in rows]


def holders() -> list[Process]:
    """Return the processes that are not of the proof and have the GPU's device open, as far as this account may look.

    A desktop may have it too: ask only where CUDA did not start, and nvidia-smi names nobody.
    """
    known = parents()
    return [Process(pid, _name(pid)) for pid in sorted(known.keys() - _own(known)) if DEVICE in _opened(pid)]


def _own(known: t.Mapping[int, int]) -> set[int]:
    """Return the processes of the proof: the runner, which started every lane, leads its session."""
    leader = os.getsid(0)
    return family(os.getpid(), known) | (family(leader, known) if leader in known else set())


def _runs(pid: int) -> bool:
    """Tell whether there is a process of this number here, also where hidepid= hides it."""
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno == errno.EPERM
    return True


def _name(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
        return stream.read().strip()
    return "a process"


def _opened(pid: int) -> set[str]:
    """Return the files that a process has open; none where this account may not look."""
    paths = set()
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                paths.add(os.readlink(f"/proc/{pid}/fd/{number}"))
    return paths
