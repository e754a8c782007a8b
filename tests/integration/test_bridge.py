"""Official wheels until the build is ready: one container, over ssh, from the factory state to the build.

Like those of the lab's fleet, the wheels contain a PyTorch that can compute, but of another version than the build.
tests/playbooks/test_bridge.py covers each phase in which a host can fail; this file checks the resulting state.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab import bench as benches, fleet as lab_fleet, image
from tests.integration.conftest import CHECKOUT, Play

HOST = "spark01"
GROUP_ID = 4242
WHEELS = "/srv/wheels"
#: The build fails before it compiles its first object.
BROKEN = {"environment": {"LAB_TORCH": "/nowhere"}, "expect": {"files": []}, "memory_per_job": 256, "free_space": 100}


@dataclass
class Fleet:
    """A host, and a cache on the controller."""

    bench: benches.Bench
    inventory: Path
    cache: Path

    def run(self, playbook: str, *arguments: str, limit: str = "all", **variables: object) -> Play:
        all_variables = {
            "sparkforge_wheelhouse_cache": str(self.cache),
            "verify_report_directory": str(self.inventory.parent / "reports"),
            **variables,
        }
        command = [
            str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(self.inventory / "fleet.yml"),
            str(CHECKOUT / f"playbooks/{playbook}.yml"), "-l", limit, "-e", json.dumps(all_variables), *arguments,
        ]  # fmt: skip
        environment = {**os.environ, "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
        result = subprocess.run(
            command, cwd=CHECKOUT, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Play(result.returncode, result.stdout)

    def execute(self, host: str, script: str) -> str:
        return image.podman("exec", self.bench.containers[host], "sh", "-c", script).stdout.strip()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A host without an environment, a stack to build, and a stack of wheels."""
    folder = tmp_path_factory.mktemp("bridge")
    name = f"bridge-{os.getpid()}"
    try:
        bench = lab_fleet.up([HOST], name, folder / "inventory")
        fleet = Fleet(bench, folder / "inventory", folder / "cache")
        add_wheels(fleet)
        # A group that already has the name, with an id other than the next free system id.
        fleet.execute(HOST, f"groupadd --gid {GROUP_ID} sparkforge && useradd --create-home ann")
        yield fleet
    finally:
        benches.down(name, folder / "inventory")


def add_wheels(fleet: Fleet) -> None:
    """Define the stack lab-wheels with a wheel that is on the host, as if from an index."""
    image.podman("cp", lab_fleet.TREE, f"{fleet.bench.containers[HOST]}:/root/tree")
    version = f"{lab_fleet.TORCH}+wheels"
    digest = fleet.execute(
        HOST,
        "cd /root/tree && rm wrong.py && echo '#define RELEASE \"wheels\"' > csrc/release.h && git init -q"
        " && git -c user.name=lab -c user.email=lab@localhost commit -q --allow-empty -m wheels"
        f" && export LAB_TORCH={lab_fleet.TORCH_HOME}/torch PYTORCH_BUILD_VERSION={version}"
        f" && PYTHONPATH={lab_fleet.TORCH_HOME} python{lab_fleet.PYTHON} setup.py -q bdist_wheel -d {WHEELS} >&2"
        f" && sha256sum {WHEELS}/*.whl",
    )
    stack = (fleet.inventory / "stacks/lab-fleet.yml").read_text()
    (fleet.inventory / "stacks/lab-wheels.yml").write_text(stack)
    lock = yaml.safe_load((fleet.inventory / "locks/lab-fleet.yml").read_text())
    platform, run = next(iter(lock["stack_lock"]["run_requirements"].items()))
    beside = {line for lines in run.values() for line in lines}
    torch = f"torch=={version} --hash=sha256:{digest.split()[0]}"
    lock["stack_lock"] |= {"stack": "lab-wheels", "wheels": {platform: sorted({*beside, torch})}}
    (fleet.inventory / "locks/lab-wheels.yml").write_text(yaml.safe_dump(lock))


def site(fleet: Fleet, *arguments: str, **variables: object) -> Play:
    links = [WHEELS, f"{fleet.bench.mirror['url']}/wheels/", f"{fleet.bench.mirror['url']}/git/fleet-wheels/"]
    all_variables = {"stack_name": "lab-fleet", "stack_meanwhile": "lab-wheels", "python_env_find_links": links}
    return fleet.run("site", *arguments, **{**all_variables, "sparkforge_users": ["ann"], **variables})


