"""The action plugin stack_facts returns a stack's facts, or a single message."""

import shutil
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action import stack_facts

from tests.unit.act import act

COLLECTION = Path(__file__).parents[4]


def facts(inventory: Path | None = None, **arguments: t.Any) -> dict[str, t.Any]:
    """Return the plugin's result with an inventory in that directory."""
    return act(stack_facts.ActionModule, arguments, ansible_inventory_sources=[str(inventory)] if inventory else [])


def test_the_facts_are_returned_and_not_set() -> None:
    result = facts(name="torch-2.15.0", method="wheel")
    assert result["changed"] is False
    assert "ansible_facts" not in result
    stack = result["stack"]
    assert stack["name"] == "torch-2.15.0"
    assert stack["profile"]["name"] == "gb10"
    assert stack["lock"]["wheels"]["cp312-linux-aarch64"]
    assert result["files"]["stack"].endswith("roles/stack/vars/torch-2.15.0.yml")


def test_a_setting_that_lets_hosts_set_variables_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    assert facts(name="torch-2.15.0", method="wheel")["warnings"] == []
    monkeypatch.setenv("ANSIBLE_INJECT_FACT_VARS", "true")
    (warning,) = facts(name="torch-2.15.0", method="wheel")["warnings"]
    assert "inject_facts_as_vars is on" in warning and "Set inject_facts_as_vars = false" in warning


def test_a_stack_of_the_inventory_is_found(tmp_path: Path) -> None:
    (tmp_path / "stacks").mkdir()
    shutil.copy(COLLECTION / "roles/stack/vars/torch-2.15.0.yml", tmp_path / "stacks" / "mine.yml")
    (tmp_path / "locks").mkdir()
    lock = (COLLECTION / "roles/stack/files/locks/torch-2.15.0.yml").read_text()
    (tmp_path / "locks" / "mine.yml").write_text(lock.replace("stack: torch-2.15.0", "stack: mine"))
    result = facts(tmp_path, name="mine", method="wheel")
    assert result["files"] == {
        "stack": str(tmp_path / "stacks" / "mine.yml"),
        "lock": str(tmp_path / "locks" / "mine.yml"),
    }


@pytest.mark.parametrize(
    ("arguments", "cause", "remedy"),
    [
        ({"name": "torch-9"}, "Stack 'torch-9' is unknown", "stacks/ next to"),
        ({"name": "torch-2.15.0", "profile": "gb11"}, "Profile 'gb11' is unknown", "gb10"),
        ({"name": "torch-2.15.0"}, "the commit of triton is not known", "stack_method: wheel"),
        ({"name": "torch-2.9.1", "method": "wheel"}, "no wheels to", "stack_method to build"),
    ],
)
def test_bad_input_is_one_message_with_a_remedy(arguments: dict[str, str], cause: str, remedy: str) -> None:
    result = facts(**arguments)
    assert result["failed"] is True
    assert cause in result["cause"]
    assert remedy in result["remedy"]
    assert result["msg"] == f"{result['cause']} {result['remedy']}"
    assert "ansible_facts" not in result


def test_building_is_the_default_and_removal_needs_no_lock() -> None:
    result = facts(name="torch-2.9.1")
    assert result["stack"]["method"] == "build"
    assert result["stack"]["units"]["pytorch"]["source"]["version"].startswith("5811a8d")
    result = facts(name="torch-2.15.0", lock_required=False)
    assert result["stack"]["units"]["triton"]["source"] is None


@pytest.mark.parametrize("arguments", [{}, {"name": "x", "directories": {"a": 1}}, {"name": "x", "nome": 1}])
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, t.Any]) -> None:
    result = facts(**arguments)
    assert result["failed"] is True
    assert any(word in result["msg"] for word in ("name", "directories", "nome"))
