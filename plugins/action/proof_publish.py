# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the module with the proof's program."""

from __future__ import annotations

from ..plugin_utils.action import WithProgram


class ActionModule(WithProgram):
    """See plugin_utils/action.py."""
