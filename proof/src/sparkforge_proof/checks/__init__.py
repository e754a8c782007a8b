# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks, in one package for each kind, and ``bounds``, which compares their results.

A package may import only those listed before it: stack, data, kernels, programs, survey, sizes, speed. A check is a
function with the decorator ``check``, by which the catalogue finds it.
"""
