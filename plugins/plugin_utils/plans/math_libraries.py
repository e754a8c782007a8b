"""The plan of the `math_libraries` role: find the stack's archives that are missing."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from . import Plan, archives


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the archives to install or, for an uninstallation, their components."""
    chosen = archives.select(settings["math_libraries_archives"], observation, settings["math_libraries_prefix"])
    if settings["math_libraries_state"] == "absent":
        return Plan({"archives": {"platform": chosen["platform"], "rows": chosen["components"]}})
    notes = [f"NVIDIA has no {name} for {chosen['platform']}: skipped." for name in chosen["without_platform"]]
    if chosen["unpinned"]:
        cause = f"No sha256 is known for {', '.join(chosen['unpinned'])}."
        remedy = (
            "Run playbooks/lock.yml, which reads it from NVIDIA's manifest, or remove the archive from "
            "math_libraries_archives."
        )
        return Plan(refusals=[{"cause": cause, "remedy": remedy}], notes=notes)
    reasons = [f"install {row['component']} {row.get('version', row['release'])}" for row in chosen["lacking"]]
    checked = boolean(settings["math_libraries_check_files"], strict=False) and chosen["archives"]
    work = {"archives": {"platform": chosen["platform"], "rows": chosen["archives"]}} if reasons or checked else {}
    return Plan(work, reasons, notes=notes)
