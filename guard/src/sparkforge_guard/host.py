"""Reads a host's memory and memory pressure, and the processes that hold memory, frequently and while memory is short.

Formats: proc_meminfo(5), the kernel's Documentation/accounting/psi.rst, proc_pid_stat(5), proc_pid_status(5). A process
can choose its own name, so processes are identified by facts from the kernel: account, control group and executable.
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

from ._shared.module_utils._core import sanitize

PROC = "/proc"
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
GIB = 1 << 30
#: The private memory of smaller processes is not read, unless the host has swapped.
SMALL = 16 << 20
#: Processes of a graphical session run as the user who is logged in, so their executables are checked.
DISPLAY_NAMES = (
    "Xorg", "Xwayland", "gnome-shell", "gnome-session*", "plasmashell", "kwin*", "gdm*", "sddm", "lightdm",
)  # fmt: skip
#: The maximum size of a status file, which is enough for an account with 65,536 groups, and the CPU time in seconds
#: that may be spent on reading open descriptors.
LONGEST_STATUS, LONGEST_LOOK = 1 << 20, 1.0

_FIELD = re.compile(rb"^(\w+): +(\d{1,15}) kB$", re.M)
_PRESSURE = re.compile(rb"^(some|full) avg10=(\d+\.\d+)", re.M)
_OWN = re.compile(rb"^(RssAnon|RssShmem|VmSwap):\s+(\d{1,15}) kB$", re.M)
_DISPLAY = re.compile("|".join(map(fnmatch.translate, DISPLAY_NAMES)))
#: A unit's path begins with nested slices; in a user's systemd instance, further units and slices come before it.
_UNIT = re.compile(
    r"(?:/user\.slice(?:/[^/]+\.slice)*/user@\d+\.service(?=/))?(?:/[^/]+\.slice)*"
    r"/([^/]+\.(?:service|scope|mount|socket))(?=/|$)"
)
_MOUNT = re.compile(rb"^mnt_id:\s+(\d{1,9})$", re.M)
_TMPFS = re.compile(rb"^(\d+) .* - tmpfs ", re.M)


class Memory(t.NamedTuple):
    """A host's memory at one moment, in bytes. Pressure is a percentage of the last ten seconds, or -1 if unknown."""

    time: float
    total: int
    available: int
    cached: int
    dirty: int
    swap_total: int
    swap_free: int
    some: float
    full: float
    #: Memory that belongs neither to processes, caches nor the kernel: with unified memory, the GPU's.
    unaccounted: int
    #: The processes' shared memory, and files in a tmpfs or memfd, even if no process maps them.
    shared: int


class Process(t.NamedTuple):
    """A process and the memory that it holds, in bytes; ``start`` is in seconds since boot."""

    pid: int
    parent: int
    group: int
    start: float
    name: str
    unit: str
    own: int
    gpu: int
    #: Its effective account.
    uid: int
    #: Its control group; ``unit`` is a part of this path.
    path: str
    #: The part of ``own`` that is mapped shared memory.
    shared: int = 0
    #: The name of its executable if only root can write that file; needed for DISPLAY_NAMES.
    exe: str = ""

    @property
    def held(self) -> int:
        """All memory that becomes available when the process exits."""
        return self.own + self.gpu

    @property
    def kind(self) -> tuple[str | int, ...]:
        """The key of a kind of process: name, unit, account, and the user's slice or the group at its level."""
        return (self.name, self.unit, self.uid, *self.path.split("/")[1:3])


def gib(size: float) -> str:
    """Return a size in GiB as text."""
    return f"{size / GIB:.1f} GiB"


def unit_of(path: str) -> str:
    """Return the unit that a control group belongs to, ignoring groups within the unit."""
    match = _UNIT.match(path)
    return match[1] if match else ""


