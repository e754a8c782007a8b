# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unpack a vendor's tar archive, or refuse it and leave the host as it was.

An archive is read once, member by member, into a directory that nothing refers to yet. Each member is judged
before it is written; the first bad one ends the work and takes the directory with it. What tarfile's own
filters check is checked here, for Python before 3.12 may lack them, and more: a vendor's archive has one
directory at its top, no path twice, no set-user-ID bits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import posixpath
import tarfile
import time
import typing as t

from .._core import digests, disk
from .._core.errors import SparkforgeError
from . import archive_reader

#: Bytes that stay free on the file system, whatever an archive claims to need.
RESERVE = 64 << 20

#: Files, links and directories that an archive may have, and those that it only implies; the largest that NVIDIA
#: publishes has some thousands.
MEMBERS_LIMIT = 200_000

#: Directories that a path may have, and characters that all paths may have together.
DEPTH_LIMIT = 100
NAMES_LIMIT = 128 << 20


_KNOWN_OTHERS: t.Final[tuple[tuple[bytes, str], ...]] = (
    (b"PK\x03\x04", "a zip archive"),
    (b"!<arch>\n", "a Debian package or an ar archive"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"\xed\xab\xee\xdb", "an RPM package"),
    (b"\x7fELF", "an ELF file"),
)


@dataclasses.dataclass
class Unpacked:
    """What was written: paths below the archive's top directory, which is stripped.

    :param top: the name of that directory.
    :param files: path -> size in bytes.
    :param digests: path -> sha256 of the content.
    :param links: path -> target of the symlink.
    """

    top: str
    files: dict[str, int]
    digests: dict[str, str]
    links: dict[str, str]

    @property
    def size(self) -> int:
        return sum(self.files.values())


def unpack(archive: str, directory: str, label: str | None = None) -> Unpacked:
    """Unpack ``archive`` into the new ``directory``, without the single directory at its top.

    Files get mode 0644, or 0755 where anybody may execute them; directories 0755; the owner is who runs this.

    :param archive: a tar archive compressed with xz, gzip or bzip2, already verified.
    :param directory: must not exist, its parent must; it is removed again on every failure.
    :param label: how messages call the archive (its URL); its path where this is None.
    :raises SparkforgeError: for a file that is not an archive, is damaged, or would write where it must not.
    """
    name = label or archive
    opener = _opener(archive, name)
    remedy = "Check that the mirror has the vendor's complete file, and run again."
    with filling(directory, name, "a tar archive", remedy), opener(archive) as stream:
        return _Extraction(name, directory, MEMBERS_LIMIT).all(archive_reader.Members(stream))


@contextlib.contextmanager
def filling(directory: str, name: str, kind: str, remedy: str) -> t.Iterator[None]:
    """Make ``directory`` for what is unpacked meanwhile; remove it if that fails.

    :param name: how messages call the archive. :param kind: what it is not if it is damaged, and then the ``remedy``.
    :raises SparkforgeError: for what reading a damaged archive and writing raise.
    """
    os.mkdir(directory, 0o700)
    try:
        yield
        os.chmod(directory, 0o755)  # noqa: S103 - libraries and sources are for everybody
    except BaseException as error:
        disk.remove(directory)
        # gzip and bz2 report bad data as an OSError without a number.
        if isinstance(error, archive_reader.DAMAGED) or (isinstance(error, OSError) and error.errno is None):
            reason = (str(error) or type(error).__name__).rstrip(".")
            raise SparkforgeError(f"{name} is damaged or not {kind}: {reason}.", remedy) from error
        if isinstance(error, OSError):
            raise SparkforgeError(
                f"{name} cannot be unpacked into {directory}: {error.strerror}.",
                "Make sure that the file system is writable and has free space, and run again.",
            ) from error
        raise


def head_of(archive: str) -> tuple[bytes, t.Callable[[str], t.Any] | None]:
    """Return the first bytes of a file, and what reads it where it is compressed."""
    with open(archive, "rb") as stream:
        head = stream.read(512)
    return head, next((opener for magic, opener in archive_reader.OPENERS if head.startswith(magic)), None)


def _opener(archive: str, name: str) -> t.Callable[[str], t.Any]:
    head, opener = head_of(archive)
    if opener:
        return opener
    kinds = [kind for magic, kind in _KNOWN_OTHERS if head.startswith(magic)]
    it_is = f"it is {kinds[0]}" if kinds else f"it begins with {head[:16]!r}" if head else "it is empty"
    raise SparkforgeError(
        f"{name} is not a tar archive compressed with xz, gzip or bzip2: {it_is}.",
        "Check the archive's URL, and that the mirror has the vendor's file.",
    )


class Members(t.Protocol):
    """What an archive must be able to do to be unpacked."""

    def __iter__(self) -> t.Iterator[tarfile.TarInfo]: ...

    def extractfile(self, member: tarfile.TarInfo) -> t.IO[bytes] | None: ...


