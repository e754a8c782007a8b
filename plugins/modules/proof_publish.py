#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: proof_publish
short_description: Show the last proof at login and to Prometheus
version_added: "0.1.0"
description:
  - Writes the verdict, the counts and the rates of the current environment's last proof as metrics for the textfile
    collector of Prometheus' node_exporter, and a script that prints one line at login.
  - Files from an earlier run that are no longer requested are removed. Without O(textfile) and O(motd), all of them are
    removed.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.proof.kept
  - sparkforge.dgx_spark.proof.program
  - sparkforge.dgx_spark.root
attributes:
  idempotent:
    details: Each file is rewritten with the figures of the last proof. Only a new or removed file counts as a change.
options:
  environment:
    description: The name of the environment.
    type: str
    default: torch
  textfile:
    description:
      - The directory that the textfile collector reads, which must exist. C(sparkforge.prom) is written there
        atomically.
    type: path
  motd:
    description:
      - Whether C(/etc/update-motd.d/60-sparkforge) prints a line at login.
      - The line also tells whether driver, kernel, firmware or CUDA packages have changed since the proof. For this the
        proof program is kept on the host as one file.
    type: bool
    default: false
  report_url:
    description: The URL of this host's page, for the line at login.
    type: str
seealso:
  - module: sparkforge.dgx_spark.cuda_proof
"""

EXAMPLES = r"""
- name: Show the last proof to node_exporter and at login
  sparkforge.dgx_spark.proof_publish:
    textfile: /var/lib/prometheus/node-exporter
    motd: true

- name: Remove the metrics and the line at login
  sparkforge.dgx_spark.proof_publish:
"""

RETURN = r"""
files:
  description: The files that exist.
  returned: success
  type: list
  elements: str
  sample: [/etc/update-motd.d/60-sparkforge, /var/lib/prometheus/node-exporter/sparkforge.prom]
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": program.ROOT},
            "environment": {"type": "str", "default": "torch"},
            "history": {"type": "path", "default": "/var/log/sparkforge/proof"},
            "textfile": {"type": "path"},
            "motd": {"type": "bool", "default": False},
            "report_url": {"type": "str"},
            "program": program.ARGUMENT,
        },
        supports_check_mode=True,
    )
    program.run(module, "publish", module.params["root"], keep=module.params["motd"])


if __name__ == "__main__":
    main()
