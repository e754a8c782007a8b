# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a campaign of mutants says of its rows."""

from __future__ import annotations

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


#: A fault that was reached and is large.
DONE = {"calls": 3, "faults": 3, "large": True, "ran": ["survey.float32"], "caught": {}}


def row(number: int, **words: Any) -> dict[str, Any]:
    plain = {"operator": "aten::add.Tensor", "kind": "scale", "defect": "scale", "factor": 1.01, "only": ""}
    return {
        "number": number,
        **plain,
        **DONE,
        **words,
    }


def test_what_never_did_anything_counts_neither_for_nor_against_but_is_counted() -> None:
    said = campaign.report(
        [
            row(1, caught={"survey.float32": "off"}),
            row(2),
            row(3, calls=0, faults=0, large=False),
            row(4, faults=0, large=False),
            row(5, large=False),
            row(6, kind="sound", defect="", faults=0, large=False),
        ]
    )
    assert "planted                          5" in said
    assert "never called by a check        1" in said
    assert "called, but never as it takes  1" in said
    assert "    of these caught              1 / 2 = 50.0%" in said
    assert "caught of all planted            1 / 5" in said
    assert "false alarms of sound wrappers   0 / 1 (1 of them called)" in said
    assert "2: aten::add.Tensor, times 1.01; 3 faults in 3 calls, 1 checks" in said
    assert "survey                         1" in said


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
