#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: forecast
short_description: Forecast the breakage caused by the next upgrade of each host
version_added: "0.1.0"
description:
  - Compares the observation of P(sparkforge.dgx_spark.update_info#module) with a ledger of breakage that earlier
    upgrades caused.
  - Each host gets one answer, C(go), C(go with steps) or C(hold), with the reason, the remedy, and the sources.
  - Prints a table of all hosts, followed by the findings and the steps for each host. It runs none of the steps. The
    output can also be one line of JSON.
  - This action plugin runs on the controller only and connects to no host. Run it once for all hosts.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
options:
  rows:
    description:
      - One mapping per host, in display order, with C(host), C(observation) (the result C(spark_info)), and C(update)
        (the result C(update_info)).
      - A host that could not be read has C(problem) instead. If all hosts are such, the task fails after its output.
    type: list
    elements: dict
    default: []
  records:
    description: Files of C(sparkforge record) on the controller, forecast without a connection to their hosts.
    type: list
    elements: path
    default: []
  ledger:
    description: A ledger to use instead of this collection's, as a directory with a file for each rule.
    type: str
    default: ""
  accept:
    description: The ids of rules that you have dealt with, or whose risk you accept.
    type: list
    elements: str
    default: []
  format:
    description: The output format.
    type: str
    choices: [table, json]
    default: table
  path:
    description: A file on the controller for the same output, written atomically.
    type: path
  reports:
    description:
      - The directory of the reports on the controller. If it exists, the forecast of O(rows) is stored in it as
        C(forecast.json), and the page of M(sparkforge.dgx_spark.fleet_report) shows it. Entries of hosts that are not
        in O(rows) are left unchanged.
    type: path
attributes:
  check_mode:
    support: full
    details: O(path) and the file in O(reports) are also written in check mode; they are only reports, and no host
      changes.
  diff_mode:
    support: none
    details: The output shows the changes.
  idempotent:
    support: full
    details: The same hosts, ledger and day give the same forecast.
seealso:
  - module: sparkforge.dgx_spark.update_info
"""

EXAMPLES = r"""
- name: Forecast a recorded Spark
  sparkforge.dgx_spark.forecast:
    records: [sparkforge-record-1.json]

- name: Forecast the hosts of the play
  sparkforge.dgx_spark.forecast:
    rows:
      - host: "{{ inventory_hostname }}"
        observation: "{{ ansible_facts.spark_info }}"
        update: "{{ upgrade.update_info }}"
"""

RETURN = r"""
hosts:
  description: The forecast of each host.
  returned: success
  type: dict
  sample:
    spark01:
      answer: hold
      blocked: [firmware-torn]
      hold: [libnccl2]
      kernel: {running: 6.17.0-1021-nvidia, after: 7.0.0-1019-nvidia, new: [7.0.0-1019-nvidia]}
      steps: ["Do not upgrade yet. Deal with firmware-torn first, then forecast again."]
ledger:
  description: The date and age of the ledger, the number of its rules, and its origin.
  returned: success
  type: dict
  sample: {date: "2026-11-25", age_days: 3, rules: 42, source: ledger}
summary:
  description: The number of hosts with each answer.
  returned: success
  type: dict
  sample: {go: 61, go with steps: 2, hold: 1, not read: 0}
path:
  description: The file that was written.
  returned: success
  type: str
  sample: /home/ada/forecast.json
"""
