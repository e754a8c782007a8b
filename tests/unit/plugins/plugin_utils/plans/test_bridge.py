"""Whether official wheels bridge the time until a host's stack is built, on a Spark and on hosts that are none."""

import copy
import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import bridge as bridging
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

COLLECTION = Path(__file__).parents[5]


def bridge(found: dict[str, t.Any], observation: dict[str, t.Any], gpu_required: bool = True) -> plans.Plan:
    settings = {"__stack_meanwhile": found, "sparkforge_gpu_required": gpu_required}
    return bridging.plan(settings, observation)


def spark() -> dict[str, t.Any]:
    return json.loads((COLLECTION / "tests/unit/data/hosts/dgx-spark.json").read_text())


@pytest.fixture(scope="module")
def found() -> dict[str, t.Any]:
    """The newest stack that is shipped with wheels."""
    where = load.search_paths([], str(COLLECTION / "roles/stack"), [], [])
    return facts.facts("torch-2.15.0", "wheel", "gb10", where)


def test_wheels_that_fit_bring_their_own_libraries(found: dict[str, t.Any]) -> None:
    said = bridge(found, spark())
    stack = said.steps["stack"]
    assert not said.refusals
    assert (stack["name"], stack["method"]) == ("torch-2.15.0", "wheel")
    assert stack["archives"] == [] and stack["cusparselt"]["archive"] is None
    # The same wheels are the same lock.
    assert stack["lock"] == found["stack"]["lock"]


Change = t.Callable[[dict[str, t.Any], dict[str, t.Any]], object]
CASES: dict[str, tuple[Change, str]] = {
    "another machine": (lambda host, _stack: host["kernel"].update(machine="riscv64"), "The machine is riscv64"),
    "another system": (lambda host, _stack: host["os"].update(version="22.04"), "The host runs ubuntu 22.04"),
    "an old driver": (lambda host, _stack: host["driver"].update(version="535.10"), "The NVIDIA driver is 535.10"),
    "another Python": (lambda _host, stack: stack["python"].update(version="3.14"), "needs Python 3.14"),
    "no lock for the platform": (
        lambda _host, stack: stack["lock"].update(wheels={"cp312-linux-x86_64": ["torch==2"]}),
        "has no wheels for cp312-linux-aarch64",
    ),
    "a CPU build": (lambda _host, stack: stack["wheel"].update(cuda=None), "are CPU builds, and a GPU is required"),
}


@pytest.mark.parametrize("case", CASES)
def test_wheels_that_do_not_fit_are_no_bridge(found: dict[str, t.Any], case: str) -> None:
    change, said = CASES[case]
    host, changed = spark(), copy.deepcopy(found)
    change(host, changed["stack"])
    answer = bridge(changed, host)
    assert not answer.steps
    assert said in answer.as_result()["refused"]


def test_a_cpu_build_does_where_no_gpu_is_required(found: dict[str, t.Any]) -> None:
    changed = copy.deepcopy(found)
    changed["stack"]["wheel"]["cuda"] = None
    assert not bridge(changed, spark(), False).refusals


def test_a_stack_that_cannot_be_read_is_none(found: dict[str, t.Any]) -> None:
    failed = {
        "failed": False,
        "cause": "Stack torch-2.31.0 is unknown.",
        "msg": "Stack torch-2.31.0 is unknown. Correct it.",
    }
    assert bridge(failed, spark()).as_result()["refused"] == "Stack torch-2.31.0 is unknown."
