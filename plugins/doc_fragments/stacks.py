"""Options that select a stack, and the sources for resolving it."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  name:
    description: The name of the stack, whose file is C(<name>.yml) in one of the directories.
    type: str
    required: true
  directories:
    description:
      - Directories with stacks. They are searched before C(stacks/) next to the inventory, which is searched before the
        shipped stacks.
    type: list
    elements: path
    default: []
  locks:
    description:
      - Directories with locks. They are searched before C(locks/) next to the inventory, which is searched before the
        shipped locks.
    type: list
    elements: path
    default: []
  shipped:
    description:
      - The directory of the role with the shipped stacks, locks and profiles; by default this collection's role
        C(stack).
    type: path
"""

    # The options of modules that query NVIDIA's download tree.
    UPSTREAM = r"""
options:
  nvidia_url:
    description: The root URL of NVIDIA's download tree; V(file://) is allowed.
    type: str
    default: https://developer.download.nvidia.com
"""

    # The options of modules that query a package index from the controller.
    INDEX = r"""
options:
  index_url:
    description:
      - The package index. If unset, it is the index from uv's environment variables, else the one configured for the
        pip of Ansible's Python, else uv's default.
      - If empty or V(none), only O(find_links) is used.
    type: str
  find_links:
    description: Directories or pages with wheels, in addition to the index.
    type: list
    elements: str
    default: []
  proxies:
    description: Proxies, with the keys V(http), V(https) and V(no_proxy).
    type: dict
    default: {}
  ca_certificate:
    description: A PEM file on the controller, trusted in addition to the system's certificates.
    type: str
    default: ""
"""
