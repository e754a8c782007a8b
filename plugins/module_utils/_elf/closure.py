"""The libraries that a list of files and directories needs, and those that the loader cannot find."""

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
from .loader import Load, Loader
from .missing_library import MissingLibrary, off_path, other_versions

#: The user to report for the libraries in the stack.
OF_THE_STACK = "the stack"


class Closure:
    """The dependencies of a list of files and directories, and those that the loader cannot find.

    :param paths: absolute paths or shell patterns, inside ``root``.
    :param search: the directories in ``LD_LIBRARY_PATH``.
    :param sonames: libraries that a program opens by name, in addition to the dependencies of the paths.
    :param driver: whether to count the driver's libraries as present even if they are missing.
    :param ignore_absent: whether to report a path that does not exist instead of failing.
    :param cuda_version: the CUDA version in package names, ``13.0``.
    :param deadline: the time limit for all reading.
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
        for kind, names in (("path", paths), ("search directory", search)):
            for name in names:
                if not name.startswith("/"):
                    raise SparkforgeError(f"The {kind} {name!r} is relative.", "Use an absolute path.")
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
        self.missing_libraries: dict[tuple[str, reader.Architecture], MissingLibrary] = {}
        self.resolved: dict[str, str] = {}

    def result(self) -> dict[str, t.Any]:
        """Examine everything and return the module's result.

        :raises SparkforgeError: if a path does not exist, or a named file is damaged, static or not ELF.
        """
        for load, optional in self._loads():
            self._record(load, optional)
        missing: list[dict[str, t.Any]] = []
        missing_optional: list[dict[str, t.Any]] = []
        driver_sonames: list[str] = []
        wrong_version: list[dict[str, t.Any]] = []
        for library in sorted(self.missing_libraries.values(), key=lambda item: item.soname):
            if self.driver and library.soname in providers.DRIVER_SONAMES:
                driver_sonames.append(library.soname)
                continue
            described = self._describe(library)
            if library.optional:
                missing_optional.append({**described, "reason": library.optional})
                continue
            missing.append(described)
            wrong_version.extend(other_versions(library, self.loader))
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
        """Yield each relevant load and, for an optional plug-in, the reason why it is optional.

        Each named file is a separate load. A file in a directory that another file there loads is judged as part of
        that load, because it inherits the RPATH, as the libraries next to libtorch.so do.
        """
        named_paths: list[str] = []
        walked: list[str] = []
        for path in self.paths:
            for match in self._expand(path):
                if os.path.isdir(self.files.outside(match)):
                    walked.extend(self._walk(match))
                else:
                    named_paths.append(match)
        for path in named_paths:
            yield self.loader.load(path), ""
        visited = {self.files.identity(path) for path in named_paths}
        loads: list[Load] = []
        for path in walked:
            identity = self.files.identity(path)
            if identity in visited:
                continue
            visited.add(identity)
            load = self._load_walked(path)
            if load is not None:
                loads.append(load)
        brought = {library.identity for load in loads for library in load.loaded[1:]}
        reached: set[tuple[int, int]] = set()
        # The files that these loads do not reach are in a dependency cycle or depend on one.
        for load in [*(load for load in loads if load.loaded[0].identity not in brought), *loads]:
            if load.loaded[0].identity not in reached:
                reached.update(library.identity for library in load.loaded)
                yield load, providers.optional_plugin(os.path.basename(load.root)) or ""
        self.examined = self.loader.examined
        if self.sonames:
            yield self.loader.load(os.path.realpath(sys.executable), self.sonames, OF_THE_STACK), ""

    def _load_walked(self, path: str) -> Load | None:
        """Load a file from a directory; return None if the loader would never load it."""
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
        """Return the regular files in a directory tree that may be ELF, as paths inside the root.

        Links to directories are not followed. A link to a file counts only if the file is outside the directory:
        libx.so, libx.so.1 and libx.so.1.2 are one library.
        """
        top = self.files.outside(directory)
        regular_paths: list[str] = []
        links: list[str] = []

        def refused(error: OSError) -> None:
            self.unreadable.append(
                {"path": str(error.filename), "cause": f"The directory cannot be read: {error.strerror}."}
            )

        for base, _folders, names in self.files.walk(top, refused):
            inside = directory if base == top else os.path.join(directory, os.path.relpath(base, top))
            for name in names:
                real_path = os.path.join(base, name)
                try:
                    mode = os.lstat(real_path).st_mode
                except OSError:
                    continue
                if stat.S_ISLNK(mode):
                    links.append(os.path.join(inside, name))
                elif stat.S_ISREG(mode) and reader.is_elf(real_path):
                    regular_paths.append(os.path.join(inside, name))
        identities = {self.files.identity(path) for path in regular_paths}
        for path in links:
            identity = self.files.identity(path)
            if identity and identity not in identities and reader.is_elf(self.files.outside(path)):
                identities.add(identity)
                regular_paths.append(path)
        return regular_paths

    def _record(self, load: Load, optional: str) -> None:
        for need in load.needs:
            if need.path is not None:
                self.resolved.setdefault(need.soname, self._normalise_path(need.path))
                continue
            key = (need.soname, load.file.architecture)
            library = self.missing_libraries.get(key)
            if library is None:
                library = self.missing_libraries[key] = MissingLibrary(
                    need.soname, load.file.architecture, optional=optional
                )
            elif not optional:
                library.optional = ""
            needed_by = self._normalise_path(need.needed_by)
            identity = self.files.identity(needed_by)
            # The same file may be found under different names in the stack and in the directories.
            if needed_by not in library.needed_by and identity not in map(self.files.identity, library.needed_by):
                library.needed_by.append(needed_by)
            for rejected in need.rejected:
                library.rejected[self._normalise_path(rejected.path)] = rejected.reason
            library.directories.extend(
                directory for directory in need.directories if directory not in library.directories
            )

    def _normalise_path(self, path: str) -> str:
        """Normalise a path such as ``lib/../lib`` if the result is still the same file."""
        tidy = os.path.normpath(path)
        return tidy if tidy == path or self.files.identity(tidy) == self.files.identity(path) else path

    def _describe(self, library: MissingLibrary) -> dict[str, t.Any]:
        bits, _order, machine = library.architecture
        name = reader.MACHINES.get(machine, f"machine {machine}")
        return {
            "soname": library.soname,
            "needed_by": sorted(library.needed_by),
            "machine": name,
            "bits": bits,
            "provided_by": dataclasses.asdict(providers.provider(library.soname, name, self.cuda_version)),
            "rejected": [{"path": path, "reason": reason} for path, reason in sorted(library.rejected.items())],
            "off_path": off_path(library, self.loader),
        }
