"""No check fails on a sound environment. Each run is a proof as a user's is, with the same seeds."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from sparkforge_proof import catalogue

from proof.tests.environment import Environment

#: benchmarks/proof makes 20 of its own, `make test-long` two more than `make test`, and one of them with the compiler,
#: which takes a third of the time and has a fault of its own in test_faults.py.
ASKED = os.environ.get("SPARKFORGE_HEALTHY_RUNS")
RUNS = int(ASKED or "3")
WHOLE = range(1, RUNS + 1) if ASKED else range(2, 3)


@pytest.fixture(scope="module")
def environment(copies: Callable[[], Environment]) -> Environment:
    return copies()


@pytest.mark.parametrize(
    "run", [pytest.param(run, marks=[pytest.mark.long] if run > 1 and not ASKED else []) for run in range(1, RUNS + 1)]
)
def test_nothing_fails_on_a_sound_environment(environment: Environment, run: int) -> None:
    patterns = [] if run in WHOLE else [name for name in catalogue.CHECKS if not name.startswith("cpu.compilation.")]
    report = environment.prove(*patterns)
    failed = {row["name"]: row["cause"] for row in report["checks"] if row["status"] == "fail"}
    assert failed == {}
    assert (report["verdict"], report["scope"]) == ("proven", "cpu")
    assert all(row["cause"] for row in report["checks"] if row["status"] == "skip")
