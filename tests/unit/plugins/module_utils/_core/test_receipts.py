import fcntl
import os
import stat
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


def test_a_receipt_can_be_read_by_everybody_whatever_the_umask_is(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        path = receipts.write(str(tmp_path / "root"), "one", {})
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o755


def test_a_missing_or_damaged_receipt_is_none(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert receipts.read(root, "one") is None
    path = receipts.write(root, "one", {})
    for damaged in (b"", b"{", b"[]", b"\xff"):
        Path(path).write_bytes(damaged)
        assert receipts.read(root, "one") is None


def test_a_receipt_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    receipts.write(str(tmp_path), "one", {"old": True})

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(receipts.os, "fsync", full)
    with pytest.raises(SparkforgeError, match=r"one\.json cannot be written: No space left"):
        receipts.write(str(tmp_path), "one", {"new": True})
    assert receipts.read(str(tmp_path), "one") == {"old": True}
    assert os.listdir(tmp_path / "receipts") == ["one.json"]


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a b"])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: t.Any) -> None:
    with pytest.raises(SparkforgeError, match="is not a valid receipt name"):
        receipts.write(str(tmp_path), name, {})


def test_what_is_no_symlink_is_not_switched(tmp_path: Path) -> None:
    (tmp_path / "current").mkdir()
    with pytest.raises(SparkforgeError, match="is not a symlink"):
        disk.switch_symlink(str(tmp_path / "current"), "one")
    assert os.listdir(tmp_path) == ["current"]


def test_a_link_is_there_at_every_moment_of_a_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "current"
    disk.switch_symlink(str(link), "one")
    seen: list[str] = []
    real = os.replace

    def replace(source: str, target: str) -> None:
        seen.append(os.readlink(link))
        real(source, target)
        seen.append(os.readlink(link))

    monkeypatch.setattr(receipts.os, "replace", replace)
    disk.switch_symlink(str(link), "two")
    assert seen == ["one", "two"]


def test_a_tree_with_links_and_folders_is_synced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("x")
    (tmp_path / "dangling").symlink_to("nowhere")
    disk.fsync_tree(str(tmp_path))


def test_a_lock_that_is_held_too_long_names_its_holder(tmp_path: Path) -> None:
    with (
        receipts.lock(str(tmp_path), "test"),
        pytest.raises(SparkforgeError, match=rf"process {os.getpid()}\) holds .*\.test\.lock\."),
        receipts.lock(str(tmp_path), "test", 0.0),
    ):
        pass
    with receipts.lock(str(tmp_path), "test", 0.0):
        pass


def test_a_lock_is_that_of_the_file_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who held it until now takes the file away; whoever comes next would make another, and hold that."""
    path, flock = tmp_path / ".test.lock", fcntl.flock

    def exchanged(descriptor: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        flock(descriptor, how)
        path.unlink()
        path.touch()

    monkeypatch.setattr(fcntl, "flock", exchanged)
    with receipts.lock(str(tmp_path), "test"), path.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    (tmp_path / ".test.lock").symlink_to("victim")
    with pytest.raises(SparkforgeError, match="cannot be taken"), receipts.lock(str(tmp_path), "test"):
        pass
    assert (tmp_path / "victim").read_text() == "kept"


def test_a_lock_is_its_owner_s_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with receipts.lock(str(tmp_path), "test"):
            assert stat.S_IMODE((tmp_path / ".test.lock").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_a_receipt_that_was_removed_stays_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        receipts.write(str(tmp_path), name, {})
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    assert receipts.remove(str(tmp_path), "one")
    assert synced == [(tmp_path / "receipts").stat().st_ino]


def test_the_end_of_a_lock_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(disk, "fsync_directory", lambda path: synced.append((path, os.listdir(path))))
    (tmp_path / "kept").touch()
    with receipts.lock(str(tmp_path), "env"):
        synced.clear()
    assert synced == [(str(tmp_path), ["kept"])]


def test_a_receipt_that_is_too_large_is_none(tmp_path: Path) -> None:
    path = Path(receipts.path_of(str(tmp_path), "x"))
    path.parent.mkdir()
    for size, content in ((receipts.LARGEST, {}), (receipts.LARGEST + 1, None)):
        path.write_bytes(b"{}".rjust(size))
        assert receipts.read(str(tmp_path), "x") == receipts.load(str(path)) == content


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
def test_what_lies_in_the_place_of_a_receipt_keeps_nobody_waiting(tmp_path: Path, kind: str) -> None:
    path = Path(receipts.path_of(str(tmp_path), "x"))
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(SparkforgeError, match="cannot be read: not a regular file") as raised:
        receipts.read(str(tmp_path), "x")
    assert raised.value.remedy
