"""Every broken stack fails the proof, by the right check and with its cause; a sound copy of the environment passes."""

import json
import os
import shutil
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from proof.tests.environment import Environment
from proof.tests.faults import FAULTS, GPU_FAULTS, GPU_FAULTS_ALONE, Fault, Report

#: `make test` takes a fifth of the faults, the next day another; `make test-long` takes all.
DAY = int(os.environ.get("SPARKFORGE_DAY") or 0)
OF_DAY = {fault.planter: number % 5 for number, fault in enumerate(FAULTS)}


def of_a_day(faults: t.Iterable[Fault]) -> list[t.Any]:
    """Give faults as parameters, of which today's fifth is in `make test`."""
    today = DAY % 5
    return [
        pytest.param(fault, id=fault.planter, marks=[] if OF_DAY[fault.planter] == today else pytest.mark.long)
        for fault in faults
    ]


PLANTERS = Path(__file__).parent / "planters"


@pytest.mark.parametrize("fault", of_a_day(FAULTS))
def test_a_broken_stack_fails_the_proof_with_its_cause(fault: Fault, broken: Callable[[], Environment]) -> None:
    lacking = [program for program in fault.needs if shutil.which(program) is None]
    if lacking:
        pytest.skip(f"no {lacking[0]} is on this machine")
    environment = broken()
    fault.plant(environment)
    missed = fault.missed(fault.prove(environment))
    assert not missed, "\n".join(missed)
    if fault.fits is not None:
        # It is what the checks look at and not that somebody was there: the same is right for another host.
        assert statuses(fault, fault.prove(environment, **fault.fits)) == dict.fromkeys(fault.caught, "pass")


def statuses(fault: Fault, report: Report) -> dict[str, str]:
    """Return the status of each check that must fail on the broken stack."""
    rows = {row["name"]: row["status"] for row in report["checks"]}
    return {name: rows[name] for name in fault.caught}


@pytest.fixture(scope="module")
def sound(copies: Callable[[], Environment]) -> Callable[[Fault], Report]:
    """Prove an environment in which nothing is broken with what a day's faults are told by, once for equal options."""
    environment = copies()
    reports: dict[str, Report] = {}

    def report(fault: Fault) -> Report:
        day = OF_DAY[fault.planter]
        key = json.dumps([day, fault.sound], sort_keys=True)
        if key not in reports:
            same = [each for each in FAULTS if each.sound == fault.sound and OF_DAY[each.planter] == day]
            patterns = dict.fromkeys(pattern for each in same for pattern in each.patterns)
            reports[key] = environment.prove(*patterns, **t.cast(t.Mapping[str, t.Any], fault.sound))
        return reports[key]

    return report


@pytest.mark.parametrize("fault", of_a_day(fault for fault in FAULTS if fault.sound is not None))
def test_what_fails_on_a_broken_stack_passes_on_a_sound_one(fault: Fault, sound: Callable[[Fault], Report]) -> None:
    assert statuses(fault, sound(fault)) == dict.fromkeys(fault.caught, "pass")


def test_every_planter_is_used() -> None:
    used = {fault.planter for fault in (*FAULTS, *GPU_FAULTS, *GPU_FAULTS_ALONE)}
    assert {path.stem for path in PLANTERS.glob("*.py")} == used


def test_no_planter_knows_of_the_checks_or_of_another_planter() -> None:
    for path in PLANTERS.glob("*.py"):
        text = path.read_text()
        assert "sparkforge_proof" not in text and "planters" not in text, path
