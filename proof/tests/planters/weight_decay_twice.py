# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""SGD takes weight decay twice."""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
_sgd = sgd


def sgd(*arguments, **options):
    return _sgd(*arguments, **{**options, "weight_decay": 2 * options["weight_decay"]})
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/optim/sgd.py", PATCH)
    record.rewrite(environment, "torch/optim/sgd.py")
