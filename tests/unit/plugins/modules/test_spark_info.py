"""The module spark_info, run on this machine."""

import json
import platform
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema

from tests.unit.run_module import run_module

RECORDED = json.loads((Path(__file__).parents[2] / "data/hosts/dgx-spark.json").read_text())


@pytest.mark.parametrize("check_mode", [False, True])
def test_this_machine_is_observed_without_a_change(check_mode: bool) -> None:
    result = run_module("spark_info", check_mode=check_mode)
    assert result["changed"] is False
    observation = result["spark_info"]
    assert result["ansible_facts"] == {"spark_info": observation}
    assert schema.problems("observation", observation) == []
    assert observation["kernel"]["machine"] == platform.machine()
    assert observation["memory"]["total_mib"] > 0
    assert observation["cpu"]["count"] >= 1
    assert any(row["mount"] == "/" for row in observation["disk"])
    assert observation["clock"]["offset"] is None


def test_recorded_host_has_the_keys_that_the_module_returns() -> None:
    observation = run_module("spark_info")["spark_info"]
    assert set(observation) == set(RECORDED)
    assert set(observation["apt"]) == set(RECORDED["apt"])
    assert set(observation["gpu"]) == set(RECORDED["gpu"])


def test_clock_offset_is_relative_to_the_controller() -> None:
    assert run_module("spark_info", controller_epoch=0.0)["spark_info"]["clock"]["offset"] > 1_700_000_000
