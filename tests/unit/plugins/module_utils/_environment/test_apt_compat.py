"""The apt packages that an environment needs, and whether the installed versions still fit."""

import re
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import apt_compat
from ansible_collections.sparkforge.dgx_spark.tests.unit.plugins.module_utils import elf_writer


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("2.28.3-1+cuda13.0", ("2", "13")), ("9.14.0.64-1", ("9", "")), ("0.8.1.1-1", ("0.8", "")),
        ("1:13.0.2.14-1", ("13", "")), ("3.12.3-0ubuntu2.1", ("3", "")),
    ],
)  # fmt: skip
def test_series_of_version(version: str, expected: tuple[str, str]) -> None:
    assert apt_compat.series(version) == expected


@pytest.mark.parametrize(
    ("name", "before", "now", "message"),
    [
        ("libnccl2", "2.28.3-1+cuda13.0", None, "longer installed"),
        ("libnccl2", "2.28.3-1+cuda13.0", "2.27.7-1+cuda13.0", "libnccl2 is 2.27.7-1+cuda13.0, but the"),
        ("libnccl2", "2.28.3-1+cuda13.0", "2.29.1-1+cuda12.9", "created with 2.28.3-1+cuda13.0"),
        ("libcudnn9-cuda-13", "9.14.0.64-1", "10.0.0.1-1", "is 10.0.0.1-1"),
        ("libcusparselt0-cuda-13", "0.8.1.1-1", "0.9.0.2-1", "is 0.9.0.2-1"),
    ],
)
def test_misfit_of_missing_older_or_other_series(name: str, before: str, now: str | None, message: str) -> None:
    result = apt_compat.misfit({name: before}, {} if now is None else {name: now})
    assert message in result.wrong[0]
    assert result.newer == []


def test_newer_version_of_same_series_fits_and_is_reported() -> None:
    recorded = {"libnccl2": "2.28.3-1+cuda13.0", "python3.12": "3.12.3-0ubuntu2"}
    result = apt_compat.misfit(recorded, {**recorded, "libnccl2": "2.29.1-1+cuda13.1", "another": "1"})
    assert result.wrong == []
    assert "libnccl2 is 2.29.1-1+cuda13.1" in result.newer[0] and "2.28.3-1+cuda13.0" in result.newer[0]


def test_needed_packages_contain_loaded_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    environment = tmp_path / "environment"
    environment.mkdir()
    for name in ("libnccl.so.2", "libcudnn.so.9"):
        (libraries / name).write_bytes(elf_writer.elf_bytes(soname=name))
    (environment / "_C.so").write_bytes(elf_writer.elf_bytes(soname="_C.so", needed=["libnccl.so.2"]))
    ptxas = libraries / "ptxas"
    ptxas.write_text("")
    monkeypatch.setattr(apt_compat, "DPKG", str(tmp_path / "dpkg"))
    info = tmp_path / "dpkg" / "info"
    info.mkdir(parents=True)
    (info / "libnccl2.list").write_text(f"/.\n{libraries}/libnccl.so.2\n")
    (info / "libcudnn9-cuda-13:amd64.list").write_text(f"{libraries}/libcudnn.so.9\n")
    binary = tmp_path / "bin"
    binary.mkdir()
    (binary / "ptxas").symlink_to(ptxas)
    (info / "cuda-nvcc-13-0.list").write_text(f"{binary}/ptxas\n")
    versions = {"libnccl2": "2", "libcudnn9-cuda-13": "9", "cuda-nvcc-13-0": "13", "python3.12": "3", "bash": "5"}
    monkeypatch.setattr(apt_compat, "installed", lambda: versions)
    result = apt_compat.needed(str(environment), "3.12", [str(libraries)], ["yes", str(binary / "ptxas")])
    assert result == {"libnccl2": "2", "cuda-nvcc-13-0": "13", "python3.12": "3"}


def test_needed_packages_without_cuda_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt_compat, "installed", lambda: {"python3.13": "3.13.5-2", "bash": "5"})
    assert apt_compat.needed(str(tmp_path / "absent"), "3.13", [], []) == {"python3.13": "3.13.5-2"}


def test_package_pattern_matches_libraries_and_not_the_driver() -> None:
    for name in ("libcublas-13-0", "libnccl2", "libcudnn9-cuda-13", "libcusparselt0-cuda-13", "cuda-nvcc-13-0"):
        assert re.match(apt_compat.PACKAGES, name)
    for name in ("nvidia-driver-580", "linux-image-6.14.0-1013-nvidia", "libnvidia-compute-580", "libc6"):
        assert not re.match(apt_compat.PACKAGES, name)
