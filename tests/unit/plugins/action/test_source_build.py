# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a build is followed: what the host is asked and by what, what is printed, and what ends it."""

from __future__ import annotations

import json
import pathlib
import shlex
import subprocess
import typing as t
import unittest.mock

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible_collections.sparkforge.dgx_spark.plugins.action import source_build
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import state_file

REPOSITORY = pathlib.Path(__file__).parents[4]
DIRECTORY = "/opt/sparkforge/builds/tiny/0123456789abcdef"
RUNNING: dict[str, t.Any] = {
    "changed": True,
    "status": "running",
    "fingerprint": "0123456789abcdef",
    "platform": "debian13-aarch64",
    "directory": DIRECTORY,
    "state": {"phase": "build", "status": "running", "attempts": 1, "done": 1, "total": 9},
    "changes": ["receipt: (none) -> built"],
}
BUILT = {"changed": True, "status": "built", "wheels": []}
OVER = f"{state_file.MARK}null\r\n"


def goes_on(**state: t.Any) -> str:
    return f"{state_file.MARK}{json.dumps({**RUNNING['state'], **state})}\r\n"


class Host:
    """The action plugin with a host that answers module calls and polls from two lists; an exception is raised."""

    def __init__(self, modules: list[t.Any], polls: list[t.Any], **arguments: t.Any) -> None:
        arguments = {"name": "tiny", "user": "sparkforge", "patches": ["--- a\n+++ b\n"], **arguments}
        task = unittest.mock.MagicMock(async_val=0, check_mode=False, diff=False, args=arguments)
        self.connection = unittest.mock.MagicMock()
        self.connection.is_pipelining_enabled.return_value = True
        self.connection._shell.tmpdir = None
        self.plugin = source_build.ActionModule(
            task=task,
            connection=self.connection,
            play_context=unittest.mock.MagicMock(),
            loader=unittest.mock.MagicMock(),
            templar=unittest.mock.MagicMock(),
            shared_loader_obj=None,
        )
        self.plugin._used_interpreter = "#!/usr/bin/python3.12 -s"
        self.task = task
        self.calls: list[dict[str, t.Any]] = []
        self.asked: list[tuple[str, bytes]] = []

        def answer(answers: list[t.Any], number: int) -> t.Any:
            if isinstance(answers[number], Exception):
                raise answers[number]
            return answers[number]

        def execute(module_args: dict[str, t.Any], task_vars: t.Any) -> t.Any:
            self.calls.append(json.loads(json.dumps(module_args)))
            return answer(modules, len(self.calls) - 1)

        def low_level(command: str, in_data: bytes) -> dict[str, t.Any]:
            self.asked.append((command, in_data))
            return {"rc": 0, "stdout": answer(polls, len(self.asked) - 1), "stderr": ""}

        self.plugin._execute_module = execute
        self.plugin._low_level_execute_command = low_level

    def run(self) -> dict[str, t.Any]:
        return self.plugin.run(task_vars={"inventory_hostname": "spark01"})


@pytest.fixture(autouse=True)
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(source_build.display, "display", lines.append)
    monkeypatch.setattr(source_build.time, "sleep", lambda _seconds: None)
    return lines


def test_the_module_is_called_to_begin_and_for_the_end_alone(printed: list[str]) -> None:
    host = Host([RUNNING, BUILT], [goes_on(done=5), goes_on(phase="package"), OVER])
    result = host.run()
    assert (result["status"], result["changed"], result["changes"]) == ("built", True, RUNNING["changes"])
    assert len(host.calls) == 2
    assert len(host.asked) == 3
    assert [line.partition(" | ")[2].split()[0] for line in printed] == ["build", "package"]


def test_what_is_asked_is_the_news_that_are_known() -> None:
    host = Host([RUNNING, BUILT], [goes_on(phase="package", attempts=2), OVER])
    host.run()
    seen = [json.loads(shlex.split(command)[-1]) for command, _text in host.asked]
    assert [(one["phase"], one["attempts"]) for one in seen] == [("build", 1), ("package", 2)]
    # The module is told too, and gets only what finds the build.
    assert host.calls[1]["attach"]["seen"] == seen[1]
    assert "patches" in host.calls[0]
    assert "patches" not in host.calls[1]


def test_the_text_that_is_sent_is_that_of_the_module_and_goes_to_its_interpreter() -> None:
    host = Host([RUNNING, BUILT], [OVER])
    host.run()
    command, text = host.asked[0]
    assert text == pathlib.Path(state_file.__file__).read_bytes()
    words = shlex.split(command)
    # A minute: the text may never come where the network is cut.
    assert words[:2] == ["timeout", "60"]
    assert words[2:9] == ["/usr/bin/python3.12", "-s", "-I", "-S", "-", DIRECTORY, "sparkforge"]


def test_nothing_that_the_host_or_the_user_says_reaches_a_shell_unquoted() -> None:
    nasty = "/opt/$(reboot)/a b;'c\"`id`"
    host = Host([{**RUNNING, "directory": nasty}, BUILT], [OVER], user="$(id)")
    host.run()
    command, _text = host.asked[0]
    echoed = subprocess.run(["/bin/sh", "-c", f"printf '%s\\n' {command}"], check=True, capture_output=True, text=True)
    assert echoed.stdout.splitlines()[7:9] == [nasty, "$(id)"]


