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
  - Reads what M(sparkforge.dgx_spark.verify_report) wrote of each host, and writes C(fleet.json) and the page
    C(index.html) beside it, hosts by checks, each file whole or not at all.
  - A host without a report is listed with that verdict, and so is one whose report is damaged, of another format or of
    another host, with the cause and the remedy. None is left out.
  - This is an action plugin. No host is reached, not even connected to. Run it once for all hosts.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
author: The sparkforge maintainers (@sparkforge)
options:
  directory:
    description: The directory on the controller where the reports are.
    type: path
    required: true
  hosts:
    description: The hosts of the fleet, by their names in the inventory.
    type: list
    elements: str
    required: true
  judged:
    description: The hosts that O(require) applies to, such as those of the play; all of them by default.
    type: list
    elements: str
  stopped:
    description:
      - Hosts on which this run stopped before its end, each with why, worded to follow the host's name. Their report
        may be of an earlier run, and the page says so. Such a host is not what is required.
    type: dict
    default: {}
  require:
    description:
      - What each judged host must be. V(proven) is met by that verdict alone, V(unproven) by both V(proven) and
        V(unproven), V(none) by anything.
      - This never fails because of a verdict. It returns the hosts that are not what is required as RV(unmet).
      - By default nothing is required.
    type: str
    choices: [none, unproven, proven]
  activate:
    description:
      - The script by which a person enters the environment. With it, two lines say what to type next on the hosts that
        are what is required. They are left out in check mode, or where no host is.
    type: str
    default: ""
  joined:
    description: Hosts on which people became members of a group in this run, which holds from their next login on.
    type: list
    elements: str
    default: []
  url:
    description:
      - Where people find O(directory), a URL without the name of a file. With it a line says where the page is.
    type: str
    default: ""
attributes:
  check_mode:
    support: full
    details:
      - The files that runs in check mode wrote are read, and C(fleet.check.json) and C(index.check.html) are written,
        so that what real runs found stays.
  diff_mode:
    support: none
    details: What differs from one run to the next is in each host's report.
  idempotent:
    support: full
    details: The time of writing is in both files and differs with each run. That is never counted as a change.
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

- name: Stop where the host is not proven
  ansible.builtin.fail:
    msg: "{{ fleet.unmet[inventory_hostname] }}"
  when: inventory_hostname in fleet.unmet
"""

RETURN = r"""
path:
  description:
    - Where the merged reports are, on the controller. The file has C(format), C(written), C(check_mode), C(summary) as
      RV(summary), and C(hosts), the worst first, each with C(host), C(verdict), C(cause), C(remedy), C(stopped),
      C(file) and C(report), the last two null where there is none.
  returned: success
  type: str
  sample: /home/me/sparks/reports/fleet.json
page:
  description: Where the page is, on the controller.
  returned: success
  type: str
  sample: /home/me/sparks/reports/index.html
url:
  description: Where people find the page, empty without O(url).
  returned: success
  type: str
  sample: https://reports.example.com/sparks/index.html
summary:
  description: How many hosts there are, and how many have each verdict.
  returned: success
  type: dict
  sample: {hosts: 4, proven: 2, unproven: 0, "no report": 1, fail: 1}
hosts:
  description: Each host with its verdict, the worst first. C(cause) and C(remedy) say why there is no report.
  returned: success
  type: list
  elements: dict
  sample:
    - {host: spark01, verdict: proven, cause: "", remedy: ""}
unmet:
  description: For each judged host that is not what is required, why, and what to do about it.
  returned: success
  type: dict
  sample: {spark02: "spark02 failed: matmul.bfloat16. The report says the cause and the remedy of each."}
"""
