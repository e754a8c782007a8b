# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.builder import FilterModule

builder = FilterModule().filters()["builder"]
SPARK = {"os": {"id": "ubuntu", "version": "24.04"}, "kernel": {"machine": "aarch64"}}
OTHER = {"os": {"id": "ubuntu", "version": "24.04"}, "kernel": {"machine": "x86_64"}}
#: In the order of the inventory.
KINDS = {"gpu01": OTHER, "spark01": SPARK, "spark02": SPARK, "spark03": SPARK, "gpu02": OTHER}


def elect(host: str, play: list[str] | None = None, builders: list[str] | None = None) -> dict[str, t.Any]:
    """Return what the filter says in a play of these hosts; those outside it were not observed."""
    playing = list(KINDS) if play is None else play
    hostvars: dict[str, t.Any] = {
        name: {"ansible_facts": {"spark_info": kind} if name in playing else {}} for name, kind in KINDS.items()
    }
    groups = {"all": list(KINDS), **({"builders": builders} if builders else {})}
    return t.cast("dict[str, t.Any]", builder(host, groups, playing, hostvars))


def test_the_first_host_of_the_platform_in_the_inventory_builds() -> None:
    assert [host for host in KINDS if elect(host)["here"]] == ["gpu01", "spark01"]
    assert elect("spark03")["name"] == "spark01"
    assert elect("spark03")["platform"] == "ubuntu24.04-aarch64"
    assert elect("spark03")["reason"].startswith("spark03 builds nothing, spark01 builds for ubuntu24.04-aarch64")


def test_the_group_builders_comes_before_the_order_of_the_inventory() -> None:
    assert [host for host in KINDS if elect(host, builders=["spark03"])["here"]] == ["gpu01", "spark03"]
    assert "group builders" in elect("spark03", builders=["spark03"])["reason"]


def test_the_order_of_the_play_changes_nothing() -> None:
    assert elect("spark02", play=["spark03", "spark02", "spark01"])["name"] == "spark01"


def test_outside_the_play_the_first_of_the_platform_in_it_builds_and_the_reason_says_so() -> None:
    limited = elect("spark02", play=["spark02", "spark03"])
    assert limited["here"] is True
    assert "gpu01 comes before it in the inventory and is outside this play" in limited["reason"]
    named = elect("spark02", play=["spark02", "spark03"], builders=["spark01"])
    assert named["here"] is True
    assert "the group builders has spark01, outside this play" in named["reason"]
    assert elect("spark03", play=["spark02", "spark03"], builders=["spark01"])["name"] == "spark02"


def test_a_builder_of_another_platform_builds_for_its_own_alone() -> None:
    assert elect("spark02", builders=["gpu02"])["name"] == "spark01"
    assert elect("gpu01", builders=["gpu02"])["name"] == "gpu02"


def test_a_host_that_was_not_observed_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match=r"Run sparkforge\.dgx_spark\.spark_info"):
        builder("spark09", {"all": ["spark09"]}, ["spark09"], {"spark09": {}})
