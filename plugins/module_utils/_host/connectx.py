"""The ConnectX-7 ports of a host and their halves, for a fabric of Sparks.

A Spark's CPU gives a PCIe device at most four lanes, so each QSFP port uses two PCIe links. It appears as two
interfaces and two RDMA devices, one in PCI domain 0000 and one in 0002, with the same PCI function. Each half carries
about 100 Gb/s, and both together carry the port's 200 Gb/s. roles/fabric/README.md lists the sources;
geerlingguy/sbc-reviews issue 92 shows that both halves have the same system image GUID.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import typing as t

from . import network
from .network import NET
from .reader import Host

INFINIBAND = "/sys/class/infiniband"
#: The PCI ids of NVIDIA (Mellanox) and of ConnectX-7 (4129 in ibstat's "MT4129").
VENDOR, CONNECTX7 = "0x15b3", "0x1021"
NETPLAN_FOLDERS = ("/etc/netplan", "/run/netplan", "/usr/lib/netplan", "/lib/netplan")


def observe(host: Host, ports: t.Sequence[t.Sequence[str]] = ()) -> dict[str, t.Any]:
    """Return the fabric-related state of a host.

    :param ports: the interfaces of each port, half by half, for cards that PCI does not identify; by default, the
        ConnectX-7 ports are detected.
    """
    addresses, rdma = network.addresses(host), _rdma_devices(host)
    interfaces = {name for names in ports for name in names}
    links = [_link(host, name, addresses.get(name, []), rdma) for name in host.names(NET)]
    links = [link for link in links if link["connectx7"] or link["interface"] in interfaces]
    return {
        "links": links,
        "ports": [{"port": number, "halves": list(names)} for number, names in enumerate(ports)] or _ports(links),
        "management": network.management(host, addresses),
        "addresses": [
            {"interface": name, "address": address} for name in sorted(addresses) for address in addresses[name]
        ],
        "kernel": {"release": host.release, "kho": {"reserved_mib": network.kho_mib(host)}},
        "wifi_powersave": network.wifi_powersave(host),
        "netplan": {"command": host.command("netplan"), "files": _netplan_files(host)},
        "tools": {"ib_write_bw": host.command("ib_write_bw")},
    }


def _link(host: Host, name: str, addresses: list[str], rdma: t.Mapping[str, dict[str, t.Any]]) -> dict[str, t.Any]:
    directory = f"{NET}/{name}"
    device = host.real(f"{directory}/device") if host.is_directory(f"{directory}/device") else ""
    pci = device.rsplit("/", 1)[-1]
    pci = pci if re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", pci) else ""
    owner = rdma.get(pci, {})
    speed, width = host.word(f"{device}/current_link_speed"), host.number(f"{device}/current_link_width")
    return {
        "interface": name,
        "connectx7": bool(pci)
        and (host.word(f"{device}/vendor"), host.word(f"{device}/device")) == (VENDOR, CONNECTX7)
        # Virtual functions have a link to their physical one.
        and not host.is_directory(f"{device}/physfn"),
        "pci": pci,
        "mac": host.word(f"{directory}/address"),
        "mtu": host.number(f"{directory}/mtu"),
        # IFF_UP in if.h: set by `ip link set up`, regardless of the cable.
        "up": bool((host.number(f"{directory}/flags") or 0) & 1),
        "carrier": host.number(f"{directory}/carrier") == 1,
        "speed_mbps": max(host.number(f"{directory}/speed") or 0, 0) or None,
        "addresses": addresses,
        "rdma": owner.get("name"),
        "card": owner.get("card", ""),
        "gids": owner.get("gids", []),
        "pcie": {"speed": speed or None, "width": width} if pci else None,
    }


def _rdma_devices(host: Host) -> dict[str, dict[str, t.Any]]:
    devices: dict[str, dict[str, t.Any]] = {}
    for name in host.names(INFINIBAND):
        directory = f"{INFINIBAND}/{name}"
        device = {
            "name": name,
            "card": host.word(f"{directory}/sys_image_guid"),
            "gids": _gids(host, f"{directory}/ports/1"),
        }
        devices.setdefault(host.real(f"{directory}/device").rsplit("/", 1)[-1], device)
    return devices


def _gids(host: Host, port: str) -> list[dict[str, t.Any]]:
    rows = []
    for index in sorted(int(name) for name in host.names(f"{port}/gids") if name.isdigit()):
        with contextlib.suppress(ValueError):
            mapped = ipaddress.IPv6Address(host.word(f"{port}/gids/{index}")).ipv4_mapped
            if mapped is not None:
                # Unused table entries return EINVAL for their type, but their address is all zeros.
                kind = host.word(f"{port}/gid_attrs/types/{index}")
                rows.append({"index": index, "address": str(mapped), "type": kind})
    return rows


def _ports(links: t.Sequence[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Pair the halves with the same card and PCI function, ordered by PCI domain."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for link in links:
        if link["connectx7"]:
            groups.setdefault((link["pci"][-1], link["card"]), []).append((link["pci"], link["interface"]))
    one_card = len({card for _function, card in groups}) == 1
    ports = []
    for number, key in enumerate(sorted(groups)):
        halves = [name for _pci, name in sorted(groups[key])]
        ports.append({"port": int(key[0]) if one_card else number, "halves": halves})
    return ports


def _netplan_files(host: Host) -> list[dict[str, t.Any]]:
    """Return the interfaces named in each netplan file, but not its text, which may contain a Wi-Fi password."""
    rows: dict[str, dict[str, t.Any]] = {}
    for folder in NETPLAN_FOLDERS:
        for name in host.names(folder):
            path = host.real(f"{folder}/{name}")
            if name.endswith(".yaml") and path not in rows:
                text = re.sub(r"(?m)(^|\s)#.*$", "", host.read(path) or "")
                tokens = set(re.findall(r"[A-Za-z0-9_.-]+", text))
                rows[path] = {"path": path, "interfaces": [entry for entry in host.names(NET) if entry in tokens]}
    return list(rows.values())
