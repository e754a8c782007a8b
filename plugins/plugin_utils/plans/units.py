"""Combine a unit from three layers: the role's settings, the stack's and the user's.

In mappings (``environment``, ``expect``, ``toolchain`` …) a later layer overrides key by key, and null removes a key.
Lists of changes and arguments are concatenated, but a later ``-DNAME=`` replaces an earlier one, and null removes the
entries of earlier layers. For all other keys the last layer that sets them wins. ``{digest}`` in ``environment`` and
``expect.version`` stands for eight digits of the unit's inputs, for a local version that distinguishes a wheel from
the index's.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import os
import re
import typing as t

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ...module_utils._core import platforms
from ...module_utils._core.errors import SparkforgeError
from ...module_utils._unit.model import Unit, argument_spec
from ..stack.model import Stack

_LAYERED = {field.name: field.metadata for field in dataclasses.fields(Unit) if field.metadata["layers"]}
MERGED = [name for name, metadata in _LAYERED.items() if metadata["layers"] == "merge"]
ADDED = [name for name, metadata in _LAYERED.items() if metadata["layers"] == "add"]
#: The other keys, with the value used if no layer sets them.
REPLACED = {name: metadata["without"] for name, metadata in _LAYERED.items() if metadata["layers"] == "replace"}
#: The unit of Arm's Compute Library, if the stack has it and the host is aarch64.
COMPUTE_LIBRARY = "compute_library"
#: The distribution's tools, by path.
TOOLS = {"cmake": "/usr/bin/cmake", "ninja": "/usr/bin/ninja"}
#: Keys of a stack's unit that are not options of source_build.
OTHER = ("name", "optional")
#: How to pass an argument to the CMake that a wheel's own build starts. PyTorch: CMAKE_ARGS has no effect before 2.14
#: (2.9.1's tools/setup_helpers/cmake.py).
_TO_CMAKE = {
    "pytorch": "In pytorch_unit.environment, set the CMake variable itself: the build passes USE_*, BUILD_* and CMAKE_*"
    " on.",
    "triton": "Set them as TRITON_APPEND_CMAKE_ARGS in triton_unit.environment; they are added to the role's.",
}


def units(
    names: t.Sequence[str],
    layers: t.Sequence[t.Mapping[str, t.Any]],
    platform: str,
    built: t.Mapping[str, t.Any] | None = None,
) -> list[dict[str, t.Any]]:
    """Return the options of every named unit; an option that no layer sets is empty, or None if empty has a meaning.

    :param layers: mappings from unit names to options; the name ``*`` stands for every unit.
    :param platform: the platform for ``requirements`` that are listed by platform: ``cp312-linux-aarch64``.
    :param built: previously built units, by name, each with its ``fingerprint``; units that depend on one of them get
        that fingerprint, so that check mode can follow a chain that is not built yet.
    :raises SparkforgeError: for a unit that no layer mentions, that has no source, with an unknown key, or with an
        option that source_build would refuse on the host.
    """
    options = [combined(name, layers, platform, built or {}) for name in names]
    for unit in options:
        _check(unit)
    return options


def _check(unit: t.Mapping[str, t.Any]) -> None:
    name = unit["name"]
    validation = ArgumentSpecValidator(argument_spec()).validate(dict(unit))
    if validation.error_messages:
        raise SparkforgeError(
            f"The options of the unit {name} are not valid: {'; '.join(validation.error_messages)}.",
            "Correct them where they are set, in the stack or in the variable of the unit's role.",
        )
    try:
        Unit.from_options(validation.validated_parameters)
    except SparkforgeError as error:
        remedy = _TO_CMAKE.get(name) if error.details.get("option") == "cmake_args" else None
        raise SparkforgeError(error.cause, remedy or error.remedy) from None


def combined(
    name: str, layers: t.Sequence[t.Mapping[str, t.Any]], platform: str, built: t.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Return the options of one unit, unvalidated because more layers may follow."""
    parts = [part for layer in layers for part in (layer.get("*"), layer.get(name)) if part]
    if not any(name in layer for layer in layers):
        names = sorted({key for layer in layers for key in layer} - {"*"})
        raise SparkforgeError(
            f"Unit {name} is unknown; the known units are {', '.join(names) or 'none'}.",
            "Correct the name, or define the unit: source, requirements and environment.",
        )
    unit: dict[str, t.Any] = {"name": name, **REPLACED, **{key: {} for key in MERGED}, **{key: [] for key in ADDED}}
    for part in parts:
        _merge_layer(unit, part)
    source = unit["source"]
    if not source:
        raise SparkforgeError(
            f"The commit of {name} is not in the lock of the stack.",
            "Run playbooks/lock.yml, or give the unit a source (repo and version, or archive and sha256).",
        )
    unit["requirements"] = _of_platform(name, unit["requirements"], platform)
    unit["depends"] = [_depend(item, built) for item in unit["depends"]]
    digest = _digest(unit)
    unit["environment"] = {
        key: value.replace("{digest}", digest) if isinstance(value, str) else value
        for key, value in unit["environment"].items()
    }
    if unit["expect"].get("version"):
        unit["expect"] = {**unit["expect"], "version": unit["expect"]["version"].replace("{digest}", digest)}
    return unit


