# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Matrix products are right and take a hundred times as long: a fallback without tensor cores, a debug build, or
another process that nobody sees. The device waits after each.
"""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
import torch.library as _library

_aten = _library.Library("aten", "IMPL")
_product = _library.get_kernel("aten::mm.out", "CUDA")


def _slowly(keys, left, right, out):
    torch.cuda._sleep(20_000_000)
    return _product.call_boxed(keys, left, right, out=out)


_aten.impl("mm.out", _slowly, "CUDA", with_keyset=True)
"""


def plant(environment: Environment) -> None:
    environment.append("torch/__init__.py", PATCH)
    record.rewrite(environment, "torch/__init__.py")
