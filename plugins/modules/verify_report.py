#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: verify_report
short_description: Write the report of a verified host on the controller
version_added: "0.1.0"
description:
  - Writes a report as JSON, whole or not at all, and returns what failed.
  - This is an action plugin. The host is not reached, not even connected to.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
author:
  - The sparkforge maintainers (@sparkforge)
options:
  directory:
    description: The directory on the controller, which is made if it is not there.
    type: path
    required: true
  name:
    description: The file's name without C(.json), the host's name in the inventory.
    type: str
    required: true
  report:
    description: The report. Of its keys C(verdict), C(summary) and C(checks) are looked at.
    type: dict
    required: true
attributes:
  check_mode:
    support: full
    details:
      - The report goes to C(<name>.check.json), so that what a real run found stays.
  diff_mode:
    support: none
    details:
      - The report's only lasting change is when it was written.
  idempotent:
    support: full
    details:
      - The time of writing is in the report and differs with each run. That is never counted as a change.
  platform:
    support: full
    platforms: posix
"""

EXAMPLES = r"""
- name: Write the report
  sparkforge.dgx_spark.verify_report:
    directory: reports
    name: "{{ inventory_hostname }}"
    report:
      host: "{{ inventory_hostname }}"
      verdict: unproven
      summary: {pass: 1, fail: 0, skip: 0}
      checks:
        - {name: driver, status: pass, measured: 580.95.05, bound: 580.65.06, cause: "", remedy: ""}
"""

RETURN = r"""
path:
  description: Where the report is, on the controller.
  returned: success
  type: str
  sample: /home/me/sparks/reports/spark01.json
failures:
  description: For each failed check its name, its cause and its remedy.
  returned: success
  type: list
  elements: str
  sample: []
"""
