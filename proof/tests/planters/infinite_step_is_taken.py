# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Loss scaling takes a step whose gradient is infinite."""

FILE = "torch/amp/grad_scaler.py"
PATCH = """
def _maybe_opt_step(self, optimizer, optimizer_state, *arguments, **options):
    return optimizer.step(*arguments, **options)


GradScaler._maybe_opt_step = _maybe_opt_step
"""
