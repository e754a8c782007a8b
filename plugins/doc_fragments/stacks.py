# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which stack is meant, and where what it names is asked for."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  name:
    description: The stack, the file C(<name>.yml) in one of the directories.
    type: str
    required: true
  directories:
    description:
      - Directories of stacks, searched before C(stacks/) next to the inventory, which is searched before the
        shipped ones.
    type: list
    elements: path
    default: []
  locks:
    description:
      - Directories of locks, searched before C(locks/) next to the inventory, which is searched before the shipped
        ones.
    type: list
    elements: path
    default: []
  shipped:
    description:
      - The directory of the role with the shipped stacks, locks and profiles, by default the role C(stack) of
        this collection.
    type: path
"""

    # For what asks NVIDIA's download tree.
    UPSTREAM = r"""
options:
  nvidia_url:
    description: The root under which NVIDIA's download tree lies, V(file://) included.
    type: str
    default: https://developer.download.nvidia.com
"""

    # For what the controller asks of an index.
    INDEX = r"""
options:
  index_url:
    description:
      - The package index. If unset, the one that uv's environment names, else the one that the pip of Ansible's own
        Python is configured for, else uv's default.
      - If empty or V(none), no index is used, only O(find_links).
    type: str
  find_links:
    description: Directories or pages of wheels, in addition to the index.
    type: list
    elements: str
    default: []
  proxies:
    description: Proxies by the keys V(http), V(https) and V(no_proxy).
    type: dict
    default: {}
  ca_certificate:
    description: A PEM file on the controller that is trusted in addition to the system's certificates.
    type: str
    default: ""
"""
