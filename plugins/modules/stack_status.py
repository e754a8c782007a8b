#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_status
short_description: Read the state of a host's environments, builds and last proof
version_added: "0.1.0"
description:
  - Returns, in one call, the host's environments of one name (current, previous, staged), the running builds, and the
    last proof stored on the host.
  - With O(wanted) it also returns the changes that M(sparkforge.dgx_spark.python_env) would make, according to that
    module's own plan.
  - It reads receipts, links and directories. It imports nothing and uses no GPU.
  - An action plugin with this name adds the sha256 of wheels on the controller, and compares the proof with the
    observation of M(sparkforge.dgx_spark.spark_info).
  - A host without any installation gives empty lists. A damaged receipt counts as missing.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.root
options:
  name:
    description: Name of the environment.
    type: str
    default: torch
  history:
    description:
      - The host's directory with the reports of M(sparkforge.dgx_spark.cuda_proof). If empty, no proof is read.
    type: path
    default: /var/log/sparkforge/proof
  wanted:
    description:
      - Options of M(sparkforge.dgx_spark.python_env), without O(name) and O(root), that describe the requested
        environment.
      - Wheels that have a C(sha256) there need not exist on the controller.
    type: dict
seealso:
  - module: sparkforge.dgx_spark.build_info
  - module: sparkforge.dgx_spark.fleet_status
  - module: sparkforge.dgx_spark.python_env
"""

EXAMPLES = r"""
- name: Read the host's environments
  sparkforge.dgx_spark.stack_status:
  become: true
  register: installation

- name: Show the current environment and the verdict of the last proof
  ansible.builtin.debug:
    msg: "{{ installation.current }}, {{ installation.proof.verdict | default('never proven') }}"

- name: Read the host's environments, and compare them with the lock
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
  description: Id of the environment in use; null if there is none.
  type: str
  returned: success
  sample: 5d41402abc4b
previous:
  description: Id of the environment that a rollback would activate; null if there is none.
  type: str
  returned: success
staged:
  description: Id of the environment that is created but not activated yet; null if there is none.
  type: str
  returned: success
environments:
  description:
    - The complete environments, the current one first. C(state) is V(current), V(staged), V(previous) or V(older).
    - C(stack) is the stack that it was created from, and C(missing) lists the files in its receipt that no longer
      exist.
  type: list
  elements: dict
  returned: success
  sample:
    - environment_id: 5d41402abc4b
      state: current
      installed: "2026-11-21T10:00:00Z"
      python: "3.12"
      packages: {torch: 2.9.1+cu130.sf4b5c1f0e}
      stack: {name: torch-2.9.1, method: build, lock_id: c1b8cad4e018}
      missing: []
running:
  description: The running builds, as returned by M(sparkforge.dgx_spark.build_info), without their state.
  type: list
  elements: dict
  returned: success
unfinished:
  description: The stopped builds without an artefact, with their last C(phase) and the C(cause) of a failure.
  type: list
  elements: dict
  returned: success
changed_receipts:
  description: As returned by M(sparkforge.dgx_spark.build_info).
  type: list
  elements: str
  returned: success
proof:
  description:
    - The last stored report on the current environment, shortened; if there is none, the last report on any
      environment, or null.
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
changed_since_proof:
  description:
    - Changes of the driver, the kernel, the firmware and the CUDA packages since RV(proof). Empty without a proof or
      an observation.
  type: list
  elements: dict
  returned: success
  sample: [{what: driver, before: 580.95.05, now: 580.159.04}]
firmware:
  description:
    - The observed firmware versions of the board, of each GPU and of each RDMA device. If a version has changed,
      RV(changed_since_proof) has its value in the last proof.
  type: dict
  returned: success
  sample: {board: 5.36_0ACUM027, rocep1s0f0: 28.45.4028}
staged_proof:
  description: The last report on the staged environment, in the format of RV(proof); null if it has not been proven.
  type: dict
  returned: success
scheduled:
  description: Whether the host repeats the proof by itself (P(sparkforge.dgx_spark.verify#role), C(verify_schedule)).
  type: bool
  returned: success
  sample: false
stopped:
  description:
    - The reasons why systemd no longer restarts a model server (P(sparkforge.dgx_spark.serving#role)), and why the
      guard stopped a unit (M(sparkforge.dgx_spark.guard)).
  type: list
  elements: str
  returned: success
plan:
  description:
    - The changes that M(sparkforge.dgx_spark.python_env) would make with O(wanted); null without it.
    - C(environment_id) is the environment that would be current, or null if something is missing on which that depends.
      C(actions) is empty if nothing would change. C(cause) and C(remedy) explain why the module would fail, and are
      null if it would succeed.
  type: dict
  returned: success
  sample: {environment_id: 5d41402abc4b, actions: [install, switch, files], removed: [], cause: null, remedy: null}
"""

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
        },
        supports_check_mode=True,
    )
    modules.run(module, lambda: {"changed": False, **status.StackStatus(module.params, module.run_command).observe()})


if __name__ == "__main__":
    main()
