"""The guard's loop: it observes memory, warns, asks (SIGTERM) and kills (SIGKILL).

A fork bomb gets no SIGTERM. A swarm, such as a fork bomb, is killed as a whole, and no other process is chosen until
all of it is gone. If it grows while it is being killed, a part of it was missed, and that part is killed too. The loop
never waits for the disk or the driver: a second thread (journal.py) does work that may block (NVML, records, metrics).
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
from .snapshots import REST, Snapshots

#: The fastest rate at which memory is lost, in bytes per second: a GB10 reads a model at 10 GB/s.
FASTEST = 10e9
SHORTEST, LONGEST = 0.01, 1.0
#: Seconds to wait after SIGTERM, and after SIGKILL, before the next step.
PATIENCE, DYING = 10.0, 5.0
#: The number of seconds for which figures are recorded with an act.
KEPT = 60
#: Lengths of the most recent parts of the observed time, in which the guard looks for the culprit first.
LATELY = (0.5, 1.0, 2.0, 5.0)
#: Seconds that the driver may take to report its processes' memory before one of them is asked to exit, and seconds
#: that the memory of an exited process may take to become available.
WAIT, SETTLE = 0.3, 0.2
#: The percentage of ten seconds in which all processes waited for memory: with swap, a host may hang with much
#: "available".
THRASHING = 40.0
#: The maximum number of searches for processes started while a swarm is killed, and the seconds until later searches.
PASSES, AFTER = 5, 0.25
#: The maximum number of seconds for which a swarm is killed; the maximum that one step adds to them, because no process
#: exits on a stalled machine; and the rounding error of a process's start, in seconds.
LASTS, LOOK, TICK = 20.0, 1.0, 0.05
#: Bytes allocated before both threads need them, and the objects that keep the interpreter from freeing them.
RESERVE = 1 << 20
_KEPT: list[bytes] = []


class Levels(t.NamedTuple):
    """The percentages of available memory below which the guard warns, asks and kills."""

    warn: float = 10.0
    ask: float = 6.0
    end: float = 3.0


class Act(t.NamedTuple):
    """An act of the guard; ``kind`` is warn, ask or end."""

    kind: str
    when: float
    memory: Memory
    victim: tuple[Process, ...]
    holders: tuple[Process, ...]
    figures: tuple[tuple[float, int, int, float], ...]
    why: str


class Swarm(t.NamedTuple):
    """A swarm that is being killed; processes of its kind that started later belong to it.

    ``grown`` is true if it has grown since then, so that a part of it was missed: then its parents, and processes of
    its kind that started some seconds earlier, belong to it as well.
    """

    since: float
    members: tuple[Process, ...]
    grown: bool
    spent: float = 0.0


def _pause(memory: Memory, level: float) -> float:
    """Return the number of seconds within which the next level cannot be reached."""
    distance = memory.available - memory.total * level / 100.0
    return min(LONGEST, max(SHORTEST, distance / FASTEST))


class Guard:
    """Guards a host.

    :param gpu: returns the last known GPU memory of each process without waiting.
    :param refresh: requests newer GPU figures without waiting for them.
    :param observed: returns the time.monotonic() at which the figures of ``gpu`` were read.
    :param tell: queues an act without waiting.
    :param kill: sends signals instead of the host, in tests.
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
        #: Time, available memory, free swap and pressure: a row for each of the last KEPT seconds.
        self.figures: list[tuple[float, int, int, float]] = [(0.0, 0, 0, 0.0)] * KEPT
        self._next = 0
        self._snapshots = Snapshots(host, gpu, refresh)
        self._warned = -1e9
        #: Whether no process could be chosen last time, and whether memory that no process holds has been reported.
        self._has_no_candidate = self._told_unheld = False
        self._asked: tuple[float, tuple[Process, ...]] | None = None
        #: The times of the first and the last kill, and all killed processes until their memory is available again.
        self._dying: tuple[float, float, tuple[Process, ...]] | None = None
        #: The times at which the last of them was gone, the wait for the driver began, and new processes were last
        #: sought.
        self._gone = self._waits = self._swept = 0.0
        #: A swarm that is being killed, until all of it is gone.
        self._swarm: Swarm | None = None

    def step(self) -> float:
        """Observe once, act if necessary, and return the seconds to sleep."""
        memory = self.host.memory()
        self._snapshots.now, self.total = memory.time, memory.total
        now = memory.time
        percent = 100.0 * memory.available / max(1, memory.total)
        if now - self.figures[self._next - 1][0] >= 1.0:
            self.figures[self._next] = (now, memory.available, memory.swap_free, memory.full)
            self._next = (self._next + 1) % KEPT
        if self._swarm is not None:
            began = time.thread_time()
            self._kill_swarm(memory, self._swarm)
            if percent > self.levels.warn and self._snapshots.is_due(memory):
                # Compare later losses with a snapshot from a time with enough memory.
                self._snapshots.observe(memory)
            # The dying processes need the cores.
            return max(SHORTEST, REST * (time.thread_time() - began))
        rests = self._has_no_candidate and now < self._snapshots.rested
        if self._snapshots.is_due(memory):
            self._snapshots.observe(memory)
        # Check this at each step, so that a long-gone process does not count as dying in the next shortage.
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
            why += f", and all processes waited for memory for {memory.full:.0f} % of the last 10 s"
        if dying:
            if percent <= self.levels.end and now - self._swept >= AFTER and now >= self._snapshots.rested:
                self._sweep(memory, why)
            return SHORTEST
        if rests:
            return SHORTEST
        if percent <= self.levels.end:
            self._kill_chosen(memory, why)
        else:
            self._ask(memory, why)
        return SHORTEST

    def _choose(self, memory: Memory, urgent: bool) -> tuple[tuple[Process, ...], dict[int, Process]]:
        when, processes = self._snapshots.latest
        if when != memory.time:
            processes = self._snapshots.observe(memory)
        snapshots = self._snapshots.kept[:-1] or self._snapshots.kept
        before, lost = self._snapshots.before(processes, memory, snapshots)
        groups = policy.groups(processes, before, self.rules, self.own, memory.total)
        lately = []
        for seconds in LATELY:
            part = [snapshot for snapshot in snapshots if memory.time - snapshot[0] <= seconds]
            if part:
                then, less = self._snapshots.before(processes, memory, part)
                lately.append(([group.since(then) for group in groups], less))
        chosen = policy.choose(groups, memory.total, lost, lately, urgent, bool(self._snapshots.unheld(memory)))
        self._waits, self._has_no_candidate = 0.0, chosen is None
        since, others = self.host.since_boot(memory.time) - policy.YOUNG, {**processes}
        others.pop(self.own, None)
        return (policy.expand_swarm(chosen.members, others, since) if chosen else ()), processes

    def _is_late(self, memory: Memory) -> bool:
        """Tell whether the driver's new figures are still missing; older figures would select the wrong process."""
        if not self._waits:
            self._waits = memory.time
            self.refresh()
        return self.observed() < self._waits and memory.time - self._waits < WAIT

    def _ask(self, memory: Memory, why: str) -> None:
        if self._asked is not None:
            when, members = self._asked
            if memory.time - when < PATIENCE:
                return
            if any(self.host.alive(process) for process in members):
                self._signal(memory, "end", members, f"{why}, {PATIENCE:.0f} s after it was asked to exit", since=when)
                return
        if self._is_late(memory):
            return
        members, processes = self._choose(memory, False)
        if policy.is_bomb(members, self._snapshots.latest[1], self.host.since_boot(memory.time) - policy.YOUNG):
            why = f"{why}, and {len(members)} processes started within seconds"
            self._signal(memory, "end", members, why, processes)
        elif members:
            self._signal(memory, "ask", members, why, processes)
            self._asked = (memory.time, members)
        else:
            self._tell_no_candidate(memory, why, processes)

    def _tell_no_candidate(self, memory: Memory, why: str, processes: t.Mapping[int, Process]) -> None:
        unheld = self._snapshots.unheld(memory)
        if unheld and not self._told_unheld:
            self._told_unheld = True
            why += (
                f", and no process holds {unheld / (1 << 30):.1f} GiB of shared memory, which grew: no process is "
                "killed for it. See du -sh /dev/shm /tmp and ipcs -mp, and remove what is not needed"
            )
            self._tell("warn", memory, (), why, processes)
        elif not unheld and memory.time - self._warned > 5:
            self._warned = memory.time
            self._tell("warn", memory, (), f"{why}, and no process may be killed", processes)

    def _kill_chosen(self, memory: Memory, why: str) -> None:
        members: tuple[Process, ...] = ()
        processes: dict[int, Process] = {}
        since = None
        if self._asked is not None:
            since, members = self._asked
            if len(members) < policy.MANY and not any(self.host.alive(process) for process in members):
                # The process has just exited, and its memory will soon be available.
                self._await(memory, members)
                return
        if not members:
            members, processes = self._choose(memory, True)
        if members:
            self._signal(memory, "end", members, why, processes, since)
        else:
            self._tell_no_candidate(memory, why, processes)

    def _await(self, memory: Memory, members: tuple[Process, ...]) -> None:
        """Choose no other process until the memory of these processes is available again."""
        self._dying, self._asked, self._gone = (memory.time, memory.time, members), None, 0.0

    def _is_dying(self, now: float) -> bool:
        """Tell whether a killed process is still freeing its memory."""
        if self._dying is None:
            return False
        _first, last, members = self._dying
        if now - last < DYING and any(self.host.alive(process) for process in members):
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
        kind: str,
        members: tuple[Process, ...],
        why: str,
        processes: t.Mapping[int, Process] | None = None,
        since: float | None = None,
    ) -> None:
        """Send a signal to some processes and, if there are many, to those that they start meanwhile.

        :param since: the time at which they were asked; some may have exited since and left children.
        """
        number = signal.SIGKILL if kind == "end" else signal.SIGTERM
        if since is None:
            since = memory.time
        elif len(members) < policy.MANY:
            members = tuple(process for process in members if self.host.alive(process))
        young = self.host.since_boot(since) - policy.YOUNG
        swarm, bomb = policy.is_swarm(members, young), policy.is_bomb(members, self._snapshots.latest[1], young)
        grown = False
        wave = tuple(process for process in members if since >= memory.time or self.host.alive(process))
        for _pass in range(PASSES):
            self._send(number, wave)
            # New processes may have started by now. All processes with a bomb's name belong to it; other processes may
            # share a name by coincidence.
            wave = ()
            if len(members) >= policy.MANY:
                wave = self._kin(members) if bomb else self._newer(members, since, grown)
            members += wave
            if kind == "ask" and swarm and policy.is_beyond(members):
                why = f"{why}, and {len(members)} processes started within seconds"
                self._signal(memory, "end", members, why, processes)
                return
            grown = grown or (kind == "end" and swarm and bool(wave))
            if not wave:
                break
        if kind == "end":
            self._await(memory, members)
            self._swept = memory.time
            if swarm:
                self._swarm = Swarm(since, members, grown)
        self._tell(kind, memory, members, why, processes)

    def _send(self, number: int, members: t.Iterable[Process]) -> None:
        """Send a signal to each process, the largest first."""
        for process in sorted(members, key=lambda process: -process.held):
            try:
                if self.kill is None:
                    self.host.signal(process, number)
                else:
                    self.kill(process.pid, number)
            except (ProcessLookupError, PermissionError):
                continue

    def _kill_swarm(self, memory: Memory, swarm: Swarm) -> None:
        """Kill the processes that a swarm has started meanwhile, until none is left."""
        now = memory.time
        if now - self._swept < AFTER or now < self._snapshots.rested:
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
        over = spent > LASTS or not any(self.host.alive(process) for process in members)
        self._swarm = None if over else Swarm(swarm.since, members, grown, spent)

    def _sweep(self, memory: Memory, why: str) -> None:
        """Kill processes that the killed ones started meanwhile, and their children: a fork bomb keeps forking."""
        if self._dying is None or memory.time - self._dying[0] >= DYING:
            return
        first, _last, members = self._dying
        self._swept, newer = memory.time, self._newer(members, first)
        if newer:
            self._signal(memory, "end", newer, f"{why}, and a killed process had started it")
            # The new processes get as much time as the first ones.
            self._dying = first, memory.time, members + newer

    def _newer(self, members: tuple[Process, ...], when: float, grown: bool = False) -> tuple[Process, ...]:
        """Return the children of some processes, and processes of their kind that started after a moment.

        :param grown: include their parents, and processes that started some seconds earlier.
        """
        known, parents = {process.pid for process in members}, {process.parent for process in members if grown}
        since = self.host.since_boot(when) - (policy.YOUNG if grown else TICK)
        return tuple(
            process for process in self._kin(members)
            if process.parent in known or process.pid in parents or process.start >= since
        )  # fmt: skip

    def _kin(self, members: tuple[Process, ...]) -> tuple[Process, ...]:
        """Return the other processes of the same kind."""
        known = {member.pid for member in members}
        # Do not read known processes again: hundreds of them would keep a core busy.
        others = self._snapshots.read(False, known).values()
        alike = tuple(other for other in others if other.kind == members[0].kind)
        spared = policy.protected((*members, *alike), self.rules, self.own, self.total)
        return tuple(other for other in alike if other.pid not in spared)

    def _tell(
        self,
        kind: str,
        memory: Memory,
        members: tuple[Process, ...],
        why: str,
        processes: t.Mapping[int, Process] | None = None,
    ) -> None:
        holders = sorted((processes or {}).values(), key=lambda process: -process.held)[:10]
        kept = self.figures[self._next :] + self.figures[: self._next]
        figures = tuple(row for row in kept if row[0])
        self.tell(Act(kind, time.time(), memory, members, tuple(holders), figures, why))

    def rehearse(self) -> None:
        """Run all the code for killing a swarm once, without sending a signal.

        An unused page of this program is not locked, and would have to be read from disk in a shortage.
        """
        levels = Levels(101.0, 101.0, 100.5)
        played = Guard(
            self.host, levels, self.rules, self.gpu, lambda: None, lambda _act: None, lambda _pid, _number: None
        )
        played.step()
        memory = self.host.memory()
        self.host.unmapped(played._snapshots.latest[1])
        itself = self.host.process(self.own, {}, False)
        if itself is not None:
            self.host.signal(itself, 0)
        sample = next(iter(played._snapshots.latest[1].values()), None)
        if sample is not None:
            start = self.host.since_boot(memory.time)
            swarm = tuple(sample._replace(pid=-1 - number, start=start) for number in range(4 * policy.MANY))
            played._ask(memory, "")
            played._signal(memory, "end", swarm, "")
            played.step()

    def run(self, stop: t.Callable[[], bool], turn: Turn | None = None) -> None:
        """Guard the host until ``stop`` returns true."""
        while not stop():
            time.sleep(self.step())
            if turn is not None and not turn.first:
                turn.take()


