# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Proves that a PyTorch computes right numbers, and tells from files whether packages will run on a device.

``check`` says what a check is, ``catalogue`` lists them, ``runner`` runs them, each family in its own process, and
``checks.bounds`` compares with float64. Each package of ``checks`` is a kind of checks. All can be imported by an
interpreter that has no torch: it is imported where a check computes.
"""

__version__ = "0.1.0"
