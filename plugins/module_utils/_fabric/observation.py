# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host has for a fabric of Sparks: ConnectX-7 ports, their halves, and what is known to spoil them.

A Spark's CPU gives a PCIe device four lanes at most, so that each QSFP port hangs on two PCIe links: it shows up as two
interfaces and two RDMA devices, one in PCI domain 0000 and one in 0002, with the same PCI function. Each half carries
about 100 Gb/s, both together the port's 200 Gb/s.
Sources: NVIDIA/dgx-spark-playbooks nvidia/nccl/README.md and pull request 103; eugr/spark-vllm-docker
docs/NETWORKING.md. Names and devices as ``ibdev2netdev`` and ``ibstat`` print them there and in
geerlingguy/sbc-reviews issue 92 (CA type MT4129, the same system image GUID in both domains).
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import typing as t

from .._host.reader import Host

NET = "/sys/class/net"
INFINIBAND = "/sys/class/infiniband"
#: NVIDIA (Mellanox), and ConnectX-7 (4129 in ibstat's "MT4129").
VENDOR, CONNECTX7 = "0x15b3", "0x1021"
NETPLAN_FOLDERS = ("/etc/netplan", "/run/netplan", "/usr/lib/netplan", "/lib/netplan")
#: In NetworkManager.conf(5): 2 is "disable", 3 is "enable".
POWERSAVE_OFF = 2
#: The difference that CMA areas and drifting counters can make without a reserve.
KHO_NOISE_MIB = 256
WHERE_THE_CARD_IS = "`lspci -d 15b3:` and the driver mlx5_core; for another card, set the interfaces in fabric_ports."


def observe(host: Host, ports: t.Sequence[t.Sequence[str]] = ()) -> dict[str, t.Any]:
    """Return what a host has.

    :param ports: the interfaces of each port, half by half, for cards that cannot be told apart by PCI; without it the
        ports of the ConnectX-7 are found.
    """
    addresses, rdma = _addresses(host), _rdma_devices(host)
    named = {name for names in ports for name in names}
    links = [_link(host, name, addresses.get(name, []), rdma) for name in host.names(NET)]
    links = [link for link in links if link["connectx7"] or link["interface"] in named]
    return {
        "links": links,
        "ports": [{"port": number, "halves": list(names)} for number, names in enumerate(ports)] or _ports(links),
        "management": _management(host, addresses),
        "addresses": [{"interface": name, "address": one} for name in sorted(addresses) for one in addresses[name]],
        "kernel": {"release": host.release, "kho": {"reserved_mib": _kho_mib(host)}},
        "wifi_powersave": _wifi_powersave(host),
        "netplan": {"command": host.command("netplan"), "files": _netplan_files(host)},
        "tools": {"ib_write_bw": host.command("ib_write_bw")},
    }


# -- interfaces


def _addresses(host: Host) -> dict[str, list[str]]:
    code, out, err = host.run([host.command("ip") or "ip", "-json", "address", "show"])
    try:
        rows = json.loads(out) if code == 0 else []
    except ValueError:
        rows, err = [], "its output is not JSON"
    if not rows:
        host.note("ip address", err or "no output")
    return {
        row["ifname"]: [
            f"{entry['local']}/{entry['prefixlen']}"
            for entry in row.get("addr_info", [])
            if entry.get("family") == "inet" and "local" in entry
        ]
        for row in rows
        if row.get("ifname")
    }


def _word(host: Host, path: str) -> str:
    # Without a note: speed and carrier of an interface that is down answer EINVAL, debugfs an account but root EACCES.
    noted = len(host.unread)
    text = (host.read(path) or "").strip()
    del host.unread[noted:]
    return text


def _number(host: Host, path: str) -> int | None:
    text = _word(host, path)
    return int(text, 0) if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text) else None


