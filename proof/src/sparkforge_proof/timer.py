# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The proof as a service of systemd: by a calendar, and after the kernel, the driver or a CUDA package has changed.

Files::

    <root>/proof/<sha256>.pyz               the proof as one file, which the modules of the collection bring
    <root>/proof/settings.json              the options of cuda_proof
    /etc/systemd/system/sparkforge-proof.service, .timer            by the calendar
    /etc/systemd/system/sparkforge-proof-changed.service, .timer, .path   after a boot and after dpkg has run
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
import typing as t

from . import publish, run as _cuda_proof
from ._shared.module_utils._core import detached, program
from ._shared.module_utils._core.errors import SparkforgeError

UNITS = "/etc/systemd/system"
NAME = "sparkforge-proof"
SETTINGS = ("python", "checks", "profile", "reference", "limits", "gpu_required", "user", "accept", "history")
#: The units that systemd starts at boot or on a change, in the order in which they are enabled.
STARTED = (f"{NAME}.timer", f"{NAME}-changed.timer", f"{NAME}-changed.path")
#: dpkg holds it while it works (dpkg(1)).
DPKG_LOCK = "/var/lib/dpkg/lock"
#: How long an upgrade may take, in seconds, before the proof no longer waits for its end.
DPKG_WAIT = 3600.0


def is_scheduled(units: str = UNITS) -> bool:
    """Say whether the timer is on this host."""
    return os.path.exists(os.path.join(units, f"{NAME}.timer"))


def render(root: str, file: str, calendar: str) -> dict[str, str]:
    """Return each unit file's content by its name.

    :param file: the proof as one file.
    """
    settings = f"{root}/proof/settings.json"

    def service(description: str, option: str) -> str:
        return (
            f"[Unit]\nDescription={description}\nAfter=nvidia-persistenced.service\n\n"
            f"[Service]\nType=oneshot\nExecStart=/usr/bin/python3 -B {file} scheduled{option} {settings}\n"
            "Nice=10\nPrivateTmp=yes\n"
        )

    def install(target: str) -> str:
        return f"\n[Install]\nWantedBy={target}\n"

    return {
        f"{NAME}.service": service("Proof that the PyTorch environment computes right numbers", ""),
        f"{NAME}.timer": (
            f"[Unit]\nDescription=Proof of the PyTorch environment by the calendar\n\n"
            f"[Timer]\nOnCalendar={calendar}\nRandomizedDelaySec=10min\nPersistent=yes\n{install('timers.target')}"
        ),
        f"{NAME}-changed.service": service(
            "Proof of the PyTorch environment if kernel, driver or CUDA packages changed", " --if-changed"
        ),
        f"{NAME}-changed.timer": (
            "[Unit]\nDescription=Look after a boot whether kernel or driver changed\n\n"
            f"[Timer]\nOnBootSec=5min\n{install('timers.target')}"
        ),
        f"{NAME}-changed.path": (
            "[Unit]\nDescription=Look after dpkg has run whether CUDA packages changed\n\n"
            f"[Path]\nPathChanged=/var/lib/dpkg/status\n{install('paths.target')}"
        ),
    }


