import fcntl
import os
import stat
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import directories, disk, receipts
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


def test_receipt_mode_does_not_depend_on_umask(tmp_path: Path, umask: t.Callable[[int], int]) -> None:
    umask(0o077)
    path = receipts.write(str(tmp_path / "root"), "one", {})
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o755


def test_missing_or_damaged_receipt_is_none(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert receipts.read(root, "one") is None
    path = receipts.write(root, "one", {})
    for damaged in (b"", b"{", b"[]", b"\xff"):
        Path(path).write_bytes(damaged)
        assert receipts.read(root, "one") is None


def test_failed_write_leaves_the_old_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    receipts.write(str(tmp_path), "one", {"old": True})

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(receipts.os, "fsync", full)
    with pytest.raises(SparkforgeError, match=r"one\.json cannot be written: No space left"):
        receipts.write(str(tmp_path), "one", {"new": True})
    assert receipts.read(str(tmp_path), "one") == {"old": True}
    assert os.listdir(tmp_path / "receipts") == ["one.json"]


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a b"])
def test_invalid_receipt_name_is_refused(tmp_path: Path, name: t.Any) -> None:
    with pytest.raises(SparkforgeError, match="valid receipt name"):
        receipts.write(str(tmp_path), name, {})


def test_switch_symlink_refuses_directory(tmp_path: Path) -> None:
    (tmp_path / "current").mkdir()
    with pytest.raises(SparkforgeError, match="not a symlink"):
        directories.switch_symlink(str(tmp_path / "current"), "one")
    assert os.listdir(tmp_path) == ["current"]


def test_switch_symlink_is_atomic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "current"
    directories.switch_symlink(str(link), "one")
    targets: list[str] = []
    os_replace = os.replace

    def replace(source: str, target: str) -> None:
        targets.append(os.readlink(link))
        os_replace(source, target)
        targets.append(os.readlink(link))

    monkeypatch.setattr(receipts.os, "replace", replace)
    directories.switch_symlink(str(link), "two")
    assert targets == ["one", "two"]


def test_fsync_tree_with_links_and_folders(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("x")
    (tmp_path / "dangling").symlink_to("nowhere")
    disk.fsync_tree(str(tmp_path))


def test_lock_timeout_names_the_holder(tmp_path: Path) -> None:
    with (
        receipts.lock(str(tmp_path), "test"),
        pytest.raises(SparkforgeError, match=rf"process {os.getpid()}\) holds .*\.test\.lock\."),
        receipts.lock(str(tmp_path), "test", 0.0),
    ):
        pass
    with receipts.lock(str(tmp_path), "test", 0.0):
        pass


def test_lock_holds_the_file_at_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The previous holder removes the file, so the next process would lock a new one."""
    path, flock = tmp_path / ".test.lock", fcntl.flock

    def flock_and_replace(descriptor: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", flock)
        flock(descriptor, operation)
        path.unlink()
        path.touch()

    monkeypatch.setattr(fcntl, "flock", flock_and_replace)
    with receipts.lock(str(tmp_path), "test"), path.open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_lock_does_not_follow_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    (tmp_path / ".test.lock").symlink_to("victim")
    with pytest.raises(SparkforgeError, match="cannot be taken"), receipts.lock(str(tmp_path), "test"):
        pass
    assert (tmp_path / "victim").read_text() == "kept"


def test_lock_file_is_readable_by_owner_only(tmp_path: Path, umask: t.Callable[[int], int]) -> None:
    umask(0)
    with receipts.lock(str(tmp_path), "test"):
        assert stat.S_IMODE((tmp_path / ".test.lock").stat().st_mode) == 0o600


def test_removal_of_receipt_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        receipts.write(str(tmp_path), name, {})
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    assert receipts.remove(str(tmp_path), "one")
    assert synced == [(tmp_path / "receipts").stat().st_ino]


def test_removal_of_lock_file_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(disk, "fsync", lambda path: synced.append((path, os.listdir(path))))
    (tmp_path / "kept").touch()
    with receipts.lock(str(tmp_path), "env"):
        synced.clear()
    assert synced == [(str(tmp_path), ["kept"])]


def test_large_receipt_is_ignored(tmp_path: Path) -> None:
    path = Path(receipts.path_of(str(tmp_path), "x"))
    path.parent.mkdir()
    for size, content in ((receipts.LARGEST, {}), (receipts.LARGEST + 1, None)):
        path.write_bytes(b"{}".rjust(size))
        assert receipts.read(str(tmp_path), "x") == receipts.load(str(path)) == content


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
def test_special_file_as_receipt_is_refused_without_blocking(tmp_path: Path, kind: str) -> None:
    path = Path(receipts.path_of(str(tmp_path), "x"))
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(SparkforgeError, match=r"cannot be read: .* regular file") as raised:
        receipts.read(str(tmp_path), "x")
    assert raised.value.remedy
