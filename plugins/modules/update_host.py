#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Upgrade a host by apt, with a way back."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: update_host
short_description: Upgrade a host by apt with a way back
version_added: "0.1.0"
description:
  - Saves the packages of the replaced versions, the configuration and the running kernel, then upgrades by apt, and
    either keeps the upgrade or goes back to the previous packages.
  - Each step can be called again after a power loss and continues from the state on the disk.
  - GRUB boots a new kernel once, and the former one by default. The new one becomes the default when a unit on the host
    has found the driver and the network there. A host that panics or hangs comes back on the former kernel.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.root
author: The sparkforge maintainers (!UNKNOWN)
options:
  step:
    description:
      - V(begin) saves what will change, and holds the packages that the ledger holds. It refuses a host that is not in
        a state to begin, and a plan that does more than was forecast; nothing is changed then.
      - V(upgrade) upgrades. With a new kernel, the next boot is its trial.
      - V(check) fails if the driver is not as before, or the kernel is not the one that it has to be.
      - V(keep) ends an upgrade that was proven.
      - V(back) goes back to the previous packages. While a new kernel runs, it only has GRUB boot the former one, and
        the step is due again after that boot.
      - V(look) only reads.
    type: str
    required: true
    choices: [begin, upgrade, check, keep, back, look]
  plan:
    description: The C(plan) of the forecast, for V(begin).
    type: dict
    default: {}
  holds:
    description: The packages to hold, each with the id of its rule.
    type: dict
    default: {}
  over:
    description: The packages whose rule is over. Only holds that this module set are removed.
    type: list
    elements: str
    default: []
  broke:
    description: What broke, for V(back).
    type: str
  mode:
    description: As for P(sparkforge.dgx_spark.update_info#module).
    type: str
    choices: [full, safe]
    default: full
  kernel:
    description:
      - Whether a new kernel is booted V(once), for V(begin). It is refused if GRUB cannot do that.
      - With V(hold), what brings a new kernel is held.
    type: str
    choices: [once, hold]
    default: once
  lock_timeout:
    description: Seconds to wait for another process that holds an apt or dpkg lock.
    type: int
    default: 120
attributes:
  check_mode:
    support: full
    details: Changes nothing then and returns the last state.
  diff_mode:
    support: none
    details: The forecast shows what would change.
  idempotent:
    support: full
"""

EXAMPLES = r"""
- name: Keep what the upgrade will change
  sparkforge.dgx_spark.update_host:
    step: begin
    plan: "{{ update_forecast_made.hosts[inventory_hostname].plan }}"
  become: true
"""

RETURN = r"""
phase:
  description:
    - How far the upgrade is. V(snapshot), V(upgrading), V(upgraded), V(trying), V(proven), V(kept), V(returning)
      or V(returned), or V(none).
  returned: success
  type: str
  sample: upgraded
lacking:
  description:
    - After V(begin) the packages whose version is no longer in any source, for which there is no way back.
    - After V(back) the packages that are not as before.
  returned: success
  type: list
  elements: str
reboot:
  description: Whether the host has to be rebooted for a changed driver, to try a new kernel, or to leave it.
  returned: success
  type: bool
  sample: true
holds:
  description: The packages that this module holds, with the id of the rule of each.
  returned: success
  type: dict
  sample: {libcudnn9-cuda-13: cudnn-driver}
kernel:
  description: The new kernel of the upgrade, if it has one.
  returned: success
  type: str
  sample: 6.17.0-1022-nvidia
broke:
  description: What broke, if the upgrade was reverted.
  returned: success
  type: str
  sample: The driver 580.173.02 was loaded before the upgrade, and none is now.
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._apt.apt_get import ENVIRONMENT, Apt, command_runner
from ..module_utils._core import modules, receipts
from ..module_utils._host.reader import Host
from ..module_utils._update import upgrade
from ..module_utils._update.observation import UPGRADES


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "step": {"type": "str", "required": True, "choices": ["begin", "upgrade", "check", "keep", "back", "look"]},
            "plan": {"type": "dict", "default": {}},
            "holds": {"type": "dict", "default": {}},
            "over": {"type": "list", "elements": "str", "default": []},
            "broke": {"type": "str"},
            "mode": {"type": "str", "choices": list(UPGRADES), "default": "full"},
            "kernel": {"type": "str", "choices": ["once", "hold"], "default": "once"},
            "lock_timeout": {"type": "int", "default": 120},
            "root": {"type": "path", "default": "/opt/sparkforge"},
        },
        supports_check_mode=True,
    )
    options = module.params

    def work() -> dict[str, t.Any]:
        run = command_runner(module)
        apt = Apt(run, lock_timeout=options["lock_timeout"])
        host = Host(run=lambda argv: run(argv, ENVIRONMENT))
        engine = upgrade.Upgrade(apt, options["root"], host, options["mode"], options["kernel"])
        before = upgrade.read(options["root"])
        step = "look" if module.check_mode else options["step"]
        steps: dict[str, t.Callable[[], t.Any]] = {
            "begin": lambda: engine.begin(options["plan"], options["holds"], options["over"]),
            "upgrade": engine.upgrade,
            "check": engine.check,
            "keep": engine.keep,
            "back": lambda: engine.back(options["broke"]),
            "look": lambda: before,
        }
        if step == "look":
            state = steps[step]() or {}
        else:
            with receipts.lock(options["root"], "update", wait=0):
                state = steps[step]()
        return {
            "changed": step != "look" and state != before and bool(state.get("changed")),
            "phase": state.get("phase") or "none",
            "lacking": state.get("lacking") or [],
            "reboot": upgrade.needs_boot(state, engine.host),
            "holds": engine.holds.ours(),
            "kernel": state.get("kernel_new") or "",
            "broke": state.get("broke") or "",
        }

    modules.run(module, work)


if __name__ == "__main__":
    main()
