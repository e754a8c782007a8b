"""Snapshots of processes: the memory that each of them held, and when the next snapshot may be taken."""

from __future__ import annotations

import time
import typing as t

from . import policy
from .host import Host, Memory, Process

#: A new snapshot is taken after this share of memory was allocated or freed, or after this many seconds.
STEP, AGE = 0.01, 10.0
#: Growth is judged from the snapshots of the last RECENT seconds; if they span less than ENOUGH, an older one is used
#: too.
RECENT, ENOUGH = 15.0, 5.0
#: The pause after a snapshot, as a multiple of the CPU time that it took, because the guard runs with real-time
#: priority. Waiting for memory takes no CPU time and must not extend the pause.
REST = 4.0
#: The number of records of shared memory to keep, at most one per second; on an idle host they span 45 minutes.
MOMENTS = 256

#: The time, the available memory, and the memory that each process holds: its own, and on the GPU.
Snapshot = tuple[float, int, dict[int, tuple[int, int]]]


class Shared(t.NamedTuple):
    """Shared memory at one moment: all of it, and the part that no process maps or has open."""

    time: float
    available: int
    shared: int
    unheld: int


class Snapshots:
    """The snapshots of a host's processes.

    :param gpu: returns the last known GPU memory of each process without waiting.
    :param refresh: requests newer GPU figures without waiting for them.
    """

    def __init__(self, host: Host, gpu: t.Callable[[], t.Mapping[int, int]], refresh: t.Callable[[], None]) -> None:
        self.host, self.gpu, self.refresh = host, gpu, refresh
        self.kept: list[Snapshot] = []
        #: Shared memory in the last minutes.
        self._shared: list[Shared] = []
        #: The shared memory that each process has open without mapping it, and all unmapped memory at that time.
        self._opened: dict[int, int] = {}
        self._looked = 0
        #: The last snapshot: its time, and all processes.
        self.latest: tuple[float, dict[int, Process]] = (-1.0, {})
        #: The GPU memory of each process when it was first observed.
        self._first: dict[int, int] = {}
        #: The start of the guard's step, and the earliest time for the next snapshot.
        self.now = self.rested = 0.0

    def is_due(self, memory: Memory) -> bool:
        """Tell whether a new snapshot is due and allowed."""
        if not self.kept:
            return True
        if memory.time < self.rested:
            return False
        when, available, _held = self.kept[-1]
        # Freed memory counts too, because later losses are compared with the snapshot before them.
        return memory.time - when > AGE or abs(available - memory.available) > STEP * memory.total

    def observe(self, memory: Memory) -> dict[int, Process]:
        """Take a snapshot of all processes and keep it."""
        self.refresh()
        processes = self._with_opened(memory, self.read(memory.swap_total > memory.swap_free))
        recent = [snapshot for snapshot in self.kept if memory.time - snapshot[0] < RECENT][-64:]
        if not recent or memory.time - recent[0][0] < ENOUGH:
            # An old snapshot is better than none: without any, the largest model would be chosen.
            recent = [snapshot for snapshot in self.kept if memory.time - snapshot[0] >= RECENT][-1:] + recent
        self.kept = recent
        held = {pid: (process.own, process.gpu) for pid, process in processes.items()}
        self._first = {pid: self._first.get(pid, gpu) for pid, (_own, gpu) in held.items() if gpu}
        self.kept.append((memory.time, memory.available, held))
        self.latest = memory.time, processes
        return processes

    def _with_opened(self, memory: Memory, processes: dict[int, Process]) -> dict[int, Process]:
        """Add to each process the shared memory that it has open without mapping it."""
        unmapped = memory.shared - sum(process.shared for process in processes.values())
        if memory.shared < policy.LARGE * memory.total:
            self._opened, self._looked = {}, unmapped
        elif abs(unmapped - self._looked) > STEP * memory.total or not self._shared:
            began = time.thread_time()
            self._opened, self._looked = self.host.unmapped(processes), unmapped
            self.rested += (1 + REST) * (time.thread_time() - began)
        opened = {pid: size for pid, size in self._opened.items() if pid in processes}
        moment = Shared(memory.time, memory.available, memory.shared, unmapped - sum(opened.values()))
        if len(self._shared) > 1 and memory.time - self._shared[-2].time < 1:
            self._shared.pop()
        self._shared = [*self._shared[-MOMENTS:], moment]
        for pid, size in opened.items():
            processes[pid] = processes[pid]._replace(own=processes[pid].own + size)
        return processes

    def unheld(self, memory: Memory) -> int:
        """Return the shared memory that no process holds if its growth explains most of the last loss, else 0."""
        now = self._shared[-1]
        for moment in reversed(self._shared):
            lost = moment.available - memory.available
            if lost >= policy.LARGE * memory.total:
                grown = min(now.shared - moment.shared, now.unheld - moment.unheld)
                return now.unheld if grown >= policy.CULPRIT * lost else 0
        return 0

    def read(self, swapped: bool, known: t.Container[int] = ()) -> dict[int, Process]:
        """Return all processes except those in ``known``."""
        began = time.thread_time()
        processes = self.host.processes(self.gpu(), swapped, known)
        self.rested = self.now + (1 + REST) * (time.thread_time() - began)
        return processes

    def before(
        self, processes: t.Mapping[int, Process], memory: Memory, snapshots: t.Sequence[Snapshot]
    ) -> tuple[dict[int, int], int]:
        """Return each process's memory in the snapshot with the most available memory, and the loss since then."""
        when, available, then = max(snapshots, key=lambda snapshot: snapshot[1])
        since = self.host.since_boot(when)
        before = {}
        for pid, process in processes.items():
            own, gpu = then.get(pid, (0, 0))
            # The driver's figures arrive late: a process older than its first figures did not start without GPU memory.
            before[pid] = own + (gpu or (self._first.get(pid, 0) if process.start < since else 0))
        return before, available - memory.available
