#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: guard
short_description: Guard a host's memory, power and clocks
version_added: "0.1.0"
description:
  - Installs a systemd service that watches the memory of a host whose CPU and GPU share it. Below O(warn_percent) of
    available memory it warns, below O(ask_percent) it sends SIGTERM to the right process, below O(end_percent)
    SIGKILL.
  - The right process is the one that took the memory within the last seconds, else the most recent one that holds much
    of the GPU's memory. It is never ssh, systemd or the display, and a build only if no model is left.
  - With O(state=absent) it removes all of that and resets the caps.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.proof.program
  - sparkforge.dgx_spark.root
options:
  state:
    description: Whether the host is guarded.
    type: str
    choices: [present, absent]
    default: present
  warn_percent:
    description: Per cent of the memory. If less is available, the guard warns.
    type: float
    default: 10
  ask_percent:
    description: If less is available, the guard asks a process to end.
    type: float
    default: 6
  end_percent:
    description: If less is available, the guard ends it.
    type: float
    default: 3
  protected:
    description:
      - More processes, units or control groups that are never ended, by patterns. A name means processes of root and of
        system accounts, a unit one of the system, and a path (with a slash, from the root) that control group and what
        is below it, also a user's.
    type: list
    elements: str
    default: []
  first:
    description: Processes, units or control groups that are ended first, whoever they are of.
    type: list
    elements: str
    default: []
  last:
    description: Processes, units or control groups that are ended last; they mean what O(protected) does.
    type: list
    elements: str
    default: []
  units:
    description:
      - Services with brakes. They start O(starts) times within an hour, after longer and longer pauses, and stay off
        if the machine went down within ten minutes of their start.
    type: list
    elements: str
    default: []
  starts:
    description: How often these services are started before they stay off.
    type: int
    default: 4
  textfile:
    description:
      - The directory that node_exporter's textfile collector reads. C(sparkforge_guard.prom) is written there.
      - It has to be root's, and nobody else may write it.
    type: path
  motd:
    description: Whether one line at login says what the guard ended, and which unit stays off.
    type: bool
    default: true
  power_cap:
    description: Limit of each GPU's power in watts. V(0) sets none.
    type: float
    default: 0
  clock_cap:
    description: Limit of each GPU's clock in MHz, for a GPU that takes no limit of its power. V(0) sets none.
    type: int
    default: 0
  nvml:
    description: A file to use instead of NVIDIA's management library, for tests.
    type: path
seealso:
  - module: sparkforge.dgx_spark.proof_publish
author:
  - The sparkforge maintainers (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Guard this host, and end a notebook before anything else
  sparkforge.dgx_spark.guard:
    first: [jupyter-*]
    units: [sparkforge-serving.service]

- name: No longer
  sparkforge.dgx_spark.guard:
    state: absent
"""

RETURN = r"""
files:
  description: The files that belong to it.
  returned: success
  type: list
  elements: str
  sample: [/etc/systemd/system/sparkforge-guard.service, /opt/sparkforge/guard/guard.pyz]
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    names: dict[str, t.Any] = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": program.ROOT},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "warn_percent": {"type": "float", "default": 10},
            "ask_percent": {"type": "float", "default": 6},
            "end_percent": {"type": "float", "default": 3},
            "protected": names,
            "first": names,
            "last": names,
            "units": names,
            "starts": {"type": "int", "default": 4},
            "textfile": {"type": "path"},
            "motd": {"type": "bool", "default": True},
            "power_cap": {"type": "float", "default": 0},
            "clock_cap": {"type": "int", "default": 0},
            "nvml": {"type": "path"},
            "program": program.ARGUMENT,
        },
        supports_check_mode=True,
    )
    # It is not kept here: that is the installation's.
    program.run(module, "install", module.params["root"], keep=False, name="guard")


if __name__ == "__main__":
    main()
