# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host says of its memory, its pressure, and the processes that hold it: read often, and while memory is short.

Formats: proc_meminfo(5), Documentation/accounting/psi.rst of the kernel, proc_pid_stat(5), proc_pid_status(5).

Who a process is comes from the kernel: its account, its control group, the file that it runs. Its name is its own.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import re
import signal
import stat
import time
import typing as t

from ._shared.module_utils._core import shown

PROC = "/proc"
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
#: Processes that hold less are not asked how much of it is theirs alone, unless the host has swapped.
SMALL = 16 << 20
#: The display, whose processes are of who sits at it: their files are looked up.
DISPLAY_NAMES = (
    "Xorg", "Xwayland", "gnome-shell", "gnome-session*", "plasmashell", "kwin*", "gdm*", "sddm", "lightdm",
)  # fmt: skip
#: The longest status that is read: of an account with 65,536 groups. And how long descriptors are looked through, in
#: seconds of a core.
LONGEST_STATUS, LONGEST_LOOK = 1 << 20, 1.0

_FIELD = re.compile(rb"^(\w+): +(\d{1,15}) kB$", re.M)
_PRESSURE = re.compile(rb"^(some|full) avg10=(\d+\.\d+)", re.M)
_OWN = re.compile(rb"^(RssAnon|RssShmem|VmSwap):\s+(\d{1,15}) kB$", re.M)
_DISPLAY = re.compile("|".join(map(fnmatch.translate, DISPLAY_NAMES)))
#: Below slices, which nest, is a unit; a user's manager has slices and units of its own below it.
_UNIT = re.compile(
    r"(?:/user\.slice(?:/[^/]+\.slice)*/user@\d+\.service(?=/))?(?:/[^/]+\.slice)*"
    r"/([^/]+\.(?:service|scope|mount|socket))(?=/|$)"
)
_MOUNT = re.compile(rb"^mnt_id:\s+(\d{1,9})$", re.M)
_TMPFS = re.compile(rb"^(\d+) .* - tmpfs ", re.M)


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
    #: Shared memory: of processes, and files of a tmpfs or a memfd, which nobody has to map.
    shared: int


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
    #: The account with whose rights it acts.
    uid: int
    #: Its control group, of which ``unit`` is a part.
    path: str
    #: How much of ``own`` is shared memory that it maps.
    shared: int = 0
    #: The name of the file that it runs, for DISPLAY_NAMES, if that is root's and nobody else may write it.
    exe: str = ""

    @property
    def held(self) -> int:
        """All that comes back when it ends."""
        return self.own + self.gpu

    @property
    def kind(self) -> tuple[str | int, ...]:
        """What its kin have in common with it: name, unit, account, and the user's slice or what is in its place."""
        return (self.name, self.unit, self.uid, *self.path.split("/")[1:3])


def unit_of(path: str) -> str:
    """Return the unit of a control group: what is below it is made by the unit itself, and names nothing."""
    match = _UNIT.match(path)
    return match[1] if match else ""


