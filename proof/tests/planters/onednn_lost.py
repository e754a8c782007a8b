# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CMake did not find what oneDNN needs and went on without it, though the build was asked for it."""

from __future__ import annotations

from proof.tests import record
from proof.tests.environment import Environment


def plant(environment: Environment) -> None:
    environment.append("torch/backends/mkldnn/__init__.py", "\n\ndef is_available():\n    return False\n")
    record.rewrite(environment, "torch/backends/mkldnn/__init__.py")
