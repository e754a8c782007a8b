"""Each broken stack fails the right check with its cause, and a sound copy of the environment passes."""

import json
import os
import shutil
import typing as t
from collections.abc import Callable
from pathlib import Path

import pytest

from proof.tests.environment import Environment
from proof.tests.faults import FAULTS, GPU_FAULTS, GPU_FAULTS_ALONE, Fault, Report

#: `make test` plants a fifth of the faults, a different fifth each day; `make test-long` plants all.
DAY = int(os.environ.get("SPARKFORGE_DAY") or 0)
FIFTH = {fault.planter: number % 5 for number, fault in enumerate(FAULTS)}


def parameters(faults: t.Iterable[Fault]) -> list[t.Any]:
    """Return the faults as parameters; those outside today's fifth are marked as long."""
    return [
        pytest.param(fault, id=fault.planter, marks=[] if FIFTH[fault.planter] == DAY % 5 else pytest.mark.long)
        for fault in faults
    ]


PLANTERS = Path(__file__).parent / "planters"


@pytest.mark.parametrize("fault", parameters(FAULTS))
def test_broken_stack_fails_with_its_cause(fault: Fault, broken: Callable[[], Environment]) -> None:
    missing = [program for program in fault.needs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"no {missing[0]} is on this machine")
    environment = broken()
    fault.plant(environment)
    missed = fault.missed(fault.prove(environment))
    assert not missed, "\n".join(missed)
    if fault.fits is not None:
        # The same environment suits another host, so only the fault makes the checks fail.
        assert statuses(fault, fault.prove(environment, **fault.fits)) == dict.fromkeys(fault.caught, "pass")


def statuses(fault: Fault, report: Report) -> dict[str, str]:
    """Return the status of each check that must fail on the broken stack."""
    rows = {row["name"]: row["status"] for row in report["checks"]}
    return {name: rows[name] for name in fault.caught}


@pytest.fixture(scope="module")
def sound(copies: Callable[[], Environment]) -> Callable[[Fault], Report]:
    """Return a function that proves a sound environment, once for each fifth of the faults and set of options."""
    environment = copies()
    reports: dict[str, Report] = {}

    def report(fault: Fault) -> Report:
        day = FIFTH[fault.planter]
        key = json.dumps([day, fault.sound], sort_keys=True)
        if key not in reports:
            same = [each for each in FAULTS if each.sound == fault.sound and FIFTH[each.planter] == day]
            patterns = dict.fromkeys(pattern for each in same for pattern in each.patterns)
            reports[key] = environment.prove(*patterns, **t.cast(t.Mapping[str, t.Any], fault.sound))
        return reports[key]

    return report


@pytest.mark.parametrize("fault", parameters(fault for fault in FAULTS if fault.sound))
def test_sound_stack_passes(fault: Fault, sound: Callable[[Fault], Report]) -> None:
    """test_healthy.py runs the checks without options."""
    assert statuses(fault, sound(fault)) == dict.fromkeys(fault.caught, "pass")


def test_every_planter_is_used() -> None:
    used = {fault.planter for fault in (*FAULTS, *GPU_FAULTS, *GPU_FAULTS_ALONE)}
    assert {path.stem for path in PLANTERS.glob("*.py")} == used


def test_planters_import_neither_checks_nor_planters() -> None:
    for path in PLANTERS.glob("*.py"):
        text = path.read_text()
        assert "sparkforge_proof" not in text and "planters" not in text, path
