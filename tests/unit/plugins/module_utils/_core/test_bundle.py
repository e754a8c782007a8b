"""Code that travels: complete for what it starts with, and nothing beside."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import bundle


def names(*roots: str) -> set[str]:
    prefix = bundle.PACKAGE.replace(".", "/") + "/"
    return {path.removeprefix(prefix) for path in files(*roots)}


def files(*roots: str) -> dict[str, str]:
    return bundle.files(*(f"{bundle.PACKAGE}.{root}" for root in roots))


@pytest.mark.parametrize("root", ["_unit.worker", "_environment.plan"])
def test_what_is_sent_runs_by_itself_and_imports_nothing_of_ansible(root: str, tmp_path: Path) -> None:
    bundle.write(str(tmp_path), files(root))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {bundle.PACKAGE}.{root} as it; "
    code += f"assert it.__file__.startswith({str(tmp_path)!r}), it.__file__; assert 'ansible' not in sys.modules"
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_what_is_imported_within_a_function_comes_along_and_nothing_that_is_not_imported() -> None:
    own = importlib.import_module("sparkforge_proof._shared.module_utils._core.bundle")
    proof = set(own.files("sparkforge_proof.runner", "sparkforge_proof.checks.triton_kernels"))
    # Imported by a check alone, in an environment that has Triton.
    assert "sparkforge_proof/checks/kernels.py" in proof
    assert "sparkforge_proof/checks/kernels.py" not in own.files("sparkforge_proof.runner")
    assert "sparkforge_proof/_shared/module_utils/_core/errors.py" in proof
    assert "sparkforge_proof/timer.py" not in proof
    assert "_wheelhouse/store.py" not in names("_unit.worker")


def test_every_package_on_the_way_is_one() -> None:
    found = files("_core.shown")
    packages = [path for path in found if path.endswith("/__init__.py")]
    assert len(packages) == len(bundle.PACKAGE.split(".")) + 1
    assert set(found) - set(packages) == {bundle.PACKAGE.replace(".", "/") + "/_core/shown.py"}


def test_a_module_that_is_not_there_is_told() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"_core\.nothing"):
        files("_core.nothing")


def test_what_ansible_sent_of_itself_comes_along_where_it_is_asked_for(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as sent:
        for path, source in {**files("_core.bundle"), "ansible/module_utils/urls.py": "open_url = 1\n"}.items():
            sent.writestr(path, source)
    code = f"import sys, json; sys.path.insert(0, {str(tmp_path / 'sent.zip')!r})\n"
    code += f"from {bundle.PACKAGE}._core import bundle\n"
    code += "print(json.dumps([sorted(bundle.files(bundle.__name__, ansible=flag)) for flag in (False, True)]))"
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    without, along = json.loads(done.stdout)
    assert set(along) - set(without) == {"ansible/module_utils/urls.py"}
