# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.line import describe


def test_the_line_is_that_of_the_design() -> None:
    state = {
        "name": "pytorch",
        "phase": "build",
        "done": 4231,
        "total": 6231,
        "elapsed": 3731.4,
        "remaining": 1735.0,
        "jobs": 9,
        "available_mib": 41 * 1024 + 300,
    }
    line = "pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, about 0:29 left | 9 jobs, 41 GiB free"
    assert describe(state) == line


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ({}, ""),
        ({"name": "llvm", "phase": "fetch", "elapsed": 5}, "llvm | fetch | 0:00:05 elapsed"),
        ({"name": "a", "phase": "build", "done": 0, "total": 0, "jobs": 1}, "a | build | 1 job"),
        ({"name": "a", "phase": "build", "done": 42, "total": 100, "unit": "percent"}, "a | build 42 %"),
        ({"done": 6230, "total": 6231}, "6230/6231 (99 %)"),
        ({"done": 6231, "total": 6231}, "6231/6231 (100 %)"),
        ({"remaining": 59.0}, "less than a minute left"),
        ({"remaining": 7260.0}, "about 2:01 left"),
        ({"name": "a", "remaining": None, "available_mib": 0}, "a | 0 GiB free"),
        ({"elapsed": 90061}, "25:01:01 elapsed"),
    ],
)
def test_what_is_not_known_is_left_out(state: dict[str, t.Any], line: str) -> None:
    assert describe(state) == line
