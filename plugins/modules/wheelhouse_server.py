#!/usr/bin/python

# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Serve the wheelhouse with nginx."""

from __future__ import annotations

DOCUMENTATION = r"""
---
module: wheelhouse_server
short_description: Serve the wheelhouse with nginx
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Gives nginx one server file, C(/etc/nginx/conf.d/sparkforge-wheelhouse.conf), that serves the manifests, the simple
    index and the wheels below C(<root>/wheelhouse), read only, and nothing else.
  - Asks C(nginx -t) before nginx reads it. Where that refuses, or nginx does not serve it afterwards, the files are as
    they were before.
  - One page, C(/-/configuration), says which configuration is served. So one question settles whether anything is to be
    done, also whether nginx runs.
  - Works with systemd, and without it, as in a container, where nginx is started as a daemon of its own.
  - Where this collection brought nginx, the page that the package shows on port 80 is taken away.
options:
  root:
    description: Directory that holds the wheelhouse.
    type: path
    default: /opt/sparkforge
  listen:
    description: The addresses to listen at, of IPv4 or IPv6.
    type: list
    elements: str
    default: [0.0.0.0]
  port:
    description: The port to listen at.
    type: int
    default: 8629
  certificate:
    description: The certificate with its chain, PEM. Without it HTTP is served.
    type: str
  key:
    description: The key of O(certificate), PEM without a passphrase.
    type: str
  username:
    description: The name that basic authentication asks for. Without it everybody may read.
    type: str
  password:
    description:
      - The password to O(username). The host keeps a salted digest of it, in a file that root and nginx may read.
    type: str
  state:
    description: Whether it is served; V(absent) removes the files of this module.
    type: str
    choices: [present, absent]
    default: present
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
  platform:
    support: full
    platforms: Debian, Ubuntu, DGX OS
notes:
  - In check mode it is no failure that nginx is not installed yet.
seealso:
  - module: sparkforge.dgx_spark.wheelhouse
"""

EXAMPLES = r"""
- name: Serve the wheelhouse over HTTPS to those who know the password
  sparkforge.dgx_spark.wheelhouse_server:
    port: 8629
    certificate: "{{ lookup('ansible.builtin.file', 'spark01.pem') }}"
    key: "{{ lookup('ansible.builtin.file', 'spark01.key') }}"
    username: fleet
    password: "{{ vault_wheelhouse_password }}"
  become: true

- name: Serve it no longer
  sparkforge.dgx_spark.wheelhouse_server:
    state: absent
  become: true
"""

RETURN = r"""
url:
  description: Where it is served, as this host itself reaches it; null with O(state=absent).
  returned: success
  type: str
  sample: https://127.0.0.1:8629/
files:
  description: The files that belong to it.
  returned: success
  type: list
  elements: str
  sample: [/etc/nginx/conf.d/sparkforge-wheelhouse.conf]
reasons:
  description: What was to be done although the files are as they are to be.
  returned: success
  type: list
  elements: str
  sample: [nginx does not serve it]
cause:
  description: What is wrong, in one sentence.
  returned: failure
  type: str
  sample: The port 8629 is used by python3 (process 4711).
remedy:
  description: What to do about it, in one sentence.
  returned: failure
  type: str
  sample: Set wheelhouse_port to a free one, or end that process.
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.apt_get import command_runner
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import modules
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._wheelhouse import server as _wheelhouse_server


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "listen": {"type": "list", "elements": "str", "default": ["0.0.0.0"]},  # noqa: S104 - other hosts are whom it serves
            "port": {"type": "int", "default": 8629},
            "certificate": {"type": "str"},
            "key": {"type": "str", "no_log": True},
            "username": {"type": "str"},
            "password": {"type": "str", "no_log": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        server = _wheelhouse_server.Server(module.params, command_runner(module), module.check_mode)
        result = server.absent() if module.params["state"] == "absent" else server.present()
        for warning in server.warnings:
            module.warn(warning)
        return result

    modules.run(module, work)


if __name__ == "__main__":
    main()
