"""Show the state of a fleet's hosts as a table or as JSON.

The documentation is in plugins/modules/fleet_status.py.
"""

from __future__ import annotations

import os
import typing as t

from ..module_utils._core import phrases, sanitize
from ..plugin_utils import files
from ..plugin_utils.action import OnController
from ..plugin_utils.fleet import status

#: The message for a host that has none because an earlier task failed on it.
UNSAID = "The play failed on this host before its state was read; see the error above."


def fleet(rows: t.Iterable[t.Mapping[str, t.Any]], check_mode: bool) -> dict[str, t.Any]:
    """Return the state of the fleet; a row without ``look`` belongs to a host that was not read."""
    hosts = [
        status.row(str(row["host"]), row["look"], row["stack"], row["changes"], row.get("stops") or [])
        if row.get("look")
        else status.unread(str(row["host"]), str(row.get("problem") or UNSAID), bool(row.get("unreachable")))
        for row in rows
    ]
    return status.fleet(hosts, phrases.now(), check_mode)


class ActionModule(OnController):
    """Prints the state, and writes it to a file on the controller if one is named; it contacts no host."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the state that was shown."""
        del task_vars
        state = fleet(arguments["rows"], self._task.check_mode)
        text = (status.as_json if arguments["format"] == "json" else status.as_text)(state)
        path = os.path.abspath(str(arguments["path"])) if arguments["path"] else None
        if path:
            files.write_text(path, text + "\n", "Set status_file to a file in a directory that you can write to.")
        self._display.display(sanitize.text(text))
        return {"changed": False, "path": path, "summary": state["summary"], "hosts": state["hosts"]}
