# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which build has a tree."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit import trees


def test_the_holder_of_a_tree_is_one_and_a_damaged_file_names_none(tmp_path: Path) -> None:
    tree = tmp_path / "tiny/tree-0"
    assert trees.holder(str(tree)) == (None, None)
    trees.hold(str(tree), "a" * 16)
    assert trees.holder(str(tree)) == ("a" * 16, None)
    trees.hold(str(tree), "a" * 16, "b" * 16)
    assert trees.holder(str(tree)) == ("a" * 16, "b" * 16)
    assert trees.of_unit(str(tmp_path / "tiny")) == [(str(tree), "a" * 16)]
    for text in ("", "\0" * 17, "a" * 16, "../../etc\n"):
        (tree / "holder").write_text(text)
        assert trees.holder(str(tree)) == (None, None)
