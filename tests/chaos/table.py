"""The combinations: each point in ``points.yml`` with each fault in ``faults.yml`` that fits its kind."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Point:
    """The point of a run at which a fault happens: before a call (``event``, ``match``, ``nth``), during a download
    (``paths``), or throughout."""

    scenario: str
    name: str
    kind: str
    event: str = ""
    match: str = ""
    nth: int = 1
    paths: str = ""
    #: Faults that cannot be made at this point -> the reason.
    without: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Combination:
    """A point and the name of a fault."""

    point: Point
    fault: str

    @property
    def names(self) -> tuple[str, str, str]:
        return self.point.scenario, self.point.name, self.fault

    @property
    def waits(self) -> bool:
        """Tell whether it takes minutes: a build waits two minutes for its host."""
        return (self.point.scenario, self.fault) == ("build", "network cut")

    @property
    def unmade(self) -> str:
        return dict(self.point.without).get(self.fault, "")


def points() -> list[Point]:
    listed_points = []
    for scenario, rows in yaml.safe_load((HERE / "points.yml").read_text()).items():
        for row in rows:
            without = tuple((row.pop("without", None) or {}).items())
            listed_points.append(Point(scenario, **row, without=without))
    return listed_points


def listed() -> list[Combination]:
    kinds = yaml.safe_load((HERE / "faults.yml").read_text())
    return [Combination(point, fault) for point in points() for fault, fits in kinds.items() if point.kind in fits]


def survived(combinations: Sequence[Combination], page: str) -> list[Combination]:
    """Return the combinations that the page lists as survived.

    :param page: the text of docs/chaos.md.
    """
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    there = {tuple(row[:3]) for row in rows if len(row) > 5 and row[5] == "survived"}
    return [combination for combination in combinations if combination.names in there]


def spread(waiting: Iterable[Combination], done: Iterable[Combination], day: int) -> list[Combination]:
    """Order the combinations so that every prefix, with the completed ones, covers all points and faults evenly.

    The day decides ties.
    """
    left = [combination for combination in waiting if not combination.unmade]
    random.Random(day).shuffle(left)
    used = Counter(part for combination in done for part in _parts(combination))
    ordered = []
    while left:
        rarest = min(left, key=lambda combination: [used[part] for part in _parts(combination)])
        left.remove(rarest)
        ordered.append(rarest)
        used.update(_parts(rarest))
    return ordered


def _parts(combination: Combination) -> tuple[Point | str, ...]:
    return combination.point, combination.fault


def sample(combinations: Sequence[Combination], count: int, day: int) -> list[Combination]:
    """Choose combinations by the day, all from one scenario, so that one machine is prepared for them.

    At most one of them is a build whose network is cut, because that waits two minutes for its host.
    """
    scenarios = sorted({combination.point.scenario for combination in combinations})
    today = scenarios[day % len(scenarios)]
    of_today = spread((combination for combination in combinations if combination.point.scenario == today), (), day)
    waits = [combination for combination in of_today if combination.waits]
    chosen = [combination for combination in of_today if combination not in waits[1:]]
    return sorted(chosen[:count], key=combinations.index)
