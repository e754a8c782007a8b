"""Drawn faults: a seed always draws the same faults, a program reveals each, and the proof catches it."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from proof.tests.environment import Environment

CHECKOUT = Path(__file__).resolve().parents[2]
#: The day, which selects the faults that `make test` plants.
DAY = int(os.environ.get("SPARKFORGE_DAY") or 0)
PROGRAM = """
import functools, json, sys
from benchmarks import mutation
from proof.tests.drawn import entries, families

job = {"device": "cpu", "directory": sys.argv[1], "profile": {}, "reference": {}, "seed": 1, "full": False,
       "limits": {"factor": 10.0, "memory_share": 0.1, "seconds": 600.0, "samples": 1.0, "survey": 60.0}}
request = json.loads(sys.argv[2])
job.update(request["job"])
known = {"calls": request["calls"], "seconds": {}}
results = {}
for name, options in request["faults"].items():
    drawn = families.Drawn(1, **options)
    results[name] = {**mutation.in_a_fork(functools.partial(mutation.shown, job, drawn), {"size": -1.0}),
                     **mutation.in_a_fork(functools.partial(mutation.judge, job, known, drawn), {})}
print(json.dumps(results))
"""
#: A program that draws 300 faults of one seed twice.
DRAWS = """
operators, others = mutation.candidates("cpu")
known = {"calls": {"cpu.survey.float32": {"cat": ["aten::cat"], "mm": ["aten::mm"]}}}
targets, chances = mutation.drawable(known, operators)
first, second = ([families.draw(targets, entries.defects("cpu"), chances, "cpu", 1, number) for number in range(300)]
                 for _again in range(2))
drawn = [fault for fault in first if fault is not None]
results["drawn"] = {"same": first == second, "defects": sorted({fault.defect for fault in drawn}),
                    "conditions": sorted({fault.condition for fault in drawn}), "candidates": len(operators),
                    "targets": sorted({fault.target for fault in drawn}), "faults": len(drawn)}
print(json.dumps(results))
"""


def judged(healthy: Environment, tmp_path, calls: dict[str, Any], faults: dict[str, Any], more="", **job) -> Any:
    variables = {**os.environ, "PYTHONPATH": f"{CHECKOUT / '.collections'}:{CHECKOUT}:{CHECKOUT / 'proof/src'}"}
    arguments = json.dumps({"calls": calls, "faults": faults, "job": job})
    command = [str(healthy.python), "-c", PROGRAM + more, str(tmp_path), arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=variables, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


def test_calls_of_a_survey_are_traced(healthy: Environment, tmp_path: Path) -> None:
    program = """
