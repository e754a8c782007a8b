"""The archives, wheels and sources that a stack needs on some machines, as pinned in its lock."""

from __future__ import annotations

import dataclasses
import typing as t

from ...plugins.module_utils._core import platforms
from ...plugins.module_utils._core.errors import SparkforgeError
from ...plugins.module_utils._fetch import redist_plan
from ...plugins.module_utils._wheel.requirement import Requirement, parse_requirement, split
from ...plugins.plugin_utils.stack.facts import CORE_UNITS
from ..lock.upstream import lock_archives


@dataclasses.dataclass(frozen=True)
class Needs:
    """The files that the mirror needs. ``sources`` are in the format of source_build's option ``source``."""

    archives: tuple[redist_plan.Archive, ...]
    wheels: tuple[Requirement, ...]
    sources: tuple[dict[str, t.Any], ...]


def read_line(line: str) -> Requirement:
    """Return the requirement that a line of a lock pins.

    :raises SparkforgeError: if the line does not pin a single file.
    """
    pin = split(line)
    if f"{pin.written}=={pin.version}" != pin.pin or len(pin.hashes) != 1:
        raise SparkforgeError(
            f"The lock's line {line!r} is not name==version with one sha256.", "Renew the lock with playbooks/lock.yml."
        )
    return parse_requirement(line)


def needs_of(stack: t.Mapping[str, t.Any], machines: t.Sequence[str], extensions: t.Sequence[str] | None) -> Needs:
    """Return the needs of the fact ``stack`` on the machines.

    :param extensions: the units to build in addition to LLVM, Triton and PyTorch; None for those of the stack.
    :raises SparkforgeError: if the stack does not support a machine, or does not have a unit.
    """
    unknown = [machine for machine in machines if machine not in stack["machines"]]
    if unknown or not machines:
        machines_text, others = ", ".join(stack["machines"]), ", ".join(unknown) or "nothing"
        raise SparkforgeError(
            f"The stack {stack['name']} is for {machines_text}, not for {others}.", "Correct mirror_machines."
        )
    built = stack["method"] == "build"
    names = [*CORE_UNITS, *(stack["extensions"] if extensions is None else extensions)] if built else []
    missing = [name for name in names if name not in stack["units"] and name not in CORE_UNITS]
    if missing:
        raise SparkforgeError(
            f"The stack {stack['name']} has no unit {', '.join(missing)}; it has {', '.join(stack['units'])}.",
            "Correct torch_extensions_names, or add the unit to the stack.",
        )
    units = {name: stack["units"][name] for name in names if name in stack["units"]}
    lines: list[str] = []
    for machine in machines:
        platform = platforms.locked(stack["python"]["version"], machine)
        if built:
            lines += [line for unit in units.values() for line in unit["requirements"].get(platform) or []]
            lines += [
                line for pins in (stack["lock"]["run_requirements"].get(platform) or {}).values() for line in pins
            ]
        else:
            lines += stack["lock"]["wheels"].get(platform) or []
    sources = {str(sorted(unit["source"].items())): unit["source"] for unit in units.values() if unit["source"]}
    return Needs(
        tuple(_archives(stack, machines)), tuple(sorted({read_line(line) for line in lines})), tuple(sources.values())
    )


def _archives(stack: t.Mapping[str, t.Any], machines: t.Sequence[str]) -> t.Iterator[redist_plan.Archive]:
    rows = lock_archives(stack)
    for platform in map(platforms.redist, machines):
        # An archive has a sha256 only for the platforms for which it exists.
        entries = [{**row, "sha256": row["sha256"][platform]} for row in rows if row["sha256"].get(platform)]
        fields = [field.name for field in dataclasses.fields(redist_plan.Archive)]
        entries = [{key: value for key, value in row.items() if key in fields} for row in entries]
        yield from redist_plan.archives_from(entries, platform, "", "present")
