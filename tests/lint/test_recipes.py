"""What CONTRIBUTING.md says of adding something is enough: each recipe is a patch that applies and passes its tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.lint.test_collection import BIN, CHECKOUT, copy_of_the_tracked_files, run

RECIPES = sorted((CHECKOUT / "tests/recipes").glob("*.patch"))
#: Plants a fault in an environment with torch.
LONG = {"check": [pytest.mark.long]}


@pytest.mark.parametrize(
    "recipe", [pytest.param(path, id=path.stem, marks=LONG.get(path.stem, [])) for path in RECIPES]
)
def test_a_recipe_applies_and_passes(recipe: Path, tmp_path: Path):
    named = re.findall(r"^Tests: (.+)$", recipe.read_text(), re.MULTILINE)[0].split()
    clone = copy_of_the_tracked_files(tmp_path / "clone")
    run("git", "apply", recipe, cwd=clone)
    changed = re.findall(r"^\+\+\+ b/(.+\.py)$", recipe.read_text(), re.MULTILINE)
    told = run(BIN / "pytest", "-q", *named, cwd=clone, ANSIBLE_CONFIG=str(clone / "ansible.cfg"))
    assert re.search(r"^\d+ passed", told, re.MULTILINE) and "failed" not in told
    if changed:
        run(BIN / "ruff", "check", "--no-cache", *changed, cwd=clone)


def test_each_recipe_is_in_contributing_and_names_no_file_that_it_does_not_touch():
    text = (CHECKOUT / "CONTRIBUTING.md").read_text()
    titles = {"role-option": "An option of a role", "unit-option": "An option of a unit", "diagnosis": "A diagnosis"}
    titles["check"] = "A check of the proof"
    assert {path.stem for path in RECIPES} == set(titles)
    for name, title in titles.items():
        (paragraph,) = re.findall(rf"^\*\*{title}\.\*\* (.+?)\n\n", text, re.MULTILINE | re.DOTALL)
        assert f"tests/recipes/{name}.patch" in paragraph
