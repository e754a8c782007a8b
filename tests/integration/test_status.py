"""playbooks/status.yml on a host in its factory state, provisioned, or drifted: its output, which site.yml confirms."""

import json
import re
import typing as t
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.integration.conftest import Host, Play

ROOT = "/opt/sparkforge"
#: A package that the role build_toolchain installs and that no other package needs.
REMOVED = "ninja-build"


def state_of(play: Play) -> dict[str, t.Any]:
    """Return the JSON that the play printed."""
    line = next(line for line in play.output.splitlines() if line.startswith('{"check_mode"'))
    return json.loads(line)


def row_of(host: Host, *arguments: str) -> dict[str, t.Any]:
    state = state_of(host.run("status", *arguments, status_format="json").succeeded())
    assert state["summary"]["hosts"] == 1
    return state["hosts"][0]


@pytest.fixture(scope="module")
def compared(provisioned: Host) -> Play:
    """Status of a host that the site has just provisioned."""
    return provisioned.run("status", "-vvv").succeeded()


@dataclass
class Drifted:
    """Status of a host that was changed by hand, and the changes that the site would make."""

    play: Play
    row: dict[str, t.Any]
    site: Play
    mended: dict[str, t.Any]


@pytest.fixture(scope="module")
def drifted(provisioned: Host) -> Drifted:
    """A host without one package and one part of the environment."""
    part, aside = f"$(echo {ROOT}/envs/torch/current/lib/python3*/site-packages)/sympy", "/srv/sympy"
    provisioned.execute(f"apt-get -qq remove -y {REMOVED} && mv {part} {aside}")
    try:
        play, row = provisioned.run("status"), row_of(provisioned)
        site = provisioned.run("site", "--check", "--diff")
    finally:
        # Repair the host, which other tests share.
        provisioned.execute(f"mv {aside} {part} && apt-get -qq install -y {REMOVED}")
    return Drifted(play, row, site, row_of(provisioned))


def test_factory_host_lacks_everything_and_is_not_changed(host: Host) -> None:
    before = host.contents()
    play, checked = host.run("status").succeeded(), row_of(host, "--check")
    assert play.changed == 0 and host.contents() == before
    cells = rf"^{host.name} +- +- +never +- +network_access \d, cuda_libraries \d+, cusparselt 1"
    assert re.search(cells, play.output, re.M)
    assert "python_env: install environment" in play.text
    assert checked["standing"] == "changes", "check mode says the same"
    assert f"install {REMOVED}" in checked["changes"]["build_toolchain"]
    assert set(checked["changes"]) >= {"cuda_libraries", "cusparselt", "math_libraries", "python_env"}


def test_a_provisioned_host_is_as_its_stack_wants_it(provisioned: Host, compared: Play) -> None:
    before, row = provisioned.contents(), row_of(provisioned)
    current = provisioned.execute(f"readlink {ROOT}/envs/torch/current")
    assert (row["standing"], row["changes"], row["stops"], row["drift"]) == ("as wanted", {}, [], [])
    assert row["environment"]["environment_id"] == row["wanted"]["environment"] == current
    assert row["environment"]["packages"]["torch"] == "2.10.0"
    assert row["stack"] == row["wanted"]["stack"] == "lab-native"
    assert row["proof"]["verdict"] == "unproven" and row["proof"]["environment_id"] == current
    cells = rf"^{provisioned.name} +lab-native +{current} +unproven, \S.* +- +nothing$"
    assert re.search(cells, compared.output, re.M)
    assert "1 host: 1 as its stack" in compared.output
    assert provisioned.contents() == before


def test_status_costs_two_remote_calls(compared: Play) -> None:
    modules = re.findall(r"Using module file \S*/modules/(\S+)\.py", compared.output)
    assert modules == ["spark_info", "stack_status"]


@pytest.mark.long
def test_a_removed_package_and_a_damaged_environment_are_what_would_change(drifted: Drifted) -> None:
    row = drifted.row
    assert row["standing"] == "changes"
    assert row["changes"] == {
        "build_toolchain": [f"install {REMOVED}"],
        "python_env": [f"repair (sympy is missing), environment {row['environment']['environment_id']}"],
    }
    assert [change["now"] for change in row["drift"]] == ["without sympy"]
    assert f"build_toolchain: install {REMOVED}" in drifted.play.text
    assert "1 host: 1 would change." in drifted.play.output
    assert drifted.mended["standing"] == "as wanted" and drifted.mended["drift"] == []


@pytest.mark.long
def test_the_site_would_change_just_that(drifted: Drifted) -> None:
    assert drifted.site.succeeded().changed == len(drifted.row["changes"])


def test_a_host_that_cannot_be_reached_is_a_row_with_the_reason(provisioned: Host, tmp_path: Path) -> None:
    ghost = tmp_path / "ghost.yml"
    known = {"ghost": {"ansible_host": "127.0.0.1", "ansible_port": 1, "ansible_ssh_common_args": "-o BatchMode=yes"}}
    ghost.write_text(yaml.safe_dump({"all": {"children": {"lab": {"hosts": known}}}}))
    file = tmp_path / "status.json"
    play = provisioned.run(
        "status", "-i", str(ghost), "-l", f"ghost,{provisioned.name}", status_format="json", status_file=str(file)
    ).succeeded()
    state = state_of(play)
    rows = {row["host"]: row for row in state["hosts"]}
    assert rows["ghost"]["standing"] == "unreachable" and "Connection refused" in rows["ghost"]["problem"]
    assert rows[provisioned.name]["standing"] == "as wanted"
    assert state["summary"]["unreachable"] == 1
    assert json.loads(file.read_text()) == state
    alone = provisioned.run("status", "-i", str(ghost), "-l", "ghost").succeeded()
    assert re.search(r"^ghost  unreachable: .*Connection refused", alone.output, re.M)
