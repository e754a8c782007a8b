#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_info
short_description: Find the weights of a model on a host, and tell whether a server may load them
version_added: "0.1.0"
description:
  - Reads the names and modes of a model's files, in a bounded number of steps. It does not open weights, and it follows
    no link that leads out of the directory.
  - Refuses weights in pickle files, which run code when they are loaded.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.info
  - sparkforge.dgx_spark.root
options:
  model:
    description:
      - The absolute path of a directory with C(config.json), of a snapshot in a cache of the hub's client, or of that
        cache's directory for one model, C(~/.cache/huggingface/hub/models--ORGANISATION--NAME).
      - Or the name of a model that M(sparkforge.dgx_spark.hub_model) downloaded.
    type: str
    required: true
  allow_pickle:
    description: Whether pickle files are accepted.
    type: bool
    default: false
  required:
    description: Whether it is an error if a model given by name is not on the host.
    type: bool
    default: true
seealso:
  - module: sparkforge.dgx_spark.hub_model
"""

EXAMPLES = r"""
- name: Find a model that the owner has downloaded
  sparkforge.dgx_spark.model_info:
    model: /home/ada/.cache/huggingface/hub/models--Qwen--Qwen3-8B
  register: model
"""

RETURN = r"""
exists:
  description: Whether the model is on the host; if not, nothing else is returned.
  type: bool
  returned: success
directory:
  description: The directory to pass to an engine.
  type: str
  returned: if it exists
  sample: /home/ada/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/b968826d9c46dd6066d109eabc6255188de91218
bind:
  description: The directory that contains all of its files.
  type: str
  returned: if it exists
  sample: /home/ada/.cache/huggingface/hub/models--Qwen--Qwen3-8B
name:
  description: The model's name on the hub; empty if unknown.
  type: str
  returned: if it exists
  sample: Qwen/Qwen3-8B
bytes:
  description: The size of all files.
  type: int
  returned: if it exists
  sample: 16381470720
account:
  description: C(uid) and C(gid) of the only account that can read some of the files; null if everybody can read them.
  type: dict
  returned: if it exists
revision:
  description: The commit, for a model that M(sparkforge.dgx_spark.hub_model) downloaded.
  type: str
  returned: if it exists
license:
  description: The licence according to the hub, for a model that M(sparkforge.dgx_spark.hub_model) downloaded.
  type: str
  returned: if it exists
  sample: apache-2.0
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._core.errors import SparkforgeError
from ..module_utils._serving import weights


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "model": {"type": "str", "required": True},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "allow_pickle": {"type": "bool", "default": False},
            "required": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        model = module.params["model"]
        files = weights.find(model, module.params["root"], module.params["allow_pickle"])
        if files is None and module.params["required"]:
            cause = f"The model {model} is not on this host."
            raise SparkforgeError(cause, f"Get it with `sparkforge model get {model}` or playbooks/model.yml.")
        return {"changed": False, "exists": files is not None, **(files or {})}

    modules.run(module, work)


if __name__ == "__main__":
    main()
