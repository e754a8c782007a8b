# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says which hosts a run did not bring to its end, and why."""

from __future__ import annotations

DOCUMENTATION = r"""
name: rollout_stopped
short_description: Say on which hosts a run stopped before its end, and why
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Reads what C(playbooks/preflight.yml), C(playbooks/bridge.yml), C(playbooks/build.yml) and C(playbooks/rollout.yml)
    noted of each host.
  - Of a host that keeps official wheels because its stack was not built, or that did not get them either, it says so.
positional: _input, alive, hostvars
options:
  _input:
    description: The hosts of the run, C(ansible_play_hosts_all).
    type: list
    elements: str
    required: true
  alive:
    description: Those of them that neither failed nor were lost, C(ansible_play_hosts).
    type: list
    elements: str
    required: true
  hostvars:
    description: The variables of every host, C(hostvars).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show where the run stopped
  ansible.builtin.debug:
    msg: "{{ ansible_play_hosts_all | sparkforge.dgx_spark.rollout_stopped(ansible_play_hosts, hostvars) }}"
"""

RETURN = r"""
_value:
  description: For each host on which the run stopped, a sentence.
  type: dict
  sample: {spark02: "was lost in wave 3; …"}
"""

import typing as t


def rollout_stopped(
    hosts: t.Sequence[str], alive: t.Collection[str], hostvars: t.Mapping[str, t.Any]
) -> dict[str, str]:
    """Return why the run stopped on each host on which it did; see RETURN."""
    running = set(alive)
    found = {}
    for host in hosts:
        said = _said(host in running, hostvars[host])
        if said:
            found[host] = " ".join(f"{said.strip().rstrip('.')}{_meanwhile(hostvars[host])}".split())
    return found


def _meanwhile(variables: t.Mapping[str, t.Any]) -> str:
    """Return what becomes of a host whose stack is to be built and is not there."""
    failed = str((variables.get("sparkforge_bridge") or {}).get("failed") or "")
    if failed:
        return f"; the wheels that it was to have meanwhile: {failed.rstrip('.')}"
    observed = (variables.get("ansible_facts") or {}).get("spark_info") or {}
    environment = (observed.get("environments") or {}).get(variables.get("python_env_name") or "torch") or {}
    stack = environment.get("stack") or {}
    if (variables.get("stack") or {}).get("method") == "build" and stack.get("method") == "wheel":
        return f"; until its stack is built it keeps the proven wheels of {stack['name']}"
    return ""


def _said(alive: bool, variables: t.Mapping[str, t.Any]) -> str:
    outcome = variables.get("sparkforge_outcome")
    if outcome:
        return str(outcome)
    if alive:
        stop = variables.get("sparkforge_stop")
        return f"was not begun and is as it was: {stop.rstrip('.')}" if stop else ""
    if variables.get("sparkforge_wave"):
        return (
            f"was lost in wave {variables['sparkforge_wave']}; its environment is the former one until the new one is"
            " proven, and the next run picks it up"
        )
    if "spark_info" in (variables.get("ansible_facts") or {}):
        return "failed before the rollout, as said above; the next run picks it up"
    return "could not be reached, or failed before it was looked at; the next run picks it up"


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"rollout_stopped": rollout_stopped}
