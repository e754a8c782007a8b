# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a failing tool says: one table of causes and remedies.

``rules`` is the table, a data file for each topic. ``table`` reads it and looks up what one tool printed, as apt and
pip do; ``scan`` reads logs of any size. This file imports nothing, so that a module provides only what it asks for.
"""
