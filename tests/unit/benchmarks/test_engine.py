"""What benchmarks/engine.py makes of its measurements, and what benchmarks/process.py counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from benchmarks import engine, process

CHECKOUT = Path(__file__).parents[3]
#: Keeps a core busy for a fifth of a second.
BURN = "import time\nwhile time.process_time() < 0.2: pass"


def one_cold(**figures: object) -> engine.Cold:
    values: dict = {
        "hand": 80.0,
        "ours": 82.0,
        "hand_phases": {"fetch": 1.0, "prepare": 5.0, "build": 74.0},
        "our_phases": {
            "fetch": 1.0, "patch": 0.1, "prepare": 5.0, "configure": 0.1, "build": 73.0, "package": 0.1, "check": 0.0,
        },
        "hand_work": 150.0,
        "our_work": 150.0,
        "asking": 4.0,
        "compilations": 64,
        "followed": engine.Following(seconds=70.0, controller=0.015, modules=0.007, worker=0.002),
    }  # fmt: skip
    return engine.Cold(**{**values, **figures})


def one_later(**figures: object) -> engine.Later:
    values: dict = {
        "unfollowed": engine.Following(seconds=70.0, controller=0.0, modules=0.0, worker=0.002),
        "ping": (0.9, 1.0, 1.1),
        "again": (1.4, 1.5, 1.6),
        "again_changed": 0,
        "again_calls": 1,
        "again_tools": 0,
        "filled": 86.0,
        "warm": 9.0,
        "warm_compilations": 1,
        "resumed_at": 0.51,
        "resumed_work": 154.0,
        "resumed_compilations": 66,
    }
    return engine.Later(**{**values, **figures})


def result(
    colds: tuple[engine.Cold, ...] = (one_cold(),), laters: tuple[engine.Later, ...] = (one_later(),)
) -> engine.Result:
    return engine.Result(colds, laters, ansible_core="2.19.0", jobs=2, weight=12, load=0.1)


# --- figures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cold", "later"),
    [
        ({"ours": 83.0}, {}),
        ({}, {"again_calls": 2}),
        ({}, {"again_tools": 1}),
        ({}, {"warm": 13.0}),
        ({}, {"resumed_work": 160.0}),
        ({"followed": engine.Following(seconds=70.0, controller=0.015, modules=0.02, worker=0.002)}, {}),
        ({"followed": engine.Following(seconds=70.0, controller=0.03, modules=0.005, worker=0.002)}, {}),
    ],
)
def test_the_goal_that_is_missed_is_said(cold: dict, later: dict) -> None:
    assert engine.table(result((one_cold(**cold),), (one_later(**later),))).count(": missed") == 1


def test_every_flag_of_the_benchmark_is_one_of_the_tree() -> None:
    tree = (CHECKOUT / "tests/upstream/trees/pytorch/common/CMakeLists.txt").read_text()
    for name in [*engine.FLAG, *(option for option in engine.OPTIONS if option.startswith(("USE_", "BUILD_")))]:
        assert f"option({name} " in tree
    for name in engine.FLAG:
        assert name not in engine.OPTIONS


# --- when to kill ------------------------------------------------------------------------------------------------


def watch(tmp_path: Path, kill_at: float | None = None, **state: object) -> engine.Watch:
    place = tmp_path / "root/builds/pytorch/0123456789abcdef"
    place.mkdir(parents=True, exist_ok=True)
    whole = {"phase": "build", "status": "running", "pid": os.getpid(), "done": 0, "total": 0, **state}
    (place / "state.json").write_text(json.dumps(whole))
    return engine.Watch(tmp_path / "root", tmp_path / "python", tmp_path / "calls", kill_at)


def test_a_build_is_killed_once_and_not_before_its_time(tmp_path: Path) -> None:
    early = watch(tmp_path, 0.5, done=29, total=60)
    assert not early(os.getpid())
    assert watch(tmp_path, None, done=59, total=60)(os.getpid()) is False
    late = watch(tmp_path, 0.5, done=31, total=60)
    assert late(os.getpid())
    assert late.killed_at == pytest.approx(31 / 60)
    assert not late(os.getpid())


# --- processes ---------------------------------------------------------------------------------------------------


def run_apart(tmp_path: Path, command: str, look: str = "None") -> dict[str, float]:
    """Let process.run run `sh -c command` in a process of its own, for it becomes the parent of strays."""
    program = f"""
        import dataclasses, json, os
        from pathlib import Path
        from benchmarks import process
        process.adopt_orphans()
        ended = process.run(["sh", "-c", {command!r}], cwd=Path({str(tmp_path)!r}), environment=os.environ,
                            output=Path({str(tmp_path / "output")!r}), look={look})
        print(json.dumps(dataclasses.asdict(ended)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=CHECKOUT, env={**os.environ, "BURN": BURN},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(json.loads(done.stdout))


def test_what_a_command_waits_for_is_its_own_and_what_it_leaves_behind_is_not(tmp_path: Path) -> None:
    burn = f'{sys.executable} -c "$BURN"'
    ended = run_apart(tmp_path, f"{burn}; echo said; (setsid {burn} &); exit 3")
    assert ended["code"] == 3
    assert ended["cpu"] >= 0.2
    assert ended["detached"] >= 0.2
    assert ended["whole"] >= ended["wall"] > 0.2
    assert (tmp_path / "output").read_text() == "said\n"


def test_what_is_killed_counts_as_well(tmp_path: Path) -> None:
    python = sys.executable
    endless = "while True: pass"
    ended = run_apart(tmp_path, f"(setsid {python} -c '{endless}' &); {python} -c '{endless}'", "lambda _pid: True")
    assert ended["code"] < 0
    assert ended["cpu"] > 0
    assert ended["detached"] > 0


# --- the command -------------------------------------------------------------------------------------------------


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command measure nothing, and this process adopt nobody."""
    monkeypatch.setattr(process, "adopt_orphans", lambda: None)
    monkeypatch.setattr(process, "kill_all", lambda: None)
    monkeypatch.setattr(engine.Bench, "prepare", lambda _self: None)
    monkeypatch.setattr(engine.upstream, "make", lambda _folder: None)
    monkeypatch.setattr(engine.Bench, "__init__", lambda _self, _folder, _jobs, _weight: None)
    monkeypatch.setattr(engine, "measure", lambda *_: ((one_cold(ours=200.0),), ()))


def test_the_same_inputs_that_change_something_fail(
    quiet: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "measure", lambda *_: ((one_cold(),), (one_later(again_changed=1),)))
    assert engine.main([]) == 1
    assert "the same inputs changed something" in capsys.readouterr().err


def test_a_build_that_fails_fails_the_command(
    quiet: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise engine.BenchmarkError("bash ended with 1.")

    monkeypatch.setattr(engine, "measure", fails)
    assert engine.main([]) == 1
    assert "bash ended with 1." in capsys.readouterr().err
