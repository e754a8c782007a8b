# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fleet's names, inventory and sources; what needs containers is in tests/fleet."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lab import faults, fleet
from lab.bench import Bench
from lab.host import LabError, repositories
from lab.repositories import Repository


def test_hosts_are_numbered_from_one():
    assert fleet.names(3) == ["spark01", "spark02", "spark03"]
    assert fleet.names(16)[-1] == "spark16"


@pytest.mark.parametrize("count", [0, -1])
def test_a_fleet_of_nobody_is_refused(count: int):
    with pytest.raises(LabError, match="Set HOSTS to 1 or more"):
        fleet.names(count)


def test_the_inventory_has_each_host_in_the_groups_lab_and_fleet(tmp_path: Path):
    fleet.write_hosts(Bench("mine", "native", {"spark02": "b", "spark01": "a"}), tmp_path)
    lab = yaml.safe_load((tmp_path / "fleet.yml").read_text())["all"]["children"]["lab"]
    assert lab["children"]["fleet"]["hosts"] == {"spark01": None, "spark02": None}


def test_every_stack_has_its_tag_and_one_release_alone_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path))
    asked: list[str] = []
    monkeypatch.setattr(fleet, "run", lambda *words: asked.append(str(words[-1])))
    fleet.make_sources()
    repository = Repository(repositories() / fleet.REPOSITORY)
    for stack in fleet.STACKS.values():
        files = repository.git("ls-tree", "-r", "--name-only", stack.tag).splitlines()
        assert {"setup.py", "csrc/fleet.c", "csrc/release.h"} <= set(files)
        assert ("wrong.py" in files) is (stack.tag == fleet.WRONG)
    assert sorted(asked) == sorted({f"typing-extensions=={stack.beside}" for stack in fleet.STACKS.values()})


def test_the_sources_stay_where_they_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SPARKFORGE_CACHE", str(tmp_path))
    monkeypatch.setattr(fleet, "run", lambda *words: None)
    fleet.make_sources()
    made = (repositories() / fleet.REPOSITORY).stat().st_ino
    fleet.make_sources()
    assert (repositories() / fleet.REPOSITORY).stat().st_ino == made


def test_the_rate_of_no_link_but_a_containers_is_changed(monkeypatch: pytest.MonkeyPatch):
    """What was taken for the container's end of a link once was this machine's own."""
    ran: list[tuple[str, ...]] = []

    class Done:
        stdout = "2: eth0: <UP> mtu 1500\n"

    monkeypatch.setattr(faults, "_in", lambda *words, **options: "9: eth0@if2: <UP> mtu 1500")
    monkeypatch.setattr(faults, "run", lambda *words, **options: ran.append(words) or Done())
    with pytest.raises(LabError, match="no container's"):
        faults.throttle(Bench("mine", "native", {"spark01": "a"}), "spark01", 8000)
    assert [words[0] for words in ran] == ["ip"]
