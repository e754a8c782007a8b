"""The plan of the `llvm` role: build the LLVM that Triton pins, or another one."""

from __future__ import annotations

import typing as t

from ...module_utils._core.redact import redact
from ..stack.model import Stack
from . import Plan
from .units import clang, platform_of, units


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the unit, and as ``override`` the source that replaces the pinned LLVM."""
    if settings["llvm_state"] == "absent":
        return Plan()
    stack: Stack = settings["stack"]
    override = settings["llvm_override"]
    locked = stack["lock"]["sources"].get("llvm") or {}
    linker = settings["llvm_linker"]
    layers = [
        {**settings["__llvm_built"], "toolchain": clang(stack)},
        {"cmake_args": [f"-DLLVM_USE_LINKER={linker}"]} if linker else {},
        stack["units"].get("llvm") or {},
        {"source": {"submodules": False, **override} if "repo" in override else override} if override else {},
        settings["llvm_unit"],
        {"toolchain": settings["llvm_toolchain"]},
    ]
    described = _describe_override(override, locked) if override else ""
    note = (
        f"{described}. MLIR changes daily: if Triton does not compile with it, fix it at your own risk with edits and "
        f"patches in triton_unit."
    )
    chosen = units(["llvm"], [{"llvm": layer} for layer in layers], platform_of(stack, observation))
    return Plan({"units": chosen, "override": described}, notes=[note] if described else [])


def _describe_override(override: t.Mapping[str, t.Any], locked: t.Mapping[str, t.Any]) -> str:
    version = override.get("version") or f"of sha256 {override.get('sha256', '')}"
    where = redact(str(override.get("archive") or override.get("repo") or ""))
    return f"LLVM {version} from {where} in place of {locked.get('commit') or 'the one that Triton pins'}"
