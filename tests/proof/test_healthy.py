# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No check fails on a sound environment. Each run is a whole proof as a user's is, with the same seeds."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.proof.environment import Environment

#: In `make test`; benchmarks/proof asks for 20.
RUNS = int(os.environ.get("SPARKFORGE_HEALTHY_RUNS", "3"))


@pytest.fixture(scope="module")
def environment(copies: Callable[[], Environment]) -> Environment:
    return copies()


@pytest.mark.parametrize("run", range(1, RUNS + 1))
def test_nothing_fails_on_a_sound_environment(environment: Environment, run: int) -> None:
    report = environment.prove()
    failed = {row["name"]: row["cause"] for row in report["checks"] if row["status"] == "fail"}
    assert failed == {}
    assert (report["verdict"], report["scope"]) == ("proven", "cpu")
    assert all(row["cause"] for row in report["checks"] if row["status"] == "skip")
