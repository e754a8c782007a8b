"""Turn stack_name into facts, on the controller.

The documentation is in plugins/modules/stack_facts.py.
"""

from __future__ import annotations

import typing as t

from ansible import constants as C

from ..plugin_utils.action import OnController
from ..plugin_utils.stack import facts, load


class ActionModule(OnController):
    """Reads files on the controller; it never contacts the host."""

    # No choices are set, so that work() can refuse an unknown method with a suggestion.
    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {"method": {"type": "str", "default": "build"}}

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the stack and the files that it was read from."""
        inventories = load.inventory_directories(task_vars)
        where = load.search_paths(inventories, arguments["shipped"], arguments["directories"], arguments["locks"])
        resolved = facts.facts(
            arguments["name"],
            arguments["method"],
            arguments["profile"],
            where,
            libraries=arguments["libraries"],
            lock_required=arguments["lock_required"],
        )
        return {"changed": False, "stack": resolved["stack"], "files": resolved["files"], "warnings": _open_settings()}


def _open_settings() -> list[str]:
    """Return warnings about settings that let a host influence other hosts."""
    if not C.config.get_config_value("INJECT_FACTS_AS_VARS"):
        return []
    return [
        "inject_facts_as_vars is on, so root on a host can set variables of this play through the facts that the host "
        "returns. Set inject_facts_as_vars = false under [defaults] in ansible.cfg."
    ]
