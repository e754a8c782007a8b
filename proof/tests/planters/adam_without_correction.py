# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adam's fused step leaves out the corrections of its moments."""

FILE = "torch/optim/adam.py"
PATCH = """
_adam = adam


def adam(*arguments, **options):
    if not options.get("fused"):
        return _adam(*arguments, **options)
    steps = [step.clone() for step in arguments[5]]
    for step in arguments[5]:
        step.fill_(1e6)
    _adam(*arguments, **options)
    for step, before in zip(arguments[5], steps):
        step.copy_(before + 1)
"""
