#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_info
short_description: Return a host's network hardware for a fabric of Sparks
version_added: "0.1.0"
description:
  - Reads the ConnectX-7 ports of a host, pairs the two halves of each by PCI, and returns their interfaces, RDMA
    devices, speed, MTU and addresses, and known problems for a fabric (the kernel's KHO reserve, Wi-Fi that
    sleeps).
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
options:
  ports:
    description:
      - The interfaces of each port, half by half, on hosts whose card is not a ConnectX-7. By default they are
        detected.
    type: list
    elements: list
    default: []
seealso:
  - module: sparkforge.dgx_spark.fabric_netplan
  - module: sparkforge.dgx_spark.fabric_check
author: The sparkforge maintainers (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Which ports have a cable?
  sparkforge.dgx_spark.fabric_info:
  register: fabric

- name: Show them
  ansible.builtin.debug:
    msg: "{{ fabric.fabric.links | selectattr('carrier') | map(attribute='interface') }}"
"""

RETURN = r"""
fabric:
  description:
    - C(links) (each half), C(ports) (which halves belong together), C(management) (the interface of the default route),
      C(addresses), C(kernel) with C(kho), C(wifi_powersave), C(netplan) and C(tools).
  returned: success
  type: dict
  sample:
    ports: [{port: 0, halves: [enp1s0f0np0, enP2p1s0f0np0]}]
    management: {interface: enP7s7, addresses: [10.0.0.11/24], wireless: false}
    kernel: {release: 6.17.0-1029-nvidia, kho: {asked: null, reserved_mib: 0, source: /proc/meminfo}}
problems:
  description: What would break any fabric on this host, each with C(check), C(cause) and C(remedy).
  returned: success
  type: list
  elements: dict
  sample: []
unread:
  description: What exists but could not be read, each with C(probe) and C(reason).
  returned: success
  type: list
  elements: dict
  sample: []
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._fabric import observation
from ..module_utils._host.reader import of_module


def main() -> None:
    module = AnsibleModule(
        argument_spec={"ports": {"type": "list", "elements": "list", "default": []}},
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        host = of_module(module)
        info = observation.FabricInfo(host, module.params["ports"]).observe()
        return {"changed": False, "fabric": info, "problems": observation.problems(info), "unread": host.unread}

    modules.run(module, work)


if __name__ == "__main__":
    main()
