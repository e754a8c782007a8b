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
  - Writes a report as JSON, in the format of C(docs/report.schema.json), and as a self-contained page, each atomically,
    and returns the failures.
  - An invalid report is refused with a list of its problems.
  - This action plugin runs on the controller only and connects to no host.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
options:
  directory:
    description: The directory on the controller, created if missing.
    type: path
    required: true
  name:
    description:
      - The host's name in the inventory, used for the files C(<name>.json) and C(<name>.html). If it is
        not a valid file name, or is the name of a merged report, it is changed and part of a hash is added.
    type: str
    required: true
  report:
    description:
      - The report that M(sparkforge.dgx_spark.cuda_proof) returned.
      - C(stack), C(method), C(profile), C(lock), C(gpu_required), C(verdict) and C(checks) are required, and for each
        check C(name) and C(status). C(host) and C(summary) are computed if they are missing, C(check_mode) and
        C(written) always. All other missing keys are empty.
    type: dict
    required: true
attributes:
  check_mode:
    support: full
    details: The report is written to C(<name>.check.json) and C(<name>.check.html), so that a real run's report is
      kept.
  diff_mode:
    support: none
    details: The report differs from the previous one only in its time of writing.
  idempotent:
    support: full
    details: The report contains the time of writing, which never counts as a change.
seealso:
  - module: sparkforge.dgx_spark.cuda_proof
  - module: sparkforge.dgx_spark.fleet_report
"""

EXAMPLES = r"""
- name: Prove the environment
  sparkforge.dgx_spark.cuda_proof:
  register: proof

- name: Write the report
  sparkforge.dgx_spark.verify_report:
    directory: reports
    name: "{{ inventory_hostname }}"
    report: "{{ proof.report }}"
"""

RETURN = r"""
path:
  description: Path of the report on the controller.
  returned: success
  type: str
  sample: /home/me/sparks/reports/spark01.json
page:
  description: Path of its HTML page on the controller.
  returned: success
  type: str
  sample: /home/me/sparks/reports/spark01.html
verdict:
  description: The report's verdict, V(proven), V(unproven) or V(fail).
  returned: success
  type: str
  sample: proven
failures:
  description: The name, cause and remedy of each failed check.
  returned: success
  type: list
  elements: str
"""
