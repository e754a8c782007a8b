"""The state of a fleet as a table and as JSON."""

import json
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet import status

STACK = {"name": "torch-2.9.1", "lock": {"id": "c1b8cad4e018"}}
OBSERVED = {
    "driver": {"version": "580.95.05"},
    "kernel": {"release": "6.11.0-1016-nvidia"},
    "apt": {"packages": {"libcublas-13-0": "13.1.0.3-1", "vim": "9.1"}},
}
ENVIRONMENT = {
    "environment_id": "5d41402abc4b",
    "state": "current",
    "installed": "2026-11-21T10:00:00Z",
    "python": "3.12",
    "packages": {"torch": "2.9.1"},
    "stack": {"name": "torch-2.9.1", "method": "build", "lock_id": "c1b8cad4e018"},
    "missing": [],
}
PROOF = {
    "verdict": "proven", "scope": "gpu", "started": "2026-11-21T10:05:00Z", "stack": "torch-2.9.1",
    "lock": "c1b8cad4e018", "environment_id": "5d41402abc4b", "summary": {"pass": 80, "warn": 0, "fail": 0, "skip": 2},
    "driver": "580.95.05", "kernel": "6.11.0-1016-nvidia", "packages": {"libcublas-13-0": "13.1.0.3-1"}, "failed": [],
    "drift": {"since": None, "changes": []},
}  # fmt: skip
PLAN = {"environment_id": "5d41402abc4b", "actions": [], "removed": [], "cause": None, "remedy": None}
NOTHING: dict[str, list[str]] = {"cuda_libraries": [], "cusparselt": []}


def look(**changed: t.Any) -> dict[str, t.Any]:
    """Return stack_status's result for a healthy host."""
    return {
        # 2026-11-21T12:05:00Z
        "now": 1795262700,
        "name": "torch",
        "current": "5d41402abc4b",
        "previous": None,
        "staged": None,
        "environments": [ENVIRONMENT],
        "running": [],
        "unfinished": [],
        "changed_receipts": [],
        "proof": PROOF,
        "staged_proof": None,
        "scheduled": False,
        "stopped": [],
        "plan": PLAN,
        **changed,
    }


def row(
    host: str = "spark01",
    observed: dict[str, t.Any] = OBSERVED,
    changes: dict[str, list[str]] = NOTHING,
    stops: list[dict[str, str]] = [],  # noqa: B006 - never changed
    **changed: t.Any,
) -> dict[str, t.Any]:
    state = look(**changed)
    # The action plugin stack_status adds this key.
    since = status.changed(state["proof"], observed)
    return status.row(host, {**state, "changed_since_proof": since}, STACK, changes, stops)


def text(*rows: dict[str, t.Any]) -> str:
    return status.as_text(status.fleet(rows, "2026-11-21T12:05:00Z"))


def test_a_host_that_matches_the_stack() -> None:
    result = row()
    assert (result["standing"], result["changes"], result["drift"], result["stops"]) == ("as wanted", {}, [], [])
    assert result["stack"] == "torch-2.9.1" and result["proof"]["age"] == 7200
    assert text(result).startswith(
        "HOST     STACK        ENVIRONMENT   LAST PROOF                 DRIFT  WOULD CHANGE\n"
        "spark01  torch-2.9.1  5d41402abc4b  proven (gpu), 2 hours ago  -      nothing\n"
        "\n"
        "1 host: 1 as its stack"
    )


def test_status_shows_firmware_and_its_change_since_the_last_proof() -> None:
    devices = ("roceP2p1s0f0", "rocep1s0f0")
    before = {"board": "5.36_0ACUM023", **dict.fromkeys(devices, "28.45.4028")}
    now = {**before, "board": "5.36_0ACUM027"}
    proof = {**(look()["proof"] or {}), "firmware": before}
    result = row(observed={**OBSERVED, "firmware": now}, proof=proof, firmware=now)
    assert result["firmware"] == now
    assert "\n  firmware: board 5.36_0ACUM027, roceP2p1s0f0 28.45.4028, rocep1s0f0 28.45.4028\n" in text(result)
    assert ": firmware of board: 5.36_0ACUM023 -> 5.36_0ACUM027\n" in text(result)


def test_wheels_before_the_switch_to_a_build_are_a_bridge() -> None:
    wheels = [{**ENVIRONMENT, "stack": {"name": "torch-2.14.1", "method": "wheel", "lock_id": "0"}}]
    state = look(proof=None, plan=None, environments=wheels)
    built = status.row("spark01", state, {**STACK, "method": "build"}, NOTHING)
    assert (built["stack"], built["bridge"]) == ("torch-2.14.1", True)
    assert "spark01  torch-2.14.1 (bridge)  5d41402abc4b" in text(built)
    # A stack of wheels needs no bridge.
    assert row(environments=wheels)["bridge"] is False


