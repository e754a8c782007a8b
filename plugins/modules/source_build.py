#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: source_build
short_description: Build a wheel or a CMake project once, detached and resumable
version_added: "0.1.0"
description:
  - Builds one unit from source into C(<root>/wheelhouse/<platform>/<name>/<fingerprint>/), in the phases fetch,
    patch, prepare, configure, build, package and check.
  - A fingerprint of all inputs identifies the unit; whether files exist and how old they are does not matter. A unit
    whose fingerprint was already built is left unchanged, at the cost of one call, which queries the tool versions.
  - The build runs detached from ssh, as an unprivileged account, and outlives the connection, Ctrl-C and the
    controller. Running the same task again follows it. A killed build resumes from its objects.
  - If an input changes, for example because a patch was added, the unit is built in a separate directory; ccache
    shortens the build.
  - C(--check) reports whether the unit would be built, and C(--diff) shows which inputs changed.
  - The number of parallel jobs depends on the memory. A build that runs out of memory continues with half the jobs, at
    most twice.
  - Proxies, certificates and pip's index (C(PIP_CONFIG_FILE), C(PIP_INDEX_URL) …) are taken from the task's
    environment and used only for fetching; the build itself does not see them.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
attributes:
  idempotent:
    support: full
    details:
      - If O(source.version) names a branch, the unit is rebuilt whenever the branch moves. Use a commit to avoid that.
