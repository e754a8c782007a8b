"""The files of a Spark that describe its fabric, written to a directory.

Names, PCI addresses, GUIDs and sizes are those published by users of two Sparks: ``ibdev2netdev`` in
NVIDIA/dgx-spark-playbooks nvidia/nccl/README.md, ``ibstat`` in geerlingguy/sbc-reviews issue 92, the kernel's reserve
in NVIDIA/NV-Kernels pull request 591. No such tree was copied from a Spark.
"""

import json
import typing as t
from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host.reader import Host

#: Interface, PCI address and RDMA device of each half of a port.
HALVES = (
    ("enp1s0f0np0", "0000:01:00.0", "rocep1s0f0"),
    ("enp1s0f1np1", "0000:01:00.1", "rocep1s0f1"),
    ("enP2p1s0f0np0", "0002:01:00.0", "roceP2p1s0f0"),
    ("enP2p1s0f1np1", "0002:01:00.1", "roceP2p1s0f1"),
)
CARD = "fc4c:ea03:00f9:4230"


class Spark:
    """A Spark with four halves of ports, of which those in ``cabled`` have a link."""

    def __init__(self, root: Path, cabled: t.Sequence[int] = (0,)) -> None:
        self.root = root
        self.addresses: dict[str, list[str]] = {"enP7s7": ["10.0.0.11/24"]}
        #: The results of commands, by their first two words.
        self.commands: dict[str, tuple[int, str, str]] = {}
        self.ran: list[list[str]] = []
        for interface, pci, rdma in HALVES:
            self.half(interface, pci, rdma, carrier=int(pci[-1]) in cabled)
        self.write("sys/class/net/enP7s7/flags", "0x1003")
        self.write("sys/class/net/enP7s7/mtu", "1500")
        route = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        self.write("proc/net/route", route + "enP7s7\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n")
        self.write("proc/cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.17.0-1029-nvidia root=UUID=0 ro quiet\n")
        self.write("proc/meminfo", "MemTotal: 125541260 kB\nCmaTotal:       32768 kB\nCmaFree:        30000 kB\n")
        self.write("usr/sbin/ip", "")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def half(self, interface: str, pci: str, rdma: str, carrier: bool = True) -> None:
        """Add a half of a port."""
        device = self.root / f"sys/devices/pci{pci[:7]}/{pci}"
        device.mkdir(parents=True)
        for name, text in (("vendor", "0x15b3"), ("device", "0x1021"), ("current_link_width", "4")):
            (device / name).write_text(f"{text}\n")
        (device / "current_link_speed").write_text("32.0 GT/s PCIe\n")
        for entry in (f"sys/class/net/{interface}", f"sys/class/infiniband/{rdma}"):
            (self.root / entry).mkdir(parents=True)
            (self.root / entry / "device").symlink_to(device)
        for name, text in (("flags", "0x1003"), ("mtu", "1500"), ("carrier", str(int(carrier))), ("speed", "200000")):
            self.write(f"sys/class/net/{interface}/{name}", f"{text}\n")
        self.write(f"sys/class/infiniband/{rdma}/sys_image_guid", f"{CARD}\n")

    def address(self, interface: str, address: str, index: int = 3) -> None:
        """Add an address to an interface and its GID to the RDMA device."""
        self.addresses.setdefault(interface, []).append(address)
        rdma = next((row[2] for row in HALVES if row[0] == interface), None)
        if rdma:
            port = f"sys/class/infiniband/{rdma}/ports/1"
            octets = [int(part) for part in address.split("/")[0].split(".")]
            gid = "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(*octets)
            self.write(f"{port}/gids/{index}", f"{gid}\n")
            self.write(f"{port}/gid_attrs/types/{index}", "RoCE v2\n")
            self.write(f"{port}/gids/0", "fe80:0000:0000:0000:fe4c:eaff:fef9:4230\n")

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.ran.append(argv)
        if argv[1:] == ["-json", "address", "show"]:
            rows = [
                {
                    "ifname": name,
                    "addr_info": [
                        {"family": "inet", "local": entry.split("/")[0], "prefixlen": int(entry.split("/")[1])}
                        for entry in entries
                    ],
                }
                for name, entries in self.addresses.items()
            ]
            return 0, json.dumps(rows), ""
        return self.commands.get(" ".join([argv[0].rsplit("/", 1)[-1], *argv[1:2]]), (0, "", ""))

    @property
    def host(self) -> Host:
        return Host(str(self.root), run=self.run, uname=("6.17.0-1029-nvidia", "aarch64"))
