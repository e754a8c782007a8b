# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lookup that returns what a role would do on a host as it was observed."""

from __future__ import annotations

DOCUMENTATION = r"""
name: plan
short_description: Return what a role would do on a host as it was observed
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Decides from the role's variables and the fact C(spark_info) what the tasks of the role have to do.
  - A step may hold a password where the role is P(sparkforge.dgx_spark.network_access#role). Show it nowhere.
options:
  _terms:
    description: Names of roles that have a plan, without the collection's name.
    required: true
"""

EXAMPLES = r"""
- name: Say what the role would do
  ansible.builtin.debug:
    msg: "{{ lookup('sparkforge.dgx_spark.plan', 'build_toolchain').reasons }}"
"""

RETURN = r"""
_raw:
  description:
    - For each role C(steps), what each of its tasks is given by the step's name; C(reasons), the same in words;
      C(refusals), why nothing may be done, each with C(cause) and C(remedy), and C(refused), all of them as one text;
      C(settled), whether there is neither a step nor a refusal; C(notes).
  type: list
  elements: dict
"""

import importlib
import typing as t

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import plans

#: Each is a module of ``plugin_utils.plans``; only the one that is asked for is imported.
ROLES = (
    "bridge",
    "build_toolchain",
    "cuda_libraries",
    "cusparselt",
    "fabric",
    "llvm",
    "math_libraries",
    "network_access",
    "preflight",
    "python_env",
    "pytorch",
    "torch_extensions",
    "triton",
    "verify",
    "wheelhouse",
)


class Settings(t.Mapping[str, t.Any]):
    """The variables as a role sees them; each is templated when it is asked for."""

    def __init__(self, variables: t.Mapping[str, t.Any], templar: t.Any) -> None:
        self._variables = variables
        self._templar = templar

    def __getitem__(self, name: str) -> t.Any:
        return self._templar.template(self._variables[name])

    def __iter__(self) -> t.Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


class LookupModule(LookupBase):
    """The lookup; see RETURN."""

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[dict[str, t.Any]]:
        """Return the plan of each role."""
        settings = Settings(variables or {}, self._templar)
        observation = ((variables or {}).get("ansible_facts") or {}).get("spark_info")
        return [_plan(str(role), settings, observation).as_result() for role in terms]


def _plan(role: str, settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any] | None) -> plans.Plan:
    if role not in ROLES:
        raise AnsibleLookupError(f"The role {role} has no plan. Name one of {', '.join(ROLES)}.")
    if observation is None and role != "fabric":
        raise AnsibleLookupError("The host was not observed. Run the module sparkforge.dgx_spark.spark_info before.")
    module = importlib.import_module(f"{plans.__name__}.{role}")
    try:
        return t.cast("plans.Plan", module.plan(settings, observation))
    except SparkforgeError as error:
        return plans.Plan(refusals=[{"cause": error.cause, "remedy": error.remedy}])
