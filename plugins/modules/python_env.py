#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: python_env
short_description: Make a virtual environment from hash-checked wheels and switch to it
version_added: "0.1.0"
description:
  - Makes C(<root>/envs/<name>/<environment id>/) from wheels that are all pinned and hashed, and makes C(current)
    point to it.
  - With O(switch=false) it is made and its imports are tried, and C(current) stays. It is then staged, and can be
    proven before anybody uses it.
  - The environment is made under a hidden name, moved to its final one, and switched to only after every
    module of O(imports) was imported there. Where anything fails, C(current) stays as it was.
  - What people start, namely C(<root>/bin/activate-<name>), C(<root>/bin/<name>-python) and the Jupyter
    kernel, runs the resolved path, so that a running job does not change versions when C(current) does.
  - Proxies and certificates are taken from the task's environment. Where E(SSL_CERT_FILE) is set and
    pip's own variables are not, pip is given that file.
  - Where the host has uv (C(/usr/local/bin), C(/usr/bin)), uv installs in the place of pip, unless O(index_url) is left
    out and the host configures pip. Whatever uv does not manage pip does. Both check the same hashes.
  - Root runs nothing that a wheel brings. What starts the environment's interpreter, namely the check that the packages
    fit each other and the imports, runs as C(nobody), and sees no variable of the task.
  - A converged environment costs one call that starts no process and fetches nothing.
extends_documentation_fragment: sparkforge.dgx_spark.attributes
attributes:
  check_mode:
    support: full
    details: The interpreter may still be missing; nothing is transferred.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: O(state=previous) without O(environment_id) goes back and forth.
