"""The linters, run as tests, so that one command covers everything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.lint.test_sanity import interpreter

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
SOURCES = ["plugins", "tools", "cli", "lab", "benchmarks", "tests", "molecule", "guard", "proof", "conftest.py"]


def run(*command: str | Path, cwd: Path = CHECKOUT, **environment: str) -> str:
    """Run a tool from the test environment and return its output, which is shown if the tool fails."""
    variables = {
        **os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
        "NO_COLOR": "1", **environment,
    }  # fmt: skip
    result = subprocess.run([str(word) for word in command], cwd=cwd, env=variables, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    assert result.returncode == 0, result.stdout[-12000:]
    return result.stdout


def test_every_test_is_in_make_test_or_in_make_test_long():
    # This test is run by make itself, and a nested make also prints which directory it is in.
    make = ("make", "--no-print-directory", "-n")
    commands = {goal: run(*make, goal, MAKELEVEL="").splitlines()[-1] for goal in ("test", "test-long")}
    assert ' -m "not long" ' in commands["test"] and " -m long " in commands["test-long"]
    assert all(line.endswith(" tests guard/tests proof/tests") for line in commands.values())
    assert (CHECKOUT / ".ci/run").read_text().endswith("\nexec make test\n")


def test_ruff_finds_nothing():
    run(BIN / "ruff", "check", "--no-cache", *SOURCES)


def test_the_code_is_formatted_by_ruff():
    run(BIN / "ruff", "format", "--no-cache", "--check", *SOURCES)


def test_mypy_finds_nothing_in_the_plugins_and_the_lab():
    collection = Path(".collections/ansible_collections/sparkforge/dgx_spark")
    own = [collection / "plugins", collection / "tools"]
    run(BIN / "mypy", "--cache-dir=/dev/null", "guard/src", "proof/src", *own, "cli", "lab", "benchmarks")


def test_yamllint_finds_nothing():
    # antsibull-nox only looks at files in git.
    run(BIN / "yamllint", "--strict", ".")


# CI has a job for these sessions. Shorter counterparts: yamllint above, ansible-doc in test_sanity.py,
# test_collection.py for the tarball.
@pytest.mark.long
def test_the_sessions_that_collections_have_in_common_find_nothing(tmp_path: Path):
    sessions = re.findall(r"^SESSIONS \?= (.+)$", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)[0].split()
    output = run(BIN / "nox", "--envdir", tmp_path, "--sessions", *sessions)
    assert [name for name in sessions if f"* {name}: success" not in output] == []


def test_nox_and_pre_commit_install_the_tests_versions():
    pinned = dict(
        re.findall(r"^([a-z-]+)==(\S+)", "".join(path.read_text() for path in CHECKOUT.glob("requirements*.txt")), re.M)
    )
    named = re.findall(r'_package = "([a-z-]+)==(\S+)"', (CHECKOUT / "antsibull-nox.toml").read_text())
    assert named and [(name, version) for name, version in named if pinned[name] != version] == []
    cores = set(re.findall(r"ansible-core==([\d.]+)", (CHECKOUT / "requirements.txt").read_text()))
    assert cores <= set(re.findall(r'"([\d.]+)": "3', (CHECKOUT / "noxfile.py").read_text()))


def test_ci_runs_every_session_of_nox():
    listed = set(re.findall(r"^[*-] (\S+) ->", run(BIN / "nox", "--list"), re.MULTILINE))
    # Ignore sessions that only start others or are for other CI systems.
    listed -= {"yamllint", "antsibull-nox-config", "ansible-test-sanity", "matrix-generator"}
    workflow = yaml.safe_load((CHECKOUT / ".github/workflows/ci.yml").read_text())
    sessions = {name for line in workflow["jobs"]["nox"]["strategy"]["matrix"]["session"] for name in line.split()}
    assert sessions == listed


def test_ansible_lint_passes_the_production_profile(tmp_path: Path):
    # Its rule "yaml" runs yamllint again.
    run(BIN / "ansible-lint", "--strict", "-q", "-x", "yaml", XDG_CACHE_HOME=str(tmp_path))


def test_the_changelog_fragments_are_valid():
    run(BIN / "antsibull-changelog", "lint")


@pytest.mark.long
@pytest.mark.parametrize(("core", "version"), [("2.20.10", "3.12"), ("2.21.5", "3.13"), ("candidate", "3.14")])
def test_the_unit_tests_pass_on_another_ansible_core(core: str, version: str, tmp_path: Path):
    python = interpreter(version)
    if not python:
        pytest.skip(f"ansible-core {core} is tried with Python {version}, which this machine does not have")
    path = f"{BIN}:{Path(python).parent}:{os.environ['PATH']}"
    output = run(BIN / "nox", "--envdir", tmp_path, "--sessions", f"units(core-{core})", PATH=path, NO_COLOR="")
    assert f"Session units(core-{core}) was successful" in output
