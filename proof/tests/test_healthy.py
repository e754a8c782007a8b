"""No check fails on a sound environment. Each run is a proof as a user's is, with the same seeds."""

import os
import time
import typing as t
from collections.abc import Callable

import pytest
from sparkforge_proof import catalogue

from proof.tests.environment import Environment

#: `make test` runs a third of the checks, a different third each day; `make test-long` runs them all three times, once
#: with the compiler, which takes a third of the time and has a fault of its own in test_faults.py.
ASKED = os.environ.get("SPARKFORGE_HEALTHY_RUNS")
RUNS = int(ASKED or "3")
WHOLE = range(1, RUNS + 1) if ASKED else range(2, 3)
DAY = int(os.environ.get("SPARKFORGE_DAY") or time.strftime("%j"))
UNCOMPILED = [name for name in catalogue.CHECKS if not name.startswith("cpu.compilation.")]


@pytest.fixture(scope="module")
def environment(copies: Callable[[], Environment]) -> Environment:
    return copies()


def failures(report: dict[str, t.Any]) -> dict[str, str]:
    """Return the cause of each check that failed; one that was skipped says why."""
    assert all(row["cause"] for row in report["checks"] if row["status"] == "skip")
    return {row["name"]: row["cause"] for row in report["checks"] if row["status"] == "fail"}


def test_healthy_environment_fails_none_of_the_checks_of_the_day(environment: Environment) -> None:
    report = environment.prove(*UNCOMPILED[DAY % 3 :: 3])
    assert failures(report) == {}
    assert sum(row["status"] == "pass" for row in report["checks"]) >= 15


@pytest.mark.long
@pytest.mark.parametrize("run", range(1, RUNS + 1))
def test_healthy_environment_is_proven(environment: Environment, run: int) -> None:
    report = environment.prove(*([] if run in WHOLE else UNCOMPILED))
    assert failures(report) == {}
    assert (report["verdict"], report["scope"]) == ("proven", "cpu")
