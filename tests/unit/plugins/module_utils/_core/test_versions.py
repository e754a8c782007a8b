"""Versions: their numbers and their order."""

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import versions


@pytest.mark.parametrize(
    ("lower", "higher"),
    [("0.8.0.9", "0.8.0.10"), ("0.9", "0.10"), ("1.0.0", "1.0.0.1"), ("1.0-rc1", "1.0.1")],
)
def test_versions_are_ordered_by_their_numbers(lower: t.Any, higher: t.Any) -> None:
    assert versions.numbers(lower) < versions.numbers(higher)


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("2.9.1+cu130", (2, 9, 1)),
        ("580.159.04", (580, 159, 4)),
        ("20", (20,)),
        ("2.10.0a0+git1234", (2, 10, 0)),
        ("none", ()),
    ],
)
def test_the_numbers_are_those_that_a_version_begins_with(version: str, found: tuple[int, ...]) -> None:
    assert versions.numbers(version) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.9.1+cu130", (2, 9, 1)),
        ("v2.10.0a0", (2, 10, 0)),
        ("580.65.06-0ubuntu1", (580, 65, 6)),
        ("9.13.0~rc1", (9, 13, 0)),
        (" 24.04.2 LTS", (24, 4, 2)),
        ("main", ()),
        ("", ()),
    ],
)
def test_numbers_of_hosts_and_stacks_are_read_alike(text: str, expected: tuple[int, ...]) -> None:
    assert versions.numbers(text) == expected
