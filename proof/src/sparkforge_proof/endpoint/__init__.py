# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check that a server returns its model's results: ``sparkforge-proof endpoint URL --model PATH``.

``client`` sends requests, ``answers`` parses the answers from four engines, and ``texts`` draws the texts.
``reference`` computes the same log-probabilities in float32, and the noise of the served format. ``judge`` finds wrong
ones and their cause, and ``checks`` makes the rows of the report.
"""
