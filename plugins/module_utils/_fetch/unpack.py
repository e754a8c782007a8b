"""Unpack an archive, or refuse it and leave the host unchanged.

An archive is read once, member by member, into a directory that nothing refers to yet. Each member is checked before it
is written; the first bad member aborts the extraction and removes the directory. The checks of tarfile's own filters
are repeated here, because Python before 3.12 may lack them. This module also refuses duplicate paths and set-user-ID
bits and limits counts, depths, names and sizes.
"""

from __future__ import annotations

import dataclasses
import os
import posixpath
import shutil
import tarfile
import time
import typing as t

from .._core import directories, disk
from .._core.errors import SparkforgeError
from . import archive_reader

#: Bytes that must remain free on the file system, regardless of the size that an archive claims.
RESERVE = 64 << 20

#: The maximum number of directories in a path, and of characters in all paths together.
DEPTH_LIMIT = 100
NAMES_LIMIT = 128 << 20


_KNOWN_OTHERS: t.Final[tuple[tuple[bytes, str], ...]] = (
    (b"PK\x03\x04", "a zip archive"),
    (b"!<arch>\n", "a Debian package or an ar archive"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
)


class Kind(t.NamedTuple):
    """The expected kind of an archive.

    :ivar name: the noun phrase for the message "is not …"; ``damaged`` is the same for "is damaged or not …".
    :ivar formats: the first bytes of the accepted formats.
    :ivar limit: the maximum number of files, links and directories, including implied directories.
    :ivar one_top: whether everything must be in one top-level directory.
    """

    name: str
    damaged: str
    remedy: str
    formats: t.Sequence[bytes]
    limit: int
    one_top: bool


#: NVIDIA's largest archives have several thousand members.
VENDOR = Kind(
    "a tar archive compressed with xz, gzip or bzip2",
    "a tar archive",
    "Check the archive's URL, and that the mirror has the vendor's complete file, and run again.",
    tuple(archive_reader.COMPRESSED),
    200_000,
    one_top=True,
)
#: LLVM's archive has about 180,000 members.
SOURCES = Kind(
    "a source archive",
    "a tar archive",
    "Its sha256 matches, so use another archive of the source: a .tar.gz, .tar.xz, .tar.bz2 or .tar.",
    (*archive_reader.COMPRESSED, archive_reader.TAR),
    1_000_000,
    one_top=False,
)


@dataclasses.dataclass
class Unpacked:
    """The extracted files. If all are in one top-level directory, that directory is stripped from the paths.

    :param top: the name of that directory.
    :param files: path -> size in bytes.
    :param links: path -> target of the symlink.
    """

    top: str
    files: dict[str, int]
    links: dict[str, str]


def unpack(archive: str, directory: str, label: str | None = None, kind: Kind = VENDOR) -> Unpacked:
    """Unpack ``archive`` into the new ``directory``, without its single top-level directory.

    Files get mode 0644, or 0755 if any account may execute them, and directories 0755; the owner is the calling user.

    :param archive: a verified archive.
    :param directory: the path to create, in an existing directory; it is removed again on every failure.
    :param label: the name of the archive in messages (its URL); defaults to its path.
    :raises SparkforgeError: for a file that is not an archive, is damaged, or would write outside the directory.
    """
    name, complete = label or archive, f"{directory}.unpacked"
    with open(archive, "rb") as stream:
        head = stream.read(512)
    form = archive_reader.form(head)
    if form not in kind.formats:
        others = [text for magic, text in _KNOWN_OTHERS if head.startswith(magic)]
        it_is = f"it is {others[0]}" if others else f"it begins with {head[:16]!r}" if head else "it is empty"
        raise SparkforgeError(f"{name} is not {kind.name}: {it_is}.", kind.remedy)
    disk.remove(complete)  # left by a killed run
    os.mkdir(complete, 0o700)
    try:
        with archive_reader.open_archive(archive, form) as members:
            unpacked = _Extraction(name, complete, kind).all(members)
        os.chmod(complete, 0o755)  # noqa: S103 - libraries and sources are for everybody
        os.rename(os.path.join(complete, unpacked.top), directory)
    except BaseException as error:
        # gzip and bz2 report bad data as an OSError without errno.
        if isinstance(error, archive_reader.DAMAGED) or (isinstance(error, OSError) and error.errno is None):
            reason = (str(error) or type(error).__name__).rstrip(".")
            raise SparkforgeError(f"{name} is damaged or not {kind.damaged}: {reason}.", kind.remedy) from error
        if isinstance(error, OSError):
            raise SparkforgeError(
                f"{name} cannot be unpacked into {directory}: {error.strerror}.",
                "Make sure that the file system is writable and has free space, and run again.",
            ) from error
        raise
    finally:
        disk.remove(complete)
    return unpacked


class _Extraction:
    def __init__(self, name: str, directory: str, kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self.directory = directory
        self.directories: set[str] = {""}
        self.files: dict[str, int] = {}
        self.links: dict[str, str] = {}
        self.tops: dict[str, None] = {}
        self.entries = self.names = 0

    def all(self, members: archive_reader.Members) -> Unpacked:
        for member in members:
            self.extract_member(members, member)
        if not (self.files or self.links):
            raise self.refusal("contains no file")
        top = next(iter(self.tops))
        if len(self.tops) > 1 or top not in self.directories:
            return Unpacked("", self.files, self.links)
        # The top-level directory will be stripped, so links from inside it to a sibling would leave the tree.
        for path, target in self.links.items():
            if _climbs(target)[0] >= path.count("/"):
                raise self.refusal(f"contains the symlink {path!r} to {target!r}, outside the archive's directory")
        below = slice(len(top) + 1, None)
        return Unpacked(
            top,
            {path[below]: size for path, size in self.files.items()},
            {path[below]: target for path, target in self.links.items()},
        )

    def extract_member(self, members: archive_reader.Members, member: tarfile.TarInfo) -> None:
        path = self.normalize(member.name, "the path")
        self.count(path, member.linkname)
        if path:
            self.tops[path.partition("/")[0]] = None
        if len(self.tops) > 1 and self.kind.one_top:
            first, second = list(self.tops)[:2]
            raise self.refusal(f"has more than one top-level directory: {first!r} and {second!r}")
        if member.isdir():  # also "./", as written by `tar -C directory .`
            self.add_directory(path)
            return
        if not path or ("/" not in path and self.kind.one_top):
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

    def normalize(self, name: str, label: str) -> str:
        """Return the normalised path of ``name``, or '' for the archive's root."""
        if name.startswith("/"):
            raise self.refusal(f"contains {label} {name!r}, which is absolute")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise self.refusal(f"contains {label} {name!r}, which leaves the archive with '..'")
        if len(parts) > DEPTH_LIMIT:
            raise self.refusal(f"contains {label} {name!r}, more than {DEPTH_LIMIT} directories deep")
        return "/".join(parts)

    def count(self, *names: str) -> None:
        """Count an entry, because each takes up an inode, and memory in this process."""
        self.entries += 1
        self.names += sum(map(len, names))
        if self.entries > self.kind.limit:
            raise self.refusal(f"has more than {self.kind.limit} members")
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
        climbs, rest = _climbs(target)
        # '..' after another component is resolved from wherever that component's link leads. Only leading '..' are
        # certain to start from a real directory.
        if not target or target.startswith("/") or climbs > path.count("/") or ".." in rest:
            raise self.refusal(f"contains the symlink {member.name!r} to {target!r}, outside the archive")
        os.symlink(target, self.absolute(path))
        self.links[path] = target

    def add_hard_link(self, path: str, member: tarfile.TarInfo) -> None:
        target = self.normalize(member.linkname, "a hard link to")
        if target not in self.files:
            raise self.refusal(
                f"contains the hard link {member.name!r} to {member.linkname!r}, which is not an earlier file"
            )
        os.link(self.absolute(target), self.absolute(path), follow_symlinks=False)
        self.files[path] = self.files[target]

    def add_file(self, path: str, members: archive_reader.Members, member: tarfile.TarInfo) -> None:
        remedy = "Free some space and run again; if the size is implausible, do not trust the archive."
        directories.check_space(self.directory, member.size, f"{member.name!r} of {self.name}", remedy, RESERVE)
        mode = 0o755 if member.mode & 0o111 else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        source = members.extractfile(member)
        if source is None:
            raise self.refusal(f"contains {member.name!r}, which cannot be read")
        descriptor = os.open(self.absolute(path), flags, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
            size = target.tell()
            target.flush()
            os.fchmod(target.fileno(), mode)
        if size != member.size:
            raise tarfile.ReadError(f"{member.name!r} has {size} of {member.size} bytes")
        # Keep the vendor's mtimes, so that unpacking the same version again does not rebuild its dependents.
        stamp = min(max(int(member.mtime), 0), int(time.time()))
        os.utime(self.absolute(path), (stamp, stamp))
        self.files[path] = size

    def absolute(self, path: str) -> str:
        return os.path.join(self.directory, path) if path else self.directory

    def refusal(self, why: str) -> SparkforgeError:
        return SparkforgeError(
            f"The archive {self.name} {why}: it was refused, and no file was kept.",
            "Do not use this archive. Get the vendor's own, and check the mirror that served this one.",
        )


def _climbs(target: str) -> tuple[int, list[str]]:
    """Return how many directories the target of a symlink climbs, and its remaining components."""
    rest = target.split("/")
    climbs = 0
    while rest and rest[0] in ("..", ".", ""):
        climbs += rest.pop(0) == ".."
    return climbs, rest
