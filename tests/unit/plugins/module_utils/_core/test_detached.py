"""Starting, locking and stopping detached work; modules/test_source_build.py shows that it continues."""

import os
import pwd
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


def current_user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name


def test_missing_program_is_reported_at_once(tmp_path: Path) -> None:
    starter = f"""
import sys; sys.path.insert(0, {PATH!r})
{MODULE}
try:
    account = accounts.Account({current_user()!r})
    detached._start_session(["/no/such/program"], account, "test", {str(tmp_path / "log")!r}, {str(tmp_path)!r})
except Exception as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", starter], check=True, capture_output=True, text=True)
    assert "cannot be started" in result.stdout
    assert "No such file" in result.stdout


def test_log_warns_of_suspend_without_systemd(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    starter = f"""
import sys; sys.path.insert(0, {PATH!r})
{MODULE}
detached.systemd_runs = lambda: False
detached.start(["/bin/echo", "built"], account=accounts.Account({current_user()!r}), service="x.service", marker="test",
              log={str(log)!r}, directory={str(tmp_path)!r}, writable=[])
"""
    subprocess.run([sys.executable, "-c", starter], check=True)
    wait_for(lambda: "built" in log.read_text())
    assert log.read_text().splitlines()[0].startswith("== This host may")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts units of systemd")
def test_build_starts_unconfined_if_systemd_cannot_confine_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.touch()
    for name in ("systemctl", "systemd-inhibit"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    failure = "Job failed. See journalctl"
    script = f'echo "$@" >> {tmp_path}/calls\ncase "$*" in *ProtectSystem*) echo "{failure}" >&2; exit 1;; esac\n'
    (tmp_path / "systemd-run").write_text(f"#!/bin/sh\n{script}")
    for name in ("systemctl", "systemd-inhibit", "systemd-run"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(detached, "systemd_runs", lambda: True)
    method = detached.start(
        ["/bin/true"], account=accounts.Account("nobody"), service="x.service", marker="test", log=str(log),
        directory=str(tmp_path), writable=["/opt/a b"], memory_mib=100,
    )  # fmt: skip
    first, second = (tmp_path / "calls").read_text().splitlines()[:2]
    assert 'ReadWritePaths="/tmp" "/var/tmp" "/opt/a b"' in first and "Protect" not in second
    for setting in ("ProtectSystem=strict", "ProtectHome=read-only", "RestrictSUIDSGID=yes", "TasksMax=32768"):
        assert f"--property={setting} " in first
    for setting in ("--uid=nobody", "--property=NoNewPrivileges=yes", "--property=KillMode=control-group"):
        assert all(f"{setting} " in call for call in (first, second))
    assert method == "systemd" and all("--property=MemoryMax=100M " in call for call in (first, second))
    assert failure in log.read_text()


def test_interpreter_in_closed_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The standard library of the interpreter that runs the tests may be in root's home directory.
    monkeypatch.setattr(os, "__file__", "/etc/passwd")
    closed = tmp_path / "closed"
    (closed / "bin").mkdir(parents=True)
    python = closed / "bin/python"
    python.touch(0o755)
    # root can enter any directory, so root's build runs under another account.
    root = os.geteuid() == 0
    account = build_account.BuildAccount("nobody" if root else current_user())
    account.check_interpreter("/usr/bin/python3")
    closed.chmod(0o700 if root else 0)
    try:
        with pytest.raises(SparkforgeError, match="may not enter /") as error:
            account.check_interpreter(str(python))
    finally:
        closed.chmod(0o700)
    refused = error.value.cause.rpartition("may not enter ")[2].rstrip(".")
    assert str(closed).startswith(refused)
    assert account.name in error.value.cause
    assert str(python) in error.value.cause
    assert "ansible_python_interpreter" in error.value.remedy


def test_lock_is_released_with_its_holder(tmp_path: Path) -> None:
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


def test_orphans_are_killed_by_their_marker() -> None:
    marker = f"test_unit/{os.getpid():016x}"
    environment = {"PATH": os.environ["PATH"], processes.MARKER: marker}
    # A grandchild whose parent is killed, like a compiler started by ninja.
    command = ["/bin/sh", "-c", "sleep 600 & echo $!; wait"]
    parent = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    orphan = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    other = subprocess.Popen(["sleep", "600"], env={**environment, processes.MARKER: marker[:-1]})
    try:
        assert processes.kill_marked(marker) == 1
        assert not Path(f"/proc/{orphan}").exists() or " Z " in Path(f"/proc/{orphan}/stat").read_text()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_ordinary_user_cannot_build_under_another_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    with pytest.raises(SparkforgeError, match="nobody cannot start"):
        accounts.Account("root")


def test_links_are_not_locked_or_written_through(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("kept")
    (tmp_path / "link").symlink_to("victim")
    with pytest.raises(OSError):
        detached.Lock(str(tmp_path / "link")).take()
    detached._say(str(tmp_path / "link"), "text")
    assert (tmp_path / "victim").read_text() == "kept"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another account")
def test_build_is_killed_with_rights_of_its_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another account that carries the build's marker is left alone."""
    monkeypatch.setattr(detached, "systemd_runs", lambda: False)
    marker = f"test_rights/{os.getpid():016x}"
    environment = {"PATH": os.environ["PATH"], processes.MARKER: marker}
    own_process = subprocess.Popen(["sleep", "600"], env=environment)
    build_process = subprocess.Popen(["sleep", "600"], env=environment, user="nobody", group="nogroup", extra_groups=[])
    try:
        detached.stop("x.service", marker, accounts.Account("nobody"))
        assert own_process.poll() is None
        assert build_process.wait() == -9
    finally:
        for process in (own_process, build_process):
            process.kill()
            process.wait()
