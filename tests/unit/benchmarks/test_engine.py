"""The table that benchmarks/engine.py prints for its measurements."""

from pathlib import Path

import pytest

from benchmarks import engine

CHECKOUT = Path(__file__).parents[3]


def cold_run(**figures: object) -> engine.Cold:
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


def later_run(**figures: object) -> engine.Later:
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
    colds: tuple[engine.Cold, ...] = (cold_run(),), laters: tuple[engine.Later, ...] = (later_run(),)
) -> engine.Result:
    return engine.Result(colds, laters, ansible_core="2.19.0", jobs=2, weight=12, load=0.1)


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
def test_a_missed_goal_is_marked_in_the_table(cold: dict, later: dict) -> None:
    assert engine.table(result((cold_run(**cold),), (later_run(**later),))).count(": missed") == 1


def test_flags_of_the_benchmark_are_options_of_the_tree() -> None:
    tree = (CHECKOUT / "tests/upstream/trees/pytorch/common/CMakeLists.txt").read_text()
    for name in [*engine.FLAG, *(option for option in engine.OPTIONS if option.startswith(("USE_", "BUILD_")))]:
        assert f"option({name} " in tree
    for name in engine.FLAG:
        assert name not in engine.OPTIONS