def test_what_else_the_host_says_is_no_answer() -> None:
    noise = f"Welcome\r\nsparkforge\r\n{goes_on()}Connection to spark01 closed.\r\n"
    host = Host([RUNNING, BUILT], [noise, OVER])
    assert host.run()["status"] == "built"
    assert len(host.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "sh: 1: python3: not found",
        f"{state_file.MARK}{{",
        f"{state_file.MARK}7",
        AnsibleError("Incorrect sudo password"),
    ],
)
def test_without_an_answer_the_module_is_asked_from_then_on(answer: t.Any) -> None:
    host = Host([RUNNING, RUNNING, RUNNING, BUILT], [answer])
    assert host.run()["status"] == "built"
    assert len(host.asked) == 1
    assert [call["attach"]["seen"]["phase"] for call in host.calls[1:]] == ["build"] * 3


def test_a_build_that_the_module_sees_again_is_polled_again() -> None:
    host = Host([RUNNING, RUNNING, BUILT], [OVER, OVER])
    assert host.run()["status"] == "built"
    assert (len(host.calls), len(host.asked)) == (3, 2)


@pytest.mark.parametrize("why", ["no pipelining", "no interpreter", "no directory"])
def test_where_nothing_can_be_sent_the_module_is_asked(why: str) -> None:
    running = dict(RUNNING)
    host = Host([running, BUILT], [])
    if why == "no pipelining":
        host.connection.is_pipelining_enabled.return_value = False
    elif why == "no interpreter":
        host.plugin._used_interpreter = None
    else:
        del running["directory"]
    assert host.run()["status"] == "built"
    assert host.asked == []


def test_a_lost_connection_is_made_again() -> None:
    host = Host([RUNNING, BUILT], [AnsibleConnectionFailure("gone"), goes_on(done=2), OVER])
    assert host.run()["status"] == "built"
    assert host.connection.reset.call_count == 1
    assert len(host.calls) == 2


def test_a_loss_that_is_noticed_late_is_tried_again_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = [0.0]
    monkeypatch.setattr(source_build.time, "monotonic", lambda: passed[0])
    host = Host([RUNNING, BUILT], [AnsibleConnectionFailure("gone"), goes_on(done=2), OVER])
    ask = host.plugin._low_level_execute_command

    def slow(command: str, in_data: bytes) -> dict[str, t.Any]:
        passed[0] += 600
        return ask(command, in_data)

    host.plugin._low_level_execute_command = slow
    assert host.run()["status"] == "built"


def test_a_host_that_stays_away_is_unreachable_and_the_build_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host([RUNNING], [AnsibleConnectionFailure("gone")] * 99)
    clock = iter(range(0, 10_000, 50))
    monkeypatch.setattr(source_build.time, "monotonic", lambda: next(clock))
    with pytest.raises(AnsibleConnectionFailure, match="The work continues there"):
        host.run()
    assert 1 < len(host.asked) < 10


def test_a_unit_is_given_as_a_mapping_beside_which_options_win() -> None:
    host = Host([BUILT], [], unit={"kind": "wheel", "jobs": 1, "build_tag": None}, jobs=4)
    assert host.run()["status"] == "built"
    assert host.calls[0] | {"patches": None} == {
        "name": "tiny", "user": "sparkforge", "kind": "wheel", "jobs": 4, "patches": None,
    }  # fmt: skip


def test_the_patches_of_a_unit_are_read_on_the_controller() -> None:
    host = Host([BUILT], [], unit={"patches": [{"name": "mine", "content": "--- a"}]}, patches=None)
    del host.task.args["patches"]
    host.run()
    assert host.calls[0]["patches"] == [{"name": "mine", "content": "--- a"}]


def test_what_is_no_unit_is_refused() -> None:
    result = Host([], [], unit="llvm").run()
    assert (
        result["failed"]
        and result["msg"] == "The option unit is not a mapping: 'llvm'. Give a mapping of the module's options."
    )


def test_a_failure_is_the_modules_word() -> None:
    failure = {"failed": True, "msg": "No such header.", "cause": "No such header.", "remedy": "Install it."}
    result = Host([RUNNING, failure], [OVER]).run()
    assert (result["failed"], result["cause"], result["changes"]) == (True, "No such header.", RUNNING["changes"])
    assert "artefact" not in result


def test_notes_are_printed_once(printed: list[str]) -> None:
    note = "The build ran out of memory with 2 jobs and continued with 1."
    host = Host([RUNNING, BUILT], [goes_on(notes=[note]), goes_on(notes=[note], attempts=2), OVER])
    host.run()
    assert printed.count(f"spark01 | {note}") == 1


@pytest.mark.parametrize("how", ["check mode", "not followed"])
def test_who_does_not_follow_asks_once(how: str) -> None:
    host = Host([RUNNING], [], **({"follow": "no"} if how == "not followed" else {}))
    host.task.check_mode = how == "check mode"
    assert host.run() == RUNNING
    assert host.asked == []
