"""apt_packages as a module: input that it refuses before it runs apt. The tests install nothing."""

from pathlib import Path

import pytest

from tests.unit.run_module import run_module


@pytest.mark.parametrize("package", ["--allow-downgrades", "libfoo-", "a b", "Foo"])
def test_an_invalid_package_name_is_refused_without_a_change(tmp_path: Path, package: str):
    result = run_module("apt_packages", name="x", packages=[package], root=str(tmp_path / "root"))
    assert result["failed"]
    assert repr(package) in result["cause"]
    assert result["remedy"]
    assert not (tmp_path / "root").exists()


def test_present_needs_packages():
    assert "packages" in run_module("apt_packages", name="x")["msg"]


def test_a_name_with_a_slash_is_refused(tmp_path: Path):
    assert run_module("apt_packages", name="../x", packages=["git"], root=str(tmp_path))["failed"]
    assert list(tmp_path.iterdir()) == []


def test_absent_without_a_receipt_is_no_change(tmp_path: Path):
    result = run_module("apt_packages", name="x", state="absent", root=str(tmp_path / "root"))
    assert result["changed"] is False
    assert result["receipt"] == str(tmp_path / "root/receipts/apt-x.json")


def test_check_mode_reports_a_package_that_no_source_offers(tmp_path: Path):
    if not Path("/usr/bin/apt-cache").exists():
        pytest.skip("apt is not installed on this machine")
    name = "sparkforge-no-such-package"
    result = run_module("apt_packages", check_mode=True, name="x", packages=[name], root=str(tmp_path / "root"))
    assert result["changed"] is True
    assert name in result["notes"][0]
    assert not (tmp_path / "root").exists()
