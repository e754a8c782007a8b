# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waves: the real playbooks over names of this machine, with roles that only tell what they were asked for."""

from __future__ import annotations

import json
import re
import typing as t
from pathlib import Path

import pytest
import yaml

from tests.playbooks.run_playbook import run_playbook

COLLECTION = Path(__file__).parents[2]
LIBRARIES = ("network_access", "cuda_libraries", "cusparselt", "math_libraries", "build_toolchain")
#: What the roles of the fleet do here. ``refused``, ``broken`` and ``unproven`` name hosts.
ROLES: dict[str, list[dict[str, t.Any]]] = {
    "stack": [{"ansible.builtin.set_fact": {"stack": {"name": "told", "method": "wheel"}}}],
    "preflight": [
        {"ansible.builtin.ping": None},
        {"ansible.builtin.set_fact": {"spark_info": {}, "cacheable": True}},
        {"ansible.builtin.fail": {"msg": "its disk is full"}, "when": "inventory_hostname in refused"},
    ],
    "cuda_libraries": [{"ansible.builtin.debug": {"msg": "libraries of {{ inventory_hostname }}"}}],
    "python_env": [
        {"ansible.builtin.debug": {"msg": "staged {{ inventory_hostname }}"}, "when": "not python_env_switch | bool"}
    ],
    "verify": [
        {
            "name": "Stop with every failed check",
            "ansible.builtin.fail": {"msg": "attention.flash: wrong numbers."},
            "when": "inventory_hostname in broken",
        },
    ],
}
#: After the switch: a host without an environment has the new one by then.
JUDGE = [
    {
        "ansible.builtin.fail": {"msg": "nothing was proven"},
        "when": ["inventory_hostname in unproven", "verify_require == 'proven'"],
    },
]
SWITCH = [{"ansible.builtin.debug": {"msg": "switched {{ inventory_hostname }}"}}]
STEPS = ("preflight", "rollout", "report")


class Fleet:
    """The collection with roles that do nothing, and an inventory of names of this machine."""

    def __init__(self, path: Path, count: int) -> None:
        self.path = path
        self.hosts = [f"spark{number:02d}" for number in range(1, count + 1)]
        self.collection = path / "collections/ansible_collections/sparkforge/dgx_spark"
        self.collection.mkdir(parents=True)
        for name in ("plugins", "proof", "tools", "playbooks", "docs", "galaxy.yml", "meta"):
            (self.collection / name).symlink_to(COLLECTION / name)
        for role in {*LIBRARIES, *ROLES}:
            tasks = self.collection / "roles" / role / "tasks"
            tasks.mkdir(parents=True)
            (tasks / "main.yml").write_text(yaml.safe_dump(ROLES.get(role, [])))
        (self.collection / "roles/python_env/tasks/switch.yml").write_text(yaml.safe_dump(SWITCH))
        (self.collection / "roles/verify/tasks/schedule.yml").write_text("[]")
        # The rollout begins where the host was observed.
        for entry, tasks_of_it in (("prove", []), ("judge", JUDGE)):
            (self.collection / f"roles/verify/tasks/{entry}.yml").write_text(yaml.safe_dump(tasks_of_it))
        for role, entry in (("python_env", "make"), ("verify", "replace")):
            tasks = self.collection / "roles" / role / "tasks"
            (tasks / "main.yml").rename(tasks / f"{entry}.yml")
        (path / "ansible.cfg").write_text("[defaults]\nforks = 4\nstdout_callback = ansible.builtin.default\n")
        steps = [{"ansible.builtin.import_playbook": f"sparkforge.dgx_spark.{step}"} for step in STEPS]
        (path / "site.yml").write_text(yaml.safe_dump(steps))

    def run(self, *arguments: str, **variables: t.Any) -> Run:
        """Run preflight, rollout and report."""
        given = {"refused": [], "broken": [], "unproven": [], "report_require": "none", **variables}
        common = {"ansible_connection": "local", "ansible_become": False, **given}
        (self.path / "hosts.yml").write_text(
            yaml.safe_dump({"all": {"hosts": dict.fromkeys(self.hosts), "vars": common}})
        )
        collections = str(self.path / "collections")
        done = run_playbook(self.path, "-i", "hosts.yml", "site.yml", *arguments, ANSIBLE_COLLECTIONS_PATH=collections)
        rows = (
            json.loads((self.path / "reports/fleet.json").read_text())["hosts"]
            if done.stdout.find("report |") > 0
            else []
        )
        return Run(done.returncode, done.stdout + done.stderr, {row["host"]: row["stopped"] for row in rows})


