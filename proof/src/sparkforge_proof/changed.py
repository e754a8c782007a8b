"""Find changes to a host since its last proof, for the timer, the metrics and the login message."""

from __future__ import annotations

import json
import sys
import typing as t

from . import verdict
from ._shared.module_utils._core import phrases, sanitize
from ._shared.module_utils._host import dpkg, firmware
from ._shared.module_utils._host.gpu import Gpu
from ._shared.module_utils._host.reader import Host, run_command

#: The number of changes that the login message names.
NAMED = 4


def packages(host: Host) -> dict[str, str]:
    """Return the versions of the installed CUDA, driver and kernel packages."""
    versions = dpkg.packages(host).versions
    return {name: version for name, version in sorted(versions.items()) if verdict.PACKAGES.match(name)}


def observe(host: Host | None = None) -> dict[str, t.Any]:
    """Return the facts that a proof depends on, under the keys used in a report."""
    host = host or Host(run=run_command)
    return {
        "driver": Gpu(host).version(),
        "kernel": host.release,
        "firmware": firmware.observe(host),
        "packages": packages(host),
    }


def describe(report: t.Mapping[str, t.Any], now: t.Mapping[str, t.Any]) -> str:
    """Describe the changes since a proof; return '' if nothing changed."""
    names = [change["what"] for change in verdict.changed(report, now)]
    return f"changed since the last proof: {phrases.some(names, NAMED)}" if names else ""


def main(arguments: t.Sequence[str]) -> int:
    """Print the changes since the report on stdin, if any, for the login script."""
    del arguments
    sys.stdout.write(sanitize.line(describe(json.load(sys.stdin), observe())))
    return 0
