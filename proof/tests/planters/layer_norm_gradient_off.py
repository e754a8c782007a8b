# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The gradient of layer_norm is a five hundredth too large; its result is right to the last bit."""

FILE = "torch/nn/functional.py"
PATCH = """
_layer_norm = layer_norm


def layer_norm(*arguments, **options):
    result = _layer_norm(*arguments, **options)
    # In float64 the kernel is another one.
    return result if result.dtype is torch.float64 else result + (result - result.detach()) * 0.002
"""
