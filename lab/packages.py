# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write Debian packages, redist archives and signed flat apt repositories that are byte-for-byte reproducible.

All data streams from its source (usually a wheel) to its destination in a single pass and is hashed on the way, so a
700 MB package needs no staging tree, no root and no second read. Sizes are in bytes.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import io
import shutil
import struct
import subprocess
import tarfile
import tempfile
import time
import typing as t
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path, PurePosixPath

from lab.host import LabError, require

#: 2025-10-01 00:00 UTC, the time given to every member, so that an archive does not change when it is rebuilt.
MEMBER_TIME = 1759276800
BLOCK = 1 << 20


class Source(t.Protocol):
    """Bytes of a known size, because an archive's header precedes its content."""

    size: int

    def open(self) -> t.ContextManager[t.IO[bytes]]: ...


class Content:
    """Bytes held in memory."""

    def __init__(self, data: bytes | str) -> None:
        self.data = data.encode() if isinstance(data, str) else data
        self.size = len(self.data)

    def open(self) -> t.ContextManager[t.IO[bytes]]:
        return io.BytesIO(self.data)


class FileContent:
    """The bytes of a file on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = path.stat().st_size

    def open(self) -> t.ContextManager[t.IO[bytes]]:
        return self.path.open("rb")


class WheelMember:
    """A member of a wheel, decompressed while it is read; ``zipfile`` checks its CRC."""

    def __init__(self, wheel: Path, name: str) -> None:
        self.wheel = wheel
        self.name = name
        with zipfile.ZipFile(wheel) as archive:
            try:
                self.size = archive.getinfo(name).file_size
            except KeyError:
                raise LabError(f"{wheel.name} has no member {name}. Correct lab/mirror_inputs.yml.") from None

    @contextlib.contextmanager
    def open(self) -> Iterator[t.IO[bytes]]:
        with zipfile.ZipFile(self.wheel) as archive, archive.open(self.name) as stream:
            yield stream


@dataclass(frozen=True)
class Entry:
    """A regular file (``source``) or a symbolic link (``link``), at ``path`` relative to the archive's root."""

    path: str
    source: Source | None = None
    link: str = ""
    mode: int = 0o644


@dataclass(frozen=True)
class Written:
    """A written file, with its size and digests for an index or a manifest."""

    path: Path
    size: int
    sha256: str
    md5: str


