"""Waves: the real playbooks on several names of this machine, with roles that only print their requests."""

import typing as t
from pathlib import Path

import pytest
import yaml

from tests.playbooks.run_playbook import Run, StandIn

LIBRARIES = ("network_access", "cuda_libraries", "cusparselt", "math_libraries", "build_toolchain")
#: Stand-ins for the fleet's roles. ``refused``, ``broken`` and ``unproven`` list hosts.
ROLES: dict[str, list[dict[str, t.Any]]] = {
    **{f"{role}/main": [] for role in LIBRARIES},
    "stack/main": [{"ansible.builtin.set_fact": {"stack": {"name": "told", "method": "wheel"}}}],
    "preflight/main": [
        {"ansible.builtin.ping": None},
        {"ansible.builtin.set_fact": {"spark_info": {}, "cacheable": True}},
        {"ansible.builtin.fail": {"msg": "its disk is full"}, "when": "inventory_hostname in refused"},
    ],
    "cuda_libraries/main": [{"ansible.builtin.debug": {"msg": "libraries of {{ inventory_hostname }}"}}],
    "python_env/make": [
        {"ansible.builtin.debug": {"msg": "staged {{ inventory_hostname }}"}, "when": "not python_env_switch | bool"}
    ],
    "python_env/switch": [{"ansible.builtin.debug": {"msg": "switched {{ inventory_hostname }}"}}],
    "verify/schedule": [],
    # The rollout starts once the host has been observed.
    "verify/prove": [],
    "verify/replace": [
        {
            "name": "Stop with every failed check",
            "ansible.builtin.fail": {"msg": "attention.flash: wrong numbers."},
            "when": "inventory_hostname in broken",
        }
    ],
    # This runs after the switch: a host that had no environment now has the new one.
    "verify/judge": [
        {
            "ansible.builtin.fail": {"msg": "nothing was proven"},
            "when": ["inventory_hostname in unproven", "verify_require == 'proven'"],
        }
    ],
}
STEPS = ("preflight", "rollout", "report")


class Fleet(StandIn):
    """The collection with roles that do nothing, and a playbook with the steps of a rollout."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, ROLES)
        self.hosts = [f"spark{number:02d}" for number in range(1, count + 1)]
        steps = [{"ansible.builtin.import_playbook": f"sparkforge.dgx_spark.{step}"} for step in STEPS]
        (path / "site.yml").write_text(yaml.safe_dump(steps))

    def run(self, *arguments: str, **variables: t.Any) -> Run:
        all_variables = {"refused": [], "broken": [], "unproven": [], **variables}
        return self.play("site.yml", dict.fromkeys(self.hosts), *arguments, **all_variables)


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
    # The canary was switched before the second wave received anything.
    assert run.output.index("switched spark01") < run.output.index("libraries of spark02")
    assert set(run.stopped.values()) == {""}


def test_canary_with_wrong_numbers_is_not_switched_and_stops_the_rollout(fleet: Fleet) -> None:
    run = fleet.run(broken=["spark01"])
    assert run.code != 0
    assert run.told("staged") == ["spark01"]
    assert run.told("switched") == []
    assert 'failed in wave 1 at "Stop with every failed check"' in run.stopped["spark01"]
    assert "attention.flash: wrong numbers" in run.stopped["spark01"]
    assert "\n" not in run.stopped["spark01"]
    for host in fleet.hosts[1:]:
        assert "the rollout: spark01 failed" in run.stopped[host]


@pytest.mark.long
def test_unproven_host_stops_a_rollout_that_requires_proof(fleet: Fleet) -> None:
    run = fleet.run(unproven=["spark01"], report_require="proven")
    assert run.code != 0
    assert run.told("switched") == ["spark01"]
    assert "nothing was proven" in run.stopped["spark01"]


def test_a_problem_on_one_host_stops_all_before_any_change(fleet: Fleet) -> None:
    run = fleet.run(refused=["spark04"])
    assert run.code != 0
    assert run.told("libraries of") == []
    assert "spark04 did not pass" in " ".join(run.output.split())
    assert "Nothing was changed" in " ".join(run.output.split())


def test_invalid_waves_change_nothing(fleet: Fleet) -> None:
    run = fleet.run(sparkforge_waves=[1, 2])
    assert run.code != 0 and "Traceback" not in run.output
    assert "hold 3 of 8 hosts" in " ".join(run.output.split())
    assert run.told("libraries of") == []


def test_empty_limit_does_not_mean_all_hosts(fleet: Fleet) -> None:
    run = fleet.run("-l", "")
    assert run.code != 0
    assert "limit is empty" in " ".join(run.output.split())
    assert run.told("libraries of") == []


@pytest.mark.long
def test_only_the_proof_runs_where_only_it_is_asked_for(fleet: Fleet) -> None:
    run = fleet.run("--tags", "verify", broken=["spark02"])
    assert run.code != 0
    assert run.told("libraries of") == run.told("staged") == run.told("switched") == []
    assert "attention.flash: wrong numbers" in run.stopped["spark02"]
