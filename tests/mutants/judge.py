"""Break drawn guards and run the tests near them, in containers or directly on this machine."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import typing as t
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.__main__ import ERROR, KILLED, LIMIT, SURVIVED, Bench, Outcome, copy_checkout

if t.TYPE_CHECKING:
    from tests.mutants.drawn import Drawn


class Here(Bench):
    """Trees to break on this machine, in separate namespaces if it can create them."""

    def __init__(self, directory: Path, trees: int) -> None:
        self.limit = LIMIT
        self.trees = queue.SimpleQueue()
        # Accounts other than root read the trees.
        directory.chmod(0o755)
        first = copy_checkout(directory / "0")
        subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", first], check=False)
        for number in range(trees):
            self.trees.put(shutil.copytree(first, directory / str(number + 1), symlinks=True))
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        self.alone = alone if subprocess.run([*alone, "true"], check=False).returncode == 0 else []

    def pytest(self, tree: Path, tests: Sequence[str], broken: bool = True) -> subprocess.CompletedProcess[str]:
        """Run tests on ``tree``, each time with an empty directory for their files."""
        temporary, output = tree.with_name(f"{tree.name}.tmp"), tree.with_name(f"{tree.name}.output")
        remove(temporary)
        temporary.mkdir(exist_ok=True)
        temporary.chmod(0o1777)
        command = [*self.alone, sys.executable, "-m", "pytest", "-q", "-x", f"--basetemp={temporary}/pytest", *tests]
        environment = {**os.environ, "TMPDIR": str(temporary), "ANSIBLE_CONFIG": str(tree / "ansible.cfg")}
        # Do not use a pipe, because processes that tests leave behind would keep it open.
        with output.open("w") as stream:
            process = subprocess.Popen(
                command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                start_new_session=True,
            )  # fmt: skip
            try:
                status = process.wait(self.limit)
            except subprocess.TimeoutExpired:
                status = 124
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return subprocess.CompletedProcess(command, status, output.read_text(errors="replace"), "")


def remove(directory: Path) -> None:
    """Remove a directory that broken code may have nested too deeply for Python to remove."""
    subprocess.run(["rm", "-rf", directory], check=False, stderr=subprocess.DEVNULL)


class Judge:
    """Breaks guards and runs the tests near them, nearest first, until one fails.

    A test that also fails on unbroken code does not count.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.sound: set[str] = set()
        self.unsound: set[str] = set()

    def outcome(self, guard: Drawn, *options: str) -> Outcome:
        """Return the outcome of a guard; an error with one guard does not end the run."""
        try:
            return self._outcome(guard, *options)
        except Exception as error:
            return Outcome(guard, ERROR, f"{type(error).__name__}: {error}", 0)  # type: ignore[arg-type]

    def _outcome(self, guard: Drawn, *options: str) -> Outcome:
        if not guard.tests:
            return Outcome(guard, SURVIVED, "no test reaches it", 0)  # type: ignore[arg-type]
        while True:
            # If a test file cannot be loaded, exclude the whole file.
            skipped = [f"--{'deselect' if '::' in test else 'ignore'}={test}" for test in sorted(self.unsound)]
            broken = dataclasses.replace(guard, tests=(*options, *skipped, *guard.tests))
            outcome = self.bench.run(broken)._replace(mutant=guard)  # type: ignore[arg-type]
            # pytest stops this way if the broken code raises an exception that looks like Ctrl-C.
            if outcome.status == ERROR and "! KeyboardInterrupt !" in outcome.said:
                return outcome._replace(status=KILLED)
            failed = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", outcome.said, re.M)
            if outcome.status != KILLED or not failed or failed[-1] in self.unsound:
                return outcome
            if self._passes(failed[-1], *options):
                return outcome

    def _passes(self, test: str, *options: str) -> bool:
        """Tell whether a test passes on unbroken code."""
        if test not in self.sound:
            with self.bench.tree() as tree:
                result = self.bench.pytest(tree, [*options, test], broken=False)
            (self.unsound if result.returncode else self.sound).add(test)
            if result.returncode:
                print(f"mutants: {test} fails unbroken and judges nothing", flush=True)
        return test in self.sound
