#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe a host in one read-only call."""

from __future__ import annotations

DOCUMENTATION = r"""
module: spark_info
short_description: Observe a DGX Spark in one call
version_added: "0.1.0"
description:
  - Reads, in one call that changes nothing, all facts that the roles of this collection need before they act. They
    describe the GPU, driver, CUDA toolkits, operating system, memory, file systems, apt, Python, loader and clock.
  - A failed probe gives C(null) and a row in RV(spark_info.unread); it never fails the call.
  - On GB10 the GPU shares the memory of the host, and C(nvidia-smi) reports its size as not available.
    See RV(spark_info.gpu.unified_memory).
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.root
options:
  offers:
    description:
      - Names of packages whose available versions to return in RV(spark_info.apt.offers).
      - This runs C(apt-cache policy) once. Versions that a pin blocks do not count as available.
    type: list
    elements: str
    default: []
  controller_epoch:
    description:
      - The controller's time in seconds since 1970, as in the example.
      - C(spark_info.clock.offset) requires this option.
    type: float
notes:
  - Root can read everything. An ordinary user gets the same facts except those from files that only root can read.
"""

EXAMPLES = r"""
- name: Observe the host
  sparkforge.dgx_spark.spark_info:

- name: Show the GPU
  ansible.builtin.debug:
    var: ansible_facts.spark_info.gpu

- name: Observe the host, its clock and the packages that apt offers
  sparkforge.dgx_spark.spark_info:
    controller_epoch: "{{ now(utc=true).timestamp() }}"
    offers: [libcusparselt0-dev-cuda-13, libcublas-dev-13-0]
  register: observation
"""

