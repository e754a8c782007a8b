# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Uniform random numbers never come near 1, and so dropout keeps too few and initial weights are too small: a
generator that lost its highest bits in a conversion.
"""

PATCH = """
_uniform = _library.get_kernel("aten::uniform_", "KEY")


def _low(keys, target, *arguments, **options):
    return _uniform.call_boxed(keys, target, *arguments, **options).mul_(0.95)


_aten.impl("uniform_", _low, "KEY", with_keyset=True)
"""
