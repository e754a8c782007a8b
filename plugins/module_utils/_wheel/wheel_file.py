"""Wheel files: read them in place, and check that they are complete."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import typing as t
import zipfile

from .._core import directories, disk, zip_archive
from .._core.deadline import NEVER, Deadline
from .._core.errors import SparkforgeError
from .._elf import reader
from . import metadata
from .names import normalised
from .wheel import Wheel

_BLOCK = 1 << 20
#: Bytes that must remain free after unpacking a file from a wheel.
_RESERVE = 64 << 20
# PEP 427, "File name convention": five parts, or six with a build tag, which begins with a digit.
_NAME = re.compile(r"([^-]+)-([^-]+)(?:-(\d[^-]*))?-([^-]+)-([^-]+)-([^-]+)\.whl")


def collect_wheels(directory: str) -> list[Wheel]:
    """Return the wheels in ``directory``, sorted by name, or an empty list if it does not exist.

    The digests are left out, because reading a PyTorch wheel takes a second.

    :raises SparkforgeError: for a wheel that is incomplete, or has an invalid name.
    """
    return [_wheel(os.path.join(directory, name)) for name in disk.names(directory) if name.endswith(".whl")]


def requires(wheel: Wheel) -> list[str]:
    """Return each ``Requires-Dist`` in a wheel's METADATA, or an empty list if it has no METADATA."""
    with _opened(wheel.path) as archive:
        try:
            text = zip_archive.read_member(archive, f"{_dist_info(archive, wheel.file)}/METADATA", metadata.LIMIT)
        except KeyError:
            return []
    return list(metadata.read(text).requires)


class WheelFiles:
    """The files of a wheel; ELF files are unpacked next to it, one at a time, if there is enough space.

    :param deadline: the time limit for all reading.
    """

    def __init__(self, wheel: Wheel, deadline: Deadline = NEVER) -> None:
        self.name = wheel.file
        self.path = wheel.path
        self.deadline = deadline

    def names(self) -> list[str]:
        with _opened(self.path) as archive:
            return [member.filename for member in archive.infolist() if not member.is_dir()]

    def binaries(self) -> t.Iterator[tuple[str, str]]:
        # Unpack next to the wheel, because /tmp may be in memory and libtorch_cuda.so has a gigabyte; a fixed name lets
        # the next run overwrite leftovers of a killed one.
        unpacked = f"{self.path}.unpacked"
        try:
            with _opened(self.path) as archive:
                for member in archive.infolist():
                    self.deadline.check()
                    with archive.open(member) as stream:
                        start = stream.read(8)
                        if not start.startswith(reader.MAGIC):
                            continue
                        # zipfile reads no more than the declared size of a member.
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
        label = f"{member.filename[:200]!r} in {self.name}"
        remedy = "Free space there; if the size is implausible, do not trust the wheel."
        directories.check_space(os.path.dirname(self.path), member.file_size, label, remedy, _RESERVE)


def _wheel(path: str) -> Wheel:
    parts = _NAME.fullmatch(os.path.basename(path))
    if parts is None:
        raise SparkforgeError(
            f"{path} is not a valid wheel name.",
            "Correct name and version in its setup.py or pyproject.toml: neither may contain '-' after normalisation.",
        )
    with _opened(path) as archive:
        _dist_info(archive, parts[0])
    name, version = normalised(parts[1]), parts[2].replace("_", "-")
    return Wheel(parts[0], name=name, version=version, size=os.stat(path).st_size, path=path)


@contextlib.contextmanager
def _opened(path: str) -> t.Iterator[zipfile.ZipFile]:
    """Open a wheel, and raise a clear error if it is incomplete."""
    try:
        with zip_archive.open_zip(path) as archive:
            yield archive
    except zip_archive.DAMAGED as error:
        raise SparkforgeError(
            f"{path} is not a complete wheel: {str(error).rstrip('.') or 'it is truncated'}.",
            "Remove it and run again: the build is kept and packaged again.",
        ) from error


def _dist_info(archive: zipfile.ZipFile, name: str) -> str:
    """Return the name of the ``.dist-info`` directory that contains WHEEL and RECORD."""
    members = set(archive.namelist())
    directories = [
        member[: -len("/WHEEL")] for member in members if member.endswith(".dist-info/WHEEL") and member.count("/") == 1
    ]
    if len(directories) != 1 or f"{directories[0]}/RECORD" not in members:
        raise SparkforgeError(
            f"{name} is not a wheel: it does not have exactly one .dist-info directory with WHEEL and RECORD.",
            "Find the program that created it in the log; a build backend writes both.",
        )
    return directories[0]
