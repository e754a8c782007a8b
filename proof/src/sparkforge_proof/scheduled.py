# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the units of the role verify start: the proof by a calendar, and after kernel, driver or CUDA packages changed.

``<root>/proof/settings.json`` has the options of cuda_proof, and those of proof_publish as ``publish``.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
import typing as t

from . import publish, run as _cuda_proof
from ._shared.module_utils._core import shown
from ._shared.module_utils._core.errors import SparkforgeError

TIMER = "/etc/systemd/system/sparkforge-proof.timer"
#: dpkg holds it while it works (dpkg(1)).
DPKG_LOCK = "/var/lib/dpkg/lock"
#: How long an upgrade may take, in seconds, before the proof no longer waits for its end.
DPKG_WAIT = 3600.0


def is_scheduled() -> bool:
    """Say whether the timer is on this host."""
    return os.path.exists(TIMER)


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
    sys.stdout.write(shown.line(line) + "\n")


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
