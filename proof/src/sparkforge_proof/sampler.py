"""Sample a busy GPU with nvidia-smi, find other processes on it, and find the reasons why a machine is slow."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import subprocess
import time
import typing as t

from ._shared.module_utils._core import disk
from ._shared.module_utils._host import gpu

#: The bits in nvidia-smi's ``clocks_event_reasons.active``, which are NVML's ``nvmlClocksEventReasons``.
REASONS = {
    0x1: "idle", 0x2: "clocks set by the administrator", 0x4: "software power cap", 0x8: "hardware slowdown",
    0x10: "sync boost", 0x20: "software thermal slowdown", 0x40: "hardware thermal slowdown",
    0x80: "hardware power brake", 0x100: "display clocks",
}  # fmt: skip

_QUERY = "clocks.sm,clocks.max.sm,power.draw,power.limit,utilization.gpu,clocks_event_reasons.active"
_FORMAT = "--format=csv,noheader,nounits"
#: The timeout in seconds for nvidia-smi, which hangs forever if the driver is wedged.
_TIMEOUT = 20
#: How many seconds to watch threads, and for which share of that time a starved thread waits for a core.
LOOK, STARVED = 0.5, 0.25
#: If all programs waited for at least this percentage of the last ten seconds, disk or memory counts as the cause.
STALLED = 25.0
#: The device that every CUDA program opens; nvidia-persistenced opens only other devices.
DEVICE = "/dev/nvidia-uvm"
#: The file with the caps that the guard role set at the owner's request. A GB10 does not report a locked clock.
CAPS = "/var/lib/sparkforge-guard/caps.json"
#: A value above this fraction of a cap is limited by the cap.
NEAR_CAP = 0.85
#: The arguments of the processes that :mod:`lane` starts; the name of their directory has the proof's PID and start.
_OF_PROOF = re.compile(rb"\0[^\0]*/sparkforge-proof-([0-9]+-[0-9a-f]{8})[0-9a-f]{8}/main\.py\0")


class NoSampler(Exception):
    """nvidia-smi is missing, or does not respond."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """A sample of a GPU's state, with None for values that it does not report, such as a GB10's power limit."""

    sm_clock_mhz: float | None = None
    sm_clock_most_mhz: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    utilization: float | None = None
    reasons: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Caps:
    """The limits that the owner set on purpose; None means no limit."""

    power_w: float | None = None
    clock_mhz: float | None = None

    def explain(self, clock: float, power: float | None) -> bool:
        """Tell whether a cap explains a clock and a power draw."""
        slow = self.clock_mhz is not None and NEAR_CAP * self.clock_mhz <= clock <= self.clock_mhz / NEAR_CAP
        return slow or (self.power_w is not None and power is not None and power >= NEAR_CAP * self.power_w)

    def __str__(self) -> str:
        pairs = ((self.power_w, "W"), (self.clock_mhz, "MHz"))
        return " and ".join(f"{value:g} {unit}" for value, unit in pairs if value is not None)


def caps(path: str = CAPS) -> Caps:
    """Return the caps on this host; if the file is missing or damaged, there are none."""
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
        values = [content.get(field.name) for field in dataclasses.fields(Caps)]
        return Caps(*(float(value) if value else None for value in values))
    except (OSError, ValueError, TypeError, AttributeError):
        return Caps()


@dataclasses.dataclass(frozen=True)
class Process:
    """A process that uses a GPU.

    :ivar own: whether the process belongs to this proof.
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
    """Parse a line of nvidia-smi's output.

    :raises NoSampler: if the line has another form.
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


def _nvidia_smi(*options: str) -> str:
    command = ["nvidia-smi", *options]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except FileNotFoundError as error:
        raise NoSampler("nvidia-smi is not on the PATH") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoSampler(f"nvidia-smi does not respond: {error}") from error
    if done.returncode not in (0, gpu.INFOROM_CORRUPTED):
        messages = (done.stderr or done.stdout).strip().splitlines()
        raise NoSampler(f"nvidia-smi failed: {messages[-1] if messages else f'status {done.returncode}'}")
    return done.stdout


def sample(index: str) -> Sample:
    """Sample a GPU.

    :param index: the argument of ``nvidia-smi -i``: a number or a UUID.
    :raises NoSampler: if nvidia-smi does not report the GPU.
    """
    answer = _nvidia_smi(f"--query-gpu={_QUERY}", _FORMAT, "-i", index)
    lines = [line for line in answer.strip().splitlines() if not line.startswith("WARNING")]
    return parse(lines[0] if lines else "")


def _ancestors(pid: int, known: t.Mapping[int, int]) -> list[int]:
    """Return a process and its ancestors, without init.

    :param known: the parent of each process.
    """
    line = [pid]
    while known.get(line[-1], 0) > 1:
        line.append(known[line[-1]])
    return line


def parents() -> dict[int, int]:
    """Return the parent of each visible process."""
    pids = map(int, filter(str.isdigit, os.listdir("/proc")))
    return {pid: int(fields[1]) for pid in pids if (fields := disk.process_fields(pid))}


def hindrance(leader: int) -> str:
    """Return the reason why the processes in a group or session are slow now, or '' if there is none.

    Threads waiting for a core are a reason; a process that hangs does not wait for a core.

    :param leader: the leader of the group or session.
    """
    before = _waited(leader)
    time.sleep(LOOK)
    shares = [
        (waited - before[thread]) / (LOOK * 1e9) for thread, waited in _waited(leader).items() if thread in before
    ]
    if max(shares, default=0.0) >= STARVED:
        return f"other processes used the processor for {min(1.0, max(shares)):.0%} of its time"
    for kind, name in (("memory", "memory"), ("io", "the disk")):
        with contextlib.suppress(OSError), open(f"/proc/pressure/{kind}", encoding="utf-8") as stream:
            full = re.search(r"^full avg10=([\d.]+)", stream.read(), re.MULTILINE)
            if full and float(full[1]) >= STALLED:
                return f"all programs waited for {name} in {float(full[1]):.0f} % of the last ten seconds"
    return ""


def _waited(leader: int) -> dict[str, int]:
    """Return for how many nanoseconds each thread in a group or session has waited for a core."""
    waited = {}
    for pid in (pid for pid in parents() if str(leader) in disk.process_fields(pid)[2:4]):
        with contextlib.suppress(OSError, ValueError, IndexError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as stream:
                    waited[thread] = int(stream.read().split()[1])
    return waited


def others(index: str = "") -> list[Process]:
    """Return the processes on the GPUs that do not belong to the proof."""
    return [process for process in computing(index) if not process.own]


def computing(index: str = "") -> list[Process]:
    """Return the visible processes on the GPUs, or [] if nvidia-smi reports none.

    In a container, nvidia-smi may report PIDs on the host, which are ignored.

    :param index: the argument of ``nvidia-smi -i``; by default, all GPUs.
    """
    answer = ""
    with contextlib.suppress(NoSampler):
        answer = _nvidia_smi(f"--query-compute-apps={gpu.QUERY_PROCESSES}", _FORMAT, *(["-i", index] if index else []))
    known = parents()
    rows = [row for row in gpu.parse_processes(answer) if row["pid"] in known or disk.process_exists(row["pid"])]
    return _listed((Process(row["pid"], row["name"], row["used_mib"]) for row in rows), known)


def holders() -> list[Process]:
    """Return the other processes that have the GPU's device open and are visible to this account.

    A desktop may also have it open, so use this only if CUDA cannot be initialised and nvidia-smi reports no process.
    """
    known = parents()
    opened = (Process(pid, _name(pid)) for pid in sorted(known) if DEVICE in _opened(pid))
    return [process for process in _listed(opened, known) if not process.own]


def _listed(processes: t.Iterable[Process], known: t.Mapping[int, int]) -> list[Process]:
    """Mark the ancestors and all processes of this proof as own, and list those of another proof as a single one."""
    ancestors, this = set(_ancestors(os.getpid(), known)), _proof_of(os.getpid(), known)
    listed: dict[str | int, Process] = {}
    for process in processes:
        proof = _proof_of(process.pid, known)
        if process.pid in ancestors or (proof and proof == this):
            listed[process.pid] = dataclasses.replace(process, own=True)
        elif proof:
            listed.setdefault(proof, Process(process.pid, "another proof"))
        else:
            listed[process.pid] = process
    return [*listed.values()]


def _proof_of(pid: int, known: t.Mapping[int, int]) -> str:
    """Return the mark of the proof that started a process or an ancestor of it, or ''."""
    for ancestor in _ancestors(pid, known):
        with contextlib.suppress(OSError), open(f"/proc/{ancestor}/cmdline", "rb") as stream:
            if arguments := _OF_PROOF.search(stream.read(1 << 12)):
                return arguments[1].decode()
    return ""


def _name(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
        return stream.read().strip()
    return "a process"


def _opened(pid: int) -> set[str]:
    """Return a process's open files, or an empty set if this account may not see them."""
    paths = set()
    with contextlib.suppress(OSError):
        for number in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                paths.add(os.readlink(f"/proc/{pid}/fd/{number}"))
    return paths
