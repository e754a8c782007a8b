"""Processes that outlive the connection that started them: start, find and stop them.

Ansible's ``async`` is unsuitable: it kills the job at a time limit, and only the run that started a job knows its id.

Under systemd the process is a transient unit with a memory limit, and the host is kept awake while it runs. Otherwise
it gets its own session. In both cases it holds a lock for as long as it is alive, even if its process id is reused.
"""

# Detached processes have no AnsibleModule to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import shutil
import signal
import subprocess
import time
import typing as t

from . import processes
from .accounts import Account
from .errors import SparkforgeError


def boot_id() -> str:
    """Return the id of this boot of the kernel, or '' if the kernel does not provide it."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return ""


#: The time limit in seconds under systemd, so that a hanging process cannot hold its lock forever. An emulated build
#: takes days.
LONGEST = 7 * 86400
#: See systemd.exec(5). PrivateTmp is left out because a source may be in /tmp.
_PROTECTION = (
    "ProtectSystem=strict",
    "ProtectHome=read-only",
    "ProtectControlGroups=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "RestrictSUIDSGID=yes",
    "TasksMax=32768",
)


def systemd_runs() -> bool:
    """Tell whether systemd is the init process of this host, as sd_booted(3) does."""
    return os.path.isdir("/run/systemd/system") and shutil.which("systemd-run") is not None


def systemd(*argv: str) -> subprocess.CompletedProcess[str]:
    """Run a systemd command; if it cannot be started, return status 127 like a shell."""
    try:
        return subprocess.run(list(argv), stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)
    except OSError as error:
        return subprocess.CompletedProcess(list(argv), 127, "", f"{argv[0]}: {error.strerror}")


def start(
    command: t.Sequence[str],
    *,
    account: Account,
    service: str,
    marker: str,
    log: str,
    directory: str,
    writable: t.Sequence[str],
    memory_mib: int = 0,
) -> str:
    """Start ``command`` detached from the caller; return ``systemd`` or ``session``.

    :param marker: the value by which ``processes.kill_marked`` finds its processes.
    :param log: the file to append its output to.
    :param writable: the paths that it can write, within its account's rights; enforced only under systemd.
    :param memory_mib: the memory limit for all its processes together, under systemd, or 0 for no limit.
    :raises SparkforgeError: if it cannot be started.
    """
    if systemd_runs() and account.is_root:
        limits = [f"--property=MemoryMax={memory_mib}M", "--property=MemorySwapMax=0"] if memory_mib else []
        writable_paths = " ".join(f'"{path}"' for path in ("/tmp", "/var/tmp", *writable))  # noqa: S108 - world-writable
        protection = [f"--property={setting}" for setting in (*_PROTECTION, f"ReadWritePaths={writable_paths}")]
        for properties in (protection, []):
            systemd("systemctl", "reset-failed", service)
            completed = systemd(
                "systemd-run", "--quiet", "--collect", f"--unit={service}", f"--uid={account.name}",
                f"--working-directory={directory}", f"--property=StandardOutput=append:{log}",
                f"--property=StandardError=append:{log}", "--property=KillMode=control-group",
                # If the kernel kills a compiler, the engine must survive to continue with fewer jobs.
                "--property=OOMPolicy=continue", "--property=NoNewPrivileges=yes", *limits, *properties,
                # Only this type reports whether the command could be started.
                "--property=Type=exec", "--property=TimeoutStartSec=60",
                f"--property=RuntimeMaxSec={LONGEST}", f"--setenv={processes.MARKER}={marker}", "--", *command,
            )  # fmt: skip
            if completed.returncode == 0:
                _keep_awake(service, log)
                return "systemd"
            if properties:
                _say(log, f"systemd cannot sandbox the build here (as in a container): {completed.stderr.strip()}")
    _say(log, "This host may suspend during the build: systemd did not start it.")
    _start_session(command, account, marker, log, directory)
    return "session"


def await_start(begun: t.Callable[[], bool], marker: str, account: Account) -> None:
    """Return once the started work has ``begun``, or all of its processes are gone.

    An interpreter may take a while to start on a busy or emulated host, but a dead process never will.
    """
    patience = time.monotonic() + 2
    while not begun():
        if time.monotonic() > patience:
            with account.acting():
                if not processes.find_marked(marker):
                    return
            patience = time.monotonic() + 1
        time.sleep(0.05)


def _keep_awake(service: str, log: str) -> None:
    """Keep the host from suspending while ``service`` runs, or note in the log that this is impossible.

    The inhibitor is a separate unit, stopped with ``service``, because logind lets only root inhibit sleep, and builds
    do not run as root.
    """
    hold = ["systemd-inhibit", "--what=sleep:idle", "--who=sparkforge", f"--why=It builds ({service})", "--mode=block"]
    bound = [f"--property={relation}={service}" for relation in ("BindsTo", "After")]
    unit = ["systemd-run", "--quiet", "--collect", f"--unit={service.replace('.service', '-awake.service')}", *bound]
    active = ["systemctl", "is-active", "--quiet", service]
    # The first command only tests whether logind responds. A build that has already finished needs neither.
    for command in ([*hold, "true"], [*unit, "--", *hold, "sleep", "infinity"]):
        completed = systemd(*command)
        failure = completed.stderr.strip() if completed.returncode else ""
        if failure and systemd(*active).returncode == 0:
            _say(log, f"This host may suspend during the build: {failure}")
        if failure:
            return


def _say(log: str, text: str) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"== {text}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)


def _start_session(command: t.Sequence[str], account: Account, marker: str, log: str, directory: str) -> None:
    """Start ``command`` in its own session, as a child of the init process."""
    entry = account.entry
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as stream:
            failure = stream.read().decode("utf-8", "replace")
        if failure:
            raise SparkforgeError(
                f"The build cannot be started as {account.name}: {failure}.",
                f"Give {account.name} access to that path and to every directory above it.",
                log=log,
            )
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        os.close(reading)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        devnull = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in ((0, devnull), (1, output), (2, output)):
            os.dup2(descriptor, number)
        # Close all inherited descriptors, because an open end of the pipe to ssh would keep the connection open.
        os.dup2(writing, 3)
        os.set_inheritable(3, False)
        os.closerange(4, 65536)
        if account.is_root and entry is not None and entry.pw_uid != 0:
            os.initgroups(account.name, entry.pw_gid)
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
        # prctl(2), PR_SET_NO_NEW_PRIVS: a build cannot gain rights through sudo or other setuid programs.
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
        os.chdir(directory)
        os.umask(0o022)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", processes.MARKER: marker}
        os.execve(command[0], list(command), environment)  # noqa: S606
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(3, str(error).encode())
        os._exit(1)


def stop(service: str, marker: str, account: Account) -> None:
    """Stop the build identified by ``marker`` with all its processes."""
    if systemd_runs() and os.geteuid() == 0:
        systemd("systemctl", "stop", service)
    # Root in a container may not read the environment of another account's process (CAP_SYS_PTRACE).
    with account.acting():
        processes.kill_marked(marker)


class Lock:
    """A file lock that one process holds until it exits, for whatever reason."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock without waiting; tell whether that succeeded."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