options:
  name:
    description: The unit's name, which may contain lower-case letters, digits and C(_).
    type: str
    required: true
  unit:
    description:
      - Any of the options below in one mapping, as in the roles' plans. Options outside the mapping take precedence;
        V(null) counts as unset.
    type: dict
    default: {}
  state:
    description:
      - V(present) makes sure that the artefact for these inputs exists.
      - V(absent) stops the unit's builds and removes its trees, artefacts, receipts and logs.
    type: str
    choices: [present, absent]
    default: present
  kind:
    description:
      - V(wheel) runs C(pip wheel --no-build-isolation) in an environment created for it.
      - V(cmake) configures with Ninja, builds, and installs into a prefix.
      - Required for O(state=present).
    type: str
    choices: [wheel, cmake]
  source:
    description: The source and its location. Required for O(state=present).
    type: dict
    suboptions:
      repo:
        description: URL of a git repository.
        type: str
      version:
        description: Commit, tag or branch of O(source.repo). Comparing a commit needs no network.
        type: str
      submodules:
        description: Whether to check out submodules, recursively.
        type: bool
        default: true
      archive:
        description: URL of an archive or an sdist, or its path on the host.
        type: str
      sha256:
        description: The sha256 that O(source.archive) must have, as 64 hexadecimal digits.
        type: str
  rewrite:
    description:
      - URL prefixes and their replacements, for repositories, submodules and archives, such as a site's mirror. The
        roles add the unit's own prefixes to C(sparkforge_rewrite); the longest match applies.
    type: dict
    default: {}
  subdirectory:
    description: The directory in the source that contains C(pyproject.toml), C(setup.py) or C(CMakeLists.txt).
    type: str
    default: ""
  patches:
    description: Unified diffs, applied with C(-p1). An item may also be the path of a file on the controller.
    type: list
    elements: raw
    default: []
  edits:
    description:
      - Text replacements in the source, for changes that are too small for a patch or whose position differs between
        versions. Each must match exactly O(edits[].count) times.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: File, relative to the source.
        type: str
        required: true
      match:
        description: The text to replace.
        type: str
        required: true
      replace:
        description: The replacement.
        type: str
        required: true
      name:
        description: The edit's name in messages.
        type: str
      count:
        description: The required number of matches.
        type: int
        default: 1
  environment:
    description:
      - The build's environment variables; it inherits no others. C({source}), C({build}), C({environment}), C({root}),
        C({prefix}) and C({depends.<name>.prefix}) are replaced with paths, here and in O(cmake_args).
    type: dict
    default: {}
  requirements:
    description:
      - The build's requirements and all their dependencies, as pip requirement lines. If each has a hash, hashes are
        required.
    type: list
    elements: str
    default: []
  index_url:
    description:
      - The package index for the requirements; empty for none. If unset, the host's C(/etc/pip.conf) and the task's
        environment apply, or else pip's default.
    type: str
  find_links:
    description: Directories or pages with wheels for the requirements.
    type: list
    elements: str
    default: []
  python:
    description: The interpreter for which the wheel is built.
    type: str
    default: /usr/bin/python3
  cmake_args:
    description: Arguments of C(cmake) for O(kind=cmake). The build type is C(Release) by default.
    type: list
    elements: str
    default: []
  depends:
    description:
      - Units that must be built first, by name or as name and fingerprint. Their wheels are installed for the build;
        their fingerprints are inputs of this unit.
    type: list
    elements: raw
    default: []
  toolchain:
    description:
      - The tools C(cc), C(cxx), C(cmake), C(ninja) and C(nvcc), as paths or names. Versions of gcc (major), nvcc
        (minor), CMake and Ninja (minor) and the Python ABI are inputs; a patch-level change is only reported.
      - CMake and Ninja from O(requirements) take precedence and need not be on the host. Their pins are the input, and
        the receipt records their versions.
    type: dict
    default: {}
  minimum:
    description: The oldest accepted version of a tool, for example C(cxx) 11.
    type: dict
    default: {}
  libraries:
    description:
      - The host libraries that the unit is compiled against, by name, each with the requested C(version), which is an
        input, and C(found), the host's version, which is recorded. A later change is reported as a toolchain change and
        does not cause a rebuild.
    type: dict
    default: {}
  jobs:
    description: The number of parallel compile jobs; V(0) for as many as cores and memory allow.
    type: int
    default: 0
  memory_per_job:
    description: Maximum memory per job, in MiB.
    type: int
    default: 4096
  memory_reserve:
    description:
      - Memory to leave free, in MiB; V(0) for 16 GiB or 15 %, whichever is more, or a quarter on hosts with less than
        64 GiB.
    type: int
    default: 0
  free_space:
    description: The free space that the build needs in O(root), in MiB; with less it does not start.
    type: int
    default: 0
  network:
    description:
      - Whether configuring, compiling and packaging may use the network.
      - If false, seccomp blocks the network, including loopback, in these phases. An emulator lacks seccomp and does
        not block it. The source and O(requirements) are fetched beforehand.
    type: bool
    default: false
  ccache:
    description: Whether to compile C, C++ and CUDA through ccache if it is installed.
    type: bool
    default: true
  ccache_size:
    description: The size limit of ccache's store, which all units share.
    type: str
    default: 20G
  expect:
    description: Required contents of the artefact; if something is missing, the build fails and lists it.
    type: dict
    default: {}
    suboptions:
      cmake_cache:
        description: Variables in C(CMakeCache.txt) and their values.
        type: dict
        default: {}
      libraries:
        description: Patterns of SONAMEs; for each pattern, at least one file must be linked with a matching library.
        type: list
        elements: str
        default: []
      architectures:
        description: Compute capabilities for which the artefact must contain CUDA code, for example V(12.0) or
          V(12.1a).
        type: list
        elements: str
        default: []
      files:
        description: Patterns of files that must exist.
        type: list
        elements: str
        default: []
      version:
        description: The wheel's version, with its local part.
        type: str
  rebuild:
    description: Whether to rebuild a fingerprint that was already built.
    type: bool
    default: false
  keep:
    description: The number of build trees of this unit to keep after a successful build.
    type: int
    default: 0
  override:
    description: Settings that the user overrode at their own risk; recorded in the receipt.
    type: str
  log_root:
    description: The directory for logs.
    type: path
    default: /var/log/sparkforge
  user:
    description:
      - The unprivileged account that builds, created if missing. If unset, the task's user; root must be named
        explicitly.
    type: str
  follow:
    description: Whether to wait for the build and print its progress.
    type: bool
    default: true
  attach:
    description: The last state that the action plugin saw. Not for use in playbooks.
    type: dict
notes:
  - If another unit is being built on the same host, the module waits for it.
  - Following a build takes a module call twice a minute and another at the end of each phase. Ansible's own polling
    costs the controller more than that, unless C(internal_poll_interval) in C(ansible.cfg) is raised from 0.001 to 0.01
    seconds.
seealso:
  - module: sparkforge.dgx_spark.build_info
  - module: sparkforge.dgx_spark.python_env
"""

EXAMPLES = r"""
- name: Build an extension against the PyTorch built here
  sparkforge.dgx_spark.source_build:
    name: torchvision
    kind: wheel
    source:
      repo: https://github.com/pytorch/vision.git
      version: 1e53952f57462e4c28103835cf1f9e504dbea84b
    requirements:
      - setuptools==80.9.0
      - wheel==0.45.1
    environment:
      FORCE_CUDA: "1"
      TORCH_CUDA_ARCH_LIST: "12.0"
    depends: [pytorch]
    user: sparkforge
  become: true
