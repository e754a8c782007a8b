# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prove that a PyTorch build computes correct results, and tell from package files whether they will run on a device.

``check`` defines a check, ``catalogue`` lists all checks, ``runner`` runs each family in a separate process, and
``checks.bounds`` compares results with float64. Every module can be imported without torch, which the check functions
import.
"""

__version__ = "0.1.0"
