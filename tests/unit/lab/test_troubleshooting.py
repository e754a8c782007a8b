"""The generated page of known failures."""

import pathlib
import sys

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._diagnosis import scan

from lab import troubleshooting


def test_the_committed_page_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["troubleshooting", "--check"])
    assert troubleshooting.main() == 0, "run python -m lab.troubleshooting"


def test_an_outdated_page_is_detected_and_rewritten(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, capsys):
    monkeypatch.setattr(troubleshooting, "PAGE", tmp_path / "troubleshooting.md")
    monkeypatch.setattr(troubleshooting, "page", lambda _topics: "current")
    monkeypatch.setattr(sys, "argv", ["troubleshooting", "--check"])
    assert troubleshooting.main() == 1
    assert "is not current" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["troubleshooting"])
    assert troubleshooting.main() == 0
    assert troubleshooting.PAGE.read_text(encoding="utf-8") == "current"


def test_page_has_a_section_for_each_rule() -> None:
    text = troubleshooting.PAGE.read_text(encoding="utf-8")
    assert [line[4:] for line in text.splitlines() if line.startswith("### ")] == [rule.name for rule in scan.RULES]
    assert "The linker (ld) was killed by signal 9" in text
