"""A root file system as its own processes see it: this host's, or one in a directory.

A root in a directory may contain traps: links that lead out of it, FIFOs instead of files, endless files and
directories. A :class:`FileSystem` therefore limits all its reads.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
import stat
import typing as t

from .._core import disk
from .._core.deadline import NEVER, Deadline
from .._core.errors import SparkforgeError

#: The maximum nesting of directories. Environments in an image have twelve levels, and no node_modules tree has fifty.
DEPTH_LIMIT = 100
#: The maximum number of names in a directory. Data sets in a single directory have a million.
NAMES_LIMIT = 2_000_000
#: The size limit in bytes for a file that is read at once; the ld.so.cache of a full desktop has 200 KB.
SMALL_LIMIT = 16 << 20
#: The maximum number of files included by ld.so.conf; a host with all of CUDA has a dozen.
INCLUDES_LIMIT = 200


class LinkLoopError(SparkforgeError):
    """Symbolic links form a loop."""


class FileSystem:
    """A root file system: this host's, or one in a directory.

    Symbolic links are resolved inside the root: ``/etc/alternatives/x`` in a chroot refers to the chroot's own file.

    :param deadline: the time limit for all reading.
    """

    def __init__(self, root: str = "/", deadline: Deadline = NEVER) -> None:
        self.root = os.path.realpath(root)
        self.deadline = deadline
        self._listings: dict[str, frozenset[str]] = {}

    def outside(self, path: str) -> str:
        """Return the path under which this process reaches ``path``.

        :raises LinkLoopError: if the links form a loop.
        :raises SparkforgeError: if the time limit is exceeded.
        """
        self.deadline.check()
        if self.root == "/":
            return path
        pending = [part for part in path.split("/") if part]
        reached: list[str] = []
        links = 0
        while pending:
            part = pending.pop(0)
            if part == ".":
                continue
            if part == "..":
                del reached[-1:]
                continue
            candidate = os.path.join(self.root, *reached, part)
            try:
                target = os.readlink(candidate)
            except (OSError, ValueError):  # ValueError: a name with a NUL byte
                reached.append(part)
                continue
            links += 1
            if links > 40:  # the kernel's own limit (MAXSYMLINKS)
                raise LinkLoopError(
                    f"The symbolic links of {path} below {self.root} form a loop.",
                    "Remove or correct one of them.",
                    path=path,
                )
            if target.startswith("/"):
                reached = []
            pending = [piece for piece in target.split("/") if piece] + pending
        return os.path.join(self.root, *reached)

    def inside(self, path: str) -> str:
        """Return the path inside this root for a result of ``outside``."""
        if self.root == "/":
            return path
        return "/" + os.path.relpath(path, self.root)

    def real(self, path: str) -> str:
        """Return ``path`` with all symbolic links resolved, inside this root."""
        if self.root == "/":
            return os.path.realpath(path)
        return self.inside(self.outside(path))

    def names(self, directory: str) -> frozenset[str]:
        """Return the names in a directory, or none if it is unreadable. Each directory is read only once."""
        listing = self._listings.get(directory)
        if listing is None:
            try:
                listing = frozenset(name for name, _is_directory in self._entries(self.outside(directory)))
            except (OSError, ValueError, LinkLoopError):
                listing = frozenset()
            self._listings[directory] = listing
        return listing

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return the device and inode of a regular file, or None."""
        try:
            status = os.stat(self.outside(path))
        except (OSError, ValueError, LinkLoopError):
            return None
        return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

    def open(self, path: str) -> t.BinaryIO:
        """Open a regular file in this root, following links within the root.

        :raises OSError: if it does not exist, or was meanwhile redirected outside the root.
        :raises LinkLoopError: see ``outside``.
        """
        if self.root == "/":
            return disk.open_regular(path, links=True)
        descriptor = disk.regular(self.outside(path))
        if not os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"{self.root}/"):
            os.close(descriptor)
            raise OSError(errno.EXDEV, f"is not in {self.root}", path)
        return open(descriptor, "rb")

    def read_bytes(self, path: str, limit: int = SMALL_LIMIT) -> bytes | None:
        """Return a small file's content, or None if it is unreadable or has more than ``limit`` bytes."""
        try:
            with self.open(path) as stream:
                content = stream.read(limit + 1)
        except (OSError, ValueError, LinkLoopError):
            return None
        return content if len(content) <= limit else None

    def walk(
        self, top: str, refused: t.Callable[[OSError], object] | None = None
    ) -> t.Iterator[tuple[str, list[str], list[str]]]:
        """Yield the same as os.walk, sorted by name, without following links and without recursion.

        :param top: a directory as this process reaches it; the yielded paths are of the same kind.
        :param refused: a function to call with the error for each unreadable directory.
        :raises SparkforgeError: if directories are nested too deeply, or a directory has too many names.
        """
        waiting = [(top, 0)]
        while waiting:
            base, depth = waiting.pop()
            folders: list[str] = []
            names: list[str] = []
            try:
                for name, is_directory in self._entries(base):
                    (folders if is_directory else names).append(name)
            except OSError as error:
                if refused is not None:
                    refused(error)
                continue
            folders.sort()
            names.sort()
            yield base, folders, names
            if folders and depth == DEPTH_LIMIT:
                raise SparkforgeError(
                    f"The directories below {top} are nested more than {DEPTH_LIMIT} deep.",
                    "Name a directory inside it.",
                )
            waiting += [(os.path.join(base, name), depth + 1) for name in reversed(folders)]

    def _entries(self, directory: str) -> t.Iterator[tuple[str, bool]]:
        with os.scandir(directory) as entries:
            for number, entry in enumerate(entries):
                self.deadline.check()
                if number == NAMES_LIMIT:
                    raise SparkforgeError(
                        f"The directory {directory} has more than {NAMES_LIMIT} entries.", "Name another directory."
                    )
                yield entry.name, entry.is_dir(follow_symlinks=False)

    def glob(self, pattern: str) -> list[str]:
        """Return the matches of a shell pattern, sorted, as paths inside this root."""
        if self.root == "/":
            return sorted(glob.glob(pattern))
        matches = ["/"]
        for part in pattern.split("/"):
            if not part:
                continue
            matches = [
                os.path.join(base, name)
                for base in matches
                for name in sorted(self.names(base))
                if fnmatch.fnmatchcase(name, part)
            ]
        return matches


def configured_directories(files: FileSystem, start: str = "/etc/ld.so.conf") -> list[str]:
    """Return the directories listed in ``ld.so.conf`` and its included files, in order, without duplicates.

    The syntax is ldconfig(8)'s: one directory per line, ``#`` starts a comment, ``include`` takes patterns relative to
    the including file, ``hwcap`` lines are obsolete, and a directory may end with ``=TYPE``.
    """
    directories: list[str] = []
    seen: set[str] = set()

    def read(path: str) -> None:
        if path in seen or len(seen) == INCLUDES_LIMIT:
            return
        seen.add(path)
        for line in (files.read_bytes(path) or b"").decode("utf-8", "replace").splitlines():
            fields = line.split("#", 1)[0].split()
            if not fields or fields[0] == "hwcap":
                continue
            if fields[0] == "include":
                for pattern in fields[1:]:
                    for match in files.glob(os.path.join(os.path.dirname(path), pattern)):
                        read(match)
                continue
            directory = fields[0].split("=", 1)[0].rstrip("/") or "/"
            if directory.startswith("/") and directory not in directories:
                directories.append(directory)

    read(start)
    return directories
