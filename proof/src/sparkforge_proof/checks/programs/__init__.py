# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What users run: networks that are trained, compiled, spread over GPUs, and that generate.

A check belongs here if it takes many operators to tell, such as a loss after a hundred steps.
"""
