#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cuda_proof
short_description: Prove that a PyTorch environment computes right numbers
version_added: "0.1.0"
description:
  - Runs checks in the environment's own interpreter, in child processes with a time limit each, so that a crash, a
    hang or a C(FATAL) printed by a kernel is a result and does not stop the run.
  - Each numeric check compares its result with float64 on the CPU, within a bound derived from the number format and
    the length of the sums, in the forward direction and, if the operation has a gradient, in the backward direction.
  - Also inspects the host's GPU, driver and library dependencies.
  - Its findings never fail the task. Evaluate RV(report), or use the role P(sparkforge.dgx_spark.verify#role).
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.proof
  - sparkforge.dgx_spark.proof.program
attributes:
  check_mode:
    support: full
    details: Inspects the host but computes nothing; checks that compute are skipped with that reason.
  diff_mode:
    support: N/A
    details: It only changes its own history; the report's C(drift) lists the differences from the last run.
  idempotent:
    support: full
    details: The history is a log, and writing to it is never counted as a change.
options:
  history:
    description: The directory of the reports on the host; by default none are stored.
    type: path
  require:
    description: The verdict that a staged environment needs before it may replace a proven one, for RV(hindrance).
    type: str
    choices: [proven, unproven]
    default: proven
seealso:
  - module: sparkforge.dgx_spark.verify_report
"""

EXAMPLES = r"""
- name: Compare attention with float64
  sparkforge.dgx_spark.cuda_proof:
    python: /opt/sparkforge/envs/torch/current/bin/python
    checks: ["attention.*"]
    user: nobody
  register: proof

- name: Report the failures
  ansible.builtin.debug:
    msg: "{{ item.cause }} {{ item.remedy }}"
  loop: "{{ proof.report.checks | selectattr('status', 'eq', 'fail') }}"
  loop_control:
    label: "{{ item.name }}"
"""

RETURN = r"""
report:
  description: The report in the format of C(docs/report.schema.json), without the name of the host.
  returned: success
  type: dict
  contains:
    verdict:
      description:
        - V(fail) if a check failed. V(unproven) if no number was computed, a check that the profile requires was not
          selected, or a required family has no number that counts. The required families are those of the required
          checks, and all of torch's if no checks are selected. Otherwise V(proven), with or without warnings.
      type: str
      sample: proven
    scope:
      description: The device that computed numbers correctly, V(gpu), V(cpu) or V(none).
      type: str
      sample: gpu
    summary:
      description: The numbers of checks that passed, warned, failed and were skipped.
      type: dict
      sample: {pass: 60, warn: 1, fail: 0, skip: 9}
    checks:
      description: Each check with C(status), C(measured), C(bound), C(cause), C(remedy), C(seconds) and more.
      type: list
      elements: dict
      sample:
        - name: matmul.bfloat16
          family: matmul
          status: pass
          measured: 0.49 of the bound at worst (1024 x 1024 x 1024), 9 cases
          bound: at most the error that rounding explains, against float64
          cause: ""
          remedy: ""
          ratio: 0.49
          seconds: 0.412
          required: true
          numeric: true
          blocked: false
          reason: ""
          accepted: false
          evidence: measured on NVIDIA H200 (9.0), 2026-11-24, torch 2.11.0+cu130
          rates: {}
    drift:
      description: Differences from the last report in O(history).
      type: dict
      sample: {since: "2026-11-20T10:00:00Z", changes: [{what: driver, before: 580.95.05, now: 580.126.09}]}
  sample: {verdict: proven, scope: gpu, summary: {pass: 60, warn: 1, fail: 0, skip: 9}}
current:
  description: Whether the proven environment is the current one, and not a staged one.
  returned: success
  type: bool
  sample: true
hindrance:
  description:
    - The reason why the staged environment must not become the current one; empty if it may. A wrong number prevents
      it, unless numbers are wrong only on the CPU and right on the GPU. Apart from that, a host without an environment
      accepts it, and a proven environment is replaced only by a proven one.
  returned: success
  type: str
  sample: "wrong numbers: attention.efficient"
scheduled:
  description: Whether the timer of the role P(sparkforge.dgx_spark.verify#role) is on this host.
  returned: success
  type: bool
  sample: false
program:
  description: The path on the host of the program that this module runs.
  returned: success
  type: str
  sample: /opt/sparkforge/proof/5d41402abc4b2a76b9719d911017c592e3b0c44298fc1c149afbf4c8996fb924.pyz
published:
  description: Whether this host publishes anything with M(sparkforge.dgx_spark.proof_publish).
  returned: success
  type: bool
  sample: false
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "python": {"type": "path"},
            "checks": {"type": "list", "elements": "str", "default": ["*"]},
            "profile": {"type": "dict", "default": {}},
            "reference": {"type": "dict", "default": {}},
            "limits": {"type": "dict", "default": {}},
            "gpu_required": {"type": "bool", "default": True},
            "user": {"type": "str"},
            "accept": {"type": "list", "elements": "str", "default": []},
            "history": {"type": "path"},
            "require": {"type": "str", "choices": ["proven", "unproven"], "default": "proven"},
            "program": program.ARGUMENT,
        },
        supports_check_mode=True,
    )
    program.run(module, "prove", (module.params["reference"] or {}).get("root") or program.ROOT)


if __name__ == "__main__":
    main()
