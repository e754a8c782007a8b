"""The proof and the guard, as installed packages and as single files for hosts: complete, and without Ansible."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import programs
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.programs import GUARD, PROGRAMS, PROOF

from tests.lint.test_sanity import interpreter

CHECKOUT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", directory]
    subprocess.run([*build, *(CHECKOUT / name for name in PROGRAMS)], check=True, cwd=directory)
    wheels = sorted(directory.glob("*.whl"))
    names = [name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()]
    assert {"sparkforge_guard/units/sparkforge-guard.service", "sparkforge_proof/profiles.json"} <= set(names)
    assert not [name for name in names if "/modules/" in name or name == "__main__.py"]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory / "venv"], check=True)
    site = next((directory / "venv/lib").glob("python3*/site-packages"))
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", site, *wheels], check=True)
    return directory / "venv/bin/python"


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_the_packages_run_in_an_empty_environment(python: Path, tmp_path: Path) -> None:
    listed = run(python, "-I", "-m", "sparkforge_proof", "--list", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, "") and "matmul.float32" in listed.stdout
    without = run(python, "-I", "-m", "sparkforge_proof", cwd=tmp_path)
    assert without.returncode == 2 and "has no torch." in without.stderr and len(without.stderr.splitlines()) == 1
    admitted = run(python, "-I", "-m", "sparkforge_guard", "admit", "--needs", "1M", "--", "true", cwd=tmp_path)
    assert (admitted.returncode, admitted.stderr) == (0, "") and "it takes" in admitted.stdout


def test_the_sources_name_the_command_that_makes_the_program(tmp_path: Path) -> None:
    proof = run(sys.executable, "-m", "sparkforge_proof", cwd=CHECKOUT / "proof/src")
    assert proof.returncode == 2 and len(proof.stderr.splitlines()) == 1
    assert "Run make proof" in proof.stderr
    (tmp_path / "settings.json").write_text("{}")
    arguments = ("-m", "sparkforge_guard", "install", tmp_path / "settings.json", "--check")
    assert "Run make guard" in run(sys.executable, *arguments, cwd=CHECKOUT / "guard/src").stderr


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_the_single_file_runs_on_every_supported_python(version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")

    def call(file: Path, name: str, **options: object) -> object:
        request = json.dumps({"options": options, "check_mode": True})
        return json.loads(run(python, "-I", file, "call", name, cwd=tmp_path, input=request).stdout)["result"]

    proof, guard = (tmp_path / program.file for program in (PROOF, GUARD))
    proof.write_bytes(PROOF.archive()[0])
    guard.write_bytes(GUARD.archive()[0])
    listed = run(python, "-I", proof, "--list", cwd=tmp_path)
    assert (listed.returncode, listed.stderr) == (0, ""), listed.stderr
    info = tmp_path / "environment/lib/python3.12/site-packages/tiny-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: tiny\nVersion: 1\n")
    (info / "RECORD").write_text("tiny.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n")
    (info.parent / "tiny.py").write_text("")
    device = {"machine": "aarch64", "capability": "12.1", "cuda": "13.0", "python": "3.12"}
    assert call(proof, "inspect", target=str(tmp_path / "environment"), **device)["verdict"] == "yes"
    unknown = run(python, "-I", proof, "audit", cwd=tmp_path)
    assert unknown.returncode == 2 and "unrecognized arguments: audit" in unknown.stderr
    settings = {**GUARD.module("settings").DEFAULTS, **GUARD.module("settings").INSTALLED, "root": str(tmp_path)}
    result = call(guard, "install", **settings, state="present")
    assert result["changed"] and f"{tmp_path}/guard/guard.pyz" in result["files"] and not (tmp_path / "guard").exists()


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_single_file_is_reproducible_and_imports_no_ansible(program, tmp_path: Path) -> None:
    # Rules, which are data, match what Ansible prints.
    code = {path: text for path, text in program.sources().items() if "/_diagnosis/rules/" not in path}
    assert [path for path, text in code.items() if "ansible_collections" in text] == []
    arguments = ("-m", programs.__name__, program.name, tmp_path / "made/x")
    assert run(sys.executable, *arguments, cwd=tmp_path, env={"PYTHONPATH": CHECKOUT / ".collections"}).stderr == ""
    assert hashlib.sha256((tmp_path / "made/x").read_bytes()).hexdigest() == program.archive()[1]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("clone")
    for name in ("plugins", "proof/src", "guard/src", "roles/stack/vars"):
        shutil.copytree(CHECKOUT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.parametrize(
    ("program", "path", "name"),
    [
        ("proof", "proof/src/sparkforge_proof/runner.py", "sparkforge_proof.runner"),
        ("proof", "roles/stack/vars/profiles.yml", "{}"),
        ("guard", "guard/src/sparkforge_guard/units/sparkforge-guard-caps.timer", "{}"),
    ],
)
def test_a_program_without_a_file_is_not_made_and_the_error_names_it(program, path, name, clone: Path, tmp_path: Path):
    (clone / path).rename(tmp_path / "away")
    process = run(sys.executable, "-B", "-m", programs.__name__.partition("dgx_spark.")[2], program, "made", cwd=clone)
    (tmp_path / "away").rename(clone / path)
    assert (process.returncode, (clone / "made").exists()) == (1, False)
    message = rf"sparkforge-{program}\.pyz cannot .*: {re.escape(name.format(clone / path))} is missing\. "
    assert re.match(message, process.stderr) and len(process.stderr.splitlines()) == 1
