# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls of git, which gets no configuration but ours.

No hook, no filter, no credential helper, no prompt, no protocol that was not meant.
"""

# Runs in the detached worker too, where there is no module to run commands.
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

#: Seconds between two lines about a transfer that continues.
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
    # One pack for each fetch, whole or absent; loose objects could be half of one.
    ("fetch.unpackLimit", "1"),
    # The tree of a running build shares the packs: nothing is packed again behind its back.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.version", "2"),
    # A connection on which nothing arrives is given up; a server that still counts sends a byte now and then.
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "120"),
)

#: How git is called. Python ignores SIGXFSZ; git must too, so that it says what is wrong instead of dying of it.
_CALL: t.Final[dict[str, t.Any]] = {"cwd": "/", "umask": 0o022, "restore_signals": False}


class Commands:
    """Calls git, with an environment in which nothing but our settings counts."""

    def __init__(self, environment: t.Mapping[str, str]) -> None:
        kept = ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_SSL_CAINFO")
        self.environment = {
            key: value
            for key, value in environment.items()
            if (not key.startswith("GIT_") or key in kept) and key not in ("SSH_ASKPASS", "LANGUAGE", "DISPLAY")
        }
        self.environment.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        # libcurl, unlike its command, reads neither of these.
        for ours, gits in (("SSL_CERT_FILE", "GIT_SSL_CAINFO"), ("SSL_CERT_DIR", "GIT_SSL_CAPATH")):
            if environment.get(ours):
                self.environment.setdefault(gits, environment[ours])
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
        """Call git for what needs no network and return its output.

        :raises GitError: if it fails.
        """
        done: subprocess.CompletedProcess[bytes] = subprocess.run(
            [self.git, *arguments],
            env=self._with(_SETTINGS), stdin=subprocess.DEVNULL, capture_output=True, check=False, **_CALL,
        )  # fmt: skip
        if done.returncode:
            raise of_local(done.stderr.decode("utf-8", "replace"), done.returncode)
        return done.stdout

    def remote(
        self,
        remote: Remote,
        arguments: t.Sequence[str],
        *,
        data: bytes = b"",
        say: Say | None = None,
    ) -> bytes:
        """Call git for what needs the network and return its output.

        :param data: its standard input.
        :param say: gets a line now and then about how far the transfer is.
        :raises GitError: if it fails.
        """
        settings = list(_SETTINGS)
        if remote.header is not None:
            parts = urllib.parse.urlsplit(remote.url)
            settings.append((f"http.{parts.scheme}://{parts.netloc}/.extraHeader", remote.header))
            # git gives the header to whatever host it is redirected to.
            settings.append(("http.followRedirects", "false"))
        environment = self._with(settings)
        environment["GIT_ALLOW_PROTOCOL"] = remote.protocols
        process = subprocess.Popen(
            [self.git, *arguments],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **_CALL,
        )  # fmt: skip
        try:
            watcher = _Watcher(t.cast(t.BinaryIO, process.stderr), say)
            watcher.start()
            # A git that ends at once reads nothing.
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

    def _with(self, settings: t.Sequence[tuple[str, str]]) -> dict[str, str]:
        environment = dict(self.environment)
        for number, (key, value) in enumerate(settings):
            environment[f"GIT_CONFIG_KEY_{number}"] = key
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
        return environment


class _Watcher(threading.Thread):
    """Reads what git says: keeps the end of it, and passes on how far the transfer is."""

    _PROGRESS = re.compile(r"(?:Receiving objects|Resolving deltas|Updating files): +\d+%[^\r\n]*")

    def __init__(self, stream: t.BinaryIO, say: Say | None) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.say = say
        self.tail = b""

    def run(self) -> None:
        said = time.monotonic()
        with contextlib.suppress(OSError, ValueError):
            for block in iter(lambda: os.read(self.stream.fileno(), 65536), b""):
                self.tail = (self.tail + block)[-65536:]
                if self.say is None or time.monotonic() - said < PROGRESS_SECONDS:
                    continue
                lines = self._PROGRESS.findall(block.decode("utf-8", "replace"))
                if lines:
                    said = time.monotonic()
                    self.say(lines[-1].strip())

    @property
    def text(self) -> str:
        """What git said, without the lines about progress."""
        text = self.tail.decode("utf-8", "replace")
        return re.sub(r"(?:remote: )?[A-Z][a-z]+ [a-z]+: +(?:\d+%|\d+)[^\r\n]*[\r\n]?", "", text)