def _link(host: Host, name: str, addresses: list[str], rdma: t.Mapping[str, dict[str, t.Any]]) -> dict[str, t.Any]:
    place = f"{NET}/{name}"
    device = host.real(f"{place}/device") if host.is_directory(f"{place}/device") else ""
    pci = device.rsplit("/", 1)[-1]
    pci = pci if re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", pci) else ""
    owner = rdma.get(pci, {}) if pci else {}
    speed, width = _word(host, f"{device}/current_link_speed"), _number(host, f"{device}/current_link_width")
    return {
        "interface": name,
        "connectx7": bool(pci)
        and (_word(host, f"{device}/vendor"), _word(host, f"{device}/device")) == (VENDOR, CONNECTX7)
        # Virtual functions have a link to their physical one.
        and not host.is_directory(f"{device}/physfn"),
        "pci": pci,
        "mac": _word(host, f"{place}/address"),
        "mtu": _number(host, f"{place}/mtu"),
        # IFF_UP of if.h: what `ip link set up` sets, whatever the cable.
        "up": bool((_number(host, f"{place}/flags") or 0) & 1),
        "carrier": _number(host, f"{place}/carrier") == 1,
        "speed_mbps": max(_number(host, f"{place}/speed") or 0, 0) or None,
        "addresses": addresses,
        "rdma": owner.get("name"),
        "card": owner.get("card", ""),
        "gids": owner.get("gids", []),
        "pcie": {"speed": speed or None, "width": width} if pci else None,
    }


def _rdma_devices(host: Host) -> dict[str, dict[str, t.Any]]:
    """Return the devices by their place on PCI."""
    found: dict[str, dict[str, t.Any]] = {}
    for name in host.names(INFINIBAND):
        place = f"{INFINIBAND}/{name}"
        device = {"name": name, "card": _word(host, f"{place}/sys_image_guid"), "gids": _gids(host, f"{place}/ports/1")}
        found.setdefault(host.real(f"{place}/device").rsplit("/", 1)[-1], device)
    return found


def _gids(host: Host, port: str) -> list[dict[str, t.Any]]:
    rows = []
    for index in sorted(int(name) for name in host.names(f"{port}/gids") if name.isdigit()):
        with contextlib.suppress(ValueError):
            mapped = ipaddress.IPv6Address(_word(host, f"{port}/gids/{index}")).ipv4_mapped
            if mapped is not None:
                # Unused entries of the table answer EINVAL for their type, and are all zero above.
                kind = _word(host, f"{port}/gid_attrs/types/{index}")
                rows.append({"index": index, "address": str(mapped), "type": kind})
    return rows


