"""Removing, durably writing and safely opening files."""

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import directories, disk


def make_deep_tree(path: Path, depth: int) -> None:
    """Create directories nested more deeply than the longest path and Python's recursion limit."""
    path.mkdir()
    parent = os.open(path, os.O_RDONLY)
    for _level in range(depth):
        os.mkdir("d", dir_fd=parent)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=parent))
        child = os.open("d", os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = child
    os.close(parent)


def test_remove_deep_tree(tmp_path: Path) -> None:
    make_deep_tree(tmp_path / "deep", 5000)
    disk.remove(str(tmp_path / "deep"))
    assert os.listdir(tmp_path) == []


def test_remove_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir(mode=0o500)
    (tmp_path / "outside/file").write_text("kept")
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "tree/link").symlink_to("../outside")
    (tmp_path / "tree/a/b/link").symlink_to(tmp_path / "outside")
    (tmp_path / "link").symlink_to("outside")
    disk.remove(str(tmp_path / "tree"))
    disk.remove(str(tmp_path / "link"))
    assert os.listdir(tmp_path) == ["outside"]
    assert (tmp_path / "outside/file").read_text() == "kept"
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o500


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another account")
def test_remove_directories_of_any_mode_without_root(tmp_path: Path) -> None:
    directory = tmp_path / "tree"
    (directory / "a/b/c/d").mkdir(parents=True)
    (directory / "a/b/c/file").write_text("")
    (directory / "a/e").mkdir()
    for name, mode in (("a/b/c/d", 0o000), ("a/b/c", 0o400), ("a/b", 0o500), ("a/e", 0o000), ("a", 0o100)):
        (directory / name).chmod(mode)
    for path in [directory, *directory.rglob("*")]:
        os.lchown(path, 65534, 65534)
    # Only root may enter the parent directories, so the child process starts in its own directory.
    if (child := os.fork()) == 0:
        try:
            os.chdir(directory)
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            disk.remove("a")
        finally:
            os._exit(os.path.lexists("a"))
    assert os.waitpid(child, 0)[1] == 0
    assert os.listdir(directory) == []


@pytest.mark.parametrize("kind", ["link", "pipe", "socket", "directory", "device"])
def test_open_regular_does_not_open_special_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    (tmp_path / "file").write_text("")
    path = Path("/dev/null") if kind == "device" else tmp_path / "x"
    if kind == "link":
        path.symlink_to("file")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as unix_socket:
            unix_socket.bind(os.fspath(path))
    flags: list[int] = []
    real_open = os.open
    monkeypatch.setattr(os, "open", lambda *arguments: (flags.append(arguments[1]), real_open(*arguments))[1])
    with pytest.raises(OSError, match="is a directory" if kind == "directory" else "regular file"):
        disk.open_regular(str(path))
    # Opening a device can have effects; an O_PATH descriptor has none.
    assert all(flag & os.O_PATH for flag in flags)


def test_open_regular_name_with_zero_byte() -> None:
    with pytest.raises(FileNotFoundError, match="NUL byte"):
        disk.open_regular("a\0b")


def test_open_regular_follows_link_on_request(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with disk.open_regular(str(tmp_path / "link"), links=True) as stream:
        assert stream.read() == b"content"
    with pytest.raises(OSError, match="regular file"):
        disk.open_regular(str(tmp_path / "zero"), links=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of two accounts; CI runs as root")
def test_only_own_files_of_killed_writers_are_removed(tmp_path: Path) -> None:
    """Otherwise, an account with write access to the directory could make root remove another account's files."""
    dead_pid = subprocess.run(["sh", "-c", "echo $$"], check=True, capture_output=True, text=True).stdout.strip()
    mine, other = (tmp_path / f".x.{dead_pid}-{number:08x}" for number in range(2))
    for path in (mine, other):
        path.mkdir()
        (path / "content").write_text("")
    os.chown(other, 65534, 65534)
    disk.forget_killed(str(tmp_path), ".x.")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name]


@pytest.mark.parametrize("hidden", [False, True])
def test_files_of_running_writer_are_kept_after_clock_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden):
    """If the clock was changed in the meantime, the file's time may be far in the past or in the future."""
    with subprocess.Popen(["sleep", "60"]) as writer:
        starts = (disk._start_of(writer.pid), "ffffffff")
        names = [f".x.{writer.pid}-{start}{number:08x}" for start in starts for number in range(2)]
        for number, name in enumerate(names):
            (tmp_path / name).write_text("")
            os.utime(tmp_path / name, (4e9, 4e9) if number % 2 else (0, 0))
        if hidden:
            monkeypatch.setattr(disk, "_start_of", lambda _process: "")
        disk.forget_killed(str(tmp_path), ".x.")
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names if hidden else names[:2])
        writer.kill()
    disk.forget_killed(str(tmp_path), ".x.")
    assert list(tmp_path.iterdir()) == []


