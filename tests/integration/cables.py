"""Cables between two containers: veth pairs named like the halves of a ConnectX-7's ports."""

from __future__ import annotations

import ipaddress
import subprocess
import typing as t
from pathlib import Path

from lab import image

if t.TYPE_CHECKING:
    from tests.integration.conftest import Host

# The names on a Spark: for each port, its two halves.
PORTS = [["enp1s0f0np0", "enP2p1s0f0np0"], ["enp1s0f1np1", "enP2p1s0f1np1"]]


def ip(*arguments: str) -> str:
    """Run this machine's ip command."""
    return subprocess.run(["ip", *arguments], check=True, text=True, capture_output=True).stdout


def process(host: Host) -> str:
    """Return the PID of the container's first process, whose network namespace is the container's."""
    return image.podman("inspect", host.container, "--format", "{{.State.Pid}}").stdout.strip()


def connect(host: Host, other: Host) -> None:
    """Connect the first ports of two hosts: a veth pair for each half."""
    for name in PORTS[0]:
        ip("link", "add", "name", name, "netns", process(host), "type", "veth",
           "peer", "name", name, "netns", process(other))  # fmt: skip


def inside(host: Host, *arguments: str) -> str:
    """Run this machine's ip command in the container's network namespace, without privileges in the container."""
    return subprocess.run(
        ["nsenter", "-t", process(host), "-n", "ip", *arguments], check=True, text=True, capture_output=True
    ).stdout


def device(interface: str) -> str:
    """Return the name that a half's RDMA device has on a Spark."""
    return f"roce{interface[2:-3]}"


def add_rdma(host: Host, rails: t.Sequence[dict[str, t.Any]]) -> None:
    """Create the files of a ConnectX-7 with an RDMA device for each half, and install a stand-in for ib_write_bw.

    The files are on a file system mounted over the container's ``/sys/class``, because sysfs allows no new directories.
    """
    lines = [
        "mkdir -p /run/class/net /run/class/infiniband && cp -d /sys/class/net/* /run/class/net",
        "mount --bind /run/class /sys/class",
    ]
    for number, rail in enumerate(rails):
        name = PORTS[rail["port"]][rail["half"]]
        pci, rdma = f"/run/pci/000{number * 2}:01:00.{rail['port']}", f"/sys/class/infiniband/{device(name)}"
        address = ipaddress.IPv4Address(rail["address"].partition("/")[0])
        files = {
            f"{pci}/vendor": "0x15b3", f"{pci}/device": "0x1021", f"{pci}/current_link_width": "4",
            f"{pci}/current_link_speed": "32.0 GT/s PCIe", f"{rdma}/sys_image_guid": "a088:c203:0046:0a78",
            f"{rdma}/ports/1/gids/3": ipaddress.IPv6Address(f"::ffff:{address}").exploded,
            f"{rdma}/ports/1/gid_attrs/types/3": "RoCE v2",
        }  # fmt: skip
        lines += [f"mkdir -p $(dirname {path}) && echo '{text}' > {path}" for path, text in files.items()]
        # Keep the interface's own files, and add the card's.
        net = f"/sys/class/net/{name}"
        lines += [
            f"real=/sys/devices/virtual/net/{name}; rm {net} && mkdir {net}; echo 200000 > {net}/speed",
            f"for file in flags mtu carrier address; do ln -s $real/$file {net}/$file; done",
            f"ln -s {pci} {net}/device; ln -s {pci} {rdma}/device",
        ]
    mount = ["nsenter", "-t", process(host), "-m", "-n", "-r", "sh", "-euc", "\n".join(lines)]
    result = subprocess.run(mount, check=False, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
    image.podman("cp", Path(__file__).with_name("ib_write_bw.py"), f"{host.container}:/usr/local/bin/ib_write_bw")
    host.execute("chmod 0755 /usr/local/bin/ib_write_bw")
    host.execute("echo 97.28 > /srv/rate")
