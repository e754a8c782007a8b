# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks, a package for each kind, and ``bounds``, with which they compare results.

A package may import those before it: stack, data, kernels, programs, survey, sizes, speed. A check is a function with
the decorator ``check``, by which the catalogue finds it.
"""