RETURN = r"""
spark_info:
  description: The observation, which is also in RV(ansible_facts.spark_info).
  returned: always
  type: dict
  contains:
    gpu:
      description: The GPUs that the driver reports, and the processes that use them.
      type: dict
      contains:
        present: {description: Whether the driver reports a GPU., type: bool, sample: true}
        hardware: {description: Whether the PCI bus has an NVIDIA GPU., type: bool, sample: true}
        unified_memory:
          description: Whether a GPU shares the host's memory, so that RV(spark_info.memory) applies to it.
          type: bool
          sample: true
        devices:
          description: One row per GPU. On GB10 both memory figures are C(null).
          type: list
          elements: dict
          sample:
            - index: 0
              name: NVIDIA GB10
              uuid: GPU-0f1e
              compute_capability: "12.1"
              memory_total_mib: null
              memory_used_mib: null
        processes:
          description: The processes that compute on a GPU.
          type: list
          elements: dict
          sample: [{pid: 4711, name: /usr/bin/python3, used_mib: 20480}]
    driver:
      description: The NVIDIA driver; the values are C(null) without one.
      type: dict
      sample: {version: "580.95.05", cuda_version: "13.0", open_kernel_module: true, nvidia_fs: false}
    cuda_toolkits:
      description: The CUDA toolkits in C(/usr/local), oldest first.
      type: list
      elements: dict
      sample:
        - version: "13.0.2"
          path: /usr/local/cuda-13.0
          nvcc: /usr/local/cuda-13.0/bin/nvcc
          nvcc_version: "13.0.88"
    os:
      description: The operating system; C(dgx) is C(null) on systems other than DGX OS.
      type: dict
      sample:
        id: ubuntu
        version: "24.04"
        codename: noble
        like: [debian]
        dgx: {name: NVIDIA DGX Spark, version: "7.4.0"}
    platform:
      description: The distribution with its version, and the machine; wheels are built for this combination.
      type: str
      sample: ubuntu24.04-aarch64
    kernel:
      description: The kernel, its command line and the id of this boot.
      type: dict
      sample:
        release: 6.14.0-1013-nvidia
        machine: aarch64
        cmdline: quiet
        boot_id: 6e3ad1f4-6c5b-4c0a-9d5e-0e8a51a0c2d1
    firmware:
      description: The firmware versions of the board, the GPUs and the RDMA devices, as far as files contain them.
      type: dict
      sample: {board: 5.36_0ACUM018, "GPU 000f:01:00.0": 9A.0B.25.00.00, rocep1s0f0: 28.45.4028}
    memory:
      description: The memory in MiB.
      type: dict
      sample: {total_mib: 122560, available_mib: 115200, swap_total_mib: 16383}
    disk:
      description: The file systems that store files; a size is C(null) if a file server does not respond.
      type: list
      elements: dict
      sample:
        - mount: /
          device: /dev/nvme0n1p2
          fstype: ext4
          id: "259:2"
          total_mib: 3750000
          available_mib: 3400000
    cpu:
      description: The number and the models of the processors.
      type: dict
      sample: {count: 20, models: [Cortex-X925, Cortex-A725]}
    apt_sources:
      description: Every apt source, including disabled ones. C(signed_by) is C(inline) for a key inside a source.
      type: list
      elements: dict
      sample:
        - file: /etc/apt/sources.list.d/cuda-compute-repo.sources
          enabled: true
          types: [deb]
          uris: [https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa/]
          suites: [/]
          components: []
          signed_by: /usr/share/keyrings/cuda-archive-keyring.gpg
          keyring_present: true
          keyring_sha1: false
    apt:
      description: The installed packages and the state of apt.
      type: dict
      contains:
        packages: {description: Every installed package., type: dict, sample: {bash: 5.2.21-2ubuntu4}}
        architecture: {description: The native architecture of dpkg., type: str, sample: arm64}
        broken:
          description: Packages in an incomplete state, as after an interrupted dpkg.
          type: list
          elements: dict
          sample: [{name: cups, state: half-configured}]
        held: {description: Packages on hold., type: list, elements: str, sample: [libnccl2]}
        pins:
          description: The pins in C(/etc/apt/preferences) and C(preferences.d).
          type: list
          elements: dict
          sample:
            - {file: /etc/apt/preferences.d/nvidia-dgx, package: "*", pin: release o=NVIDIA, priority: 580}
        lock_holder:
          description: The process that holds a lock of apt or dpkg, or C(null) if none does.
          type: dict
          sample: {pid: 812, command: /usr/bin/unattended-upgrade, file: /var/lib/dpkg/lock-frontend}
        offers:
          description: The available versions for each name in O(offers), newest first.
          type: dict
          sample: {libcublas-dev-13-0: [13.1.0.3-1]}
    python:
      description: The interpreters C(python3.N) in C(/usr/bin) and C(/usr/local/bin).
      type: list
      elements: dict
      sample: [{path: /usr/bin/python3.12, version: 3.12.3, headers: true, venv: true}]
    loader:
      description: The entries of C(/etc/ld.so.conf.d) and the NVIDIA libraries in the loader's cache.
      type: dict
      sample:
        entries: {/etc/ld.so.conf.d/sparkforge-cudss.conf: [/opt/sparkforge/lib]}
        libraries: {libcuda.so.1: /usr/lib/aarch64-linux-gnu/libcuda.so.1}
    clock:
      description: The clock. With O(controller_epoch), C(offset) is the host's time minus the controller's, in seconds.
      type: dict
      sample: {epoch: 1780000000.123, synchronized: true, offset: 0.8}
    managed_files:
      description: The sha256 of each file in C(/etc) and of each CA certificate whose name starts with sparkforge.
      type: dict
      sample:
        /etc/ld.so.conf.d/sparkforge-cudss.conf: 9f86d081…
    environments:
      description:
        - For each name, the current environment with the facts recorded about its stack and its PyTorch, and the host
          packages from which it loads libraries.
      type: dict
      sample:
        torch:
          current: 5d41402abc4b
          stack: {name: torch-2.14.1, lock_id: 1f0c6f3b2a91, method: build}
          torch: 2.14.1+cu130.sf3b1c9a40
          host_packages: {libnccl2: 2.28.3-1+cuda13.0}
    unread:
      description: Facts that exist but could not be read, with the reason.
      type: list
      elements: dict
      sample: [{probe: nvidia-smi --query-gpu, reason: Unable to determine the device handle}]
ansible_facts:
  description: RV(spark_info) as a fact, for the roles in the same play.
  returned: always
  type: dict
  contains:
    spark_info: {description: As RV(spark_info)., type: dict, sample: {}}
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._host.observation import SparkInfo
from ..module_utils._host.reader import of_module


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "offers": {"type": "list", "elements": "str", "default": []},
            "controller_epoch": {"type": "float"},
            "root": {"type": "path", "default": "/opt/sparkforge"},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        observation = SparkInfo(
            of_module(module),
            offers=module.params["offers"],
            controller_epoch=module.params["controller_epoch"],
            root=module.params["root"],
        ).observe()
        return {"changed": False, "spark_info": observation, "ansible_facts": {"spark_info": observation}}

    modules.run(module, work)


if __name__ == "__main__":
    main()
