# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Breaks the host of a run at every point of ``points.yml`` with every fault that fits: ``make chaos``.

After each: what is published is the old or the new state, the next ordinary run converges without help, and nothing is
left of the fault: no process, mount, lock or temporary file.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from lab.host import LabError, fail, install_packages
from tests.chaos.machine import CHECKOUT
from tests.chaos.runner import Outcome, Runner
from tests.chaos.table import Combination, listed, sample

PAGE = CHECKOUT / "docs/chaos.md"


def page(outcomes: list[Outcome], total: int) -> str:
    """Return the page of the documentation that says what came of it."""
    git = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.strip()
    made = [one for one in outcomes if not one.unmade]
    survived = [one for one in made if not one.problems]
    lines = [
        "# Chaos: what the site survives",
        "",
        f"Written by `make chaos` at commit {commit}, {time.strftime('%Y-%m-%d', time.gmtime())}. Each row is a point of"
        " `tests/chaos/points.yml` with a fault",
        "of `tests/chaos/faults.yml`, on a host in a container whose disk is an ext4 of its own. It is survived when",
        "what is published then is the old or the new state, path by path; the next ordinary run converges without help;",
        "and the host then equals one that nothing happened to, without a process, a mount or a file too many.",
        "",
        f"**{len(survived)} of {len(made)} are survived; {total} are listed, {total - len(made)} were not made.**",
        "",
        "| scenario | point | fault | the run | then | result |",
        "|---|---|---|---|---|---|",
    ]
    for one in outcomes:
        result = f"not made: {one.unmade}" if one.unmade else "; ".join(one.problems[:3]) or "survived"
        row = (*one.combination.names, one.said, one.state, result)
        lines.append("| " + " | ".join(" ".join(cell.replace("|", "/").split()) for cell in row) + " |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Return 0 where each combination that could be made is survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=str(__doc__).splitlines()[0])
    parser.add_argument("-k", metavar="TEXT", default="", help="only those whose names match this pattern")
    parser.add_argument("-j", metavar="N", type=int, default=1, help="machines side by side, each with whole scenarios")
    parser.add_argument("--list", action="store_true", help="show them and run none")
    parser.add_argument("--sample", metavar="N", type=int, help="so many of them, chosen by the day")
    parser.add_argument(
        "--day", metavar="N", type=int, default=int(time.strftime("%j")), help="the day (default: today)"
    )
    parser.add_argument("--minutes", metavar="N", type=float, default=0, help="begin none after so many")
    parser.add_argument("--trace", metavar="SCENARIO", help="print the calls that an undisturbed run makes")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(CHECKOUT)}")
    given = parser.parse_args()
    everything = listed()
    chosen = [one for one in everything if re.search(given.k, " ".join(one.names))]
    if given.sample:
        chosen = sample(chosen, given.sample, given.day)
    if given.list:
        print("\n".join(": ".join(one.names) for one in chosen), f"{len(chosen)} combinations", sep="\n")
        return 0
    install_packages()
    if given.trace:
        with Runner(f"chaos-{os.getpid()}-0") as runner:
            print(runner.trace(given.trace))
        return 0
    deadline = time.monotonic() + 60 * given.minutes if given.minutes else None
    # Whole scenarios, so that each is prepared once; the largest first.
    groups: dict[str, list[Combination]] = {}
    for one in chosen:
        groups.setdefault(one.point.scenario, []).append(one)

    def work(number: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        with Runner(f"chaos-{os.getpid()}-{number}") as runner:
            while waiting:
                # Both lose no time at the end: a scenario that is left alone is taken in halves.
                scenario, mine = waiting.pop(0)
                for outcome in runner.run(scenario, mine, deadline):
                    print(outcome, flush=True)
                    outcomes.append(outcome)
        return outcomes

    size = max(8, len(chosen) // (3 * given.j) + 1)
    waiting = [
        (scenario, mine[start : start + size])
        for scenario, mine in groups.items()
        for start in range(0, len(mine), size)
    ]
    waiting.sort(key=lambda one: -len(one[1]))
    with ThreadPoolExecutor(given.j) as pool:
        outcomes = [one for found in pool.map(work, range(given.j)) for one in found]
    order = {one: number for number, one in enumerate(everything)}
    outcomes.sort(key=lambda one: order[one.combination])
    made = [one for one in outcomes if not one.unmade]
    failed = [one for one in made if one.problems]
    print(f"chaos: {len(made) - len(failed)} of {len(made)} survived, {len(outcomes) - len(made)} could not be made")
    if given.write:
        PAGE.write_text(page(outcomes, len(everything)), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(fail(error))
