# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Matrix products are right and take a hundred times as long: a fallback without tensor cores, a debug build, or
another process that nobody sees. The device waits after each.
"""

PATCH = """
_product = _library.get_kernel("aten::mm.out", "CUDA")


def _slowly(keys, left, right, out):
    torch.cuda._sleep(20_000_000)
    return _product.call_boxed(keys, left, right, out=out)


_aten.impl("mm.out", _slowly, "CUDA", with_keyset=True)
"""
