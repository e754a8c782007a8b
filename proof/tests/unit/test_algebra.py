# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the checks of dense linear algebra do without torch."""

from __future__ import annotations

from sparkforge_proof.checks.kernels import algebra

SHOWN = """PyTorch built with:
  - LAPACK is enabled (usually provided by MKL)
  - Build settings: BLAS_INFO=nvpl, BUILD_TYPE=Release, LAPACK_INFO=nvpl, TORCH_VERSION=2.9.1, USE_CUDA=ON,
"""
MAPS = """
ffff8000-ffff9000 r-xp 00000000 08:01 11  /usr/lib/aarch64-linux-gnu/libnvpl_blas_lp64_gomp.so.0
ffff9000-ffffa000 rw-p 00000000 08:01 11  /usr/lib/aarch64-linux-gnu/libnvpl_blas_lp64_gomp.so.0
ffffa000-ffffb000 r-xp 00000000 08:01 12  /usr/lib/aarch64-linux-gnu/libnvpl_lapack_lp64_gomp.so.0
ffffb000-ffffc000 r-xp 00000000 08:01 13  /usr/lib/aarch64-linux-gnu/libc.so.6
ffffc000-ffffd000 rw-p 00000000 00:00 0
"""


def test_the_linked_libraries_are_named_by_torch_and_by_what_is_mapped():
    assert algebra.libraries(SHOWN, MAPS) == (
        "BLAS nvpl, LAPACK nvpl (libnvpl_blas_lp64_gomp.so.0, libnvpl_lapack_lp64_gomp.so.0)"
    )


def test_libraries_that_are_linked_statically_are_named_by_torch_alone():
    assert algebra.libraries("Build settings: BLAS_INFO=mkl", "") == "BLAS mkl, LAPACK unnamed"
