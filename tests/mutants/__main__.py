"""Breaks the guards that ``data.py`` lists, one at a time, and shows that a test fails: ``make mutants``.

Each mutant runs in a separate container, as root, because many guards concern accounts. The container has only a
loopback network and a read-only copy of the tree. Broken code may remove or give away things it should not; never run
it as root on a machine that is in use.
"""

import argparse
import os
import queue
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab import image
from lab.host import LabError, fail, files, native_architecture
from tests.mutants.data import CHECKOUT, Mutant, load

#: Programs that the tests start, in addition to those of a host in its factory state.
PACKAGES = "build-essential git cmake ninja-build apt-utils gpg-agent python3-venv openssl".split()
PAGE = CHECKOUT / "docs/mutants.md"
#: The tree's path in a container; this environment and its interpreter have the same paths as outside.
INSIDE, PYTHON = "/srv/checkout", Path(sys.prefix).resolve()
#: After this many seconds a mutant counts as an error, because a hang cannot be told from slow tests.
LIMIT = 300
#: The percentage of mutants that tests must detect.
WANTED = 95
KILLED, SURVIVED, ERROR = "killed", "survived", "error"


class Outcome(NamedTuple):
    """The outcome of a mutant, the end of pytest's output, and the time in seconds."""

    mutant: Mutant
    status: str
    said: str
    seconds: float


class Bench:
    """Trees to break, and the image of the containers in which tests run."""

    def __init__(self, directory: Path, trees: int) -> None:
        self.image = image.build(native_architecture(), extra=PACKAGES)
        self.limit = LIMIT
        self.trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(trees):
            self.trees.put(copy_checkout(directory / f"tree-{number}"))

    def pytest(self, tree: Path, tests: Sequence[str], broken: bool = True) -> subprocess.CompletedProcess[str]:
        """Run tests on ``tree``; in an unbroken tree they write bytecode, so that runs on broken ones start faster."""
        python = PYTHON / "bin" / Path(sys.executable).name
        command = [python, "-m", "pytest", "-q", "-x", "--basetemp=/tmp/pytest", *tests]
        volumes = [f"{tree}:{INSIDE}:{'ro' if broken else 'rw'}", *(f"{path}:{path}:ro" for path in _interpreter())]
        return image.podman(
            "run", "--rm", "--network=none", "--tmpfs=/tmp:rw,exec,suid,mode=1777", f"--workdir={INSIDE}",
            f"--env=ANSIBLE_CONFIG={INSIDE}/ansible.cfg", *(f"--volume={volume}" for volume in volumes),
            *([f"--timeout={self.limit}"] if broken else []), self.image,
            # Do not use exec: the shell is the container's first process and adopts processes that tests leave behind.
            "sh", "-c", '"$@"; exit $?', "sh", *command, quiet=True,
        )  # fmt: skip

    @contextmanager
    def tree(self) -> Iterator[Path]:
        """Yield a tree for exclusive use."""
        tree = self.trees.get()
        try:
            yield tree
        finally:
            self.trees.put(tree)

    def run(self, mutant: Mutant) -> Outcome:
        """Break a guard, run the tests that should detect it, and repair it."""
        broken, began = mutant.broken(), time.monotonic()
        with self.tree() as tree:
            path = tree / mutant.file
            sound, times = path.read_bytes(), path.stat()
            path.write_text(broken, encoding="utf-8")
            try:
                result = self.pytest(tree, mutant.tests)
            finally:
                path.write_bytes(sound)
                # The bytecode, compiled earlier, is matched by this modification time.
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        # Status 1 means that tests failed; any other status except 0 means that pytest could not run them.
        status = {0: SURVIVED, 1: KILLED}.get(result.returncode, ERROR)
        return Outcome(mutant, status, (result.stdout + result.stderr)[-3000:], time.monotonic() - began)


def copy_checkout(target: Path) -> Path:
    """Copy the checkout's files in their current state."""
    for name in files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, target / name, follow_symlinks=False)
    # Make the directories accessible to all accounts, even if the checkout's owner has closed them.
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
    return target


def _interpreter() -> list[Path]:
    """Return the paths of the tests' interpreter; of the system's Python, only those that belong to its version."""
    home = Path(sys.base_prefix).resolve()
    if home in (Path("/usr"), Path("/")):
        return [Path(sys.executable).resolve(), Path(sysconfig.get_path("stdlib")), PYTHON]
    return [home, PYTHON]