def test_temporary_file_is_readable_by_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask):
    modes: list[int] = []
    fchmod = os.fchmod

    def recording_fchmod(descriptor: int, mode: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fchmod(descriptor, mode)

    monkeypatch.setattr(os, "fchmod", recording_fchmod)
    umask(0)
    disk.write_file(str(tmp_path / "file"), b"secret", 0o600)
    assert modes == [0o600]


def test_file_and_link_are_synced_with_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int | str] = []
    fsync, replace = os.fsync, os.replace

    def recording_fsync(descriptor: int) -> None:
        steps.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def recording_replace(source: str, target: str) -> None:
        steps.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(os, "replace", recording_replace)
    new = tmp_path / "new"
    disk.write_file(str(new / "file"), b"content")
    parent, directory, file = (path.stat().st_ino for path in (tmp_path, new, new / "file"))
    assert steps == [parent, file, "replace", directory]
    steps.clear()
    directories.switch_symlink(str(new / "link"), "file")
    assert steps == ["replace", directory]


def test_remove_does_not_follow_link_placed_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "tree/inside"
    (outside / "below").mkdir(parents=True)
    outside.chmod(0o750)
    inside.mkdir(parents=True)
    empty = disk._empty

    def swap_for_link(directory: int) -> list[str]:
        names = empty(directory)
        if "inside" in names:
            inside.rmdir()
            inside.symlink_to(outside)
        return names

    monkeypatch.setattr(disk, "_empty", swap_for_link)
    with pytest.raises(NotADirectoryError):
        disk.remove(str(inside.parent))
    assert stat.S_IMODE(outside.stat().st_mode) == 0o750 and (outside / "below").is_dir()


def test_files_of_killed_writer_are_removed_by_next_writer(tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"
    ended = subprocess.Popen(["true"])
    ended.wait()
    stale = tmp_path / f".receipt.json.{ended.pid}-0123abcd"
    other = tmp_path / f".receipt.json.old.{ended.pid}-0123abcd"
    # Its process ran before a reboot and had the pid of a process that runs now.
    earlier = tmp_path / f".receipt.json.{os.getpid()}-0123abcd"
    writing = tmp_path / f".receipt.json.{os.getppid()}-{disk._start_of(os.getppid())}0123abcd"
    for path in (stale, other, earlier, writing):
        path.touch()
    disk.write_file(str(receipt), b"{}")
    assert sorted(tmp_path.iterdir()) == sorted([receipt, other, writing])
    (tmp_path / f"work-{ended.pid}-0123abcd" / "inside").mkdir(parents=True)
    temporary = Path(disk.temporary_directory(str(tmp_path), "work-"))
    assert sorted(tmp_path.glob("work-*")) == [temporary] and stat.S_IMODE(temporary.stat().st_mode) == 0o700
    temporary.rmdir()
    stale.symlink_to("nowhere")
    (tmp_path / "link").symlink_to("old")
    (tmp_path / f".link.{ended.pid}-0123abcd").symlink_to("new")
    directories.switch_symlink(str(tmp_path / "link"), "newer")
    assert sorted(tmp_path.iterdir()) == sorted([receipt, other, writing, stale, tmp_path / "link"])
