"""Read the packages in an environment from its files: names, versions, requirements and RECORD.

Nothing is imported, so a package that crashes on import can be read too. The environment may be hostile: anything but a
regular file of plausible size counts as missing.
"""

from __future__ import annotations

import base64
import binascii
import concurrent.futures
import csv
import dataclasses
import hashlib
import io
import os
import re
import sys
import typing as t

from .._core import disk
from .._core.errors import SparkforgeError
from .._core.versions import is_whole
from .._elf.filesystem import FileSystem
from . import metadata, specifiers
from .environment import installed_wheels
from .names import normalised
from .requirement import split

_BLOCK = 1 << 20
#: The number of threads; more would only wait for each other.
_THREADS = 16
#: Limits on the size of RECORD in bytes and on its number of files; torch 2.13 has 1.5 MB and 13,000 files.
RECORD_LIMIT = 32 << 20
_FILES_LIMIT = 300_000
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;()]*)\)?\s*(?:;(.*))?")


@dataclasses.dataclass(frozen=True)
class Distribution:
    """One installed distribution.

    :ivar name: normalised (PEP 503).
    :ivar version: including the local part: ``2.9.1+cu130``.
    :ivar directory: the site-packages directory, to which the paths in RECORD are relative.
    :ivar info: the path of its ``.dist-info``.
    :ivar requires: each ``Requires-Dist``.
    """

    name: str
    version: str
    directory: str
    info: str
    requires: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Row:
    """One file in RECORD with its expected content."""

    path: str
    algorithm: str
    digest: bytes
    size: int | None


@dataclasses.dataclass
class Files:
    """The result of comparing some distributions' files with RECORD; paths are relative to site-packages."""

    count: int = 0
    size: int = 0
    missing: list[str] = dataclasses.field(default_factory=list)
    changed: list[str] = dataclasses.field(default_factory=list)
    unknown: list[str] = dataclasses.field(default_factory=list)
    #: Distributions without RECORD.
    unrecorded: list[str] = dataclasses.field(default_factory=list)


def distributions(path: t.Sequence[str] | None = None, files: FileSystem | None = None) -> dict[str, Distribution]:
    """Return the installed distributions by normalised name; for duplicates, the one that Python would import.

    :param path: directories, ``sys.path`` by default.
    :param files: the file system that contains them, this host's by default.
    """
    files = files or FileSystem()
    by_name: dict[str, Distribution] = {}
    for directory in sys.path if path is None else path:
        for entry in sorted(files.names(directory)):
            if entry.endswith(".dist-info"):
                distribution = _distribution(directory, entry, files)
                by_name.setdefault(distribution.name, distribution)
    return by_name


def _distribution(directory: str, entry: str, files: FileSystem) -> Distribution:
    info = os.path.join(directory, entry)
    # An unreadable distribution gets an empty version, which no pin allows.
    fields = metadata.read(files.read_bytes(os.path.join(info, "METADATA"), metadata.LIMIT) or b"")
    name = fields.name or entry[: -len(".dist-info")].partition("-")[0]
    return Distribution(normalised(name), fields.version, directory, info, fields.requires)


def pins(receipt: t.Mapping[str, t.Any] | None) -> dict[str, set[str]]:
    """Return the sha256 values that an environment's receipt allows for each distribution, by normalised name."""
    hashes: dict[str, set[str]] = {}
    for line in (receipt or {}).get("requirements") or []:
        requirement = split(str(line))
        hashes.setdefault(requirement.name, set()).update(requirement.hashes)
    for wheel in installed_wheels(receipt or {}):
        hashes.setdefault(wheel.name, set()).add(wheel.sha256)
    return hashes


def requirements(distribution: Distribution) -> dict[str, list[str]]:
    """Return the version specifiers for each normalised requirement name, excluding those of extras."""
    specifiers_of: dict[str, list[str]] = {}
    for line in distribution.requires:
        # Collapse blanks, because the pattern would try every way to split a run of them.
        match = _REQUIREMENT.fullmatch(" ".join(line.split()))
        if match and not re.search(r"\bextra\b", match[3] or ""):
            specifiers_of.setdefault(normalised(match[1]), []).append(match[2].strip())
    return specifiers_of


def unsatisfied(distribution: Distribution, others: t.Mapping[str, Distribution]) -> list[str]:
    """Return a sentence for each requirement that the installed version of the other distribution does not satisfy.

    If a name has several lines, for different platforms, satisfying one is enough. Missing packages are ignored,
    because pip checked them when the environment was created.
    """
    problems = []
    for name, alternatives in requirements(distribution).items():
        other = others.get(name)
        if other is not None and not any(specifiers.satisfies(other.version, specifier) for specifier in alternatives):
            problems.append(
                f"{distribution.name} {distribution.version} requires {name} {' or '.join(alternatives)}, but "
                f"{other.version} is installed"
            )
    return problems


def rows(text: str) -> list[Row]:
    """Return the files whose content RECORD covers, without bytecode and RECORD itself.

    :raises ValueError: if it is not a list of files, or lists too many.
    """
    covered = []
    for number, row in enumerate(_records(text)):
        if number == _FILES_LIMIT:
            raise ValueError(f"it names more than {_FILES_LIMIT} files")
        if len(row) != 3 or "=" not in row[1] or row[0].endswith(".pyc"):
            continue
        algorithm, _unused, digest = row[1].partition("=")
        try:
            content = base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4))
        except (binascii.Error, ValueError):
            content = b""
        covered.append(Row(row[0], algorithm, content, int(row[2]) if is_whole(row[2]) else None))
    return covered


