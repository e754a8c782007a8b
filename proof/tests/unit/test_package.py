# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as pip installs it, and the file that hosts run: complete, and without Ansible."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import proof

from tests.lint.test_sanity import interpreter

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", place, CHECKOUT / "proof"], check=True, cwd=place
    )
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "sparkforge_proof/profiles.json" in names and not [name for name in names if "/modules/" in name]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    site = next((place / "venv/lib").glob("python3*/site-packages"))
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], check=True)
    return place / "venv/bin/python"


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_the_package_runs_where_nothing_else_is(installed: Path, tmp_path: Path) -> None:
    listed = run(installed, "-I", "-m", "sparkforge_proof", "--list", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "") and "matmul.float32" in listed.stdout
    without = run(installed, "-I", "-m", "sparkforge_proof", cwd=tmp_path)
    assert without.returncode == 2 and "has no torch." in without.stderr and len(without.stderr.splitlines()) == 1


def test_the_sources_alone_say_what_to_run(tmp_path: Path) -> None:
    said = run(sys.executable, "-m", "sparkforge_proof", cwd=CHECKOUT / "proof/src")
    assert (said.returncode, said.stderr) == (
        2, "These are the sources of sparkforge-proof. Run make proof, and the file that it makes.\n"
    )  # fmt: skip


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_the_one_file_runs_on_every_python_that_a_host_may_have(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    file = tmp_path / proof.NAME
    file.write_bytes(proof.program()[0])
    listed = run(python, "-I", file, "--list", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, ""), listed.stderr
    asked = json.dumps({"options": {"root": str(tmp_path)}, "check_mode": True})
    answer = json.loads(run(python, "-I", file, "call", "audit", cwd=tmp_path, input=asked).stdout)
    assert answer["result"]["summary"] == "0 files match the receipts."


def test_nothing_in_the_one_file_names_ansible() -> None:
    named = [path for path, text in proof.sources().items() if "ansible_collections" in text]
    assert named == []
