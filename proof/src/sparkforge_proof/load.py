# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a busy machine keeps processes from their work, so that their silence says nothing of the stack."""

from __future__ import annotations

import contextlib
import os
import re
import time

#: How long processes are looked at, in seconds.
LOOK = 0.5
#: From which part of that time on a thread that waits for a core is starved.
STARVED = 0.25
#: From how many per cent of the last ten seconds on, in which every program waited, disk or memory stall the machine.
STALLED = 25.0


def hindrance(leader: int) -> str:
    """Return in words what keeps the processes of a group or a session from their work now; empty for nothing.

    A process that hangs waits for no core, however many others do.

    :param leader: the process that began it.
    """
    before = _waited(leader)
    time.sleep(LOOK)
    shares = [
        (waited - before[thread]) / (LOOK * 1e9) for thread, waited in _waited(leader).items() if thread in before
    ]
    if max(shares, default=0.0) >= STARVED:
        return f"other processes had the processor for {min(1.0, max(shares)):.0%} of its time"
    for kind, name in (("memory", "memory"), ("io", "the disk")):
        with contextlib.suppress(OSError), open(f"/proc/pressure/{kind}", encoding="utf-8") as stream:
            full = re.search(r"^full avg10=([\d.]+)", stream.read(), re.MULTILINE)
            if full and float(full[1]) >= STALLED:
                return f"every program waited for {name} in {float(full[1]):.0f} % of the last ten seconds"
    return ""


def _waited(leader: int) -> dict[str, int]:
    """Return for each thread of these processes the nanoseconds in which it could run and no core was free."""
    waited = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
                # State, parent, group and session follow the name's last bracket.
                if str(leader) not in stream.read().rpartition(")")[2].split()[2:4]:
                    continue
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as stream:
                    waited[thread] = int(stream.read().split()[1])
    return waited
