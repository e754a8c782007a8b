# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says which host builds for the platform of another."""

from __future__ import annotations

DOCUMENTATION = r"""
name: builder
short_description: Say which host builds for a host
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - The builder of a platform is its first host in the group C(builders); if there is none, its first host in the
    inventory. Neither C(--limit) nor C(serial) changes that.
  - If the builder is not in the play, nobody builds if its builds are known (O(found)). Otherwise the first host
    of the platform in the play builds, and the reason says so.
  - The platform is known only for hosts that M(sparkforge.dgx_spark.spark_info) observed, so for those in the play. The
    choice depends on membership, never on C(run_once), which is the first host of each batch, and none if that host is
    skipped.
  - A group C(builders) that can build for no other host is refused.
positional: groups, play_hosts, platforms, reached, found
options:
  _input:
    description: The host, C(inventory_hostname).
    type: str
    required: true
  groups:
    description: The inventory's groups, C(groups).
    type: dict
    required: true
  play_hosts:
    description: Every host of the play, of all batches, C(ansible_play_hosts_all).
    type: list
    elements: str
    required: true
  platforms:
    description: The platform of every observed host, from P(sparkforge.dgx_spark.platforms#filter).
    type: dict
    required: true
  reached:
    description: The hosts that are still in the play, C(ansible_play_hosts); all if unset.
    type: list
    elements: str
  found:
    description: The manifest of existing builds, if one was found.
    type: dict
"""

EXAMPLES = r"""
- name: Say who builds
  ansible.builtin.debug:
    msg: "{{ (inventory_hostname | sparkforge.dgx_spark.builder(groups, ansible_play_hosts_all, platforms)).reason }}"
  vars:
    platforms: "{{ groups.all | sparkforge.dgx_spark.platforms(hostvars) }}"
"""

RETURN = r"""
_value:
  description:
    - C(name) of the host that builds, or built, the C(platform) it is for, whether this host builds (C(here)), and
      C(reason).
    - C(outside) are the hosts on which to look for builds, the likeliest first, because they come before C(name) and
      are not in the play.
  type: dict
  sample:
    name: spark01
    platform: ubuntu24.04-aarch64
    here: false
    outside: []
    reason: spark02 builds nothing, spark01 builds for ubuntu24.04-aarch64 (it is in the group builders).
"""

import typing as t

from ..plugin_utils.filters import raising
from ..plugin_utils.fleet import builder


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"builder": raising(builder.elect)}
