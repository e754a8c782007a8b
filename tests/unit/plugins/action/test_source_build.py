"""The action plugin source_build follows a build: module calls, progress and errors."""

import json
import typing as t

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.sparkforge.dgx_spark.plugins.action import source_build

from tests.unit.act import construct

RUNNING: dict[str, t.Any] = {
    "changed": True,
    "status": "running",
    "fingerprint": "0123456789abcdef",
    "platform": "debian13-aarch64",
    "directory": "/opt/sparkforge/builds/tiny/0123456789abcdef",
    "state": {"phase": "build", "status": "running", "attempts": 1, "done": 1, "total": 9},
    "changes": ["receipt: (none) -> built"],
}
BUILT = {"changed": True, "status": "built", "wheels": []}


def running_state(**state: t.Any) -> dict[str, t.Any]:
    return {**RUNNING, "state": {**RUNNING["state"], **state}}


class Host:
    """The action plugin, with a list of results for the module; an exception in the list is raised."""

    def __init__(self, answers: list[t.Any], check_mode: bool = False, **arguments: t.Any) -> None:
        arguments = {"name": "tiny", "user": "sparkforge", "patches": ["--- a\n+++ b\n"], **arguments}
        self.plugin = construct(source_build.ActionModule, arguments, check_mode=check_mode)
        self.calls: list[dict[str, t.Any]] = []

        def execute(module_args: dict[str, t.Any], task_vars: t.Any) -> t.Any:
            self.calls.append(json.loads(json.dumps(module_args)))
            answer = answers[len(self.calls) - 1]
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.plugin._execute_module = execute

    def run(self) -> dict[str, t.Any]:
        return t.cast("dict[str, t.Any]", self.plugin.run(task_vars={"inventory_hostname": "spark01"}))


@pytest.fixture(autouse=True)
def printed_lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(source_build.display, "display", lines.append)
    monkeypatch.setattr(source_build.time, "sleep", lambda _seconds: None)
    return lines


def test_a_build_is_followed_to_its_end(printed_lines: list[str]) -> None:
    host = Host([RUNNING, running_state(done=5), running_state(phase="package"), BUILT])
    result = host.run()
    assert (result["status"], result["changed"], result["changes"]) == ("built", True, RUNNING["changes"])
    assert len(host.calls) == 4
    assert [line.partition(" | ")[2].split()[0] for line in printed_lines] == ["build", "package"]


def test_poll_sends_the_last_known_state() -> None:
    host = Host([RUNNING, running_state(phase="package", attempts=2), BUILT])
    host.run()
    states = [call["attach"]["seen"] for call in host.calls[1:]]
    assert [(state["phase"], state["attempts"]) for state in states] == [("build", 1), ("package", 2)]
    # A poll sends only the options that identify the build.
    assert "patches" in host.calls[0]
    assert "patches" not in host.calls[1]


def test_a_lost_connection_is_made_again() -> None:
    host = Host([RUNNING, AnsibleConnectionFailure("gone"), running_state(done=2), BUILT])
    assert host.run()["status"] == "built"
    assert host.plugin._connection.reset.call_count == 1
    assert len(host.calls) == 4


def test_a_connection_loss_that_is_noticed_late_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(source_build.time, "monotonic", lambda: clock[0])
    host = Host([RUNNING, AnsibleConnectionFailure("gone"), running_state(done=2), BUILT])
    execute = host.plugin._execute_module

    def slow(module_args: dict[str, t.Any], task_vars: t.Any) -> t.Any:
        clock[0] += 600
        return execute(module_args, task_vars)

    host.plugin._execute_module = slow
    assert host.run()["status"] == "built"


def test_host_that_remains_unreachable_is_reported_while_its_build_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host([RUNNING, *[AnsibleConnectionFailure("gone")] * 99])
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(source_build.time, "monotonic", lambda: next(clock))
    with pytest.raises(AnsibleConnectionFailure, match="work continues there"):
        host.run()
    assert 2 < len(host.calls) < 11


def test_options_override_the_mapping_unit() -> None:
    host = Host([BUILT], unit={"kind": "wheel", "jobs": 1, "subdirectory": None}, jobs=4)
    assert host.run()["status"] == "built"
    assert host.calls[0] | {"patches": None} == {
        "name": "tiny", "user": "sparkforge", "kind": "wheel", "jobs": 4, "patches": None,
    }  # fmt: skip


def test_the_patches_of_a_unit_are_read_on_the_controller() -> None:
    host = Host([BUILT], unit={"patches": [{"name": "mine", "content": "--- a"}]})
    del host.plugin._task.args["patches"]
    host.run()
    assert host.calls[0]["patches"] == [{"name": "mine", "content": "--- a"}]


def test_a_unit_that_is_not_a_mapping_is_refused() -> None:
    result = Host([], unit="llvm").run()
    assert result["failed"] and "a mapping: 'llvm'" in result["msg"]


def test_a_failure_of_the_module_is_returned() -> None:
    failure = {"failed": True, "msg": "No such header.", "cause": "No such header.", "remedy": "Install it."}
    result = Host([RUNNING, failure]).run()
    assert (result["failed"], result["cause"], result["changes"]) == (True, "No such header.", RUNNING["changes"])
    assert "artefact" not in result


def test_notes_are_printed_once(printed_lines: list[str]) -> None:
    note = "The build ran out of memory with 2 jobs and continued with 1."
    Host([RUNNING, running_state(notes=[note]), running_state(notes=[note], attempts=2), BUILT]).run()
    assert printed_lines.count(f"spark01 | {note}") == 1


@pytest.mark.parametrize("options", [{"check_mode": True}, {"follow": "no"}])
def test_a_build_that_is_not_followed_needs_one_call(options: dict[str, t.Any]) -> None:
    host = Host([RUNNING], **options)
    assert host.run() == RUNNING
    assert len(host.calls) == 1
