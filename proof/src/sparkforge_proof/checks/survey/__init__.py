# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares torch's own lists of operators, modules and optimisers, with the inputs that torch tests them with.

A property that holds for every operator belongs here rather than in a check of its own. ``variants`` has the ways to
call an operator, ``conditions`` decides which of them it takes, ``calls`` compares a call with float64, and ``grid``
selects the calls of a day. ``rounding`` measures the errors, and ``operator_bounds`` has their bounds.
"""
