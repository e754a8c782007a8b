# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The loop of the guard: looks, warns, asks (SIGTERM), ends (SIGKILL). Nothing in it waits for a disk or a driver.

A fork bomb is not asked. A swarm that is ended, as it is one, is ended as a whole, and nobody else is chosen until all
of it is gone. One that goes on while it is ended was not seen as a whole: what was missed of it goes then, too.

What may wait is the work of a second thread (notes.py): NVML, records, metrics. The loop hands over and goes on.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import time
import typing as t

from . import policy
from .host import Host, Memory, Process
from .tables import REST, Tables

#: The fastest that memory can go, in bytes a second: a GB10 reads a model at 10 GB/s.
FASTEST = 10e9
SHORTEST, LONGEST = 0.01, 1.0
#: How long one that was asked may take, and one that was ended, before the next step.
PATIENCE, DYING = 10.0, 5.0
#: Seconds of figures that an act has with it.
KEPT = 60
#: Parts of the seconds that growth is judged by, in which who took what was lost is looked for first.
LATELY = (0.5, 1.0, 2.0, 5.0)
#: How long the driver may take to tell what its processes hold before one of them is asked, and how long memory may
#: take to come back from a process that is gone.
WAIT, SETTLE = 0.3, 0.2
#: Per cent of ten seconds in which all waited for memory: with swap, a host that hangs while much is "available".
THRASHING = 40.0
#: How often at most those are looked for that many have started while they were ended; and seconds after which those
#: are that they have started since.
PASSES, AFTER = 5, 0.25
#: How long a swarm is ended at most; what one look counts for of it at most, for a machine that stands still ends
#: nobody; and how much earlier than it was a process may say it was started, in seconds.
LASTS, LOOK, TICK = 20.0, 1.0, 0.05
#: Bytes that both threads have before they need them, and what keeps them from being given back.
RESERVE = 1 << 20
_KEPT: list[bytes] = []


class Levels(t.NamedTuple):
    """Per cent of all memory that is available: below them the guard warns, asks and ends."""

    warn: float = 10.0
    ask: float = 6.0
    end: float = 3.0


class Act(t.NamedTuple):
    """One thing that the guard did; ``what`` is warn, ask or end."""

    what: str
    when: float
    memory: Memory
    victim: tuple[Process, ...]
    holders: tuple[Process, ...]
    figures: tuple[tuple[float, int, int, float], ...]
    why: str


class Swarm(t.NamedTuple):
    """A swarm that is being ended: what of its kind was started later is of it, too.

    ``grown`` says that it went on since then. A part of it was missed: what was started some seconds before, and who
    has started it, are of it as well.
    """

    since: float
    members: tuple[Process, ...]
    grown: bool
    spent: float = 0.0


def _pause(memory: Memory, level: float) -> float:
    """Return the time in which the next level cannot be reached."""
    distance = memory.available - memory.total * level / 100.0
    return min(LONGEST, max(SHORTEST, distance / FASTEST))


