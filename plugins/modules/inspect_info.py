#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: inspect_info
short_description: Tell whether packages will run on a GPU of a given compute capability, without using a GPU
version_added: "0.1.0"
description:
  - Reads the files of a requirement, a wheel, a virtual environment or an image's file system. It runs, imports and
    builds nothing.
  - uv resolves a requirement, and the requirements of a wheel, for O(machine) and O(python). The wheels are fetched by
    sha256, read and removed; the findings are stored in O(cache).
  - Checks machine code, bare cubins and PTX against O(capability), and looks for CPU builds, wheels for another
    machine, source-only packages, conflicting CUDA versions, and libraries that no package provides.
  - Compares packages with each other and with the host, including symbols that one package needs from another, versions
    of libc's and libstdc++'s symbols (from the inspected file system, else from Ubuntu 24.04), requirements, packages
    that must have the same release, and the CUDA versions of ptxas, nvcc and NVRTC. Finds GPU kernels that may only
    print a list of supported GPUs instead of computing.
  - V(yes) means that nothing in the inspected files prevents the packages from running; C(not_looked_at) lists the
    rest. Only M(sparkforge.dgx_spark.cuda_proof) shows whether the numbers are right.
  - Requirements and wheels are inspected on the controller, directories on the host.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.proof.program
  - sparkforge.dgx_spark.stacks.index
attributes:
  platform:
    support: full
    platforms: all
options:
  target:
    description:
      - A requirement (V(vllm==0.33.0)); several, one per line, are resolved together. The lines may have the format of
        a requirements file, including V(-r), V(-c), V(--extra-index-url) and V(--find-links), with files on the
        controller.
      - Or the path or the URL of a wheel, which ends in V(.whl).
      - Or the path of a library or another ELF file on the controller, which begins with V(/), V(./) or V(~).
      - Requirements that name a source repository, a directory or an archive are listed as not looked at.
      - Or the absolute path of a directory on the host, either a virtual environment or the root of a file system with
        environments in it, for example V(/) for the host's own. For an unpacked image, C(NVIDIA_REQUIRE_CUDA) is read
        from a C(config.json) next to the directory or in it.
    type: str
    required: true
  machine:
    description: The machine on which the packages should run.
    type: str
    choices: [aarch64, x86_64]
    default: aarch64
  capability:
    description: The compute capability of the GPU.
    type: str
    default: "12.1"
  cuda:
    description: The driver's CUDA version; the driver cannot compile PTX from newer versions.
    type: str
    default: "13.0"
  python:
    description: The Python version for which wheels are resolved.
    type: str
    default: "3.12"
  uv:
    description:
      - The command that runs uv on the controller; by default, uv from Ansible's own Python, else the first uv in
        E(PATH).
    type: list
    elements: str
  cache:
    description: The directory on the controller for cached findings, by wheel sha256.
    type: path
    default: ~/.cache/sparkforge/inspect
seealso:
  - module: sparkforge.dgx_spark.elf_closure_info
  - module: sparkforge.dgx_spark.cuda_proof
"""

EXAMPLES = r"""
- name: Check whether vLLM will run on a Spark
  sparkforge.dgx_spark.inspect_info:
    target: vllm
  register: inspected

- name: Check an existing environment
  sparkforge.dgx_spark.inspect_info:
    target: /home/ada/venv
  register: inspected
  failed_when: inspected.verdict == 'no'
"""

RETURN = r"""
verdict:
  description:
    - V(yes) if nothing prevents the packages from running, V(perhaps) if something might, V(no) if they cannot run.
  returned: success
  type: str
  sample: perhaps
summary:
  description: The verdict as a sentence.
  returned: success
  type: str
  sample: Nothing in the files of 31 packages speaks against aarch64 with a GPU of 12.1.
findings:
  description: The problems found, and notes.
  returned: success
  type: list
  elements: dict
  contains:
    package:
      description: The package.
      type: str
      sample: bitsandbytes
    level:
      description: V(no), V(perhaps) or V(note); a V(note) does not affect the verdict.
      type: str
      sample: "no"
    kind:
      description:
        - V(platform), V(machine), V(sdist), V(python), V(older), V(unresolved), V(version), V(marker), V(source),
          V(empty), V(damaged), V(cpu_only), V(gpu_code), V(ptx), V(attention_guard), V(guard), V(soname), V(symbol),
          V(host), V(sisters), V(cuda), V(compiler), V(compiles) or V(image).
      type: str
      sample: machine
    what:
      description: The finding as a sentence.
      type: str
      sample: its libraries are for x86_64.
packages:
  description: Each package with its name, version, GPU code, number of libraries, verdict and whether it was requested.
  returned: success
  type: list
  elements: dict
  sample:
    - {name: torch, version: 2.13.0, gpu_code: "8.0, 9.0, 10.0, 11.0, 12.0", libraries: 11, verdict: "yes", asked: true}
not_looked_at:
  description: Questions that the answer does not cover.
  returned: success
  type: list
  elements: str
  sample: ["Python code, and the files that it opens, downloads or compiles when it runs"]
table:
  description: The relevant packages as a Markdown table, followed by the verdict.
  returned: success
  type: str
  sample: "| package | version | GPU code | runs | why |"
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "target": {"type": "str", "required": True},
            "machine": {"type": "str", "choices": ["aarch64", "x86_64"], "default": "aarch64"},
            "capability": {"type": "str", "default": "12.1"},
            "cuda": {"type": "str", "default": "13.0"},
            "python": {"type": "str", "default": "3.12"},
            # The following options are only for the controller.
            "index_url": {"type": "str"},
            "find_links": {"type": "list", "elements": "str", "default": []},
            "uv": {"type": "list", "elements": "str"},
            "cache": {"type": "path", "default": "~/.cache/sparkforge/inspect"},
            "proxies": {"type": "dict", "default": {}},
            "ca_certificate": {"type": "str", "default": ""},
            "program": program.ARGUMENT,
        },
        supports_check_mode=True,
    )
    program.run(module, "inspect", program.ROOT, keep=False)


if __name__ == "__main__":
    main()
