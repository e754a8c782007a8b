# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One tree for the fingerprints of a unit that only patches and edits tell apart.

An edit that fixes a failed build is another fingerprint. It continues in the tree of the build that failed: what
differs in the sources is written, with its own time, CMake configures from an empty cache, and ninja compiles what that
touches. What is built must be what an empty directory would give. So only the content of files may differ that
compilers read, or whose readers ninja knows: then CMake and the generators have the same inputs and write the same
files. What the build put beside its sources is removed unless ninja answers for it. After any other difference, such as
one in a CMakeLists.txt, the tree is made again.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import re
import stat
import sys
import typing as t

#: Files that compilers read, so that ninja knows which objects they affect, and documentation.
_HARMLESS = re.compile(r"\.(h|hh|hpp|hxx|h\+\+|cuh|inc|inl|ipp|tpp|def|c|cc|cpp|cxx|cu|s|S|asm|m|mm|md|rst)$")
#: Directories below ``build`` that setuptools packs whole, including files that the sources no longer have.
_COLLECTED = ("lib.*", "bdist.*")


class Doubt(Exception):
    """Why a tree cannot be gone on with: the end of a sentence."""


# --- decisions -------------------------------------------------------------------------------------------------


def check_builds(old: t.Mapping[str, t.Any], state: t.Mapping[str, t.Any], new: t.Mapping[str, t.Any]) -> None:
    """Say whether the tree of a build may be gone on with by another fingerprint of the unit.

    :param old: the request of the build that holds the tree.
    :param state: its state.
    :param new: the request of the build that wants it.
    :raises Doubt: if it may not.
    """
    if not isinstance(state.get("changed"), dict):
        raise Doubt("there is no record of how its sources were changed")
    for key in ("tools", "versions", "depends"):
        if old.get(key) != new.get(key):
            raise Doubt(f"it was built with different {key}")
    for key in ("python", "system_site_packages", "requirements"):
        # Requirements of other hashes are one fingerprint, and yet other files.
        if _listed(old["unit"].get(key)) != _listed(new["unit"].get(key)):
            raise Doubt(f"it was built with different {key}")


def _listed(value: t.Any) -> t.Any:
    return list(value) if isinstance(value, (list, tuple)) else value


def differences(
    source: str, wanted: str, changed: t.Mapping[str, str | None], touched: t.Iterable[str], pristine: Comparison
) -> list[str]:
    """Return the files of ``source`` that must be written to make it ``wanted``.

    :param changed: what the patches and edits of the build that ``source`` is of had made: a ``digest`` for each path.
    :param touched: the paths that those of ``wanted`` change.
    :param pristine: ``source`` compared with ``wanted`` before it was changed.
    :raises Doubt: if the build changed such a file itself, or one is added or removed, which CMake may look for.
    """
    found = []
    for path in sorted({*changed, *touched}):
        have, want = digest(os.path.join(source, path)), digest(os.path.join(wanted, path))
        if have == want:
            continue
        known = changed[path] is not None if path in changed else path in pristine.names
        if not known or want is None:
            raise Doubt(f"{path} is {'removed' if want is None else 'new'}")
        if have is not None and (have != changed[path] if path in changed else path in pristine.differ):
            raise Doubt(f"the build itself changed {path}, which a patch or an edit also changes")
        found.append(path)
    # Files that the build or a power loss removed.
    found += sorted(path for path in pristine.missing if digest(os.path.join(wanted, path)) and path not in found)
    return found


# --- trees -----------------------------------------------------------------------------------------------------


class Comparison(t.NamedTuple):
    """What a tree is beside the pristine one: all names there, those that differ, and those that it lacks."""

    names: set[str]
    differ: set[str]
    missing: set[str]


def compare(source: str, pristine: str) -> Comparison:
    """Compare what ``pristine`` has with what ``source`` has of it: kind, content, whether it is executable."""
    names = set(_walk(pristine))
    found = Comparison(names, set(), set())
    for path in names:
        one, other = os.path.join(source, path), os.path.join(pristine, path)
        try:
            same = _same(one, other)
        except (FileNotFoundError, NotADirectoryError):
            found.missing.add(path)
            continue
        if not same:
            found.differ.add(path)
    return found


