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
  - Installs a systemd service that watches the memory of a host whose CPU and GPU share it. If the available memory
    falls below O(warn_percent), it warns; below O(ask_percent) it sends SIGTERM to a chosen process, below
    O(end_percent) SIGKILL.
  - The chosen process is the one that allocated memory in the last seconds, else the most recently started one that
    holds much of the GPU's memory. It never chooses ssh, systemd or the display, and a build only if no model is left.
  - O(state=absent) removes all of this and resets the caps.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.proof.program
  - sparkforge.dgx_spark.root
options:
  state:
    description: Whether the guard is installed.
    type: str
    choices: [present, absent]
    default: present
  warn_percent:
    description: The percentage of available memory below which the guard warns.
    type: float
    default: 10
  ask_percent:
    description: The percentage of available memory below which the guard sends SIGTERM to a process.
    type: float
    default: 6
  end_percent:
    description: The percentage of available memory below which the guard kills the process.
    type: float
    default: 3
  protected:
    description:
      - Patterns of further processes, units or control groups that are never killed. A name matches processes of root
        and of system accounts, and a unit matches system units. A path (with a slash, from the root) matches that
        control group and everything in it, even a user's.
    type: list
    elements: str
    default: []
  first:
    description: Processes, units or control groups that are killed first, whoever owns them.
    type: list
    elements: str
    default: []
  last:
    description: Processes, units or control groups that are killed last; the patterns work as in O(protected).
    type: list
    elements: str
    default: []
  units:
    description:
      - Services with brakes, which are started at most O(starts) times within an hour, after increasing pauses, and
        stay off if the machine went down within ten minutes after their start.
    type: list
    elements: str
    default: []
  starts:
    description: The number of starts after which these services stay off.
    type: int
    default: 4
  textfile:
    description:
      - The directory that node_exporter's textfile collector reads. C(sparkforge_guard.prom) is written there.
      - It must belong to root, and no other account may be able to write to it.
    type: path
  motd:
    description: Whether a line at login names the processes that the guard killed and any unit that stays off.
    type: bool
    default: true
  power_cap:
    description: The power limit of each GPU in watts. V(0) sets no limit.
    type: float
    default: 0
  clock_cap:
    description: The clock limit of each GPU in MHz, for GPUs that do not support a power limit. V(0) sets no limit.
    type: int
    default: 0
  nvml:
    description: A file to use instead of NVIDIA's management library, for tests.
    type: path
seealso:
  - module: sparkforge.dgx_spark.proof_publish
"""

EXAMPLES = r"""
- name: Guard this host, and kill a notebook before anything else
  sparkforge.dgx_spark.guard:
    first: [jupyter-*]
    units: [sparkforge-serving.service]

- name: Remove the guard
  sparkforge.dgx_spark.guard:
    state: absent
"""

RETURN = r"""
files:
  description: The guard's files.
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
    # Do not keep the program here, because the installation does that.
    program.run(module, "install", module.params["root"], keep=False, name="guard")


if __name__ == "__main__":
    main()
