import gzip
import io
import os
import stat
import tarfile
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import archive_reader, unpack

from tests.unit.redist_tree import member, tar

Members = list[tuple[tarfile.TarInfo, bytes]]


def unpack_members(tmp_path: Path, members: Members, compression="gz", kind=unpack.VENDOR) -> unpack.Unpacked:
    (tmp_path / "archive").write_bytes(tar(members, compression))
    return unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out"), kind=kind)


def refusal(tmp_path: Path, *members: tuple[tarfile.TarInfo, bytes], kind: unpack.Kind = unpack.VENDOR) -> str:
    with pytest.raises(SparkforgeError) as failure:
        unpack_members(tmp_path, [(member("top/first"), b"first"), *members], kind=kind)
    assert os.listdir(tmp_path) == ["archive"], "a refused archive must leave no files"
    return failure.value.cause


@pytest.mark.parametrize("compression", ["xz", "gz", "bz2"])
def test_top_directory_is_stripped(tmp_path: Path, compression: t.Any) -> None:
    result = unpack_members(
        tmp_path,
        [
            (member("./top/", tarfile.DIRTYPE), b""),
            (member("./top/lib/a.so.1"), b"library"),
            (member("./top/lib/a.so", tarfile.SYMTYPE, "a.so.1"), b""),
            (member("./top/lib/b.so.1", tarfile.LNKTYPE, "./top/lib/a.so.1"), b""),
            (member("./top/lib64", tarfile.SYMTYPE, "lib"), b""),
            (member("./top/lib/header.h", tarfile.SYMTYPE, "../include/header.h"), b""),
        ],
        compression,
    )
    assert result.top == "top"
    assert result.files == {"lib/a.so.1": 7, "lib/b.so.1": 7}
    assert result.links == {"lib/a.so": "a.so.1", "lib64": "lib", "lib/header.h": "../include/header.h"}
    assert (tmp_path / "out/lib64/a.so").read_bytes() == b"library"


def test_modes_are_normalized_without_set_user_id(tmp_path: Path, umask: t.Callable[[int], int]) -> None:
    umask(0o077)
    unpack_members(
        tmp_path,
        [
            (member("top/tool", mode=0o6755), b"x"),
            (member("top/secret", mode=0o600), b"x"),
            (member("top/open", mode=0o666), b"x"),
            (member("top/folder", tarfile.DIRTYPE, mode=0o1777), b""),
            (member("top/deep/er/file"), b"x"),
        ],
    )
    modes = {path: stat.S_IMODE((tmp_path / "out" / path).stat().st_mode) for path in ("tool", "secret", "open")}
    assert modes == {"tool": 0o755, "secret": 0o644, "open": 0o644}
    for folder in (".", "folder", "deep", "deep/er"):
        assert stat.S_IMODE((tmp_path / "out" / folder).stat().st_mode) == 0o755


def test_file_times_are_kept_unless_in_the_future(tmp_path: Path) -> None:
    future = member("top/future")
    future.mtime = 99_999_999_999
    unpack_members(tmp_path, [(member("top/file"), b""), (future, b"")])
    assert (tmp_path / "out/file").stat().st_mtime == 1_700_000_000
    assert (tmp_path / "out/future").stat().st_mtime < 99_999_999_999


@pytest.mark.parametrize(
    ("tar_member", "cause"),
    [
        (member("../evil"), "leaves the archive"),
        (member("top/../../evil"), "leaves the archive"),
        (member("top/a/../evil"), "leaves the archive"),
        (member("/top/evil"), "which is absolute"),
        (member("other/evil"), "'top' and 'other'"),
        (member("evil"), "one top-level directory"),
        (member("top/l", tarfile.SYMTYPE, "/etc"), "outside the archive"),
        (member("top/l", tarfile.SYMTYPE, "../other"), "outside the archive"),
        (member("top/a/l", tarfile.SYMTYPE, "../../other"), "outside the archive"),
        (member("top/l", tarfile.SYMTYPE, "./../other"), "outside the archive"),
        (member("top/l", tarfile.SYMTYPE, "first/../../other"), "outside the archive"),
        (member("top/l", tarfile.SYMTYPE, ""), "outside the archive"),
        (member("top/h", tarfile.LNKTYPE, "/etc/passwd"), "which is absolute"),
        (member("top/h", tarfile.LNKTYPE, "top/../../etc/passwd"), "leaves the archive"),
        (member("top/h", tarfile.LNKTYPE, "top/later"), "an earlier file"),
        (member("top/h", tarfile.LNKTYPE, "other/first"), "an earlier file"),
        (member("top/d", tarfile.CHRTYPE), "the device node 'top/d'"),
        (member("top/d", tarfile.BLKTYPE), "the device node 'top/d'"),
        (member("top/p", tarfile.FIFOTYPE), "the named pipe 'top/p'"),
        (member("top/first"), "contains 'top/first' twice"),
        (member("top/first/below"), "both a file"),
        (member("top/first", tarfile.DIRTYPE), "both a file"),
    ],
)
def test_hostile_member_is_refused(tmp_path: Path, tar_member: t.Any, cause: t.Any) -> None:
    assert cause in refusal(tmp_path, (tar_member, b""))


