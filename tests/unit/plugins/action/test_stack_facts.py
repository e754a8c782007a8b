# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action plugin stack_facts, run by ansible-playbook against hosts that do not exist."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml

from tests.unit.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[4]


def play(tmp_path: Path, task: dict[str, t.Any], *arguments: str) -> tuple[dict[str, t.Any], str]:
    """Run one task on a host that no connection reaches, and return its result and the output."""
    (tmp_path / "hosts.yml").write_text("all: {hosts: {spark01: {ansible_host: 192.0.2.1}}}\n")
    playbook = tmp_path / "play.yml"
    shown = {"name": "Show it", "ansible.builtin.debug": {"msg": "<{{ answer | to_json | b64encode }}>"}}
    tasks = [{**task, "name": "The task", "register": "answer", "ignore_errors": True}, shown]
    playbook.write_text(yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
    done = run_playbook(tmp_path, "-i", "hosts.yml", str(playbook), *arguments, ANSIBLE_TIMEOUT="1")
    output = done.stdout + done.stderr
    found = re.search(r"<([A-Za-z0-9+/=]{40,})>", output)
    assert found, output
    return json.loads(base64.b64decode(found[1])), output


def facts(**arguments: t.Any) -> dict[str, t.Any]:
    return {"sparkforge.dgx_spark.stack_facts": arguments}


@pytest.mark.parametrize("mode", [(), ("--check", "--diff")])
def test_the_facts_of_a_host_that_cannot_be_reached(tmp_path: Path, mode: tuple[str, ...]) -> None:
    result, _output = play(tmp_path, facts(name="torch-2.15.0", method="wheel"), *mode)
    assert result["changed"] is False
    assert "ansible_facts" not in result
    stack = result["stack"]
    assert stack["name"] == "torch-2.15.0"
    assert stack["profile"]["name"] == "gb10"
    assert stack["lock"]["wheels"]["cp312-linux-aarch64"]
    assert result["files"]["stack"].endswith("roles/stack/vars/torch-2.15.0.yml")


def test_the_inventorys_own_stack_is_found(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    shutil.copy(COLLECTION / "roles/stack/vars/torch-2.15.0.yml", tmp_path / "stacks" / "mine.yml")
    (tmp_path / "locks").mkdir()
    lock = (COLLECTION / "roles/stack/files/locks/torch-2.15.0.yml").read_text()
    (tmp_path / "locks" / "mine.yml").write_text(lock.replace("stack: torch-2.15.0", "stack: mine"))
    result, _output = play(tmp_path, facts(name="mine", method="wheel"))
    assert result["files"] == {
        "stack": str(tmp_path / "stacks" / "mine.yml"),
        "lock": str(tmp_path / "locks" / "mine.yml"),
    }


@pytest.mark.parametrize(
    ("arguments", "cause", "remedy"),
    [
        ({"name": "torch-9"}, "There is no stack 'torch-9'", "stacks/ beside the inventory"),
        ({"name": "torch-2.15.0", "profile": "gb11"}, "There is no profile 'gb11'", "gb10"),
        ({"name": "torch-2.15.0"}, "the commit of triton is not known", "stack_method: wheel"),
        ({"name": "torch-2.9.1", "method": "wheel"}, "has no wheels to install", "torch-2.15.0"),
    ],
)
def test_bad_input_ends_in_one_message_with_a_remedy(
    tmp_path: Path, arguments: dict[str, str], cause: str, remedy: str
) -> None:
    result, output = play(tmp_path, facts(**arguments))
    assert result["failed"] is True
    assert cause in result["cause"]
    assert remedy in result["remedy"]
    assert result["msg"] == f"{result['cause']} {result['remedy']}"
    assert "ansible_facts" not in result
    assert "Traceback" not in output


def test_building_is_the_default_and_taking_back_needs_no_lock(tmp_path: Path) -> None:
    result, _output = play(tmp_path, facts(name="torch-2.9.1"))
    assert result["stack"]["method"] == "build"
    assert result["stack"]["units"]["pytorch"]["source"]["version"].startswith("5811a8d")
    result, _output = play(tmp_path, facts(name="torch-2.15.0", lock_required=False))
    assert result["stack"]["units"]["triton"]["source"] is None


@pytest.mark.parametrize("arguments", [{}, {"name": "x", "directories": {"a": 1}}, {"name": "x", "nome": 1}])
def test_wrong_arguments_are_refused_by_name(tmp_path: Path, arguments: dict[str, t.Any]) -> None:
    result, output = play(tmp_path, facts(**arguments))
    assert result["failed"] is True
    assert any(word in result["msg"] for word in ("name", "directories", "nome"))
    assert "Traceback" not in output


@pytest.mark.parametrize("module", ["stack_facts", "stack_lock"])
def test_run_as_a_module_it_says_that_it_is_none(module: str) -> None:
    done = subprocess.run(
        [sys.executable, str(COLLECTION / "plugins" / "modules" / f"{module}.py")],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": {"name": "torch-2.15.0"}}),
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(COLLECTION / ".collections")},
    )
    answer = json.loads(done.stdout)
    assert answer["failed"] is True
    assert "works on the controller" in answer["msg"]


@pytest.mark.parametrize("module", ["stack_facts", "stack_lock"])
def test_the_documentation_is_that_of_the_plugin(module: str) -> None:
    documented = yaml.safe_load(
        (COLLECTION / "plugins" / "modules" / f"{module}.py")
        .read_text()
        .split('DOCUMENTATION = r"""')[1]
        .split('"""')[0]
    )["options"]
    code = (COLLECTION / "plugins" / "action" / f"{module}.py").read_text()
    block = code[code.index("argument_spec={") : code.index("inventory_directories(")]
    assert {line.split('"')[1] for line in block.splitlines() if '": {"type"' in line} == set(documented)


def test_the_role_sets_the_fact_where_facts_are_not_injected(tmp_path: Path) -> None:
    role = {"ansible.builtin.include_role": {"name": "sparkforge.dgx_spark.stack"}}
    (tmp_path / "hosts.yml").write_text("all: {hosts: {spark01: {ansible_host: 192.0.2.1}}}\n")
    (tmp_path / "ansible.cfg").write_text("[defaults]\ninject_facts_as_vars = false\n")
    asserted = {"ansible.builtin.assert": {"that": ["stack.name == 'torch-2.9.1'", "stack.lock.id | length == 12"]}}
    (tmp_path / "play.yml").write_text(
        yaml.safe_dump([{"hosts": "all", "gather_facts": False, "tasks": [role, asserted]}])
    )
    done = run_playbook(tmp_path, "-i", "hosts.yml", "play.yml")
    assert done.returncode == 0, done.stdout + done.stderr
