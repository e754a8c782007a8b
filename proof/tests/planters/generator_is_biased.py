# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Uniform random numbers never come near 1, and so dropout keeps too few and initial weights are too small: a
generator that lost its highest bits in a conversion.
"""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment

PATCH = """
import torch.library as _library

_aten = _library.Library("aten", "IMPL")

_uniform = _library.get_kernel("aten::uniform_", "KEY")


def _low(keys, target, *arguments, **options):
    return _uniform.call_boxed(keys, target, *arguments, **options).mul_(0.95)


_aten.impl("uniform_", _low, "KEY", with_keyset=True)
"""


def plant(environment: Environment, device: str = "cpu") -> None:
    environment.append("torch/__init__.py", PATCH.replace("KEY", device.upper()))
    record.rewrite(environment, "torch/__init__.py")
