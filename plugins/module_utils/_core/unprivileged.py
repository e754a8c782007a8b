# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The account without rights that runs what a package provides, and what that account may reach.

A ``.pth`` file of a wheel is code that every start of the environment's interpreter executes, with ``-I`` and without
an import.
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

#: Accounts that nobody has: systemd and Debian leave these ids unused (systemd, docs/UIDS-GIDS.md, "60706...61183
#: unused"; Debian's base-passwd, README, allocates none of them). They fit into 16 bits, as what a container has does.
ACCOUNTS = range(60706, 60945)
#: An account's id and this make the real id of what kills its processes. No two kill with one: kill(2) also reaches the
#: processes of the sender's real id.
_BESIDE = len(ACCOUNTS)
#: Directories that every account may write to.
_EVERYBODY_S = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - only cleared


@contextlib.contextmanager
def account(directory: str) -> t.Iterator[int | None]:
    """Hold the account that the code of an environment runs as; None where that is one's own.

    Root gets an account that no other environment's code has at that time: a user id of ``ACCOUNTS``, which needs
    no entry in /etc/passwd. It is derived from the environment's directory, the next one is taken where it has an entry
    or another run holds it, and a lock holds it until all its processes are killed and its files are removed. The
    account is also what the processes are found by. None can leave it, as it has no capability and cannot gain one
    (no_new_privs), and one kill(2) ends them all, daemons and forks too. A control group would reach no more, and
    cannot be made in every container; DynamicUser= and systemd-run need systemd. What a killed run left is ended before
    the account is used again.

    Anybody else runs it as themselves, since they can take no other account. What is left over is then found by a
    variable that processes inherit, which a hostile one can drop.

    :param directory: of the environment.
    :raises SparkforgeError: if none is free, or this process cannot take it.
    """
    if os.geteuid() != 0:
        yield None
        return
    first = int(hashlib.sha256(os.path.realpath(directory).encode()).hexdigest(), 16)
    for step in range(len(ACCOUNTS)):
        uid = ACCOUNTS[(first + step) % len(ACCOUNTS)]
        # All processes of the account are killed, also those that a container has started before.
        if _has_entry(uid) or _has_entry(uid + _BESIDE) or processes.runs_in_container(uid, uid + _BESIDE):
            continue
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(receipts.lock("/run", f"sparkforge-{uid}", 0))
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
        f"No user id between {ACCOUNTS[0]} and {ACCOUNTS[-1]} is free to run what a package provides.",
        "Remove the accounts that use these ids, or wait until other runs have ended.",
    )


def dropped(argv: t.Sequence[str], uid: int, groups: t.Collection[int]) -> list[str]:
    """Return the command that runs ``argv`` as ``uid``, in these groups alone, without a way to more rights."""
    listed = ",".join(map(str, sorted(groups)))
    drop = ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--groups", listed]
    return [*drop, "--inh-caps=-all", "--no-new-privs", "--", *argv]


def end(uid: int) -> None:
    """Kill all that runs as an account of :func:`account`."""
    processes.end_account(uid, uid + _BESIDE)


def acting(uid: int, work: t.Callable[[], t.Any]) -> str | None:
    """Do ``work`` as an account of :func:`account`, see :func:`processes.acting`."""
    return processes.acting(uid, uid + _BESIDE, work)


def _has_entry(number: int) -> bool:
    """Tell whether an account or a group has this id, on this host or in its directory service."""
    for find in (pwd.getpwuid, grp.getgrgid):
        with contextlib.suppress(KeyError):
            find(number)
            return True
    return False


def _clear(uid: int) -> None:
    """Kill what runs as an account, and remove what it left where every account may write."""

    def remove() -> None:
        for place in _EVERYBODY_S:
            with contextlib.suppress(OSError):
                for entry in list(os.scandir(place)):
                    with contextlib.suppress(OSError, SparkforgeError):
                        if entry.stat(follow_symlinks=False).st_uid == uid:
                            disk.remove(entry.path)

    end(uid)
    # As that account, so that no link is followed with root's rights.
    acting(uid, remove)


def groups_that_may_enter(path: str) -> set[int]:
    """Return the groups by which an account may enter the directories above ``path`` that are not open to everybody.

    The role python_env opens an environment to its group alone. Root's own group is not given to anybody.
    """
    closed = (found for _place, found in _above(path) if not found.st_mode & stat.S_IXOTH)
    return {found.st_gid for found in closed if found.st_mode & stat.S_IXGRP} - {0}


def check_open(path: str, what: str, remedy: str) -> None:
    """Refuse a path that such an account does not reach, whatever group it is given. It need not be there yet.

    :param what: is at ``path``, as the message calls it.
    :raises SparkforgeError: naming the directory that is closed.
    """
    if os.geteuid() != 0:
        return
    for place, found in _above(path):
        if not (found.st_mode & stat.S_IXOTH or (found.st_mode & stat.S_IXGRP and found.st_gid != 0)):
            raise SparkforgeError(
                f"{what} {path} lies in {place}, which only its owner can enter; an environment's interpreter never "
                "runs as root.",
                remedy,
            )


def _above(path: str) -> t.Iterator[tuple[str, os.stat_result]]:
    """Give each directory above ``path`` and above the file that it leads to, as far as they are there."""
    for place in (path, os.path.realpath(path)):
        while place != "/":
            place = os.path.dirname(place)
            with contextlib.suppress(FileNotFoundError):
                yield place, os.stat(place)
