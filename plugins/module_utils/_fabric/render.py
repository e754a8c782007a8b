# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a fabric writes on a host: the netplan file, and the variables with which NCCL finds its devices."""

from __future__ import annotations

import re
import typing as t

from .._core.errors import SparkforgeError

HEADER = "# Written by the role sparkforge.dgx_spark.fabric: change its variables instead.\n"
#: The characters of a value in the environment: shells, systemd, docker and NCCL all read it.
_VALUE = re.compile(r"[A-Za-z0-9_.,:/+^-]*")
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


def render(rails: t.Sequence[t.Mapping[str, t.Any]], renderer: str = "") -> str:
    """Return the netplan file.

    No link-local addresses: they would be further RoCE GIDs, and NCCL is to find the rail's own. Nothing waits for the
    interfaces at boot, since a cable's other end may be off.
    """
    lines = [HEADER + "network:", "  version: 2"]
    lines += [f"  renderer: {renderer}"] if renderer else []
    lines.append("  ethernets:")
    for rail in rails:
        others = ", ".join(f"{peer['host']} {peer['address']}" for peer in rail["peers"])
        lines += [
            f"    {rail['interface']}:",
            f"      # {rail['name']}: half {rail['half']} of port {rail['port']}, with {others}",
            "      dhcp4: false",
            "      dhcp6: false",
            "      accept-ra: false",
            "      link-local: []",
            "      optional: true",
            f"      mtu: {rail['mtu']}",
            f"      addresses: [{rail['address']}]",
        ]
    return "\n".join(lines) + "\n"


def render_environment(values: t.Mapping[str, str]) -> str:
    head = (
        "# Written by the role sparkforge.dgx_spark.fabric. NAME=value lines, for a shell: set -a; . nccl.env; set +a\n"
    )
    return head + "".join(f"{name}={values[name]}\n" for name in sorted(values))


def environment(
    rails: t.Sequence[t.Mapping[str, t.Any]], socket_interface: str, extra: t.Mapping[str, t.Any]
) -> dict[str, str]:
    """Return the variables, of which ``extra`` overrides some and removes those that are null.

    ``NCCL_IB_HCA`` names both halves of each port, or NCCL runs over one of them (98 instead of 161 Gb/s: tonyd2wild's
    DeepSeek-v4-Flash repository, pull request 35; 3 instead of 24 GB/s: dgx-spark-playbooks pull request 103). The
    sockets, over which processes only find each other, go over the management network, which reaches every host in
    every topology (dgx-spark-playbooks nvidia/nccl/README.md sets these three to it).

    :raises SparkforgeError: for a name or a value that not every reader of the file takes.
    """
    found: dict[str, t.Any] = {}
    devices = [rail["rdma"] for rail in rails if rail.get("rdma")]
    if devices:
        found["NCCL_IB_HCA"] = ",".join(devices)
    if socket_interface:
        for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "UCX_NET_DEVICES", "OMPI_MCA_btl_tcp_if_include"):
            found[name] = socket_interface
    found.update(extra)
    for name, value in found.items():
        if name != "OMPI_MCA_btl_tcp_if_include" and not _NAME.fullmatch(str(name)):
            raise SparkforgeError(
                f"fabric_environment has the name {name!r}.", "Use capital letters, digits and underscores."
            )
        if value is not None and not _VALUE.fullmatch(str(value)):
            raise SparkforgeError(
                f"The value of {name} in fabric_environment has a character that some readers of the file reject.",
                "Use only letters, digits and _ . , : / + ^ -.",
            )
    return {str(name): str(value) for name, value in found.items() if value is not None}