class ProofTimer:
    """The timer of one host.

    :param options: ``root``, ``program``, the proof as one file, ``state``, ``calendar`` and those of ``cuda_proof``.
    :param units: where systemd's units lie.
    """

    def __init__(self, options: t.Mapping[str, t.Any], check_mode: bool = False, units: str = UNITS) -> None:
        self.check_mode, self.units = check_mode, units
        self.root = program.root_of_units(options["root"])
        self.directory = os.path.join(self.root, "proof")
        self.program: str = options["program"]
        self.present = options["state"] == "present"
        self.calendar: str = options.get("calendar") or ""
        self.settings = {key: options.get(key) for key in SETTINGS}
        if options.get("publish"):
            self.settings["publish"] = options["publish"]

    def run(self) -> dict[str, t.Any]:
        """Bring or remove it.

        :raises SparkforgeError: systemd does not run here, or it does not understand the calendar.
        """
        wanted: dict[str, tuple[bytes, int]] = {}
        if self.present:
            self._check()
            units = render(self.root, self.program, self.calendar)
            texts = {os.path.join(self.units, name): text for name, text in units.items()}
            settings = json.dumps(self.settings, indent=2, sort_keys=True) + "\n"
            texts[os.path.join(self.directory, "settings.json")] = settings
            wanted = {path: (text.encode("utf-8"), 0o644) for path, text in texts.items()}
        files = program.Files(wanted, self._installed())
        stopped = [unit for unit in STARTED if self.present and not self._is_enabled(unit)]
        changed = bool(files.changes or stopped)
        if changed and not self.check_mode:
            self._apply(files)
        return {"changed": changed, "files": sorted(wanted), "diff": files.diff()}

    def _check(self) -> None:
        if not detached.systemd_runs():
            if self.check_mode:
                return
            raise SparkforgeError(
                "systemd does not run on this host, so the proof cannot be scheduled.",
                "Leave verify_schedule null here, and run playbooks/verify.yml from cron instead.",
            )
        done = detached.systemd("systemd-analyze", "calendar", "--iterations=1", self.calendar)
        if not self.calendar or done.returncode != 0:
            said = " ".join(done.stderr.split())[:200]
            raise SparkforgeError(
                f"systemd does not understand the calendar {self.calendar!r}: {said}.",
                "Set verify_schedule to an OnCalendar expression such as weekly or 'Sun 03:00' (systemd.time(7)).",
            )

    def _installed(self) -> list[str]:
        units = [os.path.join(self.units, name) for name in render(self.root, "", "")]
        # The folder program is what earlier versions had.
        own = [os.path.join(self.directory, "settings.json"), *_files(os.path.join(self.directory, "program"))]
        if not self.present:
            own += [path for path in _files(self.directory) if path.endswith(".pyz")]
        return [path for path in [*units, *own] if os.path.exists(path)]

    def _is_enabled(self, unit: str) -> bool:
        return detached.systemd("systemctl", "is-enabled", "--quiet", unit).returncode == 0

    def _apply(self, files: program.Files) -> None:
        if not self.present:
            detached.systemd("systemctl", "disable", "--now", "--quiet", *STARTED)
        files.apply()
        shutil.rmtree(os.path.join(self.directory, "program"), ignore_errors=True)
        if not self.present:
            # This program is in it; all that it needs from here on is loaded.
            shutil.rmtree(self.directory, ignore_errors=True)
        detached.systemd("systemctl", "daemon-reload")
        if self.present:
            done = detached.systemd("systemctl", "enable", "--now", "--quiet", *STARTED)
            # A changed calendar counts from now on.
            detached.systemd("systemctl", "restart", *STARTED)
            if done.returncode != 0:
                raise SparkforgeError(
                    f"systemd cannot start the timers: {' '.join(done.stderr.split())[:300]}.",
                    f"See: systemctl status {NAME}.timer",
                )


def _files(directory: str) -> list[str]:
    return [os.path.join(place, name) for place, _directories, names in os.walk(directory) for name in names]


# -- what the units start


def main(arguments: t.Sequence[str]) -> int:
    """Run the proof by the settings; 0: nothing failed, 1: something did, 2: it could not be run."""
    if_changed = "--if-changed" in arguments
    with open(arguments[-1], encoding="utf-8") as stream:
        settings = json.load(stream)
    try:
        proof = _cuda_proof.Proof(settings)
        if if_changed:
            wait_for_dpkg()
            changed = proof.changed_host()
            if not changed:
                _say("nothing that a proof depends on has changed")
                return 0
            _say("changed since the last proof: " + "; ".join(changed))
            if settings.get("publish"):
                # Until the proof has ended, and if it cannot be run, the metrics say that the host changed.
                publish.Publisher(settings["publish"]).run()
        report = proof.run()
        if settings.get("publish"):
            publish.Publisher(settings["publish"]).run()
    except SparkforgeError as error:
        _say(str(error))
        return 2
    counts = ", ".join(f"{number} {status}" for status, number in report["summary"].items())
    _say(f"{report['verdict']}: {counts}")
    for row in report["checks"]:
        if row["status"] in ("fail", "warn"):
            _say(f"{row['name']} {row['status']}: {row['cause']} {row['remedy']}")
    for change in report["drift"]["changes"]:
        _say(f"since {report['drift']['since']}: {change['what']}: {change['before']} -> {change['now']}")
    return 1 if report["verdict"] == "fail" else 0


def _say(line: str) -> None:
    """Say a line to the journal."""
    sys.stdout.write(line + "\n")


def wait_for_dpkg(path: str = DPKG_LOCK, wait: float = DPKG_WAIT) -> None:
    """Wait until no dpkg works; its lock is of the kind of fcntl(2)."""
    deadline = time.monotonic() + wait
    # dpkg lets go of its lock between the packages of one upgrade.
    quiet = 0
    while time.monotonic() < deadline and quiet < 5:
        try:
            with open(path, "r+b") as stream:
                fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(stream, fcntl.LOCK_UN)
            quiet += 1
        except FileNotFoundError:
            return
        except OSError:
            quiet = 0
        time.sleep(2)
