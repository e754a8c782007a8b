"""Installs the guard on a host, or removes all of it: a program, its units, and the login message.

Files::

    <root>/guard/guard.pyz, settings.json                the program and its settings
    <root>/bin/sparkforge-guard                          starts the program: allow UNIT
    /etc/systemd/system/sparkforge-guard.service         the guard
    /etc/systemd/system/sparkforge-guard-caps.{service,timer}   sets the caps at boot and after a driver reload
    /etc/systemd/system/UNIT.d/50-sparkforge-guard.conf  the brakes of a unit
    /etc/update-motd.d/62-sparkforge-guard               shows the guard's acts at login
    /var/lib/sparkforge-guard                            its records
"""

from __future__ import annotations

import json
import os
import pkgutil
import re
import shutil
import typing as t

from . import brakes, nvml, power, settings as guard_settings
from ._shared.module_utils._core import detached, directories, disk, program, units as systemd_units
from ._shared.module_utils._core.errors import SparkforgeError

UNITS = "/etc/systemd/system"
MOTD = "/etc/update-motd.d/62-sparkforge-guard"
STATE: str = guard_settings.DEFAULTS["state_directory"]
NAME = "sparkforge-guard"
CAPS = f"{NAME}-caps"
#: Other memory guards. Two guards would kill two processes for the same shortage.
OTHERS = ("earlyoom.service", "nohang.service", "nohang-desktop.service")


def unit(name: str, root: str, textfile: str = "") -> bytes:
    """Return the text of a unit from this package."""
    text = pkgutil.get_data(__package__ or "", f"units/{name}") or b""
    writable = f"ReadWritePaths={textfile}\n" if textfile else ""
    return text.decode().format(written=brakes.WRITTEN, root=root, writable=writable).encode()


