"""The observation of a host, from files and command output that were recorded on real hosts."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import time
import typing as t
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.module_utils._host import (
    apt_state,
    dpkg,
    gpu,
    observation,
    reader,
)

from tests.unit.plugins.module_utils import elf_writer

Tree = t.Mapping[str, t.Union[str, bytes]]


def write(root: t.Any, files: Tree) -> str:
    """Write files into a root directory and return its path."""
    for path, content in files.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(root)


def filesystem(total_mib: int, available_mib: int) -> SimpleNamespace:
    return SimpleNamespace(f_blocks=total_mib * 256, f_bavail=available_mib * 256, f_frsize=4096)


SMI_GB10 = "0, NVIDIA GB10, GPU-0f1e2d3c, 12.1, [N/A], [N/A], 580.159.03\n"
# Recorded on an Ubuntu 24.04 host on 2026-11-20.
SMI_H200 = "0, NVIDIA H200, GPU-5e37fe2b-2a45-7aed-23a1-d106ba1f0d96, 9.0, 143771, 0, 580.159.04\n"
SMI_VERSION = """NVIDIA-SMI version  : 580.159.04
NVML version        : 580.159
DRIVER version      : 580.159.04
CUDA Version        : 13.0
"""
PROC_OPEN = """NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@)
GCC version:  gcc version 15.3.0 (GCC)
"""
PROC_PROPRIETARY = "NVRM version: NVIDIA UNIX aarch64 Kernel Module  580.95.05  Tue Sep 23 09:55:41 UTC 2025\n"

STATUS = """Package: dpkg
Status: install ok installed
Architecture: arm64
Version: 1.22.6ubuntu6
Description: Debian package management system
 Version: of a description, which is none

Package: cuda-nvcc-13-0
Status: hold ok installed
Architecture: arm64
Version: 13.0.88-1

Package: python3.12-minimal
Status: install ok triggers-pending
Architecture: arm64
Version: 3.12.3-1ubuntu0.5

Package: libc6
Status: install ok installed
Architecture: armhf
Version: 2.39-0ubuntu8

Package: tzdata
Status: install ok installed
Architecture: all
Version: 2025b

Package: cups
Status: install ok half-configured
Architecture: arm64
Version: 2.4.7

Package: broken-one
Status: install reinstreq half-installed
Architecture: arm64
Version: 1

