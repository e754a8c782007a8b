# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says what the files of a host are to be for its proxies and its CA."""

from __future__ import annotations

DOCUMENTATION = r"""
name: network_access_files
short_description: Say what the files of a host are to be for the proxies and the CA
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Returns apt's configuration and the CA certificate as they are to be on the host.
  - The content may hold a password. Show it nowhere.
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
- name: Compare apt's configuration with what it is to be
  ansible.builtin.debug:
    msg: "{{ ansible_facts.spark_info.managed_files.get(apt_file) == wanted[apt_file].sha256 }}"
  vars:
    apt_file: /etc/apt/apt.conf.d/51sparkforge-proxy
    wanted: "{{ sparkforge_proxies | sparkforge.dgx_spark.network_access_files(sparkforge_ca_certificate) }}"
"""

RETURN = r"""
_value:
  description: Path to C(content), C(mode), C(sha256). An empty content means that the file is to be absent.
  type: dict
  sample: {/etc/apt/apt.conf.d/51sparkforge-proxy: {content: '', mode: '0644', sha256: ''}}
"""

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils import _network_access


def network_access_files(proxies: t.Any, ca_certificate: t.Any = "") -> dict[str, dict[str, str]]:
    """Return the wanted files.

    :raises AnsibleFilterError: for a faulty proxy or certificate, with all causes.
    """
    faults = _network_access.problems(proxies or {}, ca_certificate)
    if faults:
        raise AnsibleFilterError(" ".join(f"{fault.cause} {fault.remedy}" for fault in faults))
    return _network_access.files(proxies or {}, ca_certificate or "")


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"network_access_files": network_access_files}
