# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host shows of its last proof to whoever logs in, and to a Prometheus that watches it.

Files::

    <textfile>/sparkforge.prom              metrics, for the textfile collector of node_exporter
    /etc/update-motd.d/60-sparkforge        prints one line at login (pam_motd(8))
    <root>/receipts/proof_published.json    both paths, so that what is not wanted any more is found and removed
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
from ._shared.module_utils._core import disk, installed_files, receipts, shown
from ._shared.module_utils._core.errors import SparkforgeError
from .check import FAIL
from .history import History

MOTD = "/etc/update-motd.d/60-sparkforge"
TEXTFILE = "sparkforge.prom"
RECEIPT = "proof_published"
#: The timer that looks whether the host changed, after a boot and after dpkg has run, and then publishes again.
TIMER = "/etc/systemd/system/sparkforge-proof-changed.timer"
#: What the script at login compares with the host.
SEEN = ("driver", "kernel", "firmware", "packages")
VERDICTS = (verdict.PROVEN, verdict.UNPROVEN, FAIL)
#: Each metric's help, as the exposition format has it; all of them are gauges.
METRICS = {
    "sparkforge_proof_verdict": "1 for the last proof's verdict: proven, unproven or fail",
    "sparkforge_proof_timestamp_seconds": "start of the last proof, in Unix time",
    "sparkforge_proof_duration_seconds": "duration of the last proof",
    "sparkforge_proof_checks": "number of checks that passed, warned, failed or were skipped",
    "sparkforge_proof_rate": "measured rate, in the unit at the end of the rate's name",
    "sparkforge_proof_info": "1, with labels for what was proven and on what",
    "sparkforge_proof_changed": "1 if driver, kernel, firmware or CUDA packages are not as in the last proof",
}

Report = t.Mapping[str, t.Any]


def began(report: Report) -> int:
    """Return when a report's proof began, in seconds since 1970."""
    return calendar.timegm(time.strptime(str(report["started"]), "%Y-%m-%dT%H:%M:%SZ"))


