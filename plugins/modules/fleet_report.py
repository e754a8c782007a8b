#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_report
short_description: Merge the reports of many hosts on the controller
version_added: "0.1.0"
description:
  - Reads each host's report from M(sparkforge.dgx_spark.verify_report), and writes C(fleet.json) and the page
    C(index.html), a table of hosts and checks, next to them. Files are written atomically. The page also contains the
    forecast of the next upgrade that M(sparkforge.dgx_spark.forecast) stored there.
  - Hosts without a report are listed as such, with cause and remedy, and so are hosts whose report is damaged, has
    another format or belongs to another host. No host is omitted.
  - This action plugin runs on the controller only and connects to no host. Run it once for all hosts.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
options:
  directory:
    description: The directory of the reports on the controller.
    type: path
    required: true
  hosts:
    description: The hosts of the fleet, by inventory name.
    type: list
    elements: str
    required: true
  judged:
    description: The hosts to which O(require) applies, such as those of the play; by default all of them.
    type: list
    elements: str
  stopped:
    description:
      - Hosts on which this run stopped early, each with the reason, worded to follow the host's name. Their report may
        be from an earlier run, and the page says so. Such a host does not meet O(require).
    type: dict
    default: {}
  require:
    description:
      - The verdict that each judged host needs. V(proven) requires that verdict, V(unproven) also accepts V(proven),
        and V(none) accepts any.
      - A verdict never fails the module. Hosts that do not meet the requirement are returned in RV(unmet).
      - By default nothing is required.
    type: str
    choices: [none, unproven, proven]
  activate:
    description:
      - The activation script of the environment. If set, two lines show the next commands for the hosts that meet
        O(require), except in check mode or if no host does.
    type: str
    default: ""
  joined:
    description: Hosts on which users were added to a group in this run, which takes effect at their next login.
    type: list
    elements: str
    default: []
  url:
    description: The URL of O(directory), without a file name. If set, a line shows the URL of the page.
    type: str
    default: ""
  notes:
    description: Sentences to show after the lines of the hosts.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    support: full
    details:
      - In check mode, the module reads the files written in check mode, and writes C(fleet.check.json) and
        C(index.check.html), so that the results of real runs are kept.
  diff_mode:
    support: none
    details: Differences between runs are in each host's report.
  idempotent:
    support: full
    details: The files contain the time of writing, which never counts as a change.
seealso:
  - module: sparkforge.dgx_spark.verify_report
"""

EXAMPLES = r"""
- name: Merge the reports
  sparkforge.dgx_spark.fleet_report:
    directory: reports
    hosts: "{{ groups['all'] }}"
    judged: "{{ ansible_play_hosts_all }}"
    require: proven
  register: fleet
  run_once: true

- name: Stop if the host is not proven
  ansible.builtin.fail:
    msg: "{{ fleet.unmet[inventory_hostname] }}"
  when: inventory_hostname in fleet.unmet
"""

RETURN = r"""
path:
  description:
    - Path of the merged reports on the controller. The file has C(format), C(written), C(check_mode), C(summary) as in
      RV(summary), and C(hosts), worst first, each with C(host), C(verdict), C(cause), C(remedy), C(stopped), C(file)
      and C(report); the last two are null if there is no report.
  returned: success
  type: str
  sample: /home/me/sparks/reports/fleet.json
page:
  description: Path of the HTML page on the controller.
  returned: success
  type: str
  sample: /home/me/sparks/reports/index.html
url:
  description: The URL of the page, empty without O(url).
  returned: success
  type: str
  sample: https://reports.example.com/sparks/index.html
summary:
  description: The number of hosts, and the number with each verdict.
  returned: success
  type: dict
  sample: {hosts: 4, proven: 2, unproven: 0, "no report": 1, fail: 1}
hosts:
  description: Each host with its verdict, worst first. C(cause) and C(remedy) explain a missing report.
  returned: success
  type: list
  elements: dict
  sample:
    - {host: spark01, verdict: proven, cause: "", remedy: ""}
unmet:
  description: For each judged host that does not meet O(require), the reason and the remedy.
  returned: success
  type: dict
  sample: {spark02: "spark02 failed: matmul.bfloat16. The report gives the cause and remedy of each."}
"""
