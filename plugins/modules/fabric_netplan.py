#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_netplan
short_description: Configure both halves of each ConnectX-7 port with netplan
version_added: "0.1.0"
description:
  - Writes one netplan file for a host's rails, and the variables with which NCCL finds the RDMA devices.
  - Before anything is written, C(netplan generate) validates a copy of the host's configuration with the new file. If
    C(netplan apply) fails, the interfaces do not come up as planned or the management interface loses an address,
    the previous file is restored.
  - Refuses to change the interface of the default route or of Ansible's connection, or an interface in another netplan
    file, and refuses subnets that the host uses elsewhere.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
options:
  state:
    description: Whether the host is part of a fabric. V(absent) undoes the changes of V(present).
    type: str
    choices: [present, absent]
    default: present
  rails:
    description: As in M(sparkforge.dgx_spark.fabric_check). Required for O(state=present).
    type: list
    elements: dict
  ports:
    description: As in M(sparkforge.dgx_spark.fabric_check).
    type: list
    elements: list
    default: []
  file:
    description: The netplan file.
    type: path
    default: /etc/netplan/60-sparkforge-fabric.yaml
  renderer:
    description: The netplan renderer. If empty, the renderer of the host's other netplan files is used.
    type: str
    choices: ["", networkd, NetworkManager]
    default: ""
  apply:
    description: Whether to apply the file now and check the interfaces. If false, it takes effect at the next boot.
    type: bool
    default: true
  wait:
    description: The number of seconds to wait for the interfaces to come up as planned.
    type: float
    default: 30
  socket_interface:
    description: The interface over which processes find each other. If empty, that of the default route.
    type: str
    default: ""
  environment:
    description: Additional variables, or replacements for the module's own variables; null removes a variable.
    type: dict
    default: {}
seealso:
  - module: sparkforge.dgx_spark.fabric_check
"""

EXAMPLES = r"""
- name: Set up this host's end of the cable
  sparkforge.dgx_spark.fabric_netplan:
    rails: "{{ plan.rails }}"
    environment: "{{ plan.environment }}"
  vars:
    plan: "{{ lookup('sparkforge.dgx_spark.plan', 'fabric').steps }}"
  become: true
"""

RETURN = r"""
rails:
  description: The rails, with this host's C(interface) and C(rdma) device.
  returned: success
  type: list
  elements: dict
  sample: [{name: cable1.0, interface: enp1s0f0np0, rdma: rocep1s0f0, address: 192.168.200.1/24, mtu: 9000}]
environment:
  description: The variables in C(fabric/nccl.env) in O(root).
  returned: success
  type: dict
  sample: {NCCL_IB_HCA: "rocep1s0f0,roceP2p1s0f0", NCCL_SOCKET_IFNAME: enP7s7}
files:
  description: The files that this module writes.
  returned: success
  type: list
  elements: str
  sample: [/etc/netplan/60-sparkforge-fabric.yaml, /opt/sparkforge/fabric/nccl.env]
deviations:
  description: The differences between the interfaces and the plan before this call.
  returned: success
  type: list
  elements: str
  sample: [enp1s0f0np0 has an MTU of 1500]
problems:
  description: Faults that would break any fabric on this host, each with C(check), C(cause) and C(remedy).
  returned: success
  type: list
  elements: dict
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._fabric import netplan
from ..module_utils._host.reader import of_module


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "rails": {"type": "list", "elements": "dict"},
            "ports": {"type": "list", "elements": "list", "default": []},
            "file": {"type": "path", "default": netplan.FILE},
            "renderer": {"type": "str", "choices": ["", "networkd", "NetworkManager"], "default": ""},
            "apply": {"type": "bool", "default": True},
            "wait": {"type": "float", "default": 30},
            "socket_interface": {"type": "str", "default": ""},
            "environment": {"type": "dict", "default": {}},
            "root": {"type": "path", "default": "/opt/sparkforge"},
        },
        required_if=[("state", "present", ["rails"])],
        supports_check_mode=True,
    )
    host, session = of_module(module), netplan.session_address(os.environ)
    fabric = netplan.FabricNetplan(module.params, host, module.check_mode, module.warn, session)
    modules.run(module, fabric.run)


if __name__ == "__main__":
    main()
