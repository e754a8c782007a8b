# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A root file system as a process in it sees it: this host's, or one below a directory."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


class FileSystem:
    """A root file system, this host's or one that is below a directory.

    Symbolic links are followed inside of it: ``/etc/alternatives/x`` in a chroot is the chroot's.
    """

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.realpath(root)
        self._listings: dict[str, frozenset[str]] = {}

    def outside(self, path: str) -> str:
        """Return the path under which this process reaches ``path``.

        :raises SparkforgeError: the links form a loop.
        """
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
            except OSError:
                reached.append(part)
                continue
            links += 1
            if links > 40:  # the kernel's own limit (MAXSYMLINKS)
                raise SparkforgeError(
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
                known = frozenset(os.listdir(self.outside(directory)))
            except (OSError, SparkforgeError):
                known = frozenset()
            self._listings[directory] = known
        return known

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return device and inode of a regular file, or None."""
        try:
            status = os.stat(self.outside(path))
        except (OSError, SparkforgeError):
            return None
        return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

    def read_bytes(self, path: str) -> bytes | None:
        """Return a small file's content, or None if it cannot be read."""
        try:
            with open(self.outside(path), "rb") as stream:
                return stream.read()
        except (OSError, SparkforgeError):
            return None

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
        if path in seen:
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
