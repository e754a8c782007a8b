"""The reports of a host's earlier proofs: the newest ``KEPT`` of ``/var/log/sparkforge/proof/<time>.json``."""

from __future__ import annotations

import json
import os
import time
import typing as t

from . import verdict
from ._shared.module_utils._core import disk, receipts

DIRECTORY = "/var/log/sparkforge/proof"
#: The number of reports to keep on the host.
KEPT = 50


class History:
    """The reports in a directory.

    :param directory: None or empty if reports are not kept.
    """

    def __init__(self, directory: str | None) -> None:
        self.directory = directory or ""
        self._kept: str | None = None

    def _reports(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.directory) if name.endswith(".json"))
        except OSError:
            return []

    def _read(self, name: str) -> dict[str, t.Any] | None:
        """Return a report, or None if it is damaged or has another format."""
        report = receipts.load(os.path.join(self.directory, name)) or {}
        return report if report.get("format") == verdict.FORMAT else None

    def last(self, environment_id: str | None = None) -> dict[str, t.Any] | None:
        """Return the last report, ignoring those from the future, which a wrong clock leaves behind.

        :param environment_id: consider only reports on this environment; the id is the name of its directory.
        """
        now = _stamp(time.gmtime())
        past_names = (name for name in reversed(self._reports()) if name <= now or name == self._kept)
        reports = filter(None, map(self._read, past_names))
        return next((report for report in reports if environment_id in (None, report.get("environment_id"))), None)

    def of_environment(self, environment_id: str | None) -> list[dict[str, t.Any]]:
        """Return the reports on an environment, the oldest first."""
        reports = filter(None, map(self._read, self._reports()))
        return [report for report in reports if report.get("environment_id") == environment_id]

    @staticmethod
    def covered(reports: t.Iterable[t.Mapping[str, t.Any]]) -> dict[str, set[str]]:
        """Return the operators that each survey computed according to these reports."""
        operators: dict[str, set[str]] = {}
        for report in reports:
            for row in report.get("checks") or []:
                if row.get("covered"):
                    operators.setdefault(str(row["name"]), set()).update(row["covered"])
        return operators

    def baseline(self, devices: t.Sequence[str]) -> dict[str, t.Any] | None:
        """Return the first report in which this host was proven with these GPUs, and protect it from deletion."""
        for name in self._reports():
            report = self._read(name)
            if report is not None and verdict.is_baseline(report, devices):
                self._kept = name
                return report
        return None

    def remember(self, report: t.Mapping[str, t.Any]) -> None:
        """Write a report, and delete the oldest reports and those from the future."""
        now = _stamp(time.gmtime())
        for name in self._reports():
            if name > now and name != self._kept:
                os.unlink(os.path.join(self.directory, name))
        names = self._reports()
        path = os.path.join(self.directory, f"{report['started'].replace(':', '')}.{time.time_ns() % 10**9:09d}.json")
        disk.make_directories(self.directory)
        disk.write_file(path, (json.dumps(report, indent=2, sort_keys=True) + "\n").encode("utf-8"))
        # Keep the baseline: its rates are the host's speed floors.
        for name in [name for name in names if name != self._kept][: max(0, len(names) + 1 - KEPT)]:
            os.unlink(os.path.join(self.directory, name))


def _stamp(moment: time.struct_time) -> str:
    """Return a name that sorts after the names of all reports up to ``moment``."""
    return time.strftime("%Y-%m-%dT%H%M%SZ.~", moment)
