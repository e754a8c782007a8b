# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lookup that returns the pending changes of a role on the observed host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: plan
short_description: Return the steps that a role would take on the observed host
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - Computes the steps of a role's tasks from the role's variables and the fact C(spark_info).
  - Unset variables have the values of the role's C(defaults) and C(vars).
  - A step of the roles P(sparkforge.dgx_spark.network_access#role) and P(sparkforge.dgx_spark.wheelhouse#role) may
    contain a password or a key. Do not print it.
options:
  _terms:
    description:
      - Names of roles that have a plan, without the collection's name.
      - V(bridge) is the plan of C(playbooks/bridge.yml).
    required: true
"""

EXAMPLES = r"""
- name: Print the role's pending changes
  ansible.builtin.debug:
    msg: "{{ lookup('sparkforge.dgx_spark.plan', 'build_toolchain').reasons }}"
"""

RETURN = r"""
_raw:
  description:
    - For each role C(steps), the inputs of its tasks by step name; C(reasons), the steps in words; C(refusals), the
      reasons why nothing may be changed, each with C(cause) and C(remedy); C(refused), these reasons as one text;
      C(settled), whether there is neither a step nor a refusal; and C(notes).
  type: list
  elements: dict
"""

import collections
import importlib
import typing as t
from pathlib import Path

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ..module_utils._core.errors import SparkforgeError
from ..plugin_utils import plans

#: The modules of ``plugin_utils.plans``; only the requested one is imported.
ROLES = (
    "bridge build_toolchain cuda_libraries cusparselt fabric llvm math_libraries network_access preflight "
    "python_env pytorch serving source_unit torch_extensions triton verify wheelhouse"
).split()
#: The directories with a role's defaults and data; later ones take precedence.
PARTS = ("defaults", "vars")


class Settings(t.Mapping[str, t.Any]):
    """The variables as a role sees them; each is templated once, on first access."""

    def __init__(self, variables: t.MutableMapping[str, t.Any], templar: t.Any) -> None:
        self._variables = variables
        self._templar = templar.copy_with_new_env(available_variables=variables)
        self._templated: dict[str, t.Any] = {}

    def __getitem__(self, name: str) -> t.Any:
        if name not in self._templated:
            self._templated[name] = self._templar.template(self._variables[name])
        return self._templated[name]

    def __iter__(self) -> t.Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


class LookupModule(LookupBase):
    """The lookup; see RETURN.

    :cvar LATEST: for each role, the latest plan, with the variables and values from which it was computed.
    """

    LATEST: t.ClassVar[dict[str, tuple[dict[str, t.Any], dict[str, t.Any], dict[str, t.Any]]]] = {}

    def run(
        self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any
    ) -> list[dict[str, t.Any]]:
        """Return the plan of each role."""
        return [self._latest(role, {} if variables is None else variables) for role in map(str, terms)]

    def _latest(self, role: str, variables: dict[str, t.Any]) -> dict[str, t.Any]:
        """Return the plan, computed once per task, since a task may query each step of it.

        Other tasks have other variables, and a loop changes its task's variables.
        """
        plan_variables, values, role_plan = self.LATEST.get(role, ({}, {}, {}))
        is_same = plan_variables is variables and len(values) == len(variables)
        if not (is_same and all(variables.get(name, self) is value for name, value in values.items())):
            observation = (variables.get("ansible_facts") or {}).get("spark_info")
            # If a site changes a unit, preflight computes the plans of other roles in advance.
            has_others = role == "preflight" and not plans.CHANGED_BY.keys().isdisjoint(variables)
            own = [self._own(name) for name in (role, *(reversed(plans.CHANGED_BY.values()) if has_others else ()))]
            role_plan = _plan(role, Settings(collections.ChainMap(variables, *own), self._templar), observation)
            self.LATEST[role] = variables, dict(variables), role_plan
        return role_plan

    def _own(self, role: str) -> dict[str, t.Any]:
        """Return the defaults and variables from the role's files, for a play that does not run the role."""
        defaults: dict[str, t.Any] = {}
        for part in PARTS:
            path = Path(__file__).parents[2] / "roles" / role / part / "main.yml"
            if path.exists():
                # Load without a copy, because nothing here changes the values.
                defaults.update(self._loader.load_from_file(str(path), unsafe=True, trusted_as_template=True) or {})
        return defaults


def _plan(role: str, settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any] | None) -> dict[str, t.Any]:
    if role not in ROLES:
        raise AnsibleLookupError(f"The role {role} has no plan. Use one of {', '.join(ROLES)}.")
    if observation is None and role not in ("fabric", "serving"):
        raise AnsibleLookupError("The host was not observed. Run the module sparkforge.dgx_spark.spark_info first.")
    module = importlib.import_module(f"{plans.__name__}.{role}")
    try:
        role_plan: plans.Plan = module.plan(settings, observation)
    except SparkforgeError as error:
        role_plan = plans.Plan(refusals=[{"cause": error.cause, "remedy": error.remedy}])
    return role_plan.as_result()
