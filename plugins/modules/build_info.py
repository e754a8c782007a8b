#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: build_info
short_description: Read the receipts of built units and the progress of running builds
version_added: "0.1.0"
description:
  - Reads every receipt in C(<root>/receipts/units) and the state of every unfinished build.
  - A receipt that was changed after it was written is skipped and listed.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.root
options:
  name:
    description: The unit to report; by default all units.
    type: str
seealso:
  - module: sparkforge.dgx_spark.source_build
"""

EXAMPLES = r"""
- name: Check a build that was started with follow set to false
  sparkforge.dgx_spark.build_info:
    name: pytorch
  register: builds

- name: Print its progress
  ansible.builtin.debug:
    msg: "{{ builds.running | map(attribute='line') | list }}"
"""

RETURN = r"""
receipts:
  description: The receipts, newest first.
  type: list
  elements: dict
  returned: success
  sample:
    - name: triton
      fingerprint: 4b5c1f0e9a37d286
      platform: ubuntu24.04-aarch64
      finished: "2026-11-21T10:00:00Z"
running:
  description: The running builds, each with its state and a human-readable C(line).
  type: list
  elements: dict
  returned: success
  sample:
    - name: pytorch
      fingerprint: 0f3a56be12c4d789
      line: "pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, about 0:29 left | 9 jobs, 41 GiB free"
unfinished:
  description: The stopped builds without an artefact, with their state and, if they failed, the error.
  type: list
  elements: dict
  returned: success
changed_receipts:
  description: Receipts that were changed after they were written; they cannot be trusted.
  type: list
  elements: str
  returned: success
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._unit import progress, receipt


def main() -> None:
    module = AnsibleModule(
        argument_spec={"root": {"type": "path", "default": "/opt/sparkforge"}, "name": {"type": "str"}},
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        receipts = receipt.observe_all(module.params["root"], module.params["name"])
        running = [{**build, "line": progress.describe(build["state"])} for build in receipts["running"]]
        return {"changed": False, **receipts, "running": running}

    modules.run(module, work)


if __name__ == "__main__":
    main()
