# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter that says which packages apt would have to install."""

from __future__ import annotations

DOCUMENTATION = r"""
name: apt_missing
short_description: Say which packages are not installed as asked
version_added: "0.1.0"
author: The sparkforge maintainers (@sparkforge)
description:
  - Compares what is asked for with what dpkg has, so that a task is skipped without a call to the host.
  - It is the same comparison that M(sparkforge.dgx_spark.apt_packages) makes on the host.
positional: installed
options:
  _input:
    description:
      - The packages, each V(name), V(name=version), V(name=glob), V(name>=version), or alternatives joined by V(|).
    type: list
    elements: str
    required: true
  installed:
    description: Name to version of the installed packages, C(spark_info.apt.packages).
    type: dict
    required: true
seealso:
  - plugin: sparkforge.dgx_spark.apt_packages
    plugin_type: module
"""

EXAMPLES = r"""
- name: Install what is missing
  sparkforge.dgx_spark.apt_packages:
    name: mine
    packages: "{{ wanted }}"
  vars:
    wanted: [libcublas-dev-13-0, "libnccl-dev=*+cuda13.*"]
  when: wanted | sparkforge.dgx_spark.apt_missing(ansible_facts.spark_info.apt.packages) | length > 0
"""

RETURN = r"""
_value:
  description: Those of the input that are not satisfied, in order.
  type: list
  elements: str
  sample: [libcublas-dev-13-0]
"""

import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._apt.packages import missing
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._core.errors import SparkforgeError


def apt_missing(wanted: t.Sequence[str], installed: t.Mapping[str, str]) -> list[str]:
    """Return what is not installed as asked.

    :raises AnsibleFilterError: for what names no package.
    """
    try:
        return missing(wanted, installed)
    except SparkforgeError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        """Return the filter."""
        return {"apt_missing": apt_missing}
