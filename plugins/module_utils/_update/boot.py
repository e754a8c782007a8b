# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What of a host's boot an upgrade needs to know and to keep: the kernel and the driver that run."""

from __future__ import annotations

import os
import shutil

from .._core import disk
from .._host.reader import Host


def running(host: Host) -> str | None:
    """Return the release that runs."""
    return (host.read("/proc/sys/kernel/osrelease") or "").strip() or None


def boot_id(host: Host) -> str | None:
    """Return the id of this boot."""
    return (host.read("/proc/sys/kernel/random/boot_id") or "").strip() or None


def driver(host: Host) -> str | None:
    """Return the version of the NVIDIA module that is loaded."""
    return (host.read("/sys/module/nvidia/version") or "").strip() or None


def keep_kernel(host: Host, folder: str, release: str | None) -> list[str]:
    """Copy the kernel that runs and its initial RAM disk, which packages may write anew; return the copies."""
    place, made = os.path.join(folder, "boot"), []
    for name in (f"vmlinuz-{release}", f"initrd.img-{release}"):
        source = host.path(f"/boot/{name}")
        if os.path.isfile(source):
            disk.make_directories(place)
            shutil.copy2(source, os.path.join(place, name))
            made.append(os.path.join(place, name))
    return made