def digest(path: str) -> str | None:
    """Return what tells two files apart: kind, content, whether it is executable, or None if there is none."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return f"symlink {os.fsencode(os.readlink(path)).hex()}"
        with open(path, "rb") as stream:
            content = hashlib.sha256(stream.read()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        return "directory"
    return f"{'executable' if mode & 0o100 else 'file'} {content}"


def merge(source: str, wanted: str, paths: t.Iterable[str], moment: float) -> None:
    """Make the ``paths`` of ``source`` those of ``wanted``; what is written gets the time ``moment``.

    :param moment: later than anything that was built.
    """
    for path in paths:
        origin, target = os.path.join(wanted, path), os.path.join(source, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.utime(origin, (moment, moment), follow_symlinks=False)
        # From one file system to the same: whole with its time, or not at all.
        os.replace(origin, target)


def tidy(trees: t.Sequence[str], source: str, wanted: set[str], changed: t.Iterable[str]) -> None:
    """Take out of the trees of an earlier build what an empty directory would not have, and what must be done again.

    :param trees: ``source`` and, where it is not inside of that, the build directory.
    :param wanted: every file that ``source`` is to have.
    :param changed: those of them that are not what they were.
    :raises Doubt: if something else than a compiler may read one of these, or something was configured in a way that
        cannot be repeated; nothing was removed then.
    """
    sources = {os.path.join(source, path) for path in wanted}
    files = [
        path for tree in trees for path in (os.path.join(tree, name) for name in _walk(tree)) if path not in sources
    ]
    logs = [path for path in files if os.path.basename(path) == ".ninja_log"]
    if not logs:
        raise Doubt("it has no ninja log")
    directories = [os.path.dirname(path) for path in logs]
    read = {path for directory in directories for path in _read_by_compilers(directory)}
    for path in changed:
        if not _HARMLESS.search(path) and os.path.join(source, path) not in read:
            raise Doubt(f"it is unknown what reads {path}, which differs")
    outputs = {_output(os.path.dirname(path), row) for path in logs for row in _log(path)}
    steps = [path for path in files if re.search(r"-stamp/[^/]+-(configure|build|install)$", path)]
    caches = [path for path in files if os.path.basename(path) == "CMakeCache.txt"]
    for path in caches:
        nested = any(path.startswith(os.path.dirname(other) + "/") for other in caches if other != path)
        # Trees that configure itself configures, to try something or to fetch, are created again with it.
        scratch = "/_deps/" in path or "/CMakeFiles/" in path
        if nested and not scratch and path not in outputs and not steps:
            raise Doubt(f"it is unknown what configured {os.path.dirname(path)}")
    # CMake would not search again for what it has found, and ninja does not watch an external project's sources.
    gone = {*caches, *steps}
    for path in files:
        # A header that configuring writes among the sources is written again where it differs, and has its time else.
        if path in outputs or path in read or not path.startswith(source + "/"):
            continue
        home = next((place for place in sorted(directories) if path.startswith(place + "/")), None)
        top = os.path.relpath(path, home).partition("/")[0] if home else ""
        if home is None or any(fnmatch.fnmatch(top, pattern) for pattern in _COLLECTED):
            gone.add(path)
    for path in gone:
        _remove(path)


def _read_by_compilers(directory: str) -> set[str]:
    """Return the files that ninja knows from the compilers to have been read: the paths of ``.ninja_deps``."""
    found: set[str] = set()
    try:
        with open(os.path.join(directory, ".ninja_deps"), "rb") as stream:
            content = stream.read()
    except FileNotFoundError:
        return found
    # After a line and a version: records of a size, whose highest bit says that it is no path, and as many bytes; of a
    # path these are its name, up to three zeros, and a checksum.
    place = content.find(b"\n") + 5
    while 5 <= place <= len(content) - 4:
        size = int.from_bytes(content[place : place + 4], sys.byteorder)
        if not size >> 31:
            name = os.fsdecode(content[place + 4 : place + size].rstrip(b"\0"))
            found.add(os.path.normpath(os.path.join(directory, name)))
        place += 4 + (size & 0x7FFFFFFF)
    return found


def _log(path: str) -> list[list[str]]:
    """Return the rows of ninja's log, the line that names its version too: start, end, time, output, command."""
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        return [line.rstrip("\n").split("\t") for line in stream]


def _remove(path: str) -> None:
    """Remove a file, if it is there, and the directories that this empties."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with contextlib.suppress(OSError):
        os.removedirs(os.path.dirname(path))


def _output(directory: str, row: t.Sequence[str]) -> str:
    """Return the path of the output that a row of ninja's log is about."""
    return os.path.normpath(os.path.join(directory, row[3])) if len(row) > 3 else ""


def _same(one: str, other: str) -> bool:
    left, right = os.lstat(one), os.lstat(other)
    if stat.S_IFMT(left.st_mode) != stat.S_IFMT(right.st_mode):
        return False
    if stat.S_ISLNK(left.st_mode):
        return os.readlink(one) == os.readlink(other)
    if left.st_size != right.st_size or (left.st_mode ^ right.st_mode) & 0o100:
        return False
    with open(one, "rb") as first, open(other, "rb") as second:
        while True:
            piece = first.read(1 << 20)
            if piece != second.read(1 << 20):
                return False
            if not piece:
                return True


def _walk(tree: str, below: str = "") -> t.Iterator[str]:
    """Yield the path of each file and symlink, from the top of ``tree``; git's own are left out."""
    with os.scandir(os.path.join(tree, below)) as entries:
        for entry in entries:
            path = os.path.join(below, entry.name)
            if entry.name == ".git":
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(tree, path)
            else:
                yield path
