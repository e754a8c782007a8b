"""Official wheels until the build is ready: the site on several names of this machine, with one failing in each phase.

The playbooks and the observation are real. The roles create environments that consist of a receipt and a link.
"""

import json
import typing as t
from pathlib import Path

import pytest

from tests.example_reports import healthy
from tests.playbooks.run_playbook import Run, StandIn

WHEELS = {
    "name": "wheels", "method": "wheel", "wheel": {"cuda": None}, "libraries": "wheels", "archives": [],
    "cusparselt": {},
}  # fmt: skip
BUILT = {
    "name": "built", "method": "build", "units": {"pytorch": {}}, "python": {"version": "3.12"},
    "lock": {"id": "0123456789ab", "run_requirements": {}},
}  # fmt: skip
FAIL = {"ansible.builtin.fail": {"msg": "it broke."}}
PLACE = "{{ sparkforge_root }}/envs/torch"


def fails(phase: str) -> dict[str, t.Any]:
    """Return a task that fails on the host which is to fail in this phase of its stack."""
    return {**FAIL, "when": f"failing.get(inventory_hostname) == stack.method ~ ' {phase}'"}


#: Role and entry point -> tasks.
ROLES: dict[str, list[dict[str, t.Any]]] = {
    "stack/main": [{"ansible.builtin.set_fact": {"stack": BUILT}}],
    "stack/meanwhile": [
        {"ansible.builtin.set_fact": {"__stack_meanwhile": "{{ meanwhile | default({'stack': wheels}) }}"}}
    ],
    "preflight/main": [{"sparkforge.dgx_spark.spark_info": {"root": "{{ sparkforge_root }}"}}],
    "network_access/main": [],
    "cuda_libraries/main": [{"ansible.builtin.debug": {"msg": "cuda {{ inventory_hostname }} {{ stack.name }}"}}],
    "cusparselt/main": [],
    "math_libraries/main": [],
    "build_toolchain/main": [
        fails("libraries"),
        {
            "ansible.builtin.debug": {
                "msg": "toolchain {{ inventory_hostname }} {{ stack.libraries | default('all') }}"
            }
        },
    ],
    "python_env/manifest": [
        {
            "ansible.builtin.set_fact": {
                "sparkforge_found": {
                    "manifest": {"host": "spark1"}, "tried": [],
                }
            }
        }
    ],
    "pytorch/main": [fails("build"), {"ansible.builtin.debug": {"msg": "compiled {{ inventory_hostname }}"}}],
    "torch_extensions/main": [{"ansible.builtin.set_fact": {"sparkforge_built": {}}}],
    "llvm/main": [],
    "triton/main": [],
    "wheelhouse/main": [],
    "python_env/make": [
        fails("environment"),
        {"ansible.builtin.file": {"path": f"{PLACE}/{{{{ stack.name }}}}", "state": "directory", "mode": "0755"}},
        {
            "ansible.builtin.copy": {
                "content": "{{ {'stack': {'name': stack.name, 'method': stack.method}} | to_json }}",
                "dest": f"{PLACE}/{{{{ stack.name }}}}/receipt.json",
                "mode": "0644",
            }
        },
    ],
    "python_env/switch": [
        fails("switch"),
        {
            "ansible.builtin.file": {
                "src": "{{ stack.name }}", "dest": f"{PLACE}/current", "state": "link", "force": True,
            },
            "register": "__python_env_switched",
        },
    ],
    "verify/prove": [
        fails("proof"),
        {
            "ansible.builtin.debug": {
                "msg": "proved {{ inventory_hostname }} {{ stack.name }} {{ stack.archives | default('all') }}"
            }
        },
    ],
    "verify/replace": [],
    "verify/schedule": [],
    "verify/judge": [fails("judgement")],
}  # fmt: skip
ROLES["python_env/bridge"] = ROLES["python_env/make"]


class Site(StandIn):
    """Hosts that are all this machine, each with its own root."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path, ROLES)
        self.hosts = [f"spark{number}" for number in range(1, count + 1)]

    def provision(self, *hosts: str) -> None:
        """Give hosts an environment from an earlier run."""
        for host in hosts:
            directory = self.path / host / "envs/torch"
            (directory / "before").mkdir(parents=True)
            (directory / "before/receipt.json").write_text("{}")
            (directory / "current").symlink_to("before")

    def run(self, *arguments: str, failing: dict[str, str] | None = None, **variables: t.Any) -> Run:
        hosts = {host: {"sparkforge_root": str(self.path / host)} for host in self.hosts}
        all_variables = {
            "failing": failing or {}, "wheels": WHEELS, "sparkforge_gpu_required": False, "sparkforge_waves": ["rest"],
            "sparkforge_max_fail_percentage": 100, **variables,
        }  # fmt: skip
        return self.play("sparkforge.dgx_spark.site", hosts, *arguments, **all_variables)

    def current(self) -> dict[str, str]:
        """Return the stack of each host's environment; hosts without one are left out."""
        links = {host: self.path / host / "envs/torch/current" for host in self.hosts}
        return {host: str(link.readlink()) for host, link in links.items() if link.is_symlink()}


