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
    "verdict": "proven",
    "scope": "gpu",
    "started": "2026-11-21T10:05:00Z",
    "stack": "torch-2.9.1",
    "lock": "c1b8cad4e018",
    "environment_id": "5d41402abc4b",
    "summary": {"pass": 80, "warn": 0, "fail": 0, "skip": 2},
    "driver": "580.95.05",
    "kernel": "6.11.0-1016-nvidia",
    "packages": {"libcublas-13-0": "13.1.0.3-1"},
    "failed": [],
    "drift": {"since": None, "changes": []},
}
PLAN = {"environment_id": "5d41402abc4b", "actions": [], "removed": [], "cause": None, "remedy": None}
NOTHING: dict[str, list[str]] = {"cuda_libraries": [], "cusparselt": []}


def look(**changed: t.Any) -> dict[str, t.Any]:
    """Return what stack_status returns of a host on which all is well."""
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
    stops: list[dict[str, str]] = [],  # noqa: B006 - read alone
    **changed: t.Any,
) -> dict[str, t.Any]:
    seen = look(**changed)
    # As the action plugin of stack_status adds it.
    since = status.changed(seen["proof"], observed)
    return status.row(host, {**seen, "changed_since_proof": since}, STACK, changes, stops)


def text(*rows: dict[str, t.Any]) -> str:
    return status.as_text(status.fleet(rows, "2026-11-21T12:05:00Z"))


def test_a_host_as_the_stack_wants_it() -> None:
    found = row()
    assert (found["standing"], found["changes"], found["drift"], found["stops"]) == ("as wanted", {}, [], [])
    assert found["stack"] == "torch-2.9.1" and found["proof"]["age"] == 7200
    assert text(found) == (
        "HOST     STACK        ENVIRONMENT   LAST PROOF                 DRIFT  WOULD CHANGE\n"
        "spark01  torch-2.9.1  5d41402abc4b  proven (gpu), 2 hours ago  -      nothing\n"
        "\n"
        "1 host: 1 as the stack wants it."
    )


def test_status_shows_firmware_and_what_it_was_in_the_last_proof() -> None:
    devices = ("roceP2p1s0f0", "rocep1s0f0")
    before = {"board": "5.36_0ACUM023", **dict.fromkeys(devices, "28.45.4028")}
    now = {**before, "board": "5.36_0ACUM027"}
    proof = {**(look()["proof"] or {}), "firmware": before}
    found = row(observed={**OBSERVED, "firmware": now}, proof=proof, firmware=now)
    assert found["firmware"] == now
    assert "\n  firmware: board 5.36_0ACUM027, roceP2p1s0f0 28.45.4028, rocep1s0f0 28.45.4028\n" in text(found)
    assert "\n  changed since the last proof: firmware of board: 5.36_0ACUM023 -> 5.36_0ACUM027\n" in text(found)


def test_wheels_until_the_build_is_switched_to_are_a_bridge() -> None:
    wheels = [{**ENVIRONMENT, "stack": {"name": "torch-2.14.1", "method": "wheel", "lock_id": "0"}}]
    seen = look(proof=None, plan=None, environments=wheels)
    built = status.row("spark01", seen, {**STACK, "method": "build"}, NOTHING)
    assert (built["stack"], built["bridge"]) == ("torch-2.14.1", True)
    assert "spark01  torch-2.14.1 (bridge)  5d41402abc4b" in text(built)
    # To whom wheels are all that is wanted, they are no bridge.
    assert row(environments=wheels)["bridge"] is False


