# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Follows a download and prints how far it is. The work itself is the module's."""

from __future__ import annotations

import typing as t

from ansible.utils.display import Display

from ..plugin_utils.action import OnHost, Reconnecting

display = Display()


class ActionModule(Reconnecting, OnHost):
    """One call of the module after the other, until the model is there."""

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        del result
        arguments = {key: value for key, value in self._task.args.items() if key != "attach"}
        host = (task_vars or {}).get("inventory_hostname", "")
        latest: dict[str, t.Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        while latest.get("running") and not latest.get("failed"):
            display.display(f"{host} | {latest['progress']}")
            arguments["attach"] = latest["id"]
            latest = self.again(lambda: self._execute_module(module_args=arguments, task_vars=task_vars))
        return latest
