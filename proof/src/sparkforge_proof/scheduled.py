"""The verify role's scheduled proof, which runs at calendar times or when kernel, driver or CUDA packages change.

``<root>/proof/settings.json`` holds the options of cuda_proof, and those of proof_publish as ``publish``.
"""

from __future__ import annotations

import fcntl
import json
import sys
import time
import typing as t

from . import publish, run as _cuda_proof
from ._shared.module_utils._core import sanitize
from ._shared.module_utils._core.errors import SparkforgeError

TIMER = "/etc/systemd/system/sparkforge-proof.timer"
#: The lock that dpkg holds while it is working (dpkg(1)).
DPKG_LOCK = "/var/lib/dpkg/lock"
#: How many seconds to wait for an upgrade before the proof starts anyway.
DPKG_WAIT = 3600.0


def main(arguments: t.Sequence[str]) -> int:
    """Run the proof with a settings file; return 0 if nothing failed, 1 if a check failed, or 2 if it could not run."""
    if_changed = "--if-changed" in arguments
    with open(arguments[-1], encoding="utf-8") as stream:
        settings = json.load(stream)
    try:
        proof = _cuda_proof.Proof(settings)
        if if_changed:
            wait_for_dpkg()
            changed = proof.changed_host()
            if not changed:
                _log("no component that a proof depends on has changed")
                return 0
            _log("changed since the last proof: " + "; ".join(changed))
            if settings.get("publish"):
                # The metrics report the change until the proof has finished.
                publish.Publisher(settings["publish"]).run()
        report = proof.run()
        if settings.get("publish"):
            publish.Publisher(settings["publish"]).run()
    except SparkforgeError as error:
        _log(str(error))
        return 2
    counts = ", ".join(f"{number} {status}" for status, number in report["summary"].items())
    _log(f"{report['verdict']}: {counts}")
    for row in report["checks"]:
        if row["status"] in ("fail", "warn"):
            _log(f"{row['name']} {row['status']}: {row['cause']} {row['remedy']}")
    for change in report["drift"]["changes"]:
        _log(f"since {report['drift']['since']}: {change['what']}: {change['before']} -> {change['now']}")
    return 1 if report["verdict"] == "fail" else 0


def _log(line: str) -> None:
    """Print a line, which systemd adds to the journal."""
    sys.stdout.write(sanitize.line(line) + "\n")


def wait_for_dpkg(path: str = DPKG_LOCK, wait: float = DPKG_WAIT) -> None:
    """Wait until no dpkg holds its fcntl(2) lock."""
    deadline = time.monotonic() + wait
    # dpkg releases its lock between the packages in an upgrade, so checking it once is not enough.
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
