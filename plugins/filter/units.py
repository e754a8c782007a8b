# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that puts a unit together: what its role knows, what the stack says, what the user wants."""

from __future__ import annotations

DOCUMENTATION = r"""
name: units
short_description: Put units together from what role, stack and user say of them
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Merges layers of data into the options of M(sparkforge.dgx_spark.source_build), for each unit that is named.
  - Of mappings (C(environment), C(expect), C(toolchain), C(minimum), C(libraries)) a later layer wins key by key, and
    C(null) takes a key away. Lists of changes and arguments (C(patches), C(edits), C(cmake_args), C(targets),
    C(depends)) add up, but a later C(-DNAME=) takes the place of an earlier one. All else (C(source),
    C(requirements) …) is the last layer's that has it.
  - C({digest}) in C(environment), C(build_tag) and C(expect.version) stands for eight digits of what is built and how,
    for a local version that tells a wheel apart from the index's.
  - A unit without a source is refused, because its commit is not in the lock.
positional: layers, platform, built
options:
  _input:
    description: Names of units, in the order in which they are wanted.
    type: list
    elements: str
    required: true
  layers:
    description:
      - Mappings of a unit's name to what is said of it. The name V(*) stands for every unit.
    type: list
    elements: dict
    required: true
  platform:
    description:
      - The platform that C(requirements) are looked up for where a layer has them by platform, as in
        V(cp312-linux-aarch64).
    type: str
    required: true
  built:
    description:
      - Units that were built before, by name, each with its C(fingerprint). A unit that depends on one of them is given
        it, so that the check mode can follow a chain that is not built yet.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Show what would be built
  ansible.builtin.debug:
    msg: "{{ ['triton'] | sparkforge.dgx_spark.units([stack.units, {'triton': mine}], 'cp312-linux-aarch64') }}"
  vars:
    mine:
      environment: {TRITON_BUILD_PROTON: "ON"}
"""

RETURN = r"""
_value:
  description: The units, each with every option; what no layer has is empty, or C(null) where empty means something.
  type: list
  elements: dict
  sample:
    - name: triton
      kind: wheel
      source: {repo: "https://github.com/triton-lang/triton.git", version: bfeb066872bc1e8b2d2bc0a3b295b99dd77206e7}
      environment: {TRITON_OFFLINE_BUILD: "1"}
      requirements: ["cmake==3.31.10 --hash=sha256:a4a5615f…"]
      depends: [{name: llvm, fingerprint: 0f3a56be12c4d789}]
"""

import dataclasses
import difflib
import hashlib
import json
import os
import re
import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._unit.model import Unit

_LAYERED = {field.name: field.metadata for field in dataclasses.fields(Unit) if field.metadata}
MERGED = [name for name, metadata in _LAYERED.items() if metadata["layers"] == "merge"]
ADDED = [name for name, metadata in _LAYERED.items() if metadata["layers"] == "add"]
#: The rest, and what stands for it where no layer has it.
REPLACED = {name: metadata["without"] for name, metadata in _LAYERED.items() if metadata["layers"] == "replace"}
#: What a stack says of a unit that is no option of source_build.
OTHER = ("name", "optional")


def units(
    names: t.Sequence[str],
    layers: t.Sequence[t.Mapping[str, t.Any]],
    platform: str,
    built: t.Mapping[str, t.Any] | None = None,
) -> list[dict[str, t.Any]]:
    """Return the options of every unit that is named; see RETURN.

    :raises AnsibleFilterError: for a unit that nothing is said of, that has no source, or with a key that is none.
    """
    return [_unit(name, layers, platform, built or {}) for name in names]


