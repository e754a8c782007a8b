"""The module spark_info, run for real on this machine."""

import json
import os
import platform
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import schema

from tests.unit.run_module import run_module

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))


def host(name: str) -> dict[str, t.Any]:
    with open(os.path.join(ROOT, "tests/unit/data/hosts", name + ".json"), encoding="utf-8") as stream:
        return t.cast(dict[str, t.Any], json.load(stream))


@pytest.mark.parametrize("check_mode", [False, True])
def test_this_machine_is_observed_without_a_change(check_mode: bool) -> None:
    result = run_module("spark_info", check_mode=check_mode)
    assert result["changed"] is False
    seen = result["spark_info"]
    assert result["ansible_facts"] == {"spark_info": seen}
    assert schema.problems("observation", seen) == []  # in the form in which the controller takes it
    assert seen["kernel"]["machine"] == platform.machine()
    assert seen["memory"]["total_mib"] > 0
    assert seen["cpu"]["count"] >= 1
    assert any(row["mount"] == "/" for row in seen["disk"])
    assert seen["clock"]["offset"] is None


def test_the_recorded_hosts_have_the_keys_that_the_module_returns() -> None:
    seen = run_module("spark_info")["spark_info"]
    assert set(seen) == set(host("dgx-spark"))
    assert set(seen["apt"]) == set(host("dgx-spark")["apt"])
    assert set(seen["gpu"]) == set(host("dgx-spark")["gpu"])


def test_the_clocks_offset_is_that_to_the_controller() -> None:
    offset = run_module("spark_info", controller_epoch=0.0)["spark_info"]["clock"]["offset"]
    assert offset > 1_700_000_000


def test_an_option_of_the_wrong_type_is_refused() -> None:
    result = run_module("spark_info", controller_epoch="soon")
    assert result["failed"] and "controller_epoch" in result["msg"]
