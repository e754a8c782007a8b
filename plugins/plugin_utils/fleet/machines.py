# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which machine a name of the inventory is."""

from __future__ import annotations

import typing as t

from ...module_utils._core.errors import SparkforgeError

#: Behind another jump host, or to another port, one address is another machine.
_WAY = ("ansible_port", "ansible_ssh_common_args", "ansible_ssh_extra_args")


def distinct(hosts: t.Sequence[str], hostvars: t.Mapping[str, t.Any]) -> list[str]:
    """Return hosts of which each is reached at another address.

    :raises SparkforgeError: two of them are one machine, which would build, publish and be measured beside itself.
    """
    names: dict[tuple[str, ...], str] = {}
    for host in hosts:
        variables = hostvars[host]
        address = str(variables.get("ansible_host") or host).lower()
        way = (address, *(str(variables.get(name) or "") for name in _WAY))
        other = names.setdefault(way, host)
        if other != host:
            raise SparkforgeError(
                f"{other} and {host} are one machine to this inventory: both are reached at {address}. Nothing was"
                " changed.",
                f"Remove one of the names, leave it out with -l '!{host}', or correct its ansible_host.",
            )
    return list(hosts)