class Host:
    """Reads one host; what is read often is kept open.

    :param proc: where procfs is, for tests.
    :param meminfo: another file of that format, for tests within a control group.
    """

    def __init__(self, proc: str = PROC, meminfo: str = "") -> None:
        self.proc = proc
        #: The system's files, in which the guard's own unit mounts others.
        self.root = f"{proc}/1/root"
        self._meminfo = os.open(meminfo or f"{proc}/meminfo", os.O_RDONLY)
        try:
            self._pressure = os.open(f"{proc}/pressure/memory", os.O_RDONLY)
            self._stalled()
        except OSError:
            self._pressure = -1
        #: Name, control group and unit by pid, start and name: they are read once for each program.
        self._known: dict[tuple[int, float, bytes], tuple[str, str, str]] = {}
        #: Where systemd's control groups begin: within a container, below that of the container.
        self._groups = _control_group(f"{proc}/1/cgroup").removesuffix("/init.scope").rstrip("/")
        #: The mount that each memfd of this machine is on.
        with open(os.memfd_create("probe"), "rb") as memfd:
            self._memfds = _mount(f"/proc/self/fdinfo/{memfd.fileno()}")

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
            size(b"Shmem"),
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
        place = thread = f"{self.proc}/{pid}"
        try:
            name, fields = _stat(place)
            start = int(fields[19]) / TICKS
            if fields[0] == b"Z" and int(fields[17]) > 1:
                thread, fields = _living(place)
            parent, group, resident = int(fields[1]), int(fields[2]), int(fields[21]) * PAGE
            # A thread of the kernel has no memory of its own; a zombie has given its memory back.
            if fields[0] in (b"Z", b"X") or fields[20] == b"0":
                return None
            # The directory is of the account even where the process lets nobody look into it (prctl(2), DUMPABLE).
            own, shared, uid = resident, 0, self._account(place)
            if swapped or resident >= SMALL:
                figures = {kind: int(size) << 10 for kind, size in _OWN.findall(_read(f"{thread}/status"))}
                own, shared = sum(figures.values()) if figures else resident, figures.get(b"RssShmem", 0)
            key = (pid, start, name)
            if key not in self._known:
                path = _control_group(f"{thread}/cgroup")
                path = path[len(self._groups) :] if path.startswith(f"{self._groups}/") else path
                self._known[key] = shown.line(name.decode(errors="replace")), path, unit_of(path)
        except (OSError, ValueError, IndexError):
            return None
        printed, path, unit = self._known[key]
        exe = self._file(place, printed) if uid and _DISPLAY.match(printed) else ""
        return Process(pid, parent, group, start, printed, unit, own, gpu.get(pid, 0), uid, path, shared, exe)

    def _account(self, place: str) -> int:
        return os.stat(place).st_uid

    def _file(self, place: str, name: str) -> str:
        """Return the name of the file that a process runs if it is the system's, as ``name`` says, else nothing.

        The link may say anything, since a user may mount what he likes for his processes. The mount is compared before
        the file is asked for anything: what answers for a user's may let the guard wait.
        """
        try:
            path = os.readlink(f"{place}/exe")
            if not path.startswith("/usr/") or os.path.basename(path)[:15] != name:
                return ""
            with _handle(f"{self.root}{path}") as system, _handle(f"{place}/exe") as own:
                if _mount(f"/proc/self/fdinfo/{system.fileno()}") != _mount(f"/proc/self/fdinfo/{own.fileno()}"):
                    return ""
                file = os.fstat(system.fileno())
                closed = not file.st_uid and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
                return os.path.basename(path) if closed and os.path.samestat(file, os.fstat(own.fileno())) else ""
        except OSError:
            return ""

    def unmapped(self, processes: t.Mapping[int, Process]) -> dict[int, int]:
        """Return what each has open of files in memory, a memfd or one of a tmpfs, beyond what it maps: slow.

        A file counts for the oldest process of the account that made it; for another only if it has no name by which
        that could have opened it.
        """
        mounts = {self._memfds}
        with contextlib.suppress(OSError):
            mounts |= {int(one) for one in _TMPFS.findall(_read(f"{self.proc}/1/mountinfo"))}
        holders: dict[tuple[int, int], tuple[bool, int, int]] = {}
        began = time.thread_time()
        for pid in sorted(processes):
            if time.thread_time() - began > LONGEST_LOOK:
                break
            for link, target in self._opened(pid):
                try:
                    if target[:1] != "/" or _mount(link.replace("/fd/", "/fdinfo/")) not in mounts:
                        continue
                    file = os.stat(link)
                except OSError:
                    continue
                foreign = file.st_uid != processes[pid].uid
                if not foreign or not file.st_nlink:
                    key, holder = (file.st_dev, file.st_ino), (foreign, pid, file.st_blocks * 512)
                    holders[key] = min(holders.get(key, holder), holder)
        opened: dict[int, int] = {}
        for _foreign, pid, size in holders.values():
            opened[pid] = opened.get(pid, 0) + size
        return {pid: size - processes[pid].shared for pid, size in opened.items() if size > processes[pid].shared}

    def _opened(self, pid: int) -> t.Iterator[tuple[str, str]]:
        """Give each descriptor of a process, and what it leads to."""
        for link in glob.glob(f"{self.proc}/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                yield link, os.readlink(link)

    def signal(self, process: Process, number: int) -> None:
        """Send a signal to a process, and to none that has its number by now.

        :raises ProcessLookupError: it is gone.
        """
        try:
            handle = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            # It is gone; or this is Linux before 5.3, or a Python that was built for one.
            handle = -1
        try:
            if not self.alive(process):
                raise ProcessLookupError
            if handle < 0:
                os.kill(process.pid, number)
            else:
                signal.pidfd_send_signal(handle, number)
        finally:
            if handle >= 0:
                os.close(handle)

    def alive(self, process: Process) -> bool:
        """Say whether a process still holds its memory.

        One that ends gives its address space back first, and what its files hold after it: a GPU's memory is among
        the latter. It has all of it until it is a zombie without other threads.
        """
        try:
            _name, fields = _stat(f"{self.proc}/{process.pid}")
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
        pids = [int(name) for name in os.listdir(self.proc) if name.isdigit()]
        return [pid for pid in pids if any(re.match(r"/dev/nvidia\d", target) for _link, target in self._opened(pid))]


def _handle(path: str) -> t.BinaryIO:
    """Return a handle of a file, which is not opened."""
    return open(path, "rb", 0, opener=lambda name, _flags: os.open(name, os.O_PATH | os.O_CLOEXEC))


def _read(path: str) -> bytes:
    """Return a file of the kernel's to its end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = os.read(descriptor, 4096)
        if len(text) == 4096:
            while len(text) < LONGEST_STATUS and (more := os.read(descriptor, 1 << 16)):
                text += more
        return text
    finally:
        os.close(descriptor)


def _stat(place: str) -> tuple[bytes, list[bytes]]:
    """Return the name of a process or a thread, and what follows it in its stat."""
    text = _read(f"{place}/stat")
    begin, end = text.index(b"("), text.rindex(b")")
    return text[begin + 1 : end], text[end + 2 :].split()


def _living(place: str) -> tuple[str, list[bytes]]:
    """Return a thread of a process whose first thread has ended, and its figures: they are those of the process.

    :raises OSError: there is none.
    """
    for name in os.listdir(f"{place}/task"):
        with contextlib.suppress(OSError, ValueError):
            _name, fields = _stat(f"{place}/task/{name}")
            if fields[0] not in (b"Z", b"X"):
                return f"{place}/task/{name}", fields
    raise ProcessLookupError


def _control_group(path: str) -> str:
    """Return the control group of a process from its file of that name: systemd's own, or that of version 2."""
    try:
        text = _read(path).decode("latin-1")
    except OSError:
        return ""
    rows = [line.split(":", 2) for line in text.split("\n")]
    paths = {row[1]: row[2] for row in rows if len(row) == 3}
    return "/".join(map(shown.unit, paths.get("name=systemd", paths.get("", "")).split("/")))


def _mount(path: str) -> int:
    """Return the number of the mount that an open file is on, from its file in fdinfo."""
    match = _MOUNT.search(_read(path))
    return int(match[1]) if match else -1
