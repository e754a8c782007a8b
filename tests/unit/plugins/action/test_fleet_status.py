"""fleet_status and stack_status, called as in playbooks/status.yml; this machine is the only host."""

import hashlib
import json
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action import fleet_status, stack_status

from tests.unit.act import act
from tests.unit.run_module import run_module

ROWS = [
    {"host": "spark01", "problem": "Failed to connect", "unreachable": True},
    {"host": "spark02", "problem": "", "unreachable": False},
]


def test_the_table_is_printed() -> None:
    result = act(fleet_status.ActionModule, {"rows": ROWS})
    table = "\nspark01  unreachable: Failed to connect\nspark02  failed: "
    assert table in result["shown"]
    assert result["summary"]["unreachable"] == 1 and result["changed"] is False
    assert result["path"] is None


@pytest.mark.parametrize("check_mode", [False, True], ids=["run", "check"])
def test_json_is_printed_and_written_in_check_mode_too(tmp_path: Path, check_mode: bool) -> None:
    file = tmp_path / "made/status.json"
    options = {"rows": ROWS, "format": "json", "path": str(file)}
    result = act(fleet_status.ActionModule, options, check_mode=check_mode)
    printed = json.loads(result["shown"])
    assert json.loads(file.read_text()) == printed
    assert printed["check_mode"] is check_mode
    assert [row["standing"] for row in result["hosts"]] == ["unreachable", "failed"]


def test_a_file_that_cannot_be_written_is_one_error() -> None:
    result = act(fleet_status.ActionModule, {"rows": ROWS, "path": "/proc/status.json"})
    assert result["failed"] and "/proc/status.json cannot be written" in result["cause"]
    assert "status_file" in result["remedy"]


def test_an_observed_host_gets_a_row() -> None:
    plan = {"environment_id": "8a2b", "actions": ["install"]}
    look = {"now": 1795262700, "current": None, "environments": [], "plan": plan}
    row = {"host": "spark01", "look": look, "stack": {"name": "torch-2.9.1"}, "changes": {"cusparselt": ["install x"]}}
    (host,) = act(fleet_status.ActionModule, {"rows": [row]})["hosts"]
    assert (host["host"], host["standing"]) == ("spark01", "changes")
    assert set(host["changes"]) == {"cusparselt", "python_env"}
    (stopped,) = act(fleet_status.ActionModule, {"rows": [{**row, "stops": [{"cause": "No."}]}]})["hosts"]
    assert stopped["standing"] == "stops"


def test_stack_status_compares_the_proof_with_the_observation() -> None:
    def answer(_module: str, _arguments: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
        return {"proof": {"driver": "580.95.05"}}

    facts = {"spark_info": {"driver": {"version": "580.159.04"}, "firmware": {"board": "5.36_0ACUM027"}}}
    status = act(stack_status.ActionModule, {}, answer=answer, ansible_facts=facts)
    assert status["changed_since_proof"] == [{"what": "driver", "before": "580.95.05", "now": "580.159.04"}]
    assert status["firmware"] == {"board": "5.36_0ACUM027"}
    unobserved = act(stack_status.ActionModule, {}, answer=answer)
    assert (unobserved["changed_since_proof"], unobserved["firmware"]) == ([], {})


def test_stack_status_hashes_local_wheels_and_accepts_others_by_their_hash(tmp_path: Path, open_path: Path) -> None:
    wheel = tmp_path / "tool-1.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    pinned = {"file": "other-1.0-py3-none-any.whl", "sha256": "b" * 64}
    digests = [{"path": wheel.name, "sha256": hashlib.sha256(b"a wheel").hexdigest()}, pinned]
    plan, same = (
        act(
            stack_status.ActionModule,
            {
                "wanted": {"python": "/usr/bin/python3.12", "wheels": wheels},
                "root": str(open_path / "root"),
                "history": str(tmp_path / "history"),
            },
            answer=lambda _module, arguments: run_module("stack_status", **arguments),
        )["plan"]
        for wheels in ([str(wheel), pinned], digests)
    )
    assert plan["environment_id"] and plan == same
    assert plan["actions"][0] == "install"


def test_a_wheel_that_is_not_on_the_controller_is_one_error(tmp_path: Path) -> None:
    environment = {"python": "/usr/bin/python3.12", "wheels": ["/nowhere/tool-1.0-py3-none-any.whl"]}
    result = act(stack_status.ActionModule, {"wanted": environment, "root": str(tmp_path / "root")})
    assert result["failed"] and "/nowhere/tool-1.0-py3-none-any.whl is not" in result["cause"]