def test_actions_of_roles_and_python_env_are_the_changes() -> None:
    plan = {**PLAN, "environment_id": "8a2b11112222", "removed": ["0cc175b9c0f1"]}
    plan["actions"] = ["install", "switch", "files", "remove"]
    changes = {"cuda_libraries": ["install libcublas-dev-13-0", "install libnccl2"]}
    result = row(changes=changes, plan=plan)
    assert result["standing"] == "changes"
    sentences = result["changes"]["python_env"]
    assert sentences[:2] == ["install environment 8a2b11112222", "switch to environment 8a2b11112222"]
    assert len(sentences) == 4 and sentences[3] == "remove environment 0cc175b9c0f1"
    assert result["changes"] == {**changes, "python_env": sentences}
    # The stack is taken from the current environment's receipt.
    assert result["stack"] == "torch-2.9.1"
    output = text(result)
    assert "cuda_libraries 2, python_env 4\n" in output
    assert "\n  cuda_libraries: install libcublas-dev-13-0, libnccl2\n" in output
    assert output.endswith("1 host: 1 would change.")


def test_equal_actions_share_one_line() -> None:
    changes = ["remove its packages", "write /etc/a", "take over its archive", "write /etc/b"]
    output = text(row(changes={"cusparselt": changes})).split("\n\n")[1]
    assert [line.strip() for line in output.splitlines()[1:]] == [
        "cusparselt: remove its packages",
        "cusparselt: write /etc/a, /etc/b",
        "cusparselt: take over its archive",
    ]


def test_the_message_of_a_plugin_is_shown_without_ansibles_prefixes() -> None:
    wrapped = (
        "Task failed: Finalization of task args for 'ansible.builtin.set_fact' failed: Error while resolving value for"
        " 'result': The filter plugin 'sparkforge.dgx_spark.cusparselt_backend' failed: No backend serves it."
    )
    assert row(stops=[{"cause": wrapped}])["stops"] == [{"cause": "No backend serves it.", "remedy": ""}]
    assert status.unread("a", "Task failed: Incorrect sudo password", False)["problem"] == "Incorrect sudo password"
    assert status.unread("a", "Task failed: Action failed: No.", False)["problem"] == "No."


def test_problems_that_stop_the_site_come_before_changes() -> None:
    faults = [{"cause": "The clock is 2 h off.", "remedy": "Set it."}]
    fault = {"cause": "No hash.", "remedy": "Lock again."}
    result = row(stops=faults, plan={**PLAN, **fault}, changes={"cusparselt": ["x y"]})
    assert result["standing"] == "stops"
    assert result["stops"] == [*faults, fault]
    output = text(result)
    assert "site.yml would stop: 2 problems" in output and "  stops: The clock is 2 h off. Set it.\n" in output
    assert output.endswith("1 host: 1 would stop site.yml.")


@pytest.mark.parametrize(
    ("observed", "changed", "expected"),
    [
        ({**OBSERVED, "driver": {"version": "580.159.04"}}, {}, ("driver", "580.95.05", "580.159.04")),
        ({**OBSERVED, "kernel": {"release": "6.14"}}, {}, ("kernel", "6.11.0-1016-nvidia", "6.14")),
        ({**OBSERVED, "apt": {"packages": {"vim": "9"}}}, {}, ("libcublas-13-0", "13.1.0.3-1", "absent")),
        (
            {**OBSERVED, "firmware": {"board": "5.37"}},
            {"proof": {**PROOF, "firmware": {"board": "5.36"}}},
            ("firmware of board", "5.36", "5.37"),
        ),
        (OBSERVED, {"proof": {**PROOF, "environment_id": "0cc1"}}, ("environment", "0cc1", "5d41402abc4b")),
        (
            OBSERVED,
            {"proof": {**PROOF, "environment_id": None, "started": "2026-11-20T00:00:00Z"}},
            ("environment", "proven 2026-11-20T00:00:00Z", "5d41402abc4b, made 2026-11-21T10:00:00Z"),
        ),
        (
            OBSERVED,
            {"environments": [{**ENVIRONMENT, "missing": ["torch"]}]},
            ("environment 5d41402abc4b", "whole", "without torch"),
        ),
        (OBSERVED, {"changed_receipts": ["/r/pytorch.json"]}, ("/r/pytorch.json", "sealed", "changed by hand")),
        (
            OBSERVED,
            {"proof": {**PROOF, "drift": {"changes": [{"what": "rate speed.copy", "before": "200", "now": "90"}]}}},
            ("rate speed.copy", "200", "90"),
        ),
    ],
    ids=["driver", "kernel", "package", "firmware", "environment", "newer environment", "damage", "receipt", "rate"],
)
def test_unproven_changes_and_missing_packages_are_drift(observed, changed, expected):
    result = row(observed=observed, **changed)
    assert [(change["what"], change["before"], change["now"]) for change in result["drift"]] == [expected]
    updated = observed is not OBSERVED
    assert result["changed"] == (result["drift"] if updated else [])
    assert ("2 hours ago, changed since" in text(result)) is updated
    prefix = "the last proof" if updated else "drift"
    assert f" {prefix}: {expected[0]}: {expected[1]} -> {expected[2]}\n" in text(result)
    assert result["standing"] == "as wanted", "drift is to be proven again, not provisioned"


