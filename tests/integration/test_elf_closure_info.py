# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The story of seeds/002 and seeds/004: one missing library after the other; here all of them in one pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.host import native_architecture
from lab.stand_ins import shared_object
from tests.integration.conftest import Bench, Host

MODULE = "sparkforge.dgx_spark.elf_closure_info"
PLATFORM = {"amd64": "linux-x86_64", "arm64": "linux-sbsa"}[native_architecture()]
TORCH = "/srv/torch/lib"
# What libtorch_cuda.so of the seeds' wheel needed, in the order in which they met it.
NEEDED = ["libnvpl_lapack_lp64_gomp.so.0", "libnvpl_blas_lp64_gomp.so.0", "libcudss.so.0"]


def put(
    host: Host, folder: Path, path: str, soname: str, needed: list[str] | None = None, platform: str = PLATFORM
) -> None:
    file = folder / Path(path).name
    file.write_bytes(shared_object(platform, soname, needed or []))
    host.copy(file, path)


def closure(host: Host, *paths: str, **options: Any) -> dict[str, Any]:
    options = {"become": False, "cuda_version": "13.0", **options}
    result = host.task(MODULE, paths=list(paths), **options)
    assert "missing" in result, result
    return result


@pytest.fixture(scope="module")
def torch(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Host:
    """A host without the libraries, and torch on it: libtorch_python needs libtorch_cuda needs the rest."""
    host = bench.fresh()
    folder = tmp_path_factory.mktemp("torch")
    put(host, folder, f"{TORCH}/libtorch_cuda.so", "libtorch_cuda.so", [*NEEDED, "libcuda.so.1", "libfrobnicate.so.9"])
    put(host, folder, f"{TORCH}/libtorch_python.so", "libtorch_python.so", ["libtorch_cuda.so"])
    return host


def test_every_missing_library_is_named_in_one_pass(torch: Host) -> None:
    missing = {row["soname"]: row for row in closure(torch, f"{TORCH}/libtorch_cuda.so", driver=True)["missing"]}
    assert set(missing) == {*NEEDED, "libfrobnicate.so.9"}
    assert all(row["needed_by"] == [f"{TORCH}/libtorch_cuda.so"] for row in missing.values())


def test_nothing_is_run_and_nothing_changes(torch: Host) -> None:
    before = torch.execute("find /srv -printf '%p %T@\n'")
    result = closure(torch, TORCH)
    assert not result["changed"]
    assert torch.execute("find /srv -printf '%p %T@\n'") == before


@pytest.mark.long
def test_on_a_provisioned_host_torch_lacks_nothing(provisioned: Host) -> None:
    libraries = "/opt/sparkforge/envs/torch/current/lib/python3*/site-packages/torch/lib"
    # Only its group may read the environment.
    result = closure(provisioned, libraries, "/opt/sparkforge/redist/*/current/lib", driver=True, become=True)
    assert result["missing"] == [] and result["examined"] > 5
