# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host says of its memory, its pressure, and the processes that hold it: read often, and while memory is short.

Formats: proc_meminfo(5), Documentation/accounting/psi.rst of the kernel, proc_pid_stat(5), proc_pid_status(5).
"""

from __future__ import annotations

import os
import re
import time
import typing as t

PROC = "/proc"
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
#: Processes that hold less are not asked how much of it is theirs alone, unless the host has swapped.
SMALL = 16 << 20

_FIELD = re.compile(rb"^(\w+): +(\d+) kB$", re.M)
_PRESSURE = re.compile(rb"^(some|full) avg10=(\d+\.\d+)", re.M)
_OWN = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$", re.M)
_UNIT = re.compile(r"/([^/\n]+\.(?:service|scope|mount|socket))(?=/|$)")


class Memory(t.NamedTuple):
    """The memory of a host at one moment, in bytes; pressure in per cent of the last ten seconds, -1 if unknown."""

    time: float
    total: int
    available: int
    cached: int
    dirty: int
    swap_total: int
    swap_free: int
    some: float
    full: float
    #: Memory that belongs to no process, cache or the kernel: on a unified machine, the GPU's.
    unaccounted: int


class Process(t.NamedTuple):
    """A process with what it holds, in bytes; ``start`` is in seconds since the boot."""

    pid: int
    parent: int
    group: int
    start: float
    name: str
    unit: str
    own: int
    gpu: int

    @property
    def held(self) -> int:
        """All that comes back when it ends."""
        return self.own + self.gpu


class Host:
    """Reads one host; what is read often is kept open.

    :param proc: where procfs is, for tests.
    :param meminfo: another file of that format, for tests within a control group.
    """

    def __init__(self, proc: str = PROC, meminfo: str = "") -> None:
        self.proc = proc
        self._meminfo = os.open(meminfo or f"{proc}/meminfo", os.O_RDONLY)
        try:
            self._pressure = os.open(f"{proc}/pressure/memory", os.O_RDONLY)
            self._stalled()
        except OSError:
            self._pressure = -1
        #: Name and unit by pid and start: they are read once.
        self._known: dict[tuple[int, float], str] = {}

    @property
    def has_pressure(self) -> bool:
        """Whether the kernel tells pressure (CONFIG_PSI, psi=1)."""
        return self._pressure >= 0

    def _stalled(self) -> dict[bytes, float]:
        if self._pressure < 0:
            return {}
        return {kind: float(value) for kind, value in _PRESSURE.findall(os.pread(self._pressure, 512, 0))}

    def memory(self) -> Memory:
        """Return the memory of this moment."""
        fields = {name: int(size) << 10 for name, size in _FIELD.findall(os.pread(self._meminfo, 8192, 0))}

        def size(*names: bytes) -> int:
            return sum(fields.get(name, 0) for name in names)

        stalled = self._stalled()
        accounted = size(
            b"MemFree", b"Buffers", b"Cached", b"SwapCached", b"AnonPages", b"Slab", b"KernelStack", b"PageTables",
            b"Percpu", b"Hugetlb",
        )  # fmt: skip
        return Memory(
            time.monotonic(),
            size(b"MemTotal"),
            size(b"MemAvailable"),
            max(0, size(b"Cached") - size(b"Shmem")),
            size(b"Dirty", b"Writeback"),
            size(b"SwapTotal"),
            size(b"SwapFree"),
            stalled.get(b"some", -1.0),
            stalled.get(b"full", -1.0),
            max(0, size(b"MemTotal") - accounted),
        )

    def processes(self, gpu: t.Mapping[int, int], swapped: bool, known: t.Container[int] = ()) -> dict[int, Process]:
        """Return each process of the host that holds anything.

        :param gpu: what each process holds of the GPU's memory, by its pid.
        :param swapped: whether any may be in swap, so that what is resident does not tell who holds much.
        :param known: processes that are left out.
        """
        pids = {int(name) for name in os.listdir(self.proc) if name.isdigit()}
        found = {}
        for pid in pids:
            process = self.process(pid, gpu, swapped) if pid not in known else None
            if process is not None:
                found[pid] = process
        self._known = {key: unit for key, unit in self._known.items() if key[0] in pids}
        return found

    def process(self, pid: int, gpu: t.Mapping[int, int], swapped: bool) -> Process | None:
        """Return one process, or None if it has ended, is about to, or is a thread of the kernel."""
        try:
            with open(f"{self.proc}/{pid}/stat", "rb", buffering=0) as stream:
                text = stream.read(1024)
            begin, end = text.index(b"("), text.rindex(b")")
            fields = text[end + 2 :].split()
            resident, start = int(fields[21]) * PAGE, int(fields[19]) / TICKS
            # A thread of the kernel has no memory of its own; a zombie has given its memory back.
            if fields[0] in (b"Z", b"X") or fields[20] == b"0":
                return None
            own = resident
            if swapped or resident >= SMALL:
                with open(f"{self.proc}/{pid}/status", "rb", buffering=0) as stream:
                    own = sum(int(size) << 10 for size in _OWN.findall(stream.read(4096)))
        except (OSError, ValueError, IndexError):
            return None
        key = (pid, start)
        if key not in self._known:
            self._known[key] = self._unit(pid)
        name = text[begin + 1 : end].decode(errors="replace")
        return Process(pid, int(fields[1]), int(fields[2]), start, name, self._known[key], own, gpu.get(pid, 0))

    def _unit(self, pid: int) -> str:
        """Return the innermost unit of systemd that a process is in, by control groups of both versions."""
        try:
            with open(f"{self.proc}/{pid}/cgroup", encoding="utf-8", errors="replace") as stream:
                text = stream.read()
        except OSError:
            return ""
        named = [line for line in text.splitlines() if line.startswith("0::/") or ":name=systemd:" in line]
        units = [unit for line in named for unit in _UNIT.findall(line)]
        return units[-1] if units else ""

    def alive(self, process: Process) -> bool:
        """Say whether a process still holds its memory.

        One that ends gives its address space back first, and what its files hold after it: a GPU's memory is among
        the latter. It has all of it until it is a zombie without other threads.
        """
        try:
            with open(f"{self.proc}/{process.pid}/stat", "rb", buffering=0) as stream:
                fields = stream.read(1024).rpartition(b") ")[2].split()
            gone = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
            return not gone and int(fields[19]) / TICKS == process.start
        except (OSError, ValueError, IndexError):
            return False

    @staticmethod
    def since_boot(moment: float) -> float:
        """Return a moment of time.monotonic() in seconds since the boot, as a process' start is."""
        return moment + time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()

    def gpu_users(self) -> list[int]:
        """Return who has a device of NVIDIA's open: slow, and all that there is to know where NVML is not."""
        users = []
        for name in os.listdir(self.proc):
            if not name.isdigit():
                continue
            try:
                for descriptor in os.scandir(f"{self.proc}/{name}/fd"):
                    if re.match(r"/dev/nvidia\d", os.readlink(descriptor.path)):
                        users.append(int(name))
                        break
            except OSError:
                continue
        return users
