# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CMake did not find what oneDNN needs and went on without it, though the build was asked for it."""

FILE = "torch/backends/mkldnn/__init__.py"
PATCH = """

def is_available():
    return False
"""
