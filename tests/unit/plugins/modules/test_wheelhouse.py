# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module as Ansible calls it; what it decides is tested with its core."""

from __future__ import annotations

from pathlib import Path

from tests.unit.run_module import run_module
from tests.unit.wheel_tree import PLATFORM, WheelTree


def test_the_module_publishes_takes_back_and_refuses(tmp_path: Path) -> None:
    tree = WheelTree(tmp_path / "root")
    options = {
        "root": str(tree.root),
        "log_root": str(tree.logs),
        "platform": PLATFORM,
        "name": "spark01",
        "stack": "torch-2.9.1",
        "lock_id": "0123456789ab",
        "python": "3.12",
        "units": tree.stack(1),
    }
    first = run_module("wheelhouse", **options)
    assert first["changed"] and first["manifest"]["host"] == "spark01"
    assert not run_module("wheelhouse", **options)["changed"]
    next((tree.house / "pytorch").rglob("*.whl")).write_bytes(b"")
    refused = run_module("wheelhouse", **options)
    assert refused["failed"] and refused["cause"] and refused["remedy"]
    assert run_module("wheelhouse", root=str(tree.root), state="absent")["changed"]


def test_what_publishing_needs_is_asked_for() -> None:
    refused = run_module("wheelhouse", platform=PLATFORM)
    assert refused["failed"]
    assert "missing" in refused["msg"] and "units" in refused["msg"]
