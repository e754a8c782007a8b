# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run any module that only calls one of our programs; meta/runtime.yml lists them."""

from __future__ import annotations

import typing as t

from ..plugin_utils.action import AsksProgram


class ActionModule(AsksProgram):
    """Calls the module once, or twice if the host lacks the program."""

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return the module's result."""
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        return {**result, **self.run_program(dict(self._task.args), task_vars or {})}