options:
  name:
    description: Name of the environment; letters, digits, C(.), C(_) and C(-).
    type: str
    required: true
  root:
    description: Directory below which everything is kept.
    type: path
    default: /opt/sparkforge
  state:
    description:
      - V(present) makes the environment and switches to it.
      - V(previous) goes back to the environment before the current one, which becomes the previous one, so that the
        next V(previous) goes forward again. Links, the kernel and the receipt change; nothing is fetched, imported or
        removed, and of the other options only O(root), O(environment_id) and O(kernel_dir) count.
      - It is refused where there is no such environment, where it is damaged, or where a package of the host that it
        was made with is gone, older, or of another major version. A newer one gives a warning, and the proof has the
        last word.
      - V(absent) removes every environment of this name with its scripts, kernel, wheels and receipt.
    type: str
    choices: [present, previous, absent]
    default: present
  wanted:
    description:
      - Options of this module in one mapping, as O(sparkforge.dgx_spark.stack_status#module:wanted) has them. What the
        task gives itself wins.
    type: dict
    default: {}
  switch:
    description:
      - Whether V(present) makes C(current) point to the environment.
      - V(false) makes C(staged) point to it, and leaves the current environment, its scripts, its kernel, its group
        and its receipt as they are. Where it is the current one already, it is kept as with V(true).
      - A staged environment stays until it is switched to or another one is staged.
    type: bool
    default: true
  python:
    description: The interpreter, as a path or as a version such as V(3.12); 3.9 or newer.
    type: str
    default: /usr/bin/python3
  requirements:
    description:
      - Requirements as C(name==version --hash=sha256:...), the whole closure.
      - With neither these nor O(wheels), O(environment_id) names an environment that is there already.
    type: list
    elements: str
    default: []
  override:
    description:
      - Packages among O(requirements) whose version others do not ask for, on purpose.
      - The installer then resolves nothing, and C(pip check) may complain of these alone.
    type: list
    elements: str
    default: []
  wheels:
    description:
      - Wheel files, as paths or as mappings of C(path) and C(sha256).
      - They lie on the controller and are sent only where the host lacks them, unless O(remote_src) is set.
      - A wheel whose name is also in O(requirements) is offered to pip; any other is installed as it is.
    type: list
    elements: raw
    default: []
  remote_src:
    description: Whether the O(wheels) lie on the host already.
    type: bool
    default: false
  find_links:
    description: Directories of the host, or URLs, that pip looks for wheels in, besides the index.
    type: list
    elements: str
    default: []
  index_url:
    description:
      - The package index.
      - Left out, the host's own pip configuration decides. Empty or V(none), no index is asked.
    type: str
  credentials:
    description:
      - User names and passwords of servers that O(index_url) and O(find_links) name.
      - pip reads them from a file that nobody but the user of the task can read and that is removed afterwards. They
        are in no command line, receipt, diff or message.
    type: list
    elements: dict
    default: []
    suboptions:
      url:
        description: A URL of the server; its name alone counts.
        type: str
      host:
        description: The name of the server, instead of O(credentials[].url).
        type: str
      username:
        description: The user name.
        type: str
        required: true
      password:
        description: The password.
        type: str
        required: true
  packages:
    description:
      - Packages of apt that the environment needs, and their versions. O(state=previous) compares them with the host's.
      - Left out, its Python's, and those of CUDA, cuDNN, NCCL and cuSPARSELt whose libraries its files load.
    type: dict
  stack:
    description:
      - What to record of the stack that the environment is of, such as C(name), C(lock_id) and C(method). A later
        rollback proves it by that.
    type: dict
  environment_id:
    description:
      - Name of the environment's directory.
      - With O(state=previous) the environment to go back to; only so a second run changes nothing.
      - Left out, the first 12 digits of the sha256 over the version of Python, the machine, the requirements
        and the wheels.
    type: str
    aliases: [lock_id]
  imports:
    description: Modules that must import before the environment is switched to. Their versions are recorded.
    type: list
    elements: str
    default: []
  require_cuda:
    description: Whether a C(torch) that is not a CUDA build is refused.
    type: bool
    default: false
  library_paths:
    description:
      - Versioned directories of shared libraries, which the environment finds through E(LD_LIBRARY_PATH).
      - Left out, an environment keeps those that it was made with.
    type: list
    elements: str
  environment:
    description:
      - Variables that the activation script, the launcher and the kernel set, such as E(TRITON_PTXAS_PATH).
      - Left out, an environment keeps those that it was made with.
    type: dict
  group:
    description:
      - Group that may use the environment; made where it is missing. Others cannot enter it.
      - Left out, everybody may use it.
    type: str
  users:
    description:
      - Accounts of the host that are to be members of O(group), beside the one that Ansible connected as, where it
        became root with sudo. root is never one of them.
      - They are added, and nobody is taken out; O(state=absent) takes out whom this module added.
      - Nobody is added to a group of the system (an id below 1000) that this collection did not make, such as
        C(docker). With a user of this list who is not its member it is refused.
    type: list
    elements: str
    default: []
  compile:
    description:
      - Whether to compile every module to bytecode at once.
      - Otherwise only what O(imports) loads is, and users who cannot write to the environment compile the rest at each
        start. Emulation, where compiling takes minutes, is the place for V(false).
    type: bool
    default: true
  jupyter:
    description: Whether to write a Jupyter kernel; without C(ipykernel) in it, a warning instead.
    type: bool
    default: false
  kernel_dir:
    description: Directory of Jupyter kernels.
    type: path
    default: /usr/local/share/jupyter/kernels
  keep:
    description:
      - How many environments of this name stay, the current one included.
      - The previous one, a staged one, and one that a process uses, always stay.
    type: int
    default: 2
  force:
    description: Whether V(absent) removes an environment that a process uses.
    type: bool
    default: false
  transferred:
    description: Set by the action plugin - where the wheels that it sent lie, by sha256.
    type: dict
    default: {}
author: The sparkforge maintainers (@sparkforge)
"""

EXAMPLES = r"""
- name: Install PyTorch from the lock
  sparkforge.dgx_spark.python_env:
    name: torch
    python: "3.12"
    requirements: "{{ stack.lock.wheels['cp312-linux-aarch64'] }}"
    imports: [torch]
    require_cuda: true
    group: sparkforge
  become: true

- name: Install a wheel of the controller, with no index
  sparkforge.dgx_spark.python_env:
    name: tools
    wheels:
      - files/tool-1.0-py3-none-any.whl
    index_url: none
  become: true

- name: Make an environment that nobody uses yet
  sparkforge.dgx_spark.python_env:
    name: torch
    python: "3.12"
    requirements: "{{ stack.lock.wheels['cp312-linux-aarch64'] }}"
    imports: [torch]
    switch: false
  become: true
  register: staged

- name: Go back to the environment before the current one
  sparkforge.dgx_spark.python_env:
    name: torch
    state: previous
  become: true

- name: Go back to an environment that is still there
  sparkforge.dgx_spark.python_env:
    name: torch
    state: previous
    environment_id: 5d41402abc4b
  become: true

- name: Remove the environment and all that came with it
  sparkforge.dgx_spark.python_env:
    name: torch
    state: absent
  become: true
"""

RETURN = r"""
environment_id:
  description: Name of the environment that was asked for; null where absent or not yet known.
  type: str
  returned: always
  sample: 5d41402abc4b
path:
  description: Where it lies, whether it is current or not; null where not yet known.
  type: str
  returned: when present
  sample: /opt/sparkforge/envs/torch/5d41402abc4b
stack:
  description: What was recorded of the stack that it is of.
  type: dict
  returned: when present
  sample: {name: torch-2.9.1, lock_id: 1f0c6f3b2a91, method: build}
current:
  description: Name of the environment that is current now, or would be; null where there is none.
  type: str
  returned: when present
  sample: 5d41402abc4b
staged:
  description: Name of the environment that is made and not switched to; null where there is none.
  type: str
  returned: when present
  sample: null
previous:
  description: Name of the environment before this one.
  type: str
  returned: when present
  sample: null
actions:
  description: What was done, or would be in check mode.
  type: list
  elements: str
  returned: when present
  sample: [install, switch, files]
python:
  description: The interpreter that the environment was made with.
  type: dict
  returned: when present
  sample: {path: /usr/bin/python3.12, version: "3.12"}
packages:
  description: Every installed distribution and its version.
  type: dict
  returned: when present
  sample: {torch: 2.15.0}
modules:
  description: What the modules of O(imports) said of themselves.
  type: dict
  returned: when present
  sample: {torch: {version: 2.15.0, cuda: "13.0", git_version: 0e5f4e0a}}
paths:
  description: Where things are.
  type: dict
  returned: when present
  sample:
    environment: /opt/sparkforge/envs/torch/5d41402abc4b
    python: /opt/sparkforge/envs/torch/5d41402abc4b/bin/python
    current: /opt/sparkforge/envs/torch/current
    activate: /opt/sparkforge/bin/activate-torch
    launcher: /opt/sparkforge/bin/torch-python
    kernel: null
removed:
  description: Older environments that were removed.
  type: list
  elements: str
  returned: when present
  sample: []
in_use:
  description: Older environments that stay because processes use them, with the process ids.
  type: dict
  returned: when present
  sample: {0cc175b9c0f1: [4711]}
missing_wheels:
  description: Wheels that the host lacks. The action plugin sends them.
  type: list
  elements: dict
  returned: when present
  sample: []
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core import modules
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._environment import model, states


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "state": {"type": "str", "choices": ["present", "previous", "absent"], "default": "present"},
            "wanted": {"type": "dict", "default": {}},
            "switch": {"type": "bool", "default": True},
            "python": {"type": "str", "default": "/usr/bin/python3"},
            "requirements": {"type": "list", "elements": "str", "default": []},
            "override": {"type": "list", "elements": "str", "default": []},
            "wheels": {"type": "list", "elements": "raw", "default": []},
            "remote_src": {"type": "bool", "default": False},
            "find_links": {"type": "list", "elements": "str", "default": []},
            "index_url": {"type": "str"},
            "credentials": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "url": {"type": "str"},
                    "host": {"type": "str"},
                    "username": {"type": "str", "required": True},
                    "password": {"type": "str", "required": True, "no_log": True},
                },
            },
            "packages": {"type": "dict"},
            "stack": {"type": "dict"},
            "environment_id": {"type": "str", "aliases": ["lock_id"]},
            "imports": {"type": "list", "elements": "str", "default": []},
            "require_cuda": {"type": "bool", "default": False},
            "library_paths": {"type": "list", "elements": "str"},
            "environment": {"type": "dict"},
            "group": {"type": "str"},
            "users": {"type": "list", "elements": "str", "default": []},
            "compile": {"type": "bool", "default": True},
            "jupyter": {"type": "bool", "default": False},
            "kernel_dir": {"type": "path", "default": "/usr/local/share/jupyter/kernels"},
            "keep": {"type": "int", "default": 2},
            "force": {"type": "bool", "default": False},
            "transferred": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        # Whom sudo was called by: the account that Ansible connected as, also over a local connection.
        login = os.environ.get("SUDO_USER")
        options = model.read(module.params, check_mode=module.check_mode, login=login)
        return states.ensure(options, module.run_command)

    modules.run(module, work)


if __name__ == "__main__":
    main()
