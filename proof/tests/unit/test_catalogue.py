"""The catalogue reads the checks' declarations from their sources, without importing them."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sparkforge_proof import catalogue, check
from sparkforge_proof.check import H200, X86

CHECKS = Path(check.__file__).parent / "checks"


def test_catalogue_equals_registered_checks() -> None:
    for module in catalogue.modules():
        importlib.import_module(f"sparkforge_proof.{module}")
    assert catalogue.CHECKS == check.REGISTERED


@pytest.mark.parametrize(
    ("family", "both", "gpu_alone"),
    [
        ("matmul", "float32 bfloat16 float16 float64", "tf32 int8 float8_tensorwise float8_rowwise float4"),
        ("convolution", "conv2d conv1d_3d transposed", ""),
        ("tensors", "memory", ""),
        ("compilation", "panels attention", ""),
        ("survey", "pairs_float32", "float64"),
        ("collectives", "parts", ""),
    ],
)
def test_devices_of_checks(family: str, both: str, gpu_alone: str) -> None:
    for name in both.split():
        definition = catalogue.CHECKS[f"{family}.{name}"]
        assert (definition.device, definition.numeric) == ("cuda", True)
        assert catalogue.CHECKS[f"cpu.{family}.{name}"].device == "cpu"
    for name in gpu_alone.split():
        assert catalogue.CHECKS[f"{family}.{name}"].device == "cuda"
        assert f"cpu.{family}.{name}" not in catalogue.CHECKS
    for name in ("build", "onednn"):
        definition = catalogue.CHECKS[f"identity.{name}"]
        assert (definition.device, definition.numeric) == ("none", False)


def test_catalogue_imports_no_checks() -> None:
    program = "import sys; from sparkforge_proof import catalogue; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKS.parents[1], capture_output=True, text=True, check=True
    )
    imported = {name for name in result.stdout.split() if re.match(r"sparkforge_proof\.checks\.\w+\.", name)}
    assert imported == {"sparkforge_proof.checks.stack.device"}


def test_declaration_over_several_lines() -> None:
    source = '''
@check(
    "matmul.new",
    devices=("cuda", "cpu"),
    seconds=90,
    measured=(H200, X86),
)
def new(context):
    """Return nothing."""


@check("matmul.unseen", steps=True)
def unseen(context):
    """Return nothing."""
'''
    checks = catalogue.parse_checks(source, "kernels.matmul")
    assert list(checks) == ["matmul.new", "cpu.matmul.new", "matmul.unseen"]
    assert (checks["matmul.new"].measured, checks["cpu.matmul.new"].measured) == ((H200,), (X86,))
    assert checks["matmul.unseen"] == check.Definition(
        "matmul.unseen", "matmul", "cuda", True, 60, "kernels.matmul", (), True
    )


def test_every_package_of_checks_has_a_docstring() -> None:
    packages = {path.parent.name for path in CHECKS.glob("*/__init__.py")}
    assert packages == set(catalogue.ROOMS)
    for room in catalogue.ROOMS:
        assert importlib.import_module(f"sparkforge_proof.checks.{room}").__doc__


@pytest.mark.parametrize("room", catalogue.ROOMS)
def test_packages_import_only_earlier_packages(room: str) -> None:
    earlier = catalogue.ROOMS[: catalogue.ROOMS.index(room)]
    for path in (CHECKS / room).glob("*.py"):
        used = re.findall(r"^ *from \.\.(\w+)(?:\.\w+)? import", path.read_text(), re.MULTILINE)
        assert set(used) <= {"bounds", "draws", *earlier}, path
