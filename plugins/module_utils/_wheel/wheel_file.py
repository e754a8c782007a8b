# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files of wheels: read in place, checked for being whole, and given a build tag."""

from __future__ import annotations

import base64
import contextlib
import csv
import functools
import hashlib
import io
import os
import re
import stat
import typing as t
import zipfile

from .._core import disk, zip_archive
from .._core.deadline import NEVER, Deadline
from .._core.errors import SparkforgeError
from .._elf import reader
from . import installed, metadata
from .names import normalised
from .wheel import Wheel

_BLOCK = 1 << 20
#: Bytes that stay free where a file of a wheel is unpacked.
_RESERVE = 64 << 20
_ARCHIVE = b"!<arch>\n"
# PEP 427, "File name convention": five parts, or six with a build tag, which begins with a digit.
_NAME = re.compile(r"([^-]+)-([^-]+)(?:-(\d[^-]*))?-([^-]+)-([^-]+)-([^-]+)\.whl")
_BUILD_TAG = re.compile(r"\d[A-Za-z0-9_.]*")


def collect_wheels(directory: str) -> list[Wheel]:
    """Return the wheels that lie in ``directory``, by name; none where there is no such directory.

    Without their digests: to read a PyTorch wheel takes a second.

    :raises SparkforgeError: for one that is not whole, or whose name is not that of a wheel.
    """
    return [_wheel(os.path.join(directory, name)) for name in disk.names(directory) if name.endswith(".whl")]


def retag(path: str, build_tag: str) -> str:
    """Give a wheel a build tag and return its new path; one that has the tag already is left alone.

    The name, ``Build`` in WHEEL and the line of WHEEL in RECORD change; every other member is copied as it is
    compressed. The wheel of the old name goes when the new one is whole. A run that is killed between leaves both, and
    the next one replaces the new one.

    :raises SparkforgeError: for an invalid tag, or a wheel that is not whole.
    """
    if not _BUILD_TAG.fullmatch(build_tag):
        raise SparkforgeError(
            f"{build_tag!r} is not a valid build tag.", "Start with a digit, followed by letters, digits, '_' and '.'."
        )
    wheel = _wheel(path)
    parts = _parts(path)
    new = os.path.join(os.path.dirname(path), f"{parts[1]}-{parts[2]}-{build_tag}-{parts[4]}-{parts[5]}-{parts[6]}.whl")
    if new == path and _build_of(path) == build_tag:
        return path
    temporary = f"{new}.partial"
    try:
        with _opened(path) as old:
            info = _dist_info(old, wheel.file)
            text = _with_build(zip_archive.read_member(old, f"{info}/WHEEL", metadata.LIMIT), build_tag)
            record = zip_archive.read_member(old, f"{info}/RECORD", installed.RECORD_LIMIT)
            record = _with_digest(record, f"{info}/WHEEL", text, wheel.file)
            _copy_zip(old, temporary, {f"{info}/WHEEL": text, f"{info}/RECORD": record})
        os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, new)
    finally:
        disk.remove(temporary)
    if new != path:
        os.unlink(path)
    return new


def tag_of(wheel: Wheel) -> str:
    """Return the build tag in the name of a wheel, empty if there is none."""
    return _parts(wheel.path)[3] or ""


def requires(wheel: Wheel) -> list[str]:
    """Return each ``Requires-Dist`` of a wheel's METADATA, none where it has no such file."""
    with _opened(wheel.path) as archive:
        try:
            text = zip_archive.read_member(archive, f"{_dist_info(archive, wheel.file)}/METADATA", metadata.LIMIT)
        except KeyError:
            return []
    return list(metadata.read(text).requires)


class WheelFiles:
    """The files of a wheel; ELF files are unpacked beside it, one at a time, as far as there is room.

    :param deadline: for all of its reading.
    """

    def __init__(self, wheel: Wheel, deadline: Deadline = NEVER) -> None:
        self.name = wheel.file
        self.path = wheel.path
        self.deadline = deadline

    def names(self) -> list[str]:
        with _opened(self.path) as archive:
            return [member.filename for member in archive.infolist() if not member.is_dir()]

    def binaries(self) -> t.Iterator[tuple[str, str]]:
        # Beside the wheel, for /tmp may be in memory and libtorch_cuda.so has a gigabyte; under one name, so that what
        # a killed run left is overwritten.
        unpacked = f"{self.path}.unpacked"
        try:
            with _opened(self.path) as archive:
                for member in archive.infolist():
                    self.deadline.check()
                    with archive.open(member) as stream:
                        start = stream.read(8)
                        if not is_binary(member.filename, start):
                            continue
                        # zipfile gives no more than a member is said to have.
                        self._check_room(member)
                        with open(unpacked, "wb") as target:
                            target.write(start)
                            for block in iter(functools.partial(stream.read, _BLOCK), b""):
                                self.deadline.check()
                                target.write(block)
                    yield member.filename, unpacked
        finally:
            disk.remove(unpacked)

    def _check_room(self, member: zipfile.ZipInfo) -> None:
        what = f"{member.filename[:200]!r} in {self.name}"
        remedy = "Free space there; if the size is implausible, do not trust the wheel."
        disk.check_space(os.path.dirname(self.path), member.file_size, what, remedy, _RESERVE)


