# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of users' programs: networks that are trained, compiled, distributed over GPUs, or generate text.

A check belongs here if its result depends on many operators, such as the loss after a hundred steps.
"""