class Installation:
    """Installs the guard on one host, or removes it.

    :param options: settings (settings.py), and the ``state``, present or absent.
    :param own: the content of this program's file.
    """

    def __init__(
        self, options: t.Mapping[str, t.Any], own: bytes, check_mode: bool = False, units: str = UNITS
    ) -> None:
        self.options, self.own, self.check_mode, self.units = options, own, check_mode, units
        self.root = program.root_of_units(options["root"])
        self.directory = os.path.join(self.root, "guard")
        self.present = options["state"] == "present"
        self.capped = bool(options["power_cap"] or options["clock_cap"])

    def run(self) -> dict[str, t.Any]:
        """Install or remove the guard.

        :raises SparkforgeError: if the settings are invalid, another guard runs, or systemd does not run.
        """
        if self.present:
            self._check()
        before = self._settings_before()
        files = self._files() if self.present else {}
        started = [f"{NAME}.service", *([f"{CAPS}.timer"] if self.capped else [])]
        installation = systemd_units.Units(files, self._installed())
        result = installation.run(started if self.present else (), self.check_mode)
        if result["changed"] and not self.check_mode:
            self._follow(installation.changes, before)
        return {**result, "warnings": self._warn()}

    def _check(self) -> None:
        options = self.options
        guard_settings.check(options)
        if options.get("state_directory", STATE) != STATE:
            raise SparkforgeError(f"The guard's unit keeps its records in {STATE}.", "Do not set state_directory.")
        for unit in options["units"]:
            if not brakes.is_unit(unit):
                raise SparkforgeError(
                    f"{unit!r} is not the name of a service.", "Write it as systemctl does: NAME.service."
                )
        textfile = options["textfile"] or ""
        if textfile and not re.fullmatch(r"/[\w./+-]+", textfile):
            raise SparkforgeError(f"{textfile!r} is not an absolute path without spaces.", "Correct textfile.")
        reason = directories.unsafe_for_metrics(textfile) if textfile else ""
        if reason:
            raise SparkforgeError(
                reason,
                f"Create it, or give it to root (sudo chown root: {textfile}; sudo chmod go-w {textfile}), and start "
                "node_exporter with --collector.textfile.directory and this path.",
            )
        running = [unit for unit in OTHERS if systemd_units.is_active(unit)]
        if running:
            raise SparkforgeError(
                f"{running[0]} already guards this host, and two guards would kill two processes for one shortage.",
                f"Keep only one: sudo systemctl disable --now {running[0]}, or do not install this guard.",
            )
        if self.capped:
            device = nvml.connect(options["nvml"] or "")
            power.check_caps(device, options["power_cap"], options["clock_cap"])

    def _warn(self) -> list[str]:
        if not self.present:
            return []
        warnings = []
        if not os.path.exists("/proc/pressure/memory"):
            warnings.append("Without CONFIG_PSI, this kernel reports no pressure: the guard uses only MemAvailable.")
        if systemd_units.is_active("systemd-oomd.service"):
            warnings.append(
                "systemd-oomd runs too. It kills control groups by their memory, which does not include GPU memory."
            )
        return warnings

    def _files(self) -> dict[str, tuple[bytes, int]]:
        """Return each file's content and mode, by path."""
        options, made = self.options, self.directory
        file, settings = f"{made}/guard.pyz", f"{made}/settings.json"
        kept = {name: options.get(name, usual) for name, usual in guard_settings.DEFAULTS.items()}
        start = f"#!/bin/sh\n# Written by sparkforge-guard.\nexec /usr/bin/python3 -I -B {file} "
        files: dict[str, tuple[bytes, int]] = {
            file: (self.own, 0o755),
            settings: ((json.dumps(kept, indent=2, sort_keys=True) + "\n").encode(), 0o644),
            f"{self.root}/bin/{NAME}": (f'{start}"$1" {settings} "${{2:-}}"\n'.encode(), 0o755),
            f"{self.units}/{NAME}.service": (unit(f"{NAME}.service", self.root, options["textfile"] or ""), 0o644),
        }
        if self.capped:
            # The caps are set at boot and every five minutes, because a reloaded driver resets them.
            for name in (f"{CAPS}.service", f"{CAPS}.timer"):
                files[f"{self.units}/{name}"] = (unit(name, self.root), 0o644)
        for name in options["units"]:
            text = brakes.drop_in(name, file, settings, options["starts"])
            files[f"{self.units}/{name}.d/50-{NAME}.conf"] = (text.encode(), 0o644)
        if options["motd"]:
            files[MOTD] = (_motd().encode(), 0o755)
        return files

    def _installed(self) -> list[str]:
        fixed = [f"{self.directory}/guard.pyz", f"{self.directory}/settings.json", f"{self.root}/bin/{NAME}", MOTD]
        fixed += [f"{self.units}/{name}" for name in (f"{NAME}.service", f"{CAPS}.service", f"{CAPS}.timer")]
        for name in disk.names(self.units):
            fixed.append(f"{self.units}/{name}/50-{NAME}.conf")
        return [path for path in fixed if os.path.isfile(path)]

    def _settings_before(self) -> dict[str, t.Any]:
        try:
            return guard_settings.read(f"{self.directory}/settings.json")
        except SparkforgeError:
            return {}

    def _follow(
        self, changes: t.Mapping[str, tuple[bytes | None, bytes | None]], before: t.Mapping[str, t.Any]
    ) -> None:
        """Bring the running system in line with the installed files.

        :param before: the settings of the previous installation.
        """
        if changes.get(f"{self.units}/{CAPS}.service", (None, b""))[1] is None:
            power.remove_caps(nvml.connect(before.get("nvml") or ""), before)
            disk.remove(f"{STATE}/{power.CAPS}")
        there, kept = before.get("textfile") or "", (self.options["textfile"] or "") if self.present else ""
        if there != kept and os.path.exists(f"{there}/{power.TEXTFILE}"):
            os.unlink(f"{there}/{power.TEXTFILE}")
        if not self.present:
            shutil.rmtree(self.directory, ignore_errors=True)
            shutil.rmtree(STATE, ignore_errors=True)
        elif self.capped:
            done = detached.systemd("systemctl", "start", f"{CAPS}.service")
            if done.returncode:
                message = " ".join(done.stderr.split())[:300]
                raise SparkforgeError(f"systemd cannot set the caps: {message}", f"See journalctl -u {CAPS}.")


def _motd() -> str:
    return (
        "#!/bin/sh\n# Written by sparkforge-guard: says at login what happened within a week, and what stays off.\n"
        f"find {STATE}/login -mtime -7 -exec cat {{}} + 2>/dev/null || :\n"
        f"find {STATE}/{power.DOWN} -mtime -7 -exec cat {{}} + 2>/dev/null || :\n"
        f"cat {STATE}/braked 2>/dev/null || :\n"
    )
