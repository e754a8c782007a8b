"""Official wheels as a bridge until a host's stack is built, on a Spark and on other hosts."""

import copy
import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import bridge as bridging
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.stack import facts, load

COLLECTION = Path(__file__).parents[5]


def bridge(wheels: dict[str, t.Any], observation: dict[str, t.Any], gpu_required: bool = True) -> plans.Plan:
    settings = {"__stack_meanwhile": wheels, "sparkforge_gpu_required": gpu_required}
    return bridging.plan(settings, observation)


def spark() -> dict[str, t.Any]:
    return json.loads((COLLECTION / "tests/unit/data/hosts/dgx-spark.json").read_text())


@pytest.fixture(scope="module")
def newest_wheels() -> dict[str, t.Any]:
    """The newest shipped stack, installed from wheels."""
    return facts.facts("torch-2.15.0", "wheel", "gb10", load.search_paths([], load.SHIPPED))


def test_suitable_wheels_need_no_libraries_of_the_host(newest_wheels: dict[str, t.Any]) -> None:
    plan = bridge(newest_wheels, spark())
    stack = plan.steps["stack"]
    assert not plan.refusals
    assert (stack["name"], stack["method"]) == ("torch-2.15.0", "wheel")
    assert stack["archives"] == [] and stack["cusparselt"]["archive"] is None
    # The lock is unchanged, because the wheels are the same.
    assert stack["lock"] == newest_wheels["stack"]["lock"]


Change = t.Callable[[dict[str, t.Any], dict[str, t.Any]], object]
CASES: dict[str, tuple[Change, str]] = {
    "another machine": (lambda host, _stack: host["kernel"].update(machine="riscv64"), "The machine is riscv64"),
    "another system": (lambda host, _stack: host["os"].update(version="22.04"), "The host runs ubuntu 22.04"),
    "an old driver": (lambda host, _stack: host["driver"].update(version="535.10"), "driver is 535.10"),
    "another Python": (lambda _host, stack: stack["python"].update(version="3.14"), "needs Python 3.14"),
    "no lock for the platform": (
        lambda _host, stack: stack["lock"].update(wheels={"cp312-linux-x86_64": ["torch==2"]}),
        "wheels for cp312-linux-aarch64",
    ),
    "a CPU build": (lambda _host, stack: stack["wheel"].update(cuda=None), "CPU builds"),
}


@pytest.mark.parametrize("case", CASES)
def test_unsuitable_wheels_are_no_bridge(newest_wheels: dict[str, t.Any], case: str) -> None:
    change, cause = CASES[case]
    host, changed = spark(), copy.deepcopy(newest_wheels)
    change(host, changed["stack"])
    plan = bridge(changed, host)
    assert not plan.steps
    assert cause in plan.as_result()["refused"]


def test_a_cpu_build_is_a_bridge_if_no_gpu_is_required(newest_wheels: dict[str, t.Any]) -> None:
    changed = copy.deepcopy(newest_wheels)
    changed["stack"]["wheel"]["cuda"] = None
    assert not bridge(changed, spark(), False).refusals


def test_an_unreadable_stack_is_no_bridge() -> None:
    cause = "Stack torch-2.31.0 is unknown."
    assert bridge({"failed": False, "cause": cause, "msg": f"{cause} x."}, spark()).as_result()["refused"] == cause
