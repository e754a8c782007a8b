# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The script that role verify runs on a host, run as the role runs it: ``python3 -c``."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import typing as t

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "roles" / "verify" / "files" / "dlopen.py"


def run(receipt: pathlib.Path, *sonames: str) -> dict[str, t.Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.read_text(), str(receipt), *sonames],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)


def test_a_library_of_the_host_opens_and_its_file_is_named(tmp_path: pathlib.Path) -> None:
    answer = run(tmp_path / "gone.json", "libc.so.6", "libm.so.6")
    assert list(answer["libraries"]) == ["libc.so.6", "libm.so.6"]
    for soname, found in answer["libraries"].items():
        assert found["error"] is None
        assert pathlib.Path(found["path"]).name == soname
    assert answer["receipt"] is None


def test_a_library_that_is_not_there_gives_the_loaders_own_words(tmp_path: pathlib.Path) -> None:
    found = run(tmp_path / "gone.json", "libsparkforge_none.so.0")["libraries"]["libsparkforge_none.so.0"]
    assert found["path"] is None
    assert found["error"] == "libsparkforge_none.so.0: cannot open shared object file: No such file or directory"


def test_a_library_that_crashes_does_not_take_the_others_with_it(tmp_path: pathlib.Path) -> None:
    if not shutil.which("gcc"):
        pytest.skip("NO COMPILER: gcc is missing, so the library that crashes could not be built")
    (tmp_path / "crash.c").write_text(
        "#include <stdlib.h>\n__attribute__((constructor)) static void crash(void) { abort(); }\n"
    )
    library = tmp_path / "libcrash.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "crash.c")], check=True)
    answer = run(tmp_path / "gone.json", str(library), "libc.so.6")["libraries"]
    assert answer[str(library)]["error"] == "the process that opened it ended by SIGABRT"
    assert answer["libc.so.6"]["error"] is None


def test_of_a_receipt_only_what_is_needed_comes_back(tmp_path: pathlib.Path) -> None:
    receipt = tmp_path / "env-torch.json"
    receipt.write_text(json.dumps({"lock_id": "abc", "modules": {"torch": {"cuda": None}}, "wheels": ["many"]}))
    assert run(receipt)["receipt"] == {
        "lock_id": "abc",
        "modules": {"torch": {"cuda": None}},
        "library_paths": None,
    }


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"'])
def test_a_damaged_receipt_counts_as_none(tmp_path: pathlib.Path, content: str) -> None:
    (tmp_path / "env-torch.json").write_text(content)
    assert run(tmp_path / "env-torch.json") == {"libraries": {}, "receipt": None}
