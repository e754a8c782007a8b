# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""fleet_status and stack_status in plays, as playbooks/status.yml calls them; the one host is this machine."""

from __future__ import annotations

import hashlib
import json
import sys
import typing as t
from pathlib import Path

import pytest

from tests.unit.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[4]


class Run(t.NamedTuple):
    """How a play ended."""

    code: int
    output: str

    @property
    def result(self) -> dict[str, t.Any]:
        """What the task of the play returned."""
        return json.loads(next(line for line in self.output.splitlines() if line.startswith("RESULT"))[6:])


def play(path: Path, module: str, /, *arguments: str, **options: t.Any) -> Run:
    """Run one task of the collection, whatever it says."""
    tasks = [
        {f"sparkforge.dgx_spark.{module}": options, "register": "returned", "ignore_errors": True},
        {"ansible.builtin.copy": {"content": "RESULT{{ returned | to_json }}\n", "dest": f"{path}/result"}},
    ]
    here = {"ansible_python_interpreter": sys.executable}
    book = [{"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": here, "tasks": tasks}]
    tasks[1]["check_mode"] = False
    (path / "play.yml").write_text(json.dumps(book))
    config = str(COLLECTION / "ansible.cfg")
    done = run_playbook(path, "-i", "localhost,", "play.yml", *arguments, ANSIBLE_CONFIG=config)
    result = path / "result"
    return Run(done.returncode, done.stdout + done.stderr + (result.read_text() if result.exists() else ""))


ROWS = [
    {"host": "spark01", "problem": "Failed to connect", "unreachable": True},
    {"host": "spark02", "problem": "", "unreachable": False},
]


def test_the_table_is_printed_as_it_is(tmp_path: Path) -> None:
    run = play(tmp_path, "fleet_status", rows=ROWS)
    assert "\nspark01  unreachable: Failed to connect\nspark02  failed: The play stopped on it before" in run.output
    assert run.result["summary"]["unreachable"] == 1 and run.result["changed"] is False
    assert run.result["path"] is None


@pytest.mark.parametrize("arguments", [(), ("--check",)], ids=["run", "check"])
def test_json_is_printed_and_written_in_check_mode_too(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "made/status.json"
    run = play(tmp_path, "fleet_status", *arguments, rows=ROWS, format="json", path=str(file))
    printed = next(line for line in run.output.splitlines() if line.startswith('{"check_mode"'))
    assert json.loads(file.read_text()) == json.loads(printed)
    assert json.loads(printed)["check_mode"] is bool(arguments)
    assert [row["standing"] for row in run.result["hosts"]] == ["unreachable", "failed"]


def test_a_file_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    run = play(tmp_path, "fleet_status", rows=ROWS, path="/proc/status.json")
    assert run.result["failed"] and "/proc/status.json cannot be written on the controller" in run.result["cause"]
    assert "status_file" in run.result["remedy"]


def test_stack_status_hashes_wheels_of_the_controller_and_takes_others_by_their_hash(tmp_path: Path) -> None:
    wheel = tmp_path / "tool-1.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    pinned = {"path": "other-1.0-py3-none-any.whl", "sha256": "b" * 64}
    wanted = {"python": "/usr/bin/python3.12", "wheels": [str(wheel), pinned]}
    place = {"root": str(tmp_path / "root"), "history": str(tmp_path / "history")}
    found = play(tmp_path, "stack_status", wanted=wanted, **place).result
    digests = [{"path": wheel.name, "sha256": hashlib.sha256(b"a wheel").hexdigest()}, pinned]
    same = play(tmp_path, "stack_status", wanted={**wanted, "wheels": digests}, **place).result
    assert found["plan"]["lock_id"] and found["plan"] == same["plan"]
    assert found["plan"]["actions"][0] == "install"


def test_a_wheel_that_is_not_on_the_controller_is_one_error(tmp_path: Path) -> None:
    wanted = {"python": "/usr/bin/python3.12", "wheels": ["/nowhere/tool-1.0-py3-none-any.whl"]}
    found = play(tmp_path, "stack_status", wanted=wanted, root=str(tmp_path / "root")).result
    assert (
        found["failed"] and found["cause"] == "The wheel /nowhere/tool-1.0-py3-none-any.whl is not on the controller."
    )
