"""The account without privileges that runs code from packages, and the files that it can reach.

A ``.pth`` file in a wheel is code that runs at every start of the environment's interpreter, even with ``-I`` and
without an import.
"""

from __future__ import annotations

import contextlib
import grp
import hashlib
import os
import pwd
import stat
import typing as t

from . import disk, processes, receipts
from .errors import SparkforgeError

#: User ids without an account: systemd and Debian leave them unused (systemd, docs/UIDS-GIDS.md, "60706...61183
#: unused"; Debian's base-passwd, README, allocates none of them). They fit into 16 bits, like the ids in a container.
ACCOUNTS = range(60706, 60945)
#: An account's id plus this is the real id of the process that kills its processes. Each killer needs its own, because
#: kill(2) also reaches processes with the sender's real id.
_BESIDE = len(ACCOUNTS)
#: World-writable directories.
_WORLD_WRITABLE = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - only cleaned


@contextlib.contextmanager
def account(directory: str) -> t.Iterator[int | None]:
    """Reserve the account that runs the code of an environment; None means the caller's own account.

    Root gets an account that no other environment's code is using: a user id from ``ACCOUNTS``, which needs no entry in
    /etc/passwd. It is derived from the environment's directory; if it has an entry or another run holds it, the next id
    is used. A lock reserves the id until its processes are killed and its files are removed.

    The account also identifies the processes. They cannot leave it, because they have no capability and cannot gain one
    (no_new_privs), and one kill(2) stops them all, including daemons and forks. A control group would reach no more and
    cannot be created in every container; DynamicUser= and systemd-run need systemd. Leftovers are killed before the
    account is used again.

    Other callers run the code as themselves, because they cannot switch accounts. Leftover processes are then found by
    an inherited variable, which a hostile process can drop.

    :param directory: the directory of the environment.
    :raises SparkforgeError: if no id is free, or this process cannot switch to it.
    """
    if os.geteuid() != 0:
        yield None
        return
    first = int(hashlib.sha256(os.path.realpath(directory).encode()).hexdigest(), 16)
    for step in range(len(ACCOUNTS)):
        uid = ACCOUNTS[(first + step) % len(ACCOUNTS)]
        # All processes of the account will be killed, including those that a container started earlier.
        if _has_entry(uid) or _has_entry(uid + _BESIDE) or processes.runs_in_container(uid, uid + _BESIDE):
            continue
        with contextlib.ExitStack() as locks:
            try:
                locks.enter_context(receipts.lock("/run", f"sparkforge-{uid}", 0))
            except SparkforgeError as error:
                if error.__cause__:  # pylint: disable=using-constant-test
                    raise
                continue
            _clear(uid)
            try:
                yield uid
            finally:
                _clear(uid)
            return
    raise SparkforgeError(
        f"No user id between {ACCOUNTS[0]} and {ACCOUNTS[-1]} is free to run code from packages.",
        "Remove the accounts that use these ids, or wait until other runs have finished.",
    )


def without_privileges(argv: t.Sequence[str], uid: int, groups: t.Collection[int]) -> list[str]:
    """Return the command that runs ``argv`` as ``uid``, only in these groups, and unable to gain privileges."""
    group_list = ",".join(map(str, sorted(groups)))
    drop = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--groups", group_list]
    return [*drop, "--inh-caps=-all", "--no-new-privs", "--", *argv]


def kill_processes(uid: int) -> None:
    """Kill all processes of an account from :func:`account`."""
    processes.kill_account(uid, uid + _BESIDE)


def run_as(uid: int, work: t.Callable[[], t.Any]) -> str | None:
    """Run ``work`` as an account from :func:`account`, see :func:`processes.run_as`."""
    return processes.run_as(uid, uid + _BESIDE, work)


def _has_entry(number: int) -> bool:
    """Tell whether this id belongs to an account or a group, on this host or in its directory service."""
    for find in (pwd.getpwuid, grp.getgrgid):
        with contextlib.suppress(KeyError):
            find(number)
            return True
    return False


def _clear(uid: int) -> None:
    """Kill an account's processes, and remove its files from world-writable directories."""

    def remove() -> None:
        for directory in _WORLD_WRITABLE:
            with contextlib.suppress(OSError):
                for entry in list(os.scandir(directory)):
                    with contextlib.suppress(OSError, SparkforgeError):
                        if entry.stat(follow_symlinks=False).st_uid == uid:
                            disk.remove(entry.path)

    kill_processes(uid)
    # Run as that account, so that links are not followed with root's rights.
    run_as(uid, remove)


def groups_that_may_enter(path: str) -> set[int]:
    """Return the groups that give access to the directories above ``path`` that are not open to every account.

    The `python_env` role opens an environment only to its group. Root's own group is never granted.
    """
    closed_directories = (status for _place, status in _above(path) if not status.st_mode & stat.S_IXOTH)
    return {status.st_gid for status in closed_directories if status.st_mode & stat.S_IXGRP} - {0}


def check_open(path: str, label: str, remedy: str) -> None:
    """Refuse a path that such an account cannot reach in any group. The path need not exist yet.

    :param label: the name for ``path`` in the message.
    :raises SparkforgeError: if a directory is inaccessible; the error names it.
    """
    if os.geteuid() != 0:
        return
    for directory, status in _above(path):
        if not (status.st_mode & stat.S_IXOTH or (status.st_mode & stat.S_IXGRP and status.st_gid != 0)):
            raise SparkforgeError(
                f"{label} {path} lies in {directory}, which only its owner can enter; an environment's interpreter "
                "never runs as root.",
                remedy,
            )


def _above(path: str) -> t.Iterator[tuple[str, os.stat_result]]:
    """Yield each existing directory above ``path`` and above the target of its links."""
    for directory in (path, os.path.realpath(path)):
        while directory != "/":
            directory = os.path.dirname(directory)
            with contextlib.suppress(FileNotFoundError):
                yield directory, os.stat(directory)
