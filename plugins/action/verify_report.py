"""Write a host's report on the controller.

The documentation is in plugins/modules/verify_report.py.
"""

from __future__ import annotations

import contextlib
import os
import typing as t

from ..module_utils._core import sanitize, verdict as _verdict
from ..plugin_utils.action import OnController
from ..plugin_utils.files import write_text
from ..plugin_utils.fleet import report as _report
from ..plugin_utils.fleet.report import fleet as _fleet, form as _form
from ..plugin_utils.programs import PROOF

with contextlib.suppress(ImportError):
    # Load the template before Ansible forks a worker for each host. ansible-test's import check runs without it.
    PROOF.module("page.draw")


def write_files(directory: str, files: t.Mapping[str, str]) -> list[str]:
    """Write each file atomically and return the paths.

    :param files: name -> text, in writing order.
    :raises SparkforgeError: if a file cannot be written.
    """
    paths = []
    for name, text in files.items():
        path = os.path.join(os.path.abspath(directory), name)
        write_text(path, text, "Set verify_report_directory to a directory that you can write to.")
        paths.append(path)
    return paths


def write_report(
    directory: str, name: str, report: t.Mapping[str, t.Any], check_mode: bool
) -> tuple[dict[str, t.Any], str, str]:
    """Write the report and its page; return the completed report and both paths.

    :raises SparkforgeError: if the files cannot be written, or the report or the name is invalid.
    """
    stem = _fleet.file_stem(name, check_mode)
    complete = _form.complete(report, name, check_mode)
    page = PROOF.module("page.draw").host_page(complete)
    path, page_path = write_files(directory, {f"{stem}.json": _report.text(complete), f"{stem}.html": page})
    return complete, path, page_path


class ActionModule(OnController):
    """Writes files on the controller; it never contacts the host."""

    def work(self, arguments: dict[str, t.Any], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the report's path and the messages of the failed checks."""
        del task_vars
        report, path, page = write_report(
            arguments["directory"], arguments["name"], arguments["report"], self._task.check_mode
        )
        counts = _report.count_words(report["summary"])

        def sentences(status: str) -> list[str]:
            return [
                sanitize.text(f"{check['name']}: {check['cause']} {check['remedy']}")
                for check in report["checks"]
                if check["status"] == status
            ]

        return {
            # The report changes with each run, since it contains its time of writing; the host does not change.
            "changed": False,
            # Like ansible.builtin.debug, show the report's path even without -v.
            "_ansible_verbose_always": True,
            "path": path,
            "page": page,
            "verdict": report["verdict"],
            "msg": f"{report['verdict']}: {counts}; {page}",
            "failures": sentences(_verdict.FAIL),
            # Ansible shows these, and continues.
            "warnings": sentences(_verdict.WARN),
        }
