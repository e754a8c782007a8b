# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A batched product computes no more entries than a grid of 65,535 has places for."""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
import torch.library as _library

_aten = _library.Library("aten", "IMPL")

_bmm = _library.get_kernel("aten::bmm", "KEY")


def _cut(keys, left, right):
    found = _bmm.call_boxed(keys, left, right)
    if left.dtype is not float64:
        found[65535:] = 0
    return found


_aten.impl("bmm", _cut, "KEY", with_keyset=True)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/__init__.py", PATCH.replace("KEY", device.upper()))
    record.rewrite(environment, "torch/__init__.py")
