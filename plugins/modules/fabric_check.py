#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fabric_check
short_description: Examine a host's ports for a fabric of Sparks, and check each rail
version_added: "0.1.0"
description:
  - Returns a host's ConnectX-7 ports, whose two halves it pairs by PCI address, and the faults that would break any
    fabric on it (the kernel's KHO reserve, Wi-Fi power saving).
  - For O(rails), it checks each half of each port, and pings each peer over each rail separately, also with
    unfragmented packets of the full MTU. The peers' kernels answer; nothing needs to run there.
  - Measures the bandwidth according to O(measure), if perftest is installed on both hosts. Both must run the task at
    the same time.
  - It changes nothing, and its findings do not fail the task.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
options:
  rails:
    description: The C(steps.rails) that the lookup P(sparkforge.dgx_spark.plan#lookup) returns for C(fabric).
    type: list
    elements: dict
    default: []
  ports:
    description: For each port, the interfaces of its halves; not needed for ConnectX-7 cards, which are detected.
    type: list
    elements: list
    default: []
  speed:
    description: The speed in Mb/s that each half must have negotiated; 0 for any.
    type: int
    default: 200000
  measure:
    description: The peers to measure with, an element of the plan's C(rounds). If set, only the bandwidth is measured.
    type: dict
    default: {}
  seconds:
    description: The time in seconds to measure each half.
    type: int
    default: 5
  floor:
    description: The bandwidth in Gb/s that each half must reach.
    type: float
    default: 80
seealso:
  - module: sparkforge.dgx_spark.fabric_netplan
"""

EXAMPLES = r"""
- name: Find the ports with a cable
  sparkforge.dgx_spark.fabric_check:
  register: fabric

- name: Check that every rail carries full-size frames to every peer
  sparkforge.dgx_spark.fabric_check:
    rails: "{{ plan.rails }}"
  vars:
    plan: "{{ lookup('sparkforge.dgx_spark.plan', 'fabric').steps }}"
  become: true
  register: fabric
"""

RETURN = r"""
checks:
  description: A row for each check, with C(name), C(status) (pass, fail or skip), C(measured), C(cause) and C(remedy).
  returned: success
  type: list
  elements: dict
  sample: [{name: jumbo.cable1.0.spark02, status: pass, measured: 9000, cause: null, remedy: null}]
failures:
  description: The cause and remedy of each failed check, in one text.
  returned: success
  type: list
  elements: str
lines:
  description: A line to display for each check.
  returned: success
  type: list
  elements: str
  sample: ["pass jumbo.cable1.0.spark02: 9000"]
perftest:
  description: Whether C(ib_write_bw), which measures the bandwidth, is installed.
  returned: success
  type: bool
fabric:
  description:
    - C(links) (each half), C(ports) (the halves of each port), C(management) (the interface of the default route),
      C(addresses), C(kernel) with C(kho), C(wifi_powersave), C(netplan) and C(tools).
  returned: success
  type: dict
  sample:
    ports: [{port: 0, halves: [enp1s0f0np0, enP2p1s0f0np0]}]
    management: {interface: enP7s7, addresses: [10.0.0.11/24], wireless: false}
    kernel: {release: 6.17.0-1029-nvidia, kho: {reserved_mib: 0}}
unread:
  description: Facts that exist but could not be read, each with C(probe) and C(reason).
  returned: success
  type: list
  elements: dict
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._fabric import checks
from ..module_utils._host.reader import of_module


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "rails": {"type": "list", "elements": "dict", "default": []},
            "ports": {"type": "list", "elements": "list", "default": []},
            "speed": {"type": "int", "default": 200000},
            "measure": {"type": "dict", "default": {}},
            "seconds": {"type": "int", "default": 5},
            "floor": {"type": "float", "default": 80},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        options, host = module.params, of_module(module)
        checker = checks.FabricCheck(host, options["rails"], options["ports"], options["speed"])
        part = options["measure"]
        rows = list(checker.measure(part, options["seconds"], options["floor"]) if part else checker.run())
        failures = [f"{row['name']}: {row['cause']} {row['remedy']}" for row in rows if row["status"] == "fail"]
        results = [row["measured"] if row["status"] == "pass" else row["cause"] for row in rows]
        lines = [f"{row['status']:4} {row['name']}: {text}" for row, text in zip(rows, results)]
        facts = {"fabric": checker.info, "perftest": bool(checker.info["tools"]["ib_write_bw"]), "unread": host.unread}
        return {**facts, "changed": False, "checks": rows, "failures": failures, "lines": lines}

    modules.run(module, work)


if __name__ == "__main__":
    main()
