# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that judges an observation."""

from __future__ import annotations

DOCUMENTATION = r"""
name: preflight_problems
short_description: List all that stands in the way of provisioning a host
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Judges the observation of a host by the stack that it is to get, and returns every problem at once.
  - Nothing is read from the host; see M(sparkforge.dgx_spark.spark_info) for that.
positional: stack, settings
options:
  _input:
    description: What the module M(sparkforge.dgx_spark.spark_info) returned under C(spark_info).
    type: dict
    required: true
  stack:
    description: The fact C(stack), as the role P(sparkforge.dgx_spark.stack#role) sets it.
    type: dict
    required: true
  settings:
    description:
      - What is required of the host. All keys are optional.
      - C(gpu_required), C(accept_license) and C(rdma) are booleans.
      - C(disk) is a list of C(path), C(gib) and C(purpose); needs on the same file system are added up.
      - C(memory_minimum_gib) is in GiB; C(clock_tolerance), C(controller_epoch) and C(apt_wait) in seconds.
      - C(packages) are the apt packages that the stack needs; C(cuda_url) is the root of NVIDIA's downloads.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: List what stands in the way
  ansible.builtin.debug:
    msg: "{{ ansible_facts.spark_info | sparkforge.dgx_spark.preflight_problems(stack, settings) }}"
  vars:
    settings: {gpu_required: false, accept_license: true}
"""

RETURN = r"""
_value:
  description: The problems, errors before warnings. Each has C(check), C(cause), C(remedy) and C(severity).
  type: list
  elements: dict
"""

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import _preflight


def preflight_problems(spark_info: t.Any, stack: t.Any, settings: t.Any = None) -> list[dict[str, str]]:
    """Judge an observation.

    :raises AnsibleFilterError: for an argument that is not a mapping.
    """
    settings = {} if settings is None else settings
    for name, value in (("the observation", spark_info), ("stack", stack), ("settings", settings)):
        if not isinstance(value, t.Mapping):
            raise AnsibleFilterError(
                f"preflight_problems wants a mapping for {name} and got {type(value).__name__}."
                " Give it what spark_info returned, the fact stack, and a mapping of settings."
            )
    return _preflight.preflight_problems(spark_info, stack, settings)


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"preflight_problems": preflight_problems}
