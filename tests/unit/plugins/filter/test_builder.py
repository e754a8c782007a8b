import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

builder = FilterModule().filters()["builder"]
SPARK = "ubuntu24.04-aarch64"
OTHER = "ubuntu24.04-x86_64"
#: In the order of the inventory.
KINDS = {"gpu01": OTHER, "spark01": SPARK, "spark02": SPARK, "spark03": SPARK, "gpu02": OTHER}


FOUND = {"host": "spark01", "stack": "torch-2.9.1", "written": "2026-11-21T10:00:00Z"}


def elect(
    host: str,
    play: list[str] | None = None,
    builders: list[str] | None = None,
    lost: t.Collection[str] = (),
    found: dict[str, str] | None = None,
) -> dict[str, t.Any]:
    """Return what the filter says in a play of these hosts; those outside it, and lost ones, were not observed."""
    playing = list(KINDS) if play is None else play
    reached = [name for name in playing if name not in lost]
    platforms = {name: kind for name, kind in KINDS.items() if name in reached}
    groups = {"all": list(KINDS), **({"builders": builders} if builders else {})}
    return t.cast("dict[str, t.Any]", builder(host, groups, playing, platforms, reached, found))


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
    assert "gpu01 comes before it in the inventory and is not in this play" in limited["reason"]
    named = elect("spark02", play=["spark02", "spark03"], builders=["spark01"])
    assert named["here"] is True
    assert "the group builders has spark01, not in this play" in named["reason"]
    assert elect("spark03", play=["spark02", "spark03"], builders=["spark01"])["name"] == "spark02"


def test_a_builder_of_another_platform_builds_for_its_own_alone() -> None:
    assert elect("spark02", builders=["gpu02"])["name"] == "spark01"
    assert elect("gpu01", builders=["gpu02"])["name"] == "gpu02"


def test_a_host_that_was_not_observed_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match=r"Run sparkforge\.dgx_spark\.spark_info"):
        builder("spark09", {"all": ["spark09"]}, ["spark09"], {})


def test_what_the_builder_outside_the_play_built_is_built_by_nobody_again() -> None:
    limited = elect("spark02", play=["spark02", "spark03"], builders=["spark01"], found=FOUND)
    assert (limited["here"], limited["name"]) == (False, "spark01")
    assert limited["reason"] == (
        "spark02 builds nothing: spark01 built torch-2.9.1 for ubuntu24.04-aarch64 already, on 2026-11-21."
    )
    assert elect("spark02", play=["spark02"], found=FOUND)["here"] is False


def test_the_builder_in_the_play_builds_whatever_is_known() -> None:
    assert elect("spark01", builders=["spark01"], found={**FOUND, "host": "spark03"})["here"] is True
    # A host of another platform, or of none that is known, does not make another one of it.
    assert elect("spark01", play=["spark01", "spark02"], found=FOUND)["here"] is True


def test_a_builder_that_cannot_be_reached_is_as_one_outside_the_play() -> None:
    assert elect("spark02", lost=["spark01"])["here"] is True
    assert "not in this play or unreachable" in elect("spark02", lost=["spark01"])["reason"]
    assert elect("spark02", lost=["spark01"], found=FOUND)["here"] is False
    assert elect("spark02", lost=["spark01"], builders=["spark01"], found=FOUND)["here"] is False
    # It does not answer, so that it is not asked either.
    assert elect("spark02", lost=["spark01"])["outside"] == []


def test_who_would_rather_build_is_asked_in_order_and_not_everybody() -> None:
    assert elect("spark03", play=["spark03"], builders=["spark02", "spark01", "spark03"])["outside"] == [
        "spark02",
        "spark01",
    ]
    assert elect("spark03", play=["spark03"])["outside"] == ["gpu01", "spark01", "spark02"]
    assert elect("gpu02", play=["gpu02"])["outside"] == ["gpu01", "spark01", "spark02"]
    assert elect("spark01")["outside"] == []


def test_a_second_builder_asks_the_first_one() -> None:
    second = elect("spark02", play=["spark02", "spark03"], builders=["spark01", "spark02"])
    assert (second["here"], second["outside"]) == (True, ["spark01"])
    assert elect("spark02", play=["spark02"], builders=["spark01", "spark02"], found=FOUND)["here"] is False


def test_builders_that_can_build_for_nobody_are_refused() -> None:
    for host in ("spark01", "gpu01"):
        with pytest.raises(AnsibleFilterError, match=r"builders has gpu01 \(ubuntu24.04-x86_64\).*none of its hosts"):
            elect(host, play=["gpu01", "spark01", "spark02"], builders=["gpu01"])
    # Alone in the play it builds for itself.
    assert elect("gpu01", play=["gpu01"], builders=["gpu01"])["here"] is True
    # With another one in the group of which nothing is known, that one may be the right one.
    assert elect("spark02", play=["gpu01", "spark02"], builders=["gpu01", "spark01"])["outside"] == ["spark01"]
