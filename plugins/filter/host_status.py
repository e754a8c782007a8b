# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says how a host stands to the stack that its inventory wants."""

from __future__ import annotations

DOCUMENTATION = r"""
name: host_status
short_description: Compare a host with its stack
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - Turns what M(sparkforge.dgx_spark.stack_status) and M(sparkforge.dgx_spark.spark_info) read on a host into one
    row of M(sparkforge.dgx_spark.fleet_status).
  - Drift lists what changed since the last proof (driver, kernel, CUDA packages, environment), the checks and
    rates in which this proof differs from the one before it, unless that was of another stack or lock, and files that
    receipts name and that are gone.
positional: look, observation, stack, changes, stops
options:
  _input:
    description: The host's name in the inventory.
    type: str
    required: true
  look:
    description: The result of M(sparkforge.dgx_spark.stack_status).
    type: dict
    required: true
  observation:
    description: The observation, C(ansible_facts.spark_info).
    type: dict
    required: true
  stack:
    description: The stack that the inventory wants, the fact C(stack).
    type: dict
    required: true
  changes:
    description: For each role's name, a list of phrases that say what it would do.
    type: dict
    required: true
  stops:
    description: Why C(site.yml) would stop before it changes the host, each with C(cause) and C(remedy).
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Say how the host stands
  ansible.builtin.debug:
    msg: "{{ row.standing }}: {{ row.changes }}"
  vars:
    row: "{{ inventory_hostname | sparkforge.dgx_spark.host_status(look, ansible_facts.spark_info, stack, {}) }}"
"""

RETURN = r"""
_value:
  description:
    - The row. C(standing) is V(as wanted), V(changes) or V(stops). C(bridge) says that the environment is one of
      official wheels, and that the stack is to be built. C(wanted), C(stack), C(environment), C(staged),
      C(previous), C(units), C(running), C(unfinished), C(proof), C(drift), C(changes) and C(stops) say the rest.
  type: dict
  sample:
    host: spark01
    standing: changes
    problem: ""
    wanted: {stack: torch-2.9.1, lock: c1b8cad4e018, environment: 5d41402abc4b}
    stack: torch-2.9.1
    bridge: false
    environment: {environment_id: 5d41402abc4b, state: current, units: {pytorch: 4b5c1f0e9a37d286}}
    drift: [{what: driver, before: 580.95.05, now: 580.159.04}]
    changes: {cuda_libraries: [install libcublas-dev-13-0]}
    stops: []
"""

import typing as t

from ..plugin_utils.fleet import status


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"host_status": status.row}
