"""`make spark` with and without a Spark, a terminal, and a suitable Python."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from sparkforge import Exit

from lab import spark

MAKEFILE = Path(spark.__file__).parents[1] / "Makefile"
NAMED = ["--host", "spark-ab12.local"]


class Programs:
    """Stands in for the programs run by `make spark`: `sparkforge setup` exits with ``code``, the simulation with 0."""

    def __init__(self, code: int) -> None:
        self.code = code
        self.commands: list[str] = []

    def __call__(self, command: list[object], check: bool) -> SimpleNamespace:
        self.commands.append(" ".join(str(word).rpartition("/")[2] for word in command))
        return SimpleNamespace(returncode=self.code if command[0] == spark.SETUP else 0)


SETUP, SIMULATED = "sparkforge setup", "make --no-print-directory demo"
NAMING = f"{SETUP} {' '.join(NAMED)}"


@pytest.mark.parametrize(
    ("arguments", "terminal", "setup_code", "answer", "commands", "code"),
    [
        pytest.param([], True, Exit.DONE, None, [SETUP], Exit.DONE, id="a-spark"),
        pytest.param([], True, Exit.NO_SPARK, "y", [SETUP, SIMULATED], 0, id="no-spark"),
        pytest.param([], True, Exit.NO_SPARK, "", [SETUP], Exit.NO_SPARK, id="no-spark-and-enter"),
        pytest.param([], True, Exit.NO_SPARK, "n", [SETUP], Exit.NO_SPARK, id="no-spark-and-no-simulation"),
        pytest.param([], True, Exit.NO_SSH, None, [SETUP], Exit.NO_SSH, id="a-spark-that-does-not-answer"),
        pytest.param([], False, Exit.USAGE, None, [SIMULATED], 0, id="nobody-to-ask"),
        pytest.param(NAMED, False, Exit.USAGE, None, [NAMING], Exit.USAGE, id="named-and-nobody-to-ask"),
        pytest.param(NAMED, True, Exit.NO_SPARK, None, [NAMING], Exit.NO_SPARK, id="named"),
    ],
)  # fmt: skip
def test_make_spark_sets_up_a_spark_or_the_simulated_one(
    arguments: list[str], terminal: bool, setup_code: int, answer: str | None, commands: list[str], code: int,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    programs = Programs(setup_code)
    monkeypatch.setattr(spark.subprocess, "run", programs)
    monkeypatch.setattr(spark, "has_terminal", lambda: terminal)
    monkeypatch.setattr("builtins.input", lambda _question: answer if answer is not None else pytest.fail("asked"))
    assert spark.main(arguments) == code
    assert programs.commands == commands
    if SIMULATED in commands and not terminal:
        assert "a simulated Spark" in capsys.readouterr().out


def test_without_linux_no_simulation_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark.subprocess, "run", Programs(Exit.NO_SPARK))
    monkeypatch.setattr(spark, "has_terminal", lambda: True)
    monkeypatch.setattr(spark.sys, "platform", "darwin")
    monkeypatch.setattr("builtins.input", lambda _question: pytest.fail("asked"))
    assert spark.main([]) == Exit.NO_SPARK


def make(folder: Path, *arguments: str, **pythons: str) -> subprocess.CompletedProcess[str]:
    """Run make with only these Pythons on PATH, each reporting its version."""
    tools = folder / "tools"
    tools.mkdir()
    for name, version in pythons.items():
        minor = int(version.split(".")[1])
        tool = tools / name.replace("_", ".")
        tool.write_text(f'#!/bin/sh\n[ "$1" != -V ] || {{ echo Python {version}; exit; }}\nexit {int(minor < 11)}\n')
        tool.chmod(0o755)
    for name in ("make", "bash", "expand", "date", "touch"):
        (tools / name).symlink_to(shutil.which(name) or name)
    shutil.copy(MAKEFILE, folder)
    (folder / "requirements.txt").touch()
    env = {"PATH": str(tools), "HOME": str(folder)}
    return subprocess.run(
        ["make", "SHELL=bash", *arguments], cwd=folder, env=env, text=True, capture_output=True, check=False
    )


def test_a_python_that_is_too_old_is_one_line(tmp_path: Path) -> None:
    result = make(tmp_path, ".venv/.command", python3="3.9.18", python3_10="3.10.4")
    assert result.returncode == 2
    message, *rest = result.stderr.splitlines()
    assert "Python 3.11 or newer is needed, and this is Python 3.9.18. Install one, or name it: make PYTHON=" in message
    assert [line for line in rest if "Error" not in line] == []
    assert not (tmp_path / ".venv").exists()


def test_a_newer_python_is_preferred_to_an_old_one(tmp_path: Path) -> None:
    result = make(tmp_path, "-n", ".venv/.command", python3="3.9.18", python3_12="3.12.3")
    assert '"python3.12" -m venv .venv' in result.stdout, result.stdout + result.stderr


def test_a_missing_package_index_is_reported_and_the_next_run_continues(tmp_path: Path) -> None:
    """Without a network, or behind a login page, pip only reports that it found no version."""
    pip = tmp_path / ".venv/bin/pip"
    pip.parent.mkdir(parents=True)
    pip.write_text("#!/bin/sh\necho 'ERROR: Could not find a version (from versions: none)' >&2; exit 1\n")
    pip.chmod(0o755)
    result = make(tmp_path, ".venv/.command", python3="3.12.3")
    _pip, message, last = result.stderr.splitlines()
    assert (result.returncode, last.endswith("Error 1")) == (2, True)
    assert message.startswith("make: pip could not install Ansible; its reason is above.")
    assert "log in to the network, or set HTTPS_PROXY." in message
    assert not (tmp_path / ".venv/.command").exists()
    pip.write_text("#!/bin/sh\n")
    again = subprocess.run(
        ["make", "SHELL=bash", ".venv/.command"], cwd=tmp_path, env={"PATH": str(tmp_path / "tools")}, check=False
    )
    assert again.returncode == 0 and (tmp_path / ".venv/.command").exists()
