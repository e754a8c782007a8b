"""One host builds and all hosts install: three containers, over ssh, go through what can happen to a fleet.

The stack is that of the lab's fleet (lab/fleet.py): a real PyTorch, of which one small unit is built.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab import bench as benches, fleet as lab_fleet, image
from tests.integration.conftest import CHECKOUT, Play

# Other tests cover parts of this: tests/fleet (one host builds, all install and pull), tests/unit/plugins/filter/
# test_builder.py (the choice of the builder), and test_hostile_builder.py (a wheel with another sha256).
pytestmark = pytest.mark.long

HOSTS = ["spark01", "spark02", "spark03"]


@dataclass
class Fleet:
    """Three hosts, and a cache on the controller."""

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

    def current(self, host: str) -> str:
        """Return the lock id of the current environment, or '' if there is none."""
        return self.execute(host, "readlink /opt/sparkforge/envs/torch/current || true")

    def built(self, host: str) -> list[str]:
        """Return the receipts of the units that were compiled on a host."""
        return self.execute(host, "ls /opt/sparkforge/receipts/units 2>/dev/null || true").split()

    def cached_wheels(self) -> list[Path]:
        return list(self.cache.rglob("*.whl"))

    def forget(self) -> None:
        """Make the controller look as if it had never run anything."""
        shutil.rmtree(self.cache, ignore_errors=True)

    @contextlib.contextmanager
    def described(self, builders: Sequence[str] = (), **variables: dict[str, object]) -> Iterator[None]:
        """Add a group of builders and host variables to the inventory."""
        path = self.inventory / "fleet.yml"
        before = path.read_text()
        inventory = yaml.safe_load(before)
        groups = inventory["all"]["children"]
        if builders:
            groups["builders"] = {"hosts": dict.fromkeys(builders)}
        groups["lab"]["children"]["fleet"]["hosts"].update(variables)
        path.write_text(yaml.safe_dump(inventory))
        try:
            yield
        finally:
            path.write_text(before)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("build-once")
    name = f"once-{os.getpid()}"
    try:
        bench = lab_fleet.up(HOSTS, name, folder / "inventory")
        yield Fleet(bench, folder / "inventory", folder / "cache")
    finally:
        benches.down(name, folder / "inventory")


@pytest.fixture(scope="module")
def site(fleet: Fleet) -> Play:
    """Run the whole site on the builder and a second host, both in their factory state."""
    return fleet.run("site", limit="spark01,spark02").succeeded()


@pytest.fixture(autouse=True)
def after_the_site(site: Play) -> None:
    """Each test starts with a fleet of which two hosts are provisioned."""


def test_with_a_limit_nothing_is_compiled_if_a_manifest_exists(fleet: Fleet) -> None:
    before = fleet.run("build", limit="spark02").succeeded()
    assert "spark02 builds nothing: spark01 built lab-fleet" in before.text
    # A controller without a cache asks the builder, which is outside the limit.
    fleet.forget()
    play = fleet.run("build", "--check", limit="spark03").succeeded()
    assert "spark03 builds nothing: spark01 built lab-fleet" in play.text
    assert not fleet.cache.exists()
    play = fleet.run("build", limit="spark03").succeeded()
    assert "spark03 builds nothing: spark01 built lab-fleet" in play.text
    assert fleet.built("spark03") == []
    assert fleet.cached_wheels() == []


def test_builders_state_names_manifests_that_nginx_does_not_serve(fleet: Fleet) -> None:
    fleet.run("build", limit="spark01", sparkforge_wheelhouse_serve=True).succeeded()
    served = fleet.run("status", limit="spark01", sparkforge_wheelhouse_serve=True).succeeded()
    assert "1 host: 1 as its stack" in served.output, served.output[-3000:]
    other = fleet.run("status", limit="spark01", sparkforge_wheelhouse_serve=True, wheelhouse_port=8640).succeeded()
    assert "at http://127.0.0.1:8640" in other.text
    refused = fleet.run("status", limit="spark01", sparkforge_wheelhouse_serve=True, wheelhouse_port=0).succeeded()
    assert "stops: 0 is not" in refused.text


def test_a_failed_build_leaves_the_others_as_they_were(fleet: Fleet) -> None:
    before = fleet.current("spark02")
    unit = {"environment": {"LAB_TORCH": "/nowhere"}, "expect": {"files": []}, "memory_per_job": 256, "free_space": 100}
    play = fleet.run("build", limit="spark01,spark02", pytorch_unit=unit).failed()
    assert "spark01, which builds for debian13-" in play.text
    assert "did not come to its end" in play.text
    assert fleet.current("spark02") == before
