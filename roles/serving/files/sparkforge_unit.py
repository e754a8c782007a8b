# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Monitors a model server's unit: waits until the server answers, and records why it stays off.

``sparkforge_unit.py answers UNIT URL SECONDS`` exits with 0 when the server answers, 2 when systemd gave it up, else 1.
systemd runs ``sparkforge_unit.py stopped UNIT FILE`` when it gives the unit up (OnFailure=).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

#: A time in microseconds that is less than the unit's RestartSec.
BY_HAND_US = 5_000_000
#: Why the server stopped, keyed by ``$SERVICE_RESULT`` (see systemd.exec(5)).
RESULTS = {
    "exit-code": "it exited with status {ExecMainStatus}",
    "signal": "it was killed by signal {ExecMainStatus}",
    "core-dump": "it crashed with signal {ExecMainStatus}",
    "oom-kill": "the kernel killed it because memory ran out",
    "timeout": "it did not start or stop in time",
}


def printed(*command: str) -> str:
    """Return a program's output without terminal controls, because a log may contain any text from the engine."""
    done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    text = done.stdout.decode(errors="replace")
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


def answers(unit: str, url: str, seconds: str) -> int:
    """Wait until the server answers, systemd gives it up, or the time is over."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + float(seconds)
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), opener.open(url, timeout=10):
            return 0
        if printed("systemctl", "is-failed", unit).strip() == "failed":
            return 2
        time.sleep(1)
    return 1


def stopped(unit: str, path: str) -> int:
    """Record why the unit is off, and disable it at boot until a person starts it again."""
    names = ("Result", "ExecMainStatus", "NRestarts", "ExecMainExitTimestampMonotonic", "StateChangeTimestampMonotonic")
    shown = printed("systemctl", "show", unit, *(f"-p{name}" for name in names))
    values = dict(line.split("=", 1) for line in shown.splitlines())
    # Before giving up, systemd waits once more. If the process exited just now, a person stopped it.
    if int(values[names[4]]) - int(values[names[3]]) < BY_HAND_US:
        return 0
    why = RESULTS.get(values["Result"], "systemd reports {Result}").format(**values)
    log = printed("journalctl", f"_SYSTEMD_UNIT={unit}", "-n", "3", "-o", "cat", "--no-pager")
    last = " | ".join(line.strip()[:300] for line in log.splitlines() if line.strip())
    moment = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    text = (
        f"{unit} is off since {moment}, after {max(1, int(values['NRestarts']))} starts: {why}.\n"
        f"  Its last lines: {last or 'none'}\n"
        f"  Fix the cause (journalctl -u {unit}), then start it: "
        f"sudo systemctl reset-failed {unit} && sudo systemctl enable --now {unit}\n"
    )
    partial = Path(f"{path}.partial")
    partial.write_text(text)
    os.replace(partial, path)
    sys.stdout.write(text)
    return subprocess.run(["systemctl", "disable", unit], check=False).returncode


if __name__ == "__main__":
    sys.exit({"answers": answers, "stopped": stopped}[sys.argv[1]](*sys.argv[2:]))
