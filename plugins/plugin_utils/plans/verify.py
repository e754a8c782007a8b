"""The plan of the `verify` role: the proof's options for the stack, and for the timer."""

from __future__ import annotations

import os.path
import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._core.verdict import FULL
from ..stack.model import Stack
from . import Plan, archives

#: The report directory on the host, which is also the modules' default.
HISTORY = "/var/log/sparkforge/proof"


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the options ``profile``, ``limits`` and ``reference`` of ``cuda_proof``, and the timer's as ``scheduled``.

    The timer proves the environment that is current when it runs. ``timer`` is the timer's target state: present if a
    schedule is set, absent if the host (``__verify_proof``) still has a timer without one.
    """
    stack: Stack = settings["stack"]
    machine = observation["kernel"]["machine"]
    rows = [row for row in stack["archives"] if archives.exists(row, machine)]
    cusparselt = [stack["cusparselt"]] if archives.exists(stack["cusparselt"].get("archive"), machine) else []
    sonames = list(dict.fromkeys(row["soname"] for row in [*rows, *cusparselt]))
    own_python, environment_id = settings["verify_python"], settings["verify_environment_id"]
    required = settings["verify_required_checks"]
    profile = {
        **stack["profile"],
        "site_floors": settings["verify_speed_floors"],
        **({} if required is None else {"required_checks": required, "required_by_site": True}),
    }

    def reference(entry: str | None) -> dict[str, t.Any]:
        environments = f"{settings['sparkforge_root']}/envs/{settings['verify_environment']}"
        own = os.path.dirname(os.path.dirname(own_python)) if own_python else f"{environments}/{entry or 'current'}"
        paths = [f"{settings['sparkforge_root']}/redist/{row['component']}/current/lib" for row in rows]
        paths.append(f"{own}/lib/python3*/site-packages/torch/lib")
        chosen = settings["verify_paths"], settings["verify_sonames"]
        return {
            "root": settings["sparkforge_root"],
            "environment": None if own_python else settings["verify_environment"],
            "environment_id": None if own_python else entry or None,
            "stack": stack["name"],
            "method": stack["method"],
            "lock_id": stack["lock"]["id"],
            "versions": stack["versions"],
            "cuda_version": stack["cuda"]["version"],
            "driver_minimum": stack["driver_minimum"],
            "paths": paths if chosen[0] is None else chosen[0],
            "sonames": sonames if chosen[1] is None else chosen[1],
        }

    limits = {**settings["verify_limits"], **(FULL if settings["verify_survey"] == "full" else {})}
    scheduled = {
        "python": own_python or None,
        "checks": _listed(settings["verify_checks"]),
        "profile": profile,
        "reference": reference(None),
        "limits": limits,
        "gpu_required": boolean(settings["sparkforge_gpu_required"]),
        "user": settings["verify_user"],
        "accept": _listed(settings["verify_accept"]),
        # The history of earlier reports shows whether the host has changed.
        "history": settings["verify_history"] or HISTORY,
    }
    steps = {"profile": profile, "limits": limits, "reference": reference(environment_id), "scheduled": scheduled}
    timer = (settings.get("__verify_proof") or {}).get("scheduled")
    if settings["verify_schedule"]:
        return Plan({**steps, "timer": "present"}, ["repeat the proof by a timer"] if timer is False else [])
    return Plan({**steps, "timer": "absent"}, ["remove the timer of the proof"]) if timer else Plan(steps)


def _listed(value: str | t.Sequence[str]) -> list[str]:
    """Return a list; a string, as from the command line, is split at its commas."""
    return [item.strip() for item in value.split(",")] if isinstance(value, str) else list(value)
