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
    page = tmp_path / "docs" / "troubleshooting.md"
    page.parent.mkdir()
    monkeypatch.setattr(troubleshooting, "PAGE", page)
    monkeypatch.setattr(troubleshooting, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["troubleshooting", "--check"])
    assert troubleshooting.main() == 1
    assert "is not current" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["troubleshooting"])
    assert troubleshooting.main() == 0
    text = page.read_text(encoding="utf-8")
    assert [line[4:] for line in text.splitlines() if line.startswith("### ")] == [rule.name for rule in scan.RULES]
    assert "The linker (ld) was killed by signal 9" in text