def metrics(report: Report, changed_since: bool | None = None) -> str:
    """Return a report as metrics in Prometheus' text format.

    :param changed_since: whether the host changed since then; None where nothing on the host keeps that up to date.
    """
    rates = [
        ({"check": str(check["name"]), "rate": str(rate)}, value)
        for check in report.get("checks") or []
        for rate, value in sorted((check.get("rates") or {}).items())
    ]
    named = {key: report.get(key) for key in ("stack", "environment_id", "profile", "scope", "driver", "kernel")}
    samples: dict[str, list[tuple[dict[str, str], t.Any]]] = {
        "sparkforge_proof_verdict": [({"verdict": one}, int(report["verdict"] == one)) for one in VERDICTS],
        "sparkforge_proof_timestamp_seconds": [({}, began(report))],
        "sparkforge_proof_duration_seconds": [({}, report["seconds"])],
        "sparkforge_proof_checks": [({"status": one}, count) for one, count in sorted(report["summary"].items())],
        "sparkforge_proof_rate": rates,
        "sparkforge_proof_info": [({key: str(value or "") for key, value in named.items()}, 1)],
    }
    if changed_since is not None:
        samples["sparkforge_proof_changed"] = [({}, int(changed_since))]
    lines = []
    for name, found in samples.items():
        lines += [f"# HELP {name} {METRICS[name]}", f"# TYPE {name} gauge"]
        for labels, value in found:
            inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            lines.append(f"{name}{{{inside}}} {float(value):.10g}" if inside else f"{name} {float(value):.10g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def motd(report: Report, activate: str, program_path: str, url: str = "") -> str:
    """Return the script that says at login what the last proof found, how long ago, and whether the host changed since.

    :param activate: the script by which a person enters the environment.
    :param program_path: the proof as one file, which compares the host with what this report saw of it.
    :param url: where the host's page is, or empty.
    """
    found, versions = str(report["verdict"]), report.get("software") or {}
    said = {
        verdict.PROVEN: "computes right numbers",
        verdict.UNPROVEN: "is unproven: numbers that are required were not computed",
        FAIL: "computes WRONG NUMBERS" if verdict.wrong(report) else "FAILED its proof, without a wrong number",
    }[found]
    torch = " ".join(["PyTorch", str(versions.get("torch") or "")]).strip()
    text = "; ".join(filter(None, [f"{torch} {said}", verdict.remark(report)]))
    end = f". Enter it: . {activate}" + (f"  Report: {url}" if url else "")
    # Versions come from the environment that was proven; JSON in ASCII has no line breaks, so that no text of a report
    # ends the here-document.
    seen = json.dumps({key: report[key] for key in SEEN if key in report}, sort_keys=True)
    return (
        "#!/bin/sh\n"
        "# Written by sparkforge.dgx_spark after each proof; verify_motd: false removes it.\n"
        f"days=$((($(date +%s) - {began(report)}) / 86400))\n"
        f"since=$(/usr/bin/python3 -I -B {shlex.quote(program_path)} changed 2>/dev/null <<'SEEN'\n{seen}\nSEEN\n"
        ") || since='whether the host changed since is not known'\n"
        f'printf \'%s, checked %s days ago%s%s\\n\' {shlex.quote(shown.line(text))} "$days" "${{since:+; $since}}" '
        f"{shlex.quote(shown.line(end))}\n"
    )


class Publisher:
    """What one host shows.

    :param options: those of the module proof_publish.
    :param motd_path: where the script for logins is.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False, motd_path: str = MOTD) -> None:
        self.check_mode, self.motd_path = check_mode, motd_path
        self.root: str = options["root"]
        self.environment: str = options.get("environment") or "torch"
        self.history: str = options.get("history") or ""
        self.directory: str = options.get("textfile") or ""
        self.wants_motd, self.url = bool(options.get("motd")), str(options.get("report_url") or "")
        # The timer starts the program by its name, and a module names the place where it is kept.
        self.program_path: str = options.get("program") or os.path.abspath(sys.argv[0])
        self.watched = os.path.exists(TIMER)

    def run(self) -> dict[str, t.Any]:
        """Write what is wanted of the last report of the current environment; remove what is not.

        A file that comes or goes is a change. Newer figures in one that stays are none, for each proof provides some.

        :raises SparkforgeError: no reports are kept, the directory is not there, or a file cannot be written.
        """
        wanted = self._wanted()
        recorded = (receipts.read(self.root, RECEIPT) or {}).get("paths")
        before = [path for path in recorded if isinstance(path, str)] if isinstance(recorded, list) else []
        stale = [path for path in before if path not in wanted and os.path.lexists(path)]
        new = [path for path in wanted if not os.path.lexists(path)]
        files = installed_files.Files(wanted, stale)
        if not self.check_mode:
            self._apply(files, stale, before)
        diff = [row for row in files.diff() if row["after_header"] in (*new, *stale)]
        return {"changed": bool(new or stale), "files": sorted(wanted), "diff": diff}

    def _wanted(self) -> dict[str, tuple[bytes, int]]:
        """Return each file's content and mode by its path."""
        if not self.directory and not self.wants_motd:
            return {}
        if not self.history:
            raise SparkforgeError(
                "The host keeps no proof reports, so there is nothing to publish.",
                "Set verify_history to a directory on the host, or unset verify_textfile and verify_motd.",
            )
        reason = disk.unsafe_for_metrics(self.directory) if self.directory else ""
        if reason:
            raise SparkforgeError(
                reason,
                f"Create it as root's alone (sudo chown root: {self.directory}; sudo chmod go-w {self.directory}), and "
                "start node_exporter with --collector.textfile.directory and this path; or set verify_textfile to the "
                "directory that it reads.",
            )
        current = os.path.basename(os.path.realpath(os.path.join(self.root, "envs", self.environment, "current")))
        report = History(self.history).last(environment_id=current)
        if report is None:
            return {}
        found: dict[str, tuple[bytes, int]] = {}
        if self.directory:
            changed_since = bool(verdict.changed(report, changed.observe())) if self.watched else None
            found[os.path.join(self.directory, TEXTFILE)] = (metrics(report, changed_since).encode("utf-8"), 0o644)
        if self.wants_motd:
            activate = os.path.join(self.root, "bin", f"activate-{self.environment}")
            found[self.motd_path] = (motd(report, activate, self.program_path, self.url).encode("utf-8"), 0o755)
        return found

    def _apply(self, files: installed_files.Files, stale: t.Sequence[str], before: t.Sequence[str]) -> None:
        wanted = files.wanted
        # Before the files, so that one whose writing is interrupted is found again.
        if sorted(wanted) != sorted(before) and wanted:
            receipts.write(self.root, RECEIPT, {"paths": sorted({*wanted, *stale})})
        files.apply()
        if not wanted:
            receipts.remove(self.root, RECEIPT)
        elif stale:
            receipts.write(self.root, RECEIPT, {"paths": sorted(wanted)})


def is_published(root: str) -> bool:
    """Say whether this host shows anything of its proof."""
    return receipts.read(root, RECEIPT) is not None
