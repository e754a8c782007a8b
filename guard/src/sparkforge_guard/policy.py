"""Pure functions that choose the process to kill when memory runs out, by the memory each one holds and its growth."""

from __future__ import annotations

import collections
import functools
import re
import typing as t
from fnmatch import fnmatchcase

from .host import DISPLAY_NAMES, Process

#: Names of root's processes that are never killed (15 characters at most, as the kernel keeps them).
PROTECTED_NAMES = (
    "systemd*", "(sd-pam)", "init", "sshd*", "dbus*", "login", "agetty", "sudo", "su", "polkitd", "udevd",
    "NetworkManager", "wpa_supplicant", "dhclient", "chronyd", "cron", "rsyslogd", "dockerd", "containerd*", "podman",
    "conmon", "crio", "kubelet", "k3s*", "tailscaled", *DISPLAY_NAMES, "nvidia-persiste*", "nv-fabricmanage*",
    "node_exporter", "snapd", "fwupd*", "dpkg", "apt*", "unattended-upgr", "tmux*", "screen", "mosh-server",
)  # fmt: skip
#: System units that are never killed.
PROTECTED_UNITS = (
    "ssh.service", "sshd.service", "ssh@*.service", "dbus.service", "systemd-*.service", "init.scope", "gdm*.service",
    "display-manager.service", "sparkforge-guard.service", "NetworkManager.service",
)  # fmt: skip
#: Units that contain users' programs on a host without pam_systemd: only root's processes in them belong to the system.
LOGIN_UNITS = ("ssh.service", "sshd.service", "ssh@*.service", "cron.service", "crond.service", "atd.service")
#: System accounts have a uid below this (SYS_UID_MAX in login.defs).
ORDINARY = 1000
#: The share of all memory that a user's display may hold: a library loaded into it could allocate any amount.
DISPLAY = 0.05
#: Builds, which take hours, are killed only if no model is left to kill. A user's build is recognised only by its name,
#: so it is spared only while other processes of that user can be killed.
LAST_UNITS = tuple(f"sparkforge-{unit}-*" for unit in ("llvm", "triton", "pytorch", "torch*", "flash_attention"))
LAST_NAMES = ("ninja", "cmake", "cc1*", "nvcc", "cicc", "ptxas", "c++", "g++*", "gcc*", "clang*", "ld", "ld.*", "as")
#: A process or group is large if it holds at least this share of all memory.
LARGE = 0.02
#: A culprit's memory grew by at least this share of the lost memory.
CULPRIT = 0.5
#: A group of at least MANY processes, half of which are younger than YOUNG seconds, is a swarm.
MANY, YOUNG = 16, 10.0
#: Limits that data loaders and builds do not exceed: the number of processes with the same name, the number of their
#: generations, and the share of young processes whose parent has exited.
BOUND, GENERATIONS, ORPHANS = 64, 3, 0.25
#: Processes that adopt orphans: PID 1 of a machine, a user's systemd, or a container's init.
REAPERS = ("systemd", "init", "tini", "dumb-init", "docker-init", "catatonit")
#: For part of the last few seconds: the minimum share of memory that was lost, and the ratio of growth to loss above
#: which the GPU's figures must have been late.
BURST, LATE = 0.1, 1.5


class Rules(t.NamedTuple):
    """Patterns for names, units and (with a slash) control groups: never killed, killed first, and killed last."""

    protected: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


class Group(t.NamedTuple):
    """Processes of one account that are killed together: a process group, or small groups with one name and unit."""

    members: tuple[Process, ...]
    grown: int
    tier: int

    @property
    def held(self) -> int:
        """The memory in bytes that all of them hold."""
        return sum(process.held for process in self.members)

    @property
    def gpu(self) -> int:
        """The GPU memory in bytes that they hold."""
        return sum(process.gpu for process in self.members)

    def since(self, before: t.Mapping[int, int]) -> Group:
        """Return the group with its growth since an earlier moment."""
        return self._replace(grown=sum(process.held - before.get(process.pid, 0) for process in self.members))

    @property
    def leader(self) -> Process:
        """The largest process, which names the group."""
        return max(self.members, key=lambda process: process.held)


