"""The action plugin stack_mirror lists the missing files, or returns a single message."""

from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action import stack_mirror
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import receipts
from ansible_collections.sparkforge.dgx_spark.tools.mirror.directory import Directory

from tests.unit.act import act


def test_check_mode_lists_the_needs_of_a_shipped_stack_without_a_network(tmp_path: Path) -> None:
    # The stack is to be built, and its wheels are used until then.
    arguments = {"name": "torch-2.14.1", "meanwhile": "torch-2.14.1", "directory": str(tmp_path / "mirror")}
    result = act(stack_mirror.ActionModule, arguments, check_mode=True)
    assert result["changed"] is True
    missing = "\n".join(result["missing"])
    for text in ("nvpl_blas", "pytorch.git, with its submodules", "fetch torch 2.14.1", "fetch torchvision 0.29"):
        assert text in missing, missing
    assert len(set(result["missing"])) == len(result["missing"])
    assert not (tmp_path / "mirror").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "nothing"}, "Stack 'nothing' is unknown"),
        ({"machines": ["riscv64"]}, "not for riscv64"),
        ({"extensions": ["nothing"]}, "has no unit nothing"),
        ({"method": "other"}, "method"),
        ({"directory": None}, "directory"),
    ],
)
def test_bad_input_is_one_message_of_stack_mirror(tmp_path: Path, arguments: dict[str, object], message: str) -> None:
    options = {"name": "torch-2.9.1", "directory": str(tmp_path / "mirror"), **arguments}
    options = {name: value for name, value in options.items() if value is not None}
    result = act(stack_mirror.ActionModule, options, check_mode=True)
    assert result["failed"] is True
    assert message in result["msg"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_mirror_with_a_file_that_was_changed_is_refused_before_anything_is_fetched(tmp_path: Path, check_mode: bool):
    mirror = Directory(str(tmp_path / "mirror"), check=False, say=lambda _line: None)
    (tmp_path / "file").write_text("right")
    mirror.fetch("apt/file", (tmp_path / "file").as_uri())
    (tmp_path / "mirror/apt/file").write_text("wrong")
    arguments = {"name": "torch-2.9.1", "directory": str(tmp_path / "mirror")}
    result = act(stack_mirror.ActionModule, arguments, check_mode=check_mode)
    assert result["failed"] is True and "file was changed" in result["cause"]


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    arguments = {"name": "torch-2.9.1", "directory": str(tmp_path / "mirror")}
    with receipts.lock(str(tmp_path / "mirror"), "mirror"):
        result = act(stack_mirror.ActionModule, arguments)
    assert result["failed"] is True
    assert "mirror" in result["msg"]
