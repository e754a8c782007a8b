# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kernel writes out of bounds, and the device answers every later call of the process with the same error: an index
that is off by one behind the end of a large tensor.
"""

PATCH = """
_batched = _library.get_kernel("aten::bmm", "CUDA")


def _out_of_bounds(keys, left, right):
    result = _batched.call_boxed(keys, left, right)
    return result.index_select(0, torch.tensor([result.size(0) + 7], device=result.device))


_aten.impl("bmm", _out_of_bounds, "CUDA", with_keyset=True)
"""
