# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that plans a fabric of Sparks."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fabric_plan
short_description: Say which address each half of each port gets in a fabric of Sparks
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Gives each rail (one half of a port, and what it is cabled to) a subnet of its own, and each host the number in it
    that is its place in the inventory. The result depends on the arguments alone.
  - Refuses a plan that does not add up, with every cause.
positional: host
options:
  _input:
    description: The hosts of the fabric, in the order of the inventory.
    type: list
    elements: str
    required: true
  host:
    description: The host whose part of the plan is wanted.
    type: str
    required: true
  subnets:
    description: The IPv4 subnets, one for each rail, in the order of the links.
    type: list
    elements: str
    required: true
  topology:
    description: Which links there are where O(links) is empty; V(auto) takes the usual one for the number of hosts.
    type: str
    choices: [auto, pair, ring, switch]
    default: auto
  links:
    description: The links, each with C(ends) (a list of C(host:port)), and C(name), C(switch) and C(mtu) where wanted.
    type: list
    elements: dict
    default: []
  port:
    description: The port that a pair or a switch uses on each host.
    type: int
    default: 0
  mtu:
    description: The MTU of cables.
    type: int
    default: 9000
  switch_mtu:
    description: The MTU of links through a switch.
    type: int
    default: 1500
"""

EXAMPLES = r"""
- name: Show the addresses of this host
  ansible.builtin.debug:
    msg: "{{ groups['fabric'] | sparkforge.dgx_spark.fabric_plan(inventory_hostname, subnets=subnets) }}"
  vars:
    subnets: [192.168.200.0/24, 192.168.201.0/24]
"""

RETURN = r"""
_value:
  description:
    - C(rails) of the host, C(environment) that NCCL needs for the topology, and C(rounds) in which it measures, of
      which some may be empty.
  type: dict
  sample:
    environment: {}
    rounds: [{link: cable1, peer: spark02, role: server}, {link: cable1, peer: spark02, role: client}]
    rails:
      - name: cable1.0
        link: cable1
        kind: cable
        port: 0
        half: 0
        address: 192.168.200.1/24
        mtu: 9000
        peers: [{host: spark02, port: 0, address: 192.168.200.2}]
"""

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import _fabric


def fabric_plan(
    hosts: t.Sequence[str],
    host: str,
    subnets: t.Sequence[str],
    topology: str = "auto",
    links: t.Sequence[t.Any] = (),
    port: int = 0,
    mtu: int = 9000,
    switch_mtu: int = 1500,
) -> dict[str, t.Any]:
    """Return one host's part of the plan.

    :raises AnsibleFilterError: with every fault of the variables.
    """
    hosts = list(hosts)
    try:
        found = _fabric.links(hosts, topology, links, int(port), int(mtu), int(switch_mtu))
        if host not in hosts:
            raise _fabric.PlanError(
                [
                    _fabric.Problem(
                        f"{host} is none of the fabric's hosts ({', '.join(hosts)}).",
                        "Add it to the inventory's group fabric, or leave it out of the play with -l.",
                    )
                ]
            )
        rails = _fabric.plan(found, hosts, subnets)[host]
    except _fabric.PlanError as error:
        raise AnsibleFilterError(str(error)) from error
    if not rails:
        raise AnsibleFilterError(f"No link of fabric_links ends at {host}. Add its cable, or take it out of the group.")
    return {"rails": rails, "environment": _fabric.environment(rails), "rounds": _parts(_fabric.rounds(found), host)}


def _parts(rounds: list[list[dict[str, t.Any]]], host: str) -> list[dict[str, t.Any]]:
    parts: list[dict[str, t.Any]] = []
    for entries in rounds:
        mine = next((entry for entry in entries if host in (entry["server"], entry["client"])), None)
        if mine is None:
            parts.append({})
        elif mine["server"] == host:
            parts.append({"link": mine["link"], "role": "server", "peer": mine["client"]})
        else:
            parts.append({"link": mine["link"], "role": "client", "peer": mine["server"]})
    return parts


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"fabric_plan": fabric_plan}
