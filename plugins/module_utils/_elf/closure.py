# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All that a list of files and directories needs, and what of it the loader does not find."""

from __future__ import annotations

import dataclasses
import os
import re
import stat
import sys
import typing as t

from .._core.deadline import NEVER, Deadline
from .._core.errors import SparkforgeError
from . import providers, reader
from .filesystem import FileSystem
from .gap import Gap, off_path, other_versions
from .loader import Load, Loader

#: What needs the libraries that a stack names.
OF_THE_STACK = "the stack"


class Closure:
    """Everything that a list of files and directories needs, and what of it the loader cannot find.

    :param paths: absolute paths or shell patterns, inside ``root``.
    :param search: directories of ``LD_LIBRARY_PATH``.
    :param sonames: libraries that a program opens by name, beside what the paths need.
    :param driver: count the driver's libraries as there when they are absent.
    :param ignore_absent: report a path that does not exist instead of failing.
    :param cuda_version: names the packages, ``13.0``.
    :param deadline: for all of its reading.
    """

    def __init__(
        self,
        paths: t.Sequence[str],
        search: t.Sequence[str] = (),
        root: str = "/",
        sonames: t.Sequence[str] = (),
        driver: bool = False,
        ignore_absent: bool = False,
        cuda_version: str | None = None,
        deadline: Deadline = NEVER,
    ) -> None:
        for what, names in (("path", paths), ("search directory", search)):
            for name in names:
                if not name.startswith("/"):
                    raise SparkforgeError(f"The {what} {name!r} is relative.", "Use an absolute path.")
        if not paths:
            raise SparkforgeError("No path is given.", "Name at least one file or directory in paths.")
        if not os.path.isdir(root):
            raise SparkforgeError(f"The root {root} is not a directory.", "Name the root of a file system.")
        self.paths, self.sonames = list(paths), list(sonames)
        self.driver = driver
        self.ignore_absent = ignore_absent
        self.cuda_version = cuda_version
        self.files = FileSystem(root, deadline)
        self.loader = Loader(self.files, search)
        self.examined = 0
        self.absent: list[str] = []
        self.unreadable: list[dict[str, str]] = []
        self.gaps: dict[tuple[str, reader.Architecture], Gap] = {}
        self.resolved: dict[str, str] = {}

    def result(self) -> dict[str, t.Any]:
        """Examine everything and return the module's result.

        :raises SparkforgeError: a path does not exist, or a file that was named is no ELF file, damaged or
            static.
        """
        for load, optional in self._loads():
            self._record(load, optional)
        missing: list[dict[str, t.Any]] = []
        missing_optional: list[dict[str, t.Any]] = []
        driver_sonames: list[str] = []
        wrong_version: list[dict[str, t.Any]] = []
        for gap in sorted(self.gaps.values(), key=lambda item: item.soname):
            if self.driver and gap.soname in providers.DRIVER_SONAMES:
                driver_sonames.append(gap.soname)
                continue
            described = self._describe(gap)
            if gap.optional:
                missing_optional.append({**described, "reason": gap.optional})
                continue
            missing.append(described)
            wrong_version.extend(other_versions(gap, self.loader))
        return {
            "changed": False,
            "missing": missing,
            "missing_optional": missing_optional,
            "wrong_version": wrong_version,
            "driver_provided": driver_sonames,
            "found": len(self.resolved),
            "resolved": dict(sorted(self.resolved.items())),
            "absent": self.absent,
            "unreadable": self.unreadable,
            "examined": self.examined,
        }

    def _loads(self) -> t.Iterator[tuple[Load, str]]:
        """Yield each load that counts and, for an optional plug-in, why it is one.

        A file that was named is always its own load. A file of a directory that another file of these
        directories brings in is judged there: it inherits that one's RPATH, as the libraries beside
        libtorch.so do.
        """
        named: list[str] = []
        walked: list[str] = []
        for path in self.paths:
            for match in self._expand(path):
                if os.path.isdir(self.files.outside(match)):
                    walked.extend(self._walk(match))
                else:
                    named.append(match)
        for path in named:
            yield self.loader.load(path), ""
        seen = {self.files.identity(path) for path in named}
        loads: list[Load] = []
        for path in walked:
            identity = self.files.identity(path)
            if identity in seen:
                continue
            seen.add(identity)
            load = self._load_walked(path)
            if load is not None:
                loads.append(load)
        brought = {library.identity for load in loads for library in load.loaded[1:]}
        reached: set[tuple[int, int]] = set()
        for load in loads:
            if load.loaded[0].identity not in brought:
                reached.update(library.identity for library in load.loaded)
                yield load, providers.optional_plugin(os.path.basename(load.root)) or ""
        # The rest is a circle, or depends on one: each of its files loads the others.
        for load in loads:
            if load.loaded[0].identity not in reached:
                reached.update(library.identity for library in load.loaded)
                yield load, providers.optional_plugin(os.path.basename(load.root)) or ""
        self.examined = self.loader.examined
        if self.sonames:
            yield self.loader.load(os.path.realpath(sys.executable), self.sonames, OF_THE_STACK), ""

    def _load_walked(self, path: str) -> Load | None:
        """Load a file that a directory holds; None for what the loader has nothing to do with."""
        try:
            file = self.loader.open(path)
            if file.kind not in (reader.ET_EXEC, reader.ET_DYN) or not file.dynamic:
                return None
            return self.loader.load(path)
        except reader.NotElfError:
            return None
        except SparkforgeError as error:
            self.unreadable.append({"path": path, "cause": error.cause})
            return None

    def _expand(self, path: str) -> list[str]:
        """Return what a path or pattern stands for.

        :raises SparkforgeError: it is not there, and that was not allowed.
        """
        if os.path.lexists(self.files.outside(path)):
            if os.path.exists(self.files.outside(path)):
                return [path]
            raise SparkforgeError(
                f"{path} is a broken or circular symbolic link.", "Correct the link, or install its target."
            )
        matches = self.files.glob(path) if re.search(r"[*?\[]", path) else []
        if not matches:
            if not self.ignore_absent:
                raise SparkforgeError(
                    f"{path} does not exist.", "Correct the path, or install the package that provides it."
                )
            self.absent.append(path)
        return matches

    def _walk(self, directory: str) -> list[str]:
        """Return the regular files below a directory that may be ELF, as paths inside the root.

        Links to directories are not followed. A link to a file counts unless the file is below the
        directory too: libx.so, libx.so.1 and libx.so.1.2 are one library.
        """
        top = self.files.outside(directory)
        plain: list[str] = []
        links: list[str] = []

        def refused(error: OSError) -> None:
            self.unreadable.append(
                {"path": str(error.filename), "cause": f"The directory cannot be read: {error.strerror}."}
            )

        for base, _folders, names in self.files.walk(top, refused):
            inside = directory if base == top else os.path.join(directory, os.path.relpath(base, top))
            for name in names:
                outside = os.path.join(base, name)
                try:
                    mode = os.lstat(outside).st_mode
                except OSError:
                    continue
                if stat.S_ISLNK(mode):
                    links.append(os.path.join(inside, name))
                elif stat.S_ISREG(mode) and reader.is_elf(outside):
                    plain.append(os.path.join(inside, name))
        known = {self.files.identity(path) for path in plain}
        for path in links:
            identity = self.files.identity(path)
            if identity and identity not in known and reader.is_elf(self.files.outside(path)):
                known.add(identity)
                plain.append(path)
        return plain

    def _record(self, load: Load, optional: str) -> None:
        for need in load.needs:
            if need.path is not None:
                self.resolved.setdefault(need.soname, self._tidy(need.path))
                continue
            key = (need.soname, load.file.architecture)
            gap = self.gaps.get(key)
            if gap is None:
                gap = self.gaps[key] = Gap(need.soname, load.file.architecture, optional=optional)
            elif not optional:
                gap.optional = ""
            needed_by = self._tidy(need.needed_by)
            identity = self.files.identity(needed_by)
            # The stack's libraries are found by other names than those in the directories.
            if needed_by not in gap.needed_by and identity not in map(self.files.identity, gap.needed_by):
                gap.needed_by.append(needed_by)
            for rejected in need.rejected:
                gap.rejected[self._tidy(rejected.path)] = rejected.reason
            gap.directories.extend(directory for directory in need.directories if directory not in gap.directories)

    def _tidy(self, path: str) -> str:
        """Take ``lib/../lib`` out of a path where that names the same file."""
        tidy = os.path.normpath(path)
        return tidy if tidy == path or self.files.identity(tidy) == self.files.identity(path) else path

    def _describe(self, gap: Gap) -> dict[str, t.Any]:
        bits, _order, machine = gap.architecture
        name = reader.MACHINES.get(machine, f"machine {machine}")
        return {
            "soname": gap.soname,
            "needed_by": sorted(gap.needed_by),
            "machine": name,
            "bits": bits,
            "provided_by": dataclasses.asdict(providers.provider(gap.soname, name, self.cuda_version)),
            "rejected": [{"path": path, "reason": reason} for path, reason in sorted(gap.rejected.items())],
            "off_path": off_path(gap, self.loader),
        }
