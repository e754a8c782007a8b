"""The plan of the bridge: decide whether a host uses official wheels until its stack is built."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from . import Plan, preflight


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the step ``stack``, the facts of the stack of wheels, or all obstacles to it.

    The rules are those of the `preflight` role. A CPU build cannot be the bridge if a GPU is required.
    """
    resolved = settings["__stack_meanwhile"]
    stack = resolved.get("stack")
    if not stack:
        return Plan(refusals=[{"cause": str(resolved.get("cause") or resolved.get("msg") or ""), "remedy": ""}])
    gpu_required = boolean(settings.get("sparkforge_gpu_required", True))
    problems = preflight.problems(observation, stack, {"gpu_required": gpu_required, "accept_license": True})
    causes = [problem["cause"] for problem in problems if problem["severity"] == "error"]
    if gpu_required and stack["wheel"]["cuda"] is None:
        causes.append(f"The wheels of stack {stack['name']} are CPU builds, and a GPU is required.")
    if causes:
        # These problems do not prevent the build, which reports its own with their remedies.
        return Plan(refusals=[{"cause": " ".join(causes), "remedy": ""}])
    return Plan({"stack": stack})
