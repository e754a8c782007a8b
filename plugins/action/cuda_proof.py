# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs the module: see plugin_utils/action.py for what it spares the controller."""

from __future__ import annotations

from ansible.plugins.action.normal import ActionModule as Normal

from ..plugin_utils.action import OnHost


class ActionModule(OnHost, Normal):
    """What every module without an action of its own does."""
