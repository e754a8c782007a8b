# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that removes from an observation what identifies its host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: recorded_host
short_description: Take out of an observation what identifies its host
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Keeps of every string what is made of words that any such host may have, and puts C(redacted-1), C(redacted-2) and
    so on in the place of the rest. So the names of hosts, users and companies, addresses, serial numbers, passwords
    and tokens go, wherever they stand. Packages of other names are left out.
  - What is left has the form of the observation, so that the tests of this collection read it.
options:
  _input:
    description: The observation, RV(sparkforge.dgx_spark.spark_info#module:spark_info).
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what of this host may be published
  ansible.builtin.debug:
    msg: "{{ ansible_facts.spark_info | sparkforge.dgx_spark.recorded_host }}"
"""

RETURN = r"""
_value:
  description: The observation, redacted.
  type: dict
  sample: {gpu: {devices: [{name: NVIDIA GB10, uuid: GPU-00000000-0000-0000-0000-000000000000}]}}
"""

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import recording


def recorded_host(observation: t.Any) -> dict[str, t.Any]:
    """Redact an observation.

    :raises AnsibleFilterError: for what is not a mapping.
    """
    if not isinstance(observation, t.Mapping):
        raise AnsibleFilterError(
            f"recorded_host expects a mapping, not {type(observation).__name__}. Give it what spark_info returned."
        )
    return recording.recorded_host(observation)


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"recorded_host": recorded_host}
