"""What an environment's options, interpreter and proof are refused for, without a program that is started."""

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

A = "a" * 64


def options(tmp_path: Path, check_mode: bool = True, **given: t.Any) -> model.Options:
    given = {"name": "torch", "root": str(tmp_path), "kernel_dir": str(tmp_path / "kernels"), **given}
    return model.read(given, check_mode=check_mode, machine="aarch64")


@pytest.mark.parametrize("root", ["relative", "/", "//", "/opt/.."])
def test_a_root_is_an_absolute_path_below_the_system_s(tmp_path: Path, root: str) -> None:
    with pytest.raises(SparkforgeError, match="is not an absolute path below /"):
        options(tmp_path, root=root)


def test_a_variable_has_a_name_that_a_shell_can_set(tmp_path: Path) -> None:
    assert options(tmp_path, environment={"OMP_NUM_THREADS": 4}).environment == {"OMP_NUM_THREADS": "4"}
    for name in ("1A", "A B", "A\n", "PATH", "LD_LIBRARY_PATH"):
        with pytest.raises(SparkforgeError, match="cannot be set when the environment is activated"):
            options(tmp_path, environment={name: "x"})


def test_an_interpreter_of_any_name_says_its_version(tmp_path: Path) -> None:
    interpreter = tmp_path / "interpreter"
    interpreter.touch(0o755)
    for check_mode in (True, False):
        found = identity._find_python(
            options(tmp_path, check_mode, python=str(interpreter)), lambda *_words, **_more: (0, "3.12\n", "")
        )
        assert found == (str(interpreter), (3, 12))
    with pytest.raises(identity.UndeterminedError):
        identity._find_python(options(tmp_path, python="/nowhere/interpreter"), lambda *_words, **_more: (0, "", ""))
    with pytest.raises(SparkforgeError, match="is not on this host"):
        identity._find_python(options(tmp_path, False, python="3.99"), lambda *_words, **_more: (0, "", ""))


@pytest.mark.parametrize(
    "entry", [{"path": "a", "digest": A}, {"path": "a", "file": "a"}, {"sha256": A}, {}, {"path": ""}]
)
def test_a_wheel_is_a_path_and_a_hash(tmp_path: Path, entry: dict[str, str]) -> None:
    file = "torch-2.9.1-cp312-cp312-linux_aarch64.whl"
    entry = {key: file if value == "a" else value for key, value in entry.items()}
    with pytest.raises(SparkforgeError, match="is neither a path nor a mapping"):
        identity._read_wheels(types.SimpleNamespace(wheels=[entry], machine="aarch64"), (3, 12))  # type: ignore[arg-type]


def test_a_torch_without_cuda_is_refused_where_one_with_it_is_required() -> None:
    asked = types.SimpleNamespace(require_cuda=True)
    plan.check_cuda(asked, {})  # type: ignore[arg-type]
    plan.check_cuda(asked, {"torch": {"version": "2", "cuda": "13.0"}})  # type: ignore[arg-type]
    with pytest.raises(SparkforgeError, match="is a CPU build"):
        plan.check_cuda(asked, {"torch": {"version": "2", "cuda": None}})  # type: ignore[arg-type]
    plan.check_cuda(types.SimpleNamespace(require_cuda=False), {"torch": {"cuda": None}})  # type: ignore[arg-type]


def test_an_environment_that_no_longer_fits_is_not_gone_back_to(tmp_path: Path) -> None:
    asked = options(tmp_path)
    own: t.Any = {"library_paths": [str(tmp_path)], "host_packages": {"a": "1"}}
    assert plan._check_fit(asked, "0" * 12, own, lambda _packages: ([], ["a 2"])) == ["a 2"]
    for change, misfit in (({}, (["a is 3"], [])), ({"library_paths": ["/nowhere/lib"]}, ([], []))):
        with pytest.raises(SparkforgeError, match="no longer fit the environment"):
            plan._check_fit(asked, "0" * 12, {**own, **change}, lambda _packages, found=misfit: found)


class Sandbox:
    """Runs nothing, and says this."""

    def __init__(self, status: int, *states: dict[str, t.Any]) -> None:
        self.answer = status, "".join(f"{apply._MARK}{json.dumps(state)}\n" for state in states), "Killed"

    def run(self, *_arguments: t.Any) -> tuple[int, str, str]:
        return self.answer


IMPORTED = {"module": "a", "state": "imported", "found": {"version": "1"}}


def test_what_is_imported_is_proven_and_nothing_else(tmp_path: Path) -> None:
    asked = options(tmp_path, imports=["a"])
    receipt: t.Any = {"library_paths": [], "environment": {}, "paths": {"environment": str(tmp_path)}}
    assert apply.prove(asked, receipt, Sandbox(0, IMPORTED)) == {"a": {"version": "1"}}  # type: ignore[arg-type]
    for said in (Sandbox(0), Sandbox(-9, IMPORTED)):
        with pytest.raises(SparkforgeError, match="interpreter exited with"):
            apply.prove(asked, receipt, said)  # type: ignore[arg-type]
    with pytest.raises(SparkforgeError, match="is not on this host"):
        apply.prove(asked, {**receipt, "library_paths": [str(tmp_path / "none")]}, Sandbox(0, IMPORTED))  # type: ignore[arg-type]


def test_a_group_is_used_by_receipts_alone(tmp_path: Path) -> None:
    asked = options(tmp_path)
    (tmp_path / "receipts").mkdir()
    row = json.dumps({"kind": "environment", "group": "lab"})
    for file, used in (("env-b.json.partial", False), ("env-torch.json", False), ("env-b.json", True)):
        (tmp_path / "receipts" / file).write_text(row)
        assert access._is_used_by_another(asked.paths, "lab") is used, file


def test_what_a_broken_download_leaves_is_its_owner_s(tmp_path: Path) -> None:
    asked = options(tmp_path)
    Path(asked.paths.of("x")).parent.mkdir(parents=True, exist_ok=True)
    own = types.SimpleNamespace(paths=asked.paths)
    broken = types.SimpleNamespace(environment_id="0" * 12, receipt={"directories": []})
    apply.Apply._clean_up(own, broken, download.UnfinishedError("half of it"))  # type: ignore[arg-type]
    assert Path(asked.paths.of(observation.DOWNLOADING)).stat().st_mode & 0o777 == 0o600
