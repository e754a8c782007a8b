#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: python_env
short_description: Create a virtual environment from hash-checked wheels and switch to it
version_added: "0.1.0"
description:
  - Creates C(<root>/envs/<name>/<environment id>/) from pinned and hashed wheels, and points C(current) to it.
  - With O(switch=false) the environment is created and its imports are tested, but C(current) is unchanged. The
    environment is then staged and can be proven before anybody uses it.
  - The environment is created under a hidden name, moved to its final path, and activated only after every module in
    O(imports) has been imported there. If anything fails, C(current) is unchanged.
  - C(<root>/bin/activate-<name>), C(<root>/bin/<name>-python) and the Jupyter kernel use the resolved path, so that a
    running job does not change versions when C(current) does.
  - The module fetches the wheels itself, each to C(<root>/envs/<name>/.download/<sha256>/), and resumes downloads after
    a lost connection, also in the next run. The interpreter's own pip then installs them without a network.
  - Proxies and E(SSL_CERT_FILE) are taken from the task's environment.
  - Root runs no code from a wheel. The steps that start the environment's interpreter, C(pip check) and the imports,
    run without the task's variables and under a user id that nothing else on the host uses. They and all their child
    processes are killed when they exit, after 15 minutes, or if they print more than 4 MiB.
  - If the environment already matches, one call suffices, which starts no process and fetches nothing.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.root
attributes:
  check_mode:
    support: full
    details: The interpreter need not exist yet, and no wheel is sent to the host.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: O(state=previous) without O(environment_id) toggles between two environments.
