#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_status
short_description: Read what a host has of its stack
version_added: "0.1.0"
description:
  - Returns the environments of a name (current, previous, staged), the units that were built, the builds that run, and
    the last proof that the host kept, in one call.
  - With O(wanted) it also returns what M(sparkforge.dgx_spark.python_env) would do, by that module's own plan.
  - Receipts, links and directories are read. Nothing is imported, and no GPU is asked.
  - An action plugin of this name adds the sha256 of wheels on the controller.
  - A host on which nothing was installed yet has empty lists. A damaged receipt vouches for nothing and counts as none.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
options:
  root:
    description: The collection's root directory.
    type: path
    default: /opt/sparkforge
  name:
    description: Name of the environment.
    type: str
    default: torch
  history:
    description:
      - Where M(sparkforge.dgx_spark.cuda_proof) keeps its reports on the host. Empty, the proof is not looked for.
    type: path
    default: /var/log/sparkforge/proof
  wanted:
    description:
      - Options of M(sparkforge.dgx_spark.python_env), without O(name) and O(root), that say what the environment is
        to be.
      - Wheels that have a C(sha256) there need not be on the controller.
    type: dict
  units:
    description:
      - Units whose receipts are on another host, each with C(name), C(fingerprint) and C(wheels), a list of mappings
        with C(sha256), as the manifest of a wheelhouse has them.
      - An environment is known by them to be made of a unit that this host did not build.
    type: list
    elements: dict
    default: []
  sizes:
    description: Whether to add up the bytes of each environment and artefact, which reads every directory in them.
    type: bool
    default: false
seealso:
  - module: sparkforge.dgx_spark.build_info
  - module: sparkforge.dgx_spark.fleet_status
  - module: sparkforge.dgx_spark.python_env
author: The sparkforge maintainers (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Read what is there
  sparkforge.dgx_spark.stack_status:
  become: true
  register: there

- name: Show which environment is current, and what the last proof said
  ansible.builtin.debug:
    msg: "{{ there.current }}, {{ there.proof.verdict | default('never proven') }}"

- name: Read what is there, and whether the environment is the one of the lock
  sparkforge.dgx_spark.stack_status:
    wanted:
      python: /usr/bin/python3.12
      requirements: "{{ stack.lock.wheels['cp312-linux-aarch64'] }}"
      imports: [torch]
  become: true
"""

RETURN = r"""
now:
  description: The host's clock, in seconds since 1970.
  type: int
  returned: success
  sample: 1795255200
name:
  description: Name of the environment.
  type: str
  returned: success
  sample: torch
current:
  description: Id of the environment that is in use; null where there is none.
  type: str
  returned: success
  sample: 5d41402abc4b
previous:
  description: Id of the environment that a rollback leads to; null where there is none.
  type: str
  returned: success
  sample: null
staged:
  description: Id of the environment that was made and not switched to yet; null where there is none.
  type: str
  returned: success
  sample: null
environments:
  description:
    - The environments that are whole, first the current one. C(state) is V(current), V(staged), V(previous) or
      V(older).
    - C(missing) has what an environment lacks of what its receipt vouches for. C(units) has the fingerprint of each
      unit that it was made from, as far as receipts or O(units) tell.
  type: list
  elements: dict
  returned: success
  sample:
    - environment_id: 5d41402abc4b
      state: current
      installed: "2026-11-21T10:00:00Z"
      python: "3.12"
      packages: {torch: 2.9.1+cu130.sf4b5c1f0e}
      missing: []
      units: {pytorch: 4b5c1f0e9a37d286}
units:
  description: The receipts of what was built here, in short, the newest first.
  type: list
  elements: dict
  returned: success
  sample:
    - name: pytorch
      fingerprint: 4b5c1f0e9a37d286
      platform: ubuntu24.04-aarch64
      finished: "2026-11-21T09:30:00Z"
      host: spark01
      source: {commit: 5811a8d7da873dd699ff6687092c225caffcf1bb}
      wheels: [{name: torch, version: 2.9.1+cu130.sf4b5c1f0e, sha256: 5c2f…}]
running:
  description: The builds that run, each with a C(line) that a person can read.
  type: list
  elements: dict
  returned: success
  sample:
    - name: pytorch
      fingerprint: 0f3a56be12c4d789
      line: "pytorch | build 4231/6231 (68 %) | 1:02:11 elapsed, about 0:29 left | 9 jobs, 41 GiB free"
unfinished:
  description:
    - The builds that do not run and have no artefact, with the C(phase) they were in and the C(cause) of a failure.
  type: list
  elements: dict
  returned: success
  sample: []
changed_receipts:
  description: Receipts of units that were changed after they were written; they vouch for nothing.
  type: list
  elements: str
  returned: success
  sample: []
proof:
  description:
    - The last report that the host kept on the current environment, in short; the last of all where none is on it, and
      null where there is none.
  type: dict
  returned: success
  sample:
    verdict: proven
    scope: gpu
    started: "2026-11-21T10:05:00Z"
    stack: torch-2.9.1
    lock: c1b8cad4e018
    environment_id: 5d41402abc4b
    summary: {pass: 80, fail: 0, skip: 2}
    driver: 580.95.05
    kernel: 6.11.0-1016-nvidia
    packages: {libcublas-13-0: 13.1.0.3-1}
    failed: []
    accepted: []
    drift: {since: null, changes: []}
staged_proof:
  description: The last report on the staged environment, as RV(proof); null where it was not proven since.
  type: dict
  returned: success
  sample: null
scheduled:
  description: Whether the host repeats the proof by itself (M(sparkforge.dgx_spark.proof_timer)).
  type: bool
  returned: success
  sample: false
stopped:
  description:
    - Why each model server is off that systemd gave up (P(sparkforge.dgx_spark.serving#role)), and each unit that the
      guard keeps off (M(sparkforge.dgx_spark.guard)).
  type: list
  elements: str
  returned: success
  sample: []
held:
  description: The packages that C(sparkforge update) holds, each with the rule of its ledger.
  type: list
  elements: str
  returned: success
  sample: [libcudnn9-cuda-13 (cudnn-driver)]
plan:
  description:
    - What M(sparkforge.dgx_spark.python_env) would do with O(wanted); null without it.
    - C(environment_id) is the environment that would be current, null where that follows from what is not there yet.
      C(actions) is empty where nothing would change. C(cause) and C(remedy) say why the module would fail, null where
      it would not.
  type: dict
  returned: success
  sample: {environment_id: 5d41402abc4b, actions: [install, switch, files], removed: [], cause: null, remedy: null}
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._environment import status


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "name": {"type": "str", "default": "torch"},
            "history": {"type": "path", "default": "/var/log/sparkforge/proof"},
            "wanted": {"type": "dict"},
            "units": {"type": "list", "elements": "dict", "default": []},
            "sizes": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        return {"changed": False, **status.StackStatus(module.params, module.run_command).observe()}

    modules.run(module, work)


if __name__ == "__main__":
    main()