def is_binary(name: str, start: bytes) -> bool:
    """Say whether a file that begins so is an ELF file, or an archive of object files."""
    return start.startswith(reader.MAGIC) or (start == _ARCHIVE and name.endswith(".a"))


def _wheel(path: str) -> Wheel:
    parts = _parts(path)
    with _opened(path) as archive:
        _dist_info(archive, parts[0])
    name, version = normalised(parts[1]), parts[2].replace("_", "-")
    return Wheel(parts[0], name=name, version=version, size=os.stat(path).st_size, path=path)


def _parts(path: str) -> re.Match[str]:
    parts = _NAME.fullmatch(os.path.basename(path))
    if parts is None:
        raise SparkforgeError(
            f"{path} is not a valid wheel name.",
            "Correct name and version in its setup.py or pyproject.toml: neither may contain '-' after normalisation.",
        )
    return parts


@contextlib.contextmanager
def _opened(path: str) -> t.Iterator[zipfile.ZipFile]:
    """Open a wheel, and say in words where it turns out not to be whole."""
    try:
        with zip_archive.opened(path) as archive:
            yield archive
    except zip_archive.DAMAGED as error:
        raise SparkforgeError(
            f"{path} is not a complete wheel: {str(error).rstrip('.') or 'it is truncated'}.",
            "Remove it and run again: the build is kept and packaged again.",
        ) from error


def _dist_info(archive: zipfile.ZipFile, name: str) -> str:
    """Return the name of the ``.dist-info`` directory that has WHEEL and RECORD."""
    members = set(archive.namelist())
    found = [
        member[: -len("/WHEEL")] for member in members if member.endswith(".dist-info/WHEEL") and member.count("/") == 1
    ]
    if len(found) != 1 or f"{found[0]}/RECORD" not in members:
        raise SparkforgeError(
            f"{name} is not a wheel: it does not have exactly one .dist-info directory with WHEEL and RECORD.",
            "Check in the log what created it; a build backend writes both.",
        )
    return found[0]


def _build_of(path: str) -> str | None:
    with _opened(path) as archive:
        info = _dist_info(archive, os.path.basename(path))
        text = zip_archive.read_member(archive, f"{info}/WHEEL", metadata.LIMIT).decode("utf-8", "replace")
    match = re.search(r"(?mi)^Build:[ \t]*(\S+)", text)
    return match[1] if match else None


def _with_build(text: bytes, build_tag: str) -> bytes:
    """Return WHEEL with one ``Build`` field, which stands before the tags as PEP 427 shows it."""
    newline = b"\r\n" if b"\r\n" in text else b"\n"
    lines = [line for line in text.rstrip().splitlines() if not line.lower().startswith(b"build:")]
    place = next((index for index, line in enumerate(lines) if line.lower().startswith(b"tag:")), len(lines))
    lines.insert(place, b"Build: " + build_tag.encode("ascii"))
    return newline.join(lines) + newline


def _with_digest(record: bytes, member: str, content: bytes, name: str) -> bytes:
    """Return RECORD with the digest and the size of a member's new content."""
    rows = list(csv.reader(io.StringIO(record.decode("utf-8"), newline="")))
    hits = [row for row in rows if row and row[0] == member]
    if len(hits) != 1:
        raise SparkforgeError(
            f"RECORD of {name} names {member} {len(hits)} times.",
            "Check in the log what created it, and rebuild it.",
        )
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
    hits[0][1:] = [f"sha256={digest}", str(len(content))]
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(row for row in rows if row)
    return text.getvalue().encode("utf-8")


def _copy_zip(old: zipfile.ZipFile, path: str, changed: t.Mapping[str, bytes]) -> None:
    """Write a copy in which the members ``changed`` have other contents and stand last.

    The bytes of all others are copied as they are: to compress a PyTorch wheel again would take minutes. zipfile cannot
    do that, but what it keeps of an archive (its list of members and where the next one goes) has been the same since
    Python 3.5.
    """
    source, begin = t.cast(t.BinaryIO, old.fp), t.cast(t.Any, old).start_dir
    members = sorted(old.infolist(), key=lambda member: member.header_offset)
    ends = [*(member.header_offset for member in members[1:]), begin]
    with zipfile.ZipFile(path, "w", allowZip64=True) as new:
        target, internals = t.cast(t.BinaryIO, new.fp), t.cast(t.Any, new)
        for member, end in zip(members, ends):
            if member.filename in changed:
                continue
            source.seek(member.header_offset)
            if source.read(4) != b"PK\x03\x04" or member.compress_size > end - member.header_offset:
                raise zipfile.BadZipFile(f"the member {member.filename} is not where the archive's directory says")
            source.seek(member.header_offset)
            length, member.header_offset = end - member.header_offset, target.tell()
            _copy(source, target, length)
            internals.filelist.append(member)
            internals.NameToInfo[member.filename] = member
        internals.start_dir = target.tell()
        for name, content in changed.items():
            before = old.getinfo(name)
            member = zipfile.ZipInfo(name, before.date_time)
            member.compress_type, member.external_attr = before.compress_type, before.external_attr
            new.writestr(member, content)


def _copy(source: t.BinaryIO, target: t.BinaryIO, length: int) -> None:
    while length:
        block = source.read(min(_BLOCK, length))
        if not block:
            raise zipfile.BadZipFile("it is truncated")
        target.write(block)
        length -= len(block)
