"""The environment on a host: created from wheels with hashes, staged, switched, rolled back, and used by people.

A rollback uses no network, and is proven.
"""

import json
import os
import platform
import re
import typing as t

import pytest
import yaml

from lab import stand_ins
from tests.integration import ownership
from tests.integration.conftest import TOOLCHAIN, Bench, Host, Play

ROOT = "/opt/sparkforge"
ENVIRONMENTS = f"{ROOT}/envs/torch"
KERNEL = "/usr/local/share/jupyter/kernels/sparkforge-torch/kernel.json"


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    """A host that trusts the mirror, with the packages from the role build_toolchain that an environment needs."""
    fresh = bench.fresh(packages=TOOLCHAIN)
    fresh.roles("network_access").succeeded()
    fresh.execute("useradd --create-home worker")
    return fresh


@pytest.fixture(scope="module")
def factory(host: Host) -> dict[str, ownership.Entry]:
    """The host's paths before the first run."""
    return ownership.look(host)


@pytest.fixture
def installed(host: Host, factory: dict[str, ownership.Entry]) -> Host:
    """A host on which the stack's environment is current."""
    if not current(host) or "2.10.0" not in run_python(host, "import torch; print(torch.__version__)"):
        make(host).succeeded()
    return host


@pytest.fixture(scope="module")
def ipykernel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A wheel on the controller that stands in for ipykernel: it prints the interpreter in which a kernel would run."""
    launcher = "import os, sys\nprint(sys.prefix, os.environ['VIRTUAL_ENV'])\n"
    files = {"ipykernel/__init__.py": "", "ipykernel_launcher.py": launcher}
    return str(stand_ins.write_wheel(tmp_path_factory.mktemp("wheels"), "ipykernel", "7.0.0", files))


@pytest.fixture(scope="module")
def made(host: Host, factory: dict[str, ownership.Entry], ipykernel: str) -> tuple[str, str]:
    """The names of two environments; only the second has a kernel."""
    make(host).succeeded()
    first = current(host)
    # Stage it first, as a rollout does, and switch to it in another run.
    staged = {"python_env_wheels": [ipykernel], "python_env_switch": False}
    make(host, **staged).succeeded()
    assert (current(host), link(host, "staged") != first) == (first, True)
    assert make(host, **staged).succeeded().changed == 0
    make(host, python_env_wheels=[ipykernel]).succeeded()
    assert ownership.faults(ownership.left(host, factory), ownership.rows(), "wheels") == []
    return first, current(host)


@pytest.fixture
def two(host: Host, made: tuple[str, str]) -> tuple[str, str]:
    """The names of the first environment, and of the second, which is current."""
    if current(host) != made[1]:
        host.task("sparkforge.dgx_spark.python_env", name="torch", state="previous", environment_id=made[1])
    return made


def make(host: Host, *arguments: str, **variables: t.Any) -> Play:
    return host.roles("python_env", arguments=arguments, **variables)


def back(host: Host, *arguments: str, **variables: t.Any) -> Play:
    # The stack's libraries were not installed on this host.
    return host.run("rollback", *arguments, verify_paths=[], verify_sonames=[], **variables)


def link(host: Host, name: str) -> str:
    return host.execute(f"readlink {ENVIRONMENTS}/{name} || true")


def current(host: Host) -> str:
    return link(host, "current")


def run_python(host: Host, code: str) -> str:
    return host.execute(f"{ROOT}/bin/torch-python -c '{code}'")


def locked(host: Host) -> list[str]:
    """Return the lock's requirements."""
    lock = yaml.safe_load((host.inventory / "locks/lab-native.yml").read_text())["stack_lock"]
    lines: list[str] = lock["wheels"][f"cp313-linux-{platform.machine()}"]
    return lines


