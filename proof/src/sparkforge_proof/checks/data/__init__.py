# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of tensors without products: copies, memory, formats, random numbers, layouts, streams and graphs.

A check belongs here if its operations do not round, round only once, or draw random numbers.
"""