class Guard:
    """The guard of one host.

    :param gpu: returns what each process holds of the GPU, at once: the last that is known.
    :param refresh: asks for newer figures of the GPU, and does not wait for them.
    :param observed: returns when those that ``gpu`` returns were asked for, in time.monotonic()'s seconds.
    :param tell: takes an act, and does not wait.
    :param kill: what sends a signal in place of the host, for tests.
    """

    def __init__(
        self,
        host: Host,
        levels: Levels,
        rules: policy.Rules,
        gpu: t.Callable[[], t.Mapping[int, int]],
        refresh: t.Callable[[], None],
        tell: t.Callable[[Act], None],
        kill: t.Callable[[int, int], None] | None = None,
        observed: t.Callable[[], float] = lambda: float("inf"),
    ) -> None:
        self.host, self.levels, self.rules = host, levels, rules
        self.gpu, self.refresh, self.tell, self.kill, self.observed = gpu, refresh, tell, kill, observed
        self.own, self.total = os.getpid(), 0
        #: Time, available, free swap and pressure of the last seconds, one a second.
        self.figures: list[tuple[float, int, int, float]] = [(0.0, 0, 0, 0.0)] * KEPT
        self._next = 0
        self._tables = Tables(host, gpu, refresh)
        self._warned = -1e9
        #: Whether nobody might be ended when it was looked last, and whether it was told that nobody holds the memory.
        self._nobody = self._told_unheld = False
        self._asked: tuple[float, tuple[Process, ...]] | None = None
        #: Who was ended: when the first, when the last, and all of them.
        self._dying: tuple[float, float, tuple[Process, ...]] | None = None
        #: When the last of those was gone, and since when the driver has been waited for.
        self._gone = self._waits = self._swept = 0.0
        #: A swarm that was ended, as a fork bomb is one, until all of it is gone.
        self._swarm: Swarm | None = None

    def step(self) -> float:
        """Look once, act if that has to be, and return how long to sleep."""
        memory = self.host.memory()
        self._tables.now, self.total = memory.time, memory.total
        now = memory.time
        percent = 100.0 * memory.available / max(1, memory.total)
        if now - self.figures[self._next - 1][0] >= 1.0:
            self.figures[self._next] = (now, memory.available, memory.swap_free, memory.full)
            self._next = (self._next + 1) % KEPT
        if self._swarm is not None:
            began = time.thread_time()
            self._end_swarm(memory, self._swarm)
            if percent > self.levels.warn and self._tables.is_due(memory):
                # What is lost next is compared with what each held when there was memory.
                self._tables.observe(memory)
            # Those that die need the cores.
            return max(SHORTEST, REST * (time.thread_time() - began))
        rests = self._nobody and now < self._tables.rested
        if self._tables.is_due(memory):
            self._tables.observe(memory)
        # At each step, so that one which has long been gone is not taken for one that dies in the next shortage.
        dying = self._is_dying(now)
        if percent > self.levels.warn:
            self._asked, self._told_unheld = None, False
            return _pause(memory, self.levels.warn)
        if now - self._warned > KEPT:
            self._warned = now
            self._tell("warn", memory, (), f"{percent:.1f} % of the memory is available")
        thrashes = memory.swap_total > 0 and memory.full >= THRASHING
        if percent > self.levels.ask and not thrashes:
            self._asked, self._waits = None, 0.0
            return _pause(memory, self.levels.ask)
        why = f"{percent:.1f} % of the memory is available"
        if thrashes:
            why += f", and everything waited for memory {memory.full:.0f} % of the last 10 s"
        if dying:
            if percent <= self.levels.end and now - self._swept >= AFTER and now >= self._tables.rested:
                self._sweep(memory, why)
            return SHORTEST
        if rests:
            return SHORTEST
        if percent <= self.levels.end:
            self._end(memory, why)
        else:
            self._ask(memory, why)
        return SHORTEST

    def _choose(self, memory: Memory, urgent: bool) -> tuple[tuple[Process, ...], dict[int, Process]]:
        when, found = self._tables.found
        if when != memory.time:
            found = self._tables.observe(memory)
        tables = self._tables.kept[:-1] or self._tables.kept
        before, lost = self._tables.before(found, memory, tables)
        groups = policy.groups(found, before, self.rules, self.own, memory.total)
        lately = []
        for seconds in LATELY:
            part = [one for one in tables if memory.time - one[0] <= seconds]
            if part:
                then, less = self._tables.before(found, memory, part)
                lately.append(([one.since(then) for one in groups], less))
        chosen = policy.choose(groups, memory.total, lost, lately, urgent, bool(self._tables.unheld(memory)))
        self._waits, self._nobody = 0.0, chosen is None
        since, others = self.host.since_boot(memory.time) - policy.YOUNG, {**found}
        others.pop(self.own, None)
        return (policy.whole(chosen.members, others, since) if chosen else ()), found

    def _is_late(self, memory: Memory) -> bool:
        """Say whether what the driver tells of now is still to come: by older figures the wrong one would go."""
        if not self._waits:
            self._waits = memory.time
            self.refresh()
        return self.observed() < self._waits and memory.time - self._waits < WAIT

    def _ask(self, memory: Memory, why: str) -> None:
        if self._asked is not None:
            when, members = self._asked
            if memory.time - when < PATIENCE:
                return
            if any(self.host.alive(one) for one in members):
                self._signal(memory, "end", members, f"{why}, {PATIENCE:.0f} s after it was asked", since=when)
                return
        if self._is_late(memory):
            return
        members, found = self._choose(memory, False)
        if policy.is_bomb(members, self._tables.found[1], self.host.since_boot(memory.time) - policy.YOUNG):
            self._signal(memory, "end", members, f"{why}, and {len(members)} processes came within seconds", found)
        elif members:
            self._signal(memory, "ask", members, why, found)
            self._asked = (memory.time, members)
        else:
            self._tell_nobody(memory, why, found)

    def _tell_nobody(self, memory: Memory, why: str, found: t.Mapping[int, Process]) -> None:
        unheld = self._tables.unheld(memory)
        if unheld and not self._told_unheld:
            self._told_unheld = True
            why += (
                f", and no process holds {unheld / (1 << 30):.1f} GiB of shared memory, which grew: nobody is ended "
                "for it. See du -sh /dev/shm /tmp and ipcs -mp, and remove what is not needed"
            )
            self._tell("warn", memory, (), why, found)
        elif not unheld and memory.time - self._warned > 5:
            self._warned = memory.time
            self._tell("warn", memory, (), f"{why}, and nobody may be ended", found)

    def _end(self, memory: Memory, why: str) -> None:
        members: tuple[Process, ...] = ()
        found: dict[int, Process] = {}
        since = None
        if self._asked is not None:
            since, members = self._asked
            if len(members) < policy.MANY and not any(self.host.alive(one) for one in members):
                # It has just gone: what it held is about to come back.
                self._await(memory, members)
                return
        if not members:
            members, found = self._choose(memory, True)
        if members:
            self._signal(memory, "end", members, why, found, since)
        else:
            self._tell_nobody(memory, why, found)

    def _await(self, memory: Memory, members: tuple[Process, ...]) -> None:
        """Choose nobody else until these have given back what they held."""
        self._dying, self._asked, self._gone = (memory.time, memory.time, members), None, 0.0

    def _is_dying(self, now: float) -> bool:
        """Say whether one that was ended still gives its memory back."""
        if self._dying is None:
            return False
        _first, last, members = self._dying
        if now - last < DYING and any(self.host.alive(one) for one in members):
            self._gone = 0.0
            return True
        self._gone = self._gone or now
        if now - self._gone < SETTLE:
            return True
        self._dying, self._gone = None, 0.0
        return False

    def _signal(
        self,
        memory: Memory,
        what: str,
        members: tuple[Process, ...],
        why: str,
        found: t.Mapping[int, Process] | None = None,
        since: float | None = None,
    ) -> None:
        """Send a signal to some processes, and where they are many to what they start meanwhile.

        :param since: when they were asked; some may have gone since then, and have left what they had started.
        """
        number = signal.SIGKILL if what == "end" else signal.SIGTERM
        if since is None:
            since = memory.time
        elif len(members) < policy.MANY:
            members = tuple(one for one in members if self.host.alive(one))
        young = self.host.since_boot(since) - policy.YOUNG
        swarm, bomb = policy.is_swarm(members, young), policy.is_bomb(members, self._tables.found[1], young)
        grown = False
        wave = tuple(one for one in members if since >= memory.time or self.host.alive(one))
        for _pass in range(PASSES):
            self._send(number, wave)
            # It has new ones by now. All of a bomb's name are of it; others may have a namesake in their session.
            wave = ()
            if len(members) >= policy.MANY:
                wave = self._kin(members) if bomb else self._newer(members, since, grown)
            members += wave
            if what == "ask" and swarm and policy.is_beyond(members):
                self._signal(memory, "end", members, f"{why}, and {len(members)} processes came within seconds", found)
                return
            grown = grown or (what == "end" and swarm and bool(wave))
            if not wave:
                break
        if what == "end":
            self._await(memory, members)
            self._swept = memory.time
            if swarm:
                self._swarm = Swarm(since, members, grown)
        self._tell(what, memory, members, why, found)

    def _send(self, number: int, members: t.Iterable[Process]) -> None:
        """Send a signal, to the largest first."""
        for one in sorted(members, key=lambda one: -one.held):
            try:
                if self.kill is None:
                    self.host.signal(one, number)
                else:
                    self.kill(one.pid, number)
            except (ProcessLookupError, PermissionError):
                continue

    def _end_swarm(self, memory: Memory, swarm: Swarm) -> None:
        """End what a swarm has started meanwhile, until nothing of it is left: its memory is about to come back."""
        now = memory.time
        if now - self._swept < AFTER or now < self._tables.rested:
            return
        members, grown = swarm.members, swarm.grown
        for _pass in range(PASSES):
            newer = self._newer(members, swarm.since, grown)
            if not newer:
                break
            self._send(signal.SIGKILL, newer)
            members, grown = members + newer, True
        spent = swarm.spent + min(LOOK, now - self._swept)
        self._swept = now
        over = spent > LASTS or not any(self.host.alive(one) for one in members)
        self._swarm = None if over else Swarm(swarm.since, members, grown, spent)

    def _sweep(self, memory: Memory, why: str) -> None:
        """End what those that were ended have started meanwhile, and what was started by it: a fork bomb goes on."""
        if self._dying is None or memory.time - self._dying[0] >= DYING:
            return
        first, _last, members = self._dying
        self._swept, newer = memory.time, self._newer(members, first)
        if newer:
            self._signal(memory, "end", newer, f"{why}, and it was started by one that was ended")
            # Those have as long as the first ones had.
            self._dying = first, memory.time, members + newer

    def _newer(self, members: tuple[Process, ...], when: float, grown: bool = False) -> tuple[Process, ...]:
        """Return what some processes have started, and what of their kind was started after a moment.

        :param grown: whether who has started them and what was started some seconds before are of them, too.
        """
        known, parents = {one.pid for one in members}, {one.parent for one in members if grown}
        since = self.host.since_boot(when) - (policy.YOUNG if grown else TICK)
        return tuple(
            one for one in self._kin(members)
            if one.parent in known or one.pid in parents or one.start >= since
        )  # fmt: skip

    def _kin(self, members: tuple[Process, ...]) -> tuple[Process, ...]:
        """Return processes of the same kind that are none of these."""
        known = {member.pid for member in members}
        # Only those that are not known are read: hundreds would take the core meanwhile.
        found = self._tables.read(False, known).values()
        alike = tuple(other for other in found if other.kind == members[0].kind)
        spared = policy.protected((*members, *alike), self.rules, self.own, self.total)
        return tuple(other for other in alike if other.pid not in spared)

    def _tell(
        self,
        what: str,
        memory: Memory,
        members: tuple[Process, ...],
        why: str,
        found: t.Mapping[int, Process] | None = None,
    ) -> None:
        holders = sorted((found or {}).values(), key=lambda one: -one.held)[:10]
        kept = self.figures[self._next :] + self.figures[: self._next]
        figures = tuple(row for row in kept if row[0])
        self.tell(Act(what, time.time(), memory, members, tuple(holders), figures, why))

    def rehearse(self) -> None:
        """Go once through all that ends a swarm, and signal nobody.

        A page of this program that was never used is not locked: in the shortage it would have to be read from a disk.
        """
        levels = Levels(101.0, 101.0, 100.5)
        played = Guard(
            self.host, levels, self.rules, self.gpu, lambda: None, lambda _act: None, lambda _pid, _number: None
        )
        played.step()
        memory = self.host.memory()
        self.host.unmapped(played._tables.found[1])
        itself = self.host.process(self.own, {}, False)
        if itself is not None:
            self.host.signal(itself, 0)
        one = next(iter(played._tables.found[1].values()), None)
        if one is not None:
            start = self.host.since_boot(memory.time)
            swarm = tuple(one._replace(pid=-1 - number, start=start) for number in range(4 * policy.MANY))
            played._ask(memory, "")
            played._signal(memory, "end", swarm, "")
            played.step()

    def run(self, stop: t.Callable[[], bool], turn: Turn | None = None) -> None:
        """Guard until told to stop."""
        while not stop():
            time.sleep(self.step())
            if turn is not None and not turn.first:
                turn.take()


