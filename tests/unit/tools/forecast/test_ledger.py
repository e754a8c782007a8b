"""The ledger: rules with sources, each of which matches one of its two examples, and refused ledgers."""

import copy
import datetime
import json
import re
import time
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.tools.forecast import forecast, ledger, patterns
from ansible_collections.sparkforge.dgx_spark.tools.forecast.facts import RESERVE_MIB, State

SHIPPED = ledger.load()
TODAY = datetime.date(2026, 11, 26)
EXAMPLES = [(rule, kind) for rule in SHIPPED.rules for kind in ("triggers", "quiet")]


def merge(base: t.Any, change: t.Any) -> t.Any:
    if isinstance(base, dict) and isinstance(change, dict):
        return {key: merge(base.get(key), change.get(key, base.get(key))) for key in {**base, **change}}
    return change


def observation_of(example: t.Mapping[str, t.Any]) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
    """Return spark_info and update_info for a rule's example."""
    installed = dict(example.get("installed") or {})
    rows = [[*row, ""][:4] for row in example.get("install") or []]
    install = [dict(zip(("name", "previous", "version", "origin"), row, strict=True)) for row in rows]
    installed.update({step["name"]: step["previous"] for step in install if step["previous"]})
    remove = [{"name": name, "previous": version} for name, version in example.get("remove") or []]
    installed.update({step["name"]: step["previous"] for step in remove})
    plan = {"install": install, "remove": remove, "problem": None}
    observation = merge({**forecast.EMPTY, "apt": {"packages": installed}}, example.get("observation") or {})
    return observation, merge({"plan": plan}, example.get("update") or {})


def judge(example: t.Mapping[str, t.Any], **options: t.Any) -> forecast.Forecast:
    return forecast.judge("spark01", *observation_of(example), SHIPPED, TODAY, **options)


def test_every_rule_of_the_ledger_has_two_examples() -> None:
    assert len(SHIPPED.rules) >= 25 and len(EXAMPLES) >= 50
    assert SHIPPED.date.year == 2026


@pytest.mark.parametrize(("rule", "kind"), EXAMPLES, ids=[f"{rule['id']}-{kind}" for rule, kind in EXAMPLES])
def test_a_rule_triggers_on_one_example_and_not_on_the_other(rule: ledger.Rule, kind: str) -> None:
    findings = [row for row in judge(rule["examples"][kind])["findings"] if row["rule"] == rule["id"]]
    assert len(findings) == (1 if kind == "triggers" else 0)
    if findings and rule.get("hold"):
        assert findings[0]["hold"], "its patterns match no package of its example"


@pytest.mark.parametrize("rule", SHIPPED.rules, ids=lambda rule: rule["id"])
def test_names_in_a_rule_exist(rule: ledger.Rule) -> None:
    facts = State(forecast.EMPTY, {}).facts

    def fact_names(value: t.Any) -> t.Iterator[str]:
        if isinstance(value, dict):
            if "fact" in value:
                yield value["fact"]["name"]
            value = list(value.values())
        for item in value if isinstance(value, list) else ():
            yield from fact_names(item)

    assert set(fact_names([rule["when"], rule["over"].get("when")])) <= set(facts)
    assert (rule["verdict"] == "steps") == ("order" in rule), "a step is before or after the upgrade"
    for pattern in re.findall(r"'(?:name|matches)': '([^']*)'", str(rule["when"])):
        re.compile(pattern)
    for source in rule["source"]:
        assert source["date"] <= SHIPPED.date.isoformat()


def test_an_accepted_rule_does_not_block_but_is_reported() -> None:
    rule = next(rule for rule in SHIPPED.rules if rule["id"] == "kernel-7-kho")
    before, after = judge(rule["examples"]["triggers"]), judge(rule["examples"]["triggers"], accept=["kernel-7-kho"])
    assert "kernel-7-kho" in before["blocked"] and "kernel-7-kho" not in after["blocked"]
    assert [finding["accepted"] for finding in after["findings"] if finding["rule"] == "kernel-7-kho"] == [True]