@pytest.mark.parametrize(
    ("link", "through", "cause"),
    [
        (member("top/link", tarfile.SYMTYPE, "real"), member("top/link/file"), "'top/link' and writes"),
        (member("top/link", tarfile.SYMTYPE, "first"), member("top/h", tarfile.LNKTYPE, "top/link"), "an earlier file"),
        (member("top/a/up", tarfile.SYMTYPE, ".."), member("top/a/out", tarfile.SYMTYPE, "up/../x"),
         "'top/a/out' to 'up/../x', outside"),
    ],
)  # fmt: skip
def test_member_through_symlink_is_refused(tmp_path: Path, link, through, cause: str) -> None:
    assert cause in refusal(tmp_path, (link, b""), (through, b""))


@pytest.mark.parametrize(("path", "target"), [("l", "../x"), ("a/l", "../../x"), ("a/b/l", "../../../x")])
def test_symlink_outside_archive_with_several_top_entries_is_refused(tmp_path: Path, path: str, target: str) -> None:
    link = (member(path, tarfile.SYMTYPE, target), b"")
    assert "outside the archive" in refusal(tmp_path, (member("other"), b""), link, kind=unpack.SOURCES)


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (b"", "it is empty"), (b"plain text", "it begins with b'plain text'"), (b"PK\x03\x04", "it is a zip archive"),
        (b"!<arch>\ndebian-binary", "it is a Debian package"), (b"\x28\xb5\x2f\xfd", "it is compressed with zstd"),
    ],
)  # fmt: skip
def test_kind_of_other_file_is_named(tmp_path: Path, body: t.Any, cause: t.Any) -> None:
    (tmp_path / "archive").write_bytes(body)
    with pytest.raises(SparkforgeError) as failure:
        unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out"), "http://mirror/a.tar.xz")
    assert failure.value.cause.startswith("http://mirror/a.tar.xz is not a tar archive")
    assert cause in failure.value.cause
    assert os.listdir(tmp_path) == ["archive"]


@pytest.mark.parametrize("compression", ["xz", "gz", "bz2"])
@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_truncated_archive_is_refused(tmp_path: Path, compression: t.Any, share: t.Any) -> None:
    body = tar([(member("top/file"), os.urandom(300_000)), (member("top/last"), b"x" * 100_000)], compression)
    (tmp_path / "archive").write_bytes(body[: int(len(body) * share)])
    with pytest.raises(SparkforgeError, match="not a tar archive"):
        unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["archive"]


def test_archive_without_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(tar([(member("top", tarfile.DIRTYPE), b"")]))
    with pytest.raises(SparkforgeError, match="contains no file"):
        unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out"))


def test_archive_larger_than_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Small:
        f_bavail, f_frsize = unpack.RESERVE + 10, 1

    monkeypatch.setattr(os, "statvfs", lambda path: Small)
    assert "needs 1.0 MB, and" in refusal(tmp_path, (member("top/large"), bytes(1_000_000)))


def test_too_many_members_are_refused(tmp_path: Path) -> None:
    kind = unpack.VENDOR._replace(limit=3)
    assert "more than 3 members" in refusal(tmp_path, *[(member(f"top/{n}"), b"") for n in range(3)], kind=kind)


def test_directory_depth_and_count_are_limited(tmp_path: Path) -> None:
    deep_path = "top/" + "d/" * 98
    assert "more than 100 directories deep" in refusal(tmp_path, (member(f"{deep_path}d/d/x"), b""))
    assert "more than 100 directories deep" in refusal(tmp_path, (member("top/" + "d/" * 2000, tarfile.DIRTYPE), b""))
    deep_ones = [(member(f"top/{n}/{'d/' * 90}", tarfile.DIRTYPE), b"") for n in range(12)]
    assert "more than 1000 members" in refusal(tmp_path, *deep_ones, kind=unpack.VENDOR._replace(limit=1000))
    unpack_members(tmp_path, [(member(f"{deep_path}x"), b"")])


def test_total_length_of_names_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "NAMES_LIMIT", 1 << 20)
    links = [(member(f"top/{n}", tarfile.SYMTYPE, "x" * 4000), b"") for n in range(300)]
    assert "more than 1 MiB" in refusal(tmp_path, *links)


def test_names_in_headers_are_limited_to_128_mib(tmp_path: Path) -> None:
    target = "x" * 120_000
    long = tarfile.TarInfo("top/0")
    # Any file may have a link target in its headers.
    long.pax_headers = {"linkpath": target}
    header = long.tobuf(tarfile.PAX_FORMAT)[: -tarfile.BLOCKSIZE]
    with gzip.open(tmp_path / "archive", "wb", 1) as stream:
        for number in range((128 << 20) // len(target) + 1):
            stream.write(header + tarfile.TarInfo(f"top/{number}").tobuf(tarfile.PAX_FORMAT))
        stream.write(bytes(2 * tarfile.BLOCKSIZE))
    with pytest.raises(SparkforgeError, match="more than 128 MiB"):
        unpack.unpack(str(tmp_path / "archive"), str(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["archive"]


def test_deep_tree_of_refused_archive_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "DEPTH_LIMIT", 10_000)
    deep = (member("top/" + "d/" * 1900, tarfile.DIRTYPE), b"")
    assert "leaves the archive" in refusal(tmp_path, deep, (member("top/../x"), b""))


def test_file_placed_meanwhile_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/file").symlink_to("../victim")
    members = archive_reader.Members(io.BytesIO(gzip.decompress(tar([(member("file"), b"other")], "gz"))))
    with pytest.raises(FileExistsError):
        unpack._Extraction("a", str(tmp_path / "out"), unpack.SOURCES).all(members)
    assert (tmp_path / "victim").read_text() == "kept"
