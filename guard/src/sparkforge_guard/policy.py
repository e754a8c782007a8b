# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which process has to go when memory runs out: pure, from what the processes hold and how they grew."""

from __future__ import annotations

import collections
import functools
import re
import typing as t
from fnmatch import fnmatchcase

from .host import DISPLAY_NAMES, Process

#: Never ended if they are root's, by name (15 characters at most, as the kernel keeps them).
PROTECTED_NAMES = (
    "systemd*", "(sd-pam)", "init", "sshd*", "dbus*", "login", "agetty", "sudo", "su", "polkitd", "udevd",
    "NetworkManager", "wpa_supplicant", "dhclient", "chronyd", "cron", "rsyslogd", "dockerd", "containerd*", "podman",
    "conmon", "crio", "kubelet", "k3s*", "tailscaled", *DISPLAY_NAMES, "nvidia-persiste*", "nv-fabricmanage*",
    "node_exporter", "snapd", "fwupd*", "dpkg", "apt*", "unattended-upgr", "tmux*", "screen", "mosh-server",
)  # fmt: skip
#: Units of the system that are never ended.
PROTECTED_UNITS = (
    "ssh.service", "sshd.service", "ssh@*.service", "dbus.service", "systemd-*.service", "init.scope", "gdm*.service",
    "display-manager.service", "sparkforge-guard.service", "NetworkManager.service",
)  # fmt: skip
#: Units that start programs of users, who stay in them on a host without pam_systemd: they are the system's for root.
LOGIN_UNITS = ("ssh.service", "sshd.service", "ssh@*.service", "cron.service", "crond.service", "atd.service")
#: An account of the system's is below this number (SYS_UID_MAX in login.defs).
ORDINARY = 1000
#: What a user's display may hold of all memory: a library that is loaded into it could hold anything.
DISPLAY = 0.05
#: Builds, which end only where no model is left to end: hours of work that a model is not. A user's build, which only
#: its name tells, is spared for that user's own processes, and for nobody else's.
LAST_UNITS = tuple(f"sparkforge-{unit}-*" for unit in ("llvm", "triton", "pytorch", "torch*", "flash_attention"))
LAST_NAMES = ("ninja", "cmake", "cc1*", "nvcc", "cicc", "ptxas", "c++", "g++*", "gcc*", "clang*", "ld", "ld.*", "as")
#: Share of all memory from which a holder is large.
LARGE = 0.02
#: A process that grew by this share of what was lost is who took it.
CULPRIT = 0.5
#: From so many processes on, of which at least half are younger, in seconds, a group is a swarm.
MANY, YOUNG = 16, 10.0
#: What a data loader or a build stays within: so many of one name, and generations of it; and the share of its young
#: ones that may have lost their parent.
BOUND, GENERATIONS, ORPHANS = 64, 3, 0.25
#: Who takes the children of those that have ended: the first process of a machine, a user, or a container.
REAPERS = ("systemd", "init", "tini", "dumb-init", "docker-init", "catatonit")
#: Of a part of the last seconds: what has to be lost in it, and the growth beyond which figures came late.
BURST, LATE = 0.1, 1.5


class Rules(t.NamedTuple):
    """Patterns of names, units and, where they have a slash, control groups: never ended, ended first, ended last."""

    protected: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


class Group(t.NamedTuple):
    """Processes that end together, of one account: a process group, or small ones of one name and unit."""

    members: tuple[Process, ...]
    grown: int
    tier: int

    @property
    def held(self) -> int:
        """Bytes of all of them."""
        return sum(one.held for one in self.members)

    @property
    def gpu(self) -> int:
        """Bytes of the GPU's memory."""
        return sum(one.gpu for one in self.members)

    def since(self, before: t.Mapping[int, int]) -> Group:
        """Return the group with its growth from another moment."""
        return self._replace(grown=sum(one.held - before.get(one.pid, 0) for one in self.members))

    @property
    def start(self) -> float:
        """When the largest of them began."""
        return self.leader.start

    @property
    def leader(self) -> Process:
        """The one that holds most, which has the name of the group."""
        return max(self.members, key=lambda one: one.held)


