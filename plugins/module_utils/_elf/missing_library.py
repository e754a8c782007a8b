"""A library that the loader cannot find: the files that need it, and similar files on the host."""

from __future__ import annotations

import os
import re
import typing as t
from dataclasses import dataclass, field

from .._core.errors import SparkforgeError
from . import providers, reader
from .loader import TRIPLETS, Loader


@dataclass
class MissingLibrary:
    """A missing SONAME and the files that need it."""

    soname: str
    architecture: reader.Architecture
    needed_by: list[str] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)
    optional: str = ""


def _nearby(library: MissingLibrary, loader: Loader) -> list[str]:
    """Return directories that may contain the library but that the loader does not search.

    The directories that it did search come last.
    """
    triplet = TRIPLETS.get((library.architecture[2], library.architecture[0]), "*")
    patterns = [pattern.format(triplet=triplet) for pattern in providers.OFF_PATH_DIRECTORIES]
    matches = [match for pattern in patterns for match in loader.files.glob(pattern)]
    return list(dict.fromkeys([*loader.configured, *matches, *library.directories]))


def _matching_file(path: str, library: MissingLibrary, loader: Loader) -> reader.ElfFile | None:
    try:
        file = loader.open(path)
    except SparkforgeError:
        return None
    return file if file.architecture == library.architecture and file.kind == reader.ET_DYN else None


def off_path(library: MissingLibrary, loader: Loader) -> list[str]:
    """Return the host's files with that SONAME in directories that the loader does not search."""
    paths: dict[tuple[int, int] | None, str] = {}
    for directory in _nearby(library, loader):
        for name in sorted(loader.files.names(directory)):
            # libx.so.1.2 with the SONAME libx.so.1 counts too: only the link that ldconfig creates is missing.
            if not name.startswith(library.soname):
                continue
            path = os.path.join(directory, name)
            if path in library.rejected:
                continue
            file = _matching_file(path, library, loader)
            if file is not None and (file.soname or name) == library.soname:
                paths.setdefault(loader.files.identity(path), path)
    return sorted(paths.values())


def other_versions(library: MissingLibrary, loader: Loader) -> list[dict[str, t.Any]]:
    """Return the libraries with the same name but a different SONAME version.

    For example, libcudss.so.1 for libcudss.so.0.
    """
    stem = re.match(r"(.+?\.so)(?:\.\d+)*$", library.soname)
    if stem is None:
        return []
    form = re.compile(re.escape(stem.group(1)) + r"(?:\.\d+)*")
    candidates: list[str] = [
        entry.path
        for soname, entries in sorted(loader.cache.items())
        if soname != library.soname and form.fullmatch(soname)
        for entry in entries
    ]
    for directory in _nearby(library, loader):
        candidates.extend(
            os.path.join(directory, name)
            for name in sorted(loader.files.names(directory))
            if name != library.soname and form.fullmatch(name)
        )
    versions: dict[str, dict[str, t.Any]] = {}
    for path in candidates:
        file = _matching_file(path, library, loader)
        if file is None or file.soname in (None, library.soname) or file.soname in versions:
            continue
        versions[str(file.soname)] = {
            "soname": library.soname,
            "found": file.soname,
            "path": path,
            "needed_by": sorted(library.needed_by),
            "note": f"{library.soname} is missing; {path} is {file.soname}, which does not satisfy it.",
        }
    return list(versions.values())
