"""Validate a report against ``docs/report.schema.json``, and complete it."""

from __future__ import annotations

import json
import typing as t

from ....module_utils._core import phrases
from ....module_utils._core.errors import SparkforgeError
from ....module_utils._core.verdict import FORMAT, summary
from ... import schema
from . import Report


def report_problems(report: t.Any) -> list[str]:
    """Return a report's problems: schema violations, and counts that contradict its checks."""
    problems = schema.problems("report", report)
    if problems:
        return problems
    names = [check["name"] for check in report["checks"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        problems.append(f"checks has two entries named {twice[0]}")
    if report["summary"] != summary(check["status"] for check in report["checks"]):
        problems.append("summary does not match checks")
    return problems


def complete(report: t.Mapping[str, t.Any], host: str, check_mode: bool) -> Report:
    """Return a report with its optional keys filled in, ready to be written."""
    # Convert Ansible's own text types to plain ones; data that JSON cannot represent raises TypeError.
    copy = json.loads(json.dumps(report))
    checks = [
        {
            "family": "host",
            **dict.fromkeys(("measured", "bound", "cause", "remedy", "evidence", "reason"), ""),
            **dict.fromkeys(("required", "numeric", "blocked", "accepted"), False),
            "seconds": 0.0,
            "ratio": None,
            "rates": {},
            **check,
        }
        if isinstance(check, dict)
        else check
        for check in copy.get("checks") or []
    ]
    completed = {
        "format": FORMAT,
        "environment_id": None,
        "scope": "none",
        "started": None,
        "seconds": 0.0,
        "devices": [],
        "driver": None,
        "kernel": None,
        "software": {},
        "packages": {},
        "notices": [],
        "resolved": {},
        "drift": {"since": None, "changes": []},
        **copy,
        # The name comes from the inventory, because a host could report another host's name.
        "host": host,
        "check_mode": check_mode,
        "checks": checks,
        "written": phrases.now(),
    }
    if "summary" not in copy and all(isinstance(check, dict) and "status" in check for check in checks):
        completed["summary"] = summary(check["status"] for check in checks)
    problems = report_problems(completed)
    if problems:
        raise SparkforgeError(
            f"This is not a valid report: {phrases.some(problems, 5, '; ')}.",
            "Pass verify_report the report that cuda_proof returned, in the format of report.schema.json.",
            problems=problems,
        )
    return completed
