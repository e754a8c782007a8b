# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A root file system as a process in it sees it: this host's, or one below a directory.

Whoever made one below a directory may have made it for its reader: links that lead out of it, pipes where files are
expected, files and directories without end. All of it is read by a :class:`FileSystem`, which has bounds.
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

#: Directories within each other. Environments in an image have some twelve; no tree of node modules has fifty.
DEPTH_LIMIT = 100
#: Names in one directory. Data sets that are one directory have a million.
NAMES_LIMIT = 2_000_000
#: Bytes of a file that is read whole: ld.so.cache of a desktop with everything has 200 KB.
SMALL_LIMIT = 16 << 20
#: Files that ld.so.conf includes; a host with all of CUDA has a dozen.
INCLUDES_LIMIT = 200


class LinkLoopError(SparkforgeError):
    """Symbolic links lead to each other."""


class FileSystem:
    """A root file system, this host's or one that is below a directory.

    Symbolic links are followed inside of it: ``/etc/alternatives/x`` in a chroot is the chroot's.

    :param deadline: for all of its reading.
    """

    def __init__(self, root: str = "/", deadline: Deadline = NEVER) -> None:
        self.root = os.path.realpath(root)
        self.deadline = deadline
        self._listings: dict[str, frozenset[str]] = {}

    def outside(self, path: str) -> str:
        """Return the path under which this process reaches ``path``.

        :raises LinkLoopError: the links form a loop.
        :raises SparkforgeError: the time is over.
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
            here = os.path.join(self.root, *reached, part)
            try:
                target = os.readlink(here)
            except (OSError, ValueError):  # ValueError: a name with a zero byte
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
        """Return the path inside this root of one that ``outside`` gave."""
        if self.root == "/":
            return path
        return "/" + os.path.relpath(path, self.root)

    def real(self, path: str) -> str:
        """Return ``path`` with every symbolic link followed, inside this root."""
        if self.root == "/":
            return os.path.realpath(path)
        return self.inside(self.outside(path))

    def names(self, directory: str) -> frozenset[str]:
        """Return the names in a directory, none if it cannot be read. Each directory is read once."""
        known = self._listings.get(directory)
        if known is None:
            try:
                known = frozenset(name for name, _is_directory in self._entries(self.outside(directory)))
            except (OSError, ValueError, LinkLoopError):
                known = frozenset()
            self._listings[directory] = known
        return known

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return device and inode of a regular file, or None."""
        try:
            status = os.stat(self.outside(path))
        except (OSError, ValueError, LinkLoopError):
            return None
        return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

    def open(self, path: str) -> t.BinaryIO:
        """Open a regular file of this root, wherever links within it lead.

        :raises OSError: there is none, or somebody led elsewhere meanwhile.
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
        """Return a small file's content, or None if it cannot be read or has more than ``limit`` bytes."""
        try:
            with self.open(path) as stream:
                content = stream.read(limit + 1)
        except (OSError, ValueError, LinkLoopError):
            return None
        return content if len(content) <= limit else None

    def walk(
        self, top: str, refused: t.Callable[[OSError], object] | None = None
    ) -> t.Iterator[tuple[str, list[str], list[str]]]:
        """Yield what os.walk does, in the order of the names: links are not followed, nor is there recursion.

        :param top: a directory as this process reaches it; so are those that are yielded.
        :param refused: told of directories that cannot be read.
        :raises SparkforgeError: directories lie too deep, or a directory has too many names.
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
        """Yield each name in a directory, and whether it is a directory's."""
        with os.scandir(directory) as entries:
            for number, entry in enumerate(entries):
                self.deadline.check()
                if number == NAMES_LIMIT:
                    raise SparkforgeError(
                        f"The directory {directory} has more than {NAMES_LIMIT} names.", "Name a directory without it."
                    )
                yield entry.name, entry.is_dir(follow_symlinks=False)

    def glob(self, pattern: str) -> list[str]:
        """Return what a shell pattern matches, sorted, as paths inside this root."""
        if self.root == "/":
            return sorted(glob.glob(pattern))
        found = ["/"]
        for part in pattern.split("/"):
            if not part:
                continue
            found = [
                os.path.join(base, name)
                for base in found
                for name in sorted(self.names(base))
                if fnmatch.fnmatchcase(name, part)
            ]
        return found


def configured_directories(files: FileSystem, start: str = "/etc/ld.so.conf") -> list[str]:
    """Return the directories that ``ld.so.conf`` and what it includes name, in order, each once.

    The syntax is ldconfig(8)'s: one directory a line, ``#`` begins a comment, ``include`` takes patterns
    relative to the file that it is in, ``hwcap`` lines are history, a directory may end in ``=TYPE``.
    """
    found: list[str] = []
    seen: set[str] = set()

    def read(path: str) -> None:
        if path in seen or len(seen) == INCLUDES_LIMIT:
            return
        seen.add(path)
        for line in (files.read_bytes(path) or b"").decode("utf-8", "replace").splitlines():
            words = line.split("#", 1)[0].split()
            if not words or words[0] == "hwcap":
                continue
            if words[0] == "include":
                for pattern in words[1:]:
                    for match in files.glob(os.path.join(os.path.dirname(path), pattern)):
                        read(match)
                continue
            directory = words[0].split("=", 1)[0].rstrip("/") or "/"
            if directory.startswith("/") and directory not in found:
                found.append(directory)

    read(start)
    return found
