"""Breaks a host during a run, at each point in ``points.yml``, with each fault that fits: ``make chaos``.

After each fault, every published path must be in its old or its new state, the next ordinary run must converge unaided,
and nothing of the fault may remain: no process, mount, lock or temporary file.
"""

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.host import LabError, fail
from tests.chaos.machine import CHECKOUT
from tests.chaos.runner import Outcome, Runner
from tests.chaos.table import Combination, listed, sample, spread

PAGE = CHECKOUT / "docs/chaos.md"
LACKING = """The list does not contain faults that need several hosts: `tests/fleet/test_rollout.py` breaks the change
of a wave and the pull of a wheel from the builder, in one run with five faults (a host is killed, its disk is full,
it is cut off from all hosts or from the builder during a wheel, or its clock is three days ahead). The list does not
cover the whole site in one run either: the site is broken role by role, and build, environment and rollback
separately."""


def _commit() -> str:
    git = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(git, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.strip()


def page(outcomes: list[Outcome], total: int) -> str:
    """Return the documentation page with the outcomes."""
    today = time.strftime("%Y-%m-%d", time.gmtime())
    tried = [combination for combination in outcomes if not combination.unmade]
    seconds = [combination.seconds for combination in tried if combination.seconds]
    survived = [combination for combination in tried if not combination.problems]
    lines = [
        "# Chaos: what the site survives",
        "",
        f"`make chaos` wrote this page on {today}. Each row is a point from `tests/chaos/points.yml` with a fault",
        "from `tests/chaos/faults.yml`, on a host in a container whose disk is a separate ext4. The site survives",
        "the fault if each published path then has its old or its new state, the next ordinary run converges",
        "unaided, and the host then equals a host without the fault, without additional processes, mounts or files.",
        "After a network cut, sshd is made to close its connections first, as it does on its own after two hours:",
        "until then, sudo on the host waits for a password that never comes, regardless of what Ansible was doing.",
        "",
        f"**The site survives {len(survived)} of {len(tried)} faults.** {total} are listed; there was time for"
        f" {len(outcomes)}, of which {len(outcomes) - len(tried)} cannot be made.",
        f"The median row took {statistics.median(seconds or [0]):.0f} s.",
        "",
        LACKING,
        "",
        "| scenario | point | fault | the run | then | result | commit |",
        "|---|---|---|---|---|---|---|",
    ]
    for combination in outcomes:
        result = (
            f"not made: {combination.unmade}"
            if combination.unmade
            else "; ".join(combination.problems[:3]) or "survived"
        )
        row = (*combination.combination.names, combination.said, combination.state, result, combination.commit)
        lines.append("| " + " | ".join(" ".join(cell.replace("|", "/").split()) for cell in row) + " |")
    return "\n".join([*lines, ""])


def _known(results: Path | None, everything: list[Combination]) -> list[Outcome]:
    """Return the outcomes in a results file; the last one of each combination counts."""
    if not results or not results.exists():
        return []
    combinations = {combination.names: combination for combination in everything}
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    last = {tuple(names): kept for names, *kept in rows}
    return [Outcome(combinations[names], *kept) for names, kept in last.items() if names in combinations]


def _shares(waiting: list[Combination], count: int) -> list[list[Combination]]:
    """Divide the combinations among machines, each scenario on one machine, because it has to be prepared first."""
    scenarios: dict[str, list[Combination]] = {}
    for combination in waiting:
        scenarios.setdefault(combination.point.scenario, []).append(combination)
    shares: list[list[Combination]] = [[] for _number in range(count)]
    for mine in sorted(scenarios.values(), key=len, reverse=True):
        min(shares, key=len).extend(mine)
    order = {combination: number for number, combination in enumerate(waiting)}
    return [sorted(share, key=order.__getitem__) for share in shares if share]


def main() -> int:
    """Return 0 if the site survives every combination that can be made."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=str(__doc__).splitlines()[0])
    parser.add_argument("-k", metavar="TEXT", default="", help="only those whose names match")
    parser.add_argument("-j", metavar="N", type=int, default=1, help="machines side by side")
    parser.add_argument("--list", action="store_true", help="show them and run none")
    parser.add_argument("--sample", metavar="N", type=int, help="so many of them, chosen by the day")
    today = int(time.strftime("%j"))
    parser.add_argument("--day", metavar="N", type=int, default=today, help="the day of the year (default: today)")
    parser.add_argument("--rows", metavar="N", type=int, help="so many, of all points and faults evenly")
    parser.add_argument("--minutes", metavar="N", type=float, default=0, help="begin none after these")
    kept = "keep what is found, and go on with what is there: what failed is run again first"
    parser.add_argument("--results", metavar="FILE", type=Path, help=kept)
    parser.add_argument("--trace", metavar="SCENARIO", help="print the calls that an undisturbed run makes")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(CHECKOUT)}")
    options = parser.parse_args()
    everything = listed()
    chosen = [combination for combination in everything if re.search(options.k, " ".join(combination.names))]
    if options.sample:
        chosen = sample(chosen, options.sample, options.day)
    if options.list:
        print(
            "\n".join(": ".join(combination.names) for combination in chosen), f"{len(chosen)} combinations", sep="\n"
        )
        return 0
    if options.trace:
        with Runner(f"chaos-{os.getpid()}-0") as runner:
            print(runner.trace(options.trace))
        return 0
    known = _known(options.results, everything)
    again = [outcome.combination for outcome in known if outcome.problems and outcome.combination in chosen]
    chosen = [combination for combination in chosen if combination not in {outcome.combination for outcome in known}]
    cannot = [combination for combination in chosen if combination.unmade]
    chosen = spread(chosen, (outcome.combination for outcome in known), options.day)
    if options.rows:
        chosen = chosen[: max(0, options.rows - len(known))]
    deadline = time.monotonic() + 60 * options.minutes if options.minutes else None
    commit = _commit()
    shares = _shares([*again, *cannot, *chosen], options.j)

    def work(number: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        with Runner(f"chaos-{os.getpid()}-{number}", commit) as runner:
            for combination in shares[number]:
                if stopped or (deadline and time.monotonic() > deadline):
                    break
                outcomes.append(runner.outcome(combination))
                print(outcomes[-1], flush=True)
                if options.results:
                    with options.results.open("a") as stream:
                        stream.write(json.dumps([combination.names, *outcomes[-1].kept]) + "\n")
        return outcomes

    stopped: list[int] = []
    # On a signal, take the machines down before exiting.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda which, _frame: stopped.append(which))
    with ThreadPoolExecutor(options.j) as pool:
        finished = [combination for ours in pool.map(work, range(len(shares))) for combination in ours]
    outcomes = list({combination.combination: combination for combination in (*known, *finished)}.values())
    order = {combination: number for number, combination in enumerate(everything)}
    outcomes.sort(key=lambda combination: order[combination.combination])
    tried = [combination for combination in outcomes if not combination.unmade]
    failed = [combination for combination in tried if combination.problems]
    print(f"chaos: {len(tried) - len(failed)} of {len(tried)} survived, {len(outcomes) - len(tried)} could not be made")
    if options.write:
        PAGE.write_text(page(outcomes, len(everything)), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(fail(error))
