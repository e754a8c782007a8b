"""Secrets that a test plants, one for each place that accepts one, and the search for them in files and processes.

All of them start with the same random string, the *mark*, and the search looks only for that: quoting does not change
its letters, and base64 encodes it in three ways, depending on its offset.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import typing as t
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import yaml

from lab import image
from tests.integration.ownership import glob

if t.TYPE_CHECKING:
    from tests.integration.conftest import Host

SEARCH = Path(__file__).with_name("search_files.py")
TABLE = Path(__file__).with_name("data") / "secrets.yml"


@dataclass(frozen=True)
class Planted:
    """The secrets of one test: ``text(label)`` returns a secret, and ``url(label)`` the same quoted for a URL."""

    mark: str = field(default_factory=lambda: secrets.token_hex(10))

    def text(self, label: str) -> str:
        # Include characters that URLs, shells and JSON must quote.
        return f"{self.mark}-{label}-+=%/"

    def url(self, label: str) -> str:
        return quote(self.text(label), safe="")

    def needles(self) -> list[bytes]:
        """Return the byte strings that each secret contains, whether plain or in base64."""
        needles = [self.mark.encode()]
        for offset in range(3):
            encoded = base64.b64encode(b"\0" * offset + self.mark.encode())
            # Leave out the characters that depend on the neighbouring bytes.
            needles.append(encoded[(offset * 8 + 5) // 6 : (offset + len(self.mark)) * 8 // 6])
        return needles


@dataclass(frozen=True)
class Hit:
    """An occurrence of a secret. ``where`` is a path, or a process and one of its parts."""

    where: str
    owner: str = ""
    mode: str = ""


@dataclass
class Found:
    """The counts of files and processes that were searched, and the hits."""

    files: int = 0
    bytes: int = 0
    processes: int = 0
    samples: int = 0
    hits: list[Hit] = field(default_factory=list)

    def __iadd__(self, other: Found) -> Found:
        self.files += other.files
        self.bytes += other.bytes
        self.processes += other.processes
        self.samples += other.samples
        self.hits += other.hits
        return self

    def __str__(self) -> str:
        return (
            f"{len(self.hits)} secrets found in {self.files} files ({self.bytes / 1e6:.0f} MB)"
            f" and {self.processes} processes ({self.samples} samples)"
        )


def _found(answer: str) -> Found:
    answers = json.loads(answer)
    return Found(answers["files"], answers["bytes"], hits=[Hit(*hit) for hit in answers["hits"]])


def _command(planted: Planted, folders: Iterable[str | Path]) -> list[str]:
    # Encode the needles in hexadecimal, so that the search does not find its own command line.
    return ["-", ",".join(needle.hex() for needle in planted.needles()), *map(str, folders)]


def on_host(host: Host, planted: Planted) -> Found:
    """Search all files on a host, including its in-memory file systems, and its journal."""
    command = ["podman", "exec", "-i", host.container, "python3", *_command(planted, ["/", "/run", "/dev/shm", "/tmp"])]
    return _found(subprocess.run(command, input=SEARCH.read_text(), text=True, check=True, capture_output=True).stdout)


def on_controller(planted: Planted, *folders: Path) -> Found:
    """Search files on this machine."""
    command = [sys.executable, *_command(planted, folders)]
    return _found(subprocess.run(command, input=SEARCH.read_text(), text=True, check=True, capture_output=True).stdout)


class Sampler(threading.Thread):
    """Looks at all processes of this machine and of its containers, which share its kernel, as often as possible.

    Any user can read command lines; a process's environment can be read only by its own account and root.
    """

    def __init__(self, planted: Planted) -> None:
        super().__init__(daemon=True)
        self.needles = planted.needles()
        self.ended = threading.Event()
        self.seen: set[tuple[str, float]] = set()
        self.samples = 0
        self.found: dict[tuple[str, str], tuple[int, str]] = {}

    def run(self) -> None:
        while not self.ended.wait(0.01):
            self.samples += 1
            for name in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError):
                    self._look(name)

    def _look(self, pid: str) -> None:
        status = os.stat(f"/proc/{pid}")
        self.seen.add((pid, status.st_ctime))
        for part in ("cmdline", "environ"):
            content = Path(f"/proc/{pid}/{part}").read_bytes()
            if any(needle in content for needle in self.needles):
                self.found[pid, part] = (status.st_uid, Path(f"/proc/{pid}/comm").read_text().strip())

    def end(self, allowed: Iterable[int]) -> Found:
        """Stop, and return the hits.

        :param allowed: accounts whose processes may have a secret in their environment.
        """
        self.ended.set()
        self.join()
        hits = [
            Hit(f"the {part} of the process {program}", str(user))
            for (_pid, part), (user, program) in self.found.items()
            if part == "cmdline" or user not in allowed
        ]
        return Found(processes=len(self.seen), samples=self.samples, hits=hits)


@contextlib.contextmanager
def sampled(planted: Planted) -> Iterator[Sampler]:
    """Sample processes while the caller's block runs."""
    sampler = Sampler(planted)
    sampler.start()
    try:
        yield sampler
    finally:
        sampler.ended.set()


@dataclass(frozen=True)
class Accepted:
    """A file that must hold a secret, with its owner and mode, and the reason."""

    path: str
    owner: str
    mode: str
    why: str

    def covers(self, hit: Hit) -> bool:
        return glob(self.path).fullmatch(hit.where) is not None and (hit.owner, hit.mode) == (self.owner, self.mode)


def accepted() -> list[Accepted]:
    """Return the table of files that may hold secrets."""
    return [Accepted(**row) for row in yaml.safe_load(TABLE.read_text())]


def user_id(host: Host, name: str) -> int:
    """Return the numeric id of a host's account, which is the same on this machine."""
    return int(image.podman("exec", host.container, "id", "-u", name).stdout)