def test_what_roles_and_python_env_would_do_is_what_would_change() -> None:
    actions = {
        "environment_id": "8a2b11112222",
        "actions": ["install", "switch", "files", "remove"],
        "removed": ["0cc175b9c0f1"],
    }
    found = row(
        changes={"cuda_libraries": ["install libcublas-dev-13-0", "install libnccl2"]}, plan={**PLAN, **actions}
    )
    assert found["standing"] == "changes"
    assert found["changes"] == {
        "cuda_libraries": ["install libcublas-dev-13-0", "install libnccl2"],
        "python_env": [
            "install environment 8a2b11112222",
            "switch to environment 8a2b11112222",
            "write its activation script, launcher or kernel",
            "remove environment 0cc175b9c0f1",
        ],
    }
    # The receipt of the current one says what it is of.
    assert found["stack"] == "torch-2.9.1"
    said = text(found)
    assert "cuda_libraries 2, python_env 4\n" in said
    assert "\n  cuda_libraries: install libcublas-dev-13-0, libnccl2\n" in said
    assert said.endswith("1 host: 1 would change.")


def test_what_is_done_to_many_things_is_one_line_and_anything_else_a_line_of_its_own() -> None:
    changes = ["remove its packages", "write /etc/a", "take over its archive", "write /etc/b"]
    said = text(row(changes={"cusparselt": changes})).split("\n\n")[1]
    assert [line.strip() for line in said.splitlines()[1:]] == [
        "cusparselt: remove its packages",
        "cusparselt: write /etc/a, /etc/b",
        "cusparselt: take over its archive",
    ]


def test_the_words_of_a_plugin_are_shown_without_those_that_wrap_them() -> None:
    wrapped = (
        "Task failed: Finalization of task args for 'ansible.builtin.set_fact' failed: Error while resolving value for"
        " 'status_row': The filter plugin 'sparkforge.dgx_spark.cusparselt_backend' failed: No backend serves it."
    )
    assert row(stops=[{"cause": wrapped}])["stops"] == [{"cause": "No backend serves it.", "remedy": ""}]
    assert status.unread("a", "Task failed: Incorrect sudo password", False)["problem"] == "Incorrect sudo password"
    assert status.unread("a", "Task failed: Action failed: No.", False)["problem"] == "No."


def test_what_would_stop_the_site_comes_before_what_would_change() -> None:
    faults = [{"cause": "The clock is 2 h off.", "remedy": "Set it."}]
    found = row(
        stops=faults, plan={**PLAN, "cause": "No hash.", "remedy": "Lock again."}, changes={"cusparselt": ["x y"]}
    )
    assert found["standing"] == "stops"
    assert found["stops"] == [*faults, {"cause": "No hash.", "remedy": "Lock again."}]
    said = text(found)
    assert "site.yml would stop: 2 problems" in said and "  stops: The clock is 2 h off. Set it.\n" in said
    assert said.endswith("1 host: 1 would stop site.yml.")


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
def test_drift_is_what_was_not_proven_or_is_gone(
    observed: dict[str, t.Any], changed: dict[str, t.Any], expected: tuple[str, str, str]
) -> None:
    found = row(observed=observed, **changed)
    assert [(one["what"], one["before"], one["now"]) for one in found["drift"]] == [expected]
    updated = observed is not OBSERVED
    assert found["changed"] == (found["drift"] if updated else [])
    assert ("2 hours ago, changed since" in text(found)) is updated
    prefix = "changed since the last proof" if updated else "drift"
    assert f"\n  {prefix}: {expected[0]}: {expected[1]} -> {expected[2]}\n" in text(found)
    assert found["standing"] == "as wanted", "drift is to be proven again, not provisioned"


def test_an_upgrade_that_was_proven_is_no_drift() -> None:
    upgrade = [{"what": "lock", "before": "a", "now": "b"}, {"what": "torch", "before": "2.9.1", "now": "2.15.0"}]
    assert row(proof={**PROOF, "drift": {"changes": upgrade}})["drift"] == []


def test_a_package_that_was_proven_with_its_change_is_no_drift() -> None:
    changes = [{"what": "libcublas-13-0", "before": "13.0", "now": "13.1.0.3-1"}]
    assert row(proof={**PROOF, "drift": {"changes": changes}})["drift"] == []


def test_a_host_that_was_never_proven_has_no_drift_from_a_proof() -> None:
    found = row(proof=None)
    assert found["drift"] == [] and found["proof"] is None
    assert "  never  " in text(found)


