# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks, a package for each kind, and ``bounds``, by which all of them compare.

Each package stands on those before it: stack, data, kernels, programs, survey, sizes, speed. A check is a function with
the decorator ``check``, which the catalogue finds there.
"""