def _records(text: str) -> t.Iterator[list[str]]:
    try:
        # No path contains a NUL byte, on which older versions of csv fail.
        yield from csv.reader(io.StringIO(text.replace("\0", "\ufffd"), newline=""))
    except csv.Error as error:
        raise ValueError(f"it is not a list of files: {error}") from error


def record(distribution: Distribution, files: FileSystem | None = None) -> list[Row] | None:
    """Return the files that a distribution's RECORD covers, or None if it is missing or unreadable.

    :param files: the file system of the distribution, this host's by default.
    """
    content = (files or FileSystem()).read_bytes(os.path.join(distribution.info, "RECORD"), RECORD_LIMIT)
    try:
        return None if content is None else rows(content.decode("utf-8"))
    except ValueError:
        return None


def compare(
    distributions: t.Sequence[Distribution], everything: t.Iterable[Distribution], linked: t.Collection[str] = ()
) -> Files:
    """Compare all files of some distributions with RECORD, and find files in their directories that no RECORD lists.

    :param everything: all installed distributions, because some directories, such as ``nvidia``, are shared.
    :param linked: files and directories elsewhere that links may point to or into.
    """
    files = Files()
    work: list[tuple[int, str, Row]] = []
    directories: set[tuple[str, str]] = set()
    for distribution in distributions:
        recorded = record(distribution)
        if recorded is None:
            files.unrecorded.append(distribution.name)
            continue
        for row in recorded:
            top, slash, _rest = row.path.partition("/")
            if slash and top not in ("..", "__pycache__") and not top.endswith(".dist-info"):
                directories.add((distribution.directory, top))
            path = os.path.join(distribution.directory, row.path)
            try:
                size = os.stat(path).st_size
            except OSError:
                files.missing.append(row.path)
                continue
            if row.size is not None and size != row.size:
                files.changed.append(row.path)
                continue
            work.append((size, path, row))
    files.count, files.size = len(work), sum(size for size, _path, _row in work)
    # Start with the largest files, so that no thread starts one when the others are done.
    work.sort(key=lambda item: item[0], reverse=True)
    with concurrent.futures.ThreadPoolExecutor(min(_THREADS, (os.cpu_count() or 1) + 1)) as pool:
        for changed in pool.map(lambda item: _changed(item[1], item[2]), work):
            if changed:
                files.changed.append(changed)
    known = {
        os.path.normpath(os.path.join(other.directory, row.path)) for other in everything for row in record(other) or []
    }
    files.unknown = [path for directory, top in sorted(directories) for path in _unknown(directory, top, known, linked)]
    files.changed.sort()
    files.missing.sort()
    return files


def sha256_of(path: str) -> str:
    """Return the sha256 of a file in hexadecimal digits."""
    return _digest(path, "sha256").hex()


def _changed(path: str, row: Row) -> str | None:
    try:
        return None if _digest(path, row.algorithm) == row.digest else row.path
    except (OSError, ValueError, TypeError):  # TypeError: a digest of variable length, such as shake_128
        return row.path


def _digest(path: str, algorithm: str) -> bytes:
    digest = hashlib.new(algorithm)
    with open(disk.regular(path, links=True), "rb", buffering=0) as stream:
        # Most files are small, and new memory costs more than their digest.
        block = bytearray(min(_BLOCK, os.fstat(stream.fileno()).st_size + 1))
        view = memoryview(block)
        while True:
            length = stream.readinto(block)
            if not length:
                return digest.digest()
            digest.update(view[:length])


def _unknown(directory: str, top: str, known: t.Collection[str], linked: t.Collection[str]) -> list[str]:
    paths = []
    for base, folders, names in os.walk(os.path.join(directory, top)):
        folders[:] = sorted(folder for folder in folders if folder != "__pycache__")
        for name in sorted(names):
            path = os.path.join(base, name)
            target = os.readlink(path) if os.path.islink(path) else ""
            if path not in known and not {target, os.path.dirname(target)}.intersection(linked):
                paths.append(os.path.relpath(path, directory))
    return paths


def differing(wheel: str, distribution: Distribution) -> list[str] | None:
    """Return the files whose RECORD entry in the environment differs from the wheel's, or None if the wheel has none.

    :raises OSError: if the wheel cannot be read.
    :raises SparkforgeError: if it is damaged.
    """
    # Only the proof needs this, for locally built wheels, and every start compiles its imports.
    from .._core import zip_archive

    installed_rows = {row.path: (row.digest, row.size) for row in record(distribution) or []}
    try:
        with zip_archive.open_zip(wheel) as archive:
            names = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)]
            if len(names) != 1:
                return None
            theirs = rows(zip_archive.read_member(archive, names[0], RECORD_LIMIT).decode("utf-8"))
    except zip_archive.DAMAGED as error:
        raise SparkforgeError(
            f"{wheel} is not a complete wheel: {str(error).rstrip('.') or 'it is truncated'}.",
            "Remove it; playbooks/deploy.yml fetches it again.",
        ) from error
    # Installation moves the files in .data to other directories.
    return sorted(
        row.path
        for row in theirs
        if not re.match(r"[^/]+\.data/", row.path) and installed_rows.get(row.path) != (row.digest, row.size)
    )
