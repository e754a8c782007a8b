"""No check fails in a sound environment. Each run is like a user's proof, with the same seeds."""

import os
import tempfile
import time
import typing as t
from collections.abc import Callable

import pytest
from sparkforge_proof import catalogue

from proof.tests.environment import Environment

#: `make test` runs a third of the checks, a different third each day. `make test-long` runs all checks three times,
#: once including the compiler, which takes a third of the time and has its own fault in test_faults.py.
REQUESTED_RUNS = os.environ.get("SPARKFORGE_HEALTHY_RUNS")
RUNS = int(REQUESTED_RUNS or "3")
COMPILED_RUNS = range(1, RUNS + 1) if REQUESTED_RUNS else range(2, 3)
DAY = int(os.environ.get("SPARKFORGE_DAY") or time.strftime("%j"))
UNCOMPILED = [name for name in catalogue.CHECKS if not name.startswith("cpu.compilation.")]


@pytest.fixture(scope="module")
def environment(copies: Callable[[], Environment]) -> Environment:
    return copies()


def failures(report: dict[str, t.Any]) -> dict[str, str]:
    """Return the cause of each failed check, after asserting that every skipped check has a cause."""
    assert all(row["cause"] for row in report["checks"] if row["status"] == "skip")
    return {row["name"]: row["cause"] for row in report["checks"] if row["status"] == "fail"}


def test_healthy_environment_passes_checks_of_day(environment: Environment) -> None:
    report = environment.prove(*UNCOMPILED[DAY % 3 :: 3])
    assert failures(report) == {}
    assert sum(row["status"] == "pass" for row in report["checks"]) >= 15


def test_sockets_of_workers_below_a_long_tmpdir(environment: Environment, tmp_path, monkeypatch):
    directory = tmp_path / ("t" * 60)
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    rows = {row["name"]: row["status"] for row in environment.prove("cpu.chance.workers")["checks"]}
    assert rows["cpu.chance.workers"] == "pass"


@pytest.mark.long
@pytest.mark.parametrize("run", range(1, RUNS + 1))
def test_healthy_environment_is_proven(environment: Environment, run: int) -> None:
    report = environment.prove(*([] if run in COMPILED_RUNS else UNCOMPILED))
    assert failures(report) == {}
    assert (report["verdict"], report["scope"]) == ("proven", "cpu")
