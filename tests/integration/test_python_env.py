"""The environment on a host: created from wheels with hashes, switched, used by people, and removed."""

import hashlib
import json
import os
import platform
import typing as t

import pytest
import yaml

from lab import bench as benches, stand_ins
from tests.integration.conftest import Bench, Host, Play

ROOT = "/opt/sparkforge"
ENVIRONMENTS = f"{ROOT}/envs/torch"
KERNEL = "/usr/local/share/jupyter/kernels/sparkforge-torch/kernel.json"


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    """A host that trusts the mirror, with the packages from the role build_toolchain that an environment needs."""
    fresh = bench.fresh()
    fresh.roles("network_access").succeeded()
    fresh.execute("apt-get -qq update && apt-get -qq install --no-install-recommends -y python3-venv")
    fresh.execute("useradd --create-home worker")
    return fresh


@pytest.fixture(scope="module")
def factory(host: Host) -> list[str]:
    """The host's state before the first run."""
    return host.contents()


@pytest.fixture
def installed(host: Host, factory: list[str]) -> Host:
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


def make(host: Host, *arguments: str, **variables: t.Any) -> Play:
    return host.roles("python_env", arguments=arguments, **variables)


def current(host: Host) -> str:
    return host.execute(f"readlink {ENVIRONMENTS}/current || true")


def run_python(host: Host, code: str) -> str:
    return host.execute(f"{ROOT}/bin/torch-python -c '{code}'")


def locked(host: Host, **versions: str) -> list[str]:
    """Return the lock's requirements, some of them with another version that the mirror also has."""
    lock = yaml.safe_load((host.inventory / "locks/lab-native.yml").read_text())["stack_lock"]
    lines = {line.split("==")[0]: line for line in lock["wheels"][f"cp313-linux-{platform.machine()}"]}
    for name, version in versions.items():
        wheel = benches.mirror_tree("native") / f"wheels/{name}-{version}-py3-none-any.whl"
        lines[name] = f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    return list(lines.values())


def test_the_environment_comes_from_the_lock_and_a_second_run_changes_nothing(installed: Host) -> None:
    assert make(installed, "--diff").succeeded().changed == 0
    assert make(installed, "--check", "--diff").succeeded().changed == 0
    assert run_python(installed, "import sys; print(sys.prefix)") == f"{ENVIRONMENTS}/{current(installed)}"
    receipt = json.loads(installed.execute(f"cat {ROOT}/receipts/env-torch.json"))
    assert receipt["requirements"] == locked(installed)
    assert receipt["packages"]["torch"] == "2.10.0"


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