@pytest.mark.parametrize("name", ["lock", "torch", "libcublas-13-0"])
def test_a_change_that_was_proven_is_no_drift(name: str) -> None:
    changes = [{"what": name, "before": "13.0", "now": "13.1.0.3-1"}]
    assert row(proof={**PROOF, "drift": {"changes": changes}})["drift"] == []


def test_a_host_that_was_never_proven_has_no_drift_from_a_proof() -> None:
    result = row(proof=None)
    assert result["drift"] == [] and result["proof"] is None
    assert "  never  " in text(result)


def test_warnings_of_a_proof_are_counted() -> None:
    warned = {**PROOF, "summary": {"pass": 80, "warn": 2, "fail": 0, "skip": 2}}
    assert "proven (gpu) with 2 warnings, " in text(row(proof=warned))
    accepted = text(row(proof={**warned, "accepted": ["matmul.float4"]}))
    assert "proven (gpu) with 2 warnings, 1 accepted, " in accepted
    assert ": matmul.float4\n" in accepted


def test_a_staged_environment_and_builds_are_shown() -> None:
    staged = {**ENVIRONMENT, "environment_id": "8a2b11112222", "state": "staged"}
    failed = {**PROOF, "verdict": "fail", "failed": ["matmul.float32"]}
    output = text(
        row(
            environments=[ENVIRONMENT, staged],
            staged_proof=failed,
            running=[{"name": "pytorch", "fingerprint": "0f3a", "line": "pytorch | build 1/4"}],
            unfinished=[{"name": "llvm", "fingerprint": "2" * 16, "phase": "build", "cause": "No space left."}],
        )
    )
    assert "  staged: 8a2b11112222\n" in output
    assert "  building: pytorch | build 1/4\n" in output
    assert ": llvm 22222222: No space left.\n" in output
    assert " staged environment: matmul.float32\n" in output


def test_a_stopped_server_is_shown_with_its_host() -> None:
    result = row(stopped=["sparkforge-serving.service is off since then."])
    assert "spark01\n  sparkforge-serving.service is off since then.\n" in text(result)
    assert result["standing"] == "as wanted"


def test_columns_are_aligned_and_hosts_that_were_not_read_are_rows() -> None:
    ghost = status.unread("spark03-with-a-long-name", "Failed to connect\nto the host", unreachable=True)
    broken = status.unread("spark04", "Incorrect sudo password", unreachable=False)
    bare = row(host="spark02", current=None, environments=[], proof=None, plan={**PLAN, "actions": ["install"]})
    table = text(row(), bare, ghost, broken)
    lines = table.split("\n\n")[0].splitlines()
    columns = [line.index(word) for line, word in zip(lines[:3], ("LAST", "proven", "never"), strict=True)]
    assert len(set(columns)) == 1
    assert lines[3] == "spark03-with-a-long-name  unreachable: Failed to connect to the host"
    assert lines[4] == "spark04                   failed: Incorrect sudo password"
    assert table.endswith(", 1 unreachable.")


def test_an_unknown_stack_is_shown_as_another() -> None:
    unknown = [{**ENVIRONMENT, "stack": {}}]
    result = row(plan={**PLAN, "environment_id": "8a2b11112222", "actions": ["install"]}, environments=unknown)
    assert result["stack"] is None and "spark01  another" in text(result)


def test_the_json_is_one_line_with_a_summary() -> None:
    line = status.as_json(status.fleet([row(), status.unread("spark02", "gone", True)], "2026-11-21T12:05:00Z", True))
    assert "\n" not in line
    state = json.loads(line)
    assert (state["format"], state["check_mode"], state["written"]) == (3, True, "2026-11-21T12:05:00Z")
    assert state["summary"] == {"hosts": 2, "as wanted": 1, "changes": 0, "stops": 0, "failed": 0, "unreachable": 1}
    assert set(state["hosts"][0]) == set(state["hosts"][1]), "every host has the same keys"


def test_status_contains_no_terminal_sequences() -> None:
    hostile = row(changes={"cuda_libraries": ["install \x1b[2Jevil\u202etxt"]})
    assert not {"\x1b", "\u202e", "\x07"} & {*text(hostile, status.unread("spark02", "\x07", True))}
