# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a host is still as its last proof saw it: for the timer, the metrics, and the line at login."""

from __future__ import annotations

import json
import sys
import typing as t

from . import verdict
from ._shared.module_utils._core import shown
from ._shared.module_utils._host import dpkg, firmware
from ._shared.module_utils._host.gpu import Gpu
from ._shared.module_utils._host.reader import Host, run_command

#: How many changes the line at login names.
NAMED = 4


def packages(host: Host) -> dict[str, str]:
    """Return the installed packages of CUDA, of the driver and of the kernel, each with its version."""
    versions = dpkg.packages(host).versions
    return {name: version for name, version in sorted(versions.items()) if verdict.PACKAGES.match(name)}


def observe(host: Host | None = None) -> dict[str, t.Any]:
    """Return what a proof depends on, by its names in a report."""
    host = host or Host(run=run_command)
    return {
        "driver": Gpu(host).version(),
        "kernel": host.release,
        "firmware": firmware.observe(host),
        "packages": packages(host),
    }


def described(report: t.Mapping[str, t.Any], now: t.Mapping[str, t.Any]) -> str:
    """Return in words what changed since a proof, or an empty text."""
    names = [change["what"] for change in verdict.changed(report, now)]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"changed since the last proof: {', '.join(names[:NAMED])}{more}" if names else ""


def main(arguments: t.Sequence[str]) -> int:
    """Print what changed since the report on stdin; nothing if nothing did. The script at login calls this."""
    del arguments
    sys.stdout.write(shown.line(described(json.load(sys.stdin), observe())))
    return 0
