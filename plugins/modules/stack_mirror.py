#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: stack_mirror
short_description: Collect everything that a stack needs in a directory
version_added: "0.1.0"
description:
  - Fetches NVIDIA's archives, the wheels and the sources that a stack's lock pins into one directory, for hosts that
    cannot reach their servers. Repositories are fetched with all their submodules.
  - Existing files that match the lock are not fetched again, so an interrupted run resumes. Several stacks can be
    collected in the same directory.
  - Any file server can serve the directory as it is, or the hosts can have a copy of it.
  - apt packages are not collected; use aptly or debmirror to mirror their repositories.
  - This action plugin runs on the controller only and connects to no host.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.stacks
  - sparkforge.dgx_spark.stacks.upstream
  - sparkforge.dgx_spark.stacks.index
options:
  method:
    description:
      - V(wheel) collects the wheels of the stack. V(build) collects the sources of its units, and the wheels that they
        need at build time and at run time.
    type: str
    choices: [wheel, build]
    default: build
  libraries:
    description: V(all) collects the archives of NVIDIA's libraries for V(wheel) too.
    type: str
    choices: [auto, all]
    default: auto
  meanwhile:
    description:
      - A stack whose wheels hosts use until their build is finished. With O(method=build) they are collected too.
    type: str
    default: ""
  directory:
    description: The target directory, created if missing.
    type: path
    required: true
  url:
    description: The URL at which the hosts reach the directory; by default V(file://) followed by its path.
    type: str
  machines:
    description: The hosts' machine types, as C(uname -m) prints them.
    type: list
    elements: str
    default: [aarch64]
  extensions:
    description:
      - The units to build in addition to LLVM, Triton and PyTorch; by default the stack's units that are not optional.
    type: list
    elements: str
  rewrite:
    description:
      - URL prefixes and their replacements, if the controller itself reaches repositories, their submodules and source
        archives through a mirror.
    type: dict
    default: {}
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
    details: Existing files are read again and compared with their sha256, and no server is contacted.
"""

EXAMPLES = r"""
- name: Collect a stack of wheels for the Sparks
  sparkforge.dgx_spark.stack_mirror:
    name: torch-2.15.0
    method: wheel
    directory: /srv/mirror
    url: https://mirror.example.com
"""

RETURN = r"""
directory:
  description: The mirror's directory on the controller.
  returned: success
  type: str
  sample: /srv/mirror
manifest:
  description: The file that lists every other file with its sha256 and its origin.
  returned: success
  type: str
  sample: /srv/mirror/mirror.json
variables:
  description: The variables file for a site that uses the mirror.
  returned: success
  type: str
  sample: /srv/mirror/mirror-vars.yml
missing:
  description: One line for each item that was missing, or in check mode is missing.
  returned: success
  type: list
  elements: str
  sample: ["fetch https://developer.download.nvidia.com/compute/nvpl/redist/redistrib_26.5.json"]
"""
