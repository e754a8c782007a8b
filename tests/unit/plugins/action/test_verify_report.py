# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import pathlib
import stat

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action.verify_report import write_report
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._errors import SparkforgeError


def test_a_report_that_cannot_be_written_leaves_the_old_one_and_no_debris(tmp_path: pathlib.Path) -> None:
    path = write_report(str(tmp_path), "spark01", {"verdict": "unproven"}, False)
    with pytest.raises(TypeError):
        write_report(str(tmp_path), "spark01", {"verdict": object()}, False)
    assert json.loads(pathlib.Path(path).read_text())["verdict"] == "unproven"
    assert [entry.name for entry in tmp_path.iterdir()] == ["spark01.json"]
    (tmp_path / "file").write_text("")
    with pytest.raises(SparkforgeError, match="cannot be written on the controller") as failure:
        write_report(str(tmp_path / "file" / "reports"), "spark01", {}, False)
    assert "verify_report_directory" in failure.value.remedy


def test_a_report_is_whole_readable_and_says_when_it_was_written(tmp_path: pathlib.Path) -> None:
    path = pathlib.Path(write_report(str(tmp_path / "new" / "reports"), "spark01", {"host": "spark01"}, False))
    report = json.loads(path.read_text())
    assert report["host"] == "spark01"
    assert report["written"].endswith("Z")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_check_mode_does_not_overwrite_what_a_real_run_found(tmp_path: pathlib.Path) -> None:
    write_report(str(tmp_path), "spark01", {"verdict": "fail"}, False)
    checked = write_report(str(tmp_path), "spark01", {"verdict": "unproven"}, True)
    assert os.path.basename(checked) == "spark01.check.json"
    assert json.loads((tmp_path / "spark01.json").read_text())["verdict"] == "fail"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "[::1]:2222", "..hidden"])
def test_no_name_of_a_host_leaves_the_directory(tmp_path: pathlib.Path, name: str) -> None:
    path = write_report(str(tmp_path), name, {}, False)
    assert pathlib.Path(path).parent == tmp_path


def test_a_name_without_letters_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SparkforgeError, match="cannot be named after"):
        write_report(str(tmp_path), "..", {}, False)
