"""Refused options, interpreters and import tests of environments, without running a program."""

import json
import types
import typing as t
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import (
    access,
    apply,
    download,
    identity,
    model,
    observation,
    plan,
)

SHA = "a" * 64


def options(tmp_path: Path, check_mode: bool = True, **changes: t.Any) -> model.Options:
    defaults = {"name": "torch", "root": str(tmp_path), "kernel_dir": str(tmp_path / "kernels")}
    return model.read({**defaults, **changes}, check_mode=check_mode, machine="aarch64")


@pytest.mark.parametrize("root", ["relative", "/", "//", "/opt/.."])
def test_invalid_root_is_refused(tmp_path: Path, root: str) -> None:
    with pytest.raises(SparkforgeError, match="absolute path, or"):
        options(tmp_path, root=root)


def test_invalid_variable_name_is_refused(tmp_path: Path) -> None:
    assert options(tmp_path, environment={"OMP_NUM_THREADS": 4}).environment == {"OMP_NUM_THREADS": "4"}
    for name in ("1A", "A B", "A\n", "PATH", "LD_LIBRARY_PATH"):
        with pytest.raises(SparkforgeError, match="set when"):
            options(tmp_path, environment={name: "x"})


def test_interpreter_version_is_read_from_the_interpreter(tmp_path: Path) -> None:
    interpreter = tmp_path / "interpreter"
    interpreter.touch(0o755)

    def run(*_arguments: t.Any, **_options: t.Any) -> tuple[int, str, str]:
        return 0, "3.12\n", ""

    for check_mode in (True, False):
        python = identity._find_python(options(tmp_path, check_mode, python=str(interpreter)), run)
        assert python == (str(interpreter), (3, 12))
    with pytest.raises(identity.UndeterminedError):
        identity._find_python(options(tmp_path, python="/nowhere/interpreter"), run)
    with pytest.raises(SparkforgeError, match="on this host"):
        identity._find_python(options(tmp_path, False, python="3.99"), run)


@pytest.mark.parametrize(
    "entry", [{"path": "a", "digest": SHA}, {"path": "a", "file": "a"}, {"sha256": SHA}, {}, {"path": ""}]
)
def test_invalid_wheel_entry_is_refused(tmp_path: Path, entry: dict[str, str]) -> None:
    file = "torch-2.9.1-cp312-cp312-linux_aarch64.whl"
    entry = {key: file if value == "a" else value for key, value in entry.items()}
    with pytest.raises(SparkforgeError, match="neither a path"):
        identity._read_wheels(types.SimpleNamespace(wheels=[entry], machine="aarch64"), (3, 12))  # type: ignore[arg-type]


def test_rollback_to_misfitting_environment_is_refused(tmp_path: Path) -> None:
    environment = options(tmp_path)
    receipt: t.Any = {"library_paths": [str(tmp_path)], "host_packages": {"a": "1"}}
    assert plan._check_fit(environment, "0" * 12, receipt, lambda _packages: ([], ["a 2"])) == ["a 2"]
    for change, misfit in (({}, (["a is 3"], [])), ({"library_paths": ["/nowhere/lib"]}, ([], []))):
        with pytest.raises(SparkforgeError, match="no longer fit"):
            plan._check_fit(environment, "0" * 12, {**receipt, **change}, lambda _packages, result=misfit: result)


class Sandbox:
    """A sandbox that runs nothing and returns a prepared result."""

    def __init__(self, status: int, *states: dict[str, t.Any]) -> None:
        self.answer = status, "".join(f"{apply._MARK}{json.dumps(state)}\n" for state in states), "Killed"

    def run(self, *_arguments: t.Any) -> tuple[int, str, str]:
        return self.answer


IMPORTED = {"module": "a", "state": "imported", "found": {"version": "1"}}


def test_import_test_needs_every_module(tmp_path: Path) -> None:
    environment = options(tmp_path, imports=["a"])
    receipt: t.Any = {"library_paths": [], "environment": {}, "paths": {"environment": str(tmp_path)}}
    assert apply.prove(environment, receipt, Sandbox(0, IMPORTED)) == {"a": {"version": "1"}}  # type: ignore[arg-type]
    for sandbox in (Sandbox(0), Sandbox(-9, IMPORTED)):
        with pytest.raises(SparkforgeError, match="interpreter exited with"):
            apply.prove(environment, receipt, sandbox)  # type: ignore[arg-type]
    with pytest.raises(SparkforgeError, match="on this host"):
        apply.prove(environment, {**receipt, "library_paths": [str(tmp_path / "none")]}, Sandbox(0, IMPORTED))  # type: ignore[arg-type]


def test_group_is_used_by_complete_receipts_only(tmp_path: Path) -> None:
    environment = options(tmp_path)
    (tmp_path / "receipts").mkdir()
    row = json.dumps({"kind": "environment", "group": "lab"})
    for file, used in (("env-b.json.partial", False), ("env-torch.json", False), ("env-b.json", True)):
        (tmp_path / "receipts" / file).write_text(row)
        assert access._is_used_by_another(environment.paths, "lab") is used, file


def test_unfinished_download_is_readable_by_owner_only(tmp_path: Path) -> None:
    environment = options(tmp_path)
    Path(environment.paths.of("x")).parent.mkdir(parents=True, exist_ok=True)
    apply_state = types.SimpleNamespace(paths=environment.paths)
    plan_state = types.SimpleNamespace(environment_id="0" * 12, receipt={"directories": []})
    apply.Apply._clean_up(apply_state, plan_state, download.UnfinishedError("half of it"))  # type: ignore[arg-type]
    assert Path(environment.paths.of(observation.DOWNLOADING)).stat().st_mode & 0o777 == 0o600
