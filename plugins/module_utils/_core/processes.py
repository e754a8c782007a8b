"""Find and kill processes that have left their parents, by an inherited variable or by their account."""

# A forked child that only kills processes and removes files needs no AnsibleModule.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import os
import signal
import time
import typing as t

from .errors import SparkforgeError

#: The variable in the environment of all processes of a build, a proof or a package's code, by which orphans are found.
MARKER = "SPARKFORGE_BUILD"


def kill_marked(marker: str) -> int:
    """Kill every other process whose environment contains ``marker``; return how many there were.

    A compiler whose parent was killed continues and would write into the tree that the next build uses.

    :raises SparkforgeError: if one of them does not exit, such as a process that waits for a dead disk.
    """

    def kill() -> None:
        for pid in find_marked(marker):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    return _kill_all(lambda: find_marked(marker), kill)


def kill_account(uid: int, other: int) -> None:
    """Kill every process of the account ``uid``, which nothing else on this host uses. Only root can do this.

    One system call reaches them all, and no fork can escape, because kill(2) to -1 holds the kernel's lock on all
    tasks. The account itself checks for survivors, because hidepid= or a missing CAP_SYS_PTRACE hides processes of
    other accounts.

    :param other: see :func:`run_as`.
    :raises SparkforgeError: if this process cannot become that account, or one of its processes does not exit.
    """

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)

    def end() -> None:
        kill()
        _kill_all(lambda: [pid for pid in _of_account(uid) if pid != os.getpid()], kill)

    if run_as(uid, other, end) is None:
        raise _survivors_error([f"those of the user id {uid}"])


def runs_in_container(uid: int, other: int) -> bool:
    """Tell whether a container that shares the host's user ids has processes of an account.

    Processes started by a package's code can only get their own process namespace inside their own user namespace. If
    root cannot see the processes of other accounts, the account itself looks for them.

    :param other: see :func:`run_as`.
    """

    def namespaces(directory: str) -> list[str]:
        try:
            return [os.readlink(f"{directory}/ns/{kind}") for kind in ("user", "pid")]
        except OSError:
            return []

    def look() -> bool:
        user, pid = namespaces("/proc/self") or ("", "")
        others = filter(None, (namespaces(f"/proc/{process}") for process in _of_account(uid)))
        return any(other_user == user and other_pid != pid for other_user, other_pid in others)

    return look() or run_as(uid, other, look) != "False"


def run_as(uid: int, other: int, work: t.Callable[[], t.Any]) -> str | None:
    """Run ``work`` in a child process with only the rights of the account ``uid``.

    Return its result as text, limited to a few thousand characters, or None if it failed.

    :param other: the child's real user id, which no other process has. The account's processes then cannot signal the
        child, and kill(2) to -1 hits nothing that shares its real id.
    :raises SparkforgeError: if this process cannot become that account.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(other, uid, 0)
            # With a retained capability (securebits(7)), kill(-1) would reach every process on the host.
            if os.getresuid() == (other, uid, 0) and _has_no_capability():
                status = 2
                os.write(writing, str(work()).encode())
                status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        answer = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, 2):
        raise SparkforgeError(
            f"This process cannot switch to the user id {uid}, which runs code from packages.",
            "Run this as root of the host, or in a container that has 65536 user ids.",
        )
    return None if status else answer


def _has_no_capability() -> bool:
    # Parse bytes, because the account may not be able to read the interpreter's codec modules.
    values = [line.split()[1] for line in _read("/proc/self", "status").splitlines() if line.startswith(b"CapEff:")]
    return [int(value, 16) for value in values] == [0]


def _kill_all(find: t.Callable[[], list[int]], kill: t.Callable[[], None]) -> int:
    """Kill the processes that ``find`` returns until there are none; return how many there were."""
    ended: set[int] = set()
    deadline = time.monotonic() + 30
    while True:
        pids = find()
        if not pids:
            return len(ended)
        if time.monotonic() > deadline:
            raise _survivors_error(map(str, pids))
        ended.update(pids)
        kill()
        time.sleep(0.05)


def _survivors_error(processes: t.Iterable[str]) -> SparkforgeError:
    return SparkforgeError(
        f"Killed processes do not exit: {', '.join(processes)}.",
        "Check what they wait for (ps -o pid,stat,wchan), and run again.",
    )


def find_marked(marker: str) -> list[int]:
    """Return the other processes whose environment contains ``marker``; those of other accounts may be invisible."""
    variable = f"{MARKER}={marker}".encode()
    return [pid for pid, path in _processes() if pid != os.getpid() and variable in _read(path, "environ").split(b"\0")]


def _of_account(uid: int) -> list[int]:
    digits = str(uid).encode()
    return [
        pid
        for pid, directory in _processes()
        for line in _read(directory, "status").splitlines()
        if line.startswith(b"Uid:") and digits in line.split()
    ]


def _processes() -> t.Iterator[tuple[int, str]]:
    """Yield each running process and its directory in /proc, except zombies."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            directory = f"/proc/{name}"
            if _read(directory, "stat").rpartition(b")")[2].split()[:1] not in ([], [b"Z"]):
                yield int(name), directory


def _read(directory: str, file: str) -> bytes:
    try:
        with open(f"{directory}/{file}", "rb") as stream:
            return stream.read()
    except OSError:
        return b""
