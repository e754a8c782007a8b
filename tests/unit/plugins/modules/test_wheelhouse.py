"""The module as Ansible calls it; the tests in module_utils/_wheelhouse cover its decisions."""

import json
import shutil
import stat
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.wheelhouse import signed

from tests.unit.run_module import run_module
from tests.unit.wheel_tree import PLATFORM, WheelTree


def options_for(tree: WheelTree, **options: str) -> dict[str, t.Any]:
    """Return the options that publish a tree's stack."""
    return {
        "root": str(tree.root), "platform": PLATFORM, "name": "spark01", "stack": "torch-2.9.1",
        "lock_id": "0123456789ab", "python": "3.12", "units": tree.stack(1), **options,
    }  # fmt: skip


def test_the_module_publishes_removes_and_refuses(tmp_path: Path) -> None:
    tree = WheelTree(tmp_path / "root")
    options = options_for(tree, log_root=str(tree.logs))
    first = run_module("wheelhouse", **options)
    assert first["changed"] and first["manifest"]["host"] == "spark01"
    assert not run_module("wheelhouse", **options)["changed"]
    next((tree.house / "pytorch").rglob("*.whl")).write_bytes(b"")
    refused = run_module("wheelhouse", **options)
    assert refused["failed"] and refused["cause"] and refused["remedy"]
    assert run_module("wheelhouse", root=str(tree.root), state="absent")["changed"]


def test_a_published_manifest_is_signed_by_a_key_of_root(tmp_path: Path) -> None:
    tree = WheelTree(tmp_path / "root")
    options = options_for(tree)
    key = tree.root / "keys/wheelhouse"
    assert run_module("wheelhouse", check_mode=True, **options)["changed"] and not key.parent.exists()
    first = run_module("wheelhouse", **options)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (key.parent, key)] == [0o700, 0o600]
    assert first["public_key"].startswith("ssh-ed25519 ")
    signed.check(first["manifest"], [first["public_key"]], "It")
    assert json.loads(Path(first["path"]).read_text()) == first["manifest"]
    assert not run_module("wheelhouse", check_mode=True, **options)["changed"]
    # With a new key, the same manifest is signed again.
    shutil.rmtree(key.parent)
    assert run_module("wheelhouse", check_mode=True, **options)["changed"]
    second = run_module("wheelhouse", **options)
    assert second["changed"] and second["manifest"]["seal"] == first["manifest"]["seal"]
    with pytest.raises(SparkforgeError, match="signed by none"):
        signed.check(second["manifest"], [first["public_key"]], "It")
    signed.check(second["manifest"], [second["public_key"]], "It")
    assert not run_module("wheelhouse", **options)["changed"]
    removal = run_module("wheelhouse", root=str(tree.root), state="absent")
    assert str(key.parent) in removal["removed"] and not key.parent.exists()


def test_missing_options_for_publishing_are_named() -> None:
    refused = run_module("wheelhouse", platform=PLATFORM)
    assert refused["failed"]
    assert "missing" in refused["msg"] and "units" in refused["msg"]
