# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that gives every fetch its proxies and its CA."""

from __future__ import annotations

DOCUMENTATION = r"""
name: fetch_environment
short_description: Return the environment variables that a fetch needs
version_added: "0.1.0"
author: The sparkforge maintainers (!UNKNOWN)
description:
  - Returns the proxies in both spellings and, with a CA, the variables by which Python, pip, git and curl find it.
  - If a proxy's URL contains a password, C(SPARKFORGE_PROXIES) names the file that the role
    P(sparkforge.dgx_spark.network_access#role) writes for root, and this collection's modules read it.
  - A faulty proxy or certificate ends in one error that names the cause, never a password.
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
- name: Fetch through the site's proxy
  hosts: sparks
  environment: >-
    {{ sparkforge_proxies | default({})
       | sparkforge.dgx_spark.fetch_environment(sparkforge_ca_certificate | default('')) }}
  tasks:
    - name: Show what a command sees
      ansible.builtin.command: env
      changed_when: false
"""

RETURN = r"""
_value:
  description: The environment, empty if neither variable is set.
  type: dict
  sample: {http_proxy: 'http://proxy.example.com:3128', HTTP_PROXY: 'http://proxy.example.com:3128'}
"""

import typing as t

from ansible.errors import AnsibleFilterError

from ..plugin_utils import network_access


def fetch_environment(proxies: t.Any, ca_certificate: t.Any = "") -> dict[str, str]:
    """Return the environment of a fetch.

    :raises AnsibleFilterError: for a faulty proxy or certificate, with all causes.
    """
    faults = network_access.problems(proxies or {}, ca_certificate)
    if faults:
        raise AnsibleFilterError(" ".join(f"{fault.cause} {fault.remedy}" for fault in faults))
    return network_access.environment(proxies or {}, ca_certificate or "")


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"fetch_environment": fetch_environment}
