"""Access to an environment's directory, and its group's members."""

import grp
import os
import stat
import typing as t
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import access

GROUP = grp.getgrgid(os.getgid()).gr_name


def correct(directory: Path, group: str, run: access.Run, monkeypatch: pytest.MonkeyPatch, *absent: str) -> t.Any:
    """Correct the access to an environment's directory, and return the receipt."""
    monkeypatch.setattr(access, "missing_members", lambda _options: list(absent))
    options = SimpleNamespace(group=group, paths=SimpleNamespace(directory=str(directory)))
    receipt: dict[str, t.Any] = {"members_added": {}}
    before = os.umask(0)
    try:
        access.correct(t.cast(t.Any, options), t.cast(t.Any, receipt), run)
    finally:
        os.umask(before)
    return receipt


def refuse(argv: t.Sequence[str], **_options: t.Any) -> tuple[int, str, str]:
    raise AssertionError(f"{argv} was run")


@pytest.mark.parametrize(("group", "mode"), [("", 0o755), (GROUP, 0o750)])
def test_directory_is_writable_by_owner_only(tmp_path: Path, group: str, mode: int, monkeypatch: pytest.MonkeyPatch):
    for before in (0o700, 0o777):
        tmp_path.chmod(before)
        correct(tmp_path, group, refuse, monkeypatch)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


def test_added_members_are_in_the_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(argv: t.Sequence[str], **_options: t.Any) -> tuple[int, str, str]:
        assert argv == ["gpasswd", "--add", argv[2], GROUP]
        return (1, "", "no such account\n") if argv[2] == "bob" else (0, "", "")

    tmp_path.chmod(0o700)
    assert correct(tmp_path, GROUP, run, monkeypatch, "ada")["members_added"] == {GROUP: ["ada"]}
    tmp_path.chmod(0o700)
    message = f"bob could not .* {GROUP}: no such account"
    with pytest.raises(SparkforgeError, match=message) as raised:
        correct(tmp_path, GROUP, run, monkeypatch, "bob")
    assert raised.value.remedy and stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_group_that_cannot_be_created_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(SparkforgeError, match=r"group no-such-group could not .*: full") as raised:
        correct(tmp_path, "no-such-group", lambda *_arguments, **_options: (1, "", "full"), monkeypatch)
    assert raised.value.remedy and stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
