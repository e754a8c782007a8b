"""The packages that the toolchain installs on Ubuntu 24.04 are in a recorded list; the test does not install them."""

import json
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "tests/unit/data/noble-packages.json").read_text())
STACKS = sorted((ROOT / "roles/stack/vars").glob("torch-*.yml"))


def required_packages(stack: dict) -> list[str]:
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
    names = required_packages(stack)
    assert len(names) > 10
    assert not [name for name in names if "{{" in name]
    assert set(names) <= set(RECORD["packages"]), "not in the recorded list of noble"


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_only_used_llvm_packages_that_exclude_no_other_major_are_required(path: Path):
    # Every libomp-<major>-dev provides libomp-x.y-dev and conflicts with it, so apt would have to remove Ubuntu's
    # libomp-dev, which the recipe from 2025 installs.
    names = required_packages(yaml.safe_load(path.read_text())["stack_definition"])
    assert [name for name in names if "20" in name] == ["llvm-20", "clang-20", "lld-20"]
