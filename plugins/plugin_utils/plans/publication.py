# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether what was built may be published: the wheels fit each other, and the lock has what else they require."""

from __future__ import annotations

import contextlib
import typing as t

from ...module_utils._core import platforms
from ...module_utils._wheel.names import normalised
from ...module_utils._wheel.requirement import split
from ..stack.model import Stack
from . import Plan, source_unit

with contextlib.suppress(ImportError):
    # ansible-core depends on packaging; only the import check of ansible-test runs without it.
    from packaging.requirements import InvalidRequirement, Requirement


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return a refusal where no host could make an environment of what was built (``sparkforge_built``).

    The receipts of what an older version of this collection built do not say what it requires: that is left to pip.
    In check mode a unit that is still to be built may bring what nothing has: that is left to the run.
    """
    built: t.Mapping[str, t.Any] = settings.get("sparkforge_built") or {}
    wheels = [wheel for unit in built.values() for wheel in unit.get("wheels") or ()]
    if not wheels:
        return Plan()
    stack: Stack = settings["stack"]
    machine = observation["kernel"]["machine"]
    platform = platforms.locked(stack["python"]["version"], machine)
    locked = stack["lock"]["run_requirements"].get(platform) or {}
    lines = [line for part in ("beside", *built) for line in locked.get(part) or ()]
    # The official wheels of what did not compile, and what those have beside them.
    instead = source_unit.official(stack, platform)
    lines += [line for name in instead if name not in built for line in [instead[name], *(locked.get(name) or ())]]
    lines += settings.get("python_env_extra_requirements") or ()
    whole = all(unit.get("status") not in ("would_build", "running") for unit in built.values())
    problems = _unmet(wheels, _pins(lines), _target(stack["python"]["version"], machine), whole)
    if not problems:
        return Plan()
    name = stack["name"]
    cause = f"What was built does not fit the lock of the stack {name}: {'; '.join(problems)}."
    remedy = (
        f"Correct requires of these units, or versions, in the stack {name}, and run playbooks/lock.yml"
        f" -e stack_name={name}; packages that are not part of the stack go into python_env_extra_requirements. The "
        "builds are kept."
    )
    return Plan(refusals=[{"cause": cause, "remedy": remedy}])


def _unmet(
    wheels: t.Sequence[t.Mapping[str, t.Any]], locked: t.Mapping[str, str], target: dict[str, str], whole: bool
) -> list[str]:
    """Return, in words, each requirement that neither another wheel nor the lock meets."""
    made = {normalised(wheel["name"]): str(wheel["version"]) for wheel in wheels}
    problems = []
    for wheel in wheels:
        for asked in _requirements(wheel.get("requires") or ()):
            if asked.marker is not None and not asked.marker.evaluate(target):
                continue
            name = normalised(asked.name)
            version = made.get(name, locked.get(name))
            said = f"{wheel['name']} {wheel['version']} requires {f'{name} {asked.specifier}'.strip()}"
            if version is None and whole:
                problems.append(f"{said}, which the lock does not have")
            elif version and not asked.specifier.contains(version, prereleases=True):
                problems.append(f"{said}, and {version} {'was built' if name in made else 'is in the lock'}")
    return problems


def _requirements(lines: t.Iterable[str]) -> t.Iterator[Requirement]:
    for line in lines:
        # pip will refuse a line that packaging does not understand, and say so.
        with contextlib.suppress(InvalidRequirement):
            yield Requirement(str(line))


def _pins(lines: t.Iterable[str]) -> dict[str, str]:
    """Return the version by normalised name, empty where a line has a URL instead of one."""
    return {one.name: one.version for one in (split(str(line)) for line in lines)}


def _target(python: str, machine: str) -> dict[str, str]:
    """Return what markers ask of the host; all else is as on the controller, which is a Linux too."""
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "platform_machine": machine,
        "platform_system": "Linux",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "sys_platform": "linux",
        "os_name": "posix",
        "extra": "",
    }