"""

RETURN = r"""
status:
  description: V(unchanged), V(built), V(would_build), V(running) or V(absent).
  type: str
  returned: success
  sample: built
name:
  description: The name of the unit.
  type: str
  returned: always
  sample: torchvision
fingerprint:
  description: The hash that identifies the inputs.
  type: str
  returned: when present
  sample: 4b5c1f0e9a37d286
platform:
  description: The system and machine for which the artefact is built.
  type: str
  returned: when present
  sample: ubuntu24.04-aarch64
directory:
  description: The directory of the build, with its state, sources and objects.
  type: str
  returned: when running or built
  sample: /opt/sparkforge/builds/torchvision/4b5c1f0e9a37d286
artefact:
  description: The artefact's path.
  type: str
  returned: when present
  sample: /opt/sparkforge/wheelhouse/ubuntu24.04-aarch64/torchvision/4b5c1f0e9a37d286
prefix:
  description: The installation path of a CMake project.
  type: str
  returned: when present, for kind cmake
  sample: /opt/sparkforge/wheelhouse/ubuntu24.04-aarch64/llvm/0f3a56be12c4d789/prefix
wheels:
  description: The wheels that were built.
  type: list
  elements: dict
  returned: when present
  sample:
    - name: torchvision
      version: 0.24.1+spark
      path: /opt/sparkforge/wheelhouse/ubuntu24.04-aarch64/torchvision/4b5c1f0e9a37d286/torchvision-0.24.1….whl
      file: torchvision-0.24.1+spark-cp312-cp312-linux_aarch64.whl
      sha256: 6f1c2c5c3d2f6e0f7c1d3a1b8b6d5b7c9f3d2e1a0b9c8d7e6f5a4b3c2d1e0f9a
      size: 7340032
receipt:
  description: The record of the finished unit.
  type: str
  returned: when present
  sample: /opt/sparkforge/receipts/units/torchvision-4b5c1f0e9a37d286.json
log:
  description: The build's log.
  type: str
  returned: when present
  sample: /var/log/sparkforge/torchvision-4b5c1f0e9a37d286.log
changes:
  description: The inputs that differ from the last build, by name.
  type: list
  elements: str
  returned: when present
  sample: ["environment.USE_CUFILE: 0 -> 1"]
toolchain_changes:
  description: Patch-level changes of the toolchain and changed versions of O(libraries); they cause no rebuild.
  type: list
  elements: str
  returned: when present
  sample: ["cc: 13.3.0 -> 13.3.1"]
notes:
  description: Events during the build, for example that it continued after running out of memory.
  type: list
  elements: str
  returned: when built
state:
  description: The build's progress.
  type: dict
  returned: when running or built
  sample: {phase: build, status: running, done: 4231, total: 6231, jobs: 9, available_mib: 42105}
removed:
  description: The paths that O(state=absent) removes.
  type: list
  elements: str
  returned: when absent
  sample: [/opt/sparkforge/builds/torchvision]
lines:
  description: The relevant lines of the log.
  type: list
  elements: str
  returned: on failure of a command
  sample: ["c++: fatal error: Killed signal terminated program cc1plus"]
notices:
  description: Findings in the log that are not failures by themselves, such as an option that CMake turned off.
  type: list
  elements: str
  returned: on failure of a command
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import build_account, modules
from ..module_utils._unit import model, outcome


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            **model.argument_spec(),
            "unit": {"type": "dict", "default": {}},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "rebuild": {"type": "bool", "default": False},
            "override": {"type": "str"},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "log_root": {"type": "path", "default": "/var/log/sparkforge"},
            "user": {"type": "str"},
            "follow": {"type": "bool", "default": True},
            "attach": {"type": "dict"},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        options, attach = module.params, module.params["attach"]
        if attach:
            paths = model.Paths(
                options["root"], options["log_root"], options["name"], attach["fingerprint"], attach["platform"]
            )
            warnings: list[str] = []
            account = build_account.BuildAccount(options["user"])
            result = {"changed": True, **outcome.observe(paths, account, attach["seen"], warnings)}
        else:
            # Following a build avoids the engine, because each call compiles all imported code.
            from ..module_utils._unit import engine as _engine

            engine = _engine.Engine(options, check_mode=module.check_mode)
            result = engine.absent() if options["state"] == "absent" else engine.apply()
            warnings = engine.warnings
        return {**result, "warnings": warnings}

    modules.run(module, work)


if __name__ == "__main__":
    main()
