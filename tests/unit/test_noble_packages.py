"""The names that the toolchain asks Ubuntu 24.04 for, against a recorded list: they are not installed here."""

import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "tests/unit/data/noble-packages.json").read_text())
STACKS = sorted((ROOT / "roles/stack/vars").glob("torch-*.yml"))


def wanted(stack: dict) -> list[str]:
    texts = yaml.safe_load((ROOT / "roles/build_toolchain/vars/main.yml").read_text())["__build_toolchain_standard"]
    known = {
        "{{ stack.llvm_major }}": str(stack["llvm_major"]),
        "{{ stack.python.version }}": str(stack["python"]["version"]),
    }
    for expression, value in known.items():
        texts = [text.replace(expression, value) for text in texts]
    return texts


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_noble_has_each_package_that_a_shipped_stack_needs(path: Path):
    stack = yaml.safe_load(path.read_text())["stack_definition"]
    assert {"id": "ubuntu", "version": "24.04"} in stack["systems"]
    names = wanted(stack)
    assert len(names) > 10
    assert not [name for name in names if "{{" in name]
    assert set(names) <= set(RECORD["packages"]), "not in the recorded list of noble"


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_nothing_of_llvm_is_asked_for_that_excludes_another_major_or_that_no_unit_uses(path: Path):
    # All of libomp-<major>-dev provide libomp-x.y-dev and conflict with it: asked for beside Ubuntu's libomp-dev, which
    # the recipe of 2025 installs, apt would have to remove one.
    names = wanted(yaml.safe_load(path.read_text())["stack_definition"])
    assert [name for name in names if "20" in name] == ["llvm-20", "clang-20", "lld-20"]


def test_there_is_a_shipped_stack_to_check():
    assert STACKS


def test_the_record_says_where_and_when_it_was_read():
    assert RECORD["provenance"]
    assert RECORD["read"] == "2026-11-20"
    assert RECORD["not_established"]


def test_llvm_20_comes_from_noble_s_updates_as_the_facts_say():
    rows = [row for name, row in RECORD["packages"].items() if "-20" in name]
    assert {row["version"] for row in rows} == {"1:20.1.2-0ubuntu1~24.04.3"}
    assert {(row["suite"], row["component"]) for row in rows} == {("noble-updates", "universe")}


def test_the_readme_says_that_they_were_not_installed_here():
    assert "were not installed here" in (ROOT / "roles/build_toolchain/README.md").read_text()