def link(fleet: Fleet, name: str) -> str:
    return fleet.execute(HOST, f"readlink /opt/sparkforge/envs/torch/{name} || true")


def computes(fleet: Fleet, user: str) -> subprocess.CompletedProcess[str]:
    """Enter the environment like a user, and compute."""
    script = (
        ". /opt/sparkforge/bin/activate-torch"
        " && python -c 'import torch; assert (torch.ones(2, 2) @ torch.ones(2, 2)).sum() == 8'"
    )
    return image.podman("exec", fleet.bench.containers[HOST], "su", user, "-c", script, quiet=True)


@pytest.fixture(scope="module")
def failed(fleet: Fleet) -> tuple[str, Play]:
    """The first run, whose build fails: the host's current environment, and the result of the run."""
    play = site(fleet, pytorch_unit=BROKEN).failed()
    return link(fleet, "current"), play


@pytest.fixture(scope="module")
def built(fleet: Fleet, failed: tuple[str, Play]) -> Play:
    return site(fleet).succeeded()


def test_check_on_a_fresh_host_does_not_fail_and_changes_nothing(fleet: Fleet) -> None:
    assert site(fleet, "--check").succeeded().changed > 0
    assert fleet.execute(HOST, "ls /opt/sparkforge 2>&1 || true").count("No such file") == 1


def test_host_keeps_proven_wheels_and_the_report_mentions_both(fleet: Fleet, failed: tuple[str, Play]) -> None:
    wheels, play = failed
    assert wheels
    report_line = next(line for line in play.output.splitlines() if line.startswith("report | spark01"))
    assert "spark01: proven on the CPU" in report_line
    assert "spark01, which builds for debian13-" in report_line and "did not come to its end at" in report_line
    kept = "official wheels of lab-wheels"
    assert f"{kept} (. /opt/sparkforge/bin/activate-torch), and stack_method: wheel keeps" in report_line
    assert "next, on" not in play.output
    status = fleet.run("status", stack_name="lab-fleet", stack_meanwhile="lab-wheels").succeeded()
    assert re.search(rf"^spark01 +lab-wheels \(bridge\) +{wheels}", status.output, re.M), status.output[-3000:]


def test_users_can_enter_through_an_existing_group(fleet: Fleet, failed: tuple[str, Play]) -> None:
    assert fleet.execute(HOST, "getent group sparkforge") == f"sparkforge:x:{GROUP_ID}:ann,spark"
    assert fleet.execute(HOST, "stat -c '%a %G' /opt/sparkforge/envs/torch") == "750 sparkforge"
    for user in ("spark", "ann"):
        assert computes(fleet, user).returncode == 0
    assert computes(fleet, "nobody").returncode != 0


@pytest.mark.long
def test_build_replaces_the_wheels(fleet: Fleet, failed: tuple[str, Play], built: Play) -> None:
    wheels, _play = failed
    assert link(fleet, "current") not in ("", wheels)
    assert link(fleet, "previous") == wheels
    assert "next, on spark01: . /opt/sparkforge/bin/activate-torch" in built.output
    assert computes(fleet, "spark").returncode == 0


@pytest.mark.long
def test_a_host_with_an_environment_gets_no_bridge(fleet: Fleet, built: Play) -> None:
    play = site(fleet, "-vvv").succeeded()
    assert play.changed == 0
    modules = re.findall(r"Using module file \S*/modules/(\S+)\.py", play.output)
    assert modules.count("spark_info") == 1 and modules.count("cuda_proof") == 1
    assert "stack of wheels" not in play.text


@pytest.mark.long
def test_rollback_returns_to_the_wheels_and_proves_them(fleet: Fleet, failed: tuple[str, Play], built: Play) -> None:
    fleet.run("rollback", verify_paths=[], verify_sonames=[]).succeeded()
    assert link(fleet, "current") == failed[0]


@pytest.mark.long
def test_uninstall_removes_the_members_it_added_and_keeps_the_group(fleet: Fleet, built: Play) -> None:
    fleet.run("uninstall").succeeded()
    assert fleet.execute(HOST, "getent group sparkforge") == f"sparkforge:x:{GROUP_ID}:"
