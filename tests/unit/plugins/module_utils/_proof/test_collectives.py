# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof import collectives
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._proof.check import REGISTERED


def test_the_exchange_is_checked_on_both_devices():
    assert REGISTERED["collectives.all_reduce"].device == "cuda"
    assert REGISTERED["cpu.collectives.all_reduce"].device == "cpu"


@pytest.mark.parametrize("version", [(2, 28, 9), (2, 28, 9, "+cuda13.0")])
def test_the_release_that_hangs_is_known(version: tuple[int, ...]):
    assert "CUDA graphs" in collectives.known_trap(version)


@pytest.mark.parametrize("version", [(2, 27, 7), (2, 30, 4), (2, 30, 7), (2, 28)])
def test_against_others_nothing_is_known(version: tuple[int, ...]):
    assert collectives.known_trap(version) == ""