class Host:
    """Reads one host, and keeps the files that it reads often open.

    :param proc: the procfs directory; tests pass another.
    :param meminfo: a file to read instead of /proc/meminfo, for tests within a control group.
    """

    def __init__(self, proc: str = PROC, meminfo: str = "") -> None:
        self.proc = proc
        #: The system's root directory: the guard's own unit has other mounts over some of it.
        self.root = f"{proc}/1/root"
        self._meminfo = os.open(meminfo or f"{proc}/meminfo", os.O_RDONLY)
        try:
            self._pressure = os.open(f"{proc}/pressure/memory", os.O_RDONLY)
            self._stalled()
        except OSError:
            self._pressure = -1
        #: The name, control group and unit by pid, start and name, read once per program.
        self._known: dict[tuple[int, float, bytes], tuple[str, str, str]] = {}
        #: The control group that contains systemd's groups; in a container, the container's group.
        self._groups = _control_group(f"{proc}/1/cgroup").removesuffix("/init.scope").rstrip("/")
        #: The mount id that all memfds on this machine share.
        with open(os.memfd_create("probe"), "rb") as memfd:
            self._memfds = _mount(f"/proc/self/fdinfo/{memfd.fileno()}")

    @property
    def has_pressure(self) -> bool:
        """Whether the kernel reports pressure (CONFIG_PSI, psi=1)."""
        return self._pressure >= 0

    def _stalled(self) -> dict[bytes, float]:
        if self._pressure < 0:
            return {}
        return {kind: float(value) for kind, value in _PRESSURE.findall(os.pread(self._pressure, 512, 0))}

    def memory(self) -> Memory:
        """Return the current memory."""
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
        """Return each process on the host that holds memory.

        :param gpu: the GPU memory of each process, by pid.
        :param swapped: whether memory may be in swap, so that a large process may have little resident memory.
        :param known: processes to leave out.
        """
        pids = {int(name) for name in os.listdir(self.proc) if name.isdigit()}
        processes = {}
        for pid in pids:
            process = self.process(pid, gpu, swapped) if pid not in known else None
            if process is not None:
                processes[pid] = process
        self._known = {key: unit for key, unit in self._known.items() if key[0] in pids}
        return processes

    def process(self, pid: int, gpu: t.Mapping[int, int], swapped: bool) -> Process | None:
        """Return a process, or None if it has exited, is exiting, or is a kernel thread."""
        directory = thread = f"{self.proc}/{pid}"
        try:
            name, fields = _stat(directory)
            start = int(fields[19]) / TICKS
            if fields[0] == b"Z" and int(fields[17]) > 1:
                thread, fields = _living(directory)
            parent, group, resident = int(fields[1]), int(fields[2]), int(fields[21]) * PAGE
            # A kernel thread has no memory of its own, and a zombie has freed its memory.
            if fields[0] in (b"Z", b"X") or fields[20] == b"0":
                return None
            # The account owns the directory even if other accounts may not inspect the process (prctl(2), DUMPABLE).
            own, shared, uid = resident, 0, self._account(directory)
            if swapped or resident >= SMALL:
                figures = {kind: int(size) << 10 for kind, size in _OWN.findall(_read(f"{thread}/status"))}
                own, shared = sum(figures.values()) if figures else resident, figures.get(b"RssShmem", 0)
            key = (pid, start, name)
            if key not in self._known:
                path = _control_group(f"{thread}/cgroup")
                path = path[len(self._groups) :] if path.startswith(f"{self._groups}/") else path
                self._known[key] = sanitize.line(name.decode(errors="replace")), path, unit_of(path)
        except (OSError, ValueError, IndexError):
            return None
        printed, path, unit = self._known[key]
        exe = self._file(directory, printed) if uid and _DISPLAY.match(printed) else ""
        return Process(pid, parent, group, start, printed, unit, own, gpu.get(pid, 0), uid, path, shared, exe)

    def _account(self, directory: str) -> int:
        return os.stat(directory).st_uid

    def _file(self, directory: str, name: str) -> str:
        """Return the name of a process's executable if it is the system's own file called ``name``, else ''.

        The link may point anywhere, because users can mount anything for their processes. Compare the mounts first,
        because on a user's file system any query about the file could make the guard wait.
        """
        try:
            path = os.readlink(f"{directory}/exe")
            if not path.startswith("/usr/") or os.path.basename(path)[:15] != name:
                return ""
            with _handle(f"{self.root}{path}") as system, _handle(f"{directory}/exe") as own:
                if _mount(f"/proc/self/fdinfo/{system.fileno()}") != _mount(f"/proc/self/fdinfo/{own.fileno()}"):
                    return ""
                file = os.fstat(system.fileno())
                closed = not file.st_uid and not file.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
                return os.path.basename(path) if closed and os.path.samestat(file, os.fstat(own.fileno())) else ""
        except OSError:
            return ""

    def unmapped(self, processes: t.Mapping[int, Process]) -> dict[int, int]:
        """Return how many bytes of in-memory files (memfd or tmpfs) each process has open but not mapped; this is slow.

        A file is charged to the oldest process of the account that owns it, and to a process of another account only if
        the file has no name by which that process could have opened it.
        """
        mounts = {self._memfds}
        with contextlib.suppress(OSError):
            mounts |= {int(mount) for mount in _TMPFS.findall(_read(f"{self.proc}/1/mountinfo"))}
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
        """Yield each descriptor of a process with its target."""
        for link in glob.glob(f"{self.proc}/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                yield link, os.readlink(link)

    def signal(self, process: Process, number: int) -> None:
        """Send a signal to a process, but not to another process that has reused its pid.

        :raises ProcessLookupError: if the process is gone.
        """
        try:
            handle = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            # The process is gone, or this is Linux before 5.3, or a Python built for it.
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
        """Tell whether a process still holds its memory.

        An exiting process frees its address space first and then the memory of its files, such as the GPU's. It has
        freed everything once it is a zombie without other threads.
        """
        try:
            _name, fields = _stat(f"{self.proc}/{process.pid}")
            gone = fields[0] in (b"Z", b"X") and int(fields[17]) <= 1
            return not gone and int(fields[19]) / TICKS == process.start
        except (OSError, ValueError, IndexError):
            return False

    @staticmethod
    def since_boot(moment: float) -> float:
        """Convert a time.monotonic() value to seconds since boot, the scale of process start times."""
        return moment + time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()

    def gpu_users(self) -> list[int]:
        """Return the processes that have an NVIDIA device open. This is slow, but the only source without NVML."""
        pids = [int(name) for name in os.listdir(self.proc) if name.isdigit()]
        return [pid for pid in pids if any(re.match(r"/dev/nvidia\d", target) for _link, target in self._opened(pid))]


def _handle(path: str) -> t.BinaryIO:
    """Return a handle to a file without opening the file itself (O_PATH)."""
    return open(path, "rb", 0, opener=lambda name, _flags: os.open(name, os.O_PATH | os.O_CLOEXEC))


def _read(path: str) -> bytes:
    """Return the content of a kernel file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, 4096)
        if len(content) == 4096:
            while len(content) < LONGEST_STATUS and (more := os.read(descriptor, 1 << 16)):
                content += more
        return content
    finally:
        os.close(descriptor)


def _stat(directory: str) -> tuple[bytes, list[bytes]]:
    """Return the name of a process or thread, and the fields after the name in its stat file."""
    text = _read(f"{directory}/stat")
    begin, end = text.index(b"("), text.rindex(b")")
    return text[begin + 1 : end], text[end + 2 :].split()


def _living(directory: str) -> tuple[str, list[bytes]]:
    """Return the directory of a live thread if a process's first thread has exited, and the fields of its stat file.

    :raises OSError: if no thread is alive.
    """
    for name in os.listdir(f"{directory}/task"):
        with contextlib.suppress(OSError, ValueError):
            _name, fields = _stat(f"{directory}/task/{name}")
            if fields[0] not in (b"Z", b"X"):
                return f"{directory}/task/{name}", fields
    raise ProcessLookupError


def _control_group(path: str) -> str:
    """Return a process's control group from its cgroup file: in systemd's own hierarchy, or in that of version 2."""
    try:
        text = _read(path).decode("latin-1")
    except OSError:
        return ""
    rows = [line.split(":", 2) for line in text.split("\n")]
    paths = {row[1]: row[2] for row in rows if len(row) == 3}
    return "/".join(map(sanitize.unit, paths.get("name=systemd", paths.get("", "")).split("/")))


def _mount(path: str) -> int:
    """Return the mount id of an open file, from its fdinfo file."""
    match = _MOUNT.search(_read(path))
    return int(match[1]) if match else -1
