"""systemd units and related files: compare them with the host, install, start and remove them.

The collection installs every unit and root-owned file this way. The guard's program calls this module directly; roles
use the module ``root_files``.
"""

from __future__ import annotations

import os
import re
import typing as t

from . import detached
from .errors import SparkforgeError
from .installed_files import Files

#: Unit types to stop before their file is removed, because systemd cannot stop them properly without it.
_STOPPED = (".service", ".timer", ".path", ".mount")
#: A unit, or a drop-in (``NAME.service.d/*.conf``).
_UNIT = re.compile(r"\.(service|timer|path|mount|socket|slice)(\.d/[^/]+)?$")


class Units(Files):
    """Files that may include units."""

    def run(self, started: t.Sequence[str] = (), check_mode: bool = False) -> dict[str, t.Any]:
        """Install and remove files as needed, and return a module's result.

        :param started: the units to start now and at boot; they are restarted whenever a file changes.
        :raises SparkforgeError: if systemd is not running, or refuses a unit or a calendar expression.
        """
        if started or any(map(_UNIT.search, self.desired)):
            self._check(started, check_mode)
        changed = bool(self.changes) or not all(map(is_started, started))
        if changed and not check_mode:
            self._install(started)
        return {"changed": changed, "files": sorted(self.desired), "diff": self.diff()}

    def _check(self, started: t.Sequence[str], check_mode: bool) -> None:
        if not detached.systemd_runs():
            if check_mode:
                return
            first = os.path.basename((list(started) or sorted(self.desired))[0])
            raise SparkforgeError(
                f"systemd does not run on this host, so {first} cannot be started.", "Leave it out on this host."
            )
        for path, (content, _mode) in self.desired.items():
            for calendar in re.findall(r"^OnCalendar=(.*)$", content.decode("utf-8", "replace"), re.MULTILINE):
                completed = detached.systemd("systemd-analyze", "calendar", "--iterations=1", calendar)
                if completed.returncode:
                    raise SparkforgeError(
                        f"systemd does not understand the calendar {calendar!r} of {os.path.basename(path)}.",
                        "Use an OnCalendar expression such as weekly or 'Sun 03:00' (systemd.time(7)).",
                    )

    def _install(self, started: t.Sequence[str]) -> None:
        removed = [os.path.basename(path) for path, (_old, new) in self.changes.items() if new is None]
        stopped = [name for name in removed if name.endswith(_STOPPED)]
        if stopped:
            detached.systemd("systemctl", "disable", "--now", "--quiet", *stopped)
        self.apply()
        if started or any(map(_UNIT.search, self.changes)):
            detached.systemd("systemctl", "daemon-reload")
        if not started:
            return
        enabled = detached.systemd("systemctl", "enable", "--quiet", *started)
        restarted = detached.systemd("systemctl", "restart", *started)
        if enabled.returncode or restarted.returncode or not all(map(is_started, started)):
            message = " ".join((enabled.stderr + restarted.stderr).split())[:300]
            raise SparkforgeError(
                f"systemd cannot start {', '.join(started)}: {message}", f"See: journalctl -u {started[0]}"
            )


def is_active(unit: str) -> bool:
    """Tell whether a unit is running or waiting for its timer."""
    return detached.systemd("systemctl", "is-active", "--quiet", unit).returncode == 0


def is_started(unit: str) -> bool:
    """Tell whether a unit is running and enabled at boot."""
    return detached.systemd("systemctl", "is-enabled", "--quiet", unit).returncode == 0 and is_active(unit)
