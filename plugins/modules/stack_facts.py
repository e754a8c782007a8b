#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_facts
short_description: Turn a stack's name into facts
version_added: "0.1.0"
description:
  - Finds a stack, its lock and the host profile on the controller, validates all three and returns them as the
    fact C(stack).
  - This action plugin runs on the controller only and connects to no host.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.stacks
options:
  method:
    description:
      - The way to install PyTorch. V(build) builds it from source, V(wheel) installs official wheels.
      - A stack that does not support the method, or whose lock lacks something that the method needs, is refused.
    type: str
    choices: [wheel, build]
    default: build
  profile:
    description: The kind of host, V(gb10), V(thor), V(generic) or a profile that the stack defines.
    type: str
    default: gb10
  libraries:
    description:
      - The NVIDIA libraries and compilers to install. V(auto) installs all for a stack that is built, and
        otherwise only those that official wheels lack.
      - V(all) always installs all.
    type: str
    choices: [auto, all]
    default: auto
  lock_required:
    description:
      - Whether to refuse a stack whose lock lacks something that the method needs.
      - If false, a unit whose commit is unknown has C(null) as its source, which is enough for an uninstallation.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Turn the stack's name into facts
  sparkforge.dgx_spark.stack_facts:
    name: torch-2.15.0

- name: Resolve the stack for another kind of host
  sparkforge.dgx_spark.stack_facts:
    name: torch-2.15.0
    method: wheel
    profile: generic
  register: resolved
"""

RETURN = r"""
stack:
  description: The stack, which the role stores in the variable C(stack).
  returned: success
  type: dict
  sample:
    name: torch-2.9.1
    method: build
    libraries: all
    description: PyTorch 2.9.1 with Triton 3.5.1, built from source for the GB10 on a host with CUDA 13.0.
    profile:
      name: gb10
      description: NVIDIA DGX Spark and its sisters
      compute_capability: "12.1"
      architectures: "12.0"
      unified_memory: true
      memory_minimum_mib: 112640
      driver_minimum: null
    cuda: {version: "13.0", major: 13, suffix: 13-0, home: /usr/local/cuda-13.0}
    driver_minimum: "580.65.06"
    systems: [{id: ubuntu, version: "24.04"}]
    machines: [aarch64, x86_64]
    python: {version: "3.12", minimum: "3.10", maximum: "3.14"}
    llvm_major: 20
    versions: {torch: "2.9.1", triton: "3.5.1", torchvision: "0.24.1", torchaudio: "2.9.1"}
    wheel: {cuda: null, without: {}, override: []}
    cusparselt:
      version: "0.8.1"
      soname: libcusparseLt.so.0
      archive:
        product: cusparselt
        component: libcusparse_lt
        release: "0.8.1"
        version: "0.8.1.1"
        variant: cuda13
    cudnn: {version: "9.13"}
    nccl: {version: "2.27.7"}
    archives:
      - product: cudss
        component: libcudss
        release: "0.7.0"
        version: "0.7.0.20"
        variant: cuda13
        soname: libcudss.so.0
        sha256: {linux-sbsa: f915eb581ab965d0baa74cd1e529086fce00e9d14d9366da4480b5ef7fabb8a6}
    units:
      triton:
        optional: false
        source:
          repo: https://github.com/triton-lang/triton.git
          version: bfeb066872bc1e8b2d2bc0a3b295b99dd77206e7
          submodules: true
        patches: []
        requirements: {cp312-linux-aarch64: ["cmake==3.31.10 --hash=sha256:0d1f8d8b…"]}
    extensions: [torchvision, torchaudio]
    activation: {TRITON_PTXAS_PATH: /usr/local/cuda-13.0/bin/ptxas}
    lock:
      id: 0123456789ab
      wheels: {}
      sources: {}
      run_requirements: {cp312-linux-aarch64: {pytorch: ["filelock==4.2.11 --hash=sha256:020e229e…"]}}
files:
  description: The files on the controller from which the stack was read.
  returned: success
  type: dict
  sample: {stack: /site/stacks/torch-2.9.1.yml, lock: /site/locks/torch-2.9.1.yml}
"""
