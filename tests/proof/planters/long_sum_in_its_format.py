# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A long sum of 16 bit numbers is kept in 16 bits between its parts."""

from __future__ import annotations

from tests.proof import record
from tests.proof.environment import Environment

PATCH = """
import torch.library as _library

_aten = _library.Library("aten", "IMPL")

_sum = _library.get_kernel("aten::sum.IntList_out", "KEY")


def _short(keys, values, dims, keep, *, dtype=None, out=None):
    _sum.call_boxed(keys, values, dims, keep, dtype=dtype, out=out)
    if values.dtype in (float16, bfloat16) and out.dtype is values.dtype and values.numel() > 65536:
        out.copy_(cat([values.flatten()[:65536], values.flatten()[65536:]]).float().cumsum(0).to(values.dtype)[-1])
        if out.dim() == 0:
            half = values.flatten()[:65536].float().sum().to(values.dtype)
            out.copy_((half.float() + values.flatten()[65536:].float().sum()).to(values.dtype))
    return out


_aten.impl("sum.IntList_out", _short, "KEY", with_keyset=True)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/__init__.py", PATCH.replace("KEY", device.upper()))
    record.rewrite(environment, "torch/__init__.py")
