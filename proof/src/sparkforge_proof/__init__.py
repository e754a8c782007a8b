# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The checks of the proof, and what runs them in the environment's own interpreter.

``check`` says what a check is, ``catalogue`` lists them, ``runner`` runs them, each family in its own process,
and ``bounds`` compares with float64. Every other file is one family. All of them can be imported by an interpreter
that has no torch: it is imported where a check computes.
"""
