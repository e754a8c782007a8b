"""Versions: their numbers, their order, and bounds."""

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
    ("version", "specifier", "within"),
    [
        ("2.15.0+cu132", "==2.15.0", True),
        ("2.15.0", "==2.15", True),
        ("2.15.1", "==2.15.0", False),
        ("2.15.0+cu132", "==2.15.0+cpu", False),
        ("2.15.0+cpu", "==2.15.0+cpu", True),
        ("2.9.1", ">=2.14.0", False),
        ("2.14.1", ">=2.9", True),
        ("3.9.2", "~=3.9.0", True),
        ("3.10.0", "~=3.9.0", False),
        ("3.9.0", "~=3.9.1", False),
        ("3.10.0", "~=3.9", True),
        ("13.0.96", "<14,>=13.0.3", True),
        ("14.0", "<14,>=13.0.3", False),
        ("8.3.1", "!=8.3.*,>=5.3.0", False),
        ("8.30.1", "!=8.3.*", True),
        ("8.3.1", "==8.3.*", True),
        ("2.8.3.post1", ">2.8.3", True),
        ("2.8.3.post1", "==2.8.3", False),
        ("2.15.0a0", ">=2.15.0", False),
        ("2.15.0rc1", ">2.15.0a0", True),
        ("2.15.0.dev20261101", "<2.15.0a0", True),
        ("2.15.0", "===2.15.0", True),
        ("2.15.0", "", True),
        ("unknown", ">=1", True),
    ],
)
def test_versions_are_compared_as_pip_does(version: str, specifier: str, within: bool) -> None:
    assert versions.satisfies(version, specifier) is within


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
