# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An embedding does not rescale rows that are longer than max_norm, which some kernels skip for repeated indices."""

from __future__ import annotations

from tests.proof import record
from tests.proof.environment import Environment

PATCH = """
_embedding = embedding


def embedding(input, weight, padding_idx=None, max_norm=None, *arguments, **options):
    return _embedding(input, weight, padding_idx, None, *arguments, **options)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/nn/functional.py", PATCH)
    record.rewrite(environment, "torch/nn/functional.py")
