"""The guard's metrics, journal and login message, which other accounts read or might redirect."""

import os
import re
from pathlib import Path

import pytest
from sparkforge_guard import install, journal, power, settings
from sparkforge_guard._shared.module_utils._core.errors import SparkforgeError

from guard.tests.machine import GIB, Machine

EVIL = "/user.slice/user-1001.slice/user@1001.service/x\x1b]0;evil\x07 Your password has expired.service"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "proc")
    machine.start(1, "systemd")
    machine.start(900, "a\x1b[2K\rb", 1, 117, unit=EVIL, uid=1001)
    return machine


def others_directory(tmp_path: Path, kind: str) -> Path:
    """Return a directory that other accounts may write to, or another kind of file in its place."""
    path = tmp_path / "metrics"
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        path.symlink_to("elsewhere")
    elif kind == "file":
        path.touch()
    elif kind != "missing":
        path.mkdir()
        path.chmod({"group": 0o775, "others": 0o757, "sticky": 0o1777}.get(kind, 0o755))
        if kind == "account":
            os.chown(path, 65534, 0)
    return path


KINDS = pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("group", "other than root"), ("others", "other than root"),
        ("sticky", "other than root"), ("link", "is a link or a file"), ("file", "is a link or a file"),
        ("missing", "does not exist"),
        pytest.param(
            "account", "other than root",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root makes another account's directory"),
        ),
    ],
)  # fmt: skip


@KINDS
def test_installation_refuses_a_directory_of_others(kind, text, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install.systemd_units, "is_active", lambda _unit: False)
    path = others_directory(tmp_path, kind)
    options = {**settings.DEFAULTS, **settings.INSTALLED, "state": "present", "root": str(tmp_path / "root")}
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SparkforgeError, match=text) as caught:
        install.Installation({**options, "textfile": str(path)}, b"", units=str(tmp_path / "units")).run()
    assert str(path) in caught.value.remedy and "chmod go-w" in caught.value.remedy
    assert sorted(tmp_path.rglob("*")) == before


@KINDS
def test_running_guard_writes_nothing_into_a_directory_of_others(kind, text, machine: Machine, tmp_path: Path, capsys):
    path = others_directory(tmp_path, kind)
    written = journal.Journal({"state_directory": str(tmp_path), "textfile": str(path)}, None, machine.host)
    for _ in range(2):
        written._publish(machine.host.memory(), [])
    assert capsys.readouterr().err.count(text) == 1, "it is told once"
    assert not (tmp_path / "elsewhere").exists() or not list((tmp_path / "elsewhere").iterdir())
    if path.is_dir():
        assert not list(path.iterdir())
        path.unlink() if path.is_symlink() else path.rmdir()
    path.unlink(missing_ok=True)
    path.mkdir()
    written._publish(machine.host.memory(), [])
    assert "written again" in capsys.readouterr().err and (path / power.TEXTFILE).is_file()


def test_metrics_follow_no_link(machine: Machine, tmp_path: Path):
    path, secret = tmp_path / "metrics", tmp_path / "secret"
    path.mkdir()
    secret.write_text("secret")
    secret.chmod(0o600)
    for name in (power.TEXTFILE, f"{power.TEXTFILE}.partial"):
        (path / name).symlink_to(secret)
    journal.Journal({"state_directory": str(tmp_path), "textfile": str(path)}, None, machine.host)._publish(
        machine.host.memory(), []
    )
    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("secret", 0o600)
    assert not (path / power.TEXTFILE).is_symlink()
    assert (path / power.TEXTFILE).stat().st_mode & 0o777 == 0o644


def test_names_chosen_by_users_move_no_terminal(machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    machine.guard().step()
    path = tmp_path / "metrics"
    path.mkdir()
    written = journal.Journal({"state_directory": str(tmp_path), "textfile": str(path)}, None, machine.host)
    written._held = {900: 117 * GIB}
    for act in machine.acts:
        written._write(act)
    written._publish(machine.host.memory(), [])
    shown = [(tmp_path / "login").read_text(), capsys.readouterr().out, (path / power.TEXTFILE).read_text()]
    for text in (*shown, (tmp_path / "acts.jsonl").read_text()):
        assert re.fullmatch("[ -~\n\ufffd]+", text), text
    assert "a\ufffd[2K\ufffdb (process 900 of x??0?evil??Your?password?has?expired.service)" in shown[0]


def test_unit_of_the_guard_has_no_device_but_nvidias():
    text = install.unit("sparkforge-guard.service", "/opt/sparkforge").decode()
    assert "DevicePolicy=closed\n" in text and not re.search(r"^PrivateDevices", text, re.M)
    assert re.findall(r"^DeviceAllow=(.+)$", text, re.M) == ["char-195 rw", "char-nvidia* rw"]