# Cached, because the hundreds of processes of a fork bomb share one name and one control group.
@functools.lru_cache(maxsize=4096)
def _standing(name: str, unit: str, path: str, uid: int, rules: Rules) -> tuple[bool, int]:
    """Return whether a process is never killed, and its tier: first (0), normal (1), or last (2, 3).

    A process is spared only because of facts that users cannot choose: a unit outside user.slice or, if only its name
    is known, its account. Tier 3 is last only among the processes of its account.
    """
    of_system = "" if path.startswith("/user.slice/") or (uid and _matches(unit, LOGIN_UNITS)) else unit

    def is_named(patterns: tuple[str, ...]) -> bool:
        return (uid < ORDINARY and _matches(name, patterns)) or _matches(of_system, patterns) or _is_in(path, patterns)

    spared = (not uid and _matches(name, PROTECTED_NAMES)) or _matches(of_system, PROTECTED_UNITS)
    if _matches(name, rules.first) or _matches(unit, rules.first) or _is_in(path, rules.first):
        tier = 0
    elif (not uid and _matches(name, LAST_NAMES)) or _matches(of_system, LAST_UNITS) or is_named(rules.last):
        tier = 2
    else:
        tier = 3 if _matches(name, (*LAST_NAMES, *rules.last)) else 1
    return spared or is_named(rules.protected), tier


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _is_in(path: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a control group, or a group that contains it, matches a pattern with a slash."""
    paths = [pattern for pattern in patterns if "/" in pattern]
    return any(fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}/*") for pattern in paths)


def protected(processes: t.Iterable[Process], rules: Rules, own: int, total: int) -> set[int]:
    """Return the pids of processes that are never killed."""
    spared = set()
    displays: dict[int, list[Process]] = {}
    for process in processes:
        if process.pid in (1, own) or _standing(process.name, process.unit, process.path, process.uid, rules)[0]:
            spared.add(process.pid)
        elif process.exe:
            displays.setdefault(process.uid, []).append(process)
    for users in displays.values():
        if sum(process.held for process in users) < DISPLAY * total:
            spared.update(process.pid for process in users)
    return spared


def _tier(members: t.Iterable[Process], rules: Rules) -> int:
    """Return the tier of a group, which its most exposed or most spared member determines."""
    tiers = {_standing(process.name, process.unit, process.path, process.uid, rules)[1] for process in members}
    return next(tier for tier in (0, 2, 3, 1) if tier in tiers)


def groups(
    processes: t.Mapping[int, Process], before: t.Mapping[int, int], rules: Rules, own: int, total: int
) -> list[Group]:
    """Return the processes that may be killed, in groups; protected processes do not belong to any group.

    :param before: the memory that each process held a while ago, by pid.
    """
    spared = protected(processes.values(), rules, own, total)
    by_group: dict[t.Any, list[Process]] = {}
    for process in processes.values():
        if process.pid not in spared:
            by_group.setdefault((process.group, process.uid), []).append(process)
    # Merge small process groups with the same name, such as ten workers or a fork bomb, into one group.
    merged: dict[t.Any, list[Process]] = {}
    for key, members in by_group.items():
        first = max(members, key=lambda member: member.held)
        small = sum(member.held for member in members) < 4 * LARGE * total and not any(member.gpu for member in members)
        merged.setdefault(("small", first.kind) if small else key, []).extend(members)
    made = [Group(tuple(members), 0, _tier(members, rules)).since(before) for members in merged.values()]
    accounts = {group.leader.uid for group in made if group.tier == 1 and group.held >= LARGE * total}
    return [
        group._replace(tier=2 if accounts <= {group.leader.uid} else 1) if group.tier == 3 else group for group in made
    ]  # fmt: skip


def find_culprit(candidates: t.Sequence[Group], lost: int, most: float = 1e9) -> Group | None:
    """Return the group whose growth explains the lost memory; with GPU memory, it is at most ``most`` times the loss.

    Only the GPU's figures can be late. Processes that share pages, as in a fork bomb, grow by more than was lost. If no
    single group grew that much, groups of one kind may have grown together; then return the one that grew most.
    """
    grown = [group for group in candidates if group.grown >= CULPRIT * lost]
    eligible = [group for group in grown if group.grown <= most * lost or not group.gpu]
    if not eligible:
        kin: dict[t.Any, list[Group]] = {}
        for group in candidates:
            if not group.gpu and group.grown > 0:
                kin.setdefault(group.leader.kind, []).append(group)
        kinds = [alike for alike in kin.values() if sum(group.grown for group in alike) >= CULPRIT * lost]
        eligible = [group for alike in kinds for group in alike]
    return max(eligible, key=lambda group: group.grown, default=None)


def choose(
    candidates: t.Sequence[Group],
    total: int,
    lost: int,
    lately: t.Sequence[tuple[t.Sequence[Group], int]] = (),
    urgent: bool = True,
    unheld: bool = False,
) -> Group | None:
    """Return the group to kill, or None.

    Tier by tier, choose the group that took the memory lost in the last few seconds; else the most recent group that
    holds much GPU memory; else the most recent of the largest groups.

    :param lost: the recent decrease in available memory.
    :param lately: the groups' growth and the lost memory in shorter parts of that time, the shortest first, because a
        model that finished loading ten seconds ago is not taking the remaining memory.
    :param urgent: whether a small group may be chosen if there is no large one.
    :param unheld: whether the lost memory is shared memory that no process holds; then only a culprit may be chosen.
    """
    for tier in (0, 1, 2):
        large = [group for group in candidates if group.tier == tier and group.held >= LARGE * total]
        if not large:
            continue
        for then, less in lately:
            holders = [group for group in then if group.tier == tier and group.held >= LARGE * total]
            culprit = find_culprit(holders, less, LATE)
            if less >= BURST * total and culprit:
                return culprit
        culprit = find_culprit(large, lost) if lost >= LARGE * total else None
        if culprit:
            return culprit
        if unheld:
            continue
        models = [group for group in large if group.gpu >= LARGE * total]
        most = max(group.held for group in large)
        return max(models or [group for group in large if group.held >= most / 2], key=lambda group: group.leader.start)
    # If no group is large, choose the largest one, unless it holds almost nothing.
    rest = [group for group in candidates if group.held >= LARGE * total / 4 and urgent and not unheld]
    return max(rest, key=lambda group: (-group.tier, group.held), default=None)


def is_swarm(members: t.Sequence[Process], since: float) -> bool:
    """Tell whether these are many processes that have just started: a fork bomb, a data loader, or a build.

    :param since: the earliest start of a young process, in seconds since boot.
    """
    return len(members) >= MANY and 2 * sum(process.start >= since for process in members) >= len(members)


def is_bomb(members: t.Sequence[Process], processes: t.Mapping[int, Process], since: float) -> bool:
    """Tell whether a swarm can only be a fork bomb.

    A data loader or a build has a limited number of processes, each with a living parent, and few generations with one
    name. A bomb whose first process has started all others is mistaken for a data loader and first asked to exit.

    :param processes: all processes.
    :param since: the earliest start of a young process, in seconds since boot.
    """
    if not is_swarm(members, since):
        return False
    young = [process for process in members if process.start >= since]
    if is_beyond(members):
        return True
    others = [other for other in processes.values() if other.uid in (0, members[0].uid)]
    reapers = {other.pid for other in others if other.name in REAPERS}
    orphans = sum(process.parent == 1 or process.parent in reapers for process in young)
    return orphans > ORPHANS * len(young) or _generations(members) > GENERATIONS


def expand_swarm(members: tuple[Process, ...], processes: t.Mapping[int, Process], since: float) -> tuple[Process, ...]:
    """Return the members and, if they belong to a fork bomb, all its other processes.

    A bomb's newest processes may still be in the process group of the program that started it. Young processes of one
    kind are one bomb if there are more of them than a data loader or a build would start.

    :param processes: all processes.
    """
    if any(process.gpu for process in members) or 2 * sum(process.start >= since for process in members) < len(members):
        return members
    kind, known = members[0].kind, {process.pid for process in members}
    young = [other for other in processes.values() if other.start >= since and other.kind == kind and not other.gpu]
    rest = tuple(process for process in young if process.pid not in known) if len(young) > BOUND else ()
    return members + rest


def is_beyond(members: t.Sequence[Process]) -> bool:
    """Tell whether more processes share a name than a data loader or a build would start."""
    return max(collections.Counter(process.name for process in members).values()) > BOUND


def _generations(members: t.Iterable[Process]) -> int:
    """Return the number of generations of processes that have started others with the same name."""
    by_pid = {process.pid: process for process in members}
    depth: dict[int, int] = {}
    # A parent is older than its children; with equal starts, the parent usually has the lower pid.
    for process in sorted(by_pid.values(), key=lambda process: (process.start, process.pid)):
        parent = by_pid.get(process.parent)
        alike = parent is not None and parent.name == process.name
        depth[process.pid] = 1 + (depth.get(process.parent, 1) if alike else 0)
    return max(depth.values(), default=0)


def valid(patterns: t.Iterable[str]) -> str:
    """Return the first pattern that is empty or would match everything, or ''."""
    return next((pattern for pattern in patterns if not re.search(r"[\w]", pattern)), "")
