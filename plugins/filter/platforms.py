# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says what each host is."""

from __future__ import annotations

DOCUMENTATION = r"""
name: platforms
short_description: Return the platform of each host
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - A platform is what wheels are built for, the distribution with its version and the machine.
  - Reading C(hostvars) takes a millisecond for each host, so call this once for all of them.
positional: _input, hostvars
options:
  _input:
    description: The hosts.
    type: list
    elements: str
    required: true
  hostvars:
    description: The variables of every host, C(hostvars).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Remember what each host is
  ansible.builtin.set_fact:
    platforms: "{{ groups.all | sparkforge.dgx_spark.platforms(hostvars) }}"
  run_once: true
"""

RETURN = r"""
_value:
  description: The platform of each host that M(sparkforge.dgx_spark.spark_info) observed; others are left out.
  type: dict
  sample: {spark01: ubuntu24.04-aarch64, gpu01: ubuntu24.04-x86_64}
"""

import typing as t


def platforms(hosts: t.Iterable[str], hostvars: t.Mapping[str, t.Any]) -> dict[str, str]:
    """Return the platform of each host that was observed; see RETURN."""
    by_host = {}
    for host in hosts:
        observed = (hostvars[host].get("ansible_facts") or {}).get("spark_info")
        if observed:
            by_host[host] = observed["platform"]
    return by_host


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"platforms": platforms}
