#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install packages with apt, protect the vendor's packages, and keep a receipt."""

from __future__ import annotations

DOCUMENTATION = r"""
module: apt_packages
short_description: Install packages with apt without touching the vendor's packages
version_added: "0.1.0"
description:
  - Installs packages with C(apt-get) in one call, after simulating it with C(apt-get --simulate).
  - Refuses a plan that removes or downgrades any package, or that installs or upgrades a protected one (the
    driver, the kernel, DGX packages).
  - Keeps a receipt of the packages that were not installed before, so that O(state=absent) removes only those, and only
    if nothing else needs them.
  - dpkg's own records determine whether there is anything to do; apt is called only if there is.
  - Recommended packages are not installed. Modified configuration files are kept.
options:
  name:
    description:
      - The name of this set of packages and of its receipt, RV(receipt).
      - Two sets may request the same package; it is kept as long as one of them does.
    type: str
    required: true
  packages:
    description:
      - The packages, each as V(name), V(name=version) or V(name=glob). The glob is matched against the versions that
        apt's sources offer (V(libnccl-dev=*+cuda13.0)); pins are honoured.
      - Separate alternatives with V(|), in order of preference; one of them is enough.
      - Required for O(state=present).
    type: list
    elements: str
  state:
    description:
      - V(present) installs missing packages; a package that is installed in a requested version is kept, even if a
        newer version is available.
      - V(absent) removes the packages that this set installed according to the receipt.
    type: str
    choices: [present, absent]
    default: present
  allow:
    description:
      - Regular expressions for packages that are exempt from protection. The NVIDIA driver, the kernel, the boot loader
        and DGX packages are otherwise never installed, upgraded or removed.
    type: list
    elements: str
    default: []
  lock_timeout:
    description: Seconds to wait for another process that holds an apt or dpkg lock.
    type: int
    default: 120
  update_cache:
    description:
      - Update all package lists first if something is missing. A source that cannot be fetched only gives a warning.
    type: bool
    default: false
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
notes:
  - In check mode, a package that no source offers yet is not a failure, since an earlier step may add the source;
    it is listed in RV(notes).
seealso:
  - module: sparkforge.dgx_spark.apt_source
  - module: ansible.builtin.apt
"""

EXAMPLES = r"""
- name: Install the CUDA libraries of one minor version
  sparkforge.dgx_spark.apt_packages:
    name: cuda_libraries
    packages:
      - libcublas-dev-13-0
      - libcudnn9-dev-cuda-13
      - libnccl-dev=*+cuda13.0
  become: true
"""

RETURN = r"""
installed:
  description: Packages that apt installed or upgraded, or would in check mode; C(previous) is null for new packages.
  returned: success
  type: list
  elements: dict
  sample: [{"name": "libcublas-13-0", "previous": null, "version": "13.1.0.3-1"}]
removed:
  description: Packages that were removed, or would be removed in check mode.
  returned: success
  type: list
  elements: dict
  sample: [{"name": "libcublas-13-0", "previous": "13.1.0.3-1", "version": null}]
kept:
  description: With O(state=absent), the packages that this set installed and that are kept, each with the reason.
  returned: success
  type: list
  elements: dict
  sample: [{"name": "libgomp1", "reason": "another installed package needs it"}]
packages:
  description: The installed version of each requested package.
  returned: success
  type: dict
  sample: {"libcublas-dev-13-0": "13.1.0.3-1"}
notes:
  description: In check mode, the changes that depend on steps which check mode skips.
  returned: success
  type: list
  elements: str
  sample: ["libfoo would be installed; today libfoo is in no enabled apt source."]
receipt:
  description: Path of the receipt, which exists if this set installed anything.
  returned: success
  type: str
  sample: /opt/sparkforge/receipts/apt-cuda_libraries.json
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._apt.apt_get import Apt, command_runner
from ..module_utils._apt.packages import PackageSet
from ..module_utils._core import modules


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "packages": {"type": "list", "elements": "str"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "allow": {"type": "list", "elements": "str", "default": []},
            "lock_timeout": {"type": "int", "default": 120},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "update_cache": {"type": "bool", "default": False},
        },
        required_if=[("state", "present", ("packages",))],
        supports_check_mode=True,
    )
    options = module.params

    def work() -> dict[str, t.Any]:
        apt = Apt(command_runner(module), lock_timeout=options["lock_timeout"])
        packages = PackageSet(apt, options, module.check_mode, module.warn)
        return packages.absent() if options["state"] == "absent" else packages.present()

    modules.run(module, work)


if __name__ == "__main__":
    main()
