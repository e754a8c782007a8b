# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""sparkforge-proof.pyz, run by an environment that knows nothing of this collection."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.report import form
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF
from sparkforge_proof import catalogue, cli
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError

from lab import torch


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dist") / "sparkforge-proof.pyz"
    PROOF.write(path)
    return path


def run(python: Path | str, file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # From elsewhere and without variables, so that nothing of the checkout is found.
    return subprocess.run(
        [python, "-I", file, *arguments], cwd="/", env={}, capture_output=True, text=True, check=False
    )


def test_the_report_is_that_of_the_module(file: Path, tmp_path: Path) -> None:
    python = torch.environment() / "bin/python"
    files = ["--json", str(tmp_path / "report.json")]
    done = run(python, file, "--cpu", "--check", "cpu.matmul.float32", "--check", "identity.import", *files)
    assert done.returncode == cli.PROVEN, done.stdout + done.stderr
    assert done.stdout.startswith("proven (profile generic,")
    report = json.loads((tmp_path / "report.json").read_text())
    assert form.report_problems(report) == []
    passed = [check["name"] for check in report["checks"] if check["status"] == "pass"]
    assert {"cpu.matmul.float32", "identity.import"} <= set(passed)


def test_page_is_refused_with_the_way_to_one(file: Path) -> None:
    done = run(sys.executable, file, "--html", "report.html")
    assert done.returncode == cli.REFUSED
    assert "the page is drawn on the controller: use --json, and playbooks/report.yml" in done.stderr


def test_without_a_number_nothing_is_proven(file: Path) -> None:
    done = run(torch.environment() / "bin/python", file, "--cpu", "--family", "architectures", "--quiet")
    assert done.returncode == cli.UNPROVEN, done.stdout + done.stderr
    assert done.stdout.startswith("unproven") and done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("python", "arguments", "said"),
    [
        (sys.executable, [], "has no torch. Run this file with the interpreter of the environment"),
        (None, ["--family", "matmull"], "Unknown family matmull. Known are architectures, "),
        (None, ["--check", "nothing.*"], "'nothing.*' in checks matches no check."),
        (None, ["--cpu", "--check", "identity.import", "--json", "/nowhere/report.json"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_ends_with_one_sentence(
    file: Path, python: str | None, arguments: list[str], said: str
) -> None:
    done = run(python or torch.environment() / "bin/python", file, *arguments)
    assert (done.returncode, done.stdout) == (cli.REFUSED, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_every_check_is_listed(file: Path) -> None:
    done = run(sys.executable, file, "--list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(catalogue.CHECKS)
    assert "matmul.float4  (matmul, GPU), seen to pass nowhere yet\n" in done.stdout


def test_the_profile_is_that_of_the_device_unless_it_is_named() -> None:
    known = {"gb10": {"compute_capability": "12.1"}, "generic": {"compute_capability": None}}
    assert cli.chosen(known, "auto", ["12.1"]) == "gb10"
    assert cli.chosen(known, "auto", ["9.0"]) == cli.chosen(known, "auto", []) == "generic"
    assert cli.chosen(known, "gb10", ["9.0"]) == "gb10"


def test_an_environment_of_the_role_is_known_by_its_place(tmp_path: Path) -> None:
    place = tmp_path / "envs/torch/0123456789ab"
    assert cli.of_the_role(str(place)) == cli.of_the_role("/usr") == {}
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts/env-torch.json").touch()
    found = cli.of_the_role(str(place))
    assert found == {"root": str(tmp_path), "environment": "torch", "environment_id": place.name}


def test_families_and_patterns_add_up() -> None:
    assert cli.patterns([], []) == ["*"]
    assert cli.patterns([], ["cpu.*"]) == ["cpu.*"]
    found = cli.patterns(["device"], ["cpu.*"])
    assert "cpu.*" in found and len(found) > 1 and "*" not in found
    with pytest.raises(SparkforgeError, match="Unknown family"):
        cli.patterns(["nothing"], [])
