# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Versions as hosts and stacks write them."""

from __future__ import annotations

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.versions import older


@pytest.mark.parametrize(
    ("version", "minimum", "expected"),
    [
        ("3.9", "3.10", True),
        ("13.0", "13.0.0", False),
        ("13.0.1", "13.0", False),
        ("580.65.06", "580.65.6", False),
        ("", "580.65.06", True),
        ("580.95.05-0ubuntu1", "580.65.06", False),
    ],
)
def test_the_older_of_two_is_told_by_number(version: str, minimum: str, expected: bool) -> None:
    assert older(version, minimum) is expected
