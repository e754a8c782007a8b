# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says whether official wheels bridge the time until a host's stack is built."""

from __future__ import annotations

DOCUMENTATION = r"""
name: bridge
short_description: Say whether official wheels bridge the time until a host's stack is built
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - A stack of wheels that cannot be had, or does not fit the host, is no bridge. Everything that stands in its way is
    said at once, and nothing of it is a reason not to build.
  - It fits by the same rules as in the role preflight. A CPU build is no bridge where a GPU is required.
positional: _input, observation, gpu_required
options:
  _input:
    description: What M(sparkforge.dgx_spark.stack_facts) returned of the stack of wheels.
    type: dict
    required: true
  observation:
    description: The observation, C(ansible_facts.spark_info).
    type: dict
    required: true
  gpu_required:
    description: Whether the host must have a GPU that the stack computes on.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Say what stands in the way of wheels
  ansible.builtin.debug:
    msg: "{{ (found | sparkforge.dgx_spark.bridge(ansible_facts.spark_info)).reason }}"
"""

RETURN = r"""
_value:
  description:
    - C(stack), the facts of the stack of wheels, C(null) where it is no bridge, and C(reason), why it is not.
    - The stack is without C(archives) and the archive of C(cusparselt), for wheels bring their own libraries.
  type: dict
  sample:
    stack: null
    reason: The machine is riscv64, and stack torch-2.13.0 is for aarch64 and x86_64.
"""

import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.plans import preflight


def bridge(found: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any], gpu_required: bool = True) -> t.Any:
    """Return the stack that bridges the time, or why there is none; see RETURN."""
    stack = found.get("stack")
    if not stack:
        return {"stack": None, "reason": str(found.get("cause") or found.get("msg") or "")}
    settings = {"gpu_required": gpu_required, "accept_license": True}
    reasons = [
        problem["cause"]
        for problem in preflight.problems(observation, stack, settings)
        if problem["severity"] == "error"
    ]
    if gpu_required and stack["wheel"]["cuda"] is None:
        reasons.append(f"The wheels of stack {stack['name']} are CPU builds, and a GPU is required.")
    if reasons:
        return {"stack": None, "reason": " ".join(reasons)}
    return {"stack": {**stack, "archives": [], "cusparselt": {**stack["cusparselt"], "archive": None}}, "reason": ""}


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"bridge": bridge}
