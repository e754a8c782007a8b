# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Confirms on the host itself that a new kernel is as the host was; otherwise boots the former one again.

A unit of systemd starts it at each boot of a trial: ``confirm TRIAL``. ``settled TRIAL`` succeeds when nothing more is
to come. Only a confirmed kernel becomes GRUB's default, so that a power cycle at any moment leads back.
"""

# pylint: disable=ansible-bad-function

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import typing as t

from .._core import disk
from .._host.reader import Host
from . import grub

CONFIRMED, FAILED = "confirmed", "failed"
Trial = dict[str, t.Any]


def read(path: str) -> Trial:
    """Return a trial; an empty one if there is none."""
    try:
        with open(path, encoding="utf-8") as stream:
            return dict(json.load(stream))
    except FileNotFoundError:
        return {}


def write(path: str, trial: Trial) -> None:
    """Write a trial, durable once this returns."""
    disk.write_file(path, (json.dumps(trial, indent=1, sort_keys=True) + "\n").encode())


def running(root: str = "/") -> str:
    """Return the release that runs."""
    return (Host(root).read("/proc/sys/kernel/osrelease") or "").strip()


def has_route(root: str = "/") -> bool:
    """Tell whether the host has a default route, by which whoever provisions it comes."""
    host = Host(root)
    four = [line.split() for line in (host.read("/proc/net/route") or "").splitlines()[1:]]
    six = [line.split() for line in (host.read("/proc/net/ipv6_route") or "").splitlines()]
    # The kernel keeps a default route to nowhere on lo.
    return any(row[1] == "00000000" and row[7] == "00000000" for row in four if len(row) > 7) or any(
        row[0] == "0" * 32 and row[1] == "00" and row[9] != "lo" for row in six if len(row) > 9
    )


def missing(trial: Trial, root: str = "/") -> str:
    """Return what the host had before and does not have now; nothing if it is as it was."""
    if trial["driver"] and not os.path.isdir(os.path.join(root, "sys/module/nvidia")):
        return f"the NVIDIA driver {trial['driver']} was loaded before, and none is now"
    if trial["network"] and not has_route(root):
        return "the host had a default route before, and has none now"
    return ""


def confirm(path: str, root: str = "/", pause: float = 1.0) -> bool:
    """Confirm the kernel of a trial if it is the one that runs; tell whether the host may stay as it is."""
    trial = read(path)
    if not trial or trial["result"] == CONFIRMED or running(root) != trial["new"]:
        return True
    trial["boots"] += 1
    write(path, {**trial, "result": None})
    deadline = time.monotonic() + trial["seconds"]
    while True:
        trial["why"] = missing(trial, root)
        if not trial["why"]:
            # First: a loss of power between the two boots this kernel again, which confirms itself again.
            grub.write_block(os.path.join(root, grub.BLOCK[1:]), saved_entry=trial["entry"], next_entry="")
            write(path, {**trial, "result": CONFIRMED})
            return True
        if time.monotonic() >= deadline:
            write(path, {**trial, "result": FAILED})
            return False
        time.sleep(pause)


def settled(path: str, root: str = "/") -> bool:
    """Tell whether the trial is over: the new kernel is confirmed, or another one runs."""
    trial = read(path)
    return not trial or running(root) != trial["new"] or trial["result"] == CONFIRMED


def main(arguments: t.Sequence[str]) -> int:
    """Run as the program of the unit."""
    command, path = arguments
    if command == "settled":
        return 0 if settled(path) else 1
    if confirm(path):
        return 0
    sys.stderr.write(f"{read(path)['why']}: the former kernel is booted again\n")
    return subprocess.run(["systemctl", "reboot"], check=False).returncode or 1
