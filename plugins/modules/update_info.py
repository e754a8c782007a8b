#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observe the effects of a host's next upgrade."""

from __future__ import annotations

DOCUMENTATION = r"""
module: update_info
short_description: Observe the effects of a host's next upgrade
version_added: "0.1.0"
description:
  - Lets apt simulate the upgrade, with all sources, pins, holds and phased updates of the host.
  - Reads everything that determines whether the host survives the upgrade, namely the space in C(/boot), the driver's
    modules for each kernel, DKMS, Secure Boot, unattended upgrades, unfinished fwupd updates, and NVIDIA's recipes for
    the release.
  - It changes nothing, takes no lock, and starts no update.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
options:
  mode:
    description:
      - V(full) is the upgrade by C(apt full-upgrade) and NVIDIA's updater.
      - V(safe) is C(apt upgrade), which removes nothing.
    type: str
    choices: [full, safe]
    default: full
  refresh:
    description:
      - Whether to fetch the package lists into a temporary directory first. The host's own lists are not changed.
      - Otherwise the forecast is as old as the host's lists.
    type: bool
    default: false
notes:
  - An ordinary user gets the same facts except those from files that only root can read.
"""

EXAMPLES = r"""
- name: Observe the next upgrade
  sparkforge.dgx_spark.update_info:
  register: upgrade
"""

RETURN = r"""
update_info:
  description: The observation, which P(sparkforge.dgx_spark.forecast#module) judges.
  returned: always
  type: dict
  contains:
    plan:
      description:
        - The packages that apt would install, remove, keep back, defer or no longer need, and the download size.
      type: dict
      sample:
        install: [{name: libnccl2, previous: 2.28.3-1+cuda13.0, version: 2.30.7-1+cuda13.2, origin: NVIDIA}]
        remove: []
    kernels:
      description: The kernels, and whether each has the driver's modules and headers.
      type: list
      elements: dict
      sample: [{release: 6.17.0-1021-nvidia, running: true, image: true, driver: true, headers: true, mib: 90}]
    firmware:
      description: The fwupd devices, with the state of their last update.
      type: list
      elements: dict
      sample: [{name: UEFI dbx, version: "371", state: pending, error: null, update: null}]
    unread:
      description: Facts that exist but could not be read, with the reason.
      type: list
      elements: dict
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._apt.next_upgrade import UPGRADES, UpdateInfo
from ..module_utils._core import modules
from ..module_utils._host import dpkg
from ..module_utils._host.reader import of_module


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "mode": {"type": "str", "choices": list(UPGRADES), "default": "full"},
            "refresh": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        host = of_module(module)
        look = UpdateInfo(host, module.params["mode"], module.params["refresh"])
        updates = look.observe(dpkg.packages(host).versions)
        return {"changed": False, "update_info": {**updates, "unread": host.unread}}

    modules.run(module, work)


if __name__ == "__main__":
    main()
