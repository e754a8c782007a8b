"""Archives whose headers claim too much memory are refused before it is allocated."""

import gzip
import io
import lzma
import os
import struct
import tarfile
import tracemalloc
import typing as t
import zipfile
import zlib
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import zip_archive
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import archive_reader, unpack

from tests.unit.redist_tree import member, tar

#: The size that the hostile headers claim, and the maximum memory that refusing them may take.
SIZE, MEMORY_LIMIT = 48 << 20, 8 << 20


def header(kind: bytes, size: int, name: str = "top/x") -> bytes:
    info = member(name, kind)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def long_name() -> bytes:
    return header(b"L", SIZE) + b"n" * SIZE + header(b"0", 0)


def long_link() -> bytes:
    return header(b"K", SIZE) + b"n" * SIZE + header(b"2", 0)


def pax(kind: bytes = b"x") -> bytes:
    return header(kind, SIZE) + b"%d comment=" % SIZE + b"n" * (SIZE - 20) + b"\n" + bytes(600) + header(b"0", 0)


def global_pax() -> bytes:
    return pax(b"g")


def sparse() -> bytes:
    first = bytearray(header(b"S", 0))
    first[482] = 1
    first[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(first))[0]
    more = struct.pack("12s12s", b"00000000001\0", b"00000000001\0") * 21 + b"\1" + bytes(7)
    return bytes(first) + more * 20_000


def global_records() -> bytes:
    content = b""
    for number in range(300):
        body = b"".join(b"%d %s=x\n" % (len(key) + 6, key) for key in (b"%05d-%03d" % (number, n) for n in range(800)))
        content += header(b"g", len(body)) + padded(body) + header(b"5", 0, f"top/{number}")
    return content


BOMBS = (long_name, long_link, pax, global_pax, sparse, global_records)


def refusal(path: Path, content: bytes, work: t.Callable[[str, str], t.Any]) -> tuple[str, int]:
    """Return the cause for which an archive is refused, and the memory used."""
    (path / "archive").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(SparkforgeError) as failure:
            work(str(path / "archive"), str(path / "out"))
        return failure.value.cause, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.__name__)
def test_hostile_headers_take_little_memory(tmp_path: Path, bomb: t.Any) -> None:
    content = gzip.compress(padded(bomb()) + bytes(1024), 6)
    cause, memory = refusal(tmp_path, content, unpack.unpack)
    assert "not a tar archive: " in cause
    assert len(cause) < 1000
    assert memory < MEMORY_LIMIT
    assert os.listdir(tmp_path) == ["archive"]


def test_source_archive_has_the_same_limits(tmp_path: Path) -> None:
    content = gzip.compress(long_name())
    cause, memory = refusal(tmp_path, content, lambda *paths: unpack.unpack(*paths, "sources", unpack.SOURCES))
    assert "more than 131072 bytes" in cause
    assert memory < MEMORY_LIMIT


def test_members_are_not_kept_in_memory(tmp_path: Path) -> None:
    content = gzip.decompress(tar([(member(f"top/{n:06}/"), b"") for n in range(10)], "gz"))
    members = archive_reader.Members(io.BytesIO(content))
    assert len(list(members)) == 10
    assert members._archive.members == []


def test_gigabyte_dictionary_is_refused(tmp_path: Path) -> None:
    content = bytearray(tar([(member("top/x"), b"x")], "xz"))
    size = (content[12] + 1) * 4
    # The property byte of the LZMA2 filter is the dictionary size (The .xz File Format, 5.3.1).
    position = content.index(b"\x21\x01", 12) + 2
    content[position] = 36
    content[12 + size - 4 : 12 + size] = struct.pack("<I", zlib.crc32(content[12 : 12 + size - 4]))
    cause, _memory = refusal(tmp_path, bytes(content), unpack.unpack)
    assert "Memory usage limit exceeded" in cause
    content[position] = 28  # xz -9: 64 MiB
    content[12 + size - 4 : 12 + size] = struct.pack("<I", zlib.crc32(content[12 : 12 + size - 4]))
    (tmp_path / "archive").write_bytes(content)
    assert unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out")).files == {"x": 1}