class Run(t.NamedTuple):
    """How a run ended, and what its report says of each host on which it stopped."""

    code: int
    output: str
    stopped: dict[str, str]

    def told(self, word: str) -> list[str]:
        """Return the hosts of which a role told something, in the order in which it did."""
        return re.findall(rf"msg\W+{word} (spark\d+)", self.output)


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path, 8)


def test_each_wave_is_staged_proven_and_switched_before_the_next_begins(fleet: Fleet) -> None:
    run = fleet.run()
    assert run.code == 0, run.output[-3000:]
    for word in ("libraries of", "staged", "switched"):
        assert run.told(word)[0] == "spark01"
        assert set(run.told(word)[1:3]) == {"spark02", "spark03"}
        assert set(run.told(word)[3:]) == {"spark04", "spark05", "spark06", "spark07", "spark08"}
    # The canary was switched before anything was brought to the second wave.
    assert run.output.index("switched spark01") < run.output.index("libraries of spark02")
    assert set(run.stopped.values()) == {""}


def test_a_canary_with_wrong_numbers_is_not_switched_and_ends_the_rollout(fleet: Fleet) -> None:
    run = fleet.run(broken=["spark01"])
    assert run.code != 0
    assert run.told("staged") == ["spark01"]
    assert run.told("switched") == []
    assert 'failed in wave 1 at "Stop with every failed check"' in run.stopped["spark01"]
    assert "attention.flash: wrong numbers" in run.stopped["spark01"]
    assert "\n" not in run.stopped["spark01"]
    for host in fleet.hosts[1:]:
        assert "was not started and is unchanged: wave 1 ended the rollout: spark01 failed" in run.stopped[host]


@pytest.mark.long
def test_a_host_of_which_nothing_is_proven_ends_the_rollout_where_proof_is_required(fleet: Fleet) -> None:
    run = fleet.run(unproven=["spark01"], report_require="proven")
    assert run.code != 0
    assert run.told("switched") == ["spark01"]
    assert "nothing was proven" in run.stopped["spark01"]


def test_a_problem_on_one_host_stops_all_before_any_change(fleet: Fleet) -> None:
    run = fleet.run(refused=["spark04"])
    assert run.code != 0
    assert run.told("libraries of") == []
    assert "spark04 did not pass preflight" in " ".join(run.output.split())
    assert "Nothing was changed on any host" in " ".join(run.output.split())


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"sparkforge_waves": [1, 2]}, "hold 3 of 8 hosts"),
        ({"sparkforge_max_fail_percentage": "many"}, "many, which is not a percentage"),
    ],
)
def test_waves_and_percentages_that_are_none_change_nothing(
    fleet: Fleet, variables: dict[str, t.Any], said: str
) -> None:
    run = fleet.run(**variables)
    assert run.code != 0 and "Traceback" not in run.output
    assert said in " ".join(run.output.split())
    assert run.told("libraries of") == []


def test_an_empty_limit_is_not_taken_for_every_host(fleet: Fleet) -> None:
    run = fleet.run("-l", "")
    assert run.code != 0
    assert "The limit is empty" in " ".join(run.output.split())
    assert run.told("libraries of") == []


@pytest.mark.long
def test_only_the_proof_runs_where_only_it_is_asked_for(fleet: Fleet) -> None:
    run = fleet.run("--tags", "verify", broken=["spark02"])
    assert run.code != 0
    assert run.told("libraries of") == run.told("staged") == run.told("switched") == []
    assert "attention.flash: wrong numbers" in run.stopped["spark02"]
