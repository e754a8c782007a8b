"""What a campaign of mutants says of its rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import campaign
from benchmarks.campaign import Share


@pytest.mark.parametrize(
    ("caught", "total", "low", "high"), [(9, 10, 0.596, 0.982), (0, 10, 0.0, 0.278), (131, 133, 0.947, 0.996)]
)
def test_the_interval_is_wilsons(caught: int, total: int, low: float, high: float) -> None:
    assert Share(caught, total).interval == pytest.approx((low, high), abs=6e-4)


def test_nothing_has_no_share() -> None:
    assert (str(Share(0, 0)), Share(0, 0).interval) == ("none", (0.0, 1.0))


#: A fault that a program shows to be large.
DONE = {"calls": 3, "faults": 3, "size": 50.0, "large": True, "ran": ["survey.float32"], "caught": {}, "seed": 7}


def row(number: int, **words: Any) -> dict[str, Any]:
    plain = {"target": "aten::add.Tensor", "operator": "add", "defect": "scale", "condition": "", "class": "sums"}
    said = {"words": f"{number}: aten::add.Tensor, scale 0.01", "program": "float32, input 0"}
    return {"number": number, **plain, **said, **DONE, **words}


def test_what_no_program_shows_counts_neither_for_nor_against_but_is_counted() -> None:
    said = campaign.report(
        [
            row(1, caught={"survey.float32": "off"}),
            row(2),
            row(3, size=0.0, large=False),
            row(4, error="was killed by SIGKILL"),
            row(5, size=3.0, large=False),
            row(6, defect="", size=0.0, faults=0, large=False),
        ]
    )
    assert "seeds 7" in said
    assert "drawn                            5" in said
    assert "could not be judged            1" in said
    assert "no program shows a change      1" in said
    assert "  larger                         2" in said
    assert "    of these caught              1 / 2 = 50.0%" in said
    assert "false alarms of sound wrappers   0 / 1 (1 of them called)" in said
    assert "sums: 2: aten::add.Tensor, scale 0.01; shown by float32, input 0, 50 times" in said
    assert "survey                         1" in said


def test_what_the_default_misses_is_asked_of_full() -> None:
    seen, missed = {"survey.float32": "off"}, {"caught": {}, "error": None}
    rows = [row(1, caught=seen), row(2, full={"caught": seen, "error": None}), row(3, full=missed)]
    assert "caught by --full    2 / 3 = 66.7%" in campaign.report(rows)
    assert "caught by --full    not asked of each" in campaign.report([*rows, row(4)])


def test_a_second_run_reads_what_the_first_has_written(tmp_path: Path) -> None:
    file = tmp_path / "mutants.jsonl"
    assert campaign.rows_of(file) == []
    file.write_text("".join(json.dumps(row(number)) + "\n" for number in (1, 2)))
    assert [one["number"] for one in campaign.rows_of(file)] == [1, 2]


def test_no_check_that_is_not_run_for_a_mutant_is_of_another_name(tmp_path: Path) -> None:
    names = campaign.Campaign(tmp_path, "cpu", 1, 1, tmp_path / "out").names()
    assert "cpu.survey.float32" in names and "cpu.training.transformer" in names
    assert not [name for name in names if "compilation" in name or name.startswith("survey.")]
    one = campaign.Campaign(tmp_path, "cuda", 1, 1, tmp_path / "out", checks=("matmul.float32",))
    assert one.names() == ["matmul.float32"]
