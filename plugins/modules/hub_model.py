#!/usr/bin/python
# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hub_model
short_description: Download a model from the Hugging Face hub, with the hub's own client
version_added: "0.1.0"
description:
  - Runs C(hf download) and C(hf cache verify) from huggingface_hub, as a separate account in a transient systemd unit,
    and records the revision and the licence in a receipt. If the model is already on the host, no network is used.
  - The unit outlives the connection; a second call waits for it. A call after an interruption resumes the download.
  - Weights in pickle files and in the formats of other frameworks are left out.
  - Proxies and certificates are taken from the task's environment.
extends_documentation_fragment:
  - sparkforge.dgx_spark.attributes
  - sparkforge.dgx_spark.attributes.changes
  - sparkforge.dgx_spark.root
attributes:
  check_mode:
    details: The hub is not contacted.
options:
  name:
    description: The model, C(ORGANISATION/NAME). Without a name, O(state=absent) removes all models and the account.
    type: str
  state:
    description: Whether the model should be on the host.
    type: str
    choices: [present, absent]
    default: present
  revision:
    description: A branch, tag or commit. If unset, any revision on the host is kept, else C(main) is downloaded.
    type: str
  directory:
    description: The directory for models, in the layout of the hub's client. Every user can read it.
    type: path
    default: /opt/sparkforge/models
  token:
    description: A hub token. It is passed to the client through a pipe, and appears in no command line, log or file.
    type: str
  hub:
    description: The URL of the hub.
    type: str
    default: https://huggingface.co
  allow_pickle:
    description: Whether to also download pickle files, which run code when they are loaded.
    type: bool
    default: false
  user:
    description: The account that downloads and owns the models, created if missing.
    type: str
    default: sparkforge-models
seealso:
  - module: sparkforge.dgx_spark.model_info
"""

EXAMPLES = r"""
- name: Get a model that requires a token
  sparkforge.dgx_spark.hub_model:
    name: meta-llama/Llama-3.1-8B-Instruct
    token: "{{ lookup('ansible.builtin.file', 'hub-token') }}"
"""

RETURN = r"""
name:
  description: The model.
  type: str
  returned: if it is on the host
  sample: Qwen/Qwen3-8B
revision:
  description: The commit on the host.
  type: str
  returned: if it is on the host
  sample: b968826d9c46dd6066d109eabc6255188de91218
license:
  description: The licence according to the model's page; empty if the page names none.
  type: str
  returned: if it is on the host
  sample: apache-2.0
license_link:
  description: The URL of the licence's text, if the page has one.
  type: str
  returned: if it is on the host
directory:
  description: The directory to pass to an engine.
  type: str
  returned: if it is on the host
  sample: /opt/sparkforge/models/models--Qwen--Qwen3-8B/snapshots/b968826d9c46dd6066d109eabc6255188de91218
bytes:
  description: The total size of the model's files.
  type: int
  returned: if it is on the host
  sample: 16381470720
"""

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core import modules
from ..module_utils._serving import hub


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "revision": {"type": "str"},
            "directory": {"type": "path", "default": "/opt/sparkforge/models"},
            "root": {"type": "path", "default": "/opt/sparkforge"},
            "token": {"type": "str", "no_log": True},
            "hub": {"type": "str", "default": "https://huggingface.co"},
            "allow_pickle": {"type": "bool", "default": False},
            "user": {"type": "str", "default": "sparkforge-models"},
        },
        required_if=[("state", "present", ["name"])],
        supports_check_mode=True,
    )

    def work() -> dict[str, t.Any]:
        model = hub.Model(module.params, module.check_mode)
        return model.get() if module.params["state"] == "present" else model.remove()

    modules.run(module, work)


if __name__ == "__main__":
    main()
