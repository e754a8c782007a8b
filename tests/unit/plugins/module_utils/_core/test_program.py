# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A program of ours on a host: pushed once, compared with its sha256 before each use, or one message."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import program
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError

from tests.unit.run_module import program as real, run_module

CONTENT = b"print('the program')\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def pushed(tmp_path: Path) -> str:
    path = tmp_path / "pushed.pyz"
    path.write_bytes(CONTENT)
    return str(path)


def kept(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "proof").glob("*"))


def test_a_host_that_lacks_it_asks_for_it_and_keeps_it(tmp_path: Path, pushed: str) -> None:
    root = tmp_path / "root"
    assert program.present(str(root), SHA256, None, True) is None and not root.exists()
    path = program.present(str(root), SHA256, pushed, True)
    assert path == program.place(str(root), SHA256) and Path(path).read_bytes() == CONTENT
    assert (os.stat(path).st_mode & 0o777, kept(root)) == (0o755, [f"{SHA256}.pyz"])
    # Nothing is sent to a host that has it.
    assert program.present(str(root), SHA256, None, True) == path


def test_a_torn_push_is_refused_and_nothing_is_kept(tmp_path: Path, pushed: str) -> None:
    Path(pushed).write_bytes(CONTENT[:-3])
    with pytest.raises(SparkforgeError, match="did not arrive whole") as refused:
        program.present(str(tmp_path / "root"), SHA256, pushed, True)
    assert "again" in refused.value.remedy and not (tmp_path / "root").exists()


@pytest.mark.parametrize("kind", ["text", "link"])
def test_a_program_that_was_changed_on_the_host_is_refused(kind: str, tmp_path: Path, pushed: str) -> None:
    path = Path(str(program.present(str(tmp_path), SHA256, pushed, True)))
    if kind == "text":
        path.write_bytes(CONTENT + b"import os\n")
    else:
        path.unlink()
        path.symlink_to(pushed)
    with pytest.raises(SparkforgeError, match=str(path)):
        program.present(str(tmp_path), SHA256, pushed, True)


def test_a_former_program_goes_unless_a_timer_starts_it(
    tmp_path: Path, pushed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    units = tmp_path / "units"
    units.mkdir()
    monkeypatch.setattr(program, "UNITS", str(units))
    directory = tmp_path / "proof"
    directory.mkdir()
    used, unused = (directory / f"{digit * 64}.pyz" for digit in "ab")
    for path in (used, unused, directory / "settings.json"):
        path.write_text("")
    (units / "sparkforge-proof.service").write_text(f"ExecStart=/usr/bin/python3 -B {used} scheduled\n")
    program.present(str(tmp_path), SHA256, pushed, True)
    assert kept(tmp_path) == sorted([f"{SHA256}.pyz", used.name, "settings.json"])


def test_another_version_at_a_fixed_place_is_not_refused_and_its_installation_replaces_it(
    tmp_path: Path, pushed: str
) -> None:
    place = Path(program.place(str(tmp_path), SHA256, "guard"))
    place.parent.mkdir()
    place.write_text("the former one")
    assert program.present(str(tmp_path), SHA256, None, False, "guard") is None
    assert program.present(str(tmp_path), SHA256, pushed, False, "guard") == pushed
    place.write_bytes(CONTENT)
    assert program.present(str(tmp_path), SHA256, None, False, "guard") == str(place)


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, ""])
def test_a_name_that_is_no_sha256_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SparkforgeError, match="is not a sha256"):
        program.present(str(tmp_path), name, None, True)


def test_a_module_without_its_action_says_so() -> None:
    result = run_module("proof_publish", program=None)
    assert result["failed"] and "started without its action plugin" in result["cause"] and result["remedy"]


def test_a_program_that_ends_otherwise_is_one_message(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pyz"
    shutil.copy(real()["path"], broken)
    broken.write_bytes(b"raise SystemExit('no room')\n")
    sha256 = hashlib.sha256(broken.read_bytes()).hexdigest()
    result = run_module("proof_publish", root=str(tmp_path), program={"sha256": sha256, "path": str(broken)})
    assert result["cause"] == "The program ended with status 1: no room." and "by hand" in result["remedy"]
