# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unit tests of the parts of the matrix products' checks that need no torch."""

from __future__ import annotations

import pytest
from sparkforge_proof.check import REGISTERED
from sparkforge_proof.checks.kernels import matmul

NAMES = "float32 bfloat16 float16 float64 shapes".split()


@pytest.mark.parametrize("name", [*NAMES, "tf32", "int8", "float8_tensorwise", "float8_rowwise", "float4"])
def test_each_format_has_a_check_on_the_gpu(name: str):
    assert REGISTERED[f"matmul.{name}"].device == "cuda"
    assert REGISTERED[f"matmul.{name}"].numeric


@pytest.mark.parametrize("name", NAMES)
def test_what_a_cpu_computes_is_checked_there_too(name: str):
    assert REGISTERED[f"cpu.matmul.{name}"].device == "cpu"


def test_the_check_that_can_spoil_the_device_runs_last():
    family = [name for name, definition in REGISTERED.items() if definition.family == "matmul"]
    assert family[-1] == "matmul.float8_rowwise"


@pytest.mark.parametrize(
    ("row", "block", "offset"),
    [
        (0, 0, 0),
        (0, 1, 1),
        (0, 3, 3),
        (1, 0, 16),
        (31, 0, 31 * 16),
        (32, 0, 4),
        (64, 2, 10),
        (127, 3, 31 * 16 + 15),
        (0, 4, 512),
        (128, 0, 3 * 512),
        (129, 9, 3 * 512 + 2 * 512 + 16 + 1),
    ],
)
def test_scales_lie_in_tiles_of_128_rows_by_4_blocks(row: int, block: int, offset: int):
    assert matmul.scale_offset(row, block, 10) == offset


def test_each_scale_has_a_place_of_its_own():
    places = {matmul.scale_offset(row, block, 10) for row in range(256) for block in range(10)}
    assert len(places) == 2560
    assert max(places) < 256 * 12


def test_a_gb10_without_its_row_wise_kernel_is_told_of_the_trap():
    failed = matmul.rowwise_trouble("CUDA error: no kernel image is available for execution on the device", (12, 1))
    assert failed is not None
    assert "120a" in str(failed)
    assert "121a" in failed.remedy


def test_other_gpus_are_not_told_of_the_trap_of_the_gb10():
    failed = matmul.rowwise_trouble("Rowwise scaling is not currently supported on your device", (9, 0))
    assert failed is not None
    assert "120a" not in str(failed)
    assert "90a" in failed.remedy


@pytest.mark.parametrize("capability", [(8, 9), (11, 0)])
def test_what_torch_does_not_offer_is_no_failure(capability: tuple[int, int]):
    assert matmul.rowwise_trouble("Rowwise scaling is not currently supported on your device", capability) is None


def test_an_error_without_a_message_still_is_one():
    assert matmul.rowwise_trouble("", (10, 0)) is not None
