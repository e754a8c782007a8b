# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says which host builds for the platform of another."""

from __future__ import annotations

DOCUMENTATION = r"""
name: builder
short_description: Say which host builds for a host
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - The builder of a platform is its first host in the group C(builders); where none is there, its first host in the
    inventory. Neither C(--limit) nor C(serial) changes that.
  - Where the builder is not in the play, the first host of the platform in the play builds, and the reason says so.
  - A platform is known of hosts that M(sparkforge.dgx_spark.spark_info) observed, so of those in the play. It goes by
    membership, never by C(run_once), which is the first host of each batch, and none where that is skipped.
positional: groups, play_hosts, hostvars
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
  hostvars:
    description: The variables of every host, C(hostvars).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Say who builds
  ansible.builtin.debug:
    msg: "{{ (inventory_hostname | sparkforge.dgx_spark.builder(groups, ansible_play_hosts_all, hostvars)).reason }}"
"""

RETURN = r"""
_value:
  description: C(name) of the builder, the C(platform) it builds for, whether it is this host (C(here)), and C(reason).
  type: dict
  sample:
    name: spark01
    platform: ubuntu24.04-aarch64
    here: false
    reason: spark02 builds nothing, spark01 builds for ubuntu24.04-aarch64 (the first of it in the inventory).
"""

import typing as t

from ansible.errors import AnsibleFilterError


def builder(
    host: str, groups: t.Mapping[str, t.Sequence[str]], play_hosts: t.Sequence[str], hostvars: t.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Return who builds for ``host``, and why; see RETURN.

    :raises AnsibleFilterError: where the host was not observed.
    """
    platform = platform_of(host, hostvars)
    if platform is None:
        raise AnsibleFilterError(
            f"It is not known what {host} is. Run sparkforge.dgx_spark.spark_info on every host of the play first."
        )
    inventory = list(groups.get("all") or play_hosts)
    playing = set(play_hosts)
    named = list(groups.get("builders") or [])
    name, why = _choose(platform, named, inventory, playing, hostvars)
    if name == host:
        reason = f"{host} builds for {platform}: {why}."
    else:
        reason = f"{host} builds nothing, {name} builds for {platform} ({why})."
    return {"name": name, "platform": platform, "here": name == host, "reason": reason}


def _choose(
    platform: str,
    named: t.Sequence[str],
    inventory: t.Sequence[str],
    playing: t.Container[str],
    hostvars: t.Mapping[str, t.Any],
) -> tuple[str, str]:
    """Return the builder and why it is."""

    def first(hosts: t.Iterable[str]) -> str | None:
        return next((item for item in hosts if item in playing and platform_of(item, hostvars) == platform), None)

    chosen = first(named)
    if chosen:
        return chosen, "it is in the group builders"
    # Always found: the host that asks is one of them.
    chosen = t.cast(str, first(inventory))
    absent = [item for item in named if item not in playing]
    if absent:
        return chosen, f"the group builders has {', '.join(absent)}, outside this play, and it is the first host in it"
    before = [item for item in inventory[: list(inventory).index(chosen)] if item not in playing]
    if before:
        return chosen, f"{before[0]} comes before it in the inventory and is outside this play"
    return chosen, "the first of it in the inventory"


def platform_of(host: str, hostvars: t.Mapping[str, t.Any]) -> str | None:
    """Return for example ``ubuntu24.04-aarch64``, None for a host that was not observed."""
    try:
        observed = hostvars[host]["ansible_facts"]["spark_info"]
    except KeyError:
        return None
    return f"{observed['os']['id']}{observed['os']['version']}-{observed['kernel']['machine']}"


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"builder": builder}
