# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cables between two containers: veth pairs with the names of a ConnectX-7's halves."""

from __future__ import annotations

import subprocess
import typing as t

from lab import image

if t.TYPE_CHECKING:
    from tests.integration.conftest import Host

# As they are called on a Spark, half by half.
PORTS = [["enp1s0f0np0", "enP2p1s0f0np0"], ["enp1s0f1np1", "enP2p1s0f1np1"]]


def ip(*arguments: str) -> str:
    """Run ip of this machine."""
    return subprocess.run(["ip", *arguments], check=True, text=True, capture_output=True).stdout


def process(host: Host) -> str:
    """Return the container's first process, which has its network."""
    return image.podman("inspect", host.container, "--format", "{{.State.Pid}}").stdout.strip()


def connect(one: Host, other: Host) -> None:
    """Put a cable into the first port of both, which is a pair for each half."""
    for name in PORTS[0]:
        ip("link", "add", "name", name, "netns", process(one), "type", "veth",
           "peer", "name", name, "netns", process(other))  # fmt: skip


def inside(host: Host, *arguments: str) -> str:
    """Run ip of this machine in the container's network, which needs no right of the container's."""
    return subprocess.run(
        ["nsenter", "-t", process(host), "-n", "ip", *arguments], check=True, text=True, capture_output=True
    ).stdout
