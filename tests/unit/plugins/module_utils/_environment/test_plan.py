# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an environment is planned from: the options as documented, and no code that fetches or installs."""

from __future__ import annotations

import dataclasses
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


def test_null_is_what_is_not_given(tmp_path: pathlib.Path) -> None:
    names = [field.name for field in dataclasses.fields(model.Options)][4:]
    assert options(tmp_path, **dict.fromkeys(names)) == options(tmp_path)


def test_a_new_environment_is_planned_without_a_program_and_a_change(open_path: pathlib.Path) -> None:
    given = options(
        open_path, python="/usr/bin/python3.12", requirements=[f"a==1 --hash=sha256:{A}"], imports=["a", "a"]
    )
    made = plan.make(given, refuse)
    assert made.actions == ["install", "switch", "files", "access"]
    assert (made.current, made.previous, made.staged, made.prune) == (made.environment_id, None, None, [])
    assert made.receipt["requirements"] == [f"a==1 --hash=sha256:{A}"]
    assert made.receipt["paths"]["environment"] == str(open_path / "envs" / "torch" / made.environment_id)
    staged = plan.make(dataclasses.replace(given, switch=False), refuse)
    assert staged.actions == ["install", "stage", "files", "access"]
    assert (staged.current, staged.staged, staged.environment_id) == (None, made.environment_id, made.environment_id)
    assert list(open_path.iterdir()) == []


def test_what_an_earlier_step_would_bring_is_waited_for_in_check_mode_alone(tmp_path: pathlib.Path) -> None:
    given = options(tmp_path, python=str(tmp_path / "interpreter"), requirements=[f"a==1 --hash=sha256:{A}"])
    with pytest.raises(identity.UndeterminedError):
        plan.make(given, refuse)
    with pytest.raises(SparkforgeError, match="is not on this host"):
        plan.make(dataclasses.replace(given, check_mode=False), refuse)


def test_what_only_looks_brings_no_code_that_fetches_or_installs() -> None:
    found = bundle.files(*(f"{bundle.PACKAGE}._environment.{name}" for name in ("plan", "status")))
    names = {path.partition("module_utils/")[2] for path in found}
    assert "_environment/observation.py" in names
    assert not names & {f"_environment/{name}.py" for name in ("apply", "failures", "fit", "installer", "states")}
    assert not [name for name in names if name.startswith(("_fetch/", "_diagnosis/rules/", "_elf/"))]
