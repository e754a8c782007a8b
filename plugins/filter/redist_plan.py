# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that compares a stack's redist archives with what was observed on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: redist_plan
short_description: Say which redist archives a host needs, and whether it has them
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Chooses the archives that the vendor has for the platform of the host, and compares them with what
    M(sparkforge.dgx_spark.spark_info) observed. A host that has them all needs no further call.
  - An archive is known by its loader entry, whose first line holds version, variant and sha256 and is
    written by M(sparkforge.dgx_spark.redist_archive) when all else is done.
positional: spark_info, prefix
options:
  _input:
    description: The archives, as C(stack.archives) has them.
    type: list
    elements: dict
    required: true
  spark_info:
    description: The observation, C(ansible_facts.spark_info).
    type: dict
    required: true
  prefix:
    description: The directory that the archives are unpacked below.
    type: str
    default: /opt/sparkforge/redist
  loader_directory:
    description: The directory of the loader entries.
    type: str
    default: /etc/ld.so.conf.d
"""

EXAMPLES = r"""
- name: Install what is missing
  sparkforge.dgx_spark.redist_archive:
    platform: "{{ plan.platform }}"
    archives: "{{ plan.archives }}"
  when: not plan.installed
  vars:
    plan: "{{ stack.archives | sparkforge.dgx_spark.redist_plan(ansible_facts.spark_info) }}"
"""

RETURN = r"""
_value:
  description:
    - C(platform), C(archives) for the option of M(sparkforge.dgx_spark.redist_archive), and C(components) for
      its C(state=absent).
    - C(unpinned) has the labels of archives whose sha256 is unknown, C(without_platform) the components that
      do not exist for the platform. C(installed) says that the host has all C(archives).
  type: dict
  sample:
    platform: linux-sbsa
    archives:
      - product: cudss
        component: libcudss
        release: "0.8.0"
        version: "0.8.0.10"
        variant: cuda13
        soname: libcudss.so.0
        sha256: c5fe7e5796792e10c3c5971bbb169ab3040ba61fe6fc99bdcbc02cf0f1ed9409
    components: [{component: libcudss}]
    unpinned: []
    without_platform: []
    installed: true
"""

import hashlib
import os
import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._fetch import redist_layout

KEYS = ("product", "component", "release", "version", "variant", "soname")


def redist_plan(
    archives: t.Sequence[t.Mapping[str, t.Any]],
    spark_info: t.Mapping[str, t.Any],
    prefix: str = "/opt/sparkforge/redist",
    loader_directory: str = "/etc/ld.so.conf.d",
) -> dict[str, t.Any]:
    """Return what the role needs to know; see RETURN.

    :raises AnsibleFilterError: for an archive that is not described as the stack describes it.
    """
    machine = spark_info["kernel"]["machine"]
    platform = redist_layout.platform_of(machine)
    wanted, unpinned, without = [], [], []
    for number, archive in enumerate(archives):
        if not isinstance(archive, dict) or not archive.get("component") or not isinstance(archive.get("sha256"), dict):
            raise AnsibleFilterError(
                f"Archive number {number + 1} is {archive!r}, without a component or a sha256 by platform. "
                "Give product, component, release and sha256 ({linux-sbsa: ...}), as stack.archives does."
            )
        pins = archive["sha256"]
        if platform not in pins:
            without.append(archive["component"])
        elif not pins[platform]:
            unpinned.append(f"{archive['component']} {archive.get('version') or archive.get('release')} ({platform})")
        else:
            row = {key: archive[key] for key in KEYS if archive.get(key) is not None}
            wanted.append({**row, "variant": row.get("variant", ""), "sha256": pins[platform]})
    return {
        "platform": platform,
        "archives": wanted,
        "components": [{"component": archive["component"]} for archive in archives],
        "unpinned": unpinned,
        "without_platform": without,
        "installed": all(_installed(row, platform, spark_info, prefix, loader_directory) for row in wanted),
    }


def _installed(
    row: t.Mapping[str, t.Any],
    platform: str,
    spark_info: t.Mapping[str, t.Any],
    prefix: str,
    loader_directory: str,
) -> bool:
    """Tell whether the loader entry is that of a finished installation and the loader finds the library."""
    if not row.get("version"):
        return False
    current = os.path.join(os.path.normpath(prefix), row["component"], "current")
    path = redist_layout.loader_path(loader_directory, row["component"])
    found = spark_info.get("managed_files", {}).get(path)
    libraries = spark_info.get("loader", {}).get("libraries", {})
    for directory in redist_layout.LIBRARY_DIRECTORIES:
        record = {**row, "platform": platform, "current": current, "library_directory": directory}
        content = redist_layout.loader_entry(record, identity=True).encode("utf-8")
        if hashlib.sha256(content).hexdigest() == found:
            soname = row.get("soname")
            return soname is None or libraries.get(soname) == f"{current}/{directory}/{soname}"
    return False


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"redist_plan": redist_plan}
