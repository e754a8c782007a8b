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
