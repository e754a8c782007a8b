# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Torch's own lists of operators, modules and optimisers, each with the inputs that torch tests it with.

What holds for every operator belongs here, instead of a check by name: ``variants`` has the ways to call one,
``conditions`` which of them it takes, ``calls`` compares it with float64 under some of them, ``grid`` says which a day
takes; ``rounding`` counts how far off it is, ``operator_bounds`` how far it may be.
"""
