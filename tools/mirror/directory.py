"""The directory of a mirror, and mirror.json in it, which lists every file with its sha256 and origin."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import typing as t

from ...plugins.module_utils._core import digests, disk, receipts
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._core.redact import redact
from ...plugins.module_utils._fetch import http

FORMAT = 1
MANIFEST = "mirror.json"
#: The origin of the files that the mirror writes itself.
OURS = "playbooks/mirror.yml"
SPACE = "Set mirror_directory to a directory that you can write to, with enough free space."
_PART = re.compile(r"[A-Za-z0-9_~+%-][A-Za-z0-9._~+%:!=-]*")


def read_manifest(text: str, path: str) -> dict[str, dict[str, str]]:
    """Return the rows of a mirror's manifest: path -> ``sha256`` and ``from``.

    :raises SparkforgeError: if the text is not a manifest, or names a path outside the mirror.
    """
    try:
        content = json.loads(text)
        rows = {name: {"sha256": row["sha256"], "from": row["from"]} for name, row in content["files"].items()}
        is_valid = content["format"] == FORMAT and all(
            inside(name) and isinstance(row["from"], str) and re.fullmatch(r"[0-9a-f]{64}", row["sha256"])
            for name, row in rows.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise SparkforgeError(
            f"{path} is not a mirror manifest of format {FORMAT}.",
            "Restore it, or move the directory away and run playbooks/mirror.yml again.",
        )
    return rows


def inside(path: str) -> bool:
    """Tell whether a path is inside the mirror and no part of it begins with a dot."""
    return all(_PART.fullmatch(part) for part in path.split("/"))


class Directory:
    """The existing and the added files of the mirror.

    :ivar missing: a line for each file that was missing.
    :ivar broken: repositories that lack an object listed in the manifest.
    """

    def __init__(self, root: str, *, check: bool, say: t.Callable[[str], None]) -> None:
        self.root = root
        self.check = check
        self.say = say
        self.rows: dict[str, dict[str, str]] = {}
        self.missing: list[str] = []
        self.changed = False
        self.broken: set[str] = set()
        self._verified: set[str] = set()
        manifest = self.at(MANIFEST)
        if os.path.exists(manifest):
            try:
                with open(manifest, encoding="utf-8") as stream:
                    self.rows = read_manifest(stream.read(), manifest)
            except (OSError, UnicodeDecodeError) as error:
                raise SparkforgeError(f"{manifest} cannot be read: {error}.", SPACE) from error

    def at(self, path: str) -> str:
        """Return the absolute path of a file in the mirror; all accesses go through this method.

        :raises SparkforgeError: if the path is outside the mirror.
        """
        if not inside(path):
            raise SparkforgeError(
                f"{path[:200]!r} is not a path inside the mirror.",
                "Correct the source with this URL in the stack or the lock.",
            )
        return os.path.join(self.root, path)

    @contextlib.contextmanager
    def alone(self) -> t.Iterator[None]:
        """Lock the mirror for this run, and remove partial files of a killed run; do neither in check mode.

        :raises SparkforgeError: if another run holds the lock.
        """
        if self.check:
            yield
            return
        with receipts.lock(self.root, "mirror", wait=0):
            for folder, _names, files in os.walk(self.root):
                for name in files:
                    if name.startswith(".fetch-"):
                        disk.remove(os.path.join(folder, name))
            yield

    def verify(self) -> None:
        """Verify every file in the manifest, and forget missing ones.

        :raises SparkforgeError: if a file was changed.
        """
        for path, row in list(self.rows.items()):
            # The mirror's own files are written again anyway.
            if row["from"] != OURS and not self.has(path):
                del self.rows[path]
                if path.startswith("git/"):
                    self.broken.add("/".join(path.split("/")[:2]))

    def has(self, path: str, sha256: str | None = None) -> bool:
        """Tell whether a file exists and matches the manifest and the pin.

        :raises SparkforgeError: if the file does not match.
        """
        row, file = self.rows.get(path), self.at(path)
        pins = {digest for digest in (sha256, row["sha256"] if row else None) if digest}
        if not os.path.isfile(file) or not pins:
            return False
        if path not in self._verified or len(pins) > 1:
            actual = digests.of_file(file)
            if pins != {actual}:
                raise SparkforgeError(
                    f"{file} has sha256 {actual}, expected {' or '.join(sorted(pins))}: the file was changed.",
                    "Find out who changed it; to fetch it again, remove the file and its line in mirror.json.",
                    actual=actual,
                )
            self._verified.add(path)
        return True

    def record(self, path: str, sha256: str, source: str, *, save: bool = True) -> None:
        """Record a file in the manifest, which is written immediately, so that an interrupted run continues from there.

        :param save: whether to write the manifest now; False for a caller that records many files.
        """
        row = {"sha256": sha256, "from": redact(source)}
        self._verified.add(path)
        if self.rows.get(path) == row:
            return
        self.rows[path] = row
        self.changed = True
        if save and not self.check:
            self.save()

    def lack(self, line: str) -> None:
        """Record a missing file once."""
        self.changed = True
        if line not in self.missing:
            self.missing.append(line)

    def save(self) -> None:
        content = {"format": FORMAT, "files": dict(sorted(self.rows.items()))}
        self._write(MANIFEST, json.dumps(content, indent=1).encode() + b"\n")

    def fetch(
        self, path: str, url: str, sha256: str | None = None, *, limit: int | None = None, source: str = ""
    ) -> None:
        """Fetch a file into the mirror unless it exists.

        :param source: the origin for the manifest, if it is not the URL.
        :raises SparkforgeError: if the file cannot be fetched, differs from the pin, or does not fit on the disk.
        """
        if self.has(path, sha256):
            if path not in self.rows and sha256:
                self.record(path, sha256, source or url)
            return
        self.lack(f"fetch {redact(url)}")
        if self.check:
            return
        self.say(f"fetching {redact(url)}")
        target = self.at(path)
        try:
            disk.make_directories(os.path.dirname(target))
            arrived = http.fetch(
                url, os.path.dirname(target), sha256=sha256, setting="the mirror's source", max_bytes=limit
            )
            os.chmod(arrived, 0o644)
            os.replace(arrived, target)
        except OSError as error:
            raise SparkforgeError(f"{target} cannot be written: {error.strerror or error}.", SPACE) from error
        self.record(path, sha256 or digests.of_file(target), source or url)

    def write(self, path: str, content: bytes, source: str) -> None:
        """Write content that was generated or already fetched into the mirror."""
        digest = hashlib.sha256(content).hexdigest()
        row = self.rows.get(path)
        if os.path.isfile(self.at(path)) and row is not None and row["sha256"] == digest and self.has(path):
            return
        self.lack(f"write {path}")
        if not self.check:
            self._write(path, content)
            self.record(path, digest, source)

    def _write(self, path: str, content: bytes) -> None:
        try:
            disk.write_file(self.at(path), content)
        except SparkforgeError as error:
            raise SparkforgeError(error.cause, SPACE) from error