def test_the_environment_comes_from_the_lock_and_a_second_run_changes_nothing(installed: Host) -> None:
    assert make(installed, "--diff").succeeded().changed == 0
    assert make(installed, "--check", "--diff").succeeded().changed == 0
    assert run_python(installed, "import sys; print(sys.prefix)") == f"{ENVIRONMENTS}/{current(installed)}"
    receipt = json.loads(installed.execute(f"cat {ROOT}/receipts/env-torch.json"))
    assert receipt["requirements"] == locked(installed)
    assert receipt["packages"]["torch"] == "2.10.0"


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
    assert (current(host), link(host, "previous")) == (first, second)
    report = json.loads((host.reports / f"{host.name}.json").read_text())
    assert (report["environment_id"], report["verdict"] == "fail") == (first, False)
    assert run_python(host, "import sys; print(sys.prefix)") == f"{ENVIRONMENTS}/{first}"

    # If the environment is named, a second run has nothing to do.
    assert back(host, rollback_environment_id=first).succeeded().changed == 0
    back(host).succeeded()
    assert (current(host), link(host, "previous")) == (second, first)
    assert f"{ENVIRONMENTS}/{second}/bin/python" in host.execute(f"cat {KERNEL}")
    assert host.execute(f"stat -c %i {ENVIRONMENTS}/{first} {ENVIRONMENTS}/{second}") == inodes


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_member_of_the_group_activates_and_leaves_the_environment(installed: Host, shell: str) -> None:
    installed.execute("usermod -aG sparkforge worker")
    script = (
        f"set -eu; before=$PATH; . {ROOT}/bin/activate-torch; python -c 'import sys, torch; print(sys.prefix)'; "
        'echo $VIRTUAL_ENV; deactivate; test "$PATH" = "$before"; echo ${VIRTUAL_ENV-left}'
    )
    installed.execute(f"cat > /tmp/activate <<'end'\n{script}\nend")
    environment = f"{ENVIRONMENTS}/{current(installed)}"
    assert installed.execute(f"runuser -u worker -- {shell} /tmp/activate").split() == [
        environment,
        environment,
        "left",
    ]


def test_environment_is_closed_to_accounts_outside_the_group(installed: Host) -> None:
    output = installed.execute(
        f"runuser -u nobody -- ls {ENVIRONMENTS}/ 2>&1; runuser -u nobody -- {ROOT}/bin/torch-python -V 2>&1",
        check=False,
    )
    assert output.count("Permission denied") >= 1
    assert "Python 3" not in output


@pytest.mark.long
def test_a_jupyter_kernel_runs_in_the_resolved_environment(installed: Host, ipykernel: str) -> None:
    make(installed, python_env_wheels=[ipykernel]).succeeded()
    kernel = json.loads(installed.execute(f"cat {KERNEL}"))
    environment = f"{ENVIRONMENTS}/{current(installed)}"
    assert kernel["argv"][0] == f"{environment}/bin/python"
    assert kernel["env"]["VIRTUAL_ENV"] == environment
    command = " ".join(kernel["argv"]).format(connection_file="/tmp/none")
    assert installed.execute(f"VIRTUAL_ENV={kernel['env']['VIRTUAL_ENV']} {command}").split() == [
        environment,
        environment,
    ]
    assert make(installed, "--diff", python_env_wheels=[ipykernel]).succeeded().changed == 0

    # A value passed as -e name=value is text, and must still mean false.
    make(installed, "-e", "python_env_jupyter=false", python_env_wheels=[ipykernel]).succeeded()
    assert installed.execute(f"test -e {os.path.dirname(KERNEL)} || echo gone") == "gone"
    assert run_python(installed, "import ipykernel_launcher").split() == [environment, environment]


@pytest.mark.long
def test_an_unprivileged_user_makes_an_environment_of_their_own(installed: Host, ipykernel: str) -> None:
    before = installed.contents()
    own = {"sparkforge_root": "/home/worker/sparkforge", "python_env_group": "", "python_env_jupyter": False}
    # The copied files belong to the user who logs in, who then becomes another user.
    own |= {"ansible_become_user": "worker", "python_env_wheels": [ipykernel]}
    make(installed, **own).succeeded()
    assert make(installed, **own).succeeded().changed == 0
    used = installed.execute(
        "runuser -u worker -- /home/worker/sparkforge/bin/torch-python -c 'import torch, ipykernel'"
    )
    assert used == ""
    assert installed.execute("find /home/worker/sparkforge ! -user worker") == ""
    make(installed, python_env_state="absent", **own).succeeded()
    assert installed.execute("ls /home/worker") == ""
    assert installed.contents() == before
