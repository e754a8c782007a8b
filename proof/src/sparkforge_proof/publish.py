"""Publish a host's last proof at login and to Prometheus.

Files::

    <textfile>/sparkforge.prom              metrics for the textfile collector of node_exporter
    /etc/update-motd.d/60-sparkforge        prints a line at login (pam_motd(8))
    <root>/receipts/proof_published.json    the paths of both files, so that stale files are removed
"""

from __future__ import annotations

import calendar
import json
import os
import shlex
import sys
import time
import typing as t

from . import changed, verdict
from ._shared.module_utils._core import directories, installed_files, receipts, sanitize
from ._shared.module_utils._core.errors import SparkforgeError
from .check import FAIL
from .history import History

MOTD = "/etc/update-motd.d/60-sparkforge"
TEXTFILE = "sparkforge.prom"
RECEIPT = "proof_published"
#: The timer that looks for changes to the host after a boot or a dpkg run, and then publishes the proof again.
TIMER = "/etc/systemd/system/sparkforge-proof-changed.timer"
#: The keys in a report that the login script compares with the host.
SEEN = ("driver", "kernel", "firmware", "packages")
VERDICTS = (verdict.PROVEN, verdict.UNPROVEN, FAIL)
#: The HELP text for each metric; all of them are gauges.
METRICS = {
    "sparkforge_proof_verdict": "1 for the last proof's verdict: proven, unproven or fail",
    "sparkforge_proof_timestamp_seconds": "start of the last proof, in Unix time",
    "sparkforge_proof_duration_seconds": "duration of the last proof",
    "sparkforge_proof_checks": "number of checks that passed, warned, failed or were skipped",
    "sparkforge_proof_rate": "measured rate, in the unit at the end of the rate's name",
    "sparkforge_proof_info": "1, with labels for what was proven and on what",
    "sparkforge_proof_changed": "1 if driver, kernel, firmware or CUDA packages changed since the last proof",
}

Report = t.Mapping[str, t.Any]


def began(report: Report) -> int:
    """Return the start of a report's proof as Unix time."""
    return calendar.timegm(time.strptime(str(report["started"]), "%Y-%m-%dT%H:%M:%SZ"))


