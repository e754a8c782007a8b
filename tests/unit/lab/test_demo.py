"""The last lines of `make demo`, and its message on a system without the lab."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lab import demo

AS_ROOT = Path(demo.__file__).with_name("as_root")
RECAP = "spark01 : ok=40 changed={} unreachable=0 failed=0 skipped=9 rescued=0 ignored=0\n"


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(demo, "REPORTS", tmp_path)
    monkeypatch.setattr(demo.webbrowser, "open", lambda url: pytest.fail("no terminal"))
    (tmp_path / "second-run.log").write_text(RECAP.format(0))
    return tmp_path


def report(verdict: str, *passed: bool) -> dict[str, Any]:
    checks = [{"numeric": True, "status": "pass" if is_pass else "skip"} for is_pass in passed]
    return {"verdict": verdict, "software": {"torch": "2.10.0"}, "checks": checks}


@pytest.mark.parametrize(
    ("proof", "text"),
    [
        (report("proven", True, True, False), "with float64 in 2 checks"),
        (report("proven", True), "in 1 check, and are right"),
        (report("unproven", False), "computed no numbers"),
        (report("fail", True), "its proof failed"),
    ],
)
def test_the_demo_names_the_result_and_the_page(reports: Path, capsys, proof, text):
    (reports / "spark01.json").write_text(json.dumps(proof))
    assert demo.main() == 0
    output = capsys.readouterr().out
    assert text in output and "run changed nothing." in output
    assert f"the page is file://{reports}/index.html" in output


def test_a_second_run_that_changed_something_fails_the_demo(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (reports / "second-run.log").write_text(RECAP.format(2))
    assert demo.main() == 1
    assert "made changes" in capsys.readouterr().err


def test_on_a_mac_the_lab_names_an_alternative(tmp_path: Path) -> None:
    (tmp_path / "uname").write_text("#!/bin/sh\necho Darwin\n")
    (tmp_path / "uname").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    result = subprocess.run([AS_ROOT, "false"], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "need Linux, and this is Darwin" in result.stderr and "limactl start" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["uname"], "nothing is made"
    # This check comes before `make demo` creates .venv, for which a Mac's own Python is too old.
    (tmp_path / "lab").mkdir()
    shutil.copy(AS_ROOT, tmp_path / "lab")
    shutil.copy(AS_ROOT.parents[1] / "Makefile", tmp_path)
    result = subprocess.run(
        ["make", "demo"], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "need Linux, and this is Darwin" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Makefile", "lab", "uname"], "nothing is made"
