"""Installing units with a systemd that only records commands; integration/test_proof_timer.py runs a real one."""

import grp
import json
import os
import subprocess
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import units
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.run_module import run_module


class Systemd:
    """A fake systemd that records the commands it is given; units in ``broken`` fail to start."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.active: set[str] = set()
        self.broken: set[str] = set()

    def __call__(self, *argv: str) -> subprocess.CompletedProcess[str]:
        status = 0
        if argv[1] in ("is-active", "is-enabled"):
            status = 0 if argv[-1] in self.active else 3
        elif argv[0] == "systemd-analyze":
            status = 0 if argv[-1] in ("weekly", "Sun 03:00") else 1
        else:
            self.commands.append([word for word in argv[1:] if word != "--quiet"])
        if argv[1] == "restart":
            self.active |= set(argv[2:]) - self.broken
        elif argv[1] == "disable":
            self.active -= set(argv)
        return subprocess.CompletedProcess(list(argv), status, "", "")

    def take_commands(self) -> list[list[str]]:
        commands, self.commands = self.commands, []
        return commands


@pytest.fixture
def systemd(monkeypatch: pytest.MonkeyPatch) -> Systemd:
    fake = Systemd()
    monkeypatch.setattr(units.detached, "systemd", fake)
    monkeypatch.setattr(units.detached, "systemd_runs", lambda: True)
    return fake


def install(directory: Path, started: t.Sequence[str] = (), check_mode: bool = False, **texts: str) -> dict[str, t.Any]:
    """Install units over those in the directory; ``a_service`` is the text of ``a.service``."""
    files = {str(directory / name.replace("_", ".")): (text.encode(), 0o644) for name, text in texts.items()}
    return units.Units(files, map(str, directory.iterdir())).run(started, check_mode)


def test_units_are_written_enabled_and_started_once(tmp_path: Path, systemd: Systemd) -> None:
    texts = {"a_service": "[Service]\n", "a_timer": "[Timer]\nOnCalendar=Sun 03:00\n"}
    announced = install(tmp_path, ["a.timer"], check_mode=True, **texts)
    assert announced["changed"] and len(announced["diff"]) == 2 and not list(tmp_path.iterdir())
    assert systemd.take_commands() == []
    assert install(tmp_path, ["a.timer"], **texts)["changed"]
    assert systemd.take_commands() == [["daemon-reload"], ["enable", "a.timer"], ["restart", "a.timer"]]
    assert not install(tmp_path, ["a.timer"], **texts)["changed"]
    assert systemd.take_commands() == []


def test_units_that_do_not_run_are_started_again(tmp_path: Path, systemd: Systemd) -> None:
    install(tmp_path, ["a.timer"], a_timer="[Timer]\n")
    systemd.active.clear()
    systemd.take_commands()
    assert install(tmp_path, ["a.timer"], a_timer="[Timer]\n")["changed"]
    assert ["restart", "a.timer"] in systemd.take_commands()


def test_units_are_stopped_before_they_are_removed(tmp_path: Path, systemd: Systemd) -> None:
    install(tmp_path, a_service="[Service]\n", b_timer="[Timer]\n", c_mount="[Mount]\n", d_conf="x")
    systemd.take_commands()
    removed = install(tmp_path)
    assert removed["changed"] and removed["files"] == [] and not list(tmp_path.iterdir())
    assert systemd.take_commands() == [["disable", "--now", "a.service", "b.timer", "c.mount"], ["daemon-reload"]]
    assert not install(tmp_path)["changed"]


@pytest.mark.parametrize("calendar", ["someday", "weekly\nOnCalendar=someday"])
def test_units_with_a_wrong_calendar_are_refused(calendar: str, tmp_path: Path, systemd: Systemd) -> None:
    for check_mode in (True, False):
        with pytest.raises(SparkforgeError, match=r"calendar 'someday' of a\.timer"):
            install(tmp_path, ["a.timer"], check_mode, a_timer=f"[Timer]\nOnCalendar={calendar}\n")
    assert not list(tmp_path.iterdir()) and systemd.take_commands() == []


def test_units_that_do_not_start_are_named(tmp_path: Path, systemd: Systemd) -> None:
    systemd.broken = {"a.service"}
    with pytest.raises(SparkforgeError, match=r"cannot start a\.service") as refused:
        install(tmp_path, ["a.service"], a_service="[Service]\n")
    assert refused.value.remedy == "See: journalctl -u a.service"


def test_units_need_systemd_but_check_mode_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units.detached, "systemd_runs", lambda: False)
    assert install(tmp_path, ["a.timer"], check_mode=True, a_timer="x")["changed"]
    with pytest.raises(SparkforgeError, match=r"host, so a\.timer"):
        install(tmp_path, ["a.timer"], a_timer="x")
    assert not list(tmp_path.iterdir())


def test_module_writes_texts_and_json_and_removes_them(tmp_path: Path) -> None:
    present = [
        {"path": str(tmp_path / "login"), "content": "#!/bin/sh\n"},
        {"path": str(tmp_path / "settings.json"), "content": {"b": 1, "a": None}},
        {"path": str(tmp_path / "absent.service"), "content": None},
    ]
    announced = run_module("root_files", check_mode=True, files=present)
    assert announced["files"] == [str(tmp_path / "login"), str(tmp_path / "settings.json")]
    assert json.loads(announced["diff"][1]["after"]) == {"a": None, "b": 1}
    assert not list(tmp_path.iterdir())
    for row in present:
        Path(row["path"]).write_text("there")
    assert run_module("root_files", files=present, state="absent")["changed"]
    assert not list(tmp_path.iterdir())
    assert not run_module("root_files", files=present, state="absent")["changed"]


def test_module_gives_files_their_mode_and_group_and_replaces_links(tmp_path: Path) -> None:
    victim, link, key = (tmp_path / name for name in ("victim", "link", "key"))
    victim.write_text("a key\n")
    link.symlink_to(victim)
    group = grp.getgrgid(os.getegid()).gr_name
    rows = [
        {"path": str(link), "content": "a key\n"},
        {"path": str(key), "content": "x", "mode": "0640", "group": group},
    ]
    assert run_module("root_files", files=rows)["changed"]
    assert not link.is_symlink() and victim.read_text() == "a key\n"
    assert (key.stat().st_mode & 0o7777, key.stat().st_gid) == (0o640, os.getegid())
    assert not run_module("root_files", files=rows)["changed"]
    key.chmod(0o644)
    mended = run_module("root_files", files=rows)
    assert mended["changed"] and key.stat().st_mode & 0o7777 == 0o640
    assert [row["before"][:9] for row in mended["diff"]] == ["mode 0644"]


def test_module_shows_no_secret(tmp_path: Path) -> None:
    key = tmp_path / "key"
    rows = [{"path": str(key), "secret": "first-secret\n", "mode": "0600"}]
    shown = [run_module("root_files", files=rows)]
    assert key.read_text() == "first-secret\n" and key.stat().st_mode & 0o7777 == 0o600
    rows[0]["secret"] = "second-secret\n"
    shown += [run_module("root_files", check_mode=True, files=rows), run_module("root_files", files=rows)]
    # Remove the file in a run whose row has no secret.
    shown += [run_module("root_files", files=[{"path": str(key)}])]
    assert all(result["changed"] for result in shown) and not key.exists()
    assert "-secret" not in json.dumps(shown)


def test_module_without_units_needs_no_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_module("root_files", files=[{"path": str(tmp_path / "a.conf"), "content": "a"}])["changed"]
    refused = run_module("root_files", files=[{"path": str(tmp_path / "a.service"), "content": "a"}])
    assert "host, so a.service" in refused["cause"]