def metrics(report: Report, changed_since: bool | None = None) -> str:
    """Return a report as metrics in Prometheus's text format.

    :param changed_since: whether the host has changed since then; None if no timer keeps this up to date.
    """
    rates = [
        ({"check": str(check["name"]), "rate": str(rate)}, value)
        for check in report.get("checks") or []
        for rate, value in sorted((check.get("rates") or {}).items())
    ]
    named = {key: report.get(key) for key in ("stack", "environment_id", "profile", "scope", "driver", "kernel")}
    samples: dict[str, list[tuple[dict[str, str], t.Any]]] = {
        "sparkforge_proof_verdict": [({"verdict": name}, int(report["verdict"] == name)) for name in VERDICTS],
        "sparkforge_proof_timestamp_seconds": [({}, began(report))],
        "sparkforge_proof_duration_seconds": [({}, report["seconds"])],
        "sparkforge_proof_checks": [({"status": name}, count) for name, count in sorted(report["summary"].items())],
        "sparkforge_proof_rate": rates,
        "sparkforge_proof_info": [({key: str(value or "") for key, value in named.items()}, 1)],
    }
    if changed_since is not None:
        samples["sparkforge_proof_changed"] = [({}, int(changed_since))]
    lines = []
    for name, values in samples.items():
        lines += [f"# HELP {name} {METRICS[name]}", f"# TYPE {name} gauge"]
        for labels, value in values:
            inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            lines.append(f"{name}{{{inside}}} {float(value):.10g}" if inside else f"{name} {float(value):.10g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def motd(report: Report, activate: str, program_path: str, url: str = "") -> str:
    """Return the script that at login prints the last verdict, its age, and later changes to the host.

    :param activate: the script that activates the environment.
    :param program_path: the single-file program, which compares the host with the report.
    :param url: the URL of the host's page, or ''.
    """
    versions = report.get("software") or {}
    outcome = {
        verdict.PROVEN: "computes right numbers",
        verdict.UNPROVEN: "is unproven: numbers that are required were not computed",
        FAIL: "computes WRONG NUMBERS" if verdict.wrong(report) else "FAILED its proof, without a wrong number",
    }[str(report["verdict"])]
    torch = " ".join(["PyTorch", str(versions.get("torch") or "")]).strip()
    text = "; ".join(filter(None, [f"{torch} {outcome}", verdict.remark(report)]))
    end = f". Activate it: . {activate}" + (f"  Report: {url}" if url else "")
    # Versions come from the environment under test and are not trusted. ASCII JSON contains no line breaks, so text in
    # a report cannot end the here-document.
    seen = json.dumps({key: report[key] for key in SEEN if key in report}, sort_keys=True)
    return (
        "#!/bin/sh\n"
        "# Written by sparkforge.dgx_spark after each proof; verify_motd: false removes it.\n"
        f"days=$((($(date +%s) - {began(report)}) / 86400))\n"
        f"since=$(/usr/bin/python3 -I -B {shlex.quote(program_path)} changed 2>/dev/null <<'SEEN'\n{seen}\nSEEN\n"
        ") || since='changes of the host since then are not known'\n"
        f'printf \'%s, checked %s days ago%s%s\\n\' {shlex.quote(sanitize.line(text))} "$days" "${{since:+; $since}}" '
        f"{shlex.quote(sanitize.line(end))}\n"
    )


class Publisher:
    """Publishes a host's last proof.

    :param options: the options of the module proof_publish.
    :param motd_path: the path of the login script.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False, motd_path: str = MOTD) -> None:
        self.check_mode, self.motd_path = check_mode, motd_path
        self.root: str = options["root"]
        self.environment: str = options.get("environment") or "torch"
        self.history: str = options.get("history") or ""
        self.directory: str = options.get("textfile") or ""
        self.wants_motd, self.url = bool(options.get("motd")), str(options.get("report_url") or "")
        # A module passes the program's path; the timer runs the program itself.
        self.program_path: str = options.get("program") or os.path.abspath(sys.argv[0])
        self.has_timer = os.path.exists(TIMER)

    def run(self) -> dict[str, t.Any]:
        """Write the files for the last report on the current environment, and remove stale files.

        Only a new or removed file counts as a change. New figures in a file do not, because every proof brings some.

        :raises SparkforgeError: if no reports are kept, the directory does not exist, or a file cannot be written.
        """
        contents = self._contents()
        recorded = (receipts.read(self.root, RECEIPT) or {}).get("paths")
        before = [path for path in recorded if isinstance(path, str)] if isinstance(recorded, list) else []
        stale = [path for path in before if path not in contents and os.path.lexists(path)]
        new = [path for path in contents if not os.path.lexists(path)]
        files = installed_files.Files(contents, stale)
        if not self.check_mode:
            self._apply(files, stale, before)
        diff = [row for row in files.diff() if row["after_header"] in (*new, *stale)]
        return {"changed": bool(new or stale), "files": sorted(contents), "diff": diff}

    def _contents(self) -> dict[str, tuple[bytes, int]]:
        """Return the content and mode of each file by its path."""
        if not self.directory and not self.wants_motd:
            return {}
        if not self.history:
            raise SparkforgeError(
                "The host keeps no proof reports, so there is nothing to publish.",
                "Set verify_history to a directory on the host, or unset verify_textfile and verify_motd.",
            )
        reason = directories.unsafe_for_metrics(self.directory) if self.directory else ""
        if reason:
            raise SparkforgeError(
                reason,
                f"Create it for root only (sudo chown root: {self.directory}; sudo chmod go-w {self.directory}), and "
                "start node_exporter with --collector.textfile.directory and this path; or set verify_textfile to the "
                "directory that it reads.",
            )
        current = os.path.basename(os.path.realpath(os.path.join(self.root, "envs", self.environment, "current")))
        report = History(self.history).last(environment_id=current)
        if report is None:
            return {}
        contents: dict[str, tuple[bytes, int]] = {}
        if self.directory:
            changed_since = bool(verdict.changed(report, changed.observe())) if self.has_timer else None
            contents[os.path.join(self.directory, TEXTFILE)] = (metrics(report, changed_since).encode("utf-8"), 0o644)
        if self.wants_motd:
            activate = os.path.join(self.root, "bin", f"activate-{self.environment}")
            contents[self.motd_path] = (motd(report, activate, self.program_path, self.url).encode("utf-8"), 0o755)
        return contents

    def _apply(self, files: installed_files.Files, stale: t.Sequence[str], before: t.Sequence[str]) -> None:
        paths = sorted(files.desired)
        # Write the receipt first, so that an interrupted run does not leave a file without an entry.
        if paths != sorted(before) and paths:
            receipts.write(self.root, RECEIPT, {"paths": sorted({*paths, *stale})})
        files.apply()
        if not paths:
            receipts.remove(self.root, RECEIPT)
        elif stale:
            receipts.write(self.root, RECEIPT, {"paths": paths})


def is_published(root: str) -> bool:
    """Tell whether this host publishes its proof."""
    return receipts.read(root, RECEIPT) is not None