def _ports(links: t.Sequence[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Pair the halves: the same card and PCI function, in the order of their PCI domains."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for link in links:
        if link["connectx7"]:
            groups.setdefault((link["pci"][-1], link["card"]), []).append((link["pci"], link["interface"]))
    one_card = len({card for _function, card in groups}) == 1
    return [
        {
            "port": int(function) if one_card else number,
            "halves": [name for _pci, name in sorted(groups[function, card])],
        }
        for number, (function, card) in enumerate(sorted(groups))
    ]


def _management(host: Host, addresses: t.Mapping[str, list[str]]) -> dict[str, t.Any] | None:
    """Return the interface of the default route with the lowest metric (``/proc/net/route``, proc(5))."""
    lines = [line.split() for line in (host.read("/proc/net/route") or "").splitlines()[1:]]
    default = [(int(words[6]), words[0]) for words in lines if len(words) > 7 and words[1] == words[7] == "00000000"]
    if not default:
        return None
    name = min(default)[1]
    wireless = any(host.is_directory(f"{NET}/{name}/{entry}") for entry in ("wireless", "phy80211"))
    return {"interface": name, "addresses": addresses.get(name, []), "wireless": wireless}


# -- what is known to spoil a fabric


def _kho_mib(host: Host) -> int:
    """Return the reserve of Kexec HandOver, which kernel 7.0 of DGX OS makes by default.

    It goes to the page allocator as pages for CMA, which RDMA cannot pin: ``ibv_reg_mr`` fails with ENOMEM and NCCL
    with it. ``CmaTotal`` does not count it and ``CmaFree`` does; with ``kho=off`` both are alike.
    Source: NVIDIA/NV-Kernels pull requests 590 and 591; MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark issue 259.
    """
    scratch = re.findall(r"0x[0-9a-fA-F]+|\d+", _word(host, "/sys/kernel/debug/kho/out/scratch_len"))
    if scratch:
        return sum(int(size, 0) for size in scratch) >> 20
    sizes = dict(re.findall(r"^(Cma\w+):\s+(\d+) kB$", host.read("/proc/meminfo") or "", re.M))
    surplus = (int(sizes.get("CmaFree", 0)) - int(sizes.get("CmaTotal", 0))) // 1024
    return surplus if surplus > KHO_NOISE_MIB else 0


def _wifi_powersave(host: Host) -> int | None:
    """Return NetworkManager's ``wifi.powersave``, the last file's; Ubuntu ships 3 (enable)."""
    found: list[str] = []
    for folder in ("/usr/lib/NetworkManager/conf.d", "/etc/NetworkManager/conf.d"):
        for name in host.names(folder):
            text = host.read(f"{folder}/{name}") if name.endswith(".conf") else None
            found += re.findall(r"^\s*wifi\.powersave\s*=\s*(\d+)", text or "", re.M)
    return int(found[-1]) if found else None


def _netplan_files(host: Host) -> list[dict[str, t.Any]]:
    """Return which interfaces each netplan file names; a file's text may hold a Wi-Fi password and stays here."""
    rows: dict[str, dict[str, t.Any]] = {}
    for folder in NETPLAN_FOLDERS:
        for name in host.names(folder):
            path = host.real(f"{folder}/{name}")
            if name.endswith(".yaml") and path not in rows:
                text = re.sub(r"(?m)(^|\s)#.*$", "", host.read(path) or "")
                words = set(re.findall(r"[A-Za-z0-9_.-]+", text))
                rows[path] = {"path": path, "interfaces": [entry for entry in host.names(NET) if entry in words]}
    return list(rows.values())


def interface_of(rail: t.Mapping[str, t.Any], info: t.Mapping[str, t.Any]) -> str | None:
    """Return the interface of a rail's half; None where the host has no such half."""
    halves: list[str] = next((row["halves"] for row in info["ports"] if row["port"] == rail["port"]), [])
    return halves[rail["half"]] if rail["half"] < len(halves) else None


def problems(info: t.Mapping[str, t.Any]) -> list[dict[str, str]]:
    """Return what is wrong with a host whatever the plan, each with ``check``, ``cause`` and ``remedy``."""
    found = {}
    management, powersave, reserve = info["management"], info["wifi_powersave"], info["kernel"]["kho"]["reserved_mib"]
    if reserve:
        found["kernel.kho"] = (
            f"Kernel {info['kernel']['release']} reserves {reserve} MiB for Kexec HandOver (KHO), which RDMA cannot "
            "pin: once memory is short, ibv_reg_mr fails with 'Cannot allocate memory', and so does NCCL.",
            "Run `sudo apt install nvidia-spark-grub-kho` and reboot: NVIDIA's package boots the kernel with kho=off. "
            "The role does not touch the kernel.",
        )
    if management and management["wireless"] and powersave != POWERSAVE_OFF:
        found["management.powersave"] = (
            f"The management interface {management['interface']} is wireless and may sleep (wifi.powersave is "
            f"{powersave or 'not set'}): connections drop.",
            "Write [connection] and wifi.powersave=2 to /etc/NetworkManager/conf.d/wifi-powersave-off.conf and restart "
            "NetworkManager, or use the wired interface.",
        )
    return [{"check": name, "cause": cause, "remedy": remedy} for name, (cause, remedy) in found.items()]
