#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: systemd_units
short_description: Install systemd units and the files that they need
version_added: "0.1.0"
description:
  - Writes the files that differ, reloads systemd, and enables and starts units, in one call.
  - With O(state=absent) it stops and disables the units among O(files), and removes all of these.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
options:
  files:
    description: The units, and files that belong to them. A text that begins with C(#!) becomes executable.
    type: list
    elements: dict
    required: true
    suboptions:
      path:
        description: The absolute path.
        type: path
        required: true
      content:
        description: The text, or a mapping that is written as JSON. Without it the file is removed.
        type: raw
  started:
    description: Units to enable, and to start or restart if a file changed or they do not run.
    type: list
    elements: str
    default: []
  state:
    description: Whether they are installed.
    type: str
    choices: [present, absent]
    default: present
author: The sparkforge maintainers (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Run a backup every night
  sparkforge.dgx_spark.systemd_units:
    files:
      - path: /etc/systemd/system/backup.service
        content: "{{ lookup('ansible.builtin.template', 'backup.service.j2') }}"
      - path: /etc/systemd/system/backup.timer
        content: "{{ lookup('ansible.builtin.template', 'backup.timer.j2') }}"
    started: [backup.timer]
"""

RETURN = r"""
files:
  description: The existing files among O(files).
  returned: success
  type: list
  elements: str
  sample: [/etc/systemd/system/backup.service, /etc/systemd/system/backup.timer]
"""

import json
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules, units


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "files": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": {"path": {"type": "path", "required": True}, "content": {"type": "raw"}},
            },
            "started": {"type": "list", "elements": "str", "default": []},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        supports_check_mode=True,
    )
    present = module.params["state"] == "present"
    contents = {row["path"]: _encoded(row["content"]) for row in module.params["files"]}
    wanted = {path: (text, 0o755 if text.startswith(b"#!") else 0o644) for path, text in contents.items() if text}
    started = module.params["started"]
    installation = units.Units(wanted, contents, started) if present else units.Units({}, contents)
    modules.run(module, lambda: installation.run(module.check_mode))


def _encoded(content: t.Any) -> bytes:
    if isinstance(content, dict):
        return f"{json.dumps(content, indent=2, sort_keys=True)}\n".encode()
    return str(content or "").encode()


if __name__ == "__main__":
    main()
