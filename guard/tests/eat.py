"""An actor in the virtual machine: takes memory as a plain process, a GPU process, a page cache or many processes do.

``eat.py NAME KIND MEGABYTES RATE [deaf] [uncounted]``: RATE in MB/s, 0 for as fast as it goes. What a GPU process takes
is a file in memory that is mapped nowhere: the process owns it, and no figure of the process shows it, as on a GB10.
Uncounted, no control group counts it either: a process outside of all of them writes it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

MIB = 1 << 20
CHUNK = 4 * MIB
#: How many a data loader starts.
WORKERS = 20


def main(name: str, kind: str, megabytes: str, rate: str, *words: str) -> None:
    """Take the memory, and hold it."""
    ctypes.CDLL(None).prctl(15, name[:15].encode(), 0, 0, 0)  # PR_SET_NAME
    if "deaf" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    goal, speed, began, taken = int(megabytes) * MIB, float(rate) * MIB, time.monotonic(), 0
    chunk = MIB if kind == "workers" else CHUNK
    block, kept = b"\1" * chunk, []
    if kind == "gpu":
        target = os.memfd_create("gpu")
        if "uncounted" in words:
            if os.fork():
                os.wait()
                goal = 0
            else:
                # If the parent ends, so does this.
                ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
                with open("/sys/fs/cgroup/cgroup.procs", "r+", encoding="ascii") as stream:
                    stream.write(str(os.getpid()))
    elif kind == "cache":
        target = os.open(f"/mnt/{os.getpid()}.cache", os.O_CREAT | os.O_WRONLY)
    if kind == "workers":
        # As a data loader: it starts all of them at once, and each takes its share.
        goal, speed = goal // (WORKERS + 1), speed / (WORKERS + 1)
        for _ in range(WORKERS):
            if os.fork() == 0:
                break
    if kind == "bomb":
        while taken < goal:
            taken += CHUNK
            if os.fork() == 0:
                # Each child does the same, until all of them have what was to be had.
                kept.append(bytearray(block))
                os.setpgid(0, 0)
        time.sleep(3600)
    while taken < goal:
        if kind in ("plain", "workers"):
            kept.append(bytearray(block))
        else:
            os.write(target, block)
        taken += chunk
        ahead = taken / speed - (time.monotonic() - began) if speed else 0
        if ahead > 0:
            time.sleep(ahead)
    if "uncounted" in words and goal:
        os._exit(0)
    os.write(1, b"ready\n")
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
