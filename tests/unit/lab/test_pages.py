"""Generated pages are current and complete.

docs/runs-on-spark.md has the format of lab.runs_on_spark, but its answers are those of the day it names.
"""

import datetime
import re
import types

import pytest
from ansible_collections.sparkforge.dgx_spark.tools.forecast import ledger as reader

from lab import ledger, playbooks, runs_on_spark


@pytest.mark.parametrize("page", [ledger, playbooks])
def test_the_committed_page_is_current(page: types.ModuleType) -> None:
    assert page.main(["--check"]) == 0, f"run python -m {page.__name__}"


def test_each_rule_has_a_section_with_its_sources() -> None:
    text = ledger.PAGE.read_text(encoding="utf-8")
    rules = reader.load().rules
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == [rule["id"] for rule in rules]
    assert all(source["url"] in text for rule in rules for source in rule["source"])


def test_a_variables_row_has_default_and_choices_without_markup() -> None:
    text = playbooks.PAGE.read_text(encoding="utf-8")
    assert "| `status_format` | `table` | A table, or one line of JSON. One of `table`, `json`. |" in text
    assert "| `mirror_directory` | required |" in text and "C(" not in text and "V(" not in text


def test_the_page_has_an_answer_with_a_reason_for_each_package() -> None:
    text = runs_on_spark.PAGE.read_text(encoding="utf-8")
    day = re.search(r"inspect.yml` on (\d{4}-\d\d-\d\d) for", text)
    assert day
    datetime.date.fromisoformat(day[1])
    head = runs_on_spark.INTRODUCTION.format(day=day[1])
    assert text.startswith(head)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text[len(head) :].splitlines()]
    assert [row[0] for row in rows] == runs_on_spark.PACKAGES
    for _name, _version, verdict, why, _packages, _code in rows:
        assert verdict in ("yes", "perhaps", "no")
        assert verdict == "yes" or why != "-"


def test_a_packages_row_has_the_findings_with_their_package() -> None:
    result = {
        "verdict": "perhaps",
        "packages": [
            {"name": "thing", "version": "1.0", "gpu_code": "12.0", "asked": True},
            {"name": "dep", "version": "2.0", "gpu_code": "8.0", "asked": False},
        ],
        "findings": [
            {"package": "thing", "level": "note", "kind": "ptx", "what": "it is compiled."},
            {"package": "dep", "level": "no", "kind": "gpu_code", "what": "it has 8.0."},
            {"package": "dep", "level": "note", "kind": "ptx", "what": "untold."},
        ],
    }
    row = runs_on_spark.row("thing", result)
    assert row == "| thing | 1.0 | perhaps | it is compiled. dep: it has 8.0. | 2 | 12.0 |"
