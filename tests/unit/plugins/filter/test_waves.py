# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.filter.fleet import FilterModule

waves = FilterModule().filters()["waves"]


def hosts(count: int) -> list[str]:
    return [f"spark{number:02d}" for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("count", "definition", "expected"),
    [
        (16, [1, "25%", "rest"], [1, 4, 11]),
        (1, [1, "25%", "rest"], [1]),
        (2, [1, "25%", "rest"], [1, 1]),
        (16, ["100%"], [16]),
        (16, "rest", [16]),
        (3, [5, "rest"], [3]),
        (30, [1, "10%", "50%", "rest"], [1, 3, 15, 11]),
        (16, "1, 25%, rest", [1, 4, 11]),
        (16, "[1, '25%', rest]", [1, 4, 11]),
        (16, ["4", 12], [4, 12]),
        (4, 4, [4]),
        (7, ["10%", "rest"], [1, 6]),
        (0, [1, "rest"], [1]),
    ],
)
def test_waves_are_taken_from_what_is_left(count: int, definition: t.Any, expected: list[int]) -> None:
    assert waves(hosts(count), definition) == expected


def test_one_canary_then_a_quarter_then_the_others_where_nothing_is_said() -> None:
    assert waves(hosts(16)) == [1, 4, 11]


@pytest.mark.parametrize(
    ("definition", "cause"),
    [
        ([1, 3], "hold 4 of 16 hosts: 12 would never be reached"),
        (["25%", "25%"], "hold 8 of 16 hosts"),
        ([1, "60%", "60%"], "add up to 120 %"),
        (["rest", 1], "no hosts are left after rest"),
        ([0, "rest"], "0 is not a wave size"),
        ([-1, "rest"], "-1 is not a wave size"),
        (["150%"], "150% is not a wave size"),
        (["0%", "rest"], "0% is not a wave size"),
        ([1.5, "rest"], "1.5 is not a wave size"),
        ([True, "rest"], "True is not a wave size"),
        (["one"], "one is not a wave size"),
        ([], "names no wave"),
        ("", "names no wave"),
        (None, "names no wave"),
        ({"first": 1}, "names no wave"),
    ],
)
def test_a_definition_that_does_not_add_up_is_refused_with_what_to_set(definition: t.Any, cause: str) -> None:
    with pytest.raises(AnsibleFilterError, match="sparkforge_waves") as caught:
        waves(hosts(16), definition)
    assert cause in str(caught.value)
