"""An actor in the virtual machine that allocates memory like a plain process, a GPU process or a page cache.

``eat.py NAME KIND MEGABYTES RATE [deaf]``: RATE is in MB/s; 0 means as fast as possible. A GPU process owns kernel
memory (bpf(2) maps) that, as on a GB10, is shown neither in its own figures nor in /proc/meminfo. Other kinds hide
their memory: "memfd" writes a memory file without mapping it, "file" leaves a file in a tmpfs, the first thread of
"leaderless" exits, and a "crowd" is many processes in separate groups.
"""

import ctypes
import os
import platform
import signal
import struct
import sys
import threading
import time

MIB = 1 << 20
CHUNK = 4 * MIB
#: The number of processes in a data loader and in a crowd.
WORKERS, CROWD = 20, 70
#: System call numbers of bpf(2), and of exit(2), which exits a single thread.
BPF, EXIT = {"x86_64": (321, 60), "aarch64": (280, 93)}[platform.machine()]


def take_of_gpu() -> None:
    """Make the kernel allocate a chunk for this process; retry while no memory is available."""
    # BPF_MAP_CREATE: an array with values of 1 MiB.
    attributes = struct.pack("5I", 2, 4, MIB, CHUNK // MIB, 0).ljust(128, b"\0")
    while ctypes.CDLL(None).syscall(BPF, 0, attributes, len(attributes)) < 0:
        time.sleep(0.02)


def main(name: str, kind: str, *options: str) -> None:
    """Set the process name, allocate the memory and hold it."""
    ctypes.CDLL(None).prctl(15, name[:15].encode(), 0, 0, 0)  # PR_SET_NAME, inherited by children
    if kind != "leaderless":
        take(kind, *options)
    threading.Thread(target=take, args=(kind, *options)).start()
    time.sleep(0.5)
    ctypes.CDLL(None).syscall(EXIT, 0)


def take(kind: str, megabytes: str, rate: str, *options: str) -> None:
    """Allocate the memory and hold it."""
    if "deaf" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    goal, speed, began, taken = int(megabytes) * MIB, float(rate) * MIB, time.monotonic(), 0
    chunk = MIB if kind in ("workers", "crowd") else CHUNK
    block, kept = b"\1" * chunk, []
    if kind == "memfd":
        target = os.memfd_create("hidden")
    elif kind in ("cache", "file"):
        folder = "/mnt" if kind == "cache" else "/tmp"
        target = os.open(f"{folder}/{os.getpid()}.cache", os.O_CREAT | os.O_WRONLY)
    if kind in ("workers", "crowd"):
        # Like a data loader, start all processes at once, each with its share.
        count = WORKERS if kind == "workers" else CROWD
        goal, speed = goal // (count + 1), speed / (count + 1)
        for _ in range(count):
            if os.fork() == 0:
                if kind == "crowd":
                    os.setpgid(0, 0)
                break
    if kind == "bomb":
        while taken < goal:
            taken += CHUNK
            if os.fork() == 0:
                # Each child continues this loop.
                kept.append(bytearray(block))
                os.setpgid(0, 0)
        time.sleep(3600)
    while taken < goal:
        if kind == "gpu":
            take_of_gpu()
        elif kind in ("memfd", "cache", "file"):
            os.write(target, block)
        else:
            kept.append(bytearray(block))
        taken += chunk
        ahead = taken / speed - (time.monotonic() - began) if speed else 0
        if ahead > 0:
            time.sleep(ahead)
    if kind == "file":
        os.close(target)
    os.write(1, b"ready\n")
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    main(*sys.argv[1:])
