"""One apt source over the network, with its keyring.

A keyring is accepted only if its only primary key is the pinned one; the source refers to it with Signed-By. Only the
package lists of that source are fetched. A failure undoes all changes.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import stat
import typing as t
import urllib.parse

from .._core import contents, disk, phrases
from .._core.errors import SparkforgeError
from .._fetch.http import fetch_bytes
from . import openpgp
from .apt_get import Apt

KEYRINGS = "/usr/share/keyrings"
SOURCES = "/etc/apt/sources.list.d"
LISTS = "/var/lib/apt/lists"
# apt escapes these in the file names of its package lists (URItoFileName in apt-pkg/contrib/strutl.cc).
_QUOTED = '\\|{}[]<>"^~_=!@#$%^&*'
_NO_LISTS = b"# Its package lists are not here.\n"
_NAME = re.compile(r"^[a-z0-9][a-z0-9.-]*$")


def canonical(url: str) -> str:
    """Return the canonical form of a URL, so that equivalent URLs compare equal.

    Trailing slashes are removed, the host is lower-cased, and ``file:///var``, ``file:/var`` and ``copy:/var`` are the
    same.
    """
    try:
        parts = urllib.parse.urlsplit(url.strip())
    except ValueError:
        # apt rejects it too, with its own error.
        return url.strip()
    scheme = parts.scheme.lower()
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    if scheme in ("file", "copy"):
        return f"file:{path}"
    return urllib.parse.urlunsplit((scheme, parts.netloc.lower(), path, parts.query, ""))


def lists_prefix(url: str) -> str:
    """Return the prefix of the names of ``url``'s package lists in /var/lib/apt/lists."""
    parts = urllib.parse.urlsplit(canonical(url))
    text = f"{parts.netloc.rpartition('@')[2]}{parts.path}/"
    quoted = "".join(f"%{ord(c):02x}" if c in _QUOTED or not 0x20 < ord(c) < 0x7F else c for c in text)
    return quoted.replace("/", "_")


def find_source(sources: t.Iterable[t.Mapping[str, t.Any]], url: str) -> list[t.Mapping[str, t.Any]]:
    """Return the enabled binary-package entries for the flat repository at this URL, from any file."""
    return [
        row
        for row in sources
        if row["enabled"]
        and "deb" in row["types"]
        and canonical(url) in {canonical(uri) for uri in row["uris"]}
        and (not row["suites"] or not {"/", "./"}.isdisjoint(row["suites"]))
    ]


def render_source(url: str, keyring: str) -> bytes:
    """Return a deb822 source (sources.list(5)) for a flat repository."""
    return (
        "# Written by sparkforge.dgx_spark; `state: absent` takes it away again.\n"
        f"Types: deb\nURIs: {url.rstrip('/')}/\nSuites: /\nSigned-By: {keyring}\n"
    ).encode()


def _lists(url: str) -> list[str]:
    return glob.glob(os.path.join(LISTS, glob.escape(lists_prefix(url)) + "*"))


def has_lists(url: str) -> bool:
    """Tell whether ``url``'s package lists exist and none is empty: apt ignores a list that a power loss emptied."""
    paths = _lists(url)
    return bool(paths) and not any(map(_is_empty, paths))


def _is_empty(path: str) -> bool:
    try:
        return os.path.getsize(path) == 0
    except OSError:
        # This is a dangling link into a removed local repository.
        return True


def update_lists(apt: Apt, file: str, url: str) -> None:
    """Fetch the package lists of ``url``, which the source ``file`` names, and sync them to disk.

    :raises SparkforgeError: if apt fails, or the lists cannot be synced.
    """
    for path in filter(_is_empty, _lists(url)):
        # apt keeps existing lists as long as the release file is unchanged.
        disk.delete(path)
    apt.update_source(file)
    try:
        for path in _lists(url):
            disk.fsync(path)
        disk.fsync(LISTS)
    except OSError as error:
        raise disk.io_error(f"The package lists in {LISTS} cannot be saved", error) from error


def remove_lists(url: str) -> None:
    """Remove the package lists of ``url``; apt itself would only do so at the next full update."""
    for path in _lists(url):
        with contextlib.suppress(OSError):
            os.unlink(path)


