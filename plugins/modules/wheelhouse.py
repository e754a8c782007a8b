#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Publish the units that were built on a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: wheelhouse
short_description: Publish the wheels that a host built, and prune those that nothing needs
version_added: "0.1.0"
description:
  - Writes the manifest of a stack, C(<root>/wheelhouse/<platform>/manifests/<stack>-<lock_id>.json), with which other
    hosts can install the units built here, and the simple index for pip and uv (PEP 503),
    C(<root>/wheelhouse/<platform>/simple/).
  - Signs manifests with root's key C(<root>/keys/wheelhouse), which the first call creates with ssh-keygen. On a
    host without ssh-keygen, manifests are not signed and a warning is given.
  - Before it publishes anything, it computes the sha256 of each wheel and compares it with the receipt of its unit. If
    any differs, nothing is published.
  - Prunes builds according to O(keep). A build is never removed if the receipt of an environment on this host refers to
    it, or if a kept build depends on it.
  - One call does all of this, on the host that builds, after M(sparkforge.dgx_spark.source_build).
options:
  log_root:
    description: The directory with the build logs; the log of a pruned build is removed too.
    type: path
    default: /var/log/sparkforge
  platform:
    description:
      - The platform, as returned by the filter P(sparkforge.dgx_spark.builder#filter). Required for O(state=present);
        without it V(absent) applies to all platforms.
    type: str
  name:
    description: The name of this host in the manifest, C(inventory_hostname).
    type: str
  stack:
    description: The name of the stack.
    type: str
  lock_id:
    description: The id of the stack's lock, C(stack.lock.id).
    type: str
  python:
    description: The Python version for which the wheels were built, for example V(3.12).
    type: str
  units:
    description:
      - The fact C(sparkforge_built), which contains, by unit name, the C(fingerprint) and the C(wheels) that
        M(sparkforge.dgx_spark.source_build) returned.
    type: dict
  keep:
    description:
      - The number of manifests to keep for each stack name, newest first. Builds that only older manifests refer to are
        removed with their receipts and logs.
      - A build that was never published is removed once that many newer manifests contain its unit.
    type: int
    default: 2
  state:
    description:
      - V(absent) removes the manifests, the index and, without O(platform), the signing key.
        M(sparkforge.dgx_spark.source_build) removes the artefacts.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
notes:
  - In check mode a unit that is not built yet is not a failure; RV(pending) names it.
  - An earlier manifest of the same stack and lock with other wheels counts for O(keep), even though the new manifest
    replaces its file.
seealso:
  - module: sparkforge.dgx_spark.source_build
"""

EXAMPLES = r"""
- name: Publish the built wheels
  sparkforge.dgx_spark.wheelhouse:
    name: "{{ inventory_hostname }}"
    platform: "{{ sparkforge_builder.platform }}"
    stack: "{{ stack.name }}"
    lock_id: "{{ stack.lock.id }}"
    python: "{{ stack.python.version }}"
    units: "{{ sparkforge_built }}"
    keep: 2
  become: true
"""

RETURN = r"""
manifest:
  description:
    - The manifest in the format of C(docs/manifest.schema.json); null in check mode if a unit is not built yet.
  returned: success with O(state=present)
  type: dict
path:
  description: The path of the manifest.
  returned: success with O(state=present)
  type: str
  sample: /opt/sparkforge/wheelhouse/ubuntu24.04-aarch64/manifests/torch-2.9.1-0123456789ab.json
public_key:
  description: The key that signs manifests, to pin in C(sparkforge_wheelhouse_signers); null if there is none.
  returned: success with O(state=present)
  type: str
  sample: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI…
index:
  description: The page of the simple index that lists every project.
  returned: success with O(state=present)
  type: str
  sample: /opt/sparkforge/wheelhouse/ubuntu24.04-aarch64/simple/index.html
pending:
  description: In check mode, the units that are not built yet.
  returned: success with O(state=present)
  type: list
  elements: str
  sample: [pytorch]
pruned:
  description: The builds that were removed, or would be removed in check mode.
  returned: success with O(state=present)
  type: list
  elements: dict
  sample: [{"name": "pytorch", "fingerprint": "0e9a37d2864b5c1f"}]
kept:
  description: The builds that are kept although O(keep) would remove them, each with the reason.
  returned: success with O(state=present)
  type: list
  elements: dict
  sample: [{"name": "llvm", "fingerprint": "37d2864b5c1f0e9a", "reason": "triton 864b5c1f0e9a37d2 depends on it"}]
removed:
  description: The paths that were removed, or would be removed in check mode.
  returned: success with O(state=absent)
  type: list
  elements: str
  sample: [/opt/sparkforge/wheelhouse/ubuntu24.04-aarch64/simple]
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._wheelhouse import store as _wheelhouse_store


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "log_root": {"type": "path", "default": "/var/log/sparkforge"},
            "platform": {"type": "str"},
            "name": {"type": "str"},
            "stack": {"type": "str"},
            "lock_id": {"type": "str"},
            "python": {"type": "str"},
            "units": {"type": "dict"},
            "keep": {"type": "int", "default": 2},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        required_if=[("state", "present", ("platform", "name", "stack", "lock_id", "python", "units"))],
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        store = _wheelhouse_store.Store(module.params, module.check_mode)
        return store.absent() if module.params["state"] == "absent" else store.present()

    modules.run(module, work)


if __name__ == "__main__":
    main()
