#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Configure an apt repository unless it is configured already."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apt_source
short_description: Add an apt source with its own pinned key, unless the host has it already
version_added: "0.1.0"
description:
  - Changes nothing if a file in C(/etc/apt) has an enabled source with the same URL. A second source
    for the same URL with another keyring would make apt fail with "Conflicting values set for option Signed-By"; DGX
    OS has NVIDIA's repository in C(cuda-compute-repo.sources).
  - Otherwise it fetches the key, requires that each primary key in it has the pinned fingerprint, writes the keyring to
    C(/usr/share/keyrings/sparkforge-<name>.gpg) and the source to C(/etc/apt/sources.list.d/sparkforge-<name>.sources),
    and fetches the package lists of only this source.
  - If that fails, the previous files are restored.
options:
  name:
    description: Name of the source; part of its file names.
    type: str
    required: true
  url:
    description: URL of a flat repository, which has no suites. Required for O(state=present).
    type: str
  key_url:
    description: URL of the repository's OpenPGP key, armored or binary. Required to add the source.
    type: str
  key_fingerprint:
    description:
      - Fingerprint (40 or 64 hexadecimal digits) of the only key that may sign the repository. Required to add the
        source.
    type: str
  state:
    description: V(absent) removes only the keyring and the source that this module wrote.
    type: str
    choices: [present, absent]
    default: present
  lock_timeout:
    description: Seconds to wait for another process that holds an apt lock.
    type: int
    default: 120
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
requirements:
  - gpg (package C(gpg)) on the host, unless another file already has the source
notes:
  - Proxies and the CA for the download come from the environment (C(https_proxy), C(no_proxy), C(SSL_CERT_FILE)).
  - If another file later configures the same repository, the source that this module wrote is removed.
seealso:
  - module: sparkforge.dgx_spark.apt_packages
  - module: ansible.builtin.deb822_repository
"""

EXAMPLES = r"""
- name: Make sure that NVIDIA's CUDA repository is configured
  sparkforge.dgx_spark.apt_source:
    name: nvidia-cuda
    url: https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa/
    key_url: https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa/3bf863cc.pub
    key_fingerprint: EB693B3035CD5710E231E123A4B469963BF863CC
  become: true
"""

RETURN = r"""
file:
  description: The file that configures the repository, from this module or elsewhere.
  returned: success
  type: str
  sample: /etc/apt/sources.list.d/cuda-compute-repo.sources
keyring:
  description: This module's keyring; null if the source is from elsewhere.
  returned: success
  type: str
  sample: /usr/share/keyrings/sparkforge-nvidia-cuda.gpg
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._apt.apt_get import Apt, command_runner
from ..module_utils._apt.sources import Source
from ..module_utils._core import modules


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "url": {"type": "str"},
            "key_url": {"type": "str", "no_log": False},
            "key_fingerprint": {"type": "str", "no_log": False},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "lock_timeout": {"type": "int", "default": 120},
        },
        required_if=[("state", "present", ("url",))],
        required_together=[("key_url", "key_fingerprint")],
        supports_check_mode=True,
    )
    options = module.params

    def work() -> dict[str, t.Any]:
        apt = Apt(command_runner(module), lock_timeout=options["lock_timeout"])
        source = Source(apt, options, module.check_mode)
        return source.absent() if options["state"] == "absent" else source.present()

    modules.run(module, work)


if __name__ == "__main__":
    main()