def test_a_sites_ledger_replaces_the_shipped_one(tmp_path: Path) -> None:
    for name in ("ledger.yml", "lists-old.yml"):
        (tmp_path / name).write_bytes((ledger.SHIPPED / name).read_bytes())
    assert [rule["id"] for rule in ledger.load(str(tmp_path)).rules] == ["lists-old"]


def refusal(source: t.Any) -> str:
    with pytest.raises(SparkforgeError) as refused:
        ledger.load(str(source))
    assert refused.value.remedy
    return refused.value.cause


def copy_of_a_rule() -> dict[str, t.Any]:
    return copy.deepcopy(dict(next(rule for rule in SHIPPED.rules if rule["id"] == "lists-old")))


def refusal_of(rule: dict[str, t.Any], directory: Path) -> str:
    """Return the refusal of a ledger that contains this rule."""
    (directory / "ledger.yml").write_bytes((ledger.SHIPPED / "ledger.yml").read_bytes())
    (directory / "lists-old.yml").write_text(json.dumps(rule))
    return refusal(directory)


def test_a_ledger_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text("{}")
    assert "not a folder" in refusal(tmp_path / "ledger.json")
    cause = refusal("https://user:secret@ledger.invalid/ledger.json")
    assert "https://ledger.invalid/ledger.json is not" in cause


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rule: rule.pop("source"), "source is missing"),
        (lambda rule: rule.update(verdict="maybe"), "verdict"),
        (lambda rule: rule.update(when=[]), "when is an empty list"),
        (lambda rule: rule.update(speed=3), "speed is not a known key"),
        (lambda rule: rule["source"][0].update(url="ftp://x"), "url"),
        (lambda rule: rule["when"][0]["fact"].update(name="NaN"), "a fact NaN"),
        (lambda rule: rule.update(when=[{"not": {"fact": {"name": "kernel"}}}]), "a fact kernel"),
        (lambda rule: rule.update(id="other"), "its id differs"),
        (lambda rule: rule["when"][0]["fact"].update(above=float("inf")), "above must be a number"),
        (lambda rule: rule["when"][0]["fact"].update(above=10**400, speed=3), "speed is not a known key"),
    ],
    ids=["source", "verdict", "when", "key", "url", "fact", "inner", "id", "infinite", "large"],
)
def test_a_rule_that_does_not_fit_the_schema_is_named(tmp_path: Path, change: t.Any, message: str) -> None:
    rule = copy_of_a_rule()
    change(rule)
    assert message in refusal_of(rule, tmp_path)


@pytest.mark.parametrize("head", ["[]", "3", "format: 1\ndate: [2026]\n", ""])
def test_a_ledger_with_an_invalid_head_is_damaged(tmp_path: Path, head: str) -> None:
    (tmp_path / "ledger.yml").write_text(head)
    assert "is damaged" in refusal(tmp_path)


