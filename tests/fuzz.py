"""Feeds arbitrary input to all readers of external data and reports how much of their code it reached: ``make fuzz``.

Coverage is the share of statements that ran in the functions a reader entered. Its functions' imports, and functions it
never calls, do not count. With ``--guided`` atheris provides the input and varies inputs that reached something new,
with a separate process for each reader: ``make guided-fuzz``.
"""

import argparse
import ast
import random
import re
import subprocess
import sys
import tempfile
import time
import typing as t
from pathlib import Path

import coverage

CHECKOUT = Path(__file__).parents[1]
sys.path[:0] = [str(CHECKOUT / path) for path in (".collections", "cli", "guard/src", "proof/src")]

# Import the modules whose coverage guides atheris while it instruments imports.
if __name__ == "__main__" and "--guided" in sys.argv:
    import atheris

    with atheris.instrument_imports(include=["ansible_collections.sparkforge"]):
        from tests.unit.parsers import PARSERS
else:
    from tests.unit.parsers import PARSERS
from tests.unit.anything import Anything
from tests.unit.test_parsers import parse

#: The number of executions for which statements are counted; counting takes as long as reading.
MEASURED = 5000
#: The readers' packages.
CODE = ("plugins", "tools", "cli", "guard/src", "proof/src")
#: Limits for one execution under atheris, in MB and seconds.
MEMORY, SECONDS = 1500, 20


def reached(measured: coverage.Coverage) -> tuple[int, int]:
    """Return how many statements ran in the functions that were entered, and how many they have in total."""
    ran = there = 0
    data = measured.get_data()
    for file in data.measured_files():
        lines = set(data.lines(file) or ())
        statements = set(measured.analysis2(file)[1])
        entered: set[int] = set()
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = statements & set(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
                entered |= body if body & lines else set()
        ran, there = ran + len(entered & lines), there + len(entered)
    return ran, there


def fuzz(name: str, examples: int, seed: int) -> tuple[int, float, int, int]:
    """Feed one reader; return the number of executions, the seconds, and the counts of its statements.

    :raises Exception: an exception that the reader does not convert, with the input.
    """
    anything = Anything(PARSERS[name], random.Random(f"{name} {seed}"))

    def read(count: int) -> None:
        for _example in range(count):
            data = anything.generate()
            try:
                parse(PARSERS[name], data)
            except Exception:
                print(f"{name} does not map what this leads to: {data!r}", flush=True)
                raise

    measured = coverage.Coverage(data_file=None, include=[str(CHECKOUT / folder / "*") for folder in CODE])
    began = time.monotonic()
    with measured.collect():
        read(min(examples, MEASURED))
    read(max(0, examples - MEASURED))
    return examples, time.monotonic() - began, *reached(measured)


def guide(name: str, examples: int) -> t.NoReturn:
    """Feed one reader through atheris, which exits the process: with 0 if it found nothing."""
    with tempfile.TemporaryDirectory(prefix="sparkforge-fuzz-") as directory:
        for number, seed in enumerate(PARSERS[name].seeds):
            Path(directory, str(number)).write_bytes(seed)
        bounds = [f"-runs={examples}", "-max_len=20000", f"-rss_limit_mb={MEMORY}", f"-timeout={SECONDS}"]
        atheris.Setup(
            [sys.argv[0], *bounds, f"-artifact_prefix={directory}/", directory], lambda data: parse(PARSERS[name], data)
        )
        atheris.Fuzz()
    sys.exit(0)


def guided(names: t.Sequence[str], examples: int) -> int:
    """Print a row for each reader when it is done; return 1 if a reader failed."""
    print("| reader | read | seconds | places reached |\n|---|---|---|---|", flush=True)
    wrong = []
    for name in names:
        command = [sys.executable, "-m", "tests.fuzz", "--guided", "--one", "-k", name, str(examples)]
        began = time.monotonic()
        result = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        ended = re.findall(r"#(\d+)\s+DONE\s+cov: (\d+)", result.stderr)
        if result.returncode or not ended:
            wrong.append(name)
            print(f"{result.stdout[-3000:]}{result.stderr[-5000:]}\n| {name} | **wrong** | | |", flush=True)
        else:
            count, reached_places = ended[-1]
            seconds = time.monotonic() - began
            print(f"| {name} | {int(count):,} | {seconds:.0f} | {reached_places} |", flush=True)
    print(f"\n{len(names)} readers, {len(wrong)} wrong{': ' if wrong else ''}{', '.join(wrong)}")
    return 1 if wrong else 0


def main() -> int:
    """Print a row for each reader when it is done; return 0 if none raised an exception that callers do not expect."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=str(__doc__).splitlines()[0])
    parser.add_argument("examples", type=int, nargs="?", default=2000, help="of each reader (default: 2000)")
    parser.add_argument("-k", metavar="TEXT", default="", help="only readers whose name has this text")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of what is fed (default: the time)")
    parser.add_argument("--guided", action="store_true", help="by atheris")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        guide(options.k, options.examples)
    if options.guided:
        return guided([name for name in PARSERS if options.k in name], options.examples)
    totals: t.Counter[str] = t.Counter()
    print("| reader | read | seconds | statements reached |\n|---|---|---|---|", flush=True)
    names = [name for name in PARSERS if options.k in name]
    for name in names:
        count, seconds, ran, there = fuzz(name, options.examples, options.seed)
        totals.update(count=count, ran=ran, there=there)
        print(f"| {name} | {count:,} | {seconds:.1f} | {ran} of {there} ({100 * ran // max(1, there)} %) |", flush=True)
    share = 100 * totals["ran"] // max(1, totals["there"])
    print(f"\n{len(names)} readers, {totals['count']:,} executions, {share} % of the statements, nothing unmapped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
