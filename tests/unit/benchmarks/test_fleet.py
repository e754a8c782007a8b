"""The report of benchmarks/fleet.py for made-up runs."""

import pytest

from benchmarks import fleet


def run(hosts: int, cpu: float, wall: float = 10.0, changed: int = 0) -> fleet.Run:
    return fleet.Run(hosts=hosts, forks=20, wall=wall, cpu=cpu, changed=changed, memory=75)


def rollout(**figures: object) -> fleet.Rollout:
    values: dict = {
        "hosts": 16, "seconds": 150.0, "compiles": {"pytorch": 1}, "wheel_bytes": 26_000_000, "cached_bytes": 0,
        "ssh_bytes": 16 * 2_000_000, "rollback": {"spark01": 0.8, "spark02": 1.1},
    }  # fmt: skip
    return fleet.Rollout(**{**values, **figures})


def result(**figures: object) -> fleet.Result:
    values: dict = {
        "when": "2026-11-21",
        "machine": "2 cores, x86_64",
        "load": 0.1,
        "ansible_core": "2.19.0",
        "ours": tuple(run(hosts, 3 + hosts, 5 + 2 * hosts) for hosts in (1, 2, 4, 8, 16, 32, 64)),
        "baseline": run(16, 100.0, 200.0),
        "rollout": rollout(),
    }
    return fleet.Result(**{**values, **figures})


def goals(measured: fleet.Result) -> dict[str, str]:
    """Return the verdict on each figure."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in fleet.report(measured).splitlines()]
    return {row[0]: row[3] for row in cells if len(row) == 4 and row[3] in ("met", "missed")}


@pytest.mark.parametrize(("power", "points"), [(1, [(4, 8), (16, 32), (64, 128)]), (2, [(2, 4), (4, 16), (8, 64)])])
def test_the_exponent_is_the_power_with_which_a_cost_grows(power: int, points: list) -> None:
    assert fleet.exponent(points) == pytest.approx(power)


@pytest.mark.parametrize(
    ("figures", "figure"),
    [
        ({"baseline": run(16, 4 * 19 - 1)}, "controller CPU"),
        ({"ours": tuple(run(hosts, hosts**1.3) for hosts in (1, 4, 16, 64))}, "growth of controller CPU"),
        ({"rollout": rollout(compiles={"pytorch": 2})}, "hosts of 16 that compiled pytorch"),
        ({"rollout": rollout(cached_bytes=26_000_000)}, "wheels through the controller"),
        ({"rollout": rollout(ssh_bytes=16 * 30_000_000)}, "all that ssh carried"),
        ({"rollout": rollout(rollback={"spark01": 0.8, "spark02": 2.1})}, "rollback"),
    ],
)
def test_a_missed_goal_is_printed_as_missed(figures: dict, figure: str) -> None:
    judged = goals(result(**figures))
    assert [name for name, verdict in judged.items() if verdict == "missed" and name.startswith(figure)]


def test_new_fingerprints_of_hosts_count_as_compilations() -> None:
    before = {"spark01": {"debian13-x86_64/pytorch/0123456789abcdef"}}
    new = "debian13-x86_64/pytorch/fedcba9876543210"
    after = {"spark01": {*before["spark01"], new}, "spark02": set()}
    assert fleet.compiled(before, after) == {"pytorch": 1}
    assert fleet.compiled(before, {**after, "spark02": {new}}) == {"pytorch": 2}
    assert fleet.compiled(after, after) == {}