class Turn:
    """The turn that this thread has at a core: before all others, but never for good.

    LimitRTTIME= of the unit is how long it may go on without a pause. Then the kernel sends SIGXCPU, and it is one
    among others until its step is done: a step that never ends, a fault of the guard, takes no core away.
    """

    def __init__(self) -> None:
        self.first = False

    def take(self) -> str:
        """Be first; return what was refused, or an empty text."""
        try:
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(50))
        except OSError as error:
            return f"no real-time scheduling ({error.strerror})"
        self.first = True
        return ""

    def give(self, *_signal: object) -> None:
        """Be one among others."""
        self.first = False
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))


def fill_memory() -> None:
    """Have all in memory that is needed later: the code of this program, and what both threads write.

    A thread that waits for such a page keeps the interpreter's lock, and the other waits for it. Called once both run.
    """
    library = ctypes.CDLL(None)
    taken = [bytes(256) for _block in range(RESERVE // 256)]
    spare = b"\1" * (RESERVE // 2)
    # The interpreter gives back a part of its memory of which nothing is used.
    _KEPT.extend(taken[::512])
    del taken, spare
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as stream:
        # What NVML waits for keeps no lock of the interpreter's.
        mapped = [line.split()[:2] for line in stream if "nvidia" not in line]
    for span, flags in mapped:
        # MADV_POPULATE_READ and _WRITE, of Linux 5.14: an older one says EINVAL, and reads a page when it is used.
        advice = {"r-x": 22, "rw-": 23}.get(flags[:3])
        if advice is not None:
            begin, end = (int(one, 16) for one in span.split("-"))
            library.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), advice)


def lock_memory() -> str:
    """Keep this process in memory; return what was refused, or an empty text."""
    gc.disable()
    library = ctypes.CDLL(None, use_errno=True)
    # glibc's M_ARENA_MAX, M_TRIM_THRESHOLD and M_MMAP_MAX: one heap, of which nothing is given back.
    if hasattr(library, "mallopt"):
        for option, value in ((-8, 1), (-1, 1 << 30), (-4, 0)):
            library.mallopt(option, value)
    refused = []
    # MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT: what is used, and not all that libraries map.
    if library.mlockall(1 | 2 | 4):
        refused.append(f"memory is not locked ({os.strerror(ctypes.get_errno())})")
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write("-1000")
    except OSError as error:
        refused.append(f"OOM score is not -1000 ({error.strerror})")
    return "; ".join(refused)