Package: gone
Status: deinstall ok config-files
Architecture: arm64
Version: 9
"""


def dgx_spark_root(root: t.Any) -> str:
    """Write the files of a DGX Spark into a root directory."""
    write(
        root,
        {
            "/usr/bin/nvidia-smi": "",
            "/usr/bin/timeout": "",
            "/proc/driver/nvidia/version": PROC_OPEN.replace("x86_64", "aarch64"),
            "/proc/modules": "nvidia_fs 1 0 - Live 0x0\nnvidia 2 1 nvidia_fs, Live 0x0\n",
            "/proc/meminfo": "MemTotal:  125501440 kB\nMemFree: 1 kB\nMemAvailable: 117964800 kB\nSwapTotal: 0 kB\n",
            "/proc/cmdline": "quiet kho=off\n",
            "/proc/sys/kernel/random/boot_id": "0b0a7a52\n",
            "/proc/cpuinfo": "".join(
                f"processor\t: {number}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n"
                for number, part in enumerate(["0xd85", "0xd85", "0xd87", "0xfff"])
            ),
            "/proc/self/mountinfo": "27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n"
            "22 27 0:21 / /proc rw - proc proc rw\n"
            "23 22 0:49 / /proc/acpi rw - tmpfs tmpfs rw\n"
            "24 27 0:45 / /dev rw - tmpfs tmpfs rw\n"
            "30 27 7:0 / /snap/x rw - squashfs /dev/loop0 ro\n"
            "31 27 8:1 / /mnt/with\\040space rw master:1 - ext4 /dev/sda1 rw\n",
            "/etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\nVERSION_CODENAME=noble\nID_LIKE=debian\n',
            "/etc/dgx-release": 'DGX_NAME="DGX Spark"\nDGX_PRETTY_NAME="NVIDIA DGX Spark"\n'
            'DGX_SWBUILD_VERSION="7.2.3"\n\nDGX_OTA_VERSION="7.3.1"\nDGX_OTA_VERSION="7.4.0"\n',
            "/var/lib/dpkg/status": STATUS,
            "/usr/local/cuda-13.0/version.json": '{"cuda": {"version": "13.0.2"}, "cuda_nvcc": {"version": "13.0.88"}}',
            "/usr/local/cuda-13.0/bin/nvcc": "",
            "/usr/local/cuda-12.9/lib64/x": "",
            "/usr/bin/python3.12": "",
            "/usr/bin/python3.12-config": "",
            "/usr/include/python3.12/Python.h": "",
            "/usr/lib/python3.12/venv/__init__.py": "",
            "/usr/local/bin/python3.13": "",
            "/usr/local/include/python3.13/patchlevel.h": '#define PY_VERSION  "3.13.1+"\n',
            "/usr/local/include/python3.13/Python.h": "",
            "/usr/local/lib/python3.13/venv/__init__.py": "",
            "/usr/local/lib/python3.13/ensurepip/__init__.py": "",
            "/etc/ld.so.conf.d/sparkforge-cudss.conf": "# ours\n/opt/sparkforge/lib\n",
            "/usr/local/share/ca-certificates/sparkforge.crt": "PEM",
            "/etc/apt/apt.conf.d/51sparkforge-proxy": "secret",
        },
    )
    os.symlink("cuda-13.0", root / "usr/local/cuda")
    os.makedirs(root / "etc/ssl/certs")
    os.symlink("/usr/local/share/ca-certificates/sparkforge.crt", root / "etc/ssl/certs/sparkforge.pem")
    return str(root)


class Commands:
    """Answers commands with recorded output, and remembers them."""

    def __init__(self, answers: t.Mapping[str, tuple[int, str, str]]) -> None:
        self.answers = answers
        self.executed: list[list[str]] = []

    def __call__(self, argv: list[str]) -> tuple[int, str, str]:
        self.executed.append(argv)
        for part, answer in self.answers.items():
            if any(part in word for word in argv):
                return answer
        return 127, "", "no such command"


def observe(root: str, commands: Commands | None = None, **options: t.Any) -> dict[str, t.Any]:
    host = reader.Host(
        root=root, run=commands or Commands({}), statvfs=lambda path: filesystem(3750000, 3400000),
        uname=("6.17.0-1021-nvidia", "aarch64"), clock=lambda: 1000.5,
    )  # fmt: skip
    options.setdefault("synchronized", lambda: None)
    return observation.SparkInfo(host, **options).observe()


def test_dgx_spark_observation(tmp_path: t.Any) -> None:
    commands = Commands(
        {
            "--query-gpu": (0, SMI_GB10, ""),
            "--query-compute-apps": (0, "4711, /usr/bin/python3, main, [N/A]\n812, x, 20480\n", ""),
            "--version": (0, SMI_VERSION, ""),
        }
    )
    observed = observe(dgx_spark_root(tmp_path), commands, controller_epoch=990.0)
    identity = {"index": 0, "name": "NVIDIA GB10", "uuid": "GPU-0f1e2d3c", "compute_capability": "12.1"}
    assert observed["gpu"] == {
        "present": True,
        "hardware": True,
        "unified_memory": True,
        "devices": [{**identity, "memory_total_mib": None, "memory_used_mib": None}],
        "processes": [
            {"pid": 4711, "name": "/usr/bin/python3, main", "used_mib": None},
            {"pid": 812, "name": "x", "used_mib": 20480},
        ],
    }
    driver = {"version": "580.159.03", "cuda_version": "13.0", "open_kernel_module": True, "nvidia_fs": True}
    assert observed["driver"] == driver
    toolkit = "/usr/local/cuda-13.0"
    assert observed["cuda_toolkits"] == [
        {"version": "12.9", "path": "/usr/local/cuda-12.9", "nvcc": None, "nvcc_version": None},
        {"version": "13.0.2", "path": toolkit, "nvcc": f"{toolkit}/bin/nvcc", "nvcc_version": "13.0.88"},
    ]
    assert observed["os"] == {
        "id": "ubuntu", "version": "24.04", "codename": "noble", "like": ["debian"],
        "dgx": {"name": "NVIDIA DGX Spark", "version": "7.4.0"},
    }  # fmt: skip
    assert observed["kernel"] == {
        "release": "6.17.0-1021-nvidia", "machine": "aarch64", "cmdline": "quiet kho=off", "boot_id": "0b0a7a52",
    }  # fmt: skip
    assert observed["memory"] == {"total_mib": 122560, "available_mib": 115200, "swap_total_mib": 0}
    available = {row["mount"]: row["available_mib"] for row in observed["disk"]}
    assert available == {"/": 3400000, "/mnt/with space": 3400000}
    assert observed["cpu"] == {"count": 4, "models": ["Cortex-X925", "Cortex-A725", "Arm part 0xfff"]}
    assert observed["python"] == [
        {"path": "/usr/bin/python3.12", "version": "3.12.3", "headers": True, "venv": False},
        {"path": "/usr/local/bin/python3.13", "version": "3.13.1", "headers": True, "venv": True},
    ]
    assert observed["loader"]["entries"] == {"/etc/ld.so.conf.d/sparkforge-cudss.conf": ["/opt/sparkforge/lib"]}
    assert observed["clock"] == {"epoch": 1000.5, "synchronized": None, "offset": 10.5}
    assert observed["managed_files"] == {
        "/etc/apt/apt.conf.d/51sparkforge-proxy": hashlib.sha256(b"secret").hexdigest(),
        "/etc/ld.so.conf.d/sparkforge-cudss.conf": hashlib.sha256(b"# ours\n/opt/sparkforge/lib\n").hexdigest(),
        "/usr/local/share/ca-certificates/sparkforge.crt": hashlib.sha256(b"PEM").hexdigest(),
    }
    assert observed["unread"] == []
    assert len(commands.executed) == 3
    assert all(argv[0] == "/usr/bin/timeout" for argv in commands.executed)


def test_only_finished_environments_are_observed(tmp_path: t.Any) -> None:
    stack = {"name": "torch-2.9.1", "lock_id": "1f0c6f3b2a91", "method": "build"}
    recorded = {"packages": {"torch": "2.9.1+cu130"}, "host_packages": {"libnccl2": "2.28.3-1"}}
    receipts = {"torch": json.dumps({"stack": stack, **recorded}), "old": "{}", "cut": '{"stack', "debris": None}
    for name, receipt in receipts.items():
        environment = tmp_path / "opt/sparkforge/envs" / name
        (environment / "5d41402abc4b").mkdir(parents=True)
        (environment / "current").symlink_to("5d41402abc4b")
        if receipt is not None:
            (environment / "5d41402abc4b/receipt.json").write_text(receipt)
    # An environment that was staged but never switched to.
    (tmp_path / "opt/sparkforge/envs/staged").mkdir()
    (tmp_path / "opt/sparkforge/envs/staged/staged").symlink_to("5d41402abc4b")
    observed = observe(str(tmp_path), Commands({}))
    torch = {"stack": stack, "torch": "2.9.1+cu130", "host_packages": {"libnccl2": "2.28.3-1"}}
    assert observed["environments"] == {
        "torch": {"current": "5d41402abc4b", **torch},
        "old": {"current": "5d41402abc4b", "stack": {}, "torch": None, "host_packages": {}},
    }
    assert observed["unread"] == []


def test_empty_host_observation(tmp_path: t.Any) -> None:
    commands = Commands({})
    observed = observe(str(tmp_path), commands)
    assert observed["gpu"]["present"] is False
    assert observed["driver"]["version"] is None
    assert observed["os"]["dgx"] is None
    assert observed["memory"]["total_mib"] is None
    assert observed["apt"]["packages"] == {}
    assert observed["unread"] == []
    assert commands.executed == []


def test_driver_without_nvidia_smi_is_read_from_the_kernel(tmp_path: t.Any) -> None:
    device = "/sys/bus/pci/devices/000f:01:00.0"
    files = {"/proc/driver/nvidia/version": PROC_PROPRIETARY}
    observed = observe(write(tmp_path, {**files, f"{device}/vendor": "0x10de\n", f"{device}/class": "0x030200\n"}))
    assert observed["driver"]["version"] == "580.95.05"
    assert observed["driver"]["open_kernel_module"] is False
    assert (observed["gpu"]["present"], observed["gpu"]["hardware"]) == (False, True)


def test_failing_nvidia_smi_is_reported_and_runs_once(tmp_path: t.Any) -> None:
    root = write(tmp_path, {"/usr/bin/nvidia-smi": "", "/sys/module/nvidia/version": "580.95.05\n"})
    commands = Commands({"nvidia-smi": (18, "", "Failed to initialize NVML: Driver/library version mismatch\n")})
    observed = observe(root, commands)
    assert observed["gpu"]["present"] is False
    assert observed["driver"]["version"] == "580.95.05"
    assert "version mismatch" in observed["unread"][0]["reason"]
    assert len(commands.executed) == 1


def test_nvidia_smi_output_with_warning_is_used(tmp_path: t.Any) -> None:
    root = write(tmp_path, {"/usr/bin/nvidia-smi": ""})
    devices = "0, NVIDIA GB10, GPU-1, 12.1, [N/A], [N/A], 610.43.02\n"
    deprecated = 'CUDA version        : Deprecated, see "CUDA UMD version" instead\n'
    versions = f"{deprecated}CUDA UMD version    : 13.3\nDRIVER version      : 610.43.02\n"
    warning = "WARNING: infoROM is corrupted at gpu 000F:01:00.0\n"
    answers = {"--version": (0, versions, ""), "--query-gpu": (14, devices + warning, ""), "--query": (14, warning, "")}
    observed = observe(root, Commands(answers))
    assert observed["gpu"]["present"] is True
    assert observed["driver"]["cuda_version"] == "13.3"
    assert [row["reason"] for row in observed["unread"]] == [warning.strip()] * 2


def test_failing_probe_does_not_affect_others(tmp_path: t.Any) -> None:
    root = write(tmp_path, {"/etc/os-release": "ID=debian\n", "/usr/local/cuda-13.0/version.json": "{ not json"})

    def broken() -> bool:
        raise RuntimeError("no such system call")

    observed = observe(root, synchronized=broken)
    assert observed["clock"] is None
    assert observed["os"]["id"] == "debian"
    assert observed["cuda_toolkits"][0]["version"] == "13.0"
    assert [row["probe"] for row in observed["unread"]] == ["clock", "/usr/local/cuda-13.0/version.json"]


def test_unresponsive_file_server_does_not_hang(tmp_path: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observation, "NETWORK_TIMEOUT", 0.05)
    root = write(tmp_path, {"/proc/self/mountinfo": "27 1 0:9 / /data rw - nfs4 nas:/data rw\n"})
    host = reader.Host(root=root, statvfs=lambda path: time.sleep(1))
    observed = observation.SparkInfo(host, synchronized=lambda: None).observe()
    assert (observed["disk"][0]["mount"], observed["disk"][0]["available_mib"]) == ("/data", None)
    assert [row["probe"] for row in observed["unread"]] == ["statvfs /data"]


def test_h200_memory_is_parsed() -> None:
    devices, driver = gpu.parse_devices(SMI_H200)
    assert (devices[0]["memory_total_mib"], devices[0]["memory_used_mib"], driver) == (143771, 0, "580.159.04")


@pytest.mark.parametrize("text", ["[N/A]", "N/A", "[Not Supported]", "Not Supported", "[Unknown Error]", ""])
def test_unavailable_memory_is_null(text: str) -> None:
    assert gpu.mib(text) is None


def test_dpkg_status_lists_installed_broken_and_held_packages() -> None:
    status = dpkg.parse_status(STATUS)
    assert status.architecture == "arm64"
    assert status.versions == {
        "dpkg": "1.22.6ubuntu6", "cuda-nvcc-13-0": "13.0.88-1", "python3.12-minimal": "3.12.3-1ubuntu0.5",
        "libc6:armhf": "2.39-0ubuntu8", "tzdata": "2025b",
    }  # fmt: skip
    assert status.broken == [
        {"name": "cups", "state": "half-configured"},
        {"name": "broken-one", "state": "half-installed, reinstreq"},
    ]
    assert status.held == ["cuda-nvcc-13-0"]


def test_interrupted_dpkg_is_broken(tmp_path: t.Any) -> None:
    root = write(tmp_path, {"/var/lib/dpkg/updates/0001": "x"})
    assert observe(root)["apt"]["broken"] == [{"name": "dpkg", "state": "interrupted"}]


def keyring_with_signatures(*hashes: int) -> bytes:
    """Return a key with a signature for each hash algorithm (RFC 9580: 2 is SHA-1, 8 SHA-256, 10 SHA-512)."""
    signatures = [b"\x89\x00\x12\x04\x13\x01" + bytes([number]) + bytes(14) for number in hashes]
    return b"\x99\x00\x0d\x04" + bytes(12) + b"\xb4\x01a" + b"".join(signatures)


@pytest.mark.parametrize("armoured", [False, True], ids=["binary", "armoured"])
@pytest.mark.parametrize(("hashes", "old"), [([2], True), ([2, 2], True), ([2, 8], False), ([10], False), ([], False)])
def test_keyring_certified_by_sha1_only_is_reported(hashes: list[int], old: bool, armoured: bool, tmp_path: Path):
    keyring = keyring_with_signatures(*hashes)
    if armoured:
        head, tail = b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n", b"=njUN\n-----END PGP PUBLIC KEY BLOCK-----\n"
        keyring = head + b"Version: 1\n\n" + base64.encodebytes(keyring) + tail
    source = "deb [signed-by=/a.key] http://one.example.com/ /\n"
    (row,) = observe(write(tmp_path, {"/etc/apt/sources.list": source, "/a.key": keyring}))["apt_sources"]
    assert (row["keyring_present"], row["keyring_sha1"]) == (True, old)


def test_apt_sources_of_both_formats_with_keyrings(tmp_path: t.Any) -> None:
    root = write(
        tmp_path,
        {
            "/etc/apt/sources.list": "# deb http://commented.example.com x main\n"
            "deb [arch=arm64 signed-by=/usr/share/keyrings/a.gpg,/usr/share/keyrings/b.gpg]"
            " http://one.example.com/ / # x\n"
            "deb-src http://two.example.com noble main universe\n",
            "/usr/share/keyrings/a.gpg": "",
            "/usr/share/keyrings/b.gpg": "",
            "/etc/apt/sources.list.d/cuda-compute-repo.sources": "Types: deb\n# a comment\n"
            "URIs: https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/sbsa/\nSuites: /\n"
            "Signed-By: /usr/share/keyrings/missing.gpg\n\n"
            "Enabled: no\nTypes: deb deb-src\nURIs: http://off.example.com\nSuites: a\n b\n"
            "Components: main\n\n"
            "Types: deb\nURIs: http://key.example.com\nSuites: x\n"
            "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n",
            "/etc/apt/sources.list.d/passed-over.list.save": "deb http://no.example.com / \n",
        },
    )
    rows = observe(root)["apt_sources"]
    hosts = [row["uris"][0].split("/")[2] for row in rows]
    assert hosts[:3] == ["one.example.com", "two.example.com", "developer.download.nvidia.com"]
    assert hosts[3:] == ["off.example.com", "key.example.com"]
    assert rows[0]["signed_by"] == "/usr/share/keyrings/a.gpg,/usr/share/keyrings/b.gpg"
    assert [row["keyring_present"] for row in rows] == [True, None, False, None, None]
    assert not any(row["keyring_sha1"] for row in rows)
    assert (rows[1]["types"], rows[1]["suites"]) == (["deb-src"], ["noble"])
    assert rows[1]["components"] == ["main", "universe"]
    assert (rows[3]["enabled"], rows[3]["suites"], rows[3]["types"]) == (False, ["a", "b"], ["deb", "deb-src"])
    assert rows[4]["signed_by"] == "inline"


def test_pins_in_apts_order_without_ignored_files(tmp_path: t.Any) -> None:
    pin = "Explanation: x\nPackage: {0}\nPin: release o=NVIDIA\nPin-Priority: {1}\n"
    root = write(
        tmp_path,
        {
            "/etc/apt/preferences": pin.format("main", "-1"),
            "/etc/apt/preferences.d/nvidia-dgx": pin.format("a b", "580") + "\nPackage: c\nPin: version 1\n",
            "/etc/apt/preferences.d/b.pref": pin.format("d", "1001"),
            "/etc/apt/preferences.d/c.dpkg-old": pin.format("e", "1"),
        },
    )
    pins = observe(root)["apt"]["pins"]
    assert [(row["package"], row["priority"]) for row in pins] == [("main", -1), ("d", 1001), ("a b", 580)]


def test_pins_with_lower_case_fields(tmp_path: t.Any) -> None:
    # cuda-compute-repo-lowpri2 writes the fields of these four packages in lower case, which apt accepts
    # (anakronox/spark-fleet-updates, 69129d40).
    host = json.loads((Path(__file__).parents[3] / "data/hosts/dgx-spark-ota2607.json").read_text())
    pins: dict[str, str] = {}
    for row in host["apt"]["pins"]:
        small = row["package"] in ("nvidia-fabricmanager", "nvidia-imex", "nvidia-persistenced", "libnvidia-nscq")
        fields = ("pin", "pin-priority") if small else ("Pin", "Pin-Priority")
        stanza = f"Package: {row['package']}\n{fields[0]}: {row['pin']}\n{fields[1]}: {row['priority']}\n\n"
        pins[row["file"]] = pins.get(row["file"], "") + stanza
    assert observe(write(tmp_path, pins))["apt"]["pins"] == host["apt"]["pins"]


POLICY = """bash:
  Installed: 5.2.15-2+b8
  Candidate: 5.2.15-2+b13
  Version table:
     5.2.15-2+b13 (phased 10%) 500
        500 http://deb.example.com/debian bookworm/main arm64 Packages
 *** 5.2.15-2+b8 100
        100 /var/lib/dpkg/status