class Turn:
    """This thread's real-time priority, which it can lose.

    The unit's LimitRTTIME= limits how long the thread may run without a pause. Then the kernel sends SIGXCPU, and the
    thread runs with normal priority until its step is done, so that an endless step, which would be a bug, blocks no
    core.
    """

    def __init__(self) -> None:
        self.first = False

    def take(self) -> str:
        """Take real-time priority. Return the reason if it is refused, or ''."""
        try:
            os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(50))
        except OSError as error:
            return f"no real-time scheduling ({error.strerror})"
        self.first = True
        return ""

    def give(self, *_signal: object) -> None:
        """Return to normal priority."""
        self.first = False
        os.sched_setscheduler(0, os.SCHED_OTHER | os.SCHED_RESET_ON_FORK, os.sched_param(0))


def fill_memory() -> None:
    """Load all pages that are needed later: this program's code, and the memory that both threads write.

    A thread that waits for a page keeps the interpreter's lock, so the other waits too. Call this once both run.
    """
    library = ctypes.CDLL(None)
    taken = [bytes(256) for _block in range(RESERVE // 256)]
    spare = b"\1" * (RESERVE // 2)
    # The interpreter frees arenas without objects, so keep one object per arena.
    _KEPT.extend(taken[::512])
    del taken, spare
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as stream:
        # NVML's calls release the interpreter's lock while they wait.
        mapped = [line.split()[:2] for line in stream if "nvidia" not in line]
    for span, flags in mapped:
        # MADV_POPULATE_READ and _WRITE need Linux 5.14; an older kernel returns EINVAL and loads a page on first use.
        advice = {"r-x": 22, "rw-": 23}.get(flags[:3])
        if advice is not None:
            begin, end = (int(address, 16) for address in span.split("-"))
            library.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), advice)


def lock_memory() -> str:
    """Lock this process in memory; return the parts that were refused, or ''."""
    gc.disable()
    library = ctypes.CDLL(None, use_errno=True)
    # glibc's M_ARENA_MAX, M_TRIM_THRESHOLD and M_MMAP_MAX: one heap that never shrinks.
    if hasattr(library, "mallopt"):
        for option, value in ((-8, 1), (-1, 1 << 30), (-4, 0)):
            library.mallopt(option, value)
    refused = []
    # MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT: lock the pages in use, and not everything that libraries map.
    if library.mlockall(1 | 2 | 4):
        refused.append(f"memory is not locked ({os.strerror(ctypes.get_errno())})")
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write("-1000")
    except OSError as error:
        refused.append(f"OOM score is not -1000 ({error.strerror})")
    return "; ".join(refused)
