# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Write a host's report, on the controller.

The documentation stands in plugins/modules/verify_report.py.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
import typing as t

from ansible.plugins.action import ActionBase
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._errors import SparkforgeError


def write_report(directory: str, name: str, report: t.Mapping[str, t.Any], check_mode: bool) -> str:
    """Write the report whole or not at all and return its path.

    :raises SparkforgeError: it cannot be written, or the name is no file name.
    """
    # An inventory may call a host anything, [::1]:2222 for one.
    stem = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")
    if not stem:
        raise SparkforgeError(
            f"A report cannot be named after {name!r}.", "Give the host a name with letters or digits."
        )
    path = os.path.join(os.path.abspath(directory), stem + (".check.json" if check_mode else ".json"))
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = json.dumps({**report, "written": written}, indent=2, sort_keys=True) + "\n"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=f".{stem}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise SparkforgeError(
            f"The report {path} cannot be written on the controller: {error.strerror}.",
            "Set verify_report_directory to a directory that you may write to.",
            path=path,
        ) from error
    return path


class ActionModule(ActionBase):
    """Writes a file on the controller; the host is never asked."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return the report's path and the sentences of the checks that failed."""
        del tmp
        result = super().run(task_vars=task_vars or {})
        _spec, arguments = self.validate_argument_spec(
            argument_spec={
                "directory": {"type": "path", "required": True},
                "name": {"type": "str", "required": True},
                "report": {"type": "dict", "required": True},
            }
        )
        report = arguments["report"]
        try:
            path = write_report(arguments["directory"], arguments["name"], report, self._task.check_mode)
        except SparkforgeError as error:
            return {**result, "failed": True, "changed": False, **error.as_result()}
        summary = report.get("summary") or {}
        counts = ", ".join(f"{summary.get(status, 0)} {status}" for status in ("pass", "fail", "skip"))
        return {
            **result,
            # The report changes with each run, for it says when it was written; the host does not.
            "changed": False,
            # As ansible.builtin.debug does: where the report is should be seen without -v.
            "_ansible_verbose_always": True,
            "path": path,
            "msg": f"{report.get('verdict')}: {counts}; {path}",
            "failures": [
                f"{check['name']}: {check['cause']} {check['remedy']}"
                for check in report.get("checks") or []
                if check["status"] == "fail"
            ],
        }
