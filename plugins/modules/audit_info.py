#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: audit_info
short_description: Re-read every installed file and list differences from the receipts
version_added: "0.1.0"
description:
  - Compares the files of every environment with RECORD, and RECORD with the wheels that are still on the host; wheels,
    units and archives with the sha256 in their receipts; manifests with what this host published; packages with
    dpkg's record of their files.
  - Only reads files and runs none of them. It takes as long as reading everything once.
  - Receipts are trusted, since only root can change them and the files that they name.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.proof.program
  - sparkforge.dgx_spark.root
options:
  sbom:
    description: The environment whose bill of materials to return, for example V(torch).
    type: str
seealso:
  - module: sparkforge.dgx_spark.cuda_proof
  - module: sparkforge.dgx_spark.build_info
author: The sparkforge maintainers (!UNKNOWN)
"""

EXAMPLES = r"""
- name: Compare everything that is installed with the receipts
  sparkforge.dgx_spark.audit_info:
  become: true
  register: audited
  failed_when: audited.differs | length > 0
"""

RETURN = r"""
checked:
  description: How many files were read, by kind; of packages, how many dpkg verified.
  type: dict
  returned: success
  sample: {environment: 12043, wheel: 4, unit: 4, manifest: 1, archive: 311, package: 23}
differs:
  description: The files that differ.
  type: list
  elements: dict
  returned: success
  contains:
    kind:
      description: V(environment), V(wheel), V(unit), V(manifest), V(archive) or V(package).
      type: str
    path:
      description: The file, or the receipt.
      type: str
    what:
      description: How it differs.
      type: str
sbom:
  description:
    - With O(sbom), CycloneDX 1.6 in JSON - the packages of the environment and the archives with their files, each with
      its sha256, the packages of the host, and for everything built here the commit, the patches and the unit.
  type: dict
  returned: success
  sample: {bomFormat: CycloneDX, specVersion: "1.6"}
summary:
  description: The same in a sentence.
  type: str
  returned: success
  sample: 12386 files match the receipts.
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": program.ROOT},
            "sbom": {"type": "str"},
            "program": program.ARGUMENT,
        },
        supports_check_mode=True,
    )
    program.run(module, "audit", module.params["root"], keep=False)


if __name__ == "__main__":
    main()