options:
  name:
    description: The environment's name, which may contain letters, digits, C(.), C(_) and C(-).
    type: str
    required: true
  state:
    description:
      - V(present) creates the environment and switches to it.
      - V(previous) goes back to the previous environment; the current one becomes the previous one, so that the next
        V(previous) goes forward again. The links, the kernel and the receipt change; nothing is fetched, imported or
        removed, and only the options O(root), O(environment_id) and O(kernel_dir) apply.
      - V(previous) is refused if there is no such environment, if it is damaged, or if a host package that it was
        created with has been removed, downgraded or replaced by another major version. A newer version of the same
        major version only gives a warning, and the proof decides.
      - V(absent) removes every environment with this name, including its scripts, kernel, wheels and receipt.
    type: str
    choices: [present, previous, absent]
    default: present
  wanted:
    description:
      - Options of this module in one mapping, as in O(sparkforge.dgx_spark.stack_status#module:wanted). The task's own
        options take precedence.
    type: dict
    default: {}
  switch:
    description:
      - Whether V(present) points C(current) to the environment.
      - V(false) points C(staged) to it and leaves the current environment, its scripts, kernel, group and receipt
        unchanged. If it is already the current one, V(false) has the effect of V(true).
      - A staged environment is kept until it is activated or another one is staged.
    type: bool
    default: true
  python:
    description: The interpreter, as a path or as a version such as V(3.12); 3.9 or newer.
    type: str
    default: /usr/bin/python3
  requirements:
    description:
      - Requirements as C(name==version --hash=sha256:...), including all dependencies.
      - If this list and O(wheels) are empty, O(environment_id) must name an existing environment.
    type: list
    elements: str
    default: []
  override:
    description:
      - Packages in O(requirements) whose version deliberately differs from the requirements of other packages.
      - C(pip check) may only complain about these packages.
    type: list
    elements: str
    default: []
  wheels:
    description:
      - Wheel files on the controller, as paths or as mappings with C(path) and C(sha256). They are sent only if the
        host lacks them.
      - The action plugin passes the wheels that it sends as mappings with C(file) and C(sha256).
      - If a requirement lists a wheel's hash, that wheel is not downloaded.
    type: list
    elements: raw
    default: []
  find_links:
    description: Directories on the host, or URLs of pages, that are searched for wheels before the index.
    type: list
    elements: str
    default: []
  index_url:
    description:
      - The package index.
      - If unset, the host's pip configuration determines the indexes and pages to search. If empty or V(none), no index
        is used.
    type: str
  credentials:
    description:
      - User names and passwords for the servers in O(index_url) and O(find_links).
      - They are not written to any file, command line, receipt, diff or message.
    type: list
    elements: dict
    default: []
    suboptions:
      url:
        description: A URL on the server; only its host name is used.
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
  stack:
    description:
      - Facts to record about the environment's stack, such as C(name), C(lock_id) and C(method), for the proof after a
        rollback.
    type: dict
  environment_id:
    description:
      - Name of the environment's directory.
      - With O(state=previous), the environment to go back to; without it the task is not idempotent.
      - If unset, the name is the first 12 digits of a sha256 over the Python version, the machine, the requirements and
        the wheels.
    type: str
  imports:
    description: Modules that must be importable before switching to the environment. Their versions are recorded.
    type: list
    elements: str
    default: []
  require_cuda:
    description: Whether to refuse a C(torch) that is not a CUDA build.
    type: bool
    default: false
  library_paths:
    description:
      - Versioned directories of shared libraries, which the environment finds through E(LD_LIBRARY_PATH).
      - If unset, an environment keeps the directories that it was created with.
    type: list
    elements: str
  environment:
    description:
      - Variables that the activation script, the launcher and the kernel set, such as E(TRITON_PTXAS_PATH).
      - If unset, an environment keeps the variables that it was created with.
    type: dict
  group:
    description:
      - The group that may use the environment, created if missing. Other accounts cannot use the environment.
      - If unset, everybody may use it.
    type: str
  users:
    description:
      - Accounts to add to O(group). If Ansible became root with sudo, the account that it connected as is added too.
        root is never added.
      - V(present) adds members and removes none; O(state=absent) removes those that this module added.
      - No account is added to a system group (an id below 1000) that this collection did not create, such as C(docker).
        If O(group) is such a group and the list contains accounts that are not members, the task fails.
    type: list
    elements: str
    default: []
  compile:
    description:
      - Whether to compile every module to bytecode at once.
      - If false, only the modules that O(imports) loads are compiled, and users without write access compile the rest
        at each start. V(false) is useful under emulation, where compiling takes minutes.
    type: bool
    default: true
  jupyter:
    description: Whether to write a Jupyter kernel. If the environment lacks C(ipykernel), a warning is given instead.
    type: bool
    default: false
  kernel_dir:
    description: Directory of Jupyter kernels.
    type: path
    default: /usr/local/share/jupyter/kernels
  keep:
    description:
      - The number of environments with this name to keep, including the current one.
      - The previous environment, a staged one, and those in use by a process are always kept.
    type: int
    default: 2
  transferred:
    description: The paths of the wheels that the action plugin sent, by sha256. Not for use in playbooks.
    type: dict
    default: {}
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

- name: Install a wheel from the controller, without an index
  sparkforge.dgx_spark.python_env:
    name: tools
    wheels:
      - files/tool-1.0-py3-none-any.whl
    index_url: none
  become: true

- name: Go back to the previous environment
  sparkforge.dgx_spark.python_env:
    name: torch
    state: previous
  become: true
"""

RETURN = r"""
environment_id:
  description: Name of the requested environment; null if absent or not yet known.
  type: str
  returned: always
  sample: 5d41402abc4b
path:
  description: The path of the environment, whether it is current or not; null if not yet known.
  type: str
  returned: when present
  sample: /opt/sparkforge/envs/torch/5d41402abc4b
stack:
  description: The recorded facts about its stack.
  type: dict
  returned: when present
  sample: {name: torch-2.9.1, lock_id: 1f0c6f3b2a91, method: build}
current:
  description: Name of the environment that is now current, or would be; null if there is none.
  type: str
  returned: when present
  sample: 5d41402abc4b
staged:
  description: Name of the staged environment; null if there is none.
  type: str
  returned: when present
previous:
  description: Name of the previous environment.
  type: str
  returned: when present
actions:
  description: The steps that were taken, or would be taken in check mode.
  type: list
  elements: str
  returned: when present
  sample: [install, switch, files]
python:
  description: The interpreter that the environment was created with.
  type: dict
  returned: when present
  sample: {path: /usr/bin/python3.12, version: "3.12"}
packages:
  description: Every installed distribution and its version.
  type: dict
  returned: when present
  sample: {torch: 2.15.0}
modules:
  description: The facts that the modules of O(imports) reported about themselves.
  type: dict
  returned: when present
  sample: {torch: {version: 2.15.0, cuda: "13.0", git_version: 0e5f4e0a}}
paths:
  description: Paths of the environment and of its parts.
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
in_use:
  description: Older environments that are kept because processes use them, with the process ids.
  type: dict
  returned: when present
  sample: {0cc175b9c0f1: [4711]}
unfinished:
  description: Whether the module still has to fetch wheels. The action plugin then calls it again.
  type: bool
  returned: when true
download:
  description: The numbers of C(files) and C(bytes) fetched so far, and the wheels that this call C(finished).
  type: dict
  returned: when something was installed
  sample:
    finished: [{file: torch-2.13.0-cp312-cp312-manylinux_2_28_aarch64.whl, size: 412345678}]
    files: 61
    of_files: 61
    bytes: 3120000000
    of_bytes: 3120000000
    seconds: 61.7
    next: []
missing_wheels:
  description: Wheels that the host lacks. The action plugin sends them.
  type: list
  elements: dict
  returned: when present
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._environment import model, states


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
                "mutually_exclusive": [["url", "host"]],
                "required_one_of": [["url", "host"]],
            },
            "stack": {"type": "dict"},
            "environment_id": {"type": "str"},
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
            "transferred": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        # SUDO_USER is the account that Ansible connected as, even with a local connection.
        login = os.environ.get("SUDO_USER")
        options = model.read(module.params, check_mode=module.check_mode, login=login)
        return states.apply_state(options, module.run_command)

    modules.run(module, work)


if __name__ == "__main__":
    main()
