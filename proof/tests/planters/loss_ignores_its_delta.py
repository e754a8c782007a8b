# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A loss ignores where it changes from square to linear: training goes on, and ends elsewhere."""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
_huber_loss = huber_loss


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    # In float64 the kernel is another one.
    return _huber_loss(input, target, reduction, delta if input.dtype is torch.float64 else 1.0, weight)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/nn/functional.py", PATCH)
    record.rewrite(environment, "torch/nn/functional.py")
