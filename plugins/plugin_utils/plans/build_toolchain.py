"""The plan of the `build_toolchain` role: find the packages with compilers and tools that are missing."""

from __future__ import annotations

import re
import typing as t

from . import Plan, for_wheels, packages

#: The packages that official wheels need: a C compiler, and Python's headers and venv.
_FOR_WHEELS = re.compile(r"(build-essential|gcc|python3[0-9.]*-(dev|venv))$")


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the packages to install, which are none for an uninstallation."""
    if settings["build_toolchain_state"] == "absent":
        return Plan()
    names = settings["build_toolchain_packages"] or settings["__build_toolchain_standard"]
    if for_wheels(settings):
        names = [name for name in names if _FOR_WHEELS.match(name)]
    return packages([*names, *settings["build_toolchain_extra_packages"]], observation)
