# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that judges the proxies and the CA certificate."""

from __future__ import annotations

DOCUMENTATION = r"""
name: network_access_problems
short_description: List what is wrong with the proxies and the CA certificate
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Checks both variables on the controller, before anything changes, and returns every fault at once.
  - No fault names a user or a password.
positional: ca_certificate
options:
  _input:
    description: The variable C(sparkforge_proxies), with the keys C(http), C(https) and C(no_proxy).
    type: dict
    required: true
  ca_certificate:
    description: The variable C(sparkforge_ca_certificate), a PEM file's path on the controller, or empty.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Refuse faulty proxies
  ansible.builtin.assert:
    that: faults | length == 0
  vars:
    ca: "{{ sparkforge_ca_certificate }}"
    faults: "{{ sparkforge_proxies | sparkforge.dgx_spark.network_access_problems(ca) }}"
"""

RETURN = r"""
_value:
  description: The faults, each with C(cause) and C(remedy).
  type: list
  elements: dict
  sample: []
"""

import typing as t

from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import _network_access


def network_access_problems(proxies: t.Any, ca_certificate: t.Any = "") -> list[dict[str, str]]:
    """Return every fault of the two variables."""
    return [fault._asdict() for fault in _network_access.problems(proxies, ca_certificate)]


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"network_access_problems": network_access_problems}
