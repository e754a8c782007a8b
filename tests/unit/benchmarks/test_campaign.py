"""The report of a campaign of mutants."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import campaign
from benchmarks.campaign import Share


@pytest.mark.parametrize(
    ("caught", "total", "low", "high"), [(9, 10, 0.596, 0.982), (0, 10, 0.0, 0.278), (131, 133, 0.947, 0.996)]
)
def test_the_interval_of_a_share_is_wilsons(caught: int, total: int, low: float, high: float) -> None:
    assert Share(caught, total).interval == pytest.approx((low, high), abs=6e-4)


def test_an_empty_total_has_no_share() -> None:
    assert (str(Share(0, 0)), Share(0, 0).interval) == ("none", (0.0, 1.0))


#: A mutant with a fault that a program showed to be large.
DONE = {"calls": 3, "faults": 3, "size": 50.0, "large": True, "ran": ["survey.float32"], "caught": {}, "seed": 7}


def row(number: int, **values: Any) -> dict[str, Any]:
    mutant = {"target": "aten::add.Tensor", "operator": "add", "defect": "scale", "condition": "", "class": "sums"}
    texts = {"words": f"{number}: aten::add.Tensor, scale 0.01", "program": "float32, input 0"}
    return {"number": number, **mutant, **texts, **DONE, **values}


def test_report_counts_mutants_by_outcome() -> None:
    rows = [
        row(1, caught={"survey.float32": "off"}), row(2), row(3, size=0.0, large=False),
        row(4, error="was killed by SIGKILL"), row(5, size=3.0, large=False),
        row(6, defect="", size=0.0, faults=0, large=False),
    ]  # fmt: skip
    report = campaign.report(rows)
    for line in (
        "seeds 7",
        "drawn                            5",
        "could not be judged            1",
        "no program shows a change      1",
        "  larger                         2",
        "    of these caught              1 / 2 = 50.0%",
        "false alarms of sound wrappers   0 / 1 (1 of them called)",
        "sums: 2: aten::add.Tensor, scale 0.01; shown by float32, input 0, 50 times",
        "survey                         1",
    ):
        assert line in report


def test_report_counts_mutants_caught_by_full() -> None:
    caught, missed = {"survey.float32": "off"}, {"caught": {}, "error": None}
    rows = [row(1, caught=caught), row(2, full={"caught": caught, "error": None}), row(3, full=missed)]
    assert "caught by --full    2 / 3 = 66.7%" in campaign.report(rows)
    assert "caught by --full    not asked of each" in campaign.report([*rows, row(4)])


def test_rows_of_an_earlier_run_are_read(tmp_path: Path) -> None:
    file = tmp_path / "mutants.jsonl"
    assert campaign.rows_of(file) == []
    file.write_text("".join(json.dumps(row(number)) + "\n" for number in (1, 2)))
    assert [mutant["number"] for mutant in campaign.rows_of(file)] == [1, 2]


def test_checks_of_a_campaign_have_names_of_the_device(tmp_path: Path) -> None:
    names = campaign.Campaign(tmp_path, "cpu", 1, 1, tmp_path / "out").names()
    assert "cpu.survey.float32" in names and "cpu.training.transformer" in names
    assert not [name for name in names if "compilation" in name or name.startswith("survey.")]
    single = campaign.Campaign(tmp_path, "cuda", 1, 1, tmp_path / "out", checks=("matmul.float32",))
    assert single.names() == ["matmul.float32"]
