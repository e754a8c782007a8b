"""Plans for environments: the options' documented defaults, and no code that downloads or installs."""

import dataclasses
import json
import pathlib
import typing as t

import pytest
import yaml
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import identity, model, plan
from ansible_collections.sparkforge.dgx_spark.plugins.modules import python_env

SHA = "a" * 64


def refuse(*_words: t.Any, **_options: t.Any) -> tuple[int, str, str]:
    raise AssertionError("a program was started")


def options(tmp_path: pathlib.Path, **changes: t.Any) -> model.Options:
    defaults = {"name": "torch", "root": str(tmp_path), "kernel_dir": str(tmp_path / "kernels")}
    return model.read({**defaults, **changes}, check_mode=True, machine="aarch64")


def test_defaults_match_the_documentation(tmp_path: pathlib.Path) -> None:
    defaults = options(tmp_path)
    documented = yaml.safe_load(python_env.DOCUMENTATION)["options"]
    # The action plugin resolves `wanted` into the other options.
    names = set(documented) - {"name", "root", "kernel_dir", "wanted"}
    assert {field.name for field in dataclasses.fields(defaults)} >= names
    for name in names:
        value = getattr(defaults, name)
        assert (list(value) if isinstance(value, tuple) else value) == documented[name].get("default"), name
    assert model.paths_of("/r", "torch").kernel.startswith(documented["kernel_dir"]["default"])


def test_find_links_are_urls_or_absolute_paths(tmp_path: pathlib.Path) -> None:
    locations = ["https://a.example/wheels/", "http://a.example", "file:///srv/wheels", "/srv/wheels"]
    assert list(options(tmp_path, find_links=locations).find_links) == locations
    for invalid in ("wheels", "ftp://a.example/wheels", "./wheels", "~/wheels"):
        with pytest.raises(SparkforgeError, match="neither a URL"):
            options(tmp_path, find_links=[*locations, invalid])


def test_null_means_the_default(tmp_path: pathlib.Path) -> None:
    names = [field.name for field in dataclasses.fields(model.Options)][4:]
    assert options(tmp_path, **dict.fromkeys(names)) == options(tmp_path)


def test_plan_of_new_environment_changes_nothing(open_path: pathlib.Path) -> None:
    lines = [f"a==1 --hash=sha256:{SHA}"]
    requested = options(open_path, python="/usr/bin/python3.12", requirements=lines, imports=["a", "a"])
    result = plan.plan(requested, refuse)
    assert result.actions == ["install", "switch", "files", "access"]
    assert (result.current, result.previous, result.staged) == (result.environment_id, None, None)
    assert result.prune == []
    assert result.receipt["requirements"] == [f"a==1 --hash=sha256:{SHA}"]
    assert result.receipt["paths"]["environment"] == str(open_path / "envs" / "torch" / result.environment_id)
    assert not [path for path, (_text, mode) in result.files.items() if mode & 0o022], "only root writes shell files"
    staged = plan.plan(dataclasses.replace(requested, switch=False), refuse)
    assert staged.actions == ["install", "stage", "files", "access"]
    assert (staged.current, staged.staged, staged.environment_id) == (None, *[result.environment_id] * 2)
    assert list(open_path.iterdir()) == []


def test_plan_reads_torch_from_the_receipt(open_path: pathlib.Path) -> None:
    requested = options(open_path, python="/usr/bin/python3.12", requirements=[f"torch==2 --hash=sha256:{SHA}"])
    result = plan.plan(requested, refuse)
    directory = pathlib.Path(result.receipt["paths"]["environment"])
    (directory / "bin").mkdir(parents=True)
    (directory / "bin/python").touch(0o755)
    (directory / "lib/python3.12/site-packages").mkdir(parents=True)
    content = {key: value for key, value in result.receipt.items() if key not in ("name", "paths")}
    # The receipt may be a symlink, for example to another disk.
    receipt = open_path / "moved.json"
    receipt.write_text(json.dumps({**content, "modules": {"torch": {"version": "2", "cuda": None}}}))
    (directory / "receipt.json").symlink_to(receipt)
    assert plan.plan(requested, refuse).actions[:2] == ["switch", "files"]
    with pytest.raises(SparkforgeError, match=r"torch 2 is .*CPU build"):
        plan.plan(dataclasses.replace(requested, require_cuda=True), refuse)
    receipt.write_text(json.dumps({**content, "modules": {"torch": {"version": "2", "cuda": "13.0"}}}))
    assert plan.plan(dataclasses.replace(requested, require_cuda=True), refuse).actions[:2] == ["switch", "files"]


def test_missing_interpreter_is_undetermined_in_check_mode_only(tmp_path: pathlib.Path) -> None:
    requested = options(tmp_path, python=str(tmp_path / "interpreter"), requirements=[f"a==1 --hash=sha256:{SHA}"])
    with pytest.raises(identity.UndeterminedError):
        plan.plan(requested, refuse)
    with pytest.raises(SparkforgeError, match="on this host"):
        plan.plan(dataclasses.replace(requested, check_mode=False), refuse)


def test_plan_and_status_import_no_code_that_installs() -> None:
    paths = bundle.files(*(f"{bundle.PACKAGE}._environment.{name}" for name in ("plan", "status")))
    names = {path.partition("module_utils/")[2] for path in paths}
    assert "_environment/observation.py" in names
    assert not names & {f"_environment/{name}.py" for name in ("apply", "fit", "installer", "states")}
    assert not [name for name in names if name.startswith(("_fetch/", "_diagnosis/rules/", "_elf/"))]
