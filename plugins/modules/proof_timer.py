#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: proof_timer
short_description: Make a host repeat its proof by itself
version_added: "0.1.0"
description:
  - Writes the program of M(sparkforge.dgx_spark.cuda_proof) and its settings into C(proof) below O(root), and installs
    systemd timers that run it by a calendar, five minutes after a boot, and after dpkg has changed packages.
  - The latter two compute only if the kernel, the driver or a CUDA package differs from the last report.
  - Reports are written to O(history) like those of M(sparkforge.dgx_spark.cuda_proof), and failures to the journal; if
    a proof fails, its unit is in the state failed.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.proof
  - sparkforge.dgx_spark.proof.kept
  - sparkforge.dgx_spark.proof.program
  - sparkforge.dgx_spark.root
options:
  state:
    description: Whether the timers are installed.
    type: str
    choices: [present, absent]
    default: present
  calendar:
    description: When to run, in the C(OnCalendar) format of systemd.time(7), with O(state=present).
    type: str
  publish:
    description:
      - Options of M(sparkforge.dgx_spark.proof_publish), to publish after each run. If empty, nothing is published.
    type: dict
    default: {}
seealso:
  - module: sparkforge.dgx_spark.cuda_proof
author:
  - The sparkforge maintainers (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Prove the environment every Sunday night, and after updates
  sparkforge.dgx_spark.proof_timer:
    calendar: Sun 03:00
    user: nobody
    reference:
      root: /opt/sparkforge
      environment: torch

- name: No longer
  sparkforge.dgx_spark.proof_timer:
    state: absent
"""

RETURN = r"""
files:
  description: The files that belong to it.
  returned: success
  type: list
  elements: str
  sample: [/etc/systemd/system/sparkforge-proof.timer, /opt/sparkforge/proof/settings.json]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            **program.PROOF,
            "root": {"type": "path", "default": program.ROOT},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "calendar": {"type": "str"},
            "history": {"type": "path", "default": "/var/log/sparkforge/proof"},
            "publish": {"type": "dict", "default": {}},
            "program": program.ARGUMENT,
        },
        required_if=[("state", "present", ["calendar"])],
        supports_check_mode=True,
    )
    program.run(module, "schedule", module.params["root"], keep=module.params["state"] == "present")


if __name__ == "__main__":
    main()
