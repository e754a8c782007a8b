"""The filter builder elects the host that builds for a platform."""

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

builder = FilterModule().filters()["builder"]
SPARK = "ubuntu24.04-aarch64"
OTHER = "ubuntu24.04-x86_64"
#: Each host's platform, in the order of the inventory.
PLATFORMS = {"gpu01": OTHER, "spark01": SPARK, "spark02": SPARK, "spark03": SPARK, "gpu02": OTHER}
PUBLISHED = {"host": "spark01", "stack": "torch-2.9.1", "written": "2026-11-21T10:00:00Z"}


def elect(host: str, play=None, builders=None, lost=(), published=None) -> dict[str, t.Any]:
    """Return the filter's result for a play with these hosts; lost hosts and hosts outside it were not observed."""
    playing = list(PLATFORMS) if play is None else play
    reached = [name for name in playing if name not in lost]
    platforms = {name: kind for name, kind in PLATFORMS.items() if name in reached}
    groups = {"all": list(PLATFORMS), **({"builders": builders} if builders else {})}
    return t.cast("dict[str, t.Any]", builder(host, groups, playing, platforms, reached, found=published))


def test_the_first_host_of_the_platform_in_the_inventory_builds() -> None:
    assert [host for host in PLATFORMS if elect(host)["here"]] == ["gpu01", "spark01"]
    assert elect("spark03")["name"] == "spark01"
    assert elect("spark03")["platform"] == "ubuntu24.04-aarch64"
    assert elect("spark03")["reason"].startswith("spark03 builds nothing, spark01 builds for ubuntu24.04-aarch64")


def test_the_group_builders_comes_before_the_order_of_the_inventory() -> None:
    assert [host for host in PLATFORMS if elect(host, builders=["spark03"])["here"]] == ["gpu01", "spark03"]
    assert "group builders" in elect("spark03", builders=["spark03"])["reason"]


def test_the_order_of_the_play_changes_nothing() -> None:
    assert elect("spark02", play=["spark03", "spark02", "spark01"])["name"] == "spark01"


def test_the_first_host_in_the_play_builds_if_the_elected_one_is_outside() -> None:
    limited = elect("spark02", play=["spark02", "spark03"])
    assert limited["here"] is True
    assert "gpu01 comes before" in limited["reason"]
    named = elect("spark02", play=["spark02", "spark03"], builders=["spark01"])
    assert named["here"] is True
    assert "group builders has spark01" in named["reason"]
    assert elect("spark03", play=["spark02", "spark03"], builders=["spark01"])["name"] == "spark02"


def test_a_builder_builds_only_for_its_platform() -> None:
    assert elect("spark02", builders=["gpu02"])["name"] == "spark01"
    assert elect("gpu01", builders=["gpu02"])["name"] == "gpu02"


def test_a_host_that_was_not_observed_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match=r"Run sparkforge\.dgx_spark\.spark_info"):
        builder("spark09", {"all": ["spark09"]}, ["spark09"], {})


def test_a_build_published_by_a_host_outside_the_play_is_not_repeated() -> None:
    limited = elect("spark02", play=["spark02", "spark03"], builders=["spark01"], published=PUBLISHED)
    assert (limited["here"], limited["name"]) == (False, "spark01")
    assert limited["reason"] == (
        "spark02 builds nothing: spark01 built torch-2.9.1 for ubuntu24.04-aarch64 already, on 2026-11-21."
    )
    assert elect("spark02", play=["spark02"], published=PUBLISHED)["here"] is False


def test_the_builder_in_the_play_builds_despite_a_published_build() -> None:
    assert elect("spark01", builders=["spark01"], published={**PUBLISHED, "host": "spark03"})["here"] is True
    # A published build on another host does not change that.
    assert elect("spark01", play=["spark01", "spark02"], published=PUBLISHED)["here"] is True


def test_an_unreachable_builder_counts_as_outside_the_play() -> None:
    assert elect("spark02", lost=["spark01"])["here"] is True
    assert "play or unreachable" in elect("spark02", lost=["spark01"])["reason"]
    assert elect("spark02", lost=["spark01"], published=PUBLISHED)["here"] is False
    assert elect("spark02", lost=["spark01"], builders=["spark01"], published=PUBLISHED)["here"] is False
    # An unreachable builder is not queried.
    assert elect("spark02", lost=["spark01"])["outside"] == []


def test_preferred_builders_outside_the_play_are_queried_in_order() -> None:
    last = elect("spark03", play=["spark03"], builders=["spark02", "spark01", "spark03"])
    assert last["outside"] == ["spark02", "spark01"]
    assert elect("spark03", play=["spark03"])["outside"] == ["gpu01", "spark01", "spark02"]
    assert elect("gpu02", play=["gpu02"])["outside"] == ["gpu01", "spark01", "spark02"]
    assert elect("spark01")["outside"] == []


def test_a_second_builder_queries_the_first() -> None:
    second = elect("spark02", play=["spark02", "spark03"], builders=["spark01", "spark02"])
    assert (second["here"], second["outside"]) == (True, ["spark01"])
    assert elect("spark02", play=["spark02"], builders=["spark01", "spark02"], published=PUBLISHED)["here"] is False


def test_builders_without_the_platform_are_refused() -> None:
    for host in ("spark01", "gpu01"):
        with pytest.raises(AnsibleFilterError, match=r"builders has gpu01 \(ubuntu24.04-x86_64\).*none of its hosts"):
            elect(host, play=["gpu01", "spark01", "spark02"], builders=["gpu01"])
    # If the play contains only this builder, it builds for itself.
    assert elect("gpu01", play=["gpu01"], builders=["gpu01"])["here"] is True
    # A host in the group that was not observed may have the right platform.
    assert elect("spark02", play=["gpu01", "spark02"], builders=["gpu01", "spark01"])["outside"] == ["spark01"]
