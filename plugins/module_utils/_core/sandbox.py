"""Run code from packages with limits on time and output, and kill all of its processes at the end."""

# AnsibleModule.run_command limits neither time nor output.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import selectors
import signal
import subprocess
import time
import typing as t

from . import processes, unprivileged
from .errors import SparkforgeError

#: The only variables that a process inherits; others may contain passwords, such as a proxy's.
_KEPT = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
_OWN = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    # The account has no entry for getpass.getuser().
    "LOGNAME": "sparkforge",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclasses.dataclass(frozen=True)
class Sandbox:
    """The limits within which the code of one environment runs, as the account of :func:`unprivileged.account`.

    :ivar directory: the directory of the environment, which identifies it.
    :ivar seconds: the time limit for one program; importing torch from a cold disk under emulation takes minutes.
    :ivar limit: the maximum number of bytes of output.
    """

    directory: str
    seconds: float = 900.0
    limit: int = 4 << 20

    def run(
        self, argv: t.Sequence[str], environment: t.Mapping[str, str], subject: str, cwd: str | None = None
    ) -> tuple[int, str, str]:
        """Run a program in the environment and return its exit status, stdout and stderr.

        The program gets ``environment`` and no other variables from this process.

        :param argv: the command; its first item is the program's absolute path.
        :param subject: the name for the program in messages.
        :raises SparkforgeError: if it takes too long, prints too much, or cannot be run without privileges.
        """
        with unprivileged.account(self.directory) as uid:
            marker = f"{uid or os.getpid()}-{secrets.token_hex(8)}"
            inherited = {name: os.environ[name] for name in _KEPT if name in os.environ}
            command = list(argv)
            if uid is not None:
                command = unprivileged.without_privileges(
                    argv, uid, {uid} | unprivileged.groups_that_may_enter(argv[0])
                )
            process = subprocess.Popen(
                command,
                env={**inherited, **_OWN, **environment, processes.MARKER: marker},
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
                    # Kill before waiting, so that no other process can have its id.
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    if uid is None:
                        processes.kill_marked(marker)
                    else:
                        unprivileged.kill_processes(uid)
                for descriptor, text in printed.items():
                    # A process of another account may hold the other end of the pipe.
                    with contextlib.suppress(BlockingIOError):
                        text += os.read(descriptor, 1 << 20)
        out, err = (bytes(text).decode("utf-8", "replace") for text in printed.values())
        if why:
            remedy = (
                "Find the package that does this on import, or in a .pth file at every start, and use another release."
            )
            raise SparkforgeError(f"{subject} {why}.", remedy, output=(out + err)[-2000:])
        return process.returncode, out, err

    def _follow(self, process: subprocess.Popen[bytes], printed: t.Mapping[int, bytearray]) -> str:
        """Read the output of the process until it exits; return the reason if it must be killed, or ''."""
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
                    return f"did not finish within {self.seconds:g} s and was killed"
