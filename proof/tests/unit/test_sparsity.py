# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the check of 2:4 sparsity does without torch."""

from __future__ import annotations

import pytest
from sparkforge_proof.checks.kernels import sparsity


@pytest.mark.parametrize(
    ("number", "text"), [(801, "0.8.1"), (602, "0.6.2"), (1000, "1.0.0"), (None, "of unknown version")]
)
def test_the_version_of_cusparselt_is_readable(number: int | None, text: str):
    assert sparsity.version_text(number) == text
