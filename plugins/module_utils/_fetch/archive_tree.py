# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tree of an archive of sources, which the store keeps under its sha256."""

from __future__ import annotations

import calendar
import contextlib
import dataclasses
import importlib
import math
import os
import re
import stat
import tarfile
import typing as t
import urllib.parse
import urllib.request
import zipfile

from .._core import digests, disk, receipts
from .._core.errors import SparkforgeError
from .._core.redact import redact
from . import archive_reader, http, unpack
from .git import LOCK_SECONDS
from .git_trouble import Patience, Say
from .urls import rewritten

#: Members that an archive of sources may have; LLVM's has about 180,000.
MEMBERS_LIMIT = 1_000_000
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True)
class Archive:
    """A tar or zip archive.

    :param archive: an ``http://``, ``https://`` or ``file://`` URL, or an absolute path on the host.
    :param sha256: 64 hexadecimal digits.
    """

    archive: str
    sha256: str


def archive_tree(
    source: Archive,
    directory: str,
    store: str,
    say: Say,
    environment: t.Mapping[str, str],
    rewrite: t.Mapping[str, str],
    patience: Patience,
) -> dict[str, t.Any]:
    """Unpack ``source`` into the new ``directory``."""
    sha256 = source.sha256.strip().lower()
    url = urllib.parse.quote(source.archive) if source.archive.startswith("/") else rewritten(source.archive, rewrite)
    url = f"file://{url}" if url.startswith("/") else url
    label = redact(source.archive)
    if not _SHA256.fullmatch(sha256):
        raise SparkforgeError(
            f"The archive {label} has no sha256.",
            "Set source.sha256 (64 hexadecimal digits) from a source that you trust.",
        )
    kept = os.path.join(store, sha256)
    with receipts.lock(store, sha256, wait=LOCK_SECONDS):
        if os.path.isfile(kept) and digests.of_file(kept) != sha256:
            say(f"{kept} is damaged; fetching {label} again")
            disk.remove(kept)
        if not os.path.isfile(kept):
            say(f"fetching {label}")
            # As many attempts as fit into the patience, with the pauses of http.fetch (1, 2, 4, 8, 8 … s).
            retries = 3 + math.ceil(patience.seconds / 8)
            with _proxies(environment):
                arrived = http.fetch(url, store, sha256=sha256, retries=retries, setting="source.archive")
            os.chmod(arrived, 0o644)
            os.replace(arrived, kept)
            disk.fsync_directory(store)
    unpacked = f"{directory}.unpacked"
    try:
        disk.remove(unpacked)
        _unpack_tree(kept, unpacked, label)
        top = os.listdir(unpacked)
        only = os.path.join(unpacked, top[0])
        os.rename(only if _is_directory(only) and len(top) == 1 else unpacked, directory)
    finally:
        disk.remove(unpacked)
    return {"sha256": sha256}


@contextlib.contextmanager
def _proxies(environment: t.Mapping[str, str]) -> t.Iterator[None]:
    """Let Python's own HTTP see the proxies and the CA of ``environment``, and no others."""
    names = [f"{scheme}_proxy" for scheme in ("http", "https", "ftp", "all", "no")]
    names = [*names, *(name.upper() for name in names), "SSL_CERT_FILE", "SSL_CERT_DIR"]
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    os.environ.update({name: environment[name] for name in names if name in environment})
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


class _Tree(unpack._Extraction):
    """Unpacks with the guards of ``_fetch.unpack``, and keeps what is at the top: there may be several entries."""

    def split(self, name: str, what: str) -> tuple[str, str]:
        return ".", "/".join(part for part in super().split(name, what) if part)

    def all(self, members: unpack.Members) -> unpack.Unpacked:
        found = super().all(members)
        tops = {path.partition("/")[0] for path in (*self.files, *self.links, *self.directories) if path}
        if len(tops) > 1 or not tops <= self.directories:
            return found
        # The directory at the top will be stripped: what led from within it to beside it would leave the tree.
        for path, target in self.links.items():
            climbs = 0
            for part in target.split("/"):
                if part not in ("..", ".", ""):
                    break
                climbs += part == ".."
            if climbs >= path.count("/") and climbs:
                raise self.refusal(f"contains the symlink {path!r} to {target!r}, outside the archive's directory")
        return found


