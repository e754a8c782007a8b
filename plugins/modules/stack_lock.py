#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_lock
short_description: Resolve a stack into its lock
version_added: "0.1.0"
description:
  - Resolves a stack with NVIDIA's redist manifests, the Python package index and the sources' repositories, and writes
    the result to C(<inventory>/locks/<name>.yml).
  - If the stack names no reference for a source, the commit is read from the tree of the source that pins it; PyTorch
    pins Triton, and Triton pins LLVM. The lock records the file and the commit from which it was read.
  - uv resolves the dependencies of wheels and the build requirements of units for the stack's Python and machines, not
    for the controller.
  - A sha256 that the stack itself pins is never changed. A manifest with another sha256 fails the task.
  - This action plugin runs on the controller only and connects to no host.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.stacks
  - sparkforge.dgx_spark.stacks.upstream
  - sparkforge.dgx_spark.stacks.index
options:
  parts:
    description:
      - The parts to resolve. Other parts are taken from the inventory's lock, or else from the shipped lock.
      - If the upstream of a part cannot be reached, the task fails.
    type: list
    elements: str
    choices: [archives, wheels, sources, requirements]
    default: [archives, wheels, sources, requirements]
  directory:
    description: The directory for the lock, by default C(locks/) next to the inventory.
    type: path
  uv:
    description:
      - The command that runs uv 0.13 or newer on the controller; by default, uv from Ansible's own Python, else the
        first uv in E(PATH).
    type: list
    elements: str
attributes:
  idempotent:
    support: full
    details: If upstream has not changed, nothing changes, not even the date in the lock.
"""

EXAMPLES = r"""
- name: Resolve a stack
  sparkforge.dgx_spark.stack_lock:
    name: torch-2.15.0

- name: Show upstream changes without writing the lock
  sparkforge.dgx_spark.stack_lock:
    name: torch-2.9.1
    parts: [sources]
  check_mode: true
"""

RETURN = r"""
path:
  description: The lock's file on the controller.
  returned: success
  type: str
  sample: /site/inventory/locks/torch-2.15.0.yml
moved:
  description: One sentence for each changed pin.
  returned: success
  type: list
  elements: str
  sample: ["wheels cp312-linux-aarch64 filelock: 4.2.10 -> 4.2.11"]
notes:
  description: The parts that were left unchanged, each with the reason.
  returned: success
  type: list
  elements: str
  sample: ["sources kept: not among the parts asked for"]
lock:
  description: The lock's content.
  returned: success
  type: dict
  sample:
    format: 1
    stack: torch-2.15.0
    resolved: "2026-11-20"
    archives: {}
    wheels: {cp312-linux-aarch64: ["torch==2.15.0 --hash=sha256:9e51cf94…"]}
    sources:
      triton:
        url: https://github.com/triton-lang/triton.git
        ref: null
        commit: bfeb066872bc1e8b2d2bc0a3b295b99dd77206e7
        pinned_by:
          source: pytorch
          commit: 5811a8d7da873dd699ff6687092c225caffcf1bb
          file: .ci/docker/ci_commit_pins/triton.txt
    build_requirements: {cp312-linux-aarch64: {triton: ["cmake==3.31.10 --hash=sha256:0d1f8d8b…"]}}
    run_requirements: {cp312-linux-aarch64: {pytorch: ["filelock==4.2.11 --hash=sha256:020e229e…"]}}
"""
