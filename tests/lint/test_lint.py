"""The linters, as tests, so that one command counts them with the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SOURCES = ["plugins", "cli", "lab", "benchmarks", "tests", "molecule", "proof", "conftest.py"]


def run(*command: str | Path, cwd: Path = CHECKOUT, **environment: str) -> str:
    """Run one tool from the environment of the tests and return what it printed; that is shown when it fails."""
    variables = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
        "NO_COLOR": "1",
        **environment,
    }
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=variables, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    assert done.returncode == 0, done.stdout[-12000:]
    return done.stdout


def test_every_test_is_in_make_test_or_in_make_test_long():
    # This test is run by make itself, whose second level says where it is.
    asked = ("make", "--no-print-directory", "-n")
    told = {goal: run(*asked, goal, MAKELEVEL="").splitlines()[-1] for goal in ("test", "test-long")}
    assert ' -m "not long" ' in told["test"] and " -m long " in told["test-long"]
    assert all(line.endswith(" tests proof/tests") for line in told.values())
    assert (CHECKOUT / ".ci/run").read_text().endswith("\nexec make test\n")


def test_ruff_finds_nothing():
    run(BIN / "ruff", "check", "--no-cache", *SOURCES)


def test_the_code_is_formatted_by_ruff():
    run(BIN / "ruff", "format", "--no-cache", "--check", *SOURCES)


def test_mypy_finds_nothing_in_the_plugins_and_the_lab():
    run(BIN / "mypy", "--cache-dir=/dev/null", "proof/src", "plugins", "cli", "lab", "benchmarks")


def test_yamllint_finds_nothing():
    run(BIN / "yamllint", "--strict", ".")


def test_ansible_lint_passes_the_production_profile(tmp_path: Path):
    run(BIN / "ansible-lint", "--strict", "-q", XDG_CACHE_HOME=str(tmp_path))


def test_the_changelog_fragments_are_valid():
    run(BIN / "antsibull-changelog", "lint")
