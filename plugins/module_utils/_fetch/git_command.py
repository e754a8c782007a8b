"""Run git with no configuration but ours: no hooks, filters, credential helpers or prompts; only allowed protocols."""

# This also runs in the detached worker, which has no AnsibleModule to run commands.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import threading
import time
import typing as t
import urllib.parse

from .._core.errors import SparkforgeError
from .git_errors import Say, of_local, of_remote
from .urls import Remote

#: Seconds between two progress lines for a running transfer.
PROGRESS_SECONDS = 10.0

_SETTINGS: t.Final[tuple[tuple[str, str], ...]] = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.attributesFile", os.devnull),
    ("core.askPass", ""),
    ("core.fsync", "all"),
    ("credential.helper", ""),
    ("advice.detachedHead", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("submodule.recurse", "false"),
    # Write one pack per fetch, which is complete or absent; a loose object could be truncated.
    ("fetch.unpackLimit", "1"),
    # The tree of a running build shares the packs, so nothing may repack them meanwhile.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.version", "2"),
    # Give up on a silent connection; a server that is still counting objects sends an occasional byte.
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "120"),
)

#: Arguments for every git call. Python ignores SIGXFSZ, and git inherits that, so it reports an error instead of dying.
_CALL: t.Final[dict[str, t.Any]] = {"cwd": "/", "umask": 0o022, "restore_signals": False}


class Commands:
    """Run git in an environment in which only our settings count."""

    def __init__(self, environment: t.Mapping[str, str]) -> None:
        inherited = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_SSL_CAINFO")
        self.environment = {
            key: value
            for key, value in environment.items()
            if (not key.startswith("GIT_") or key in inherited) and key not in ("SSH_ASKPASS", "LANGUAGE", "DISPLAY")
        }
        self.environment.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        # Unlike the curl command, libcurl reads neither of these.
        for variable, git_variable in (("SSL_CERT_FILE", "GIT_SSL_CAINFO"), ("SSL_CERT_DIR", "GIT_SSL_CAPATH")):
            if environment.get(variable):
                self.environment.setdefault(git_variable, environment[variable])
        if "GIT_SSH" not in self.environment:
            self.environment.setdefault(
                "GIT_SSH_COMMAND",
                "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15 -o ServerAliveCountMax=4",
            )
        self.environment.update(
            LC_ALL="C",
            GIT_TERMINAL_PROMPT="0",
            GIT_CONFIG_GLOBAL=os.devnull,
            GIT_CONFIG_NOSYSTEM="1",
            GIT_ATTR_NOSYSTEM="1",
            GIT_DEFAULT_HASH="sha1",
            GIT_DEFAULT_REF_FORMAT="files",
            GIT_ALLOW_PROTOCOL="",
        )
        git = shutil.which("git", path=self.environment["PATH"])
        if git is None:
            raise SparkforgeError(
                f"git is not on the PATH {self.environment['PATH']}.",
                "Run the role build_toolchain, which installs it.",
            )
        self.git = git

    def local(self, *arguments: str) -> bytes:
        """Run git without network access and return its output."""
        completed: subprocess.CompletedProcess[bytes] = subprocess.run(
            [self.git, *arguments],
            env=self._with_settings(_SETTINGS), stdin=subprocess.DEVNULL, capture_output=True, check=False, **_CALL,
        )  # fmt: skip
        if completed.returncode:
            raise of_local(completed.stderr.decode("utf-8", "replace"), completed.returncode)
        return completed.stdout

    def remote(self, remote: Remote, arguments: t.Sequence[str], *, data: bytes = b"", say: Say | None = None) -> bytes:
        """Run git with network access and return its output.

        :param data: its standard input.
        :param say: a function that receives occasional progress lines.
        :raises GitError: if it fails.
        """
        settings = list(_SETTINGS)
        if remote.header is not None:
            parts = urllib.parse.urlsplit(remote.url)
            settings.append((f"http.{parts.scheme}://{parts.netloc}/.extraHeader", remote.header))
            # git would send the header to any host that it is redirected to.
            settings.append(("http.followRedirects", "false"))
        environment = self._with_settings(settings)
        environment["GIT_ALLOW_PROTOCOL"] = remote.protocols
        process = subprocess.Popen(
            [self.git, *arguments],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_CALL,
        )  # fmt: skip
        try:
            watcher = _Watcher(t.cast(t.BinaryIO, process.stderr), say)
            watcher.start()
            # If git exits at once, it reads no input.
            with contextlib.suppress(BrokenPipeError):
                t.cast(t.BinaryIO, process.stdin).write(data)
            with contextlib.suppress(BrokenPipeError):
                t.cast(t.BinaryIO, process.stdin).close()
            output: bytes = t.cast(t.BinaryIO, process.stdout).read()
            status = process.wait()
            watcher.join()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if status:
            raise of_remote(watcher.text, status)
        return output

    def _with_settings(self, settings: t.Sequence[tuple[str, str]]) -> dict[str, str]:
        environment = dict(self.environment)
        for number, (key, value) in enumerate(settings):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
        return environment


class _Watcher(threading.Thread):
    """Read git's stderr: keep the end of it and report the progress."""

    _PROGRESS = re.compile(r"(?:Receiving objects|Resolving deltas|Updating files): +\d+%[^\r\n]*")

    def __init__(self, stream: t.BinaryIO, say: Say | None) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.say = say
        self.tail = b""

    def run(self) -> None:
        reported = time.monotonic()
        with contextlib.suppress(OSError, ValueError):
            for block in iter(lambda: os.read(self.stream.fileno(), 65536), b""):
                self.tail = (self.tail + block)[-65536:]
                if self.say is None or time.monotonic() - reported < PROGRESS_SECONDS:
                    continue
                lines = self._PROGRESS.findall(block.decode("utf-8", "replace"))
                if lines:
                    reported = time.monotonic()
                    self.say(lines[-1].strip())

    @property
    def text(self) -> str:
        """git's messages without the progress lines."""
        text = self.tail.decode("utf-8", "replace")
        return re.sub(r"(?:remote: )?[A-Z][a-z]+ [a-z]+: +(?:\d+%|\d+)[^\r\n]*[\r\n]?", "", text)
