#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: elf_closure_info
short_description: List every shared library that the loader cannot find, in one pass
version_added: "0.1.0"
description:
  - Determines which file glibc's dynamic loader uses for every direct and indirect dependency of executables and shared
    libraries, and which libraries it cannot find.
  - Each missing library is listed with the files that need it and with the role, package and archive that provide it,
    so that you need not install one library to learn the name of the next.
  - It only reads ELF files and C(/etc/ld.so.cache), whereas C(ldd) would run the file.
  - It follows the rules of C(ld.so(8)) in their order, namely RPATH with inheritance, C(LD_LIBRARY_PATH), RUNPATH, the
    cache, the default directories, C($ORIGIN), C($LIB) and C($PLATFORM), glibc-hwcaps, and the SONAME of already loaded
    files. Symbol versions are not compared.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
options:
  paths:
    description:
      - Absolute paths of files or directories, or shell patterns of them.
      - A file must be a dynamically linked ELF file, and is treated as if it were loaded on its own.
      - A directory is walked without following links to directories. Files other than ELF are skipped. A library that
        another library in these directories loads is examined together with that library, whose RPATH it inherits.
    type: list
    elements: str
    required: true
  search:
    description: Directories to search as with C(LD_LIBRARY_PATH).
    type: list
    elements: str
    default: []
  root:
    description:
      - The root of the file system that contains O(paths), O(search) and C(/etc), for a chroot.
      - The returned paths are relative to this root.
    type: path
    default: /
  driver:
    description:
      - Whether missing V(libcuda.so.1) and V(libnvidia-ml.so.1) count as provided by the driver, for a host without a
        GPU. They are then returned in RV(driver_provided) instead of RV(missing).
    type: bool
    default: false
  ignore_absent:
    description: Whether to return a path that does not exist in RV(absent) instead of failing.
    type: bool
    default: false
  cuda_version:
    description:
      - CUDA major and minor, for example V(13.0), for use in package names.
      - If unset, names contain V(*) instead.
    type: str
seealso:
  - module: sparkforge.dgx_spark.spark_info
"""

EXAMPLES = r"""
- name: List all missing libraries of libtorch_cuda.so
  sparkforge.dgx_spark.elf_closure_info:
    paths:
      - /opt/sparkforge/envs/torch/current/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so
    cuda_version: "13.0"
  register: torch_closure

- name: Check before the driver is installed, with one more library directory
  sparkforge.dgx_spark.elf_closure_info:
    paths:
      - /opt/sparkforge/redist/*/current/lib
    search:
      - /usr/local/cuda/lib64
    driver: true
    ignore_absent: true
"""

RETURN = r"""
missing:
  description: The libraries that the loader cannot find, by SONAME.
  returned: success
  type: list
  elements: dict
  contains:
    soname:
      description: The required name.
      type: str
      sample: libcudss.so.0
    needed_by:
      description: Paths of the files that need it.
      type: list
      elements: str
      sample: [/opt/sparkforge/envs/torch/current/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so]
    machine:
      description: The machine for which it is needed, in the form of C(uname -m).
      type: str
      sample: aarch64
    bits:
      description: 32 or 64.
      type: int
      sample: 64
    provided_by:
      description: The role, package and archive that provide it; keys are null if unknown.
      type: dict
      sample:
        role: math_libraries
        package: libcudss0-cuda-13
        archive: cudss/redist/libcudss/linux-sbsa
        hint: cuDSS 0.7.1 to 0.8.0; cuDSS 1.0 is libcudss.so.1 and does not satisfy this.
    rejected:
      description: Files with that name that the loader skips or cannot load, each with the reason.
      type: list
      elements: dict
      sample: [{path: /usr/local/lib/libcudss.so.0, reason: "it is for x86_64, not aarch64"}]
    off_path:
      description: Files with that SONAME on the host, outside the loader's search path.
      type: list
      elements: str
      sample: [/usr/lib/aarch64-linux-gnu/libcudss/13/libcudss.so.0]
missing_optional:
  description:
    - As RV(missing), for libraries that only optional plug-ins in a directory need, each with the RV(ignore:reason) why
      it is optional.
  returned: success
  type: list
  elements: dict
wrong_version:
  description: Other versions of the missing libraries on the host.
  returned: success
  type: list
  elements: dict
  sample:
    - soname: libcudss.so.0
      found: libcudss.so.1
      path: /opt/sparkforge/redist/libcudss/current/lib/libcudss.so.1
      needed_by: [/opt/app/libtorch_cuda.so]
      note: libcudss.so.0 is missing; /opt/app/libcudss.so.1 is libcudss.so.1, which does not satisfy it.
driver_provided:
  description: Missing libraries that count as provided by the driver.
  returned: success
  type: list
  elements: str
  sample: [libcuda.so.1]
found:
  description: The number of different libraries that the loader finds.
  returned: success
  type: int
  sample: 41
resolved:
  description: For each needed library that the loader finds, its file.
  returned: success
  type: dict
  sample:
    libc.so.6: /lib/aarch64-linux-gnu/libc.so.6
absent:
  description: Paths that do not exist, with O(ignore_absent=true).
  returned: success
  type: list
  elements: str
unreadable:
  description: Damaged or unreadable files in a directory, each with the cause.
  returned: success
  type: list
  elements: dict
examined:
  description: The number of files that were read.
  returned: success
  type: int
  sample: 96
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._elf import closure


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "paths": {"type": "list", "elements": "str", "required": True},
            "search": {"type": "list", "elements": "str", "default": []},
            "root": {"type": "path", "default": "/"},
            "driver": {"type": "bool", "default": False},
            "ignore_absent": {"type": "bool", "default": False},
            "cuda_version": {"type": "str"},
        },
        supports_check_mode=True,
    )
    modules.run(module, lambda: closure.Closure(**module.params).result())


if __name__ == "__main__":
    main()
