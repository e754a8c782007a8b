"""The scenarios of the virtual machine and the processes to kill in each.

An actor is (name, unit, control group or "", kind, percentage of the memory, MB/s). The first actors are already
running; the last ones take the remaining memory. ``right`` names the actors that may be killed; with ``asked``, only
after a SIGTERM. 80 MB/s, scaled from 1 GiB to 128 GiB, correspond to 10 GB/s.
"""

from typing import NamedTuple

SCALED, FASTEST, SLOW = 80, 0, 30


class Actor(NamedTuple):
    """``count`` processes of the same kind."""

    name: str
    unit: str
    kind: str
    percent: float
    rate: int = SCALED
    count: int = 1
    deaf: bool = False
    #: Whether it joins the process group of the previous actor.
    joined: bool = False
    #: Its account, the name that it gives itself, and the number of groups its account belongs to.
    uid: int = 0
    comm: str = ""
    groups: int = 0


class Scenario(NamedTuple):
    """The actors that run first, those that start later, and the names of those to kill."""

    before: tuple[Actor, ...]
    then: tuple[Actor, ...]
    right: tuple[str, ...]
    swap: str = ""
    first: tuple[str, ...] = ()
    asked: bool = False
    #: Whether one of ``right`` must be killed.
    certain: bool = True


MODEL = Actor("model", "vllm.service", "gpu", 45)
SMALL_MODEL = Actor("model", "vllm.service", "gpu", 10)
LOADER = Actor("loader", "user.scope", "gpu", 80)
EATER = Actor("eater", "user.scope", "plain", 120)
DATABASE = Actor("database", "postgresql.service", "plain", 25)
WORKER = Actor("worker", "user.scope", "plain", 12, 10)
COMPILER = Actor("cc1plus", "sparkforge-pytorch-0123.service", "plain", 80)
#: A control group under that user's systemd instance.
_OF_USER = "/user.slice/user-{0}.slice/user@{0}.service/app.slice/{1}"
ATTACKER = Actor("attacker", _OF_USER.format(1001, "mine.service"), "plain", 120, uid=1001)
VICTIM = Actor("victim", _OF_USER.format(1002, "jupyter.service"), "plain", 35, uid=1002, comm="vllm")


def fast(actor: Actor) -> Actor:
    """Return the actor with unlimited speed."""
    return actor._replace(rate=FASTEST)


def deaf(actor: Actor) -> Actor:
    """Return the actor with SIGTERM ignored."""
    return actor._replace(deaf=True)