class HashingSink:
    """Writes a file and computes its size and digests on the way, without reading it again."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.size = 0
        self._file = path.open("wb")
        self._sha256 = hashlib.sha256()
        self._md5 = hashlib.md5(usedforsecurity=False)

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._sha256.update(data)
        self._md5.update(data)
        self.size += len(data)

    def close(self) -> Written:
        self._file.close()
        return Written(self.path, self.size, self._sha256.hexdigest(), self._md5.hexdigest())


class StoredXz:
    """An .xz stream whose LZMA2 chunks are stored, not compressed.

    Any decoder reads it as fast as it could copy it. Shared objects full of device code hardly shrink, and under
    emulation decompressing real chunks would take most of the time.

    Layout: https://tukaani.org/xz/xz-file-format.txt, one block, CRC32 (the check that zlib has).
    """

    _FLAGS = b"\x00\x01"
    _CHUNK = 1 << 16

    def __init__(self, sink: HashingSink) -> None:
        self._sink = sink
        self._pending = bytearray()
        self._first = True
        self._check = 0
        self._uncompressed = 0
        sink.write(b"\xfd7zXZ\x00" + self._FLAGS + _crc32(self._FLAGS))
        # A 12-byte header with one filter (LZMA2) and its only property, a 64 KiB dictionary.
        header = b"\x02\x00\x21\x01\x08\x00\x00\x00"
        sink.write(header + _crc32(header))
        self._unpadded = len(header) + 4

    def write(self, data: bytes) -> None:
        self._check = zlib.crc32(data, self._check)
        self._uncompressed += len(data)
        self._pending += data
        complete = len(self._pending) - len(self._pending) % self._CHUNK
        self._store(complete)

    def close(self) -> None:
        self._store(len(self._pending))
        self._sink.write(b"\x00")
        self._unpadded += 1
        self._sink.write(bytes(-self._unpadded % 4) + struct.pack("<I", self._check))
        index = b"\x00\x01" + _multibyte(self._unpadded + 4) + _multibyte(self._uncompressed)
        index += bytes(-len(index) % 4)
        self._sink.write(index + _crc32(index))
        footer = struct.pack("<I", len(index) // 4) + self._FLAGS
        self._sink.write(_crc32(footer) + footer + b"YZ")

    def _store(self, length: int) -> None:
        view = memoryview(bytes(self._pending[:length]))
        del self._pending[:length]
        parts: list[bytes | memoryview] = []
        for start in range(0, length, self._CHUNK):
            chunk = view[start : start + self._CHUNK]
            # 1 resets the dictionary, which the first chunk must do; 2 does not.
            parts.append(struct.pack(">BH", 1 if self._first else 2, len(chunk) - 1))
            parts.append(chunk)
            self._unpadded += 3 + len(chunk)
            self._first = False
        self._sink.write(b"".join(parts))


def _crc32(data: bytes) -> bytes:
    return struct.pack("<I", zlib.crc32(data))


def _multibyte(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


class Tar:
    """A tar stream of ``entries`` in ``root``: sorted, owned by root, with all parent directories listed."""

    def __init__(self, entries: Iterable[Entry], root: str) -> None:
        named = {str(PurePosixPath(root, entry.path)): entry for entry in entries}
        # dpkg expects ./usr/…, and a redist archive <name>/…: PurePosixPath drops the dot, so put it back.
        prefix = "./" if root == "." else ""
        parents = {str(parent) for path in named for parent in PurePosixPath(path).parents if str(parent) != "."}
        self._members: list[tuple[bytes, Source | None]] = []
        if prefix:
            self._members.append((_tar_header("./", directory=True), None))
        for path in sorted(parents | set(named)):
            entry = named.get(path)
            if entry is None:
                self._members.append((_tar_header(f"{prefix}{path}/", directory=True), None))
            else:
                self._members.append((_tar_header(prefix + path, entry), entry.source))
        self.size = 2 * tarfile.BLOCKSIZE + sum(
            len(header) + (_padded(source.size) if source else 0) for header, source in self._members
        )

    def write_to(self, sink: HashingSink | StoredXz) -> None:
        for header, source in self._members:
            sink.write(header)
            if source:
                with source.open() as stream:
                    written = 0
                    while block := stream.read(BLOCK):
                        sink.write(block)
                        written += len(block)
                if written != source.size:
                    raise LabError(f"A source of {source.size} bytes gave {written}. Build the mirror again.")
                sink.write(bytes(_padded(written) - written))
        sink.write(bytes(2 * tarfile.BLOCKSIZE))


def _padded(size: int) -> int:
    return -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


def _tar_header(name: str, entry: Entry | None = None, *, directory: bool = False) -> bytes:
    header = tarfile.TarInfo(name)
    header.mtime = MEMBER_TIME
    header.uname = header.gname = "root"
    if directory or entry is None:
        header.type, header.mode = tarfile.DIRTYPE, 0o755
    elif entry.link:
        header.type, header.mode, header.linkname = tarfile.SYMTYPE, 0o777, entry.link
    else:
        header.mode, header.size = entry.mode, t.cast(Source, entry.source).size
    return header.tobuf(tarfile.GNU_FORMAT)


def write_archive(path: Path, entries: Iterable[Entry]) -> Written:
    """Write a redist archive: ``NAME.tar.xz`` contains everything in ``NAME/``, like NVIDIA's."""
    sink = HashingSink(path)
    stream = StoredXz(sink)
    Tar(entries, path.name.removesuffix(".tar.xz")).write_to(stream)
    stream.close()
    return sink.close()


@dataclass
class Package:
    """A binary package to write. ``scripts`` maps postinst, prerm … to their text."""

    name: str
    version: str
    architecture: str
    summary: str
    description: str = ""
    section: str = "devel"
    relations: dict[str, list[str]] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        return f"{self.name}_{self.version}_{self.architecture}.deb"

    def control(self) -> str:
        """Return the control file, ending in a newline."""
        size = sum(entry.source.size for entry in self.entries if entry.source)
        lines = [
            f"Package: {self.name}",
            f"Version: {self.version}",
            f"Architecture: {self.architecture}",
            "Maintainer: sparkforge lab <lab@sparkforge.invalid>",
            f"Installed-Size: {-(-size // 1024)}",
            *(f"{kind}: {', '.join(names)}" for kind, names in sorted(self.relations.items()) if names),
            f"Section: {self.section}",
            "Priority: optional",
            f"Description: {self.summary}",
            *(f" {line or '.'}" for line in self.description.splitlines()),
        ]
        return "\n".join(lines) + "\n"

    def write(self, directory: Path) -> Written:
        """Write the .deb into ``directory``, uncompressed, which is fastest to unpack under emulation."""
        members = [Entry("control", Content(self.control()))]
        members += [Entry(name, Content(text), mode=0o755) for name, text in self.scripts.items()]
        conffiles = sorted(f"/{entry.path}\n" for entry in self.entries if entry.path.startswith("etc/"))
        if conffiles:
            members.append(Entry("conffiles", Content("".join(conffiles))))
        if any(".so." in entry.path or "/ld.so.conf.d/" in entry.path for entry in self.entries):
            members.append(Entry("triggers", Content("activate-noawait ldconfig\n")))
        sink = HashingSink(directory / self.file_name)
        sink.write(b"!<arch>\n")
        sink.write(_ar_header("debian-binary", 4) + b"2.0\n")
        # Tar streams are multiples of 512 bytes, so ar members do not need padding.
        for name, tar in (
            ("control.tar", Tar(members, ".")),
            ("data.tar", Tar(self.entries, ".")),
        ):
            sink.write(_ar_header(name, tar.size))
            tar.write_to(sink)
        return sink.close()


