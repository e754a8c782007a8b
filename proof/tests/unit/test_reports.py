"""The format of the corpus of public reports, and the third of it for the judge, which a seed draws."""

import datetime
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

REPORTS = Path(__file__).parents[1] / "reports"
SEED = 4101
AT_LEAST = 150
KEYS = {
    *("id", "source", "reported", "batch", "versions", "device", "title", "condition"),
    *("cause", "wrong", "model", "probe", "plantable_on", "confirmed"),
}
CHOICES = {
    "device": {"cpu-x86", "cpu-aarch64", "cuda", "any"},
    "cause": {"device", "driver", "compiler", "library", "build", "torch-logic", "engine-logic", "unknown"},
    "confirmed": {"fixed", "maintainer", "none"},
}
CONDITION_CHOICES = {
    "size_class": {"empty", "one", "small", "tail", "wide", "long", "beyond-2gib", "beyond-2^31", "beyond-2^32", "any"},
    "mode": {"eager", "compiled", "graph", "autocast", "distributed", "served"},
    "direction": {"forward", "backward", "forward-mode", "state"},
    "values": {"ordinary", "nan", "inf", "subnormal", "zero", "edge"},
}
#: The maximum length of a text. In longer texts, the condition is hard to find.
LONGEST = 300
OLDEST = "2023-01"
TEXTS = ("title", "versions", "wrong", "model", "probe")
#: For each device in a report, the devices on which its fault may be planted.
PLANTABLE = {
    "cpu": (["cpu"], ["cpu", "cuda"]),
    "cuda": (["cuda"], ["cpu", "cuda"]),
    "any": (["cpu"], ["cuda"], ["cpu", "cuda"]),
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


def problems(record: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of a record that have a wrong format."""
    if set(record) - {"capability"} != KEYS:
        yield f"keys {sorted(set(record) ^ KEYS)}"
        return
    if not re.fullmatch(r"[a-z0-9.-]+#[a-z0-9.-]+", record["id"]) or not record["source"].startswith("https://"):
        yield "id or source"
    newest = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m}"
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", record["reported"]) or not OLDEST <= record["reported"] <= newest:
        yield "reported"
    if not isinstance(record["batch"], int):
        yield "batch"
    if not all(re.fullmatch(r"\d+\.\d", capability) for capability in record.get("capability", [])):
        yield "capability"
    if record["plantable_on"] not in PLANTABLE[record["device"].partition("-")[0]]:
        yield "plantable_on"
    yield from (key for key, choices in CHOICES.items() if record[key] not in choices)
    yield from (key for key in TEXTS if not isinstance(record[key], str) or not 0 < len(record[key]) < LONGEST)
    condition = record["condition"]
    if set(condition) != CONDITION_TEXTS | set(CONDITION_CHOICES):
        yield "keys of condition"
        return
    yield from (key for key, choices in CONDITION_CHOICES.items() if condition[key] not in choices)
    yield from (key for key in CONDITION_TEXTS if not isinstance(condition[key], str) or not condition[key])


def test_records_are_valid() -> None:
    assert not {record["id"]: faults for record in RECORDS.values() if (faults := list(problems(record)))}


def test_invalid_records() -> None:
    record = next(iter(RECORDS.values()))
    assert not list(problems(record))
    assert list(problems({**record, "device": "cpu-x86", "plantable_on": ["cuda"]})) == ["plantable_on"]
    assert list(problems({**record, "cause": "weather"})) == ["cause"]
    assert list(problems({**record, "reported": "2022-12"})) == ["reported"]
    assert list(problems({**record, "condition": {**record["condition"], "mode": "lazy"}})) == ["mode"]
    assert list(problems({**record, "prose": "copied"})) == ["keys ['prose']"]


def test_records_are_distinct() -> None:
    assert len(RECORDS) == len(OPEN) + len(JUDGED)
    for key in ("title", "model"):
        assert len({record[key] for record in RECORDS.values()}) == len(RECORDS), f"two records share a {key}"


def test_corpus_is_large_enough() -> None:
    assert len(RECORDS) >= AT_LEAST


def test_judges_third_is_drawn() -> None:
    drawn = draw(OPEN + JUDGED)
    assert {record["id"] for record in JUDGED} == drawn
    assert (REPORTS / "judge.txt").read_text().split() == sorted(drawn)
    assert not drawn & {record["id"] for record in OPEN}
