"""The single file sparkforge-proof.pyz, run in an environment without this collection."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.report import form
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import PROOF
from sparkforge_proof import catalogue, cli
from sparkforge_proof._shared.module_utils._core.errors import SparkforgeError

from lab import torch


def run(python: Path | str, file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Run it in another directory and without variables, so that nothing is imported from the checkout.
    return subprocess.run(
        [python, "-I", file, *arguments], cwd="/", env={}, capture_output=True, text=True, check=False
    )


def test_report_and_page(file: Path, tmp_path: Path) -> None:
    python = torch.environment() / "bin/python"
    files = ["--json", str(tmp_path / "report.json"), "--html", str(tmp_path / "report.html")]
    result = run(python, file, "--cpu", "--check", "cpu.matmul.float32", "--check", "identity.import", *files)
    assert result.returncode == cli.PROVEN, result.stdout + result.stderr
    assert result.stdout.startswith("proven; only the selected checks ran (profile generic,")
    report = json.loads((tmp_path / "report.json").read_text())
    assert form.report_problems(report) == []
    passed = [check["name"] for check in report["checks"] if check["status"] == "pass"]
    assert {"cpu.matmul.float32", "identity.import"} <= set(passed)
    page = (tmp_path / "report.html").read_text()
    assert "cpu.matmul.float32" in page
    assert page == PROOF.module("page.draw").host_page(report)


def test_page_without_jinja2_is_refused(file: Path, tmp_path: Path) -> None:
    (tmp_path / "jinja2.py").write_text("raise ImportError(\"No module named 'jinja2'\", name='jinja2')")
    python, page = torch.environment() / "bin/python", tmp_path / "report.html"
    start = f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv[0] = {str(file)!r}"
    code = f"{start}; runpy.run_path(sys.argv[0], run_name='__main__')"
    result = run(python, Path("-c"), code, "--cpu", "--check", "identity.import", "--html", str(page))
    assert (result.returncode, result.stdout, page.exists()) == (cli.REFUSED, "", False)
    assert "No module named 'jinja2'. Install jinja2" in result.stderr and result.stderr.count("\n") == 1


def test_without_a_number_nothing_is_proven(file: Path) -> None:
    result = run(torch.environment() / "bin/python", file, "--cpu", "--family", "architectures", "--quiet")
    assert result.returncode == cli.UNPROVEN, result.stdout + result.stderr
    assert result.stdout.startswith("unproven") and result.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("python", "arguments", "error"),
    [
        (sys.executable, [], "has no torch. Run this file"),
        (None, ["--family", "matmull"], "Unknown family matmull. The families are"),
        (None, ["--cpu", "--check", "identity.import", "--json", "/nowhere/report.json"], "cannot be written"),
        (None, ["--html", "/nowhere/report.html"], "/nowhere/report.html cannot be written."),
        (None, ["--json", "/tmp"], "/tmp cannot be written."),
        (None, ["--json", "/tmp/report", "--html", "/tmp/report"], "--html both name /tmp/report."),
        (None, ["--factor", "nan"], "--factor is nan."),
        (None, ["--memory-share", "0.95"], "--memory-share is 0.95. Use at most 0.9"),
        (None, ["--seed", "-3"], "--seed is -3.0."),
        (None, ["--accept", "nothing"], "'nothing' in --accept is not"),
    ],
)
def test_invalid_arguments_are_refused(file: Path, python: str | None, arguments: list[str], error: str) -> None:
    result = run(python or torch.environment() / "bin/python", file, *arguments)
    assert (result.returncode, result.stdout) == (cli.REFUSED, "")
    assert error in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_run_leaves_no_process_and_no_file(file: Path, tmp_path: Path, stop: signal.Signals) -> None:
    argv = [torch.environment() / "bin/python", "-I", file, "--cpu", "--check", "cpu.training.*"]
    with subprocess.Popen(
        argv, cwd="/", env={"TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Background jobs of a shell ignore SIGINT, and their children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert process.stdout and process.stderr
        progress = [process.stderr.readline(), process.stderr.readline()]
        assert processes_below(tmp_path)
        process.send_signal(stop)
        out, err = process.communicate(timeout=30)
    assert progress[0].startswith("Reading the GPU")
    assert re.fullmatch(r"0 of 4 checks done; running cpu\.training\.\w+\n", progress[1])
    assert (process.returncode, out) == (128 + stop, "")
    assert err.startswith(f"Stopped by {stop.name}: ") and err.count("\n") == 1
    assert (list(tmp_path.iterdir()), processes_below(tmp_path)) == ([], [])


def processes_below(directory: Path) -> list[str]:
    """Return the processes whose working directory is below this directory."""
    processes = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            processes += [link.parent.name] if os.readlink(link).startswith(str(directory)) else []
    return processes


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_full_disk_is_refused(file: Path, tmp_path: Path) -> None:
    # The file system has room for tempfile's probe, but not for the sources of the checks.
    script = f"mount -t tmpfs -o size=64k none {tmp_path} && exec {torch.environment()}/bin/python -I {file} --cpu"
    command = ["unshare", "-m", "sh", "-c", f"{script} --check cpu.matmul.float32 --quiet"]
    environment = {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    result = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (cli.REFUSED, "")
    assert "No space left on device. Free space there" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("limit", "home"), [("ulimit -v 4194304", "/root"), ("true", "/proc/1")], ids=["4-GiB", "read-only-home"]
)
def test_host_with_little_memory_or_no_home_is_proven(file: Path, limit: str, home: str) -> None:
    command = f"{limit}; exec {torch.environment()}/bin/python -I {file} --cpu --quiet"
    checks = "--check cpu.matmul.float32 --check cpu.algebra.dense --check identity.import"
    result = subprocess.run(
        ["sh", "-c", f"{command} {checks}"], cwd="/", env={"HOME": home}, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (cli.PROVEN, ""), result.stdout + result.stderr


@pytest.mark.parametrize("version", ["3.8", "3.6", "2.7"])
def test_old_python_is_refused(file: Path, version: str) -> None:
    python = shutil.which(f"python{version}")
    if not python or subprocess.run([python, "-V"], capture_output=True, check=False).returncode:
        # If no such Python exists, pretend that this one has the old version.
        code = (
            f"import runpy, sys; sys.version_info = {tuple(map(int, version.split('.')))}; sys.argv[0] = {str(file)!r}"
        )
        result = run(sys.executable, Path("-c"), f"{code}; runpy.run_path(sys.argv[0], run_name='__main__')")
    else:
        result = run(python, file)
    assert (result.returncode, result.stdout, result.stderr) == (cli.REFUSED, "", "Python 3.9 or newer is needed.\n")


def test_output_files_are_unchanged_before_the_report(tmp_path: Path) -> None:
    existing, new = tmp_path / "kept.json", tmp_path / "new.html"
    existing.write_text("the last report")
    files = cli.writers(cli.parser([]).parse_args(["--json", str(existing), "--html", str(new)]))
    assert list(files) == [str(existing), str(new)]
    assert (existing.read_text(), new.exists()) == ("the last report", False)


def test_file_that_user_cannot_write_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The tests may run as root, who can write to any file.
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(tmp_path))
    with pytest.raises(SparkforgeError, match=r"report.json cannot be written\."):
        cli.writers(cli.parser([]).parse_args(["--json", f"{tmp_path}/report.json"]))


def test_every_check_is_listed(file: Path) -> None:
    result = run(sys.executable, file, "--list")
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(catalogue.CHECKS)
    assert "matmul.float4  (matmul, GPU), has not" in result.stdout


def test_profile_of_device() -> None:
    known = {"gb10": {"compute_capability": "12.1"}, "generic": {"compute_capability": None}}
    assert cli.select_profile(known, "auto", ["12.1"]) == "gb10"
    assert cli.select_profile(known, "auto", ["9.0"]) == cli.select_profile(known, "auto", []) == "generic"
    assert cli.select_profile(known, "gb10", ["9.0"]) == "gb10"


def test_environment_of_role_is_recognized_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "envs/torch/0123456789ab"
    assert cli.of_the_role(str(path)) == cli.of_the_role("/usr") == {}
    (tmp_path / "receipts").mkdir()
    (tmp_path / "receipts/env-torch.json").touch()
    expected = {"root": str(tmp_path), "environment": "torch", "environment_id": path.name}
    assert cli.of_the_role(str(path)) == expected


def test_families_and_patterns_are_combined() -> None:
    assert cli.patterns([], []) == ["*"]
    assert cli.patterns([], ["cpu.*"]) == ["cpu.*"]
    patterns = cli.patterns(["device"], ["cpu.*"])
    assert "cpu.*" in patterns and len(patterns) > 1 and "*" not in patterns
    with pytest.raises(SparkforgeError, match="Unknown family"):
        cli.patterns(["nothing"], [])