def test_files_of_a_ledger_have_a_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = max(path.stat().st_size for path in ledger.SHIPPED.glob("*.yml"))
    for path in ledger.SHIPPED.glob("*.yml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(ledger, "LIMIT", size)
    assert ledger.load(str(tmp_path)).rules == SHIPPED.rules
    monkeypatch.setattr(ledger, "LIMIT", size - 1)
    assert "has more than" in refusal(tmp_path)


def test_expressions_and_names_have_length_limits() -> None:
    assert patterns.is_bounded("a" * patterns.LONGEST) and not patterns.is_bounded("a" * (patterns.LONGEST + 1))
    for length in (patterns.LONGEST_NAME, patterns.LONGEST_NAME + 1):
        assert patterns.matches("a*", "a" * length) is (length == patterns.LONGEST_NAME)


@pytest.mark.parametrize("missing", [0, 1])
def test_an_upgrade_leaves_a_reserve_of_disk_space(missing: int) -> None:
    room = {"available_mib": 100 + 30 + RESERVE_MIB - missing}
    plan = {"install": [{"name": "a", "version": "1"}], "remove": [], "download_mib": 100, "growth_mib": 30}
    assert RESERVE_MIB == 512
    state = State(forecast.EMPTY, {"plan": plan, "system": room, "archives": {"available_mib": 10**6}})
    assert state.facts["system_missing_mib"] == missing


@pytest.mark.parametrize(("driver", "beyond"), [("580.0.1", []), ("579.9", ["cuda-libraries-13-0 1"])])
def test_a_driver_supports_the_cuda_of_its_branch(driver: str, beyond: list[str]) -> None:
    packages = {"nvidia-driver-580": driver, "cuda-libraries-13-0": "1"}
    environments = {"a": {"torch": "2.9.1+cu130"}}
    state = State({**forecast.EMPTY, "apt": {"packages": packages}, "environments": environments}, {})
    assert state.facts["cuda_beyond_driver"] == [*beyond, *(["environment a (2.9.1+cu130)"] if beyond else [])]


def test_an_invalid_version_is_not_a_driver() -> None:
    observation = {**forecast.EMPTY, "driver": {"version": "570.1"}}
    state = State(observation, {})
    assert state.driver({"nvidia-driver-580": "1:580.65.06-0ubuntu1"}) == "580.65.06"
    assert state.driver({"nvidia-driver-580": "580.65x"}) == "570.1"


def test_an_old_ledger_is_a_hold_until_accepted() -> None:
    late = SHIPPED.date + datetime.timedelta(days=ledger.OLDEST + 1)
    row = forecast.judge("spark01", *observation_of({}), SHIPPED, late)
    assert row["answer"] == forecast.HOLD and row["blocked"] == ["ledger-old"]
    assert forecast.judge("spark01", *observation_of({}), SHIPPED, late, ["ledger-old"])["answer"] == forecast.GO
    on_time = forecast.judge("spark01", *observation_of({}), SHIPPED, late - datetime.timedelta(days=1))
    assert on_time["answer"] == forecast.GO


#: Regular expressions that are invalid, too long, or exponentially slow.
UNBOUNDED = [
    "(a+)+$", "(a*)*", "((a+)b?)+", "(a|a)*b", "(a|aa)+$", "(?:a+)+", "(.*a){20}", "(?=a+)+a", r"(a+)\1+b",
    "(?x)(a+) +",
    ".*.*.*.*.*.*x", "(.*.*|a)(.*.*|b)", "[ab]*a*[ab]*a*x", "(((a+)+)+)+", "(", "a{1,99999999999}", "a" * 2000,
    "(a+)" * 9,
]  # fmt: skip


@pytest.mark.parametrize("pattern", UNBOUNDED)
@pytest.mark.parametrize("key", ["hold", "name", "matches", "any", "over"])
def test_an_unbounded_pattern_is_refused(tmp_path: Path, key: str, pattern: str) -> None:
    rule = copy_of_a_rule()
    if key == "hold":
        rule["hold"] = ["nvidia-.*", pattern]
    elif key == "over":
        rule["over"] = {"test": "No such package is there.", "when": [{"after": {"name": pattern}}]}
    else:
        fact = {"fact": {"name": "held", "matches": pattern}}
        conditions = {"name": {"installs": {"name": pattern}}, "matches": fact, "any": {"any": [{"not": fact}]}}
        rule["when"] = [conditions[key]]
    started = time.monotonic()
    assert "the regular expression" in refusal_of(rule, tmp_path)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("pattern", [".*-.*-.*x", "(lib)?a*b+c{2,}x|(d|e*)?.*.*y", r"[(a+)+]*\(+\)+$", "[^]*]*.*.*x"])
def test_the_slowest_accepted_pattern_finishes_soon(pattern: str) -> None:
    assert patterns.is_bounded(pattern)
    started = time.monotonic()
    for letter in ("a", "-", "b", "("):
        assert not patterns.matches(pattern, letter * patterns.LONGEST_NAME)
    assert not patterns.matches(".*", "a" * (patterns.LONGEST_NAME + 1))
    assert time.monotonic() - started < 5


def test_a_blacklist_of_the_host_is_matched_in_bounded_time() -> None:
    automatic = {"enabled": True, "origins": ["Ubuntu:noble-security"], "blacklist": [*UNBOUNDED, 7, None]}
    name = "a" * 40 + "!"
    state = {"install": [[name, "1", "2", "Ubuntu:24.04/noble-security"]], "update": {"unattended": automatic}}
    started = time.monotonic()
    forecast.judge("spark01", *observation_of(state), SHIPPED, SHIPPED.date)
    assert time.monotonic() - started < 3