def _unit(
    name: str, layers: t.Sequence[t.Mapping[str, t.Any]], platform: str, built: t.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    said = [part for layer in layers for part in (layer.get("*"), layer.get(name)) if part]
    if not any(name in layer for layer in layers):
        known = sorted({key for layer in layers for key in layer} - {"*"})
        raise AnsibleFilterError(
            f"Nothing is known of a unit {name}; known are {', '.join(known) or 'none'}. Correct its name, or say what"
            " it is: its source, requirements and environment."
        )
    unit: dict[str, t.Any] = {"name": name, **REPLACED, **{key: {} for key in MERGED}, **{key: [] for key in ADDED}}
    for part in said:
        _take(unit, part)
    source = unit["source"]
    if not source:
        raise AnsibleFilterError(
            f"The commit of {name} is not in the lock of the stack. Run playbooks/lock.yml, or give the unit a source:"
            " repo and version, or archive and sha256."
        )
    unit["requirements"] = _of_platform(name, unit["requirements"], platform)
    unit["depends"] = [_depend(item, built) for item in unit["depends"]]
    digest = _digest(unit)
    unit["environment"] = {
        key: value.replace("{digest}", digest) if isinstance(value, str) else value
        for key, value in unit["environment"].items()
    }
    if unit["build_tag"]:
        unit["build_tag"] = unit["build_tag"].replace("{digest}", digest)
    if unit["expect"].get("version"):
        unit["expect"] = {**unit["expect"], "version": unit["expect"]["version"].replace("{digest}", digest)}
    return unit


def _digest(unit: t.Mapping[str, t.Any]) -> str:
    """Return eight digits of what is built and how; neither a URL nor a path of the controller counts.

    It is no fingerprint, which only the host can tell: compilers and the contents of patch files are not in it.
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


def _take(unit: dict[str, t.Any], part: t.Mapping[str, t.Any]) -> None:
    """Merge one layer into a unit."""
    for key, value in part.items():
        if key in OTHER:
            continue
        if key in MERGED:
            unit[key] = _merged(unit[key], value or {})
        elif key in ADDED:
            # As with a key of a mapping, null takes away what earlier layers have.
            unit[key] = [] if value is None else _added(unit[key], value)
        elif key in REPLACED:
            if value is not None:
                unit[key] = value
        else:
            near = difflib.get_close_matches(key, [*MERGED, *ADDED, *REPLACED], n=1)
            raise AnsibleFilterError(
                f"{key} is not a key of the unit {unit['name']}."
                + (f" Did you mean {near[0]}?" if near else f" It takes {', '.join([*REPLACED, *MERGED, *ADDED])}.")
            )


def _merged(one: t.Mapping[str, t.Any], other: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    whole = dict(one)
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(whole.get(key), dict):
            whole[key] = _merged(whole[key], value)
        elif value is None:
            whole.pop(key, None)
        else:
            whole[key] = value
    return whole


def _added(one: t.Sequence[t.Any], other: t.Sequence[t.Any]) -> list[t.Any]:
    """Return both lists without doubles; of two definitions of one CMake variable the later one."""
    again = {match[1] for match in map(_definition, other) if match}
    kept = [item for item in one if not ((match := _definition(item)) and match[1] in again)]
    return [*kept, *(item for item in other if item not in kept)]


def _definition(item: t.Any) -> re.Match[str] | None:
    return re.match(r"-D([A-Za-z_]\w*)(:\w+)?=", item) if isinstance(item, str) else None


def _of_platform(name: str, requirements: t.Any, platform: str) -> list[str]:
    if not isinstance(requirements, dict):
        return list(requirements)
    if not requirements or platform in requirements:
        return list(requirements.get(platform) or [])
    raise AnsibleFilterError(
        f"The lock of the stack has the build requirements of {name} for {', '.join(sorted(requirements))}, not for"
        f" {platform}. Give the stack this machine and Python, and run playbooks/lock.yml."
    )


def _depend(item: t.Any, built: t.Mapping[str, t.Any]) -> t.Any:
    mark = (built.get(item) or {}).get("fingerprint") if isinstance(item, str) else None
    return {"name": item, "fingerprint": mark} if mark else item


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"units": units}
