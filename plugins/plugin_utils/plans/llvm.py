# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plan of the role llvm: the LLVM that Triton pins, from its sources or as Triton's own archive, or another one."""

from __future__ import annotations

import typing as t

from ...module_utils._core.redact import redact
from ..stack.model import Stack
from . import Plan
from .units import TOOLS, clang, platform_of, units

_SYSTEMS = {"aarch64": "ubuntu-arm64", "x86_64": "ubuntu-x64"}
_TWO = {
    "cause": "llvm_method is prebuilt (the LLVM that Triton pins), but triton_llvm_override names another LLVM.",
    "remedy": "Remove one of them.",
}


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the unit, and as ``override`` what takes the place of the pinned LLVM.

    :raises SparkforgeError: for a unit that cannot be put together.
    """
    if settings["llvm_state"] == "absent":
        return Plan()
    stack: Stack = settings["stack"]
    override = settings["llvm_override"]
    locked = stack["lock"]["sources"].get("llvm") or {}
    built: dict[str, t.Any] = settings["__llvm_built"]
    if settings["llvm_method"] == "prebuilt":
        if override:
            return Plan(refusals=[_TWO])
        of_role = _prebuilt(settings, locked, observation["kernel"]["machine"], built)
        if not of_role["source"]["sha256"]:
            archive = of_role["source"]["archive"].rpartition("/")[2]
            cause = f"No sha256 is known for {archive}: Triton's tree has them only since 3.8."
            remedy = "Set llvm_prebuilt_sha256 from a source that you trust, or set llvm_method to build."
            return Plan(refusals=[{"cause": cause, "remedy": remedy}])
        layers = [of_role]
    else:
        linker = settings["llvm_linker"]
        layers = [
            {**built, "toolchain": clang(stack)},
            {"cmake_args": [f"-DLLVM_USE_LINKER={linker}"]} if linker else {},
            stack["units"].get("llvm") or {},
            _of_override(override) if override else {},
        ]
    layers += [settings["llvm_unit"], {"toolchain": settings["llvm_toolchain"]}]
    said = _said(override, locked) if override else ""
    note = (
        f"{said}. MLIR changes daily: if Triton does not compile with it, fix it at your own risk with edits and "
        f"patches in triton_unit."
    )
    wanted = units(["llvm"], [{"llvm": layer} for layer in layers], platform_of(stack, observation))
    return Plan({"units": wanted, "override": said}, notes=[note] if said else [])


def _prebuilt(
    settings: t.Mapping[str, t.Any], locked: t.Mapping[str, t.Any], machine: str, built: t.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Return Triton's own archive: a prefix already, so that a CMakeLists.txt that only installs it is put into it."""
    name = f"llvm-{str(locked.get('commit') or 'unknown')[:8]}-{_SYSTEMS[machine]}.tar.gz"
    archive = (locked.get("prebuilt") or {}).get(machine) or {"file": name, "sha256": ""}
    return {
        "kind": "cmake",
        "source": {
            "archive": f"{settings['llvm_prebuilt_url']}/{archive['file']}",
            "sha256": settings["llvm_prebuilt_sha256"] or archive["sha256"],
        },
        "patches": ["prebuilt.patch"],
        "toolchain": TOOLS,
        "memory_per_job": 512,
        "free_space": 15360,
        "expect": {"files": built["expect"]["files"]},
    }


def _of_override(override: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return {"source": {"submodules": False, **override} if "repo" in override else dict(override)}


def _said(override: t.Mapping[str, t.Any], locked: t.Mapping[str, t.Any]) -> str:
    what = override.get("version") or f"of sha256 {override.get('sha256', '')}"
    where = redact(str(override.get("archive") or override.get("repo") or ""))
    return f"LLVM {what} from {where} in place of {locked.get('commit') or 'the one that Triton pins'}"
