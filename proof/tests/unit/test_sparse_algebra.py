# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the checks of sparse linear algebra do without torch."""

from __future__ import annotations

from pathlib import Path

import pytest
from sparkforge_proof.check import Failed
from sparkforge_proof.checks.kernels import sparse_algebra


def test_the_sparse_system_is_dominated_by_its_diagonal_in_every_column_and_not_symmetric():
    side = 7
    system = sparse_algebra.convection(side)
    count = side * side
    assert len(system.rows) == count + 1
    assert system.rows[-1] == len(system.columns) == len(system.values)
    dense = [[0.0] * count for _ in range(count)]
    for row in range(count):
        places = system.columns[system.rows[row] : system.rows[row + 1]]
        assert places == sorted(set(places))
        for column, value in zip(places, system.values[system.rows[row] :]):
            dense[row][column] = value
    for column in range(count):
        beside = sum(abs(dense[row][column]) for row in range(count) if row != column)
        assert beside <= 0.8 * dense[column][column]
    assert any(dense[i][j] != dense[j][i] for i in range(count) for j in range(i))


@pytest.mark.parametrize(
    ("version", "types"), [((0, 7, 1), [10, 1]), ((0, 8, 0), [10, 10, 1]), ((1, 0, 0), [10, 10, 1])]
)
def test_cudss_takes_one_more_type_since_0_8(version: tuple[int, int, int], types: list[int]):
    assert sparse_algebra.csr_types(version) == types


def test_libraries_of_cudss_are_found_in_the_order_of_the_directories(tmp_path: Path):
    first, second, empty = (tmp_path / name for name in ("first [1]", "second", "empty"))
    for directory in (first, second, empty):
        directory.mkdir()
    for path in (first / "libcudss.so.0", second / "libcudss.so.0", second / "libcudss.so.1"):
        path.touch()
    (first / "libcudss.so.0.7.1").touch()
    (first / "libcudss_mtlayer_gomp.so.0").touch()
    found = sparse_algebra.cudss_candidates(map(str, (empty, first, second, first, tmp_path / "missing")))
    assert found == [str(first / "libcudss.so.0"), str(second / "libcudss.so.1"), str(second / "libcudss.so.0")]


def test_a_library_without_the_interface_of_cudss_is_a_failure_that_names_it():
    with pytest.raises(Failed, match="has no function cudssGetProperty"):
        sparse_algebra.Cudss("libc.so.6")
