"""What is removed, and what is not."""

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk


def dig(place: Path, depth: int) -> None:
    """Make directories within one another: deeper than a path can say, or Python recurse."""
    place.mkdir()
    at = os.open(place, os.O_RDONLY)
    for _level in range(depth):
        os.mkdir("d", dir_fd=at)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    dig(tmp_path / "deep", 5000)
    disk.remove(str(tmp_path / "deep"))
    assert os.listdir(tmp_path) == []


def test_what_links_lead_to_stays(tmp_path: Path) -> None:
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_is_not_root_removes_directories_of_any_mode(tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "a/b/c/d").mkdir(parents=True)
    (place / "a/b/c/file").write_text("")
    (place / "a/e").mkdir()
    for name, mode in (("a/b/c/d", 0o000), ("a/b/c", 0o400), ("a/b", 0o500), ("a/e", 0o000), ("a", 0o100)):
        (place / name).chmod(mode)
    for path in [place, *place.rglob("*")]:
        os.lchown(path, 65534, 65534)
    # The directories above are root's alone: from within one of its own it needs no path.
    if (child := os.fork()) == 0:
        try:
            os.chdir(place)
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            disk.remove("a")
        finally:
            os._exit(os.path.lexists("a"))
    assert os.waitpid(child, 0)[1] == 0
    assert os.listdir(place) == []


@pytest.mark.parametrize("kind", ["link", "pipe", "socket", "directory", "device"])
def test_what_is_no_file_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    (tmp_path / "file").write_text("")
    path = Path("/dev/null") if kind == "device" else tmp_path / "x"
    if kind == "link":
        path.symlink_to("file")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.fspath(path))
    flags: list[int] = []
    opened = os.open
    monkeypatch.setattr(os, "open", lambda *given: (flags.append(given[1]), opened(*given))[1])
    with pytest.raises(OSError, match="is a directory" if kind == "directory" else "not a regular file"):
        disk.open_regular(str(path))
    # To open a device is to use it; a handle does not.
    assert all(flag & os.O_PATH for flag in flags)


def test_a_name_with_a_zero_byte_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match="zero byte"):
        disk.open_regular("a\0b")


def test_a_link_is_followed_where_that_is_meant_and_to_a_file_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with disk.open_regular(str(tmp_path / "link"), links=True) as stream:
        assert stream.read() == b"content"
    with pytest.raises(OSError, match="not a regular file"):
        disk.open_regular(str(tmp_path / "zero"), links=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of two accounts; CI runs as root")
def test_only_one_s_own_writers_that_were_killed_are_forgotten(tmp_path: Path) -> None:
    """Who may write beside it could have root remove what is another's, by a name."""
    gone = subprocess.run(["sh", "-c", "echo $$"], check=True, capture_output=True, text=True).stdout.strip()
    mine, other = (tmp_path / f".x.{gone}-{number:08x}" for number in range(2))
    for path in (mine, other):
        path.mkdir()
        (path / "content").write_text("")
    os.chown(other, 65534, 65534)
    disk.forget_killed(str(tmp_path), ".x.")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name]


@pytest.mark.parametrize("hidden", [False, True])
def test_writer_that_runs_is_not_forgotten_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    """Of a clock that was set meanwhile the file may have been made long ago, or tomorrow."""
    with subprocess.Popen(["sleep", "60"]) as writer:
        began = disk._start_of(writer.pid)
        beside = [f".x.{writer.pid}-{start}{number:08x}" for start in (began, "ffffffff") for number in range(2)]
        for number, name in enumerate(beside):
            (tmp_path / name).write_text("")
            os.utime(tmp_path / name, (4e9, 4e9) if number % 2 else (0, 0))
        if hidden:
            monkeypatch.setattr(disk, "_start_of", lambda _process: "")
        disk.forget_killed(str(tmp_path), ".x.")
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(beside if hidden else beside[:2])
        writer.kill()
    disk.forget_killed(str(tmp_path), ".x.")
    assert list(tmp_path.iterdir()) == []


def test_what_is_being_written_is_its_owner_s_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    fchmod = os.fchmod

    def note(descriptor: int, mode: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fchmod(descriptor, mode)

    monkeypatch.setattr(os, "fchmod", note)
    before = os.umask(0)
    try:
        disk.write_file(str(tmp_path / "file"), b"secret", 0o600)
    finally:
        os.umask(before)
    assert modes == [0o600]


def test_a_file_and_a_link_are_durable_with_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int | str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        done.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def named(source: str, target: str) -> None:
        done.append("named")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", named)
    place = tmp_path / "new"
    disk.write_file(str(place / "file"), b"content")
    parent, directory, file = (path.stat().st_ino for path in (tmp_path, place, place / "file"))
    assert done == [parent, file, "named", directory]
    done.clear()
    disk.switch_symlink(str(place / "link"), "file")
    assert done == ["named", directory]


def test_a_link_that_takes_a_directory_s_place_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "tree/inside"
    (outside / "below").mkdir(parents=True)
    outside.chmod(0o750)
    inside.mkdir(parents=True)
    empty = disk._empty

    def exchanged(directory: int) -> list[str]:
        names = empty(directory)
        if "inside" in names:
            inside.rmdir()
            inside.symlink_to(outside)
        return names

    monkeypatch.setattr(disk, "_empty", exchanged)
    with pytest.raises(NotADirectoryError):
        disk.remove(str(inside.parent))
    assert stat.S_IMODE(outside.stat().st_mode) == 0o750 and (outside / "below").is_dir()


def test_what_a_killed_writer_left_beside_is_removed_by_the_next_one(tmp_path: Path) -> None:
    place = tmp_path / "receipt.json"
    ended = subprocess.Popen(["true"])
    ended.wait()
    left = tmp_path / f".receipt.json.{ended.pid}-0123abcd"
    other = tmp_path / f".receipt.json.old.{ended.pid}-0123abcd"
    # Of an earlier start of the host: its process had the number of one that runs now.
    earlier = tmp_path / f".receipt.json.{os.getpid()}-0123abcd"
    writing = tmp_path / f".receipt.json.{os.getppid()}-{disk._start_of(os.getppid())}0123abcd"
    for path in (left, other, earlier, writing):
        path.touch()
    disk.write_file(str(place), b"{}")
    assert sorted(tmp_path.iterdir()) == sorted([place, other, writing])
    (tmp_path / f"work-{ended.pid}-0123abcd" / "inside").mkdir(parents=True)
    made = Path(disk.temporary_directory(str(tmp_path), "work-"))
    assert sorted(tmp_path.glob("work-*")) == [made] and stat.S_IMODE(made.stat().st_mode) == 0o700
    made.rmdir()
    left.symlink_to("nowhere")
    (tmp_path / "link").symlink_to("old")
    (tmp_path / f".link.{ended.pid}-0123abcd").symlink_to("new")
    disk.switch_symlink(str(tmp_path / "link"), "newer")
    assert sorted(tmp_path.iterdir()) == sorted([place, other, writing, left, tmp_path / "link"])