def test_a_host_that_fails_in_any_phase_keeps_what_it_had(tmp_path: Path) -> None:
    site = Site(tmp_path, 9)
    site.provision("spark2", "spark3")
    failing = {
        "spark3": "build environment", "spark4": "wheel libraries", "spark5": "wheel environment",
        "spark6": "wheel proof", "spark7": "build proof", "spark8": "build switch", "spark9": "build judgement",
    }  # fmt: skip
    run = site.run(failing=failing)
    assert run.code != 0
    # Until its build is proven, a host without an environment uses wheels; a failed bridge does not prevent the build.
    assert site.current() == {
        "spark1": "built", "spark2": "built", "spark3": "before", "spark4": "built",
        "spark5": "built", "spark6": "built", "spark7": "wheels", "spark8": "wheels", "spark9": "built",
    }  # fmt: skip
    assert sorted(run.told("toolchain")) == sorted(
        [f"spark{number} wheels" for number in (1, 5, 6, 7, 8, 9)] + [f"spark{number} all" for number in range(1, 10)]
    )
    assert "spark1 wheels []" in run.told("proved") and "spark1 built all" in run.told("proved")
    assert run.told("compiled") == ["spark1"]
    assert "no interim wheels: failed in wave 1" in run.output
    kept = "official wheels of wheels (. "
    assert {host: kept in message for host, message in run.stopped.items() if message} == {
        "spark3": False, "spark7": True, "spark8": True, "spark9": False,
    }  # fmt: skip
    assert "failed in wave 1" in run.stopped["spark7"] and "it broke" in run.stopped["spark7"]
    assert "its former environment" in run.stopped["spark8"]
    assert "has the new environment" in run.stopped["spark9"]


def test_wheels_and_a_build_print_the_same_last_lines(tmp_path: Path) -> None:
    report = json.dumps(healthy("spark1"))
    proved = {"ansible.builtin.copy": {"content": report, "dest": "{{ lookup('env', 'PWD') }}/reports/spark1.json"}}
    # Only a host's first environment adds a user to the group.
    actions = "{{ [] if 'torch' in ansible_facts.spark_info.environments else ['access'] }}"
    makes = [*ROLES["python_env/make"], {"ansible.builtin.set_fact": {"__python_env_made": {"actions": actions}}}]
    last_lines = []
    for stack in (WHEELS, BUILT):
        site = Site(tmp_path / str(stack["method"]), 1)
        (site.path / "reports").mkdir()
        for entry, tasks in {
            "stack/main": [{"ansible.builtin.set_fact": {"stack": stack}}],
            "python_env/make": makes,
            "python_env/bridge": makes,
            "verify/prove": [proved],
        }.items():
            site.write(entry, tasks)
        run = site.run()
        assert run.code == 0, run.output[-3000:]
        assert site.current() == {"spark1": stack["name"]}
        lines = [line for line in run.output.splitlines() if line.startswith("report | ")]
        last_lines.append([line.replace(str(site.path), "") for line in lines])
    assert last_lines[0] == last_lines[1]
    assert last_lines[0][-2].startswith("report | next, on spark1, after a new")
    assert last_lines[0][-2].endswith(": . /spark1/bin/activate-torch")


@pytest.mark.long
def test_bridge_can_be_installed_alone_or_disabled(tmp_path: Path) -> None:
    site = Site(tmp_path, 1)
    refused = {"stack": None, "cause": "Stack whels is unknown.", "msg": "Stack whels is unknown. Correct it."}
    run = site.run("-e", json.dumps({"meanwhile": refused}))
    assert "no interim wheels: Stack whels is unknown. The build of built" in " ".join(run.output.split())
    assert site.current() == {"spark1": "built"}

    alone = Site(tmp_path / "alone", 1)
    assert alone.run("--tags", "bridge").told("proved") == ["spark1 wheels []"]
    assert alone.current() == {"spark1": "wheels"}


@pytest.mark.long
@pytest.mark.parametrize("waves", [[1, "rest"]])
def test_a_canary_whose_wheels_fail_spares_the_others_the_download(tmp_path: Path, waves: list[t.Any]) -> None:
    site = Site(tmp_path, 3)
    run = site.run(failing={"spark1": "wheel proof"}, sparkforge_waves=waves, sparkforge_max_fail_percentage=0)
    assert run.code == 0, run.output[-3000:]
    assert [line for line in run.told("toolchain") if line.endswith("wheels")] == ["spark1 wheels"]
    assert "no interim wheels: wave 1 stopped" in " ".join(run.output.split())
    assert set(site.current().values()) == {"built"}
