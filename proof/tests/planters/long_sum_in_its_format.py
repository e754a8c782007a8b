# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A long sum of 16 bit numbers is kept in 16 bits between its parts."""

PATCH = """
_sum = _library.get_kernel("aten::sum.dim_IntList", "KEY")


def _short(keys, values, dims, *arguments, **options):
    if values.dtype is not float16 or values.numel() <= 65536 or dims:
        return _sum.call_boxed(keys, values, dims, *arguments, **options)
    parts = values.flatten().split(65536)
    first, *rest = (_sum.call_boxed(keys, part, dims, *arguments, **options) for part in parts)
    for part in rest:
        first = first + part
    return first


_aten.impl("sum.dim_IntList", _short, "KEY", with_keyset=True)
"""
