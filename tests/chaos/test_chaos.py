"""The day's sample of the combinations, each as a test; `make chaos` runs all of them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.breaking import FAULTS
from tests.chaos.runner import Runner
from tests.chaos.scenarios import SCENARIOS
from tests.chaos.table import Combination, listed, sample, spread, survived

DAY = int(os.environ.get("SPARKFORGE_DAY") or time.strftime("%j"))
ALL = listed()
SURVIVED = survived(ALL, (Path(__file__).parents[2] / "docs/chaos.md").read_text())
#: `make test` repeats two of the combinations that docs/chaos.md lists as survived, which takes one worker a minute;
#: `make test-long` runs twenty of all combinations, because those that have never been run may fail on any day.
FEW, MANY = 2, 20
BRIEF = sample(SURVIVED, FEW, DAY)
#: A sample of every listed combination.
LONG = sample(ALL, MANY, DAY)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(f"chaos-{os.getpid()}") as made:
        yield made


def _named(chosen: list[Combination]) -> list[str]:
    return [": ".join(combination.names) for combination in chosen]


def _survives(runner: Runner, combination: Combination, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = runner.outcome(combination)
    with capsys.disabled():
        print(f"\nchaos, day {DAY}: {outcome}")
    assert not outcome.problems, "\n".join(outcome.problems)


@pytest.mark.parametrize("combination", BRIEF, ids=_named(BRIEF))
def test_a_broken_run_leaves_the_old_or_the_new_state_and_the_next_converges(runner, combination, capsys):
    _survives(runner, combination, capsys)


@pytest.mark.long
@pytest.mark.parametrize("combination", LONG, ids=_named(LONG))
def test_sample_of_all_listed_combinations(runner: Runner, combination: Combination, capsys):
    _survives(runner, combination, capsys)


def test_every_fault_and_every_scenario_is_listed_and_none_twice() -> None:
    assert {combination.fault for combination in ALL} == set(FAULTS)
    assert {combination.point.scenario for combination in ALL} == set(SCENARIOS)
    assert len({combination.names for combination in ALL}) == len(ALL) >= 150


def test_a_sample_is_of_the_day_and_shares_machines() -> None:
    for chosen, of, count in ((BRIEF, SURVIVED, FEW), (LONG, ALL, MANY)):
        (scenario,) = {combination.point.scenario for combination in chosen}
        assert sample(of, count, DAY) == chosen
        waiting = [combination for combination in of if combination.waits]
        others = sum(combination.point.scenario == scenario and combination not in waiting for combination in of)
        waits = sum(combination in waiting for combination in chosen)
        assert waits <= 1
        assert len(chosen) == min(count, others + waits)
        assert any(sample(of, count, day) != chosen for day in (DAY + 1, DAY + 2))


def test_spread_covers_all_points_and_continues_after_a_stop() -> None:
    points = {combination.point for combination in ALL}
    ordered = spread(ALL, (), DAY)
    assert set(ordered) == set(ALL)
    assert {combination.point for combination in ordered[: len(points)]} == points
    assert {combination.fault for combination in ordered[:150]} == set(FAULTS)
    begun, left = ordered[:40], [combination for combination in ALL if combination not in ordered[:40]]
    assert {combination.point for combination in begun + spread(left, begun, DAY)[: len(points) - 40]} == points
