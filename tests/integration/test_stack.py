# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A site's own stack and its lock, from the inventory to the facts."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.conftest import Bench, Host, Play


@pytest.fixture(scope="module")
def host(bench: Bench) -> Host:
    return bench.fresh()


@pytest.fixture
def site(host: Host) -> Iterator[Path]:
    """A stack of the site's own, with the lock of the lab's, in the inventory's folders."""
    stack, lock = host.inventory / "stacks/site.yml", host.inventory / "locks/site.yml"
    stack.write_text((host.inventory / "stacks/lab-native.yml").read_text().replace("The test bench", "Our site"))
    lock.write_text((host.inventory / "locks/lab-native.yml").read_text().replace("lab-native", "site"))
    yield stack
    stack.unlink(missing_ok=True)
    lock.unlink(missing_ok=True)


def lock(host: Host, *arguments: str, **variables: t.Any) -> Play:
    """Resolve the stack ``site`` as the bench resolves the lab's: this machine knows the mirror by its address."""
    here = {"sparkforge_nvidia_url": host.mirror["url_here"], "stack_lock_find_links": [host.mirror["wheels"]]}
    return host.run("lock", *arguments, stack_name="site", stack_lock_host=host.name, **here, **variables)


def lock_file(host: Host) -> Path:
    return host.inventory / "locks/site.yml"


def test_a_stack_beside_the_inventory_becomes_facts_without_a_call_to_the_host(host: Host, site: Path) -> None:
    before = host.execute("ls -d /home/spark/.ansible 2>/dev/null || true")
    play = host.roles(arguments=["-v"], stack_name="site").succeeded()
    assert play.changed == 0
    assert "Our site" in play.text
    assert str(site) in play.text
    assert host.execute("ls -d /home/spark/.ansible 2>/dev/null || true") == before


def test_a_definition_of_the_site_wins_over_the_shipped_one_of_the_same_name(host: Host, site: Path) -> None:
    name = "torch-2.15.0"
    own = [host.inventory / f"stacks/{name}.yml", host.inventory / f"locks/{name}.yml"]
    own[0].write_text(site.read_text())
    own[1].write_text(lock_file(host).read_text().replace("stack: site", f"stack: {name}"))
    try:
        play = host.roles(arguments=["-v"], stack_name=name).succeeded()
    finally:
        for path in own:
            path.unlink()
    assert "Our site" in play.text
