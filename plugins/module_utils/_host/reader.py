"""Read a host's files relative to a root directory, so that a recorded host reads like a live one."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import subprocess
import time
import typing as t

from .._core import disk

if t.TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

# A function that takes an argument list and returns (exit status, stdout, stderr), even for a failed command.
Runner = t.Callable[[list[str]], tuple[int, str, str]]

# Files in /proc report a size of 0, so this is our own limit; the largest file read is a few MiB.
READ_LIMIT = 64 * 1024 * 1024
# The kernel allocates a buffer of the requested size for a read from /proc/sys, and refuses large ones (ENOMEM).
READ_CHUNK = 64 * 1024
#: Time limits in seconds for a command of :func:`run_command`, and for a killed command to exit: one that waits for a
#: driver may never exit.
COMMAND_LIMIT, REAP_LIMIT = 60.0, 5.0
COMMAND_FOLDERS = ("/usr/bin", "/usr/local/bin", "/usr/sbin", "/bin", "/sbin")


class Host:
    """Read-only access to a host.

    :param root: the directory that contains the host's ``/``; ``/`` itself for the live host.
    :param run: a function that runs an argument list; by default nothing is run, as a recorded host requires.
    :param statvfs: :func:`os.statvfs` or a replacement, called with the host's own path.
    :param uname: the kernel's release and the machine, or ``None`` for the live ones.
    :param clock: a function that returns the seconds since 1970.
    """

    def __init__(
        self,
        root: str = "/",
        run: Runner = lambda argv: (127, "", f"{argv[0]} is not run here."),
        statvfs: t.Callable[[str], t.Any] | None = None,
        uname: tuple[str, str] | None = None,
        clock: t.Callable[[], float] = time.time,
    ) -> None:
        self.root = root.rstrip("/") or "/"
        self.run = run
        self.clock = clock
        self.statvfs = statvfs if statvfs is not None else (lambda path: os.statvfs(self.path(path)))
        live = os.uname()
        self.release, self.machine = uname if uname is not None else (live.release, live.machine)
        # The existing files that could not be read; absent files are not listed.
        self.unread: list[dict[str, str]] = []

    @property
    def live(self) -> bool:
        """Whether this is the running system instead of a recorded one."""
        return self.root == "/"

    def path(self, path: str) -> str:
        """Return this process's path for the host's ``path``."""
        return path if self.live else self.root + path

    def note(self, probe: str, reason: t.Any) -> None:
        """Record that a probe failed, at most once per probe."""
        if not any(row["probe"] == probe for row in self.unread):
            self.unread.append({"probe": probe, "reason": str(reason).strip()[:300]})

    def part(self, name: str, work: t.Callable[[], t.Any], otherwise: t.Any = None) -> t.Any:
        """Return one part of an observation, or ``otherwise`` if an unusual host breaks it."""
        try:
            return work()
        except Exception as error:
            self.note(name, f"{type(error).__name__}: {error}")
            return otherwise

    def read_bytes(self, path: str) -> bytes | None:
        """Return a file's content, or ``None`` if it is absent or unreadable."""
        try:
            # Open only regular files: a FIFO or a device would block the observation, and with it all other hosts.
            with open(disk.regular(self.path(path), links=True), "rb", buffering=0) as stream:
                content = bytearray()
                while len(content) < READ_LIMIT:
                    chunk = stream.read(READ_CHUNK)
                    if not chunk:
                        break
                    content += chunk
                return bytes(content)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self.note(path, error.strerror or error)
            return None

    def read(self, path: str) -> str | None:
        """Return a file's text, or ``None`` if it is absent or unreadable."""
        content = self.read_bytes(path)
        return None if content is None else content.decode("utf-8", "replace")

    def stripped(self, path: str) -> str:
        """Return a file's text without surrounding whitespace, or '' with a note if it is unreadable."""
        return (self.read(path) or "").strip()

    def word(self, path: str) -> str:
        """Return the same as :meth:`stripped`, without a note: sysfs refuses attributes that do not apply."""
        noted = len(self.unread)
        text = self.stripped(path)
        del self.unread[noted:]
        return text

    def number(self, path: str) -> int | None:
        """Return the decimal or hexadecimal number in a file, read like :meth:`word`, or ``None``."""
        text = self.word(path)
        return int(text, 0) if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text) else None

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a directory, or an empty list if it is absent or unreadable."""
        try:
            return sorted(os.listdir(self.path(path)))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                self.note(path, error.strerror or error)
            return []

    def is_file(self, path: str) -> bool:
        return os.path.isfile(self.path(path))

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(self.path(path))

    def real(self, path: str) -> str:
        """Return ``path`` with its links resolved, as a path on the host."""
        target = os.path.realpath(self.path(path))
        if self.live:
            return target
        base = os.path.realpath(self.root)
        return target[len(base) :] if target.startswith(base + "/") else target

    def command(self, name: str) -> str | None:
        """Return a command's path; ``PATH`` is not used because a non-login ssh shell may lack directories."""
        for folder in COMMAND_FOLDERS:
            path = f"{folder}/{name}"
            if self.is_file(path):
                return path
        return None


def run_command(argv: list[str], limit: float = COMMAND_LIMIT) -> tuple[int, str, str]:
    """Run a command for :class:`Host` within a time limit, because a wedged driver must not block the caller too."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": "C"}
    try:
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return 127, "", f"{argv[0]}: {error.strerror}"
    try:
        stdout, stderr = process.communicate(timeout=limit)
        return process.returncode, stdout, stderr
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        # A process that waits in the kernel survives; close its pipes.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=REAP_LIMIT)
        return 124, "", f"{argv[0]} did not respond within {limit:g} seconds"


def of_module(module: AnsibleModule) -> Host:
    """Return the host that a module runs on, with English program output."""

    def run(argv: list[str]) -> tuple[int, str, str]:
        language = {"LC_ALL": "C.UTF-8", "LANGUAGE": "C"}
        try:
            status, stdout, stderr = module.run_command(argv, environ_update=language, handle_exceptions=False)
        except OSError as error:
            return 127, "", f"{argv[0]}: {error.strerror}"
        return int(status), stdout, stderr

    return Host(run=run)
