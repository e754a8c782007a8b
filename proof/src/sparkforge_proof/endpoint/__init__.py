# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a served model returns the numbers of its own weights: ``sparkforge-proof endpoint URL --model PATH``.

``client`` asks, ``answers`` reads what four engines say, ``texts`` draws what is asked, ``reference`` computes the same
in float32 and what the served format may be off by, ``judge`` says what is wrong and what brings it about, ``checks``
are the rows of the report.
"""
