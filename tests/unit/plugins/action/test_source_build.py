"""How a build is followed: what the host is asked, what is printed, and what ends it."""

import json
import typing as t
import unittest.mock

import pytest
from ansible.errors import AnsibleConnectionFailure
from ansible_collections.sparkforge.dgx_spark.plugins.action import source_build

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


def goes_on(**state: t.Any) -> dict[str, t.Any]:
    return {**RUNNING, "state": {**RUNNING["state"], **state}}


class Host:
    """The action plugin with a host that answers module calls from a list; an exception is raised."""

    def __init__(self, answers: list[t.Any], **arguments: t.Any) -> None:
        arguments = {"name": "tiny", "user": "sparkforge", "patches": ["--- a\n+++ b\n"], **arguments}
        task = unittest.mock.MagicMock(async_val=0, check_mode=False, diff=False, args=arguments)
        self.connection = unittest.mock.MagicMock()
        self.plugin = source_build.ActionModule(
            task=task,
            connection=self.connection,
            play_context=unittest.mock.MagicMock(),
            loader=unittest.mock.MagicMock(),
            templar=unittest.mock.MagicMock(),
            shared_loader_obj=None,
        )
        self.task = task
        self.calls: list[dict[str, t.Any]] = []

        def execute(module_args: dict[str, t.Any], task_vars: t.Any) -> t.Any:
            self.calls.append(json.loads(json.dumps(module_args)))
            answer = answers[len(self.calls) - 1]
            if isinstance(answer, Exception):
                raise answer
            return answer

        self.plugin._execute_module = execute

    def run(self) -> dict[str, t.Any]:
        return self.plugin.run(task_vars={"inventory_hostname": "spark01"})


@pytest.fixture(autouse=True)
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(source_build.display, "display", lines.append)
    monkeypatch.setattr(source_build.time, "sleep", lambda _seconds: None)
    return lines


def test_a_build_is_followed_to_its_end(printed: list[str]) -> None:
    host = Host([RUNNING, goes_on(done=5), goes_on(phase="package"), BUILT])
    result = host.run()
    assert (result["status"], result["changed"], result["changes"]) == ("built", True, RUNNING["changes"])
    assert len(host.calls) == 4
    assert [line.partition(" | ")[2].split()[0] for line in printed] == ["build", "package"]


def test_poll_sends_the_last_known_state() -> None:
    host = Host([RUNNING, goes_on(phase="package", attempts=2), BUILT])
    host.run()
    seen = [call["attach"]["seen"] for call in host.calls[1:]]
    assert [(news["phase"], news["attempts"]) for news in seen] == [("build", 1), ("package", 2)]
    # A poll sends only what finds the build.
    assert "patches" in host.calls[0]
    assert "patches" not in host.calls[1]


def test_a_lost_connection_is_made_again() -> None:
    host = Host([RUNNING, AnsibleConnectionFailure("gone"), goes_on(done=2), BUILT])
    assert host.run()["status"] == "built"
    assert host.connection.reset.call_count == 1
    assert len(host.calls) == 4


def test_a_loss_that_is_noticed_late_is_tried_again_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = [0.0]
    monkeypatch.setattr(source_build.time, "monotonic", lambda: passed[0])
    host = Host([RUNNING, AnsibleConnectionFailure("gone"), goes_on(done=2), BUILT])
    execute = host.plugin._execute_module

    def slow(module_args: dict[str, t.Any], task_vars: t.Any) -> t.Any:
        passed[0] += 600
        return execute(module_args, task_vars)

    host.plugin._execute_module = slow
    assert host.run()["status"] == "built"


def test_a_host_that_stays_away_is_unreachable_and_the_build_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host([RUNNING, *[AnsibleConnectionFailure("gone")] * 99])
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(source_build.time, "monotonic", lambda: next(clock))
    with pytest.raises(AnsibleConnectionFailure, match="The work continues there"):
        host.run()
    assert 2 < len(host.calls) < 11


def test_a_unit_is_given_as_a_mapping_beside_which_options_win() -> None:
    host = Host([BUILT], unit={"kind": "wheel", "jobs": 1, "subdirectory": None}, jobs=4)
    assert host.run()["status"] == "built"
    assert host.calls[0] | {"patches": None} == {
        "name": "tiny", "user": "sparkforge", "kind": "wheel", "jobs": 4, "patches": None,
    }  # fmt: skip


def test_the_patches_of_a_unit_are_read_on_the_controller() -> None:
    host = Host([BUILT], unit={"patches": [{"name": "mine", "content": "--- a"}]}, patches=None)
    del host.task.args["patches"]
    host.run()
    assert host.calls[0]["patches"] == [{"name": "mine", "content": "--- a"}]


def test_what_is_no_unit_is_refused() -> None:
    result = Host([], unit="llvm").run()
    assert (
        result["failed"]
        and result["msg"] == "The option unit is not a mapping: 'llvm'. Give a mapping of the module's options."
    )


def test_a_failure_is_the_modules_word() -> None:
    failure = {"failed": True, "msg": "No such header.", "cause": "No such header.", "remedy": "Install it."}
    result = Host([RUNNING, failure]).run()
    assert (result["failed"], result["cause"], result["changes"]) == (True, "No such header.", RUNNING["changes"])
    assert "artefact" not in result


def test_notes_are_printed_once(printed: list[str]) -> None:
    note = "The build ran out of memory with 2 jobs and continued with 1."
    host = Host([RUNNING, goes_on(notes=[note]), goes_on(notes=[note], attempts=2), BUILT])
    host.run()
    assert printed.count(f"spark01 | {note}") == 1


@pytest.mark.parametrize("how", ["check mode", "not followed"])
def test_who_does_not_follow_asks_once(how: str) -> None:
    host = Host([RUNNING], **({"follow": "no"} if how == "not followed" else {}))
    host.task.check_mode = how == "check mode"
    assert host.run() == RUNNING
    assert len(host.calls) == 1
