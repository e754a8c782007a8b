# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A convolution reads through a null pointer and takes the process with it: an engine of cuDNN of another minor
version, an illegal instruction's cousin.
"""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
import torch.library as _library

_aten = _library.Library("aten", "IMPL")

import ctypes as _ctypes


def _crash(keys, *arguments, **options):
    _ctypes.string_at(0)


_aten.impl("convolution", _crash, "KEY", with_keyset=True)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/__init__.py", PATCH.replace("KEY", device.upper()))
    record.rewrite(environment, "torch/__init__.py")