def _digest(unit: t.Mapping[str, t.Any]) -> str:
    """Return eight digits of the unit's inputs, without URLs and paths on the controller.

    This is not a fingerprint, which only the host can compute: compilers and the contents of patch files are not
    included.
    """
    patches = [
        os.path.basename(item) if isinstance(item, str) and "\n" not in item else item for item in unit["patches"]
    ]
    source = [unit["source"].get(key) for key in ("version", "sha256")]
    counted = ("subdirectory", "requirements", "edits", "environment", "cmake_args", "depends")
    libraries = {name: row["version"] for name, row in unit["libraries"].items() if row.get("version")}
    extra = [libraries] if libraries else []
    text = json.dumps([source, patches, *(unit[key] for key in counted), *extra], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


def _merge_layer(unit: dict[str, t.Any], part: t.Mapping[str, t.Any]) -> None:
    for key, value in part.items():
        if key in OTHER:
            continue
        if key in MERGED:
            unit[key] = _merged(unit[key], value or {})
        elif key in ADDED:
            # As with a key of a mapping, null removes the entries of earlier layers.
            unit[key] = [] if value is None else _added(unit[key], value)
        elif key in REPLACED:
            if value is not None:
                unit[key] = value
        else:
            similar = difflib.get_close_matches(key, [*MERGED, *ADDED, *REPLACED], n=1)
            raise SparkforgeError(
                f"{key} is not a key of the unit {unit['name']}.",
                f"Did you mean {similar[0]}?" if similar else f"It takes {', '.join([*REPLACED, *MERGED, *ADDED])}.",
            )


def _merged(base: t.Mapping[str, t.Any], other: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    merged = dict(base)
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            merged[key] = _merged(merged[key], value)
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


def _added(base: t.Sequence[t.Any], other: t.Sequence[t.Any]) -> list[t.Any]:
    """Return both lists without duplicates; of two definitions of a CMake variable, keep the later one."""
    redefined = {match[1] for match in map(_definition, other) if match}
    base_items = [item for item in base if not ((match := _definition(item)) and match[1] in redefined)]
    return [*base_items, *(item for item in other if item not in base_items)]


def _definition(item: t.Any) -> re.Match[str] | None:
    return re.match(r"-D([A-Za-z_]\w*)(:\w+)?=", item) if isinstance(item, str) else None


def _of_platform(name: str, requirements: t.Any, platform: str) -> list[str]:
    if not isinstance(requirements, dict):
        return list(requirements)
    if not requirements or platform in requirements:
        return list(requirements.get(platform) or [])
    raise SparkforgeError(
        f"The lock of the stack has the build requirements of {name} for {', '.join(sorted(requirements))}, not for"
        f" {platform}.",
        "Add this machine and Python to the stack, and run playbooks/lock.yml.",
    )


def _depend(item: t.Any, built: t.Mapping[str, t.Any]) -> t.Any:
    mark = (built.get(item) or {}).get("fingerprint") if isinstance(item, str) else None
    return {"name": item, "fingerprint": mark} if mark else item


def platform_of(stack: Stack, observation: t.Mapping[str, t.Any]) -> str:
    """Return a host's platform in the form that the stack's lock uses."""
    return platforms.locked(stack["python"]["version"], observation["kernel"]["machine"])


def clang(stack: Stack) -> dict[str, str]:
    """Return the stack's clang by its versioned path, because the first clang on PATH differs between hosts."""
    path = f"/usr/lib/llvm-{stack['llvm_major']}/bin/clang"
    return {"cc": path, "cxx": f"{path}++", **TOOLS}
