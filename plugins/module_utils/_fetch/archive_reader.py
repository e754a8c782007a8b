"""Read tar archives with bounded memory: a few hundred bytes can expand to gigabytes of names."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import tarfile
import typing as t

from .._core import zip_archive

#: The maximum size in bytes of one member's headers, including long names, pax records and the map of a sparse file.
HEADER_LIMIT = 128 << 10

#: The maximum number of global pax records; ``git archive`` writes one.
RECORDS_LIMIT = 100

#: The maximum number of bytes after the last member; tar pads its last record, usually to 10 KiB.
TRAILING_LIMIT = 16 << 20

#: The maximum memory in bytes for decompression; ``xz -9`` takes 65 MiB, and a header may ask for 4 GiB.
MEMORY_LIMIT = 256 << 20

#: The errors that these libraries raise for damaged archives.
DAMAGED = (tarfile.TarError, *zip_archive.DAMAGED)

_BLOCK = 1 << 20


class _Xz:
    """Read an xz-compressed file with bounded memory, which ``lzma.open`` does not support."""

    def __init__(self, path: str) -> None:
        self.decoder = _decoder()
        self.file = open(path, "rb")  # noqa: SIM115 - closed at the end of the block

    def __enter__(self) -> _Xz:
        return self

    def __exit__(self, *_error: object) -> None:
        self.file.close()

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, or b"" at the end of the file."""
        while True:
            block = b""
            if self.decoder.eof:  # pylint: disable=using-constant-test
                # Another stream may follow, after padding zeros (.xz file format, section 2.2).
                block = (self.decoder.unused_data or self.file.read(_BLOCK)).lstrip(b"\0")
                if not block:
                    return b""
                self.decoder = _decoder()
            elif self.decoder.needs_input:  # pylint: disable=using-constant-test
                block = self.file.read(_BLOCK)
                if not block:
                    raise EOFError("the compressed data is truncated")
            data = self.decoder.decompress(block, size)
            if data:
                return data


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, MEMORY_LIMIT)


#: The first bytes of a compressed file -> its reader.
COMPRESSED: t.Final[dict[bytes, t.Callable[[str], t.Any]]] = {
    b"\xfd7zXZ\x00": _Xz,
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
}
#: The result of ``form`` for an uncompressed tar archive.
TAR = b"ustar"


def form(head: bytes) -> bytes:
    """Return the format of the archive that starts with ``head``, or empty bytes if it is unknown."""
    compressed = next((magic for magic in COMPRESSED if head.startswith(magic)), b"")
    return compressed or (TAR if head[257:262] == TAR else b"")


@contextlib.contextmanager
def open_archive(path: str, kind: bytes) -> t.Iterator[Members]:
    """Open an archive with a format returned by ``form``.

    :raises Exception: one of ``DAMAGED``, or an OSError.
    """
    with COMPRESSED[kind](path) if kind in COMPRESSED else open(path, "rb") as stream:
        yield Members(stream)


class _Reader:
    """The input for tarfile: it only moves forward, and limits the size of headers."""

    def __init__(self, stream: t.Any) -> None:
        self.stream = stream
        self.position = 0
        self.left: int | None = HEADER_LIMIT

    def tell(self) -> int:
        return self.position

    def read(self, size: int) -> bytes:
        if self.left is not None:
            self.left -= size
            if self.left < 0 or size < 0:
                raise tarfile.ReadError(f"a member has headers of more than {HEADER_LIMIT} bytes")
        blocks = []
        while size > 0:
            block = self.stream.read(size)
            if not block:
                break
            blocks.append(block)
            size -= len(block)
            self.position += len(block)
        return b"".join(blocks)

    def finish(self) -> None:
        """Read the trailing zeros after the last member, within a limit, so that a truncated file raises an error."""
        self.seek(self.position + TRAILING_LIMIT)
        if self.stream.read(1):
            raise tarfile.ReadError(f"more than {TRAILING_LIMIT >> 20} MiB follow its last member")

    def seek(self, position: int) -> None:
        if position < self.position:
            raise tarfile.ReadError("a member overlaps another")
        while self.position < position:
            block = self.stream.read(min(position - self.position, _BLOCK))
            if not block:
                return
            self.position += len(block)


class Members:
    """The members of a tar archive, one after the other; each is dropped when the next one is read.

    :param stream: the decompressed archive.
    """

    def __init__(self, stream: t.Any) -> None:
        self._reader = _Reader(stream)
        self._archive: t.Any = tarfile.open(fileobj=t.cast(t.Any, self._reader), mode="r:")  # noqa: SIM115 - not a file

    def __iter__(self) -> t.Iterator[tarfile.TarInfo]:
        while True:
            self._reader.left = HEADER_LIMIT
            member = self._archive.next()
            self._archive.members = []
            if member is None:
                self._reader.finish()
                return
            if len(self._archive.pax_headers) > RECORDS_LIMIT:
                raise tarfile.ReadError(f"it has more than {RECORDS_LIMIT} pax records for all members")
            self._reader.left = None
            yield member

    def extractfile(self, member: tarfile.TarInfo) -> t.IO[bytes] | None:
        content: t.IO[bytes] | None = self._archive.extractfile(member)
        return content
