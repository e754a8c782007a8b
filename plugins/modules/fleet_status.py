#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_status
short_description: Compare the hosts of a fleet with their stacks
version_added: "0.1.0"
description:
  - Prints a table of all hosts with stack, environment, last proof, drift and pending changes, followed by the details.
    The output can also be one line of JSON.
  - A host that could not be read has a row too, with the reason.
  - This action plugin runs on the controller only and connects to no host. Run it once for all hosts.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
options:
  rows:
    description:
      - One mapping per host, in display order, with C(host); C(look), the result of
        M(sparkforge.dgx_spark.stack_status); C(stack), the fact for the stack in the inventory; C(changes), a mapping
        from each role's name to a list of phrases for its pending changes; and C(stops), the reasons why C(site.yml)
        would stop before it changes the host, each with C(cause) and C(remedy).
      - A host that could not be read has C(host), C(problem) and C(unreachable) instead.
    type: list
    elements: dict
    required: true
  format:
    description: The output format.
    type: str
    choices: [table, json]
    default: table
  path:
    description: A file on the controller for the same output, written atomically.
    type: path
attributes:
  check_mode:
    support: full
    details: O(path) is also written in check mode, since it is only a report and no host changes.
  diff_mode:
    support: none
    details: The output shows the changes.
  idempotent:
    support: full
    details: The JSON contains the time of writing, which never counts as a change.
seealso:
  - module: sparkforge.dgx_spark.stack_status
"""

EXAMPLES = r"""
- name: Show the hosts
  sparkforge.dgx_spark.fleet_status:
    rows:
      - {host: spark01, look: "{{ look }}", stack: "{{ stack }}", changes: {}}
      - {host: spark09, problem: No route to host, unreachable: true}
    format: json
    path: status.json
  run_once: true
"""

RETURN = r"""
summary:
  description: The number of hosts, and the number with each standing.
  returned: success
  type: dict
  sample: {hosts: 3, as wanted: 1, changes: 1, stops: 0, failed: 0, unreachable: 1}
hosts:
  description:
    - The rows in the format of the JSON output. C(standing) is V(as wanted), V(changes), V(stops) (C(site.yml) would
      stop before it changes the host), V(failed) or V(unreachable), and C(problem) is the reason for the last two.
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
  description: The file that was written; null without O(path).
  returned: success
  type: str
"""
