"""Merge the reports of many hosts on the controller.

The documentation is in plugins/modules/fleet_report.py.
"""

from __future__ import annotations

import os
import typing as t

from ...tools.forecast import forecast as _forecast
from ..module_utils._core import sanitize
from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils.action import OnController
from ..plugin_utils.fleet import report as _report
from ..plugin_utils.fleet.report import fleet as _fleet
from ..plugin_utils.programs import PROOF
from .verify_report import write_files


def write_fleet(directory: str, fleet: t.Mapping[str, t.Any]) -> tuple[str, str]:
    """Write the state of the hosts and the page that shows it; return both paths."""
    kind = _fleet.CHECKED if fleet["check_mode"] else ""
    names = {row["host"] for row in fleet["hosts"]}
    try:
        upgrade = _forecast.view(_forecast.load(directory), names)
    except SparkforgeError as error:
        upgrade = {"problem": f"{error.cause} {error.remedy}"}
    page = PROOF.module("page.draw").fleet_page(fleet, directory, upgrade)
    path, page_path = write_files(
        directory, {f"{_fleet.FLEET}{kind}.json": _report.text(fleet), f"{_fleet.INDEX}{kind}.html": page}
    )
    return path, page_path


class ActionModule(OnController):
    """Reads and writes files on the controller; it contacts no host."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the paths, the counts, and the hosts that do not meet the requirement."""
        del task_vars
        # The options are strings of Ansible's own types; convert them for files and the result.
        hosts = [str(name) for name in arguments["hosts"]]
        stopped = {str(name): str(reason) for name, reason in arguments["stopped"].items()}
        judged = hosts if arguments["judged"] is None else [str(name) for name in arguments["judged"]]
        directory = str(arguments["directory"])
        fleet = _fleet.merge(directory, [*hosts, *judged], stopped, self._task.check_mode)
        path, page = write_fleet(directory, fleet)
        unmet = {row["host"]: _fleet.unmet(row, arguments["require"] or "none") for row in fleet["hosts"]}
        mine = [row for row in fleet["hosts"] if row["host"] in judged]
        ready_rows = [] if self._task.check_mode else [row for row in mine if not unmet[row["host"]]]
        further = _fleet.next_lines(ready_rows, str(arguments["activate"]), arguments["joined"])
        served = [f"{url}/{os.path.basename(page)}"] if (url := str(arguments["url"]).rstrip("/")) else []
        # Like ansible.builtin.debug, show the verdicts even without -v.
        notes = [sanitize.text(" ".join(str(note).split())) for note in arguments["notes"]]
        for line in [*(_fleet.line(row) for row in mine), *notes, page, *served, *further]:
            self._display.display(f"report | {line}")
        return {
            # The files change with each run, since they contain their time of writing; no host changes.
            "changed": False,
            "path": path,
            "page": page,
            "url": served[0] if served else "",
            "summary": fleet["summary"],
            "hosts": [{key: row[key] for key in ("host", "verdict", "cause", "remedy")} for row in fleet["hosts"]],
            "unmet": {host: reason for host, reason in unmet.items() if reason and host in judged},
        }
