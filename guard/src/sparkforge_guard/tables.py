# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of processes of the last seconds: what each held, and when the table may be read again."""

from __future__ import annotations

import time
import typing as t

from . import policy
from .host import Host, Memory, Process

#: The table of processes is read again after this share of memory went or came back, or this many seconds.
STEP, AGE = 0.01, 10.0
#: Seconds of tables that growth is judged by, and how many of them there must be, or an older table counts as well.
RECENT, ENOUGH = 15.0, 5.0
#: Times as long as the table of processes took a core until it is read again, for this has real-time priority. The time
#: in which the kernel let it wait for memory took no core, and is when it must not rest.
REST = 4.0
#: Moments that are kept of shared memory, one a second at most: three quarters of an hour on a host that is at rest.
MOMENTS = 256

#: When, what is available, and what each process holds, by itself and on the GPU.
Table = tuple[float, int, dict[int, tuple[int, int]]]


class Shared(t.NamedTuple):
    """Shared memory at one moment: all of it, and what of it nobody maps or has open."""

    time: float
    available: int
    shared: int
    unheld: int


class Tables:
    """What was read of the processes of one host.

    :param gpu: returns what each process holds of the GPU, at once: the last that is known.
    :param refresh: asks for newer figures of the GPU, and does not wait for them.
    """

    def __init__(self, host: Host, gpu: t.Callable[[], t.Mapping[int, int]], refresh: t.Callable[[], None]) -> None:
        self.host, self.gpu, self.refresh = host, gpu, refresh
        self.kept: list[Table] = []
        #: Shared memory of the last seconds and minutes.
        self._shared: list[Shared] = []
        #: What each has open of it beyond what it maps, and what nobody mapped when that was looked up.
        self._opened: dict[int, int] = {}
        self._looked = 0
        #: When the last of them was read, and all of it.
        self.found: tuple[float, dict[int, Process]] = (-1.0, {})
        #: The GPU memory of each process when it was first seen there.
        self._first: dict[int, int] = {}
        #: When the guard's step began, and when the table may be read again.
        self.now = self.rested = 0.0

    def is_due(self, memory: Memory) -> bool:
        """Say whether the table has to be read again, and may be."""
        if not self.kept:
            return True
        if memory.time < self.rested:
            return False
        when, available, _held = self.kept[-1]
        # Memory that came back counts too: what is lost next is compared with what each held before it.
        return memory.time - when > AGE or abs(available - memory.available) > STEP * memory.total

    def observe(self, memory: Memory) -> dict[int, Process]:
        """Read the table of processes, and keep what each holds."""
        self.refresh()
        found = self._with_opened(memory, self.read(memory.swap_total > memory.swap_free))
        recent = [one for one in self.kept if memory.time - one[0] < RECENT][-64:]
        if not recent or memory.time - recent[0][0] < ENOUGH:
            # An old one tells more than none: without any the model that holds most would go.
            recent = [one for one in self.kept if memory.time - one[0] >= RECENT][-1:] + recent
        self.kept = recent
        held = {pid: (one.own, one.gpu) for pid, one in found.items()}
        self._first = {pid: self._first.get(pid, gpu) for pid, (_own, gpu) in held.items() if gpu}
        self.kept.append((memory.time, memory.available, held))
        self.found = memory.time, found
        return found

    def _with_opened(self, memory: Memory, found: dict[int, Process]) -> dict[int, Process]:
        """Return the processes with the shared memory that they hold and do not map."""
        unmapped = memory.shared - sum(one.shared for one in found.values())
        if memory.shared < policy.LARGE * memory.total:
            self._opened, self._looked = {}, unmapped
        elif abs(unmapped - self._looked) > STEP * memory.total or not self._shared:
            began = time.thread_time()
            self._opened, self._looked = self.host.unmapped(found), unmapped
            self.rested += (1 + REST) * (time.thread_time() - began)
        opened = {pid: size for pid, size in self._opened.items() if pid in found}
        moment = Shared(memory.time, memory.available, memory.shared, unmapped - sum(opened.values()))
        if len(self._shared) > 1 and memory.time - self._shared[-2].time < 1:
            self._shared.pop()
        self._shared = [*self._shared[-MOMENTS:], moment]
        for pid, size in opened.items():
            found[pid] = found[pid]._replace(own=found[pid].own + size)
        return found

    def unheld(self, memory: Memory) -> int:
        """Return how much shared memory nobody holds, if its growth is most of what was lost most recently; else 0."""
        now = self._shared[-1]
        for one in reversed(self._shared):
            lost = one.available - memory.available
            if lost >= policy.LARGE * memory.total:
                grown = min(now.shared - one.shared, now.unheld - one.unheld)
                return now.unheld if grown >= policy.CULPRIT * lost else 0
        return 0

    def read(self, swapped: bool, known: t.Container[int] = ()) -> dict[int, Process]:
        """Return the processes, of which those that are known are left out."""
        began = time.thread_time()
        found = self.host.processes(self.gpu(), swapped, known)
        self.rested = self.now + (1 + REST) * (time.thread_time() - began)
        return found

    def before(
        self, found: t.Mapping[int, Process], memory: Memory, tables: t.Sequence[Table]
    ) -> tuple[dict[int, int], int]:
        """Return what each process held when there was most in some tables, and how much less there is now."""
        when, available, then = max(tables, key=lambda one: one[1])
        since = self.host.since_boot(when)
        before = {}
        for pid, one in found.items():
            own, gpu = then.get(pid, (0, 0))
            # The driver's figures come late: one that is older than they are did not begin with nothing.
            before[pid] = own + (gpu or (self._first.get(pid, 0) if one.start < since else 0))
        return before, available - memory.available
