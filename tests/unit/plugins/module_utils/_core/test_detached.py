"""Detached work: how it starts, is found again, and ends whole. That it goes on: modules/test_source_build.py."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import (
    accounts,
    build_account,
    detached,
    processes,
)
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import state_file

ROOT = Path(__file__).parents[5]
PATH = str(ROOT / ".collections")
MODULE = "from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import accounts, detached"


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.02)


def me() -> str:
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name


def test_a_program_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    starter = f"""
import sys; sys.path.insert(0, {PATH!r})
{MODULE}
try:
    account = accounts.Account({me()!r})
    detached._start_session(["/no/such/program"], account, "test", {str(tmp_path / "log")!r}, {str(tmp_path)!r})
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", starter], check=True, capture_output=True, text=True)
    assert "The build cannot be started" in done.stdout
    assert "No such file" in done.stdout


def test_without_systemd_the_log_says_that_the_host_may_suspend(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    starter = f"""
import sys; sys.path.insert(0, {PATH!r})
{MODULE}
detached.systemd_runs = lambda: False
detached.start(["/bin/echo", "built"], account=accounts.Account({me()!r}), service="x.service", marker="test",
              log={str(log)!r}, directory={str(tmp_path)!r}, writable=[])
"""
    subprocess.run([sys.executable, "-c", starter], check=True)
    wait_for(lambda: "built" in log.read_text())
    first = log.read_text().splitlines()[0]
    assert first.startswith("== This host may suspend during the build: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts units of systemd")
def test_where_systemd_cannot_confine_a_build_it_is_started_all_the_same_and_the_log_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.touch()
    for name in ("systemctl", "systemd-inhibit"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    said = "Job failed. See journalctl"
    (tmp_path / "systemd-run").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\ncase "$*" in *ProtectSystem*) echo "{said}" >&2; exit 1;; esac\n'
    )
    for name in ("systemctl", "systemd-inhibit", "systemd-run"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(detached, "systemd_runs", lambda: True)
    how = detached.start(
        ["/bin/true"], account=accounts.Account("nobody"), service="x.service", marker="test", log=str(log),
        directory=str(tmp_path), writable=["/opt/a b"], memory_mib=100,
    )  # fmt: skip
    first, second = (tmp_path / "asked").read_text().splitlines()[:2]
    assert 'ReadWritePaths="/tmp" "/var/tmp" "/opt/a b"' in first and "Protect" not in second
    for setting in ("ProtectSystem=strict", "ProtectHome=read-only", "RestrictSUIDSGID=yes", "TasksMax=32768"):
        assert f"--property={setting} " in first
    for setting in ("--uid=nobody", "--property=NoNewPrivileges=yes", "--property=KillMode=control-group"):
        assert all(f"{setting} " in asked for asked in (first, second))
    assert how == "systemd" and all("--property=MemoryMax=100M " in asked for asked in (first, second))
    assert said in log.read_text()


def test_an_interpreter_in_a_closed_directory_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not the library of the interpreter that runs the tests, which may lie in root's home itself.
    monkeypatch.setattr(os, "__file__", "/etc/passwd")
    closed = tmp_path / "closed"
    (closed / "bin").mkdir(parents=True)
    python = closed / "bin/python"
    python.touch(0o755)
    # Nothing is closed to root, who builds as another.
    root = os.geteuid() == 0
    account = build_account.BuildAccount("nobody" if root else me())
    account.check_interpreter("/usr/bin/python3")
    closed.chmod(0o700 if root else 0)
    try:
        with pytest.raises(SparkforgeError, match="may not enter /") as error:
            account.check_interpreter(str(python))
    finally:
        closed.chmod(0o700)
    place = error.value.cause.rpartition("may not enter ")[2].rstrip(".")
    assert str(closed).startswith(place)
    assert account.name in error.value.cause
    assert str(python) in error.value.cause
    assert "ansible_python_interpreter" in error.value.remedy


def test_a_lock_ends_with_its_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import sys, time; sys.path.insert(0, {PATH!r}); {MODULE}; "
         f"lock = detached.Lock({path!r}); print(lock.take(), flush=True); time.sleep(600)"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert state_file.is_running(str(tmp_path))
    assert not detached.Lock(path).take()
    holder.kill()
    holder.wait()
    assert not state_file.is_running(str(tmp_path))
    assert detached.Lock(path).take()


def test_orphans_are_found_by_their_marker_and_ended() -> None:
    marker = f"test_unit/{os.getpid():016x}"
    environment = {"PATH": os.environ["PATH"], processes.MARKER: marker}
    # A child of a child whose parent is killed: as a compiler is that ninja started.
    parent = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 600 & echo $!; wait"], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    orphan = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    other = subprocess.Popen(["sleep", "600"], env={**environment, processes.MARKER: marker[:-1]})
    try:
        assert processes.end_processes(marker) == 1
        assert not Path(f"/proc/{orphan}").exists() or " Z " in Path(f"/proc/{orphan}/stat").read_text()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_who_is_not_root_builds_as_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    with pytest.raises(SparkforgeError, match="nobody cannot start a build as root"):
        accounts.Account("root")


def test_no_link_is_locked_or_written_through(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    (tmp_path / "link").symlink_to("victim")
    with pytest.raises(OSError):
        detached.Lock(str(tmp_path / "link")).take()
    detached._say(str(tmp_path / "link"), "text")
    assert (tmp_path / "victim").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_build_is_ended_with_its_account_s_rights_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What says that it belongs to the build, and is another account's, is left alone."""
    monkeypatch.setattr(detached, "systemd_runs", lambda: False)
    marker = f"test_rights/{os.getpid():016x}"
    environment = {"PATH": os.environ["PATH"], processes.MARKER: marker}
    mine = subprocess.Popen(["sleep", "600"], env=environment)
    theirs = subprocess.Popen(["sleep", "600"], env=environment, user="nobody", group="nogroup", extra_groups=[])
    try:
        detached.stop("x.service", marker, accounts.Account("nobody"))
        assert mine.poll() is None
        assert theirs.wait() == -9
    finally:
        for process in (mine, theirs):
            process.kill()
            process.wait()
