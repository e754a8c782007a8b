"""Read zip archives with bounded memory: a few hundred bytes can expand to gigabytes of names."""

from __future__ import annotations

import contextlib
import io
import lzma
import struct
import typing as t
import zipfile
import zlib

from . import disk

#: The size limit in bytes for an archive's directory, which zipfile reads at once.
DIRECTORY_LIMIT = 32 << 20

#: The exceptions for damaged archives. RuntimeError covers encrypted members and, as NotImplementedError, compression
#: methods that zipfile does not support.
DAMAGED = (
    zipfile.BadZipFile, lzma.LZMAError, zlib.error, struct.error,
    EOFError, ValueError, ArithmeticError, LookupError, RuntimeError,
)  # fmt: skip


class _Bounded(io.FileIO):
    """A zip archive whose directory is only read up to a size limit."""

    def read(self, size: int | None = -1) -> bytes:
        block: bytes = super().read(DIRECTORY_LIMIT + 1 if size is None or not 0 <= size <= DIRECTORY_LIMIT else size)
        if len(block) > DIRECTORY_LIMIT:
            raise zipfile.BadZipFile(f"its directory has more than {DIRECTORY_LIMIT >> 20} MiB")
        return block


@contextlib.contextmanager
def open_zip(path: str) -> t.Iterator[zipfile.ZipFile]:
    """Open a zip archive, which must be a regular file, with a limit on the size of its directory.

    :raises OSError: if it does not exist.
    :raises Exception: one of ``DAMAGED``, if it is not a valid archive.
    """
    with _Bounded(disk.regular(path, links=True)) as stream, zipfile.ZipFile(stream) as file:
        yield file


def read_member(file: zipfile.ZipFile, name: str, limit: int) -> bytes:
    """Return the content of a small member of a zip archive.

    :raises KeyError: if it does not exist.
    :raises Exception: one of ``DAMAGED``, also if it has more than ``limit`` bytes.
    """
    with file.open(name) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise zipfile.BadZipFile(f"{name} has more than {limit >> 20} MiB")
    return content
