"""A host made of files, for the guard's tests: a /proc with memory figures and processes."""

import shutil
import signal
import typing as t
from pathlib import Path

from sparkforge_guard import host, policy, watch

GIB = 1 << 30
TOTAL = 120 * GIB


class Machine:
    """A host with 120 GiB whose processes exit on a signal, except that ``deaf`` ones ignore SIGTERM."""

    SESSION = "session-1.scope"

    def __init__(self, proc: Path, pressure: bool = True) -> None:
        self.proc, self.gpu, self.deaf = proc, {}, set()
        self.sent: list[tuple[int, int]] = []
        self.acts: list[watch.Act] = []
        self.sizes: dict[int, int] = {}
        #: The account of each process, and the size of shared memory in bytes.
        self.accounts: dict[int, int] = {}
        self.shared = 0
        proc.mkdir()
        if pressure:
            (proc / "pressure").mkdir()
            self.press(0.0)
        self.cache, self.swap = 0, (0, 0)
        self.write()
        self.host = host.Host(str(proc))
        # The files themselves belong to the account that runs the test.
        self.host._account = lambda path: self.accounts.get(int(path.rpartition("/")[2]), 0)

    def press(self, full: float) -> None:
        """Set the memory pressure, as the percentage of the last 10 s during which all processes were waiting."""
        rows = [f"{kind} avg10={full:.2f} avg60=0.00 avg300=0.00 total=1\n" for kind in ("some", "full")]
        (self.proc / "pressure/memory").write_text("".join(rows))

    def write(self) -> None:
        """Write the memory figures that result from the processes."""
        taken = sum(self.sizes.values()) + sum(self.gpu.values())
        free = max(0, TOTAL - taken - self.cache - self.shared)
        fields = {
            "MemTotal": TOTAL, "MemFree": free, "MemAvailable": free + self.cache, "Buffers": 0, "SwapCached": 0,
            "Cached": self.cache + self.shared, "AnonPages": sum(self.sizes.values()), "SwapTotal": self.swap[0],
            "SwapFree": self.swap[1], "Shmem": self.shared, "Dirty": 0,
        }  # fmt: skip
        # Write in place with the same length, because the guard keeps the file open.
        with open(self.proc / "meminfo", "r+" if (self.proc / "meminfo").exists() else "w") as stream:
            stream.write("".join(f"{name + ':':<16}{size >> 10:>12} kB\n" for name, size in fields.items()))

    def start(self, pid: int, name: str, gib=0.1, gpu=0.0, group=0, at=0, unit="", parent=1, uid=0) -> int:
        """Start a process or change its memory; a unit that contains a slash is a complete control group."""
        directory = self.proc / str(pid)
        directory.mkdir(exist_ok=True)
        size = int(gib * GIB)
        start = int((at or pid) * host.TICKS)
        numbers = [parent, group or pid, group or pid, *[0] * 15, start, 1 << 30, size // host.PAGE]
        (directory / "stat").write_text(f"{pid} ({name}) S {' '.join(map(str, numbers))} 0 0\n")
        (directory / "status").write_text(f"Name:\t{name}\nRssAnon:\t{size >> 10} kB\nRssFile:\t0 kB\nVmSwap:\t0 kB\n")
        (directory / "cgroup").write_text(f"0::{unit if '/' in unit else f'/system.slice/{unit or self.SESSION}'}\n")
        self.accounts[pid] = uid
        self.sizes[pid] = size
        if gpu:
            self.gpu[pid] = int(gpu * GIB)
        self.write()
        return pid

    def start_many(self, pids: range, name: str, gib: float, at: float = 0, step: float = 0, **options: t.Any) -> None:
        """Start processes; each starts ``step`` seconds, times its PID, after ``at``."""
        for pid in pids:
            self.start(pid, name, gib, at=at + step * pid, **options)

    def end(self, pid: int) -> None:
        """Remove a process and free its memory."""
        shutil.rmtree(self.proc / str(pid))
        del self.sizes[pid]
        self.gpu.pop(pid, None)
        self.write()

    def kill(self, pid: int, number: int) -> None:
        """Record a signal, and remove the process unless it is deaf to it."""
        if pid not in self.sizes:
            raise ProcessLookupError
        self.sent.append((pid, number))
        if number == signal.SIGKILL or pid not in self.deaf:
            self.end(pid)

    def guard(self, rules: policy.Rules | None = None) -> watch.Guard:
        """Return a guard for this host that records its acts in ``acts``."""
        return watch.Guard(
            self.host, watch.Levels(), rules or policy.Rules(), lambda: self.gpu, lambda: None, self.acts.append,
            self.kill,
        )  # fmt: skip


def look_again(guard: watch.Guard, times: int = 1) -> None:
    """Make the guard look again without its rest between two looks."""
    for _ in range(times):
        guard._swept = guard._snapshots.rested = 0.0
        guard.step()


def process(pid: int, name: str, own=0, gpu=0, group=0, uid=0, path="", exe="") -> host.Process:
    """Return a process that holds ``own`` GiB of memory, and ``gpu`` GiB of GPU memory."""
    unit, sizes = host.unit_of(path), (int(own * GIB), int(gpu * GIB))
    return host.Process(pid, 1, group or pid, float(pid), name, unit, *sizes, uid, path, exe=exe)
