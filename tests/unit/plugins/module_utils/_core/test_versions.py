"""Versions: their numbers and their order."""

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import versions


@pytest.mark.parametrize(
    ("lower", "higher"), [("0.8.0.9", "0.8.0.10"), ("0.9", "0.10"), ("1.0.0", "1.0.0.1"), ("1.0-rc1", "1.0.1")]
)
def test_versions_are_ordered_by_number(lower: t.Any, higher: t.Any) -> None:
    assert versions.numbers(lower) < versions.numbers(higher)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.9.1+cu130", (2, 9, 1)), ("v2.10.0a0+git1234", (2, 10, 0)), ("580.65.06-0ubuntu1", (580, 65, 6)),
        ("9.13.0~rc1", (9, 13, 0)), (" 24.04.2 LTS", (24, 4, 2)), ("20", (20,)), ("none", ()), ("", ()),
    ],
)  # fmt: skip
def test_leading_numbers_of_version(text: str, expected: tuple[int, ...]) -> None:
    assert versions.numbers(text) == expected


@pytest.mark.parametrize(
    ("version", "minimum", "expected"),
    [
        ("3.9", "3.10", True), ("13.0", "13.0.0", False), ("13.0.1", "13.0", False), ("580.65.06", "580.65.6", False),
        ("", "580.65.06", True), ("580.95.05-0ubuntu1", "580.65.06", False),
    ],
)  # fmt: skip
def test_older_version(version: str, minimum: str, expected: bool) -> None:
    assert versions.older(version, minimum) is expected
