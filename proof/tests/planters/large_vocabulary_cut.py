# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A softmax over more than 131,072 numbers leaves out the last ones."""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
import torch.library as _library

_aten = _library.Library("aten", "IMPL")

_log_softmax = _library.get_kernel("aten::_log_softmax", "KEY")


def _cut(keys, values, dim, wide):
    if values.dtype is not float64 and values.shape[dim] > 131072:
        values = values.clone()
        values.narrow(dim, 131072, values.shape[dim] - 131072).fill_(-inf)
    return _log_softmax.call_boxed(keys, values, dim, wide)


_aten.impl("_log_softmax", _cut, "KEY", with_keyset=True)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/__init__.py", PATCH.replace("KEY", device.upper()))
    record.rewrite(environment, "torch/__init__.py")