class _Extraction:
    """The state of one pass over an archive."""

    def __init__(self, name: str, directory: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.directory = directory
        self.top = ""
        self.directories: set[str] = {""}
        self.files: dict[str, int] = {}
        self.digests: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.entries = self.names = 0

    def all(self, members: Members) -> Unpacked:
        for member in members:
            self.one(members, member)
        if not (self.files or self.links):
            raise self.refusal("contains no file")
        return Unpacked(self.top, self.files, self.digests, self.links)

    def one(self, members: Members, member: tarfile.TarInfo) -> None:
        path = self.path_of(member)
        self.count(path, member.linkname)
        if member.isdir():
            self.add_directory(path)
            return
        if not path:
            raise self.refusal(f"has {member.name!r}, which is not a directory, at the top level")
        if path in self.files or path in self.links or path in self.directories:
            raise self.refusal(f"contains {member.name!r} twice")
        self.add_directory(posixpath.dirname(path))
        if member.issym():
            self.add_symlink(path, member)
        elif member.islnk():
            self.add_hard_link(path, member)
        elif member.isreg():
            self.add_file(path, members, member)
        elif member.ischr() or member.isblk():
            raise self.refusal(f"contains the device node {member.name!r}")
        elif member.isfifo():
            raise self.refusal(f"contains the named pipe {member.name!r}")
        else:
            raise self.refusal(f"contains {member.name!r} of the unknown type {member.type!r}")

    def path_of(self, member: tarfile.TarInfo) -> str:
        """Return where ``member`` belongs, below the top directory; '' for that directory itself."""
        top, path = self.split(member.name, "the path")
        if not top:
            if member.isdir():  # "./", as `tar -C directory .` writes it
                return ""
            raise self.refusal(f"has {member.name!r} at the top level")
        if not self.top:
            self.top = top
        elif top != self.top:
            raise self.refusal(f"has more than one top-level directory: {self.top!r} and {top!r}")
        return path

    def split(self, name: str, what: str) -> tuple[str, str]:
        if name.startswith("/"):
            raise self.refusal(f"contains {what} {name!r}, which is absolute")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise self.refusal(f"contains {what} {name!r}, which leaves the archive with '..'")
        if len(parts) > DEPTH_LIMIT:
            raise self.refusal(f"contains {what} {name!r}, more than {DEPTH_LIMIT} directories deep")
        return (parts[0] if parts else ""), "/".join(parts[1:])

    def count(self, *names: str) -> None:
        """Count an entry, which takes an inode, and memory here."""
        self.entries += 1
        self.names += sum(map(len, names))
        if self.entries > self.limit:
            raise self.refusal(f"has more than {self.limit} members")
        if self.names > NAMES_LIMIT:
            raise self.refusal(f"has names of more than {NAMES_LIMIT >> 20} MiB")

    def add_directory(self, path: str) -> None:
        missing: list[str] = []
        while path not in self.directories:
            if path in self.links:
                raise self.refusal(f"contains the symlink {path!r} and writes through it")
            if path in self.files:
                raise self.refusal(f"contains {path!r} as both a file and a directory")
            missing.append(path)
            path = posixpath.dirname(path)
        for directory in reversed(missing):
            self.count(directory)
            os.mkdir(self.absolute(directory))
            os.chmod(self.absolute(directory), 0o755)  # noqa: S103 - libraries are for everybody
            self.directories.add(directory)

    def add_symlink(self, path: str, member: tarfile.TarInfo) -> None:
        target = member.linkname
        climbs, rest = 0, target.split("/")
        while rest and rest[0] in ("..", ".", ""):
            climbs += rest.pop(0) == ".."
        # Behind another name '..' would be taken from wherever that name's link leads: only leading ones are
        # sure to be counted from a real directory.
        depth = path.count("/")
        if not target or target.startswith("/") or climbs > depth or ".." in rest:
            raise self.refusal(f"contains the symlink {member.name!r} to {target!r}, outside the archive")
        os.symlink(target, self.absolute(path))
        self.links[path] = target

    def add_hard_link(self, path: str, member: tarfile.TarInfo) -> None:
        top, target = self.split(member.linkname, "a hard link to")
        if top != self.top or target not in self.files:
            raise self.refusal(
                f"contains the hard link {member.name!r} to {member.linkname!r}, which is not an earlier file"
            )
        os.link(self.absolute(target), self.absolute(path), follow_symlinks=False)
        self.files[path], self.digests[path] = self.files[target], self.digests[target]

    def add_file(self, path: str, members: Members, member: tarfile.TarInfo) -> None:
        remedy = "Free some space and run again; if the size is implausible, do not trust the archive."
        disk.check_space(self.directory, member.size, f"{member.name!r} of {self.name}", remedy, RESERVE)
        mode = 0o755 if member.mode & 0o111 else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        source = members.extractfile(member)
        if source is None:
            raise self.refusal(f"contains {member.name!r}, which cannot be read")
        descriptor = os.open(self.absolute(path), flags, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            self.digests[path] = digests.of_stream(source, target)
            size = target.tell()
            target.flush()
            os.fchmod(target.fileno(), mode)
        if size != member.size:
            raise tarfile.ReadError(f"{member.name!r} has {size} of {member.size} bytes")
        # The vendor's times stay, so that unpacking the same version again rebuilds nothing that uses it.
        stamp = min(max(int(member.mtime), 0), int(time.time()))
        os.utime(self.absolute(path), (stamp, stamp))
        self.files[path] = size

    def absolute(self, path: str) -> str:
        return os.path.join(self.directory, path) if path else self.directory

    def refusal(self, why: str) -> SparkforgeError:
        return SparkforgeError(
            f"The archive {self.name} {why}: refused, and nothing was kept.",
            "Do not use this archive. Get the vendor's own, and check the mirror that served this one.",
        )