def test_a_proof_with_warnings_says_so() -> None:
    warned = {**PROOF, "summary": {"pass": 80, "warn": 2, "fail": 0, "skip": 2}}
    assert "proven (gpu) with 2 warnings, " in text(row(proof=warned))
    accepted = text(row(proof={**warned, "accepted": ["matmul.float4"]}))
    assert "proven (gpu) with 2 warnings, 1 accepted, " in accepted
    assert "  accepted by this site: matmul.float4\n" in accepted


def test_a_staged_environment_and_builds_are_shown_where_there_are_any() -> None:
    staged = {**ENVIRONMENT, "environment_id": "8a2b11112222", "state": "staged"}
    failed = {**PROOF, "verdict": "fail", "failed": ["matmul.float32"]}
    said = text(
        row(
            environments=[ENVIRONMENT, staged],
            staged_proof=failed,
            running=[{"name": "pytorch", "fingerprint": "0f3a", "line": "pytorch | build 1/4"}],
            unfinished=[{"name": "llvm", "fingerprint": "2" * 16, "phase": "build", "cause": "No space left."}],
        )
    )
    assert "  staged: 8a2b11112222\n" in said
    assert "  building: pytorch | build 1/4\n" in said
    assert "  build ended without an artefact: llvm 22222222: No space left.\n" in said
    assert "  failed check of the staged environment: matmul.float32\n" in said


def test_a_server_that_stays_off_is_a_line_of_its_host() -> None:
    found = row(stopped=["sparkforge-serving.service is off since then."])
    assert "spark01\n  sparkforge-serving.service is off since then.\n" in text(found)
    assert found["standing"] == "as wanted"


def test_columns_are_aligned_and_hosts_that_were_not_read_are_rows() -> None:
    ghost = status.unread("spark03-with-a-long-name", "Failed to connect\nto the host", unreachable=True)
    broken = status.unread("spark04", "Incorrect sudo password", unreachable=False)
    bare = row(host="spark02", current=None, environments=[], proof=None, plan={**PLAN, "actions": ["install"]})
    said = text(row(), bare, ghost, broken)
    lines = said.split("\n\n")[0].splitlines()
    places = [line.index(word) for line, word in zip(lines[:3], ("LAST", "proven", "never"), strict=True)]
    assert len(set(places)) == 1
    assert lines[3] == "spark03-with-a-long-name  unreachable: Failed to connect to the host"
    assert lines[4] == "spark04                   failed: Incorrect sudo password"
    assert said.endswith("4 hosts: 1 as the stack wants it, 1 would change, 1 could not be read, 1 unreachable.")


def test_a_stack_that_nobody_knows_is_another() -> None:
    unknown = [{**ENVIRONMENT, "stack": {}}]
    found = row(plan={**PLAN, "environment_id": "8a2b11112222", "actions": ["install"]}, environments=unknown)
    assert found["stack"] is None and "spark01  another" in text(found)


def test_the_json_is_one_line_with_a_summary() -> None:
    line = status.as_json(status.fleet([row(), status.unread("spark02", "gone", True)], "2026-11-21T12:05:00Z", True))
    assert "\n" not in line
    state = json.loads(line)
    assert (state["format"], state["check_mode"], state["written"]) == (3, True, "2026-11-21T12:05:00Z")
    assert state["summary"] == {"hosts": 2, "as wanted": 1, "changes": 0, "stops": 0, "failed": 0, "unreachable": 1}
    assert set(state["hosts"][0]) == set(state["hosts"][1]), "whoever reads it finds the same keys in each"


def test_what_a_host_says_cannot_write_to_the_terminal() -> None:
    said = text(
        row(changes={"cuda_libraries": ["install \x1b[2Jevil\u202etxt"]}), status.unread("spark02", "\x07", True)
    )
    assert "\x1b" not in said and "\u202e" not in said and "\x07" not in said
