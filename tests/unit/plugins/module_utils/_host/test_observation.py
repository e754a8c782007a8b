"""The observation of a host, from the texts that real hosts gave."""

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


def plant(root: t.Any, files: Tree) -> str:
    """Write files below a root directory and return it."""
    for path, content in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(root)


def size(total_mib: int, available_mib: int) -> SimpleNamespace:
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


def spark(root: t.Any) -> str:
    """Plant a DGX Spark as the field notes describe it."""
    plant(
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
    """Answer commands from recorded texts, and remember what was run."""

    def __init__(self, answers: t.Mapping[str, tuple[int, str, str]]) -> None:
        self.answers = answers
        self.ran: list[list[str]] = []

    def __call__(self, argv: list[str]) -> tuple[int, str, str]:
        self.ran.append(argv)
        for part, answer in self.answers.items():
            if any(part in word for word in argv):
                return answer
        return 127, "", "no such command"


def observe(root: str, commands: Commands | None = None, **options: t.Any) -> dict[str, t.Any]:
    host = reader.Host(
        root=root,
        run=commands or Commands({}),
        statvfs=lambda path: size(3750000, 3400000),
        uname=("6.17.0-1021-nvidia", "aarch64"),
        clock=lambda: 1000.5,
    )
    options.setdefault("synchronized", lambda: None)
    return observation.SparkInfo(host, **options).observe()


def test_a_dgx_spark_is_observed_whole(tmp_path: t.Any) -> None:
    commands = Commands(
        {
            "--query-gpu": (0, SMI_GB10, ""),
            "--query-compute-apps": (0, "4711, /usr/bin/python3, main, [N/A]\n812, x, 20480\n", ""),
            "--version": (0, SMI_VERSION, ""),
        }
    )
    seen = observe(spark(tmp_path), commands, controller_epoch=990.0)
    assert seen["gpu"] == {
        "present": True,
        "hardware": True,
        "unified_memory": True,
        "devices": [
            {
                "index": 0,
                "name": "NVIDIA GB10",
                "uuid": "GPU-0f1e2d3c",
                "compute_capability": "12.1",
                "memory_total_mib": None,
                "memory_used_mib": None,
            }
        ],
        "processes": [
            {"pid": 4711, "name": "/usr/bin/python3, main", "used_mib": None},
            {"pid": 812, "name": "x", "used_mib": 20480},
        ],
    }
    assert seen["driver"] == {
        "version": "580.159.03",
        "cuda_version": "13.0",
        "open_kernel_module": True,
        "nvidia_fs": True,
    }
    assert seen["cuda_toolkits"] == [
        {"version": "12.9", "path": "/usr/local/cuda-12.9", "nvcc": None, "nvcc_version": None},
        {
            "version": "13.0.2",
            "path": "/usr/local/cuda-13.0",
            "nvcc": "/usr/local/cuda-13.0/bin/nvcc",
            "nvcc_version": "13.0.88",
        },
    ]
    assert seen["os"] == {
        "id": "ubuntu",
        "version": "24.04",
        "codename": "noble",
        "like": ["debian"],
        "dgx": {"name": "NVIDIA DGX Spark", "version": "7.4.0"},
    }
    assert seen["kernel"] == {
        "release": "6.17.0-1021-nvidia",
        "machine": "aarch64",
        "cmdline": "quiet kho=off",
        "boot_id": "0b0a7a52",
    }
    assert seen["memory"] == {"total_mib": 122560, "available_mib": 115200, "swap_total_mib": 0}
    assert [(row["mount"], row["available_mib"]) for row in seen["disk"]] == [
        ("/", 3400000),
        ("/mnt/with space", 3400000),
    ]
    assert seen["cpu"] == {"count": 4, "models": ["Cortex-X925", "Cortex-A725", "Arm part 0xfff"]}
    assert seen["python"] == [
        {"path": "/usr/bin/python3.12", "version": "3.12.3", "headers": True, "venv": False},
        {"path": "/usr/local/bin/python3.13", "version": "3.13.1", "headers": True, "venv": True},
    ]
    assert seen["loader"]["entries"] == {"/etc/ld.so.conf.d/sparkforge-cudss.conf": ["/opt/sparkforge/lib"]}
    assert seen["clock"] == {"epoch": 1000.5, "synchronized": None, "offset": 10.5}
    assert seen["managed_files"] == {
        "/etc/apt/apt.conf.d/51sparkforge-proxy": hashlib.sha256(b"secret").hexdigest(),
        "/etc/ld.so.conf.d/sparkforge-cudss.conf": hashlib.sha256(b"# ours\n/opt/sparkforge/lib\n").hexdigest(),
        "/usr/local/share/ca-certificates/sparkforge.crt": hashlib.sha256(b"PEM").hexdigest(),
    }
    assert seen["unread"] == []
    assert len(commands.ran) == 3
    assert all(argv[0] == "/usr/bin/timeout" for argv in commands.ran)


def test_an_environment_is_current_where_it_was_finished(tmp_path: t.Any) -> None:
    stack = {"name": "torch-2.9.1", "lock_id": "1f0c6f3b2a91", "method": "build"}
    recorded = {"packages": {"torch": "2.9.1+cu130"}, "host_packages": {"libnccl2": "2.28.3-1"}}
    whole = json.dumps({"stack": stack, **recorded})
    for name, receipt in {"torch": whole, "old": "{}", "cut": '{"stack', "debris": None}.items():
        place = tmp_path / "opt/sparkforge/envs" / name
        (place / "5d41402abc4b").mkdir(parents=True)
        (place / "current").symlink_to("5d41402abc4b")
        if receipt is not None:
            (place / "5d41402abc4b/receipt.json").write_text(receipt)
    # Staged and not switched to, and a name that nobody made.
    (tmp_path / "opt/sparkforge/envs/staged").mkdir()
    (tmp_path / "opt/sparkforge/envs/staged/staged").symlink_to("5d41402abc4b")
    seen = observe(str(tmp_path), Commands({}))
    assert seen["environments"] == {
        "torch": {
            "current": "5d41402abc4b",
            "stack": stack,
            "torch": "2.9.1+cu130",
            "host_packages": {"libnccl2": "2.28.3-1"},
        },
        "old": {"current": "5d41402abc4b", "stack": {}, "torch": None, "host_packages": {}},
    }
    assert seen["unread"] == []


def test_a_host_without_anything_gives_nothing_and_no_failure(tmp_path: t.Any) -> None:
    commands = Commands({})
    seen = observe(str(tmp_path), commands)
    assert seen["gpu"]["present"] is False
    assert seen["driver"]["version"] is None
    assert seen["os"]["dgx"] is None
    assert seen["memory"]["total_mib"] is None
    assert seen["apt"]["packages"] == {}
    assert seen["unread"] == []
    assert commands.ran == []


def test_a_driver_without_nvidia_smi_is_read_from_the_kernel(tmp_path: t.Any) -> None:
    root = plant(
        tmp_path,
        {
            "/proc/driver/nvidia/version": PROC_PROPRIETARY,
            "/sys/bus/pci/devices/000f:01:00.0/vendor": "0x10de\n",
            "/sys/bus/pci/devices/000f:01:00.0/class": "0x030200\n",
        },
    )
    seen = observe(root)
    assert seen["driver"]["version"] == "580.95.05"
    assert seen["driver"]["open_kernel_module"] is False
    assert (seen["gpu"]["present"], seen["gpu"]["hardware"]) == (False, True)


def test_a_failing_nvidia_smi_is_told_and_not_asked_again(tmp_path: t.Any) -> None:
    root = plant(tmp_path, {"/usr/bin/nvidia-smi": "", "/sys/module/nvidia/version": "580.95.05\n"})
    commands = Commands({"nvidia-smi": (18, "", "Failed to initialize NVML: Driver/library version mismatch\n")})
    seen = observe(root, commands)
    assert seen["gpu"]["present"] is False
    assert seen["driver"]["version"] == "580.95.05"
    assert "version mismatch" in seen["unread"][0]["reason"]
    assert len(commands.ran) == 1


def test_nvidia_smi_answer_with_a_warning_counts(tmp_path: t.Any) -> None:
    root = plant(tmp_path, {"/usr/bin/nvidia-smi": ""})
    devices = "0, NVIDIA GB10, GPU-1, 12.1, [N/A], [N/A], 610.43.02\n"
    versions = (
        'CUDA version        : Deprecated, see "CUDA UMD version" instead\nCUDA UMD version    : 13.3\n'
        "DRIVER version      : 610.43.02\n"
    )
    warning = "WARNING: infoROM is corrupted at gpu 000F:01:00.0\n"

    answers = {"--version": (0, versions, ""), "--query-gpu": (14, devices + warning, ""), "--query": (14, warning, "")}
    seen = observe(root, Commands(answers))
    assert seen["gpu"]["present"] is True
    assert seen["driver"]["cuda_version"] == "13.3"
    assert [row["reason"] for row in seen["unread"]] == [warning.strip()] * 2


def test_a_probe_that_breaks_leaves_the_others_alone(tmp_path: t.Any) -> None:
    root = plant(tmp_path, {"/etc/os-release": "ID=debian\n", "/usr/local/cuda-13.0/version.json": "{ not json"})

    def broken() -> bool:
        raise RuntimeError("no such system call")

    seen = observe(root, synchronized=broken)
    assert seen["clock"] is None
    assert seen["os"]["id"] == "debian"
    assert seen["cuda_toolkits"][0]["version"] == "13.0"
    assert [row["probe"] for row in seen["unread"]] == ["clock", "/usr/local/cuda-13.0/version.json"]


def test_a_file_server_that_does_not_answer_gives_a_null_and_does_not_hang(
    tmp_path: t.Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observation, "NETWORK_TIMEOUT", 0.05)
    root = plant(tmp_path, {"/proc/self/mountinfo": "27 1 0:9 / /data rw - nfs4 nas:/data rw\n"})
    host = reader.Host(root=root, statvfs=lambda path: time.sleep(1))
    seen = observation.SparkInfo(host, synchronized=lambda: None).observe()
    assert (seen["disk"][0]["mount"], seen["disk"][0]["available_mib"]) == ("/data", None)
    assert seen["unread"] == [{"probe": "statvfs /data", "reason": "The file server does not answer."}]


def test_the_real_h200_line_gives_its_memory_and_no_unified_memory() -> None:
    devices, driver = gpu.parse_devices(SMI_H200)
    assert (devices[0]["memory_total_mib"], devices[0]["memory_used_mib"], driver) == (143771, 0, "580.159.04")


@pytest.mark.parametrize("text", ["[N/A]", "N/A", "[Not Supported]", "Not Supported", "[Unknown Error]", ""])
def test_memory_that_is_not_available_is_null(text: str) -> None:
    assert gpu.mib(text) is None


def test_dpkg_status_gives_installed_broken_and_held_packages() -> None:
    found = dpkg.parse_status(STATUS)
    assert found.architecture == "arm64"
    assert found.versions == {
        "dpkg": "1.22.6ubuntu6",
        "cuda-nvcc-13-0": "13.0.88-1",
        "python3.12-minimal": "3.12.3-1ubuntu0.5",
        "libc6:armhf": "2.39-0ubuntu8",
        "tzdata": "2025b",
    }
    assert found.broken == [
        {"name": "cups", "state": "half-configured"},
        {"name": "broken-one", "state": "half-installed, reinstreq"},
    ]
    assert found.held == ["cuda-nvcc-13-0"]


def test_an_interrupted_dpkg_is_broken(tmp_path: t.Any) -> None:
    root = plant(tmp_path, {"/var/lib/dpkg/updates/0001": "x"})
    assert observe(root)["apt"]["broken"] == [{"name": "dpkg", "state": "interrupted"}]


def certified(*hashes: int) -> bytes:
    """Return a keyring with a key and a signature of each hash (RFC 9580: 2 is SHA-1, 8 SHA-256, 10 SHA-512)."""
    signatures = [b"\x89\x00\x12\x04\x13\x01" + bytes([number]) + bytes(14) for number in hashes]
    return b"\x99\x00\x0d\x04" + bytes(12) + b"\xb4\x01a" + b"".join(signatures)


@pytest.mark.parametrize("armoured", [False, True], ids=["binary", "armoured"])
@pytest.mark.parametrize(
    ("hashes", "old"), [((2,), True), ((2, 2), True), ((2, 8), False), ((10,), False), ((), False)]
)
def test_a_keyring_that_sha_1_alone_certifies_is_told(
    hashes: tuple[int, ...], old: bool, armoured: bool, tmp_path: Path
) -> None:
    head, text = b"-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: 1\n\n", base64.encodebytes(certified(*hashes))
    tail = b"=njUN\n-----END PGP PUBLIC KEY BLOCK-----\n"
    keyring = head + text + tail if armoured else certified(*hashes)
    source = "deb [signed-by=/a.key] http://one.example.com/ /\n"
    (row,) = observe(plant(tmp_path, {"/etc/apt/sources.list": source, "/a.key": keyring}))["apt_sources"]
    assert (row["keyring_present"], row["keyring_sha1"]) == (True, old)


def test_apt_sources_of_both_formats_are_read_with_their_keyrings(tmp_path: t.Any) -> None:
    root = plant(
        tmp_path,
        {
            "/etc/apt/sources.list": "# deb http://commented.example.com x main\n"
            "deb [arch=arm64 signed-by=/usr/share/keyrings/a.gpg,/usr/share/keyrings/b.gpg]"
            " http://one.example.com/ /"
            " # x\n"
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
    assert [row["uris"][0].split("/")[2] for row in rows] == [
        "one.example.com",
        "two.example.com",
        "developer.download.nvidia.com",
        "off.example.com",
        "key.example.com",
    ]
    assert rows[0]["signed_by"] == "/usr/share/keyrings/a.gpg,/usr/share/keyrings/b.gpg"
    assert [row["keyring_present"] for row in rows] == [True, None, False, None, None]
    assert not any(row["keyring_sha1"] for row in rows)
    assert (rows[1]["types"], rows[1]["suites"], rows[1]["components"]) == (
        ["deb-src"],
        ["noble"],
        ["main", "universe"],
    )
    assert (rows[3]["enabled"], rows[3]["suites"], rows[3]["types"]) == (False, ["a", "b"], ["deb", "deb-src"])
    assert rows[4]["signed_by"] == "inline"


def test_pins_are_read_in_apts_order_and_other_names_passed_over(tmp_path: t.Any) -> None:
    pin = "Explanation: x\nPackage: {0}\nPin: release o=NVIDIA\nPin-Priority: {1}\n"
    root = plant(
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


def test_pins_of_a_real_spark_are_read_whatever_the_case_of_their_fields(tmp_path: t.Any) -> None:
    # nvidia-fabricmanager and three others of cuda-compute-repo-lowpri2 have their fields in small letters, and apt
    # takes them (anakronox/spark-fleet-updates, 69129d40).
    host = json.loads((Path(__file__).parents[3] / "data/hosts/dgx-spark-ota2607.json").read_text())
    pins: dict[str, str] = {}
    for row in host["apt"]["pins"]:
        small = row["package"] in ("nvidia-fabricmanager", "nvidia-imex", "nvidia-persistenced", "libnvidia-nscq")
        fields = ("pin", "pin-priority") if small else ("Pin", "Pin-Priority")
        stanza = f"Package: {row['package']}\n{fields[0]}: {row['pin']}\n{fields[1]}: {row['priority']}\n\n"
        pins[row["file"]] = pins.get(row["file"], "") + stanza
    assert observe(plant(tmp_path, pins))["apt"]["pins"] == host["apt"]["pins"]


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


def test_offers_leave_out_what_a_pin_forbids_and_what_is_only_installed(tmp_path: t.Any) -> None:
    commands = Commands({"policy": (0, POLICY, "")})
    seen = observe(str(tmp_path), commands, offers=["bash", "nvidia-driver-590", "unknown"])
    assert seen["apt"]["offers"] == {"bash": ["5.2.15-2+b13"], "nvidia-driver-590": [], "unknown": []}
    assert commands.ran == [["apt-cache", "policy", "bash", "nvidia-driver-590", "unknown"]]


def test_the_process_that_holds_apts_lock_is_named(tmp_path: t.Any) -> None:
    root = plant(tmp_path, {"/var/lib/dpkg/lock-frontend": ""})
    code = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(1, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, root + "/var/lib/dpkg/lock-frontend"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        plant(tmp_path, {f"/proc/{holder.pid}/cmdline": "/usr/bin/unattended-upgrade\0--x\0"})
        seen = observe(root)["apt"]["lock_holder"]
        holder.communicate(b"\n")
    assert seen == {
        "pid": holder.pid,
        "command": "/usr/bin/unattended-upgrade --x",
        "file": "/var/lib/dpkg/lock-frontend",
    }
    assert observe(root)["apt"]["lock_holder"] is None


def test_an_ordinary_user_finds_the_holder_in_proc_locks(tmp_path: t.Any, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant(tmp_path, {"/var/lib/dpkg/lock": "", "/proc/99/cmdline": "dpkg\0-i\0"})
    inode = os.stat(root + "/var/lib/dpkg/lock").st_ino
    plant(tmp_path, {"/proc/locks": f"1: POSIX  ADVISORY  WRITE 99 fd:01:{inode} 0 EOF\n"})
    monkeypatch.setattr(apt_state.AptState, "_holder_by_fcntl", lambda self, file: None)
    holder = observe(root)["apt"]["lock_holder"]
    assert (holder["pid"], holder["command"]) == (99, "dpkg -i")


def loader_cache(*entries: tuple[str, str]) -> bytes:
    return elf_writer.new_cache([(soname, path, 0x0303, "") for soname, path in entries])


def test_the_loaders_cache_gives_nvidias_sonames_first_choice_first(tmp_path: t.Any) -> None:
    cache = loader_cache(
        ("libcudss.so.0", "/opt/sparkforge/lib/libcudss.so.0"),
        ("libcudss.so.0", "/usr/lib/libcudss.so.0"),
        ("libcudss.so", "/usr/lib/libcudss.so"),
        ("libcurl.so.4", "/usr/lib/libcurl.so.4"),
        ("libnvpl_blas_core.so.0", "/opt/x/libnvpl_blas_core.so.0"),
    )
    assert observe(plant(tmp_path, {"/etc/ld.so.cache": cache}))["loader"]["libraries"] == {
        "libcudss.so.0": "/opt/sparkforge/lib/libcudss.so.0",
        "libnvpl_blas_core.so.0": "/opt/x/libnvpl_blas_core.so.0",
    }


@pytest.mark.parametrize("content", [b"ld.so-1.7.0\0", loader_cache(("a", "b"))[:60], b"glibc-ld.so.cache1.1"])
def test_a_damaged_loader_cache_is_told_and_harmless(tmp_path: t.Any, content: bytes) -> None:
    seen = observe(plant(tmp_path, {"/etc/ld.so.cache": content}))
    assert seen["loader"]["libraries"] == {}
    assert [row["probe"] for row in seen["unread"]] == ["/etc/ld.so.cache"]


def test_files_of_the_kernel_are_read_in_small_pieces() -> None:
    # A single large read of /proc/sys ends in ENOMEM on some kernels.
    assert len((reader.Host().read("/proc/sys/kernel/random/boot_id") or "").strip()) == 36


def test_the_clock_is_synchronized_where_timesyncd_says_so(tmp_path: t.Any) -> None:
    root = plant(tmp_path, {"/run/systemd/timesync/synchronized": ""})
    assert observe(root, synchronized=lambda: False)["clock"]["synchronized"] is True


def test_the_kernel_answers_whether_the_clock_is_synchronized() -> None:
    assert observation.kernel_clock_synchronized() in (True, False, None)


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "link to a device"])
def test_what_is_no_file_is_noted_and_keeps_nobody_waiting(tmp_path: Path, kind: str) -> None:
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