def _ar_header(name: str, size: int) -> bytes:
    return f"{name:<16}{MEMBER_TIME:<12}{0:<6}{0:<6}{100644:<8}{size:<10}`\n".encode()


class SigningKey:
    """The lab's own OpenPGP key, stored as an armoured file so that its fingerprint does not change."""

    def __init__(self, path: Path, user_id: str) -> None:
        self._path = path
        if not path.exists():
            with _gpg_home() as gpg:
                gpg("--quick-generate-key", user_id, "ed25519", "sign", "never")
                secret = gpg("--armor", "--export-secret-keys")
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = path.with_suffix(".partial")
            partial.touch(mode=0o600)
            partial.write_bytes(secret)
            partial.replace(path)

    @property
    def fingerprint(self) -> str:
        """Forty hexadecimal digits."""
        return self._public[0]

    @property
    def armored(self) -> bytes:
        """The public key as text, for a .pub or .asc file."""
        return self._public[1]

    @property
    def keyring(self) -> bytes:
        """The public key as bytes, for a .gpg file."""
        return self._public[2]

    @functools.cached_property
    def _public(self) -> tuple[str, bytes, bytes]:
        with self._imported() as gpg:
            listing = gpg("--with-colons", "--list-keys").decode()
            fingerprint = next(line.split(":")[9] for line in listing.splitlines() if line.startswith("fpr:"))
            return fingerprint, gpg("--armor", "--export"), gpg("--export")

    def sign(self, release: bytes) -> dict[str, bytes]:
        """Return the signed forms of a Release file: ``InRelease`` and ``Release.gpg``."""
        with self._imported() as gpg:
            options = ("--digest-algo", "SHA512")
            return {
                "InRelease": gpg(*options, "--clear-sign", content=release),
                "Release.gpg": gpg(*options, "--armor", "--detach-sign", content=release),
            }

    @contextlib.contextmanager
    def _imported(self) -> Iterator[t.Callable[..., bytes]]:
        with _gpg_home() as gpg:
            gpg("--import", str(self._path))
            yield gpg


@contextlib.contextmanager
def _gpg_home() -> Iterator[t.Callable[..., bytes]]:
    """Run gpg with a separate home directory, which leaves the user's keys alone, and stop its agent in the end."""
    # Use /tmp, because socket paths are limited to 108 bytes, and a cache's path may be longer.
    with tempfile.TemporaryDirectory(prefix="lab-gpg-") as home:
        options = ["--homedir", home, "--batch", "--quiet", "--no-tty", "--passphrase", ""]

        def gpg(*arguments: str, content: bytes | None = None) -> bytes:
            result = subprocess.run(
                [require("gpg"), *options, "--pinentry-mode", "loopback", *arguments],
                input=content,
                capture_output=True,
                check=False,
            )
            if result.returncode:
                raise LabError(
                    f"gpg {arguments[0]} exited with {result.returncode}: {result.stderr.decode().strip()}. "
                    "Install gpg and gpg-agent."
                )
            return result.stdout

        try:
            yield gpg
        finally:
            if shutil.which("gpgconf"):
                subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False, capture_output=True)


def write_repository(
    directory: Path,
    packages: Iterable[tuple[Package, Written]],
    key: SigningKey,
    fields: Mapping[str, str],
) -> list[Path]:
    """Write the indices of a flat repository: Packages, Packages.gz, Release, InRelease, Release.gpg.

    The .deb files must already be in ``directory``. ``fields`` are the first lines of Release (Origin, Label …).
    """
    stanzas = [
        f"{package.control()}Filename: ./{written.path.name}\nSize: {written.size}\n"
        f"MD5sum: {written.md5}\nSHA256: {written.sha256}\n"
        for package, written in sorted(packages, key=lambda pair: pair[1].path.name)
    ]
    index = "\n".join(stanzas).encode()
    files = {"Packages": index, "Packages.gz": gzip.compress(index, 9, mtime=MEMBER_TIME)}
    release = "".join(f"{name}: {value}\n" for name, value in fields.items())
    # Set the date one minute in the past: apt refuses a Release from the future, and hosts' clocks differ a little.
    release += f"Date: {formatdate(time.time() - 60, usegmt=True)}\nSHA256:\n"
    release += "".join(f" {hashlib.sha256(data).hexdigest()} {len(data):>16} {name}\n" for name, data in files.items())
    files["Release"] = release.encode()
    files.update(key.sign(files["Release"]))
    for name, data in files.items():
        (directory / name).write_bytes(data)
    return [directory / name for name in files]
