"""The record of a wheel, read from the rows of receipts, including those of older versions."""

import dataclasses
import typing as t

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel import requirement
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheel.wheel import Wheel, wheels_in

FILE = "torch-2.9.1+sf.1-cp312-cp312-linux_aarch64.whl"
SHA = "a" * 64
TORCH = Wheel(FILE, SHA, "torch", "2.9.1+sf.1", 7, f"/house/pytorch/1/{FILE}", "pytorch/1")
PREFIX = {"path": "prefix", "sha256": SHA, "files": 3, "size": 9}


def receipt(*outputs: dict[str, t.Any]) -> dict[str, t.Any]:
    return {"name": "pytorch", "fingerprint": "1", "outputs": list(outputs)}


def test_wheels_of_unit_receipt() -> None:
    row = TORCH.as_output()
    assert row == {"path": FILE, "name": "torch", "version": "2.9.1+sf.1", "sha256": SHA, "size": 7}
    assert wheels_in(receipt(row, PREFIX), "/house/pytorch/1") == [TORCH]
    # Older versions' receipts also contain the wheel's requirements.
    assert wheels_in(receipt({**row, "requires": ["sympy"]})) == [dataclasses.replace(TORCH, path="")]


def test_module_result_has_path_on_the_host() -> None:
    assert TORCH.as_result()["path"] == f"/house/pytorch/1/{FILE}" and TORCH.as_result()["file"] == FILE


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (f"Torch==2.9.1 --hash=sha256:{SHA}", ("torch", "Torch==2.9.1", (SHA,), "2.9.1")),
        ("setuptools >=61 ; python_version > '3'", ("setuptools", "setuptools >=61 ; python_version > '3'", (), "")),
        (f"a[b] @ https://e/a.whl --hash=sha256:{SHA}", ("a", "a[b] @ https://e/a.whl", (SHA,), "")),
        ("a[b,c]==1.0; extra == 'x'", ("a", "a[b,c]==1.0; extra == 'x'", (), "1.0")),
        ("", ("", "", (), "")),
    ],
)
def test_requirement_line_is_split(line: str, parts: tuple[str, str, tuple[str, ...], str]) -> None:
    parsed = requirement.split(line)
    assert (parsed.name, parsed.pin, parsed.hashes, parsed.version) == parts