class Rollback:
    """Save files before they change, so that all of them can be restored."""

    def __init__(self) -> None:
        self._before: list[tuple[str, bytes | None, int]] = []

    def write(self, path: str, content: bytes) -> None:
        self._save_original(path)
        disk.write_file(path, content)

    def unlink(self, path: str) -> None:
        self._save_original(path)
        disk.delete(path)

    def _save_original(self, path: str) -> None:
        content = contents.read(path)
        mode = 0o644 if content is None else stat.S_IMODE(os.stat(path).st_mode)
        self._before.append((path, content, mode))

    def undo(self) -> None:
        for path, content, mode in reversed(self._before):
            if content is None:
                disk.delete(path)
            else:
                disk.write_file(path, content, mode)


class Source:
    """One apt source over the network, with its keyring.

    :param options: the options of the module ``apt_source``.
    """

    def __init__(self, apt: Apt, options: t.Mapping[str, t.Any], check_mode: bool) -> None:
        name, url = options["name"], options["url"]
        if not _NAME.match(name):
            raise SparkforgeError(
                f"{name!r} is not a valid name for an apt source.",
                "Use lower-case letters, digits, '.' and '-': apt ignores other file names.",
            )
        scheme = urllib.parse.urlsplit(url or "").scheme
        if url is not None and (scheme not in ("http", "https", "file") or re.search(r"\s", url)):
            raise SparkforgeError(f"{url!r} is not the URL of an apt repository.", "Use an http, https or file URL.")
        self._apt, self._check_mode = apt, check_mode
        self._url: str = url or ""
        self._key_url: str | None = options["key_url"]
        key = options["key_fingerprint"]
        self._fingerprint = openpgp.normalise_fingerprint(key) if key else None
        self.file = f"{SOURCES}/sparkforge-{name}.sources"
        self.keyring = f"{KEYRINGS}/sparkforge-{name}.gpg"

    def present(self) -> dict[str, t.Any]:
        """Add or update our source, unless another file already has it."""
        entries = find_source(self._apt.state.sources(), self._url)
        others = sorted({str(row["file"]) for row in entries if row["file"] != self.file})
        if others:
            return self._leave_to(others)
        if self._key_url is None or self._fingerprint is None:
            raise SparkforgeError(
                f"No enabled apt source has {self._url}, and no key is set to add it.",
                "Set key_url and key_fingerprint.",
            )
        content = render_source(self._url, self.keyring)
        former, ring = contents.read(self.file), contents.read(self.keyring)
        # A run that was killed before it fetched the package lists left only the source.
        fetched = has_lists(self._url)
        if former == content and ring is not None and self._is_pinned(ring) and fetched:
            return self._result(False, self.file, former, content)
        if not self._check_mode:
            self._add(content)
        return self._result(True, self.file, former if former is None or fetched else former + _NO_LISTS, content)

    def _is_pinned(self, ring: bytes) -> bool:
        try:
            return openpgp.primary_fingerprints(ring) == [self._fingerprint]
        except SparkforgeError:
            return False

    def _leave_to(self, others: t.Sequence[str]) -> dict[str, t.Any]:
        """Use the existing source and remove ours, because both together would cause a Signed-By conflict."""
        former = contents.read(self.file)
        if former is not None and not self._check_mode:
            disk.delete(self.file)
            disk.delete(self.keyring)
        result = self._result(former is not None, others[0], former, None)
        if former is None:
            result["diff"] = {"before": "", "after": ""}
        return result

    def _add(self, content: bytes) -> None:
        key_url = t.cast(str, self._key_url)
        key = fetch_bytes(key_url, limit=1 << 20)
        ring = openpgp.require_fingerprint(key, t.cast(str, self._fingerprint), key_url)
        files = Rollback()
        try:
            files.write(self.keyring, ring)
            files.write(self.file, content)
            update_lists(self._apt, self.file, self._url)
        except BaseException:
            files.undo()
            if contents.read(self.file) is None:
                remove_lists(self._url)
            raise

    def absent(self) -> dict[str, t.Any]:
        """Remove our source and keyring, but no other source."""
        former, ring = contents.read(self.file), contents.read(self.keyring)
        changed = former is not None or ring is not None
        if changed and not self._check_mode:
            urls = [uri for row in self._apt.state.sources() if row["file"] == self.file for uri in row["uris"]]
            disk.delete(self.file)
            disk.delete(self.keyring)
            for url in urls:
                remove_lists(url)
        return self._result(changed, self.file, former, None)

    def _result(self, changed: bool, file: str, before: bytes | None, after: bytes | None) -> dict[str, t.Any]:
        texts = ((content or b"").decode("utf-8", "replace") for content in (before, after))
        keyring = self.keyring if file == self.file else None
        return {"changed": changed, "file": file, "keyring": keyring, "diff": phrases.diff(self.file, *texts)}
