#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_mirror
short_description: Collect what a stack needs into a directory
version_added: "0.1.0"
description:
  - Brings NVIDIA's archives, the wheels and the sources that a stack's lock pins into one directory, for hosts that
    have no route to where they are from. Repositories come with all their submodules.
  - What is there already and is what the lock says is not fetched again, so that what was interrupted goes on. Another
    stack may be collected into the same directory.
  - The directory is served as it is by any server of files, or lies on the hosts.
  - Packages of apt are collected as a part of each repository with its own signed indexes, given O(apt_snapshot).
  - This action plugin runs on the controller only and connects to no host.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.stacks
  - sparkforge.dgx_spark.stacks.upstream
author: The sparkforge maintainers (!UNKNOWN)
options:
  method:
    description:
      - V(wheel) collects the wheels of the stack. V(build) collects the sources of its units, and the wheels that they
        are built with and need at run time.
    type: str
    choices: [wheel, build]
    default: build
  libraries:
    description: Whether the archives of NVIDIA's libraries are collected for V(wheel) too (V(all)).
    type: str
    choices: [auto, all]
    default: auto
  meanwhile:
    description:
      - A stack whose wheels are collected too where O(method) is V(build), which hosts have until theirs is built.
    type: str
    default: ""
  directory:
    description: What everything is collected into. It is made where it is missing.
    type: path
    required: true
  url:
    description: What the hosts reach the directory under. By default V(file://) and the directory.
    type: str
  machines:
    description: What the kernels of the hosts name their machines.
    type: list
    elements: str
    default: [aarch64]
  extensions:
    description:
      - The units that are built beside LLVM, Triton and PyTorch, by default those of the stack that are not optional.
    type: list
    elements: str
  index_url:
    description:
      - The package index. Not given, it is the one that uv's environment names, else the one that the pip of Ansible's
        own Python is configured for.
      - Empty or V(none) asks no index, so that O(find_links) alone answers.
    type: str
  rewrite:
    description:
      - The beginning of a URL and what stands in its place, where the controller itself reaches repositories, their
        submodules and archives of sources through a mirror.
    type: dict
    default: {}
  apt_snapshot:
    description:
      - An archive of a host as the hosts will be, with its apt sources, keyrings and dpkg's status, by which packages
        of apt are collected. Without it none are.
      - C(tar -chC / --exclude=auth.conf* etc/apt usr/share/keyrings var/lib/dpkg/status) writes it there.
    type: path
  apt_packages:
    description:
      - The packages that such a host gets, as M(sparkforge.dgx_spark.apt_packages) takes them. Those of cuSPARSELt are
        added where a source has them.
    type: list
    elements: str
    default: []
  apt_distribution:
    description: The folder of NVIDIA's repository for the host, below C(compute/cuda/repos) in their tree.
    type: str
    default: ubuntu2404
  apt_key_fingerprint:
    description: The fingerprint of the key of NVIDIA's repository.
    type: str
    default: EB693B3035CD5710E231E123A4B469963BF863CC
  cusparselt_local_repo_sha256:
    description: The sha256 of the package that is cuSPARSELt's local repository, which is collected then.
    type: str
    default: ""
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
    details: What is there is read again and compared with its sha256, and nothing is asked.
"""

EXAMPLES = r"""
- name: Collect a stack of wheels for the Sparks
  sparkforge.dgx_spark.stack_mirror:
    name: torch-2.15.0
    method: wheel
    directory: /srv/mirror
    url: https://mirror.example.com

- name: See what a build would need, and write nothing
  sparkforge.dgx_spark.stack_mirror:
    name: torch-2.9.1
    directory: /srv/mirror
  check_mode: true
"""

RETURN = r"""
directory:
  description: The mirror on the controller.
  returned: success
  type: str
  sample: /srv/mirror
manifest:
  description: The file that names every other one, its sha256 and where it came from.
  returned: success
  type: str
  sample: /srv/mirror/mirror.json
variables:
  description: The file with the variables of a site that runs from the mirror.
  returned: success
  type: str
  sample: /srv/mirror/mirror-vars.yml
missing:
  description: One line for each thing that was not there, or in check mode is not.
  returned: success
  type: list
  elements: str
  sample: ["fetch https://developer.download.nvidia.com/compute/nvpl/redist/redistrib_26.5.json"]
"""
