# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One apt source over the network, with its keyring.

A keyring is let in only when each of its primary keys is the pinned one; a source names its keyring with
Signed-By; the package lists of that source alone are fetched; and what fails is taken back whole.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import stat
import typing as t
import urllib.parse

from .._core import disk, phrases
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
    """Return a URL in the one form in which two that mean the same are equal.

    The trailing slashes go, the host is lowered, and ``file:///var``, ``file:/var`` and ``copy:/var`` are
    one.
    """
    try:
        parts = urllib.parse.urlsplit(url.strip())
    except ValueError:
        # apt does not understand it either, and says so.
        return url.strip()
    scheme = parts.scheme.lower()
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    if scheme in ("file", "copy"):
        return f"file:{path}"
    return urllib.parse.urlunsplit((scheme, parts.netloc.lower(), path, parts.query, ""))


def lists_prefix(url: str) -> str:
    """Return how the names of the package lists of ``url`` begin in /var/lib/apt/lists."""
    parts = urllib.parse.urlsplit(canonical(url))
    text = f"{parts.netloc.rpartition('@')[2]}{parts.path}/"
    quoted = "".join(f"%{ord(c):02x}" if c in _QUOTED or not 0x20 < ord(c) < 0x7F else c for c in text)
    return quoted.replace("/", "_")


def find_source(sources: t.Iterable[t.Mapping[str, t.Any]], url: str) -> list[t.Mapping[str, t.Any]]:
    """Return the enabled entries for binary packages of the flat repository at this URL, whatever their file."""
    return [
        row
        for row in sources
        if row["enabled"]
        and "deb" in row["types"]
        and canonical(url) in {canonical(uri) for uri in row["uris"]}
        and (not row["suites"] or not {"/", "./"}.isdisjoint(row["suites"]))
    ]


def render_source(url: str, keyring: str) -> bytes:
    """Return a deb822 source (sources.list(5)) of a flat repository."""
    return (
        "# Written by sparkforge.dgx_spark; `state: absent` takes it away again.\n"
        f"Types: deb\nURIs: {url.rstrip('/')}/\nSuites: /\nSigned-By: {keyring}\n"
    ).encode()


def _lists(url: str) -> list[str]:
    return glob.glob(os.path.join(LISTS, glob.escape(lists_prefix(url)) + "*"))


def has_lists(url: str) -> bool:
    """Tell whether the package lists of ``url`` were fetched, and no power loss emptied one: apt would not notice."""
    found = _lists(url)
    return bool(found) and not any(map(_is_empty, found))


def _is_empty(path: str) -> bool:
    try:
        return os.path.getsize(path) == 0
    except OSError:
        # A link into a local repository that is gone.
        return True


def update_lists(apt: Apt, file: str, url: str) -> None:
    """Fetch the package lists of ``url``, which the source ``file`` names, and have them on disk.

    :raises SparkforgeError: of apt, or where the disk does not take them.
    """
    for path in filter(_is_empty, _lists(url)):
        # apt leaves what is there while the release file is as it was.
        disk.delete(path)
    apt.update_source(file)
    try:
        for path in _lists(url):
            disk.fsync_file(path)
        disk.fsync_directory(LISTS)
    except OSError as error:
        raise disk.failed(f"The package lists in {LISTS} cannot be saved", error) from error


def remove_lists(url: str) -> None:
    """Remove the package lists of ``url``: apt itself would do so at the next full update only."""
    for path in _lists(url):
        with contextlib.suppress(OSError):
            os.unlink(path)


class Rollback:
    """Remembers files before they change, and puts all of them back."""

    def __init__(self) -> None:
        self._before: list[tuple[str, bytes | None, int]] = []

    def write(self, path: str, content: bytes) -> None:
        self._remember(path)
        disk.write_file(path, content)

    def unlink(self, path: str) -> None:
        self._remember(path)
        disk.delete(path)

    def _remember(self, path: str) -> None:
        content = disk.read(path)
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

    :param options: of the module ``apt_source``.
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
        """Add the source where no other file has it; converge our own where it is ours."""
        found = find_source(self._apt.state.sources(), self._url)
        others = sorted({str(row["file"]) for row in found if row["file"] != self.file})
        if others:
            return self._leave_to(others)
        if self._key_url is None or self._fingerprint is None:
            raise SparkforgeError(
                f"No enabled apt source has {self._url}, and no key is set to add it.",
                "Set key_url and key_fingerprint.",
            )
        wanted = render_source(self._url, self.keyring)
        have, ring = disk.read(self.file), disk.read(self.keyring)
        # A run that was killed between the source and its package lists has left the source alone.
        fetched = has_lists(self._url)
        if have == wanted and ring is not None and self._is_pinned(ring) and fetched:
            return self._result(False, self.file, have, wanted)
        if not self._check_mode:
            self._add(wanted)
        return self._result(True, self.file, have if have is None or fetched else have + _NO_LISTS, wanted)

    def _is_pinned(self, ring: bytes) -> bool:
        try:
            return openpgp.primary_fingerprints(ring) == [self._fingerprint]
        except SparkforgeError:
            return False

    def _leave_to(self, others: t.Sequence[str]) -> dict[str, t.Any]:
        """Use the source that is there already; ours beside it would be the Signed-By conflict."""
        have = disk.read(self.file)
        if have is not None and not self._check_mode:
            disk.delete(self.file)
            disk.delete(self.keyring)
        result = self._result(have is not None, others[0], have, None)
        if have is None:
            result["diff"] = {"before": "", "after": ""}
        return result

    def _add(self, wanted: bytes) -> None:
        key_url = t.cast(str, self._key_url)
        key = fetch_bytes(key_url, limit=1 << 20)
        ring = openpgp.require_fingerprint(key, t.cast(str, self._fingerprint), key_url)
        files = Rollback()
        try:
            files.write(self.keyring, ring)
            files.write(self.file, wanted)
            update_lists(self._apt, self.file, self._url)
        except BaseException:
            files.undo()
            if disk.read(self.file) is None:
                remove_lists(self._url)
            raise

    def absent(self) -> dict[str, t.Any]:
        """Remove our source and keyring; a source of somebody else stays."""
        have, ring = disk.read(self.file), disk.read(self.keyring)
        changed = have is not None or ring is not None
        if changed and not self._check_mode:
            urls = [uri for row in self._apt.state.sources() if row["file"] == self.file for uri in row["uris"]]
            disk.delete(self.file)
            disk.delete(self.keyring)
            for url in urls:
                remove_lists(url)
        return self._result(changed, self.file, have, None)

    def _result(self, changed: bool, file: str, before: bytes | None, after: bytes | None) -> dict[str, t.Any]:
        texts = ((content or b"").decode("utf-8", "replace") for content in (before, after))
        keyring = self.keyring if file == self.file else None
        return {"changed": changed, "file": file, "keyring": keyring, "diff": phrases.diff(self.file, *texts)}