class _ZipMember(tarfile.TarInfo):
    """A member of a zip archive, in the terms of tar, so that the same guards judge it."""

    info: zipfile.ZipInfo


class _Zip:
    """A zip archive, in the terms of tar."""

    _TYPES: t.Final = {
        0: tarfile.REGTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFDIR: tarfile.DIRTYPE, stat.S_IFLNK: tarfile.SYMTYPE,
        stat.S_IFCHR: tarfile.CHRTYPE, stat.S_IFBLK: tarfile.BLKTYPE, stat.S_IFIFO: tarfile.FIFOTYPE,
    }  # fmt: skip

    def __init__(self, file: zipfile.ZipFile) -> None:
        self.file = file

    def __iter__(self) -> t.Iterator[tarfile.TarInfo]:
        for info in self.file.infolist():
            if "\\" in info.filename:
                raise zipfile.BadZipFile(
                    f"{info.filename!r} contains backslashes, which are not separators in a zip archive"
                )
            # The upper half is the mode, where a Unix made the archive (APPNOTE.TXT 4.4.2, 4.4.15).
            mode = info.external_attr >> 16 if info.create_system == 3 else 0
            member = _ZipMember(info.filename.rstrip("/") or info.filename)
            member.info, member.size, member.mode = info, info.file_size, mode
            member.type = tarfile.DIRTYPE if info.is_dir() else self._TYPES.get(stat.S_IFMT(mode), b"?")
            with contextlib.suppress(ValueError, OverflowError):
                member.mtime = calendar.timegm((*info.date_time, 0, 0, 0))
            if member.issym():
                if info.file_size > 4096:
                    raise zipfile.BadZipFile(f"the symlink {info.filename!r} has {info.file_size} bytes")
                member.linkname = self.file.read(info).decode("utf-8", "surrogateescape")
            yield member

    def extractfile(self, member: tarfile.TarInfo) -> t.IO[bytes] | None:
        return self.file.open(t.cast(_ZipMember, member).info)


def _unpack_tree(archive: str, directory: str, label: str) -> None:
    """Unpack ``archive`` into the new ``directory``; what is at its top stays.

    :raises SparkforgeError: for a file that is not an archive, is damaged, or would write where it must not.
    """
    remedy = "Its sha256 matches, so the original is damaged: use another archive of the source."
    with unpack.filling(directory, label, "an archive of its kind", remedy):
        tree = _Tree(label, directory, MEMBERS_LIMIT)
        head, opener = unpack.head_of(archive)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            with archive_reader.opened_zip(archive) as file:
                tree.all(_Zip(file))
        else:
            with opener(archive) if opener else _opened(archive, head, label) as content:
                tree.all(archive_reader.Members(content))


def _opened(archive: str, head: bytes, label: str) -> t.IO[bytes]:
    if head[257:262] == b"ustar":
        return open(archive, "rb")
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            zstd = importlib.import_module("compression.zstd")  # Python 3.14
        except ImportError:
            raise SparkforgeError(
                f"{label} is compressed with zstd, which this host's Python cannot read.",
                "Use the source as .tar.xz or .tar.gz, with that file's sha256.",
            ) from None
        return t.cast("t.IO[bytes]", zstd.open(archive))
    it_is = f"it begins with {head[:16]!r}" if head else "it is empty"
    raise SparkforgeError(
        f"{label} is not a source archive: {it_is}.",
        "Use a .tar.gz, .tar.xz, .tar.bz2, .tar or .zip.",
    )


def _is_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
