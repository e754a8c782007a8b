"""The waves of a rollout, its stop after failures, and the reasons given for hosts that were stopped."""

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

waves, rollout_stop, rollout_stopped = (
    FilterModule().filters()[name] for name in ("waves", "rollout_stop", "rollout_stopped")
)


def hosts(count: int) -> list[str]:
    return [f"spark{number:02d}" for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("count", "definition", "expected"),
    [
        (16, [1, "25%", "rest"], [1, 4, 11]), (1, [1, "25%", "rest"], [1]), (2, [1, "25%", "rest"], [1, 1]),
        (16, ["100%"], [16]), (16, "rest", [16]), (3, [5, "rest"], [3]),
        (30, [1, "10%", "50%", "rest"], [1, 3, 15, 11]), (16, "1, 25%, rest", [1, 4, 11]),
        (16, "[1, '25%', rest]", [1, 4, 11]), (16, ["4", 12], [4, 12]), (4, 4, [4]), (7, ["10%", "rest"], [1, 6]),
        (0, [1, "rest"], [1]),
    ],
)  # fmt: skip
def test_each_wave_takes_its_size_from_the_remaining_hosts(count: int, definition: t.Any, expected: list[int]) -> None:
    assert waves(hosts(count), definition) == expected


def test_default_waves_are_one_host_then_a_quarter_then_the_rest() -> None:
    assert waves(hosts(16)) == [1, 4, 11]


@pytest.mark.parametrize(
    ("definition", "cause"),
    [
        ([1, 3], "12 would never"), (["25%", "25%"], "hold 8 of 16 hosts"), ([1, "60%", "60%"], "add up to 120 %"),
        (["rest", 1], "left after rest"), ([0, "rest"], "0 is not"), ([-1, "rest"], "-1 is not"),
        (["150%"], "150% is not"), (["0%", "rest"], "0% is not"), ([1.5, "rest"], "1.5 is not"),
        ([True, "rest"], "True is not"), (["one"], "one is not"), ([], "has no wave"), ("", "has no wave"),
        (None, "has no wave"), ({"first": 1}, "has no wave"),
    ],
)  # fmt: skip
def test_inconsistent_waves_are_refused_with_the_variable(definition: t.Any, cause: str) -> None:
    with pytest.raises(AnsibleFilterError, match="sparkforge_waves") as caught:
        waves(hosts(16), definition)
    assert cause in str(caught.value)


def reason_to_stop(*allowed: t.Any, **hosts: tuple[int, str] | None) -> str:
    """Return the filter's reason to stop; a host has a wave and an outcome, or None if its wave comes later."""
    variables: dict[str, t.Any] = {host: {} for host in hosts}
    for host, outcome in hosts.items():
        if outcome:
            variables[host]["sparkforge_wave"] = outcome[0]
            if outcome[1] == "failed":
                variables[host]["sparkforge_outcome"] = "failed"
    alive = [host for host, outcome in hosts.items() if not outcome or outcome[1] != "lost"]
    return str(rollout_stop(list(hosts), variables, alive, *allowed))


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        ({"a": None, "b": None}, ""),
        ({"a": (1, "done"), "b": (2, "done"), "c": None}, ""),
        (
            {"a": (1, "done"), "b": (2, "done"), "c": (2, "failed"), "d": None},
            "wave 2 stopped the rollout: c failed (1 of 2 hosts, at most 0 % may).",
        ),
        ({"a": (1, "lost"), "b": None}, "wave 1 stopped the rollout: a failed (1 of 1 host, at most 0 % may)."),
        # Wave 0 installs the bridge and is not part of the rollout.
        ({"a": (0, "lost"), "b": (0, "done")}, ""),
        # The first reason is kept.
        (
            {"a": (1, "failed"), "b": (2, "not begun"), "c": None},
            "wave 1 stopped the rollout: a failed (1 of 1 host, at most 0 % may).",
        ),
    ],
)
def test_one_failed_or_lost_host_stops_the_rollout(ended: dict[str, tuple[int, str] | None], reason: str) -> None:
    assert reason_to_stop(**ended) == reason


