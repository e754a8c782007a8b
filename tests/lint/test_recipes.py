"""The recipes in CONTRIBUTING.md suffice: each is a patch that applies and passes its tests."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.lint.test_collection import BIN, CHECKOUT, copy_of_the_tracked_files, run

RECIPES = sorted((CHECKOUT / "tests/recipes").glob("*.patch"))
#: A recipe's list of tests; the long ones plant a fault in an environment with torch.
TESTS = re.compile(r"^(Tests|Long tests): (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone that the recipes share, so that its modules are compiled once."""
    return copy_of_the_tracked_files(tmp_path_factory.mktemp("recipes") / "clone")


@pytest.mark.parametrize(
    ("recipe", "tests"),
    [
        pytest.param(path, tests, id=f"{path.stem}, {kind}", marks=[pytest.mark.long] if kind != "Tests" else [])
        for path in RECIPES
        for kind, tests in TESTS.findall(path.read_text())
    ],
)
def test_a_recipe_applies_and_passes(recipe: Path, tests: str, clone: Path):
    named = shlex.split(tests)
    run("git", "apply", recipe, cwd=clone)
    try:
        changed = re.findall(r"^\+\+\+ b/(.+\.py)$", recipe.read_text(), re.MULTILINE)
        output = run(BIN / "pytest", "-q", *named, cwd=clone, ANSIBLE_CONFIG=str(clone / "ansible.cfg"))
        assert re.search(r"^\d+ passed", output, re.MULTILINE) and "failed" not in output
        if changed:
            run(BIN / "ruff", "check", "--no-cache", *changed, cwd=clone)
    finally:
        run("git", "apply", "--reverse", recipe, cwd=clone)


def test_each_recipe_is_in_contributing_and_names_no_file_that_it_does_not_touch():
    text = (CHECKOUT / "CONTRIBUTING.md").read_text()
    titles = {"role-option": "An option of a role", "unit-option": "An option of a unit", "diagnosis": "A diagnosis"}
    titles["check"] = "A check of the proof"
    assert {path.stem for path in RECIPES} == set(titles)
    for name, title in titles.items():
        (paragraph,) = re.findall(rf"^\*\*{title}\.\*\* (.+?)\n\n", text, re.MULTILINE | re.DOTALL)
        assert f"tests/recipes/{name}.patch" in paragraph


#: These tests fail if a list lacks a stack, and name the command to run.
LISTS_OF_STACKS = ("tests/golden", "tests/unit/lab/test_stacks.py")
#: Other tests that a new stack can break.
OTHER_STACK_TESTS = ("tests/unit/test_documents.py", "tests/unit/plugins/plugin_utils/test_stack.py")


# It comes last, because it does not undo its changes to the clone.
def test_a_stack_is_two_files_and_a_command_that_the_tests_name(clone: Path):
    roles = clone / "roles/stack"
    for folder in ("vars", "files/locks"):
        text = (roles / folder / "cpu.yml").read_text()
        (roles / folder / "cpu-next.yml").write_text(re.sub(r"\bstack(:?) cpu\b", r"stack\1 cpu-next", text))
    environment = {"ANSIBLE_CONFIG": str(clone / "ansible.cfg")}
    listed = subprocess.run(
        [BIN / "pytest", "-q", "-n0", *LISTS_OF_STACKS],
        cwd=clone, env={**os.environ, **environment}, text=True, capture_output=True, check=False,
    )  # fmt: skip
    failed = re.findall(r"^FAILED (\S+?)::", listed.stdout, re.MULTILINE)
    assert set(failed) == {"tests/golden/test_identities.py", "tests/unit/lab/test_stacks.py"}, listed.stdout[-3000:]
    assert "python -m lab.stacks" in listed.stdout
    run(BIN / "python", "-m", "lab.stacks", cwd=clone, **environment)
    run(BIN / "pytest", "-q", "-n0", *LISTS_OF_STACKS, *OTHER_STACK_TESTS, cwd=clone, **environment)
    assert "| `cpu-next` | PyTorch 2.10.0" in (clone / "docs/reference.md").read_text()
