# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds the wheels' sha256, the firmware, and what changed since the last proof; the rest is the module's."""

from __future__ import annotations

import typing as t

from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils.fleet import status
from .python_env import ActionModule as PythonEnv


class ActionModule(PythonEnv):
    """One call of the module."""

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        # Not the parent's, which runs python_env.
        result = super(PythonEnv, self).run(tmp, task_vars)
        arguments = dict(self._task.args)
        described = arguments.get("wanted")
        try:
            if isinstance(described, dict) and described.get("wheels"):
                arguments["wanted"] = {**described, "wheels": self._resolved(described["wheels"])[0]}
        except SparkforgeError as error:
            return {**result, "failed": True, **error.as_result()}
        done = dict(self._execute_module(module_args=arguments, task_vars=task_vars))
        observation = ((task_vars or {}).get("ansible_facts") or {}).get("spark_info") or {}
        if "proof" not in done:
            return done
        changed = status.changed(done["proof"], observation)
        return {**done, "changed_since_proof": changed, "firmware": observation.get("firmware") or {}}

    def _is_cached(self, path: str, sha256: str) -> bool:
        """Nothing is sent, so that a wheel whose sha256 is known need not be on the controller."""
        return True
