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
        (16, [1, "25%", "rest"], [1, 4, 11]),
        (1, [1, "25%", "rest"], [1]),
        (2, [1, "25%", "rest"], [1, 1]),
        (16, ["100%"], [16]),
        (16, "rest", [16]),
        (3, [5, "rest"], [3]),
        (30, [1, "10%", "50%", "rest"], [1, 3, 15, 11]),
        (16, "1, 25%, rest", [1, 4, 11]),
        (16, "[1, '25%', rest]", [1, 4, 11]),
        (16, ["4", 12], [4, 12]),
        (4, 4, [4]),
        (7, ["10%", "rest"], [1, 6]),
        (0, [1, "rest"], [1]),
    ],
)
def test_waves_are_taken_from_what_is_left(count: int, definition: t.Any, expected: list[int]) -> None:
    assert waves(hosts(count), definition) == expected


def test_one_canary_then_a_quarter_then_the_others_where_nothing_is_said() -> None:
    assert waves(hosts(16)) == [1, 4, 11]


@pytest.mark.parametrize(
    ("definition", "cause"),
    [
        ([1, 3], "hold 4 of 16 hosts: 12 would never be reached"),
        (["25%", "25%"], "hold 8 of 16 hosts"),
        ([1, "60%", "60%"], "add up to 120 %"),
        (["rest", 1], "no hosts are left after rest"),
        ([0, "rest"], "0 is not a wave size"),
        ([-1, "rest"], "-1 is not a wave size"),
        (["150%"], "150% is not a wave size"),
        (["0%", "rest"], "0% is not a wave size"),
        ([1.5, "rest"], "1.5 is not a wave size"),
        ([True, "rest"], "True is not a wave size"),
        (["one"], "one is not a wave size"),
        ([], "names no wave"),
        ("", "names no wave"),
        (None, "names no wave"),
        ({"first": 1}, "names no wave"),
    ],
)
def test_a_definition_that_does_not_add_up_is_refused_with_what_to_set(definition: t.Any, cause: str) -> None:
    with pytest.raises(AnsibleFilterError, match="sparkforge_waves") as caught:
        waves(hosts(16), definition)
    assert cause in str(caught.value)


# -- what ends a rollout, and what is said of the hosts then


def stop(*allowed: t.Any, **hosts: tuple[int, str] | None) -> str:
    """Return what the filter says of hosts, each with its wave and how it ended; None for a host of a later wave."""
    noted: dict[str, t.Any] = {host: {} for host in hosts}
    for host, ended in hosts.items():
        if ended:
            noted[host]["sparkforge_wave"] = ended[0]
            if ended[1] == "failed":
                noted[host]["sparkforge_outcome"] = "failed"
    alive = [host for host, ended in hosts.items() if not ended or ended[1] != "lost"]
    return str(rollout_stop(list(hosts), noted, alive, *allowed))


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        ({"a": None, "b": None}, ""),
        ({"a": (1, "done"), "b": (2, "done"), "c": None}, ""),
        (
            {"a": (1, "done"), "b": (2, "done"), "c": (2, "failed"), "d": None},
            "wave 2 ended the rollout: c failed (1 of 2 hosts, 0 % may).",
        ),
        ({"a": (1, "lost"), "b": None}, "wave 1 ended the rollout: a failed (1 of 1 host, 0 % may)."),
        # The waves of a bridge are not those of the rollout.
        ({"a": (0, "lost"), "b": (0, "done")}, ""),
        # The first reason stays.
        (
            {"a": (1, "failed"), "b": (2, "not begun"), "c": None},
            "wave 1 ended the rollout: a failed (1 of 1 host, 0 % may).",
        ),
    ],
)
def test_one_host_that_failed_or_was_lost_in_its_wave_ends_the_rollout(
    ended: dict[str, tuple[int, str] | None], reason: str
) -> None:
    assert stop(**ended) == reason


def test_so_many_may_fail_as_the_site_allows() -> None:
    noted = {"a": (1, "done"), "b": (2, "failed"), "c": (2, "done"), "d": (2, "done"), "e": (2, "done"), "f": None}
    assert stop(25, **noted) == ""
    assert stop("25%", **noted) == ""
    assert stop(24, **noted) != ""


@pytest.mark.parametrize("value", [-1, 101, "some", None])
def test_what_is_no_percentage_is_refused(value: t.Any) -> None:
    with pytest.raises(AnsibleFilterError, match=r"sparkforge_max_fail_percentage .* from 0 to 100"):
        stop(value)


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
