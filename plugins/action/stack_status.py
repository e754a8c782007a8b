# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds the sha256 of the controller's wheels, as python_env does. The work itself is the module's."""

from __future__ import annotations

import typing as t

from ..module_utils._core.errors import SparkforgeError
from .python_env import ActionModule as PythonEnv


class ActionModule(PythonEnv):
    """One call of the module."""

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        # Not the parent's, which runs python_env.
        result = super(PythonEnv, self).run(tmp, task_vars)
        arguments = dict(self._task.args)
        wanted = arguments.get("wanted")
        try:
            if isinstance(wanted, dict) and wanted.get("wheels"):
                arguments["wanted"] = {**wanted, "wheels": self._with_digests(wanted["wheels"])}
        except SparkforgeError as error:
            return {**result, "failed": True, **error.as_result()}
        done: dict[str, t.Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        return done

    def _with_digests(self, wheels: t.Any) -> list[t.Any]:
        """Return the wheels, each with a sha256; one that has it already need not be on the controller."""
        if not isinstance(wheels, list):
            raise SparkforgeError("The option wheels is not a list.", "Set it to a list of paths.")
        return [
            item if isinstance(item, dict) and item.get("sha256") else self._resolved([item])[0][0] for item in wheels
        ]
