#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_status
short_description: Show how the hosts of a fleet compare with their stacks
version_added: "0.1.0"
description:
  - Prints one table of all hosts, with stack, environment, units, last proof, drift and what would change, and below it
    what the table only counts. Or the same as JSON, in one line.
  - A host that could not be read is a row of the table too, with the reason.
  - This is an action plugin. No host is reached, not even connected to. Run it once for all hosts.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
author: The sparkforge maintainers (@sparkforge)
options:
  rows:
    description:
      - One mapping a host, in the order in which they are shown, as P(sparkforge.dgx_spark.host_status#filter)
        makes it.
      - A host that could not be read has C(host), C(problem) and C(unreachable) instead.
    type: list
    elements: dict
    required: true
  format:
    description: What is printed.
    type: str
    choices: [table, json]
    default: table
  path:
    description: A file on the controller that gets the same, whole or not at all.
    type: path
attributes:
  check_mode:
    support: full
    details: O(path) is written in check mode too, for it says what was read and changes no host.
  diff_mode:
    support: none
    details: What would change is what is shown.
  idempotent:
    support: full
    details: The time of writing is in the JSON and differs with each run. That is never counted as a change.
seealso:
  - module: sparkforge.dgx_spark.stack_status
  - plugin: sparkforge.dgx_spark.host_status
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show the hosts
  sparkforge.dgx_spark.fleet_status:
    rows:
      - "{{ inventory_hostname | sparkforge.dgx_spark.host_status(look, ansible_facts.spark_info, stack, {}) }}"
      - {host: spark09, problem: No route to host, unreachable: true}
    format: json
    path: status.json
  run_once: true
"""

RETURN = r"""
summary:
  description: How many hosts there are, and how many have each standing.
  returned: success
  type: dict
  sample: {hosts: 3, as wanted: 1, changes: 1, stops: 0, failed: 0, unreachable: 1}
hosts:
  description:
    - The rows as the JSON has them. C(standing) is V(as wanted), V(changes), V(stops) (C(site.yml) would stop before it
      changes the host), V(failed) or V(unreachable), and C(problem) the reason of the last two.
  returned: success
  type: list
  elements: dict
  sample:
    - host: spark01
      standing: as wanted
      problem: ""
      stack: torch-2.9.1
      changes: {}
path:
  description: The file that was written; null where none was named.
  returned: success
  type: str
  sample: null
"""