# The hundreds of a fork bomb have one name and one control group.
@functools.lru_cache(maxsize=4096)
def _standing(name: str, unit: str, path: str, uid: int, rules: Rules) -> tuple[bool, int]:
    """Return whether a process is never ended, and else whether it goes first (0), like others (1), or last (2, 3).

    What spares a process has to be the system's: its unit, since users name what they run below user.slice, or its
    account where a name is all that is known. With 3 it goes last of the processes of its account alone.
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
    return any(fnmatchcase(text, one) for one in patterns)


def _is_in(path: str, patterns: tuple[str, ...]) -> bool:
    """Say whether a control group is, or is in, one that a pattern with a slash names."""
    return any(fnmatchcase(path, one) or fnmatchcase(path, f"{one}/*") for one in patterns if "/" in one)


def protected(processes: t.Iterable[Process], rules: Rules, own: int, total: int) -> set[int]:
    """Return which of some processes are never ended."""
    found = set()
    displays: dict[int, list[Process]] = {}
    for one in processes:
        if one.pid in (1, own) or _standing(one.name, one.unit, one.path, one.uid, rules)[0]:
            found.add(one.pid)
        elif one.exe:
            displays.setdefault(one.uid, []).append(one)
    for users in displays.values():
        if sum(one.held for one in users) < DISPLAY * total:
            found.update(one.pid for one in users)
    return found


def _tier(members: t.Iterable[Process], rules: Rules) -> int:
    """Return when a group goes, by who of it goes first, or last."""
    tiers = {_standing(one.name, one.unit, one.path, one.uid, rules)[1] for one in members}
    return next(tier for tier in (0, 2, 3, 1) if tier in tiers)


def groups(
    processes: t.Mapping[int, Process], before: t.Mapping[int, int], rules: Rules, own: int, total: int
) -> list[Group]:
    """Return who may be ended, as groups; a group is of what is not protected in it.

    :param before: what each process held a while ago, by its pid.
    """
    spared = protected(processes.values(), rules, own, total)
    by_group: dict[t.Any, list[Process]] = {}
    for one in processes.values():
        if one.pid not in spared:
            by_group.setdefault((one.group, one.uid), []).append(one)
    # Many small ones of one name, each a group of its own, are one: ten workers, or a fork bomb.
    merged: dict[t.Any, list[Process]] = {}
    for key, members in by_group.items():
        first = max(members, key=lambda one: one.held)
        small = sum(one.held for one in members) < 4 * LARGE * total and not any(one.gpu for one in members)
        merged.setdefault(("small", first.kind) if small else key, []).extend(members)
    made = [Group(tuple(members), 0, _tier(members, rules)).since(before) for members in merged.values()]
    accounts = {one.leader.uid for one in made if one.tier == 1 and one.held >= LARGE * total}
    return [
        one._replace(tier=2 if accounts <= {one.leader.uid} else 1) if one.tier == 3 else one for one in made
    ]  # fmt: skip


def took(found: t.Sequence[Group], lost: int, most: float = 1e9) -> Group | None:
    """Return who grew by what was lost; one that holds the GPU's memory, by no more than ``most`` times as much.

    Only the GPU's figures come late. Processes that share pages, as those of a fork bomb, grow by more than was lost.
    Where no group did, several of one name and unit may have together: then it is the one of them that grew most.
    """
    able = [one for one in found if CULPRIT * lost <= one.grown and (one.grown <= most * lost or not one.gpu)]
    if not able:
        kin: dict[t.Any, list[Group]] = {}
        for one in found:
            if not one.gpu and one.grown > 0:
                kin.setdefault(one.leader.kind, []).append(one)
        able = [one for alike in kin.values() if CULPRIT * lost <= sum(each.grown for each in alike) for one in alike]
    return max(able, key=lambda one: one.grown, default=None)


def choose(
    found: t.Sequence[Group],
    total: int,
    lost: int,
    lately: t.Sequence[tuple[t.Sequence[Group], int]] = (),
    urgent: bool = True,
    unheld: bool = False,
) -> Group | None:
    """Return who has to go, or None if nobody may.

    Of those that go first, then of all others, then of builds: who took what was lost within the last seconds; if
    that is nobody, the most recent that holds much of the GPU's memory; else the most recent of those that hold most.

    :param lost: how much less is available than a while ago.
    :param lately: the same groups with their growth, and what was lost, in parts of that time, the shortest first:
        a model that loaded ten seconds ago is not who takes what is left now.
    :param urgent: whether one that holds little may go where nobody holds much.
    :param unheld: whether what was lost is shared memory that nobody holds: then nobody goes but who took it as well.
    """
    for tier in (0, 1, 2):
        large = [one for one in found if one.tier == tier and one.held >= LARGE * total]
        if not large:
            continue
        for then, less in lately:
            culprit = took([one for one in then if one.tier == tier and one.held >= LARGE * total], less, LATE)
            if less >= BURST * total and culprit:
                return culprit
        culprit = took(large, lost) if lost >= LARGE * total else None
        if culprit:
            return culprit
        if unheld:
            continue
        models = [one for one in large if one.gpu >= LARGE * total]
        most = max(one.held for one in large)
        return max(models or [one for one in large if one.held >= most / 2], key=lambda one: one.start)
    # Nobody is large: what is left takes the largest, unless that is next to nothing.
    rest = [one for one in found if one.held >= LARGE * total / 4 and urgent and not unheld]
    return max(rest, key=lambda one: (-one.tier, one.held), default=None)


def is_swarm(members: t.Sequence[Process], since: float) -> bool:
    """Say whether processes are many that have just been started: a fork bomb, a data loader, or a build.

    :param since: when a young one was started at the earliest, in seconds since the boot.
    """
    return len(members) >= MANY and 2 * sum(one.start >= since for one in members) >= len(members)


def is_bomb(members: t.Sequence[Process], found: t.Mapping[int, Process], since: float) -> bool:
    """Say whether a swarm can only be a fork bomb.

    The number of a data loader or a build is bounded, each has a living parent, and a process does not start its like
    over many generations. A bomb whose first process has started all of it is taken for one, and asked.

    :param found: all processes.
    :param since: when a young one was started at the earliest, in seconds since the boot.
    """
    if not is_swarm(members, since):
        return False
    young = [one for one in members if one.start >= since]
    if is_beyond(members):
        return True
    reapers = {one.pid for one in found.values() if one.name in REAPERS and one.uid in (0, members[0].uid)}
    orphans = sum(one.parent == 1 or one.parent in reapers for one in young)
    return orphans > ORPHANS * len(young) or _generations(members) > GENERATIONS


def whole(members: tuple[Process, ...], found: t.Mapping[int, Process], since: float) -> tuple[Process, ...]:
    """Return some processes with all others of the fork bomb that they are a part of, if they are.

    What a bomb has just started may still be in the process group of who started it, and so in another group than
    most. It is one bomb if more young ones of one kind are there than a data loader or a build starts.

    :param found: all processes.
    """
    if any(one.gpu for one in members) or 2 * sum(one.start >= since for one in members) < len(members):
        return members
    kind, known = members[0].kind, {one.pid for one in members}
    young = [one for one in found.values() if one.start >= since and one.kind == kind and not one.gpu]
    rest = tuple(one for one in young if one.pid not in known) if len(young) > BOUND else ()
    return members + rest


def is_beyond(members: t.Sequence[Process]) -> bool:
    """Say whether more are of one name than a data loader or a build starts."""
    return max(collections.Counter(one.name for one in members).values()) > BOUND


def _generations(members: t.Iterable[Process]) -> int:
    """Return over how many generations processes have started others of their name."""
    by_pid = {one.pid: one for one in members}
    depth: dict[int, int] = {}
    # A parent is older; of two with one start, as the kernel's clock counts, the lower number mostly is.
    for one in sorted(by_pid.values(), key=lambda one: (one.start, one.pid)):
        parent = by_pid.get(one.parent)
        alike = parent is not None and parent.name == one.name
        depth[one.pid] = 1 + (depth.get(one.parent, 1) if alike else 0)
    return max(depth.values(), default=0)


def valid(patterns: t.Iterable[str]) -> str:
    """Return the first pattern that is none: an empty one, or one that would match everything."""
    return next((one for one in patterns if not re.search(r"[\w]", one)), "")
