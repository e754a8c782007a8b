"""What an environment is planned from: the options as documented, and no code that fetches or installs."""

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

A = "a" * 64


def refuse(*_words: t.Any, **_options: t.Any) -> tuple[int, str, str]:
    raise AssertionError("a program was started")


def options(tmp_path: pathlib.Path, **given: t.Any) -> model.Options:
    given = {"name": "torch", "root": str(tmp_path), "kernel_dir": str(tmp_path / "kernels"), **given}
    return model.read(given, check_mode=True, machine="aarch64")


def test_an_option_that_is_not_given_is_as_the_module_documents_it(tmp_path: pathlib.Path) -> None:
    found = options(tmp_path)
    documented = yaml.safe_load(python_env.DOCUMENTATION)["options"]
    # The action plugin puts what `wanted` has in its place.
    beside = {"name", "root", "kernel_dir", "wanted"}
    assert {field.name for field in dataclasses.fields(found)} >= set(documented) - beside
    for name in set(documented) - beside:
        value = getattr(found, name)
        assert (list(value) if isinstance(value, tuple) else value) == documented[name].get("default"), name
    assert model.paths_of("/r", "torch").kernel.startswith(documented["kernel_dir"]["default"])


def test_wheels_are_looked_for_at_urls_and_in_directories_of_the_host(tmp_path: pathlib.Path) -> None:
    places = ["https://a.example/wheels/", "http://a.example", "file:///srv/wheels", "/srv/wheels"]
    assert list(options(tmp_path, find_links=places).find_links) == places
    for place in ("wheels", "ftp://a.example/wheels", "./wheels", "~/wheels"):
        with pytest.raises(SparkforgeError, match="is neither a URL nor an absolute path"):
            options(tmp_path, find_links=[*places, place])


def test_null_is_what_is_not_given(tmp_path: pathlib.Path) -> None:
    names = [field.name for field in dataclasses.fields(model.Options)][4:]
    assert options(tmp_path, **dict.fromkeys(names)) == options(tmp_path)


def test_a_new_environment_is_planned_without_a_program_and_a_change(open_path: pathlib.Path) -> None:
    given = options(
        open_path, python="/usr/bin/python3.12", requirements=[f"a==1 --hash=sha256:{A}"], imports=["a", "a"]
    )
    made = plan.plan(given, refuse)
    assert made.actions == ["install", "switch", "files", "access"]
    assert (made.current, made.previous, made.staged, made.prune) == (made.environment_id, None, None, [])
    assert made.receipt["requirements"] == [f"a==1 --hash=sha256:{A}"]
    assert made.receipt["paths"]["environment"] == str(open_path / "envs" / "torch" / made.environment_id)
    assert [path for path, (_text, mode) in made.files.items() if mode & 0o022] == [], (
        "others may write what a shell reads"
    )
    staged = plan.plan(dataclasses.replace(given, switch=False), refuse)
    assert staged.actions == ["install", "stage", "files", "access"]
    assert (staged.current, staged.staged, staged.environment_id) == (None, made.environment_id, made.environment_id)
    assert list(open_path.iterdir()) == []


def test_of_an_environment_that_is_there_its_receipt_says_which_torch_it_has(open_path: pathlib.Path) -> None:
    given = options(open_path, python="/usr/bin/python3.12", requirements=[f"torch==2 --hash=sha256:{A}"])
    made = plan.plan(given, refuse)
    place = pathlib.Path(made.receipt["paths"]["environment"])
    (place / "bin").mkdir(parents=True)
    (place / "bin/python").touch(0o755)
    (place / "lib/python3.12/site-packages").mkdir(parents=True)
    own = {key: value for key, value in made.receipt.items() if key not in ("name", "paths")}
    # Somebody moved it to another disk.
    receipt = open_path / "moved.json"
    receipt.write_text(json.dumps({**own, "modules": {"torch": {"version": "2", "cuda": None}}}))
    (place / "receipt.json").symlink_to(receipt)
    assert plan.plan(given, refuse).actions[:2] == ["switch", "files"]
    with pytest.raises(SparkforgeError, match=r"torch 2 is a CPU build"):
        plan.plan(dataclasses.replace(given, require_cuda=True), refuse)
    receipt.write_text(json.dumps({**own, "modules": {"torch": {"version": "2", "cuda": "13.0"}}}))
    assert plan.plan(dataclasses.replace(given, require_cuda=True), refuse).actions[:2] == ["switch", "files"]


def test_what_an_earlier_step_would_bring_is_waited_for_in_check_mode_alone(tmp_path: pathlib.Path) -> None:
    given = options(tmp_path, python=str(tmp_path / "interpreter"), requirements=[f"a==1 --hash=sha256:{A}"])
    with pytest.raises(identity.UndeterminedError):
        plan.plan(given, refuse)
    with pytest.raises(SparkforgeError, match="is not on this host"):
        plan.plan(dataclasses.replace(given, check_mode=False), refuse)


def test_what_only_looks_brings_no_code_that_fetches_or_installs() -> None:
    found = bundle.files(*(f"{bundle.PACKAGE}._environment.{name}" for name in ("plan", "status")))
    names = {path.partition("module_utils/")[2] for path in found}
    assert "_environment/observation.py" in names
    assert not names & {f"_environment/{name}.py" for name in ("apply", "fit", "installer", "states")}
    assert not [name for name in names if name.startswith(("_fetch/", "_diagnosis/rules/", "_elf/"))]
