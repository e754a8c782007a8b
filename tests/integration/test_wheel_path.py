"""The site with official wheels, as shipped: the changes to the host, the number of remote calls, and the removal.

test_site.py also installs NVIDIA's libraries. docs/evidence/wheel-path.md has the figures.
"""

import json
import re
from dataclasses import dataclass

import pytest

from tests.integration.conftest import Bench, Host, Play

pytestmark = pytest.mark.long

WHEELS = {"stack_libraries": "auto"}
#: Packages the host needs only for builds.
FOR_BUILDS = re.compile(
    r"(cuda|nvidia|nvpl|clang|llvm|lld|cmake|ninja|ccache|patchelf|lib(cu(blas|dnn|dss|sparse|solver|fft|rand|file)|nccl|clang|llvm))"
)


@dataclass
class Provisioned:
    """A host with official wheels, its previous state, and the runs of the site on it."""

    host: Host
    packages: set[str]
    contents: list[str]
    first: Play
    second: Play


@pytest.fixture(scope="module")
def wheels(bench: Bench) -> Provisioned:
    host = bench.fresh()
    packages, contents = set(host.snapshot()["packages"]), host.contents()
    first, second = (host.run("site", "-vvv", **WHEELS) for _number in range(2))
    return Provisioned(host, packages, contents, first, second)


def calls(play: Play) -> list[str]:
    return re.findall(r"Using module file \S*/modules/(\S+)\.py", play.output)


def test_host_gets_only_what_the_wheels_lack(wheels: Provisioned) -> None:
    wheels.first.succeeded()
    added = {line.split()[0] for line in set(wheels.host.snapshot()["packages"]) - wheels.packages}
    assert {"build-essential", "python3.13-dev", "python3.13-venv"} <= added
    assert [name for name in added if FOR_BUILDS.match(name)] == []
    root = wheels.host.execute("ls /opt/sparkforge /etc/ld.so.conf.d /etc/apt/sources.list.d /etc/apt/apt.conf.d")
    assert "redist" not in root and "sparkforge-nvidia" not in root and "keep-dgx" not in root


def test_each_downloaded_wheel_is_reported(wheels: Provisioned) -> None:
    for line in json.loads(wheels.host.execute("cat /opt/sparkforge/receipts/env-torch.json"))["requirements"]:
        name = line.split("==")[0].replace("-", "_")
        assert re.search(
            rf"^{wheels.host.name} \| torch \| {name}-\S+\.whl, \d+\.\d MB$", wheels.first.output, re.M | re.I
        )


def test_a_second_run_changes_nothing_in_three_calls(wheels: Provisioned) -> None:
    assert wheels.second.succeeded().changed == 0
    assert len(calls(wheels.second)) == 3, calls(wheels.second)


def test_uninstalling_leaves_the_host_as_it_was(wheels: Provisioned) -> None:
    wheels.host.run("uninstall", **WHEELS).succeeded()
    assert wheels.host.contents() == wheels.contents
    assert set(wheels.host.snapshot()["packages"]) == wheels.packages
