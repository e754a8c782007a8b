"""Read the versions of a host's firmware from world-readable files, without starting a program."""

from __future__ import annotations

import re

from .reader import Host

BOARD = "/sys/class/dmi/id/bios_version"
GPUS = "/proc/driver/nvidia/gpus"
INFINIBAND = "/sys/class/infiniband"


def observe(host: Host) -> dict[str, str]:
    """Return each readable firmware version: of the board, each GPU and each RDMA device."""
    versions = {"board": host.word(BOARD)}
    for gpu in host.names(GPUS):
        bios = re.search(r"^Video BIOS:[ \t]*(\S+)", host.word(f"{GPUS}/{gpu}/information"), re.M)
        versions[f"GPU {gpu}"] = bios[1] if bios else ""
    for device in host.names(INFINIBAND):
        versions[device] = host.word(f"{INFINIBAND}/{device}/fw_ver")
    # The driver writes ?? instead of a version until a program has used the GPU.
    return {name: version for name, version in versions.items() if version and "?" not in version}