nvidia-driver-590:
  Installed: (none)
  Candidate: (none)
  Version table:
     590.1 -1
        500 https://developer.example.com  Packages
"""


def test_offers_exclude_pinned_and_only_installed_versions(tmp_path: t.Any) -> None:
    commands = Commands({"policy": (0, POLICY, "")})
    observed = observe(str(tmp_path), commands, offers=["bash", "nvidia-driver-590", "unknown"])
    assert observed["apt"]["offers"] == {"bash": ["5.2.15-2+b13"], "nvidia-driver-590": [], "unknown": []}
    assert commands.executed == [["apt-cache", "policy", "bash", "nvidia-driver-590", "unknown"]]


def test_apt_lock_holder_is_named(tmp_path: t.Any) -> None:
    root = write(tmp_path, {"/var/lib/dpkg/lock-frontend": ""})
    code = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"
    command = [sys.executable, "-c", code, root + "/var/lib/dpkg/lock-frontend"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        write(tmp_path, {f"/proc/{holder.pid}/cmdline": "/usr/bin/unattended-upgrade\0--x\0"})
        observed = observe(root)["apt"]["lock_holder"]
        holder.communicate(b"\n")
    command_line = "/usr/bin/unattended-upgrade --x"
    assert observed == {"pid": holder.pid, "command": command_line, "file": "/var/lib/dpkg/lock-frontend"}
    assert observe(root)["apt"]["lock_holder"] is None


def test_apt_lock_holder_from_proc_locks(tmp_path: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path, {"/var/lib/dpkg/lock": "", "/proc/99/cmdline": "dpkg\0-i\0"})
    inode = os.stat(root + "/var/lib/dpkg/lock").st_ino
    write(tmp_path, {"/proc/locks": f"1: POSIX  ADVISORY  WRITE 99 fd:01:{inode} 0 EOF\n"})
    monkeypatch.setattr(apt_state.AptState, "_holder_by_fcntl", lambda self, file: None)
    holder = observe(root)["apt"]["lock_holder"]
    assert (holder["pid"], holder["command"]) == (99, "dpkg -i")


def loader_cache(*entries: tuple[str, str]) -> bytes:
    return elf_writer.new_cache([(soname, path, 0x0303, "") for soname, path in entries])


def test_loader_cache_prefers_first_nvidia_library(tmp_path: t.Any) -> None:
    cache = loader_cache(
        ("libcudss.so.0", "/opt/sparkforge/lib/libcudss.so.0"),
        ("libcudss.so.0", "/usr/lib/libcudss.so.0"),
        ("libcudss.so", "/usr/lib/libcudss.so"),
        ("libcurl.so.4", "/usr/lib/libcurl.so.4"),
        ("libnvpl_blas_core.so.0", "/opt/x/libnvpl_blas_core.so.0"),
    )
    assert observe(write(tmp_path, {"/etc/ld.so.cache": cache}))["loader"]["libraries"] == {
        "libcudss.so.0": "/opt/sparkforge/lib/libcudss.so.0",
        "libnvpl_blas_core.so.0": "/opt/x/libnvpl_blas_core.so.0",
    }


@pytest.mark.parametrize("content", [b"ld.so-1.7.0\0", loader_cache(("a", "b"))[:60], b"glibc-ld.so.cache1.1"])
def test_damaged_loader_cache_is_reported(tmp_path: t.Any, content: bytes) -> None:
    observed = observe(write(tmp_path, {"/etc/ld.so.cache": content}))
    assert observed["loader"]["libraries"] == {}
    assert [row["probe"] for row in observed["unread"]] == ["/etc/ld.so.cache"]


def test_unreadable_pci_device_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices/0000:01:00.0/vendor").mkdir(parents=True)
    observed = observe(str(tmp_path))
    assert "/sys/bus/pci/devices/0000:01:00.0/vendor" in [row["probe"] for row in observed["unread"]]


def test_kernel_files_are_read_in_small_pieces() -> None:
    # On some kernels, a single large read from /proc/sys fails with ENOMEM.
    assert len((reader.Host().read("/proc/sys/kernel/random/boot_id") or "").strip()) == 36


def test_clock_synchronized_according_to_timesyncd(tmp_path: t.Any) -> None:
    root = write(tmp_path, {"/run/systemd/timesync/synchronized": ""})
    assert observe(root, synchronized=lambda: False)["clock"]["synchronized"] is True


def test_kernel_clock_state() -> None:
    assert observation.kernel_clock_synchronized() in (True, False, None)


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "link to a device"])
def test_special_file_is_reported_without_blocking(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "etc/os-release"
    path.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "../zero")
        (tmp_path / "zero").symlink_to("/dev/zero")
    host = reader.Host(root=str(tmp_path))
    assert host.read("/etc/os-release") is None
    assert [row["probe"] for row in host.unread] == ["/etc/os-release"]
