# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lookup that lists variables whose values the collection's roles do not accept."""

from __future__ import annotations

DOCUMENTATION = r"""
name: variable_errors
short_description: List variables whose values the collection does not accept
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - Compares the host's variables with C(meta/argument_specs.yml) of every role of this collection. Ansible does this
    when a role starts; the lookup does it for all roles at once and without a task for each of them.
  - A variable without a value is an error, unless its default is null. So is a name that differs from a
    variable's in a letter or two, which would silently leave the default in force.
  - Other variables that no role knows are ignored, and so are those that refer to something that is not defined
    here, such as a role's default.
options:
  _terms:
    description:
      - Names of playbooks of this collection, for example V(status). If set, their own variables are compared instead
        of the roles' variables.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Refuse variables that no role accepts
  ansible.builtin.fail:
    msg: "{{ errors | join(' ') }}"
  when: errors | length > 0
  vars:
    errors: "{{ query('sparkforge.dgx_spark.variable_errors') }}"
"""

RETURN = r"""
_raw:
  description: One sentence, in Ansible's own wording, for each variable that is not accepted.
  type: list
  elements: str
  sample: ["argument 'python_env_keep' is of type str and we were unable to convert to int"]
"""

import contextlib
import difflib
import functools
import re
import typing as t
from pathlib import Path

from ansible.errors import AnsibleUndefinedVariable
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    """The lookup; see RETURN."""

    def run(self, terms: list[t.Any], variables: dict[str, t.Any] | None = None, **kwargs: t.Any) -> list[str]:
        """Return the errors in the variables, each templated as a role would see it."""
        accepted, names = options(*terms), variables or {}
        errors = list(misspelt(names, accepted))
        # A role may require a variable that another role sets, so only playbooks are checked for missing variables.
        missing = [name for name in accepted if terms and accepted[name].get("required") and name not in names]
        errors += [f"{name} is required: {unmarked(accepted[name]['description']).rstrip('.')}" for name in missing]
        for name, value in self._set_options(names, accepted):
            option = dict(accepted[name])
            if value is None and option.get("default") is not None:
                errors.append(f"{name} has no value: set one, or remove the line")
                continue
            # The roles apply the defaults themselves, and some defaults are templates.
            option.pop("default", None)
            validation = ArgumentSpecValidator({name: option}).validate({name: value}, validate_role_argument_spec=True)
            messages = validation.error_messages
            # The validator may report an error twice, and may not name the variable.
            errors += [error for error in messages if name in error] or [f"{name}: {error}" for error in messages]
        return errors

    def _set_options(
        self, variables: t.Mapping[str, t.Any], accepted: t.Iterable[str]
    ) -> t.Iterator[tuple[str, t.Any]]:
        """Yield the options that are set, each templated as a role would see it."""
        for name in accepted:
            if name in variables:
                # A variable that refers to another role's default can only be templated in that role.
                with contextlib.suppress(AnsibleUndefinedVariable):
                    yield name, self._templar.template(variables[name])


ROOT = Path(__file__).parents[2]


@functools.cache
def options(*playbooks: str) -> dict[str, dict[str, t.Any]]:
    """Return the options of these playbooks by name; without playbooks, those of all roles and of site.yml."""
    specs = _specs(ROOT / "playbooks/meta/argument_specs.yml")
    option_specs = [specs[playbook]["options"] for playbook in playbooks or ("site",)]
    if not playbooks:
        roles = sorted((ROOT / "roles").glob("*/meta/argument_specs.yml"))
        option_specs += [_specs(path)["main"]["options"] for path in roles]
    return {name: option for options in option_specs for name, option in options.items()}


def _specs(path: Path) -> dict[str, t.Any]:
    specs: dict[str, t.Any] = yaml_load(path.read_text(encoding="utf-8"))["argument_specs"]
    return specs


def unmarked(description: str, becomes: str = r"\1") -> str:
    """Return a description without Ansible's markup, such as C(...), whose text is group 1 in ``becomes``."""
    return re.sub(r"\b[A-Z]\(([^)]*)\)", becomes, description)


#: The similarity (at most 1) of names that differ in a letter or two; no two names in use are that similar.
ALIKE = 0.93


def misspelt(variables: t.Mapping[str, t.Any], accepted: t.Collection[str]) -> t.Iterator[str]:
    """Yield an error for each variable whose name is almost that of an option."""
    # Compare only names that begin alike, because few of a host's hundred variables do.
    beginnings = {name[:4] for name in accepted}
    for name in variables:
        if name in accepted or name[:4] not in beginnings or name.startswith("ansible_"):
            continue
        if similar_names := difflib.get_close_matches(name, accepted, 1, ALIKE):
            yield f"{name} is not a variable of this collection; did you mean {similar_names[0]}?"
