"""A host switches back to the previous environment through one symlink, without a network, and is proven there."""

import json
import re
import typing as t

import pytest

from lab import stand_ins
from tests.integration import ownership
from tests.integration.conftest import Bench, Host, Play

ROOT = "/opt/sparkforge"
ENVIRONMENTS = f"{ROOT}/envs/torch"


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    """A host that can create environments but has none."""
    host = bench.fresh()
    host.roles("network_access").succeeded()
    host.execute("apt-get -qq update && apt-get -qq install --no-install-recommends -y python3-venv")
    return host


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A wheel that distinguishes the second environment from the first, and provides a kernel."""
    return str(stand_ins.write_wheel(tmp_path_factory.mktemp("wheels"), "ipykernel", "7.0.0", {"ipykernel.py": ""}))


@pytest.fixture(scope="module")
def made(host: Host, kernel: str) -> tuple[str, str]:
    """The names of two environments."""
    before = ownership.look(host)
    host.roles("python_env").succeeded()
    first = link(host, "current")
    # Stage it first, as a rollout does, and switch to it in another run.
    staged = {"python_env_wheels": [kernel], "python_env_switch": False}
    host.roles("python_env", **staged).succeeded()
    assert (link(host, "current"), link(host, "staged") != first) == (first, True)
    assert host.roles("python_env", **staged).succeeded().changed == 0
    host.roles("python_env", python_env_wheels=[kernel]).succeeded()
    assert ownership.faults(ownership.left(host, before), ownership.rows(), "wheels") == []
    return first, link(host, "current")


@pytest.fixture
def two(host: Host, made: tuple[str, str]) -> tuple[str, str]:
    """The names of the first environment, and of the second, which is current."""
    if link(host, "current") != made[1]:
        host.task("sparkforge.dgx_spark.python_env", name="torch", state="previous", environment_id=made[1])
    return made


def link(host: Host, name: str) -> str:
    return host.execute(f"readlink {ENVIRONMENTS}/{name} || true")


def back(host: Host, *arguments: str, **variables: t.Any) -> Play:
    # The stack's libraries were not installed on this host.
    return host.run("rollback", *arguments, verify_paths=[], verify_sonames=[], **variables)


def test_check_mode_reports_the_target_and_does_not_switch(host: Host, two: tuple[str, str]) -> None:
    before = host.contents()
    play = back(host, "--check", "--diff").succeeded()
    assert play.changed == 1
    assert re.search(rf"\+\s*\"?current\"?: \"?{two[0]}", play.text), play.output
    assert host.contents() == before


def test_rollback_and_return_are_each_proven(host: Host, two: tuple[str, str]) -> None:
    first, second = two
    inodes = host.execute(f"stat -c %i {ENVIRONMENTS}/{first} {ENVIRONMENTS}/{second}")
    back(host).succeeded()
    assert (link(host, "current"), link(host, "previous")) == (first, second)
    report = json.loads((host.reports / f"{host.name}.json").read_text())
    assert (report["environment_id"], report["verdict"] == "fail") == (first, False)
    assert host.execute(f"{ROOT}/bin/torch-python -c 'import sys; print(sys.prefix)'") == f"{ENVIRONMENTS}/{first}"

    # If the environment is named, a second run has nothing to do.
    assert back(host, rollback_environment_id=first).succeeded().changed == 0
    back(host).succeeded()
    assert (link(host, "current"), link(host, "previous")) == (second, first)
    kernel = host.execute("cat /usr/local/share/jupyter/kernels/sparkforge-torch/kernel.json")
    assert f"{ENVIRONMENTS}/{second}/bin/python" in kernel
    assert host.execute(f"stat -c %i {ENVIRONMENTS}/{first} {ENVIRONMENTS}/{second}") == inodes
