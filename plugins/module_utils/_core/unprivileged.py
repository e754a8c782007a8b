# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs what a package provides: without rights, in an account of its own, bounded, and killed as a whole at the end.

A ``.pth`` file of a wheel is code that every start of the environment's interpreter executes, with ``-I`` and without
an import.
"""

# AnsibleModule.run_command has no bound of time or of output.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import dataclasses
import grp
import hashlib
import os
import pwd
import secrets
import selectors
import signal
import stat
import subprocess
import time
import typing as t

from . import disk, processes, receipts
from .errors import SparkforgeError

#: Accounts that nobody has: systemd and Debian leave these ids unused (systemd, docs/UIDS-GIDS.md, "60706...61183
#: unused"; Debian's base-passwd, README, allocates none of them). They fit into 16 bits, as what a container has does.
ACCOUNTS = range(60706, 60945)
#: An account's id and this make the real id of what kills its processes. No two kill with one: kill(2) also reaches the
#: processes of the sender's real id.
_BESIDE = len(ACCOUNTS)
#: The only variables that a process inherits; the others may hold passwords, such as a proxy's.
_KEPT = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
_OWN = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    # The account has no entry that getpass.getuser() would find.
    "LOGNAME": "sparkforge",
    "PYTHONDONTWRITEBYTECODE": "1",
}
#: Directories that every account may write to.
_EVERYBODY_S = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - only cleared


@dataclasses.dataclass(frozen=True)
class Sandbox:
    """Where the code of one environment runs.

    Root runs it as an account that no other environment's code has at that time: a user id of ``ACCOUNTS``, which needs
    no entry in /etc/passwd. It is derived from the environment's directory, the next one is taken where it has an entry
    or another run holds it, and a lock holds it until all its processes are killed and its files are removed. The
    account is also what the processes are found by. None can leave it, as it has no capability and cannot gain one
    (no_new_privs), and one kill(2) ends them all, daemons and forks too. A control group would reach no more, and
    cannot be made in every container; DynamicUser= and systemd-run need systemd. What a killed run left is ended before
    the account is used again.

    Anybody else runs it as themselves, since they can take no other account. What is left over is then found by a
    variable that processes inherit, which a hostile one can drop.

    :ivar directory: of the environment, which tells it from others.
    :ivar seconds: how long one program may run; importing torch from a cold disk, emulated, takes minutes.
    :ivar limit: the bytes that one may print.
    """

    directory: str
    seconds: float = 900.0
    limit: int = 4 << 20

    def run(
        self, argv: t.Sequence[str], environment: t.Mapping[str, str], what: str, cwd: str | None = None
    ) -> tuple[int, str, str]:
        """Run a program of the environment and return its exit status, stdout and stderr.

        It sees ``environment`` and no other variables of this process.

        :param argv: its first word is the program's absolute path.
        :param what: runs, as messages call it.
        :raises SparkforgeError: it takes too long or prints too much, or it cannot be run without rights.
        """
        with account(self.directory) as uid:
            marker = f"{uid or os.getpid()}-{secrets.token_hex(8)}"
            kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
            process = subprocess.Popen(
                argv if uid is None else dropped(argv, uid, {uid} | groups_that_may_enter(argv[0])),
                env={**kept, **_OWN, **environment, processes.MARKER: marker},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            with process:
                streams = [stream for stream in (process.stdout, process.stderr) if stream]
                printed = {stream.fileno(): bytearray() for stream in streams}
                try:
                    why = self._follow(process, printed)
                finally:
                    # Not yet waited for, so that no other process can have its number.
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    if uid is None:
                        processes.end_processes(marker)
                    else:
                        end(uid)
                for descriptor, text in printed.items():
                    # Another account's process may hold the pipe's end.
                    with contextlib.suppress(BlockingIOError):
                        text += os.read(descriptor, 1 << 20)
        out, err = (bytes(text).decode("utf-8", "replace") for text in printed.values())
        if why:
            remedy = (
                "Find the package that does this at its import, or in a .pth file at every start; use another release."
            )
            raise SparkforgeError(f"{what} {why}.", remedy, output=(out + err)[-2000:])
        return process.returncode, out, err

    def _follow(self, process: subprocess.Popen[bytes], printed: t.Mapping[int, bytearray]) -> str:
        """Read what the process prints until it ends; return why it has to be killed, if it has."""
        deadline = time.monotonic() + self.seconds
        with selectors.DefaultSelector() as selector:
            for descriptor in printed:
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            while True:
                ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
                ready = selector.select(0 if ended else 0.05)
                for key, _events in ready:
                    block = os.read(key.fd, 1 << 16)
                    printed[key.fd].extend(block)
                    if not block:
                        selector.unregister(key.fd)
                if sum(map(len, printed.values())) > self.limit:
                    return f"printed more than {self.limit} bytes and was killed"
                if ended:
                    return ""
                if time.monotonic() > deadline:
                    return f"did not end within {self.seconds:g} s and was killed"


@contextlib.contextmanager
def account(directory: str) -> t.Iterator[int | None]:
    """Hold the account that the code of an environment runs as, see :class:`Sandbox`; None where that is one's own.

    At the end all that runs as it is killed, and what it left where everybody may write is removed.

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
