"""The command ``sparkforge-guard``, and the admission module that calls it."""

from pathlib import Path

import pytest
from sparkforge_guard import cli

from tests.unit.run_module import run_module


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"), ("[1]", "cannot be read"), ('{"warn": 10}', "warn to 10: unknown"),
        ('{"first": "jupyter-*"}', "a wrong type"), ('{"end_percent": 7}', "not in order"),
        ('{"end_percent": 0}', "not in order"), ('{"protected": ["*"]}', "matches everything"),
        ('{"first": [""]}', "matches everything"),
    ],
)  # fmt: skip
def test_wrong_settings_are_one_message(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "settings.json").write_text(text)
    assert cli.main(["run", str(tmp_path / "settings.json")]) == 2
    assert message in (error := capsys.readouterr().err) and len(error.splitlines()) == 1


@pytest.mark.parametrize(("arguments", "status"), [((), 0), (("--help",), 0), (("allow", "x"), 2), (("guard", "x"), 2)])
def test_unknown_command_gets_the_usage(arguments, status: int, capsys: pytest.CaptureFixture[str]):
    assert cli.main(arguments) == status
    assert "allow SETTINGS UNIT" in capsys.readouterr().out


def test_admit_command_accepts_or_refuses(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["admit", "--needs=1M", "--", "true"]) == 0
    assert "it takes" in capsys.readouterr().out
    assert cli.main(["admit", "--needs", "900T", "--", "true"]) == 1
    assert "free for it" in capsys.readouterr().err
    assert cli.main(["admit", "--", "blender"]) == 2
    assert "--needs 40G" in capsys.readouterr().err


def test_admission_module_answers_or_refuses_with_the_estimate():
    answer = run_module("model_admission", command=["blender"], needs="1M")
    assert (answer["answer"], answer["changed"]) == ("start", False) and answer["jobs"] >= 1
    assert run_module("model_admission", command=["blender"])["answer"] == "unknown"
    refused = run_module("model_admission", command=["true"], needs="900T")
    assert "free for it" in refused["cause"] and "it takes" in refused["said"][-3]
