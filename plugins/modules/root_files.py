#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: root_files
short_description: Install files and systemd units
version_added: "0.1.0"
description:
  - In one call, writes the files that differ, reloads systemd if they include units, and enables and starts units.
  - The content is sent with the module and not as a file of the connecting account. The files belong to the task's
    account.
  - O(state=absent) stops and disables the units in O(files), and removes all of the files.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
options:
  files:
    description: The files and units.
    type: list
    elements: dict
    required: true
    suboptions:
      path:
        description: The absolute path.
        type: path
        required: true
      content:
        description: The text, or a mapping to write as JSON. If neither content nor secret is set, the file is removed.
        type: raw
      secret:
        description: A text that is never output. For files that are not world-readable, C(--diff) shows no content.
        type: str
      mode:
        description: The permission bits. By default 0755 for a text that begins with C(#!), else 0644.
        type: str
        choices: ["0600", "0640", "0644", "0755"]
      group:
        description: The group of the file; by default the group of the task's account. It must exist.
        type: str
  started:
    description: Units to enable, and to start or restart if a file changed or they are not running.
    type: list
    elements: str
    default: []
  state:
    description: Whether the files are installed.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: Run a backup every night
  sparkforge.dgx_spark.root_files:
    files:
      - path: /etc/systemd/system/backup.service
        content: "{{ lookup('ansible.builtin.template', 'backup.service.j2') }}"
      - path: /etc/systemd/system/backup.timer
        content: "{{ lookup('ansible.builtin.template', 'backup.timer.j2') }}"
    started: [backup.timer]
"""

RETURN = r"""
files:
  description: The files in O(files) that exist.
  returned: success
  type: list
  elements: str
  sample: [/etc/systemd/system/backup.service, /etc/systemd/system/backup.timer]
"""

import grp
import json
import os
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
                "options": {
                    "path": {"type": "path", "required": True},
                    "content": {"type": "raw"},
                    "secret": {"type": "str", "no_log": True},
                    "mode": {"type": "str", "choices": ["0600", "0640", "0644", "0755"]},
                    "group": {"type": "str"},
                },
            },
            "started": {"type": "list", "elements": "str", "default": []},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        supports_check_mode=True,
    )
    modules.run(module, lambda: _installed(module))


def _installed(module: AnsibleModule) -> dict[str, t.Any]:
    options, contents, groups = module.params, {}, {}
    is_present = options["state"] == "present"
    for row in options["files"] if is_present else ():
        content = _encoded(row)
        if content:
            contents[row["path"]] = content, int(row["mode"] or ("0755" if content.startswith(b"#!") else "0644"), 8)
            groups[row["path"]] = grp.getgrnam(row["group"]).gr_gid if row["group"] else os.getegid()
    paths = [row["path"] for row in options["files"]]
    return units.Units(contents, paths, groups).run(options["started"] if is_present else (), module.check_mode)


def _encoded(row: dict[str, t.Any]) -> bytes:
    if isinstance(row["content"], dict):
        return f"{json.dumps(row['content'], indent=2, sort_keys=True)}\n".encode()
    return str(row["content"] or row["secret"] or "").encode()


if __name__ == "__main__":
    main()
