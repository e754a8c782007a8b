"""The network of a host: addresses, the management route, and known problems in the kernel and Wi-Fi settings."""

from __future__ import annotations

import json
import re
import typing as t

from .reader import Host

NET = "/sys/class/net"
#: In NetworkManager.conf(5), 2 is "disable" and 3 is "enable".
POWERSAVE_OFF = 2
#: The difference that CMA areas and drifting counters can cause without a reserve.
KHO_NOISE_MIB = 256


def addresses(host: Host) -> dict[str, list[str]]:
    """Return each interface's IPv4 addresses with their prefix lengths."""
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


def management(host: Host, own: t.Mapping[str, list[str]]) -> dict[str, t.Any] | None:
    """Return the interface of the default route with the lowest metric (``/proc/net/route``, proc(5))."""
    lines = [line.split() for line in (host.read("/proc/net/route") or "").splitlines()[1:]]
    default = [
        (int(fields[6]), fields[0]) for fields in lines if len(fields) > 7 and fields[1] == fields[7] == "00000000"
    ]
    if not default:
        return None
    name = min(default)[1]
    wireless = any(host.is_directory(f"{NET}/{name}/{entry}") for entry in ("wireless", "phy80211"))
    return {"interface": name, "addresses": own.get(name, []), "wireless": wireless}


def kho_mib(host: Host) -> int:
    """Return the Kexec HandOver reserve, which DGX OS kernel 7.0 makes by default.

    The page allocator gets it as CMA pages, which RDMA cannot pin: ``ibv_reg_mr`` fails with ENOMEM, and so does NCCL.
    ``CmaFree`` includes it and ``CmaTotal`` does not; with ``kho=off`` they are equal. Source: NVIDIA/NV-Kernels pull
    requests 590 and 591; MiaAI-Lab/DeepSeek-v4-Flash-DSpark-2x-DGX-Spark issue 259.
    """
    scratch = re.findall(r"0x[0-9a-fA-F]+|\d+", host.word("/sys/kernel/debug/kho/out/scratch_len"))
    if scratch:
        return sum(int(size, 0) for size in scratch) >> 20
    sizes = dict(re.findall(r"^(Cma\w+):\s+(\d+) kB$", host.read("/proc/meminfo") or "", re.M))
    surplus = (int(sizes.get("CmaFree", 0)) - int(sizes.get("CmaTotal", 0))) // 1024
    return surplus if surplus > KHO_NOISE_MIB else 0


def wifi_powersave(host: Host) -> int | None:
    """Return NetworkManager's ``wifi.powersave`` from the last file that sets it; Ubuntu ships 3 (enable)."""
    values: list[str] = []
    for folder in ("/usr/lib/NetworkManager/conf.d", "/etc/NetworkManager/conf.d"):
        for name in host.names(folder):
            text = host.read(f"{folder}/{name}") if name.endswith(".conf") else None
            values += re.findall(r"^\s*wifi\.powersave\s*=\s*(\d+)", text or "", re.M)
    return int(values[-1]) if values else None


def problems(info: t.Mapping[str, t.Any]) -> list[dict[str, str]]:
    """Return the problems of a host that do not depend on the plan, each with ``check``, ``cause`` and ``remedy``."""
    texts = {}
    management, powersave, reserve = info["management"], info["wifi_powersave"], info["kernel"]["kho"]["reserved_mib"]
    if reserve:
        texts["kernel.kho"] = (
            f"Kernel {info['kernel']['release']} reserves {reserve} MiB for Kexec HandOver (KHO), which RDMA cannot "
            "pin: once memory is short, ibv_reg_mr fails with 'Cannot allocate memory', and so does NCCL.",
            "Run `sudo apt install nvidia-spark-grub-kho` and reboot: NVIDIA's package boots the kernel with kho=off. "
            "The role does not touch the kernel.",
        )
    if management and management["wireless"] and powersave != POWERSAVE_OFF:
        texts["management.powersave"] = (
            f"The management interface {management['interface']} is wireless and may sleep (wifi.powersave is "
            f"{powersave or 'not set'}): connections drop.",
            "Write [connection] and wifi.powersave=2 to /etc/NetworkManager/conf.d/wifi-powersave-off.conf and restart "
            "NetworkManager, or use the wired interface.",
        )
    return [{"check": name, "cause": cause, "remedy": remedy} for name, (cause, remedy) in texts.items()]
