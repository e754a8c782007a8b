"""A Spark to record: its files, written to a directory, and its commands' output.

Their formats come from public sources: ``/etc/dgx-release`` from owners of a GX10 (October 2026), the recipe of
``nvidia-spark-ota-check`` from "Updating a fleet of GB10 systems" (2026-09-05), and ``fwupdmgr get-devices --json``
from the tests of a diagnostic tool written by owners. No such tree was copied from a Spark.
"""

import json
import typing as t
from pathlib import Path

from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._record import record
from sparkforge_proof import history, verdict

from tests.unit import fabric_host

PACKAGES = {
    "wheels": ["build-essential", "python3.12-venv"],
    "build": ["libnccl2=*+cuda13.*>=2.27.7", "cuda-nvcc-13-0", "clang-20"],
}
SERIAL = "TAMSAG002940X2C"
FILES = {
    "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\nID_LIKE=debian\n',
    "etc/dgx-release": 'DGX_NAME="DGX Spark"\nDGX_SWBUILD_VERSION="7.2.3"\nDGX_PLATFORM="GX10"\n'
    f'DGX_SERIAL_NUMBER="{SERIAL}"\n\nDGX_OTA_VERSION="7.5.0"\nDGX_OTA_VERSION="7.6.0"\n',
    "sys/class/dmi/id/sys_vendor": "ASUSTeK COMPUTER INC.\n",
    "sys/class/dmi/id/product_name": "GX10\n",
    "opt/nvidia/spark-ota-check/metadata/spark-ota-2604.json": '{"metadata": {"releaseDate": "2026-04-01"}}',
    "opt/nvidia/spark-ota-check/metadata/spark-ota-2607-ebeta.json": "not read",
    "opt/nvidia/spark-ota-check/metadata/spark-ota-2607.json": json.dumps(
        {
            "metadata": {"name": "OTA2607", "releaseDate": "2026-07-15T00:00:00.000Z"},
            "package": [
                {"name": "cuda-cccl-13-0", "version": "13.0.85-1"},
                {"name": "nvidia-spark-repo", "version": "1.1-1"},
            ],
            "software": [{"name": "kernel", "version": "6.17.0-1022-nvidia"}],
        }
    ),
    "boot/vmlinuz-7.0.0-1019-nvidia": "",
    "proc/pressure/memory": "some avg10=0.10 avg60=0.02 avg300=0.00 total=1\nfull avg10=9.00 avg60=9.00 total=1\n",
    "proc/sys/vm/swappiness": "60\n",
    "etc/systemd/system/gb10-clock-cap.service": "",
    "var/lib/dpkg/status": "".join(
        f"Package: {name}\nStatus: install ok installed\nArchitecture: arm64\nVersion: {version}\n\n"
        for name, version in (("dpkg", "1.22.6ubuntu6.5"), ("cuda-cccl-13-0", "13.0.85-1"), ("acme-agent", "1.0"))
    ),
    "var/lib/dpkg/arch": "arm64\n",
    "var/log/sparkforge/proof/2026-11-01T000000Z.json": json.dumps(
        {
            "format": verdict.FORMAT,
            "verdict": "fail",
            "host": "wolke7",
            "driver": "580.178.04",
            "checks": [
                {
                    "name": "matmul.float4",
                    "status": "fail",
                    "cause": "RuntimeError: CUBLAS_STATUS_NOT_SUPPORTED in /home/alice/run.py on wolke7",
                    "measured": "0.0125 of 0.02",
                    "seconds": 1.5,
                }
            ],
        }
    ),
    **{f"usr/bin/{name}": "" for name in ("nvidia-smi", "fwupdmgr", "timeout")},
}
POLICY = """\
libnccl2:
  Installed: (none)
  Candidate: 2.28.3-1+cuda13.0
  Version table:
     2.28.3-1+cuda13.0 500
        500 https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa  Packages
     2.20.5-1ubuntu1 500
        500 http://alice:s3cret@ports.ubuntu.com/ubuntu-ports noble/universe arm64 Packages
clang-20:
  Installed: (none)
  Candidate: 1:20.1.2-0ubuntu1~24.04.2
  Version table:
     1:20.1.2-0ubuntu1~24.04.2 500
        500 http://ports.ubuntu.com/ubuntu-ports noble-updates/main arm64 Packages
"""
ANSWERS: dict[str, tuple[int, str, str]] = {
    "get-devices": (
        0,
        json.dumps({"Devices": [{"Name": "Embedded Controller", "Version": "0x02000005", "Serial": "EC-SERIAL-1"}]}),
        "",
    ),
    "policy": (0, POLICY, ""),
    "--simulate": (0, "Inst libnccl2 (2.28.3-1+cuda13.0 NVIDIA [arm64])\nInst acme-agent (1.0 acme [arm64])\n", ""),
    "--query-gpu=index": (0, "0, NVIDIA GB10, GPU-0f1e2d3c, 12.1, [N/A], [N/A], 580.178.04\n", ""),
    "--query-compute-apps": (0, "", ""),
    "clocks_throttle_reasons.active": (
        2,
        'Field "clocks_throttle_reasons.active" is not a valid field to query.\n',
        "",
    ),
    "--query-gpu=pstate": (
        0,
        "P0, 9A.0B.25.00.00, Enabled, 2190, [N/A], 3003, [N/A], 32.05, [N/A], 58, 96, 0x0000000000000004\n",
        "",
    ),
    "find_spec": (0, "2.13.0+cu130\n/home/alice/venv/lib/python3.12/site-packages/torch\n", ""),
    "factor @ factor": (0, "", ""),
}


class Commands:
    """Answers a command by the first key that is part of an argument, and records the command with its time limit."""

    def __init__(self, answers: t.Mapping[str, tuple[int, str, str]] = {}) -> None:
        self.answers = {**answers, **{part: answer for part, answer in ANSWERS.items() if part not in answers}}
        self.ran: list[tuple[list[str], float]] = []

    def __call__(self, argv: list[str], limit: float) -> tuple[int, str, str]:
        self.ran.append((argv, limit))
        answers = (answer for part, answer in self.answers.items() if any(part in word for word in argv))
        return next(answers, (127, "", f"{argv[0]}: not found"))


def recorder(root: Path, commands: t.Any, **options: t.Any) -> record.Recorder:
    """Write the Spark's files to ``root`` and return a recorder for it."""
    spark = fabric_host.Spark(root)
    for path, text in FILES.items():
        spark.write(path, text)

    def last(host: t.Any) -> dict[str, t.Any] | None:
        return history.History(host.path(history.DIRECTORY)).last()

    return record.Recorder(PACKAGES, last, system=str(root), command=commands, **options)
