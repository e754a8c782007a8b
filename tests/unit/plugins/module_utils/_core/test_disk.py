# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is removed, and what is not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import disk


def dig(place: Path, depth: int) -> None:
    """Make directories within one another: deeper than a path can say, or Python recurse."""
    place.mkdir()
    at = os.open(place, os.O_RDONLY)
    for _level in range(depth):
        os.mkdir("d", dir_fd=at)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    dig(tmp_path / "deep", 5000)
    disk.remove(str(tmp_path / "deep"))
    assert os.listdir(tmp_path) == []


def test_what_links_lead_to_stays(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir(mode=0o500)
    (tmp_path / "outside/file").write_text("kept")
    (tmp_path / "tree/a/b").mkdir(parents=True)
    (tmp_path / "tree/link").symlink_to("../outside")
    (tmp_path / "tree/a/b/link").symlink_to(tmp_path / "outside")
    (tmp_path / "link").symlink_to("outside")
    disk.remove(str(tmp_path / "tree"))
    disk.remove(str(tmp_path / "link"))
    assert os.listdir(tmp_path) == ["outside"]
    assert (tmp_path / "outside/file").read_text() == "kept"
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o500


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    disk.remove(str(tmp_path / "none"))
    (tmp_path / "file").write_text("")
    disk.remove(str(tmp_path / "file"))
    disk.remove(str(tmp_path / "file/below"))
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_is_not_root_removes_directories_of_any_mode(tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "a/b/c/d").mkdir(parents=True)
    (place / "a/b/c/file").write_text("")
    (place / "a/e").mkdir()
    for name, mode in (("a/b/c/d", 0o000), ("a/b/c", 0o400), ("a/b", 0o500), ("a/e", 0o000), ("a", 0o100)):
        (place / name).chmod(mode)
    for path in [place, *place.rglob("*")]:
        os.lchown(path, 65534, 65534)
    # The directories above are root's alone: from within one of its own it needs no path.
    if (child := os.fork()) == 0:
        try:
            os.chdir(place)
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            disk.remove("a")
        finally:
            os._exit(os.path.lexists("a"))
    assert os.waitpid(child, 0)[1] == 0
    assert os.listdir(place) == []