def test_concatenated_xz_streams_with_padding(tmp_path: Path) -> None:
    content = lzma.decompress(tar([(member("top/x"), os.urandom(100_000)), (member("top/y"), b"y")]))
    first, second = lzma.compress(content[:51_200]), lzma.compress(content[51_200:])
    (tmp_path / "archive").write_bytes(first + bytes(8) + second + bytes(4))
    assert unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out")).files == {"x": 100_000, "y": 1}


def test_long_name_is_shortened_in_the_message(tmp_path: Path) -> None:
    cause, _memory = refusal(tmp_path, tar([(member("top/" + "n" * 60_000 + "/.."), b"")], "gz"), unpack.unpack)
    assert "archive with '..'" in cause
    assert len(cause) <= 4000


def test_zip_archive_with_large_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "archive", "w") as file:
        for number in range(2000):
            file.writestr(f"top/{number}", b"")
    monkeypatch.setattr(zip_archive, "DIRECTORY_LIMIT", 70_000)
    path = str(tmp_path / "archive")
    with pytest.raises(zipfile.BadZipFile, match="directory has more"), zip_archive.open_zip(path):
        pass


@pytest.mark.parametrize("mtime", ["inf", "-inf", "nan", "1e400"])
def test_invalid_modification_time_is_damage(tmp_path: Path, mtime: str) -> None:
    info = member("top/x")
    info.pax_headers = {"mtime": mtime}
    cause, _memory = refusal(tmp_path, tar([(info, b"x")], "gz"), unpack.unpack)
    assert "not a tar archive: cannot convert float" in cause


@pytest.mark.parametrize(
    "bad_member", [member("top/a\0b"), member("top/l", tarfile.SYMTYPE, "a\0b"), member("top/d\0/x", tarfile.DIRTYPE)]
)
def test_name_with_nul_is_damage(tmp_path: Path, bad_member: tarfile.TarInfo) -> None:
    bad_member.pax_headers = {"path": bad_member.name, "linkpath": bad_member.linkname}
    cause, _memory = refusal(tmp_path, tar([(member("top/first"), b""), (bad_member, b"")], "gz"), unpack.unpack)
    assert "embedded null" in cause
    assert os.listdir(tmp_path) == ["archive"]


def test_sparse_map_with_huge_number_is_damage(tmp_path: Path) -> None:
    info = member("top/x")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "1"}
    cause, _memory = refusal(tmp_path, tar([(info, b"9" * 5000 + b"\n" + bytes(600))], "gz"), unpack.unpack)
    assert "not a tar archive" in cause


def test_chained_headers_are_damage(tmp_path: Path) -> None:
    chain = (header(b"g", 512) + padded(b"9 a=bcde\n")) * 5000 + header(b"0", 0) + bytes(1024)
    cause, _memory = refusal(tmp_path, gzip.compress(chain), unpack.unpack)
    assert "more than 131072 bytes" in cause


@pytest.mark.parametrize("cut", [4, 12, 40])
def test_archive_truncated_after_last_member_is_damage(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.tar.xz"
    path.write_bytes(tar([(member("top/x"), b"1")])[:-cut])
    with pytest.raises(SparkforgeError, match="is damaged"):
        unpack.unpack(str(path), str(tmp_path / "unpacked"))
    assert not (tmp_path / "unpacked").exists()


def test_trailing_data_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.xz"
    content = lzma.decompress(tar([(member("top/x"), b"1")])) + bytes(archive_reader.TRAILING_LIMIT + (2 << 20))
    path.write_bytes(lzma.compress(content))
    with pytest.raises(SparkforgeError, match="its last member"):
        unpack.unpack(str(path), str(tmp_path / "unpacked"))
