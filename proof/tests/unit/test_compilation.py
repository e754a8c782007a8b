# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from sparkforge_proof.checks.programs import compilation


def test_each_gradient_has_a_name():
    assert len(compilation.NAMES) == 10
    assert compilation.WIDTH == compilation.HEADS * compilation.HEAD