def page(outcomes: Sequence[Outcome], command: str) -> str:
    """Return the documentation page with the outcomes."""
    git = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.strip()
    killed = sum(outcome.status == KILLED for outcome in outcomes)
    lines = [
        "# Mutants: broken guards, and the tests that notice",
        "",
        f"`{command}` wrote this page at commit {commit}, {time.strftime('%Y-%m-%d', time.gmtime())}. Each mutant"
        " breaks one guard; it is killed if a test",
        "that `tests/mutants/*.yml` lists for it fails. All of these tests pass on the unbroken tree.",
        "",
        f"**{killed} of {len(outcomes)} are killed ({100 * killed // max(1, len(outcomes))} %).**",
        "",
        "| area | mutants | killed |",
        "|---|---|---|",
    ]
    for area in dict.fromkeys(outcome.mutant.area for outcome in outcomes):
        rows = [outcome for outcome in outcomes if outcome.mutant.area == area]
        lines.append(f"| {area} | {len(rows)} | {sum(row.status == KILLED for row in rows)} |")
    lines += ["", "## Survivors", ""]
    left = [outcome for outcome in outcomes if outcome.status != KILLED]
    lines += ["| area | broken guard | why no test fails |", "|---|---|---|"] if left else ["None.", ""]
    for outcome in left:
        why = outcome.mutant.survives or "**not explained**"
        lines.append(f"| {outcome.mutant.area} | {outcome.mutant.id} | {' '.join(why.split())} |")
    return "\n".join([*lines, ""] if left else lines)


def main() -> int:
    """Return 0 if enough mutants are killed and all others are explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=str(__doc__).splitlines()[0])
    parser.add_argument("-k", metavar="TEXT", default="", help="only those whose area, id or file has this text")
    parser.add_argument("-j", metavar="N", type=int, default=1, help="side by side (default: one after the other)")
    parser.add_argument("--list", action="store_true", help="show them and run none")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(CHECKOUT)}; for all of them")
    options = parser.parse_args()
    mutants = [mutant for mutant in load() if options.k in f"{mutant.area} {mutant.id} {mutant.file}"]
    problems = [problem for mutant in mutants if (problem := mutant.problem())]
    if problems or not mutants or options.list:
        print("\n".join(problems or [f"{mutant.area}: {mutant.id} ({mutant.file})" for mutant in mutants]))
        return 1 if problems or not mutants else 0
    # Do not use pytest's usual directory: the copy and its parent directory must be accessible to all accounts.
    with tempfile.TemporaryDirectory(prefix="sparkforge-mutants-") as name:
        bench = Bench(Path(name), options.j)
        tests = list(dict.fromkeys(test for mutant in mutants for test in mutant.tests))
        print(f"mutants: {len(tests)} tests on {options.j} unbroken tree(s), then {len(mutants)} mutants", flush=True)
        for _number in range(options.j):
            with bench.tree() as tree:
                result = bench.pytest(tree, tests, broken=False)
            # A skipped test detects nothing.
            if result.returncode != 0 or "skipped" in result.stdout.strip().rpartition("\n")[2]:
                print(f"{result.stdout[-6000:]}{result.stderr[-3000:]}\nmutants: not all of these tests pass unbroken")
                return 1
        outcomes = []
        with ThreadPoolExecutor(options.j) as pool:
            for mutant in pool.map(bench.run, mutants):
                outcomes.append(mutant)
                print(
                    f"{mutant.status:8} {mutant.seconds:5.1f} s  {mutant.mutant.area}: {mutant.mutant.id}", flush=True
                )
                if mutant.status == ERROR:
                    print(mutant.said, flush=True)
    counts = {status: sum(mutant.status == status for mutant in outcomes) for status in (KILLED, SURVIVED, ERROR)}
    unexplained = [mutant for mutant in outcomes if mutant.status != KILLED and not mutant.mutant.survives]
    print(f"mutants: {counts}, {len(unexplained)} of those left are not explained")
    if options.write and not options.k:
        PAGE.write_text(page(outcomes, "make mutants"), encoding="utf-8")
    return 1 if unexplained or 100 * counts[KILLED] < WANTED * len(outcomes) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(fail(error))