limits = {**job["limits"], "survey": 0.3}
traced = mutation.trace({**job, "limits": limits, "checks": ["cpu.survey.float32", "cpu.survey.float16"]})
print(json.dumps([traced["failed"], [max(map(len, calls.values())) for calls in traced["calls"].values()]]))
"""
    failed, most = judged(healthy, tmp_path, {}, {}, program)
    assert failed == {} and len(most) == 2 and min(most) > 3


def daily(names: Iterable[str], days: int) -> list[Any]:
    """Return names as parameters, each of which `make test` runs on one of so many days, and `make test-long` on the
    others."""
    return [
        pytest.param(name, marks=[] if number % days == DAY % days else pytest.mark.long)
        for number, name in enumerate(names)
    ]


SCALED = {"defect": "scale", "amount": 0.02}
OF_PRODUCTS: dict[str, dict[str, Any]] = {
    "scaled": SCALED,
    "lane": {"defect": "lane", "place": 3},
    "sound": {"defect": ""},
    # The check multiplies float32 numbers.
    "another format": {**SCALED, "condition": "only", "value": "float16"},
    "backward": {**SCALED, "condition": "backward"},
}


@pytest.mark.parametrize("name", daily(OF_PRODUCTS, 5))
def test_faulty_product_is_caught(healthy: Environment, tmp_path: Path, name: str) -> None:
    fault = {"target": "aten::mm", "operator": "mm", **OF_PRODUCTS[name]}
    calls = {"cpu.matmul.float32": ["aten::mm", "aten::addmm"]}
    result = judged(healthy, tmp_path, calls, {name: fault})[name]
    if name in ("sound", "another format"):
        assert result["caught"] == {}
    else:
        assert result["large"], result
        assert list(result["caught"]) == ["cpu.matmul.float32"]
    if name == "sound":
        assert result["size"] == 0 and result["calls"] > 0


def test_a_seed_always_draws_the_same_faults(healthy: Environment, tmp_path: Path) -> None:
    drawn = judged(healthy, tmp_path, {}, {}, DRAWS)["drawn"]
    # A number that draws a left-out entry has no fault.
    assert 200 < drawn["faults"] < 300
    assert drawn["same"] and len(drawn["defects"]) > 12 and len(drawn["conditions"]) >= 8
    assert drawn["candidates"] > 1500 and {"aten::cat", "aten::mm", "aten::normal_"} <= set(drawn["targets"])


def test_fault_is_caught_by_survey(healthy: Environment, tmp_path: Path) -> None:
    faults = {"rounded": {"target": "aten::sinh", "operator": "sinh", "defect": "rounding", "amount": 13.0}}
    calls = {"cpu.survey.float32": {"sinh": ["aten::sinh"]}}
    results = judged(healthy, tmp_path, calls, faults, kinds=["12.1", "aarch64", "torch 2.14"])
    assert list(results["rounded"]["caught"]) == ["cpu.survey.float32"], results["rounded"]


#: Faults that only some tensors or calls show, that are small beside the distributions that a user draws most, or that
#: correlate draws, each with the check that catches it.
OF_CHANCE: dict[str, tuple[str, dict[str, Any]]] = {
    "log_normal": ("cpu.chance.distributions",
                   {"target": "aten::log_normal_", "operator": "log_normal", "defect": "biased", "amount": 0.005}),
    "cauchy": ("cpu.chance.distributions",
               {"target": "aten::cauchy_", "operator": "cauchy", "defect": "biased", "amount": 0.005,
                "condition": "only", "value": "bfloat16"}),
    "normal": ("cpu.chance.distributions",
               {"target": "aten::normal.Tensor_float", "operator": "normal", "defect": "biased", "amount": -0.01}),
    "exponential": ("cpu.chance.distributions",
                    {"target": "aten::exponential_", "operator": "exponential", "defect": "tail",
                     "condition": "above 2^", "value": 19}),
    "uniform": ("cpu.chance.distributions",
                {"target": "aten::uniform_", "operator": "uniform", "defect": "correlated",
                 "condition": "layout", "value": "channels last"}),
    "bernoulli": ("cpu.chance.rates",
                  {"target": "aten::bernoulli_.float", "operator": "bernoulli", "defect": "biased", "amount": 0.005,
                   "condition": "only", "value": "float16"}),
    "geometric": ("cpu.chance.independence",
                  {"target": "aten::geometric_", "operator": "geometric", "defect": "repeated",
                   "condition": "only", "value": "bfloat16"}),
    "repeated call": ("cpu.chance.independence",
                      {"target": "aten::geometric_", "operator": "geometric", "defect": "repeated",
                       "condition": "every n-th call", "value": 10}),
    "correlated": ("cpu.chance.rates",
                   {"target": "aten::bernoulli_.float", "operator": "bernoulli", "defect": "correlated"}),
}  # fmt: skip


@pytest.mark.parametrize("name", daily(OF_CHANCE, 3))
def test_wrong_random_numbers_count_on_unknown_kind(healthy: Environment, tmp_path: Path, name: str) -> None:
    (check, fault), kinds = OF_CHANCE[name], ["12.1", "aarch64", "torch 2.14"]
    results = judged(healthy, tmp_path, {check: [fault["target"]]}, {name: fault}, kinds=kinds)[name]
    assert list(results["caught"]) == [check], results


#: For each public entry on a machine without a GPU, a defect, and the family that must catch it.
ENTRIES = {
    "nested.to_padded_tensor": ("last off", "layouts"),
    "sparse.mm": ("scaled", "layouts"),
    "sparse.sum": ("scaled", "layouts"),
    "random.set_rng_state": ("does nothing", "chance"),
    "torch.manual_seed": ("low bits", "chance"),
}
CHECKS = {"layouts": ["cpu.layouts.nested", "cpu.layouts.sparse"], "chance": ["cpu.chance.independence"]}


@pytest.mark.parametrize("entry", daily(ENTRIES, 5))
def test_broken_entry_is_caught(healthy: Environment, tmp_path: Path, entry: str) -> None:
    defect, family = ENTRIES[entry]
    fault = {"target": entry, "operator": "", "defect": defect, "amount": 0.02}
    result = judged(healthy, tmp_path, {name: [entry] for name in CHECKS[family]}, {"broken": fault})["broken"]
    assert result["large"], result
    assert result["caught"], result
