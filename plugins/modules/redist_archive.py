#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install or remove NVIDIA's redistributable archives."""

from __future__ import annotations

DOCUMENTATION = r"""
module: redist_archive
short_description: Install NVIDIA's redistributable archives side by side
version_added: "0.1.0"
description:
  - Installs libraries such as cuDSS, cuSPARSELt and NVPL from the archives that NVIDIA publishes with a
    manifest, C(redistrib_<release>.json). One call handles all archives of a host.
  - Each archive is unpacked as C(<prefix>/<component>/<version>[-<variant>]), and
    C(<prefix>/<component>/current) is a symlink to the version in use. The loader entry is
    C(sparkforge-<component>.conf), and C(ldconfig) runs once for all archives.
  - The manifests are read and compared with the pins before anything is downloaded, and every archive is
    verified and unpacked before the first symlink is switched. Invalid input leaves the host unchanged.
  - The receipts show whether a host is already up to date, without contacting a server. If files are missing or have a
    different size, the archive is installed again.
  - The previous version is kept, and older ones are removed. Going back to the previous version downloads nothing.
  - Concurrent runs wait for each other.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
attributes:
  check_mode:
    support: full
    details:
      - Contacts no server. Values that only a manifest contains, such as the version of an archive whose version is not
        pinned, are then C(null).
options:
  base_url:
    description:
      - The parent URL of the products. C(http://), C(https://) and C(file://) work.
      - Proxies and the CA are taken from the environment variables C(http_proxy), C(https_proxy), C(no_proxy) and
        C(SSL_CERT_FILE).
    type: str
    default: https://developer.download.nvidia.com/compute
  platform:
    description:
      - The platform's name in manifests. C(linux-sbsa) covers all ARM64 servers and the DGX Spark, and C(linux-aarch64)
        is for Tegra.
      - The default is C(linux-sbsa) on aarch64 and C(linux-x86_64) on x86_64.
    type: str
  variant:
    description:
      - The variant's name in manifests, C(cuda13) or C(cuda12). Empty for products without variants, such as NVPL.
    type: str
    default: ""
  prefix:
    description: The directory into which the archives are unpacked.
    type: path
    default: /opt/sparkforge/redist
  loader_directory:
    description:
      - The directory for the loader entries.
      - C(ldconfig) runs only if this is in C(/etc), since the loader reads no other directory.
    type: path
    default: /etc/ld.so.conf.d
  state:
    description:
      - V(present) installs, upgrades and downgrades.
      - V(absent) removes every version, symlink, loader entry and receipt of the components, and nothing else.
        Directories that are empty afterwards are removed.
    type: str
    choices: [present, absent]
    default: present
  archives:
    description: The archives, all in one list.
    type: list
    elements: dict
    required: true
    suboptions:
      component:
        description: The component in the manifest, for example C(libcudss).
        type: str
        required: true
      product:
        description: The product, a directory in O(base_url), for example C(cudss). Required for O(state=present).
        type: str
      release:
        description: The release label in the manifest's name, for example C(0.8.0). Required for O(state=present).
        type: str
      version:
        description: The pinned version, which the manifest must contain, for example C(0.8.0.10).
        type: str
      sha256:
        description:
          - The pinned sha256 of the archive, which the manifest must contain.
          - Without this pin the archive is still verified, but against a manifest that only TLS protects.
        type: str
      soname:
        description:
          - The pinned SONAME, which a library in the archive must have, for example C(libcudss.so.0). cuDSS 1.0 has
            C(libcudss.so.1), and programs linked against C(libcudss.so.0) cannot load it.
        type: str
      variant:
        description: Overrides O(variant) for this archive; use V("") if its manifest has no variants.
        type: str
notes:
  - NVIDIA's licences apply to the archives. RV(archives) names each licence, and the unpacked archive has its text.
"""

EXAMPLES = r"""
- name: Install cuDSS and NVPL
  sparkforge.dgx_spark.redist_archive:
    platform: linux-sbsa
    variant: cuda13
    archives:
      - product: cudss
        component: libcudss
        release: "0.8.0"
        version: "0.8.0.10"
        sha256: c5fe7e5796792e10c3c5971bbb169ab3040ba61fe6fc99bdcbc02cf0f1ed9409
        soname: libcudss.so.0
      - product: nvpl
        component: nvpl_blas
        release: "25.5"
        variant: ""
        sha256: 57704e2e211999c899bca26346b946b881b609554914245131b390410f7b93e8
      - product: nvpl
        component: nvpl_lapack
        release: "25.5"
        variant: ""
        sha256: f5b916aa36a8549946fc2262acebb082fe8c463bd1523a3c0cc2c93527231653
        soname: libnvpl_lapack_lp64_gomp.so.0
"""

RETURN = r"""
archives:
  description:
    - One row per archive, in the order of O(archives). With O(state=absent) a row has the C(component), the C(action)
      and the C(removed) paths.
    - C(version) is null if it is not pinned and the archive is not installed. C(path) is the directory of this version,
      whose content never changes, and C(current) the symlink to the version in use.
    - C(sonames) are the names under which the loader finds libraries from the archive; C(license) is the manifest's
      name for the licence.
    - C(action) is one of C(none), C(install), C(replace) and C(remove), and C(reason) explains the action, or is empty.
  returned: always
  type: list
  elements: dict
  sample:
    - component: libcudss
      product: cudss
      release: "0.8.0"
      version: "0.8.0.10"
      platform: linux-sbsa
      variant: cuda13
      sha256: c5fe7e5796792e10c3c5971bbb169ab3040ba61fe6fc99bdcbc02cf0f1ed9409
      path: /opt/sparkforge/redist/libcudss/0.8.0.10-cuda13
      current: /opt/sparkforge/redist/libcudss/current
      sonames: [libcudss.so.0, libcudss_mtlayer_gomp.so.0]
      license: NVIDIA cuDSS library
      action: replace
      reason: its release is 0.7.0, expected 0.8.0
      previous_version: "0.7.0.20"
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules, platforms
from ..module_utils._fetch import redist as _redist
from ..module_utils._fetch.redist_plan import archives_from


def work(module: AnsibleModule) -> dict[str, t.Any]:
    options = module.params
    archives = archives_from(
        options["archives"],
        options["platform"] or platforms.redist(os.uname().machine),
        options["variant"],
        options["state"],
    )
    loader_reads_it = os.path.normpath(options["loader_directory"]).startswith("/etc/")
    redist = _redist.RedistArchives(
        archives,
        options,
        module.check_mode,
        ldconfig=[module.get_bin_path("ldconfig", True, ["/sbin", "/usr/sbin"])] if loader_reads_it else [],
        run=lambda arguments: module.run_command(arguments, environ_update={"LC_ALL": "C.UTF-8"}),
    )
    return redist.present() if options["state"] == "present" else redist.absent()


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "base_url": {"type": "str", "default": "https://developer.download.nvidia.com/compute"},
            "platform": {"type": "str"},
            "variant": {"type": "str", "default": ""},
            "prefix": {"type": "path", "default": "/opt/sparkforge/redist"},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "loader_directory": {"type": "path", "default": "/etc/ld.so.conf.d"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "archives": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": {
                    "component": {"type": "str", "required": True},
                    "product": {"type": "str"},
                    "release": {"type": "str"},
                    "version": {"type": "str"},
                    "sha256": {"type": "str"},
                    "soname": {"type": "str"},
                    "variant": {"type": "str"},
                },
            },
        },
        supports_check_mode=True,
    )
    modules.run(module, lambda: work(module))


if __name__ == "__main__":
    main()
