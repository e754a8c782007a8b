# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

rollout_stopped = FilterModule().filters()["rollout_stopped"]
OBSERVED = {"ansible_facts": {"spark_info": {}}}


def stopped(alive: bool, variables: dict[str, t.Any]) -> str:
    found = rollout_stopped(["spark01"], ["spark01"] if alive else [], {"spark01": variables})
    return str(found.get("spark01", ""))


def test_a_host_that_is_done_or_that_nothing_was_asked_of_did_not_stop() -> None:
    assert stopped(True, {**OBSERVED, "sparkforge_wave": 1, "sparkforge_stop": ""}) == ""
    assert stopped(True, {}) == ""


def test_a_failed_host_says_what_was_noted() -> None:
    assert stopped(True, {"sparkforge_wave": 1, "sparkforge_outcome": "said so"}) == "said so"


def test_a_host_that_was_not_begun_says_which_wave_ended_the_rollout() -> None:
    left = {**OBSERVED, "sparkforge_wave": 2, "sparkforge_stop": "wave 1 ended the rollout: spark01 failed."}
    assert stopped(True, left) == "was not started and is unchanged: wave 1 ended the rollout: spark01 failed"


def test_a_host_that_is_lost_says_when() -> None:
    assert "was lost in wave 2" in stopped(False, {**OBSERVED, "sparkforge_wave": 2})
    assert "failed before the rollout" in stopped(False, OBSERVED)
    assert "was unreachable" in stopped(False, {})


def wheels(**variables: t.Any) -> dict[str, t.Any]:
    """Return the variables of a host that has official wheels, and whose stack is to be built."""
    stack = {"name": "torch-2.14.1", "method": "wheel"}
    observed = {"environments": {"torch": {"current": "5d41402abc4b", "stack": stack}}}
    return {"ansible_facts": {"spark_info": observed}, "stack": {"method": "build"}, **variables}


def test_a_host_that_keeps_wheels_because_the_build_failed_says_both() -> None:
    said = stopped(True, wheels(sparkforge_outcome="was not built: gcc: killed\n", sparkforge_bridge={"failed": ""}))
    assert said == (
        "was not built: gcc: killed; until its stack is built, it is usable with the official wheels of torch-2.14.1"
        " (. /opt/sparkforge/bin/activate-torch), and stack_method: wheel stays with them"
    )
    assert "usable with the official wheels" in stopped(False, wheels())
    # Nothing stopped, or the wheels are what is wanted.
    assert stopped(True, wheels()) == ""
    assert "usable with the official wheels" not in stopped(
        True, wheels(sparkforge_outcome="failed", stack={"method": "wheel"})
    )


def test_a_host_whose_bridge_and_build_failed_says_both() -> None:
    variables = {**OBSERVED, "sparkforge_outcome": "was not built.", "sparkforge_bridge": {"failed": "wrong numbers."}}
    assert stopped(True, variables) == "was not built; the interim wheels: wrong numbers"


def test_a_host_that_a_bridge_was_brought_to_waits_for_its_wave_of_the_rollout() -> None:
    assert "failed before the rollout" in stopped(False, {**OBSERVED, "sparkforge_wave": 0})
