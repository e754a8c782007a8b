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
MIB = 1024 * 1024
WHERE_THE_CARD_IS = "`lspci -d 15b3:` and the driver mlx5_core; for another card, set the interfaces in fabric_ports."


class FabricInfo:
    """Observe one host.

    :param host: what its files and commands are reached through.
    :param ports: the interfaces of each port, half by half, for cards that cannot be told apart by PCI; without it the
        ports of the ConnectX-7 are found.
    """

    def __init__(self, host: Host, ports: t.Sequence[t.Sequence[str]] = ()) -> None:
        self.host = host
        self.named = [[str(name) for name in names] for names in ports]

    def observe(self) -> dict[str, t.Any]:
        addresses, rdma = self._addresses(), self._rdma_devices()
        wanted = {name for names in self.named for name in names}
        links = [self._link(name, addresses, rdma) for name in self.host.names(NET)]
        links = [link for link in links if link["connectx7"] or link["interface"] in wanted]
        return {
            "links": links,
            "ports": self._ports(links),
            "management": self._management(addresses),
            "addresses": [
                {"interface": name, "address": address} for name, rows in sorted(addresses.items()) for address in rows
            ],
            "kernel": self._kernel(),
            "wifi_powersave": self._wifi_powersave(),
            "netplan": {"command": self.host.command("netplan"), "files": self._netplan_files()},
            "tools": {"ib_write_bw": self.host.command("ib_write_bw")},
        }

    # -- interfaces

    def _addresses(self) -> dict[str, list[str]]:
        code, out, err = self.host.run([self.host.command("ip") or "ip", "-json", "address", "show"])
        try:
            rows = json.loads(out) if code == 0 else []
        except ValueError:
            rows, err = [], "its output is not JSON"
        if code != 0 or not rows:
            self.host.note("ip address", err or "no output")
        return {
            row["ifname"]: [
                f"{entry['local']}/{entry['prefixlen']}"
                for entry in row.get("addr_info", [])
                if entry.get("family") == "inet" and "local" in entry
            ]
            for row in rows
            if row.get("ifname")
        }

    def _word(self, path: str) -> str:
        return (self.host.read(path) or "").strip()

    @staticmethod
    def _number(text: str) -> int | None:
        return int(text, 0) if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text) else None

    def _quietly(self, path: str) -> str:
        # Speed and carrier of an interface that is down answer EINVAL, debugfs an account but root EACCES.
        noted = len(self.host.unread)
        text = self._word(path)
        del self.host.unread[noted:]
        return text

    def _link(
        self, name: str, addresses: t.Mapping[str, list[str]], rdma: t.Mapping[str, dict[str, t.Any]]
    ) -> dict[str, t.Any]:
        place = f"{NET}/{name}"
        device = self.host.real(f"{place}/device") if self.host.is_directory(f"{place}/device") else ""
        pci = device.rsplit("/", 1)[-1]
        pci = pci if re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", pci) else ""
        speed = self._number(self._quietly(f"{place}/speed"))
        flags = self._number(self._word(f"{place}/flags")) or 0
        owner = rdma.get(pci, {}) if pci else {}
        width = self._number(self._word(f"{device}/current_link_width")) if pci else None
        return {
            "interface": name,
            "connectx7": bool(pci)
            and self._word(f"{device}/vendor") == VENDOR
            and self._word(f"{device}/device") == CONNECTX7
            # Virtual functions have a link to their physical one.
            and not self.host.is_directory(f"{device}/physfn"),
            "pci": pci,
            "mac": self._word(f"{place}/address"),
            "mtu": self._number(self._word(f"{place}/mtu")),
            # IFF_UP of if.h: what `ip link set up` sets, whatever the cable.
            "up": bool(flags & 1),
            "carrier": self._number(self._quietly(f"{place}/carrier")) == 1,
            "speed_mbps": speed if speed is not None and speed > 0 else None,
            "addresses": addresses.get(name, []),
            "rdma": owner.get("name"),
            "card": owner.get("card", ""),
            "gids": owner.get("gids", []),
            "pcie": {"speed": self._word(f"{device}/current_link_speed") or None, "width": width} if pci else None,
        }

    def _rdma_devices(self) -> dict[str, dict[str, t.Any]]:
        """Return the devices by their place on PCI."""
        found: dict[str, dict[str, t.Any]] = {}
        for name in self.host.names(INFINIBAND):
            place = f"{INFINIBAND}/{name}"
            card, gids = self._word(f"{place}/sys_image_guid"), self._gids(f"{place}/ports/1")
            pci = self.host.real(f"{place}/device").rsplit("/", 1)[-1]
            found.setdefault(pci, {"name": name, "card": card, "gids": gids})
        return found

    def _gids(self, port: str) -> list[dict[str, t.Any]]:
        rows = []
        for index in sorted(int(name) for name in self.host.names(f"{port}/gids") if name.isdigit()):
            text = self._word(f"{port}/gids/{index}")
            try:
                mapped = ipaddress.IPv6Address(text).ipv4_mapped
            except ValueError:
                continue
            if mapped is not None:
                # Unused entries of the table answer EINVAL for their type, and are all zero above.
                kind = self._word(f"{port}/gid_attrs/types/{index}")
                rows.append({"index": index, "address": str(mapped), "type": kind})
        return rows

    def _ports(self, links: t.Sequence[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
        """Pair the halves: the same card and PCI function, in the order of their PCI domains."""
        if self.named:
            return [{"port": number, "halves": names} for number, names in enumerate(self.named)]
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for link in links:
            if link["connectx7"]:
                function = link["pci"].rsplit(".", 1)[-1]
                groups.setdefault((link["card"], function), []).append((link["pci"], link["interface"]))
        ordered = sorted(groups.items(), key=lambda item: (item[0][1], item[0][0]))
        one_card = len({card for card, _function in groups}) == 1
        return [
            {"port": int(function) if one_card else number, "halves": [interface for _pci, interface in sorted(halves)]}
            for number, ((_card, function), halves) in enumerate(ordered)
        ]

    def _management(self, addresses: t.Mapping[str, list[str]]) -> dict[str, t.Any] | None:
        """Return the interface of the default route with the lowest metric (``/proc/net/route``, proc(5))."""
        lines = [line.split() for line in (self.host.read("/proc/net/route") or "").splitlines()[1:]]
        default = [words for words in lines if len(words) > 7 and words[1] == words[7] == "00000000"]
        if not default:
            return None
        name = min((int(words[6]), words[0]) for words in default)[1]
        wireless = any(self.host.is_directory(f"{NET}/{name}/{entry}") for entry in ("wireless", "phy80211"))
        return {"interface": name, "addresses": addresses.get(name, []), "wireless": wireless}

    # -- what is known to spoil a fabric

    def _kernel(self) -> dict[str, t.Any]:
        """Find the reserve of Kexec HandOver, which kernel 7.0 of DGX OS makes by default.

        It goes to the page allocator as pages for CMA, which RDMA cannot pin: ``ibv_reg_mr`` fails with ENOMEM and NCCL
        with it. ``CmaTotal`` does not count it and ``CmaFree`` does; with ``kho=off`` both are alike.
        Source: NVIDIA/NV-Kernels pull requests 590 and 591; MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark issue 259.
        """
        asked = re.findall(r"(?:^|\s)kho=(\S+)", self.host.read("/proc/cmdline") or "")
        state = asked[-1] if asked else None
        reserved, source = self._scratch()
        if reserved is None:
            sizes = {
                name: int(size)
                for name, size in re.findall(r"^(Cma\w+):\s+(\d+) kB$", self.host.read("/proc/meminfo") or "", re.M)
            }
            surplus = (sizes.get("CmaFree", 0) - sizes.get("CmaTotal", 0)) // 1024
            reserved, source = (surplus if surplus > KHO_NOISE_MIB else 0), "/proc/meminfo"
        return {"release": self.host.release, "kho": {"asked": state, "reserved_mib": reserved, "source": source}}

    def _scratch(self) -> tuple[int | None, str]:
        path = "/sys/kernel/debug/kho/out/scratch_len"
        text = self._quietly(path)
        if not text:
            return None, ""
        return sum(int(size, 0) for size in re.findall(r"0x[0-9a-fA-F]+|\d+", text)) // MIB, path

    def _wifi_powersave(self) -> int | None:
        """Return NetworkManager's ``wifi.powersave``, the last file's; Ubuntu ships 3 (enable)."""
        value = None
        for folder in ("/usr/lib/NetworkManager/conf.d", "/etc/NetworkManager/conf.d"):
            for name in self.host.names(folder):
                text = self.host.read(f"{folder}/{name}") if name.endswith(".conf") else None
                for found in re.findall(r"^\s*wifi\.powersave\s*=\s*(\d+)", text or "", re.M):
                    value = int(found)
        return value

    def _netplan_files(self) -> list[dict[str, t.Any]]:
        """Return which interfaces each netplan file names; a file's text may hold a Wi-Fi password and stays here."""
        interfaces = self.host.names(NET)
        rows, seen = [], set()
        for folder in NETPLAN_FOLDERS:
            for name in self.host.names(folder):
                path = self.host.real(f"{folder}/{name}")
                if not name.endswith(".yaml") or path in seen:
                    continue
                seen.add(path)
                text = re.sub(r"(?m)(^|\s)#.*$", "", self.host.read(path) or "")
                words = set(re.findall(r"[A-Za-z0-9_.-]+", text))
                rows.append({"path": path, "interfaces": [entry for entry in interfaces if entry in words]})
        return rows


def interface_of(rail: t.Mapping[str, t.Any], info: t.Mapping[str, t.Any]) -> str | None:
    """Return the interface of a rail's half; None where the host has no such half."""
    halves: list[str] = next((row["halves"] for row in info["ports"] if row["port"] == rail["port"]), [])
    return halves[rail["half"]] if rail["half"] < len(halves) else None


def problems(info: t.Mapping[str, t.Any]) -> list[dict[str, str]]:
    """Return what is wrong with a host whatever the plan, each with ``check``, ``cause`` and ``remedy``."""
    found = []
    kernel, management = info["kernel"], info["management"]
    if kernel["kho"]["reserved_mib"]:
        cause = (
            f"Kernel {kernel['release']} reserves {kernel['kho']['reserved_mib']} MiB for Kexec HandOver (KHO), which "
            "RDMA cannot pin: once memory is short, ibv_reg_mr fails with 'Cannot allocate memory', and so does NCCL."
        )
        remedy = (
            "Run `sudo apt install nvidia-spark-grub-kho` and reboot: NVIDIA's package boots the kernel with kho=off. "
            "The role does not touch the kernel."
        )
        found.append({"check": "kernel.kho", "cause": cause, "remedy": remedy})
    if management and management["wireless"] and (info["wifi_powersave"] or 0) != POWERSAVE_OFF:
        cause = (
            f"The management interface {management['interface']} is wireless and may sleep (wifi.powersave is "
            f"{info['wifi_powersave'] or 'not set'}): connections drop."
        )
        remedy = (
            "Write [connection] and wifi.powersave=2 to /etc/NetworkManager/conf.d/wifi-powersave-off.conf and restart "
            "NetworkManager, or use the wired interface."
        )
        found.append({"check": "management.powersave", "cause": cause, "remedy": remedy})
    return found
