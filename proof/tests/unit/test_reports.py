# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The corpus of public reports keeps its form, and the judge's third is the one that its seed draws."""

from __future__ import annotations

import datetime
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

REPORTS = Path(__file__).parents[1] / "reports"
SEED = 4101
AT_LEAST = 150
KEYS = {
    *("id", "source", "reported", "batch", "versions", "device", "title", "condition"),
    *("cause", "wrong", "model", "probe", "plantable_on", "confirmed"),
}
WORDS = {
    "device": {"cpu-x86", "cpu-aarch64", "cuda", "any"},
    "cause": {"device", "driver", "compiler", "library", "build", "torch-logic", "engine-logic", "unknown"},
    "confirmed": {"fixed", "maintainer", "none"},
}
CONDITION_WORDS = {
    "size_class": {"empty", "one", "small", "tail", "wide", "long", "beyond-2gib", "beyond-2^31", "beyond-2^32", "any"},
    "mode": {"eager", "compiled", "graph", "autocast", "distributed", "served"},
    "direction": {"forward", "backward", "forward-mode", "state"},
    "values": {"ordinary", "nan", "inf", "subnormal", "zero", "edge"},
}
CONDITION_TEXTS = {"operator", "formats", "layout", "shape", "option", "threads"}


def read(folder: Path) -> list[dict[str, Any]]:
    return [record for path in sorted(folder.glob("*.yml")) for record in yaml.safe_load(path.read_text())]


OPEN, JUDGED = read(REPORTS), read(REPORTS / "judge")
RECORDS = {record["id"]: record for record in OPEN + JUDGED}


def draw(records: list[dict[str, Any]]) -> set[str]:
    batches: dict[int, list[str]] = {}
    for record in records:
        batches.setdefault(record["batch"], []).append(record["id"])
    return {name for ids in batches.values() for name in random.Random(SEED).sample(sorted(ids), len(ids) // 3)}


@pytest.mark.parametrize("record", RECORDS.values(), ids=list(RECORDS))
def test_record_has_the_form(record: dict[str, Any]) -> None:
    assert set(record) - {"capability"} == KEYS
    assert re.fullmatch(r"[a-z0-9.-]+#[a-z0-9.-]+", record["id"])
    assert record["source"].startswith("https://")
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", record["reported"])
    assert "2023-01" <= record["reported"] <= f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m}"
    assert isinstance(record["batch"], int)
    assert all(record[key] in words for key, words in WORDS.items())
    assert all(re.fullmatch(r"\d+\.\d", capability) for capability in record.get("capability", []))
    assert record["plantable_on"] in (["cpu"], ["cuda"], ["cpu", "cuda"])
    assert record["device"] != "cuda" or "cuda" in record["plantable_on"]
    assert not record["device"].startswith("cpu") or "cpu" in record["plantable_on"]
    assert all(isinstance(record[key], str) and record[key] for key in ("title", "versions", "wrong", "model", "probe"))
    assert all(len(record[key]) < 300 for key in ("title", "wrong", "model", "probe")), "long texts hide the condition"


@pytest.mark.parametrize("record", RECORDS.values(), ids=list(RECORDS))
def test_record_condition_has_the_form(record: dict[str, Any]) -> None:
    condition = record["condition"]
    assert set(condition) == CONDITION_TEXTS | set(CONDITION_WORDS)
    assert all(condition[key] in words for key, words in CONDITION_WORDS.items())
    assert all(isinstance(condition[key], str) and condition[key] for key in CONDITION_TEXTS)


def test_no_two_records_are_alike() -> None:
    assert len(RECORDS) == len(OPEN) + len(JUDGED)
    for key in ("title", "model"):
        assert len({record[key] for record in RECORDS.values()}) == len(RECORDS), f"two records share a {key}"


def test_corpus_is_large_enough() -> None:
    assert len(RECORDS) >= AT_LEAST


def test_judges_third_is_the_one_drawn() -> None:
    drawn = draw(OPEN + JUDGED)
    assert {record["id"] for record in JUDGED} == drawn
    assert (REPORTS / "judge.txt").read_text().split() == sorted(drawn)
    assert not drawn & {record["id"] for record in OPEN}
