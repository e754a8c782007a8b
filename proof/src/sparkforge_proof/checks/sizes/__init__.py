# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks for faults at certain sizes: more than 2^31 elements, many rows, long texts, empty groups, odd heads.

A check belongs here if the operator may be correct for smaller or rounder sizes.
"""
