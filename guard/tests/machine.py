"""A host made of files: /proc with its memory and processes, for the tests of the guard."""

import shutil
import signal
from pathlib import Path

from sparkforge_guard import host, policy, watch

GIB = 1 << 30
TOTAL = 120 * GIB


class Machine:
    """A host of 120 GiB whose processes die when they are told to."""

    SESSION = "session-1.scope"

    def __init__(self, proc: Path, pressure: bool = True) -> None:
        self.proc, self.gpu, self.deaf = proc, {}, set()
        self.sent: list[tuple[int, int]] = []
        self.sizes: dict[int, int] = {}
        #: The account of each process that is not root's, and bytes of shared memory in all.
        self.accounts: dict[int, int] = {}
        self.shared = 0
        proc.mkdir()
        if pressure:
            (proc / "pressure").mkdir()
            self.press(0.0)
        self.cache, self.swap = 0, (0, 0)
        self.write()
        self.host = host.Host(str(proc))
        # The files of /proc are here of whoever runs the test.
        self.host._account = lambda path: self.accounts.get(int(path.rpartition("/")[2]), 0)

    def press(self, full: float) -> None:
        """Let everything wait for memory, in per cent of the last 10 s."""
        rows = [f"{kind} avg10={full:.2f} avg60=0.00 avg300=0.00 total=1\n" for kind in ("some", "full")]
        (self.proc / "pressure/memory").write_text("".join(rows))

    def write(self) -> None:
        """Write what the processes leave."""
        taken = sum(self.sizes.values()) + sum(self.gpu.values())
        free = max(0, TOTAL - taken - self.cache - self.shared)
        fields = {
            "MemTotal": TOTAL, "MemFree": free, "MemAvailable": free + self.cache, "Buffers": 0, "SwapCached": 0,
            "Cached": self.cache + self.shared, "AnonPages": sum(self.sizes.values()), "SwapTotal": self.swap[0],
            "SwapFree": self.swap[1], "Shmem": self.shared, "Dirty": 0,
        }  # fmt: skip
        # In place, for the file is kept open; the lengths stay the same.
        with open(self.proc / "meminfo", "r+" if (self.proc / "meminfo").exists() else "w") as stream:
            stream.write("".join(f"{name + ':':<16}{size >> 10:>12} kB\n" for name, size in fields.items()))

    def start(
        self,
        pid: int,
        name: str,
        gib: float = 0.1,
        gpu: float = 0.0,
        group: int = 0,
        at: float = 0,
        unit: str = "",
        parent: int = 1,
        uid: int = 0,
    ) -> int:
        """Start a process, or change what it holds; a unit with a slash is a whole control group."""
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

    def end(self, pid: int) -> None:
        """Take a process away with what it held."""
        shutil.rmtree(self.proc / str(pid))
        del self.sizes[pid]
        self.gpu.pop(pid, None)
        self.write()

    def kill(self, pid: int, number: int) -> None:
        """Do what the kernel does."""
        if pid not in self.sizes:
            raise ProcessLookupError
        self.sent.append((pid, number))
        if number == signal.SIGKILL or pid not in self.deaf:
            self.end(pid)

    def guard(self, acts: list[watch.Act], rules: policy.Rules | None = None) -> watch.Guard:
        """Return a guard of this host."""
        return watch.Guard(
            self.host, watch.Levels(), rules or policy.Rules(), lambda: self.gpu, lambda: None, acts.append, self.kill
        )
