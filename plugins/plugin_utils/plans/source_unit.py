"""The plan of the `source_unit` role: the units of a stack that a build can continue without."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ..stack.model import Stack
from . import Plan
from .units import COMPUTE_LIBRARY, platform_of


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the step ``dispensable``: the units that a build can continue without, each with the effect.

    Units that the user changed are never dispensable.
    """
    stack: Stack = settings["stack"]
    if boolean(settings["source_unit_strict"]):
        return Plan()
    optional = [name for name, unit in stack["units"].items() if unit.get("optional")]
    effects = dict.fromkeys(optional, "environments are without it")
    effects |= dict.fromkeys(official(stack, platform_of(stack, observation)), "environments get its official wheel")
    if "triton" in effects and not settings.get("triton_llvm_override"):
        effects["llvm"] = "environments get the official Triton"
    effects[COMPUTE_LIBRARY] = "PyTorch is built without oneDNN and is slower on the CPU"
    changed = {unit["name"] for unit in settings.get("torch_extensions") or ()}
    changed |= {name for name in effects if settings.get(f"{name}_unit")}
    dispensable = {name: effect for name, effect in effects.items() if name in stack["units"] and name not in changed}
    return Plan({"dispensable": dispensable})


def official(stack: Stack, platform: str) -> dict[str, str]:
    """Return, for each unit except PyTorch, the lock's line for an official wheel of the stack's version, if any.

    An official PyTorch is the environment that a host uses until the stack is built.
    """
    lines = {line.split()[0]: line for line in stack["lock"]["wheels"].get(platform) or ()}
    pins = {unit: f"{unit}=={stack['versions'].get(unit)}" for unit in stack["units"]}
    return {unit: lines[pin] for unit, pin in pins.items() if pin in lines}
