"""The files of a code bundle; the tests of the modules that send bundles run them."""

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


def test_bundle_contains_exactly_the_imported_modules() -> None:
    bundles = importlib.import_module("sparkforge_proof._shared.module_utils._core.bundle")
    proof = set(bundles.files("sparkforge_proof.runner", "sparkforge_proof.checks.kernels.triton_kernels"))
    # Only checks import it.
    assert "sparkforge_proof/checks/stack/companions.py" in proof
    assert "sparkforge_proof/checks/stack/companions.py" not in bundles.files("sparkforge_proof.runner")
    assert "sparkforge_proof/_shared/module_utils/_core/errors.py" in proof
    assert "sparkforge_proof/timer.py" not in proof
    assert "_wheelhouse/store.py" not in names("_unit.worker")
    # Its import of the rules ends in a comment.
    assert "_diagnosis/rules/apt.py" in names("_diagnosis.scan")


def test_missing_module_is_reported() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"_core\.nothing"):
        files("_core.nothing")


def test_bundle_contains_ansible_modules_on_request(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sent.zip", "w") as sent:
        for path, source in {**files("_core.bundle"), "ansible/module_utils/urls.py": "open_url = 1\n"}.items():
            sent.writestr(path, source)
    code = f"import sys, json; sys.path.insert(0, {str(tmp_path / 'sent.zip')!r})\n"
    code += f"from {bundle.PACKAGE}._core import bundle\n"
    code += "print(json.dumps([sorted(bundle.files(bundle.__name__, ansible=flag)) for flag in (False, True)]))"
    result = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    without, with_ansible = json.loads(result.stdout)
    assert set(with_ansible) - set(without) == {"ansible/module_utils/urls.py"}
