# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module spark_info, run for real on this machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.modules import spark_info

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))


def host(name: str) -> dict[str, t.Any]:
    with open(os.path.join(ROOT, "tests/unit/data/hosts", name + ".json"), encoding="utf-8") as stream:
        return t.cast(dict[str, t.Any], json.load(stream))


def run(arguments: t.Mapping[str, t.Any], expect: int = 0) -> dict[str, t.Any]:
    done = subprocess.run(
        [sys.executable, "-m", spark_info.__name__],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}),
        env={**os.environ, "PYTHONPATH": os.path.join(ROOT, ".collections")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == expect, done.stderr
    return t.cast(dict[str, t.Any], json.loads(done.stdout))


@pytest.mark.parametrize("check_mode", [False, True])
def test_this_machine_is_observed_without_a_change(check_mode: bool) -> None:
    result = run({"_ansible_check_mode": check_mode})
    assert result["changed"] is False
    seen = result["spark_info"]
    assert result["ansible_facts"] == {"spark_info": seen}
    assert seen["kernel"]["machine"] == platform.machine()
    assert seen["memory"]["total_mib"] > 0
    assert seen["cpu"]["count"] >= 1
    assert any(row["mount"] == "/" for row in seen["disk"])
    assert seen["clock"]["offset"] is None


def test_the_recorded_hosts_have_the_keys_that_the_module_returns() -> None:
    seen = run({})["spark_info"]
    assert set(seen) == set(host("dgx-spark"))
    assert set(seen["apt"]) == set(host("dgx-spark")["apt"])
    assert set(seen["gpu"]) == set(host("dgx-spark")["gpu"])


def test_the_clocks_offset_is_that_to_the_controller() -> None:
    offset = run({"controller_epoch": 0.0})["spark_info"]["clock"]["offset"]
    assert offset > 1_700_000_000


def test_an_option_of_the_wrong_type_is_refused() -> None:
    assert "controller_epoch" in run({"controller_epoch": "soon"}, expect=1)["msg"]
