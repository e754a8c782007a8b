#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documentation of the action plugin of this name, which does the work on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: wheelhouse_manifest
short_description: Find the manifest of a built stack, and fetch its wheels to the controller
version_added: "0.1.0"
description:
  - Looks for the manifest of a stack and its lock in O(places), in order, and verifies its seal, platform, stack and
    lock id. The manifest is stored in the controller's cache.
  - With O(wheels) the wheels are also fetched from the builder to the cache, and each is verified by its sha256. This
    is for hosts that cannot reach one another.
  - A place that does not answer, or has no manifest, is skipped and listed in RV(tried). If a place gives any
    other answer, such as an HTML page, a rejected password or the manifest of another platform, the task fails.
  - This is an action plugin. It connects to the builder, which is the task's host or the host that it is delegated to,
    only for files that no other place has.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes.controller
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
options:
  stack:
    description: The name of the stack.
    type: str
    required: true
  lock_id:
    description: The id of the stack's lock, C(stack.lock.id).
    type: str
    required: true
  platform:
    description: The platform, as returned by the filter P(sparkforge.dgx_spark.builder#filter).
    type: str
    required: true
  python:
    description: The Python version that the wheels must be built for, for example V(3.12); if empty, any version.
    type: str
    default: ""
  places:
    description: The places to search, in this order.
    type: list
    elements: str
    choices: [url, cache, builder]
    default: [url, cache, builder]
  url:
    description:
      - The URL of the served wheelhouse; empty if it is not served.
      - It is queried only if O(signers) is set, since only a signature vouches for a server's content.
    type: str
    default: ""
  username:
    description: The user name for basic authentication, if the server requires one.
    type: str
    default: ""
  password:
    description: The password of O(username).
    type: str
    default: ""
  signers:
    description:
      - OpenSSH public keys, as returned in C(public_key) by M(sparkforge.dgx_spark.wheelhouse). A manifest that none of
        them signed is refused, wherever it comes from. If empty, no signature is required.
    type: list
    elements: str
    default: []
  allow_older:
    description:
      - Whether to accept a manifest from O(url) or the builder that is older than the one in the cache. Otherwise such
        a manifest is refused, because a server could withhold newer builds.
      - Without O(signers), only manifests from the same builder are compared.
    type: bool
    default: false
  cache:
    description: The cache's directory on the controller.
    type: str
    required: true
  root:
    description: The builder's directory that contains the wheelhouse.
    type: str
    default: /opt/sparkforge
  proxies:
    description: The variable C(sparkforge_proxies), for the controller's own downloads.
    type: dict
    default: {}
  ca_certificate:
    description: A CA certificate on the controller, in PEM format, trusted in addition to the system's certificates.
    type: str
    default: ""
  manifest:
    description: An already known manifest; if set, no place is searched.
    type: dict
  wheels:
    description: Whether to fetch the wheels to the cache.
    type: bool
    default: false
  required:
    description: Whether to fail if no place has the manifest.
    type: bool
    default: true
seealso:
  - module: sparkforge.dgx_spark.wheelhouse
  - module: sparkforge.dgx_spark.python_env
"""

EXAMPLES = r"""
- name: Find the manifest of a build
  sparkforge.dgx_spark.wheelhouse_manifest:
    stack: "{{ stack.name }}"
    lock_id: "{{ stack.lock.id }}"
    platform: ubuntu24.04-aarch64
    url: https://spark01.example.com/wheelhouse
    cache: ~/.cache/sparkforge/wheelhouse
  delegate_to: spark01
  register: search

- name: Fetch its wheels to the controller
  sparkforge.dgx_spark.wheelhouse_manifest:
    stack: "{{ stack.name }}"
    lock_id: "{{ stack.lock.id }}"
    platform: ubuntu24.04-aarch64
    cache: ~/.cache/sparkforge/wheelhouse
    manifest: "{{ search.manifest }}"
    wheels: true
  delegate_to: "{{ search.manifest.host }}"
  register: fetched
"""

RETURN = r"""
manifest:
  description: The manifest, as returned by M(sparkforge.dgx_spark.wheelhouse); null if no place has it.
  returned: success
  type: dict
where:
  description: The place that had it, or V(given).
  returned: success
  type: str
  sample: url
tried:
  description: The places that were searched, and the answer of each.
  returned: always
  type: list
  elements: dict
  sample: [{place: "https://spark01.example.com/wheelhouse", said: has it}]
wheels:
  description: With O(wheels), the wheels on the controller, in the format for M(sparkforge.dgx_spark.python_env).
  returned: success
  type: list
  elements: dict
  sample: [{path: /home/me/.cache/sparkforge/wheelhouse/…/torch-2.9.1-cp312-cp312-linux_aarch64.whl, sha256: 6f1d…}]
saved:
  description: Whether the controller's cache changed. No host changes.
  returned: success
  type: bool
  sample: false
"""
