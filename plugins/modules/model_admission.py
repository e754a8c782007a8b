#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_admission
short_description: Tell whether a model server fits into the memory
version_added: "0.1.0"
description:
  - Reads config.json and the headers of the weights, and the arguments of vLLM, SGLang, llama.cpp or a Python program,
    and compares the memory that they need with the available memory.
  - If the server does not fit, the module fails and suggests arguments that would fit. It also fails if the model's
    files are incomplete or do not belong together. If the memory cannot be computed, RV(answer) is V(unknown).
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.proof.program
options:
  command:
    description: The command, as a list of arguments.
    type: list
    elements: str
    required: true
  needs:
    description: The memory that the command needs, such as V(40G), if known.
    type: str
    default: ""
  releases:
    description: A unit that will be stopped first, so that its memory counts as available.
    type: str
    default: ""
seealso:
  - module: sparkforge.dgx_spark.guard
"""

EXAMPLES = r"""
- name: Check that the model fits
  sparkforge.dgx_spark.model_admission:
    command: [vllm, serve, /srv/models/llama, --max-model-len, "32768"]
"""

RETURN = r"""
answer:
  description: V(start), V(drop) if the page cache has to be dropped first, or V(unknown).
  returned: success
  type: str
  sample: start
said:
  description: The arithmetic, line by line, or the reason why the memory is unknown.
  returned: success
  type: list
  elements: str
  sample: ["weights                  15.0 GiB   BF16 15.0 GiB"]
jobs:
  description: The number of compilers that fit in addition.
  returned: success
  type: int
  sample: 4
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import program


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "command": {"type": "list", "elements": "str", "required": True},
            "needs": {"type": "str", "default": ""},
            "releases": {"type": "str", "default": ""},
            "program": program.ARGUMENT,
        },
        supports_check_mode=True,
    )
    program.run(module, "admit", program.ROOT, keep=False, name="guard")


if __name__ == "__main__":
    main()