def test_allowed_failures_do_not_stop_the_rollout() -> None:
    noted = {"a": (1, "done"), "b": (2, "failed"), "c": (2, "done"), "d": (2, "done"), "e": (2, "done"), "f": None}
    assert reason_to_stop(25, **noted) == ""
    assert reason_to_stop("25%", **noted) == ""
    assert reason_to_stop(24, **noted) != ""


@pytest.mark.parametrize("value", [-1, 101, "some", None])
def test_an_invalid_percentage_is_refused(value: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match=r"sparkforge_max_fail_percentage .* from 0 to 100"):
        reason_to_stop(value)


OBSERVED = {"ansible_facts": {"spark_info": {}}}


def reason_of_host(alive: bool, variables: dict[str, t.Any]) -> str:
    reasons = rollout_stopped(["spark01"], ["spark01"] if alive else [], {"spark01": variables})
    return str(reasons.get("spark01", ""))


def test_a_finished_or_unused_host_has_no_reason() -> None:
    assert reason_of_host(True, {**OBSERVED, "sparkforge_wave": 1, "sparkforge_stop": ""}) == ""
    assert reason_of_host(True, {}) == ""


def test_a_failed_host_has_its_outcome_as_reason() -> None:
    assert reason_of_host(True, {"sparkforge_wave": 1, "sparkforge_outcome": "said so"}) == "said so"


def test_a_host_that_was_not_started_names_the_wave_that_stopped_the_rollout() -> None:
    stop = "wave 1 stopped it: spark01 failed"
    variables = {**OBSERVED, "sparkforge_wave": 2, "sparkforge_stop": f"{stop}."}
    assert reason_of_host(True, variables).endswith(f": {stop}")


def test_a_lost_host_names_its_wave() -> None:
    assert "lost in wave 2" in reason_of_host(False, {**OBSERVED, "sparkforge_wave": 2})
    assert "before the rollout" in reason_of_host(False, OBSERVED)
    assert "was unreachable" in reason_of_host(False, {})


def wheels(**variables: t.Any) -> dict[str, t.Any]:
    """Return the variables of a host with official wheels whose stack is to be built."""
    stack = {"name": "torch-2.14.1", "method": "wheel"}
    observed = {"environments": {"torch": {"current": "5d41402abc4b", "stack": stack}}}
    return {"ansible_facts": {"spark_info": observed}, "stack": {"method": "build"}, **variables}


def test_a_host_that_keeps_wheels_after_a_failed_build_names_both() -> None:
    outcome = "was not built: gcc: killed"
    reason = reason_of_host(True, wheels(sparkforge_outcome=f"{outcome}\n", sparkforge_bridge={"failed": ""}))
    assert reason.startswith(f"{outcome}; ") and "official wheels of torch-2.14.1" in reason
    assert "(. /opt/sparkforge/bin/activate-torch)" in reason and "stack_method: wheel" in reason
    assert "official wheels of" in reason_of_host(False, wheels())
    # Either the host was not stopped, or its stack consists of wheels.
    assert reason_of_host(True, wheels()) == ""
    failed = wheels(sparkforge_outcome="failed", stack={"method": "wheel"})
    assert "official wheels of" not in reason_of_host(True, failed)


def test_a_host_with_failed_bridge_and_build_names_both() -> None:
    variables = {**OBSERVED, "sparkforge_outcome": "was not built.", "sparkforge_bridge": {"failed": "wrong numbers."}}
    assert reason_of_host(True, variables) == "was not built; the interim wheels: wrong numbers"


def test_a_host_lost_after_its_bridge_failed_before_the_rollout() -> None:
    assert "before the rollout" in reason_of_host(False, {**OBSERVED, "sparkforge_wave": 0})
