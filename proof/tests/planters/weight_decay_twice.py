# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""SGD takes weight decay twice."""

FILE = "torch/optim/sgd.py"
PATCH = """
_sgd = sgd


def sgd(*arguments, **options):
    return _sgd(*arguments, **{**options, "weight_decay": 2 * options["weight_decay"]})
"""
