#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install an apt repository from a single .deb."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apt_local_repo
short_description: Install a local apt repository from NVIDIA's local-repo .deb, verified
version_added: "0.1.0"
description:
  - Downloads a C(<name>-local-repo-<distribution>-<version>) .deb, verifies its sha256, installs it with C(dpkg),
    copies its keyring to C(/usr/share/keyrings), sets C(Signed-By) in the source, and updates the package lists of only
    this source. Use M(sparkforge.dgx_spark.apt_packages) to install the packages in it.
  - Without O(sha256) the .deb is refused, since the keyring in a .deb proves nothing about that .deb.
  - Older local repositories of the same name are removed with their sources and keyrings.
options:
  name:
    description: The beginning of the repository's package name.
    type: str
    required: true
  version:
    description: The version, which is the end of the package's name. Required for O(state=present).
    type: str
  url:
    description: URL of the .deb (http, https or file). Required to install it.
    type: str
  sha256:
    description:
      - The sha256 of the .deb. Required to install it. NVIDIA publishes none; compute it from a copy that you trust.
    type: str
  state:
    description:
      - V(absent) purges each local repository with this name, including its source and keyring. Packages installed from
        it are kept.
    type: str
    choices: [present, absent]
    default: present
  keep_foreign:
    description:
      - With O(state=absent), keep local repositories that are not in the receipt in O(root), because somebody else
        installed them.
    type: bool
    default: false
  lock_timeout:
    description: Seconds to wait for another process that holds the dpkg lock.
    type: int
    default: 120
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
notes:
  - A version older than the installed one is refused.
  - Needs free space in C(/var/tmp) for the .deb.
seealso:
  - module: sparkforge.dgx_spark.apt_packages
  - module: sparkforge.dgx_spark.redist_archive
"""

EXAMPLES = r"""
- name: Install the local repository of cuSPARSELt
  sparkforge.dgx_spark.apt_local_repo:
    name: cusparselt
    version: 0.8.1
    url: "https://developer.download.nvidia.com/compute/cusparselt/0.8.1/local_installers/\
      cusparselt-local-repo-ubuntu2404-0.8.1_0.8.1-1_arm64.deb"
    sha256: "{{ cusparselt_local_repo_sha256 }}"
  become: true
"""

RETURN = r"""
package:
  description: The local repository's package; null in check mode if it has not been downloaded yet.
  returned: success
  type: str
  sample: cusparselt-local-repo-ubuntu2404-0.8.1
directory:
  description: The repository's directory.
  returned: success
  type: str
  sample: /var/cusparselt-local-repo-ubuntu2404-0.8.1
retired:
  description: The packages of other local repositories with this name that were purged, or would be purged.
  returned: success
  type: list
  elements: str
  sample: [cusparselt-local-repo-ubuntu2404-0.8.0]
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._apt.apt_get import Apt, command_runner
from ..module_utils._apt.local_repo import LocalRepository
from ..module_utils._core import modules


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "version": {"type": "str"},
            "url": {"type": "str"},
            "sha256": {"type": "str"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "keep_foreign": {"type": "bool", "default": False},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "lock_timeout": {"type": "int", "default": 120},
        },
        required_if=[("state", "present", ("version",))],
        supports_check_mode=True,
    )
    options = module.params

    def work() -> dict[str, t.Any]:
        apt = Apt(command_runner(module), lock_timeout=options["lock_timeout"])
        repository = LocalRepository(apt, options, module.check_mode)
        if options["state"] == "absent":
            return repository.absent(keep_foreign=options["keep_foreign"])
        return repository.present()

    modules.run(module, work)


if __name__ == "__main__":
    main()
