# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of the role source_unit: which units of a stack need not compile for the rest to be of use."""

from __future__ import annotations

import typing as t

from ansible.module_utils.parsing.convert_bool import boolean

from ..stack.model import Stack
from . import Plan
from .units import COMPUTE_LIBRARY, platform_of


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the step ``dispensable``: the units that a build goes on without, each with what comes of that.

    What a person changed is wanted as it is.
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
    kept = {name: effect for name, effect in effects.items() if name in stack["units"] and name not in changed}
    return Plan({"dispensable": kept})


def official(stack: Stack, platform: str) -> dict[str, str]:
    """Return the lock's line of the official wheel of each unit that has one of the stack's version, except PyTorch's.

    An official PyTorch is the environment that a host has until the stack is built.
    """
    lines = {line.split()[0]: line for line in stack["lock"]["wheels"].get(platform) or ()}
    pins = {unit: f"{unit}=={stack['versions'].get(unit)}" for unit in stack["units"]}
    return {unit: lines[pin] for unit, pin in pins.items() if pin in lines}