SCENARIOS = {
    "a second model loads": Scenario((MODEL,), (LOADER,), ("loader",)),
    "a second model loads as fast as it goes": Scenario((MODEL,), (fast(LOADER),), ("loader",)),
    "a second model loads and ignores SIGTERM": Scenario((MODEL,), (deaf(LOADER),), ("loader",)),
    "a second model loads fast and ignores SIGTERM": Scenario((MODEL,), (deaf(fast(LOADER)),), ("loader",)),
    "the only model is too large": Scenario((), (LOADER._replace(percent=110),), ("loader",)),
    "a model loads beside a database": Scenario((DATABASE,), (LOADER._replace(percent=90),), ("loader",)),
    "a third model loads": Scenario(
        (MODEL._replace(percent=30), MODEL._replace(name="second", percent=30)), (LOADER,), ("loader",)),
    "two models load at once": Scenario((SMALL_MODEL,), (LOADER, LOADER._replace(name="other")), ("loader", "other")),
    "a model of three processes loads": Scenario(
        (MODEL,), (LOADER._replace(percent=30), LOADER._replace(percent=30, joined=True),
                   LOADER._replace(percent=30, joined=True)), ("loader",)),
    "a process eats": Scenario((), (EATER,), ("eater",)),
    "a process eats as fast as it goes": Scenario((), (fast(EATER),), ("eater",)),
    "a process eats beside a model": Scenario((MODEL,), (EATER,), ("eater",)),
    "a process eats fast beside a model": Scenario((MODEL,), (fast(EATER),), ("eater",)),
    "a process eats and ignores SIGTERM": Scenario((MODEL,), (deaf(EATER),), ("eater",)),
    "a process eats slowly": Scenario((MODEL,), (EATER._replace(rate=SLOW),), ("eater",)),
    "an old process eats, a model is newer": Scenario(
        (DATABASE._replace(name="eater", percent=30), SMALL_MODEL), (EATER,), ("eater",)),
    "ten small ones of one group eat": Scenario(
        (MODEL,), (WORKER, *[WORKER._replace(joined=True)] * 9), ("worker",)),
    "ten small ones of their own eat": Scenario((MODEL,), (WORKER._replace(count=10),), ("worker",)),
    "a fork bomb": Scenario((), (Actor("bomb", "user.scope", "bomb", 400),), ("bomb",)),
    "a fork bomb beside a model": Scenario((MODEL,), (Actor("bomb", "user.scope", "bomb", 400),), ("bomb",)),
    "a data loader beside a model": Scenario(
        (MODEL,), (Actor("trainer", "user.scope", "workers", 120, SLOW),), ("trainer",), asked=True),
    "a data loader is alone": Scenario(
        (), (Actor("trainer", "user.scope", "workers", 160, SLOW),), ("trainer",), asked=True),
    "a page cache with dirty pages": Scenario((MODEL,), (Actor("writer", "user.scope", "cache", 45, 100),), ()),
    "a page cache with dirty pages, and a process eats": Scenario(
        (SMALL_MODEL,), (Actor("writer", "user.scope", "cache", 45, 100), EATER), ("eater",)),
    "a compiler eats beside a model": Scenario((MODEL,), (COMPILER,), ("model",)),
    "a compiler eats, and there is no model": Scenario((), (COMPILER._replace(percent=120),), ("cc1plus",)),
    "a display holds much, and a model loads": Scenario(
        (Actor("gnome-shell", "user.scope", "plain", 40),), (LOADER,), ("loader",)),
    "ssh holds much, and a model loads": Scenario(
        (Actor("worker", "ssh.service", "plain", 40),), (LOADER,), ("loader",)),
    "a model fits and leaves 13 per cent": Scenario((), (LOADER._replace(percent=74),), ()),
    "with swap, a process eats": Scenario((MODEL,), (EATER._replace(percent=200),), ("eater",), "disk"),
    "with swap, a second model loads": Scenario((MODEL,), (LOADER._replace(percent=120),), ("loader",), "disk"),
    "with zram, a process eats": Scenario((MODEL,), (EATER._replace(percent=200),), ("eater",), "zram"),
    # Tricks that try to make the guard spare a user's processes or kill another user's process instead.
    "a user's process eats beside another's": Scenario((VICTIM,), (ATTACKER,), ("attacker",)),
    "it calls itself sshd": Scenario((VICTIM,), (ATTACKER._replace(comm="sshd"),), ("attacker",)),
    "it calls itself a display": Scenario((VICTIM,), (ATTACKER._replace(comm="gnome-shell"),), ("attacker",)),
    "it calls itself a compiler": Scenario((VICTIM,), (ATTACKER._replace(comm="cicc"),), ("attacker",)),
    "it has a unit ssh.service of its own": Scenario(
        (VICTIM,), (ATTACKER._replace(unit=_OF_USER.format(1001, "ssh.service")),), ("attacker",)),
    "it is in 700 groups": Scenario((VICTIM,), (ATTACKER._replace(groups=700),), ("attacker",)),
    "its first thread has ended": Scenario((VICTIM,), (ATTACKER._replace(kind="leaderless"),), ("attacker",)),
    "it writes a memfd and does not map it": Scenario((VICTIM,), (ATTACKER._replace(kind="memfd"),), ("attacker",)),
    "seventy of a name that another's process has": Scenario(
        (), (VICTIM._replace(comm="python3", percent=20),
             ATTACKER._replace(kind="crowd", comm="python3", unit=_OF_USER.format(1001, "jupyter.service"))),
        ("attacker",)),
    "it leaves a file in a tmpfs": Scenario(
        (VICTIM,), (ATTACKER._replace(kind="file", percent=43),), ("attacker",), certain=False),
}  # fmt: skip
