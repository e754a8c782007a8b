"""What benchmarks/engine.py makes of its measurements, and what benchmarks/process.py counts."""

from __future__ import annotations

import dataclasses
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
CALLS = """call 17
0m0.002s 0m0.001s
0m0.300s 0m0.047s
call 29
0m0.000s 0m0.000s
1m1.250s 0m0.250s
"""


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


def test_the_cpu_time_of_each_finished_call_is_read() -> None:
    calls = engine.read_calls(CALLS)
    assert calls[17] == pytest.approx(0.35)
    assert calls[29] == pytest.approx(61.5)
    assert engine.read_calls("") == {}


def test_a_call_that_is_being_written_took_nothing_yet() -> None:
    assert engine.read_calls("call 17\n") == {17: 0}


def test_a_step_lasts_until_the_next_one_begins() -> None:
    marks = "fetch 100.5\nprepare 101.0\nbuild 106.25\nend 180.25\n"
    assert engine.phases_by_hand(marks) == {"fetch": 0.5, "prepare": 5.25, "build": 74.0}


def test_following_is_what_was_used_between_the_first_and_the_last_sample() -> None:
    samples = [
        engine.Sample(at=10.0, controller=1.0, modules=2.0, worker=0.5),
        engine.Sample(at=40.0, controller=1.1, modules=2.1, worker=0.5),
        engine.Sample(at=60.0, controller=1.5, modules=2.5, worker=0.6),
    ]
    found = engine.following(samples)
    assert found is not None
    assert dataclasses.astuple(found) == pytest.approx((50.0, 0.01, 0.01, 0.002))
    assert found.host == pytest.approx(0.012)
    assert engine.following(samples[:1]) is None


def test_ratios_are_of_medians() -> None:
    colds = tuple(one_cold(hand=hand, ours=ours) for hand, ours in ((80.0, 81.0), (90.0, 120.0), (70.0, 84.0)))
    assert result(colds).overhead == pytest.approx(84 / 80 - 1)
    assert result().ping_ratio == pytest.approx(1.5)
    assert result().warm_ratio == pytest.approx(9 / 82)
    assert result().work_ratio == pytest.approx(154 / 150)


def test_the_worst_round_counts_where_something_is_counted() -> None:
    found = result(laters=(one_later(), one_later(again_calls=2), one_later()))
    assert found.goals()["again_calls"] == (2, 1)


def test_every_goal_is_said_to_be_met() -> None:
    text = engine.table(result())
    assert text.count(": met") == 7
    assert "missed" not in text
    assert "2.5 %" in text


@pytest.mark.parametrize(
    ("cold", "later"),
    [
        ({"ours": 83.0}, {}),
        ({}, {"again_calls": 2}),
        ({}, {"again_tools": 1}),
        ({}, {"warm": 13.0}),
        ({}, {"resumed_work": 160.0}),
        ({"followed": engine.Following(seconds=70.0, controller=0.015, modules=0.01, worker=0.002)}, {}),
        ({"followed": engine.Following(seconds=70.0, controller=0.03, modules=0.005, worker=0.002)}, {}),
    ],
)
def test_the_goal_that_is_missed_is_said(cold: dict, later: dict) -> None:
    assert engine.table(result((one_cold(**cold),), (one_later(**later),))).count(": missed") == 1


def test_of_cold_builds_alone_nothing_else_is_said() -> None:
    found = result(laters=())
    text = engine.table(found)
    assert text.count(": met") == 3
    assert "ccache" not in text
    assert "not measured" not in text
    assert found.goals()["warm_ratio"][0] is None
    assert json.loads(json.dumps(engine.as_json(found)))["ping_ratio"] is None


def test_without_ccache_the_table_says_what_is_missing() -> None:
    text = engine.table(result(laters=(one_later(filled=None, warm=None, warm_compilations=None),)))
    assert "ccache is not installed" in text
    assert text.count("not measured") == 1


