"""Read the state of a host's stack from files: environments, units, builds and the last proof. Nothing is run.

A requested environment is compared by ``python_env``'s own plan, so the answer matches that module.
"""

from __future__ import annotations

import contextlib
import os
import time
import typing as t

from .._core import disk, receipts, verdict
from .._core.errors import SparkforgeError
from .._host import guarded
from .._unit import progress, receipt as builds
from .._wheel.environment import LINKS, check_name, own_of
from . import model, observation, plan, tree
from .identity import UndeterminedError
from .model import Facts

#: The path of the systemd timer for the proof.
TIMER = "/etc/systemd/system/sparkforge-proof.timer"

#: The states of an environment, in the order of the report.
STATES = ("current", "staged", "previous", "older")


class StackStatus:
    """One reading of a host's state.

    :param options: the module's options.
    :param run_command: a function to run an interpreter whose file name does not contain its version, and nothing else.
    """

    def __init__(self, options: t.Mapping[str, t.Any], run_command: model.Run) -> None:
        self.root = os.path.abspath(options["root"])
        self.paths = model.paths_of(self.root, check_name(options["name"], "name"))
        self.wanted: Facts | None = options.get("wanted")
        self.history: str | None = options.get("history")
        self.run_command = run_command

    def observe(self) -> Facts:
        """Return the current state and, if requested, the plan of ``python_env``."""
        built = builds.observe_all(self.root)
        links = {link: observation.link(self.paths, link) for link in LINKS}
        return {
            "now": int(time.time()),
            "name": self.paths.name,
            **links,
            "environments": self._environments(links),
            "running": [
                {"name": row["name"], "fingerprint": row["fingerprint"], "line": progress.describe(row["state"])}
                for row in built["running"]
            ],
            "unfinished": [
                {
                    "name": row["name"],
                    "fingerprint": row["fingerprint"],
                    "phase": row["state"].get("phase"),
                    "cause": (row["error"] or {}).get("cause"),
                }
                for row in built["unfinished"]
            ],
            "changed_receipts": built["changed_receipts"],
            **self._proofs(),
            "scheduled": os.path.exists(TIMER),
            "stopped": self._stop_reasons(),
            "plan": self._plan() if self.wanted is not None else None,
        }

    def _environments(self, links: t.Mapping[str, str | None]) -> list[Facts]:
        """Return the facts from each environment's receipt; a directory without a receipt is not an environment."""
        rows = []
        for entry in observation.environments(self.paths):
            directory = os.path.join(self.paths.directory, entry)
            receipt = own_of(directory)
            if receipt is None:
                continue
            row: Facts = {
                "environment_id": entry,
                "state": next((state for state in STATES if links.get(state) == entry), "older"),
                "installed": receipt.get("installed"),
                "python": receipt["python"]["version"] if receipt.get("python") else None,
                "packages": receipt.get("packages") or {},
                "stack": receipt.get("stack") or {},
                "missing": tree.missing_files(directory, receipt),
            }
            rows.append(row)
        return sorted(rows, key=lambda row: (STATES.index(row["state"]), row["environment_id"]))

    def _proofs(self) -> dict[str, Facts | None]:
        """Return summaries of the last report on the current environment and of the last report on the staged one.

        A report without an environment counts for the current one. If there is no report on either environment, the
        last report of all counts for the current one. Damaged reports are ignored.
        """
        current, staged = observation.link(self.paths, "current"), observation.link(self.paths, "staged")
        proofs: dict[str, Facts | None] = {"proof": None, "staged_proof": None}
        latest: Facts | None = None
        for name in reversed([name for name in disk.names(self.history or "") if name.endswith(".json")]):
            report = receipts.load(os.path.join(self.history or "", name))
            if report is None or report.get("format") != verdict.FORMAT:
                continue
            latest = latest or report
            if report.get("environment_id") in (current, None):
                proofs["proof"] = _summarize(report)
                break
            if report.get("environment_id") == staged:
                proofs["staged_proof"] = proofs["staged_proof"] or _summarize(report)
        if latest and not proofs["proof"] and not proofs["staged_proof"]:
            proofs["proof"] = _summarize(latest)
        return proofs

    def _stop_reasons(self) -> list[str]:
        """Return why systemd gave up on each stopped server (roles/serving/files/sparkforge_unit.py wrote it)."""
        reasons = []
        for name in disk.names(os.path.join(self.root, "serving")):
            with contextlib.suppress(OSError), disk.open_regular(f"{self.root}/serving/{name}/stopped") as stream:
                reasons.append(" ".join(stream.read(4096).decode("utf-8", "replace").split()))
        # Add the `guard` role's messages about an unclean shutdown and the units that it has kept stopped since.
        return reasons + guarded.messages((guarded.BRAKED, guarded.DOWN))

    def _plan(self) -> Facts:
        parameters = {**(self.wanted or {}), "name": self.paths.name, "root": self.root}
        empty_plan: Facts = {"environment_id": None, "actions": [], "removed": [], "cause": None, "remedy": None}
        login = os.environ.get("SUDO_USER")
        try:
            options = model.read(parameters, check_mode=True, login=login)
            new = plan.plan(options, self.run_command)
        except UndeterminedError:
            return {**empty_plan, "actions": ["install"]}
        except SparkforgeError as error:
            return {**empty_plan, "cause": error.cause, "remedy": error.remedy}
        return {**empty_plan, "environment_id": new.environment_id, "actions": new.actions, "removed": new.prune}


def _summarize(report: t.Mapping[str, t.Any]) -> Facts:
    keys = ("verdict", "scope", "started", "stack", "lock", "environment_id", "summary", "driver", "kernel")
    return {
        **{key: report.get(key) for key in keys},
        # Leave out fields that a report from an earlier version lacks, because they are unknown.
        **{key: report[key] for key in ("firmware", "packages") if key in report},
        "failed": [check["name"] for check in report.get("checks") or [] if check["status"] == "fail"],
        "accepted": [check["name"] for check in report.get("checks") or [] if check.get("accepted")],
        "drift": report.get("drift") or {"since": None, "changes": []},
    }
