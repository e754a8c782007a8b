"""The random choice of mutants, and how their outcomes are judged."""

import contextlib
import dataclasses
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.mutants import drawn
from tests.mutants.__main__ import ERROR, KILLED, SURVIVED, Outcome
from tests.mutants.data import CHECKOUT
from tests.mutants.judge import Judge


def _guards(area: str, file: str) -> list[drawn.Drawn]:
    return drawn.Guards(area, file, set()).all()


def test_paths_of_each_area_exist() -> None:
    for path in (path for paths in drawn.AREAS.values() for path in paths):
        assert (CHECKOUT / path).exists(), path


def test_removing_a_guard_leaves_the_other_draws_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    guards = _guards("core", "plugins/module_utils/_core/program.py")
    monkeypatch.setattr(drawn, "near", lambda _file: ())
    monkeypatch.setattr(drawn, "guards", lambda: {"core": guards})
    before = {guard.id for guard in drawn.draw(7, 5)}
    removed = next(guard for guard in guards if guard.id in before)
    monkeypatch.setattr(drawn, "guards", lambda: {"core": [guard for guard in guards if guard != removed]})
    after = {guard.id for guard in drawn.draw(7, 5)}
    assert len(before) == len(after) == 5
    assert before - after == {removed.id}


def test_a_test_that_fails_without_a_mutant_is_excluded() -> None:
    runs: list[list[str]] = []

    def run(mutant: drawn.Drawn) -> Outcome:
        runs.append(list(mutant.tests))
        skipped = {test.partition("=")[2] for test in mutant.tests}
        failed = next((test for test in ("unread.py", "a.py::weak", "a.py::sound") if test not in skipped), "")
        return Outcome(mutant, KILLED if failed else SURVIVED, f"x\nFAILED {failed}[1] - assert False\n", 1)  # type: ignore[arg-type]

    def unbroken(_tree: Path, tests: list[str], broken: bool) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(tests, 1 if {"a.py::weak", "unread.py"} & set(tests) and not broken else 0)

    bench = SimpleNamespace(run=run, pytest=unbroken, tree=lambda: contextlib.nullcontext(Path()))
    guard = dataclasses.replace(_guards("core", "plugins/module_utils/_core/deadline.py")[0], tests=("a.py",))
    judge = Judge(bench)  # type: ignore[arg-type]
    assert judge.outcome(guard).status == KILLED
    assert runs[-1] == ["--deselect=a.py::weak", "--ignore=unread.py", "a.py"]
    assert (judge.sound, judge.unsound) == ({"a.py::sound"}, {"a.py::weak", "unread.py"})


def test_an_exception_of_one_guard_does_not_stop_the_run() -> None:
    def run(_mutant: drawn.Drawn) -> Outcome:
        raise RecursionError("too deep")

    guard = dataclasses.replace(_guards("core", "plugins/module_utils/_core/deadline.py")[0], tests=("a.py",))
    outcome = Judge(SimpleNamespace(run=run)).outcome(guard)  # type: ignore[arg-type]
    assert (outcome.status, outcome.said) == (ERROR, "RecursionError: too deep")