def test_the_figures_are_plain_json_with_goals() -> None:
    data = json.loads(json.dumps(engine.as_json(result())))
    assert data["goals"]["again_calls"] == {"figure": 1, "at_most": 1, "met": True}
    assert data["goals"]["overhead"]["figure"] == pytest.approx(0.025)
    assert data["colds"][0]["followed"]["worker"] == 0.002


def test_what_ninja_says_of_its_objects_is_read() -> None:
    printed = """a.o: #deps 2, deps mtime 1 (VALID)
    /s/a.cpp
    made.h

b.o: #deps 1, deps mtime 1 (STALE)
    /s/b.cpp
"""
    assert engine.read_dependencies(printed, Path("/s/build")) == {"a.o": {"/s/a.cpp", "/s/build/made.h"}}
    assert engine.read_dependencies("", Path("/s/build")) == {}


def test_objects_that_are_compiled_again_stand_beside_those_that_the_edit_touches() -> None:
    text = engine.edited_table([engine.Edited("a header", finished=57, total=61, touched=3, again=4)])
    assert text.splitlines()[1].split() == (
        "mended, and a header 4 57 the edit touches 3; a tree made anew compiles 61".split()
    )


def test_what_is_edited_is_in_the_tree_once() -> None:
    tree = CHECKOUT / "tests/upstream/trees/pytorch/common"
    for edit in [engine.BREAK, *(edit for edits in engine.EDITS.values() for edit in edits)]:
        assert (tree / edit["path"]).read_text().count(edit["match"]) == 1


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


def test_only_the_phase_build_is_sampled(tmp_path: Path) -> None:
    before = watch(tmp_path, phase="prepare")
    before(os.getpid())
    assert before.samples == []
    during = watch(tmp_path)
    during(os.getpid())
    assert len(during.samples) == 1
    assert during.samples[0].worker > 0


def test_a_finished_call_is_the_hosts_and_the_rest_the_controllers(tmp_path: Path) -> None:
    during = watch(tmp_path)
    (tmp_path / "calls").write_text("call 1\n0m0.000s 0m0.000s\n0m0.010s 0m0.000s\n")
    during(os.getpid())
    assert during.samples[0].modules == pytest.approx(0.01)
    whole = sum(found.total for found in process.below(os.getpid()))
    assert during.samples[0].controller == pytest.approx(whole - 0.01, abs=0.5)


def test_no_state_is_no_phase(tmp_path: Path) -> None:
    assert engine.newest_state(tmp_path) == {}
    during = watch(tmp_path)
    (tmp_path / "root/builds/pytorch/0123456789abcdef/state.json").write_text("{")
    assert not during(os.getpid())


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


def test_a_process_that_is_gone_has_no_cpu_time() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert process.look_at(child.pid) is None
    assert list(process.below(child.pid)) == []


def test_the_processes_below_one_are_found() -> None:
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert child.pid in [found.pid for found in process.below(os.getpid())]
    finally:
        child.kill()
        child.wait()


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
    monkeypatch.setattr(engine, "edited", lambda _bench: (engine.Edited("a header", 57, 61, 3, 3),))


def test_edits_alone_are_counted_without_a_cold_build(
    quiet: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "measure", lambda *_: pytest.fail("it built"))
    assert engine.main(["--parts", "edit", "--json", str(tmp_path / "engine.json")]) == 0
    assert json.loads((tmp_path / "engine.json").read_text())["edits"][0]["touched"] == 3
    assert "a tree made anew compiles 61" in capsys.readouterr().out


def test_a_missed_goal_does_not_fail_and_the_figures_are_written(quiet: None, tmp_path: Path) -> None:
    assert engine.main(["--json", str(tmp_path / "engine.json")]) == 0
    data = json.loads((tmp_path / "engine.json").read_text())
    assert data["goals"]["overhead"]["met"] is False
    assert data["edits"][0]["again"] == 3


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


@pytest.mark.parametrize("argument", ["--runs", "--jobs"])
def test_none_at_all_are_refused(quiet: None, argument: str) -> None:
    with pytest.raises(SystemExit):
        engine.main([argument, "0"])
