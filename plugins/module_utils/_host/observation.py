"""One observation of a host: everything that the roles need to know to decide whether to act.

A failed probe gives ``None`` (or an empty list) and a row in ``unread``; it never fails the observation. Under
emulation a subprocess costs half a second, so facts are read from files and system calls. Only nvidia-smi, if
installed, and apt-cache, if offers are requested, are run.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import re
import stat
import typing as t

from .._core import deadline, platforms
from .._core.errors import SparkforgeError
from .._elf import ldcache
from . import dpkg, firmware
from .apt_state import AptState
from .gpu import Gpu
from .reader import Host

MIB = 1024 * 1024

# File systems that cannot hold our files, regardless of the size that they report.
PSEUDO = frozenset(
    (
        "autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl hugetlbfs mqueue nsfs "
        "proc pstore ramfs rpc_pipefs securityfs selinuxfs squashfs sysfs tracefs"
    ).split()
)
# An unresponsive server would make statvfs hang forever.
NETWORK = frozenset("nfs nfs4 cifs smb3 ceph lustre glusterfs fuse.sshfs fuse.glusterfs beegfs 9p".split())
NETWORK_TIMEOUT = 5.0

# Arm's part numbers (implementer 0x41), from the kernel's arch/arm64/include/asm/cputype.h.
ARM_PARTS = {
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse-N1",
    "0xd40": "Neoverse-V1",
    "0xd49": "Neoverse-N2",
    "0xd4f": "Neoverse-V2",
    "0xd83": "Neoverse-V3AE",
    "0xd84": "Neoverse-V3",
    "0xd85": "Cortex-X925",
    "0xd87": "Cortex-A725",
}

LIBRARIES = re.compile(
    r"^lib(cuda|cud|cublas|cufft|curand|cusparse|cusolver|cufile|cupti|nccl|nvrtc|nvpl|nvjitlink|nvshmem|nvfatbin|nvToolsExt)"
)

MANAGED_FOLDERS = ("/etc", "/usr/local/share/ca-certificates")
MANAGED_NAME = "sparkforge"


def parse_meminfo(text: str) -> dict[str, int | None]:
    """Parse ``/proc/meminfo`` (KiB) into MiB."""
    sizes = {name: int(size) // 1024 for name, size in re.findall(r"^(\w+):\s+(\d{1,18}) kB$", text, re.MULTILINE)}
    return {
        "total_mib": sizes.get("MemTotal"),
        "available_mib": sizes.get("MemAvailable"),
        "swap_total_mib": sizes.get("SwapTotal"),
    }


def parse_cpuinfo(text: str) -> tuple[int, list[str]]:
    """Parse ``/proc/cpuinfo``: the number of processors, and the distinct models in order of appearance."""
    models: list[str] = []
    implementer = ""
    for name, value in re.findall(r"^(model name|CPU implementer|CPU part)[ \t]*:[ \t]*(.*)$", text, re.MULTILINE):
        if name == "CPU implementer":
            implementer = value
            continue
        if name == "CPU part":
            value = ARM_PARTS.get(value, f"Arm part {value}") if implementer == "0x41" else f"{implementer} {value}"
        if value not in models:
            models.append(value)
    return len(re.findall(r"^processor\s*:", text, re.MULTILINE)), models


def parse_mountinfo(text: str) -> list[dict[str, str]]:
    """Parse ``/proc/self/mountinfo``: the mounts that can hold files, and only the top mount of each mount point."""
    rows: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if not separator or len(fields) < 6 or len(tail) < 2:
            continue
        mount = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), fields[4])
        rows.pop(mount, None)
        # Container runtimes hide parts of /proc and /sys under small tmpfs mounts.
        if tail[0] not in PSEUDO and not mount.startswith(("/proc/", "/sys/", "/dev/")) and mount != "/dev":
            rows[mount] = {"mount": mount, "device": tail[1], "fstype": tail[0], "id": fields[2]}
    return list(rows.values())


class _Timex(ctypes.Structure):
    # struct timex on 64-bit Linux (adjtimex(2)): only modes and status are used.
    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


def kernel_clock_synchronized() -> bool | None:
    """Ask the kernel whether the clock is synchronized, with adjtimex(2) in its read-only mode."""
    unsynchronized, error = 0x40, -1
    try:
        timex = _Timex()
        if ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex)) == error:
            return None
        return not timex.status & unsynchronized
    except (OSError, AttributeError):
        return None


class SparkInfo:
    """Observe one host.

    :param host: the interface to the files, commands and system calls of the host.
    :param offers: package names whose available versions are requested; together they cost one subprocess.
    :param controller_epoch: the controller's seconds since 1970, for the difference between the clocks.
    :param root: the directory of all the collection's files.
    :param synchronized: a function that asks the kernel whether the clock is synchronized.
    """

    def __init__(
        self,
        host: Host,
        offers: t.Sequence[str] = (),
        controller_epoch: float | None = None,
        root: str = "/opt/sparkforge",
        synchronized: t.Callable[[], bool | None] = kernel_clock_synchronized,
    ) -> None:
        self.host = host
        self.offer_names = list(offers)
        self.controller_epoch = controller_epoch
        self.root = root
        self.synchronized = synchronized

    def observe(self) -> dict[str, t.Any]:
        """Return the observation; a missing feature on the host never raises an error."""
        clock = self.host.part("clock", self._clock, None)  # first, because controller_epoch is a fixed time
        apt = AptState(self.host)
        gpu = Gpu(self.host)
        packages = self.host.part("packages", lambda: dpkg.packages(self.host), dpkg.Packages({}, [], [], None))
        observation = {
            "gpu": self.host.part("gpu", gpu.observe, None),
            "driver": self.host.part("driver", gpu.driver, None),
            "cuda_toolkits": self.host.part("cuda_toolkits", lambda: gpu.toolkits(packages.versions), []),
            "os": self.host.part("os", self._os, None),
            "kernel": self.host.part("kernel", self._kernel, None),
            "firmware": self.host.part("firmware", lambda: firmware.observe(self.host), {}),
            "memory": self.host.part("memory", lambda: parse_meminfo(self.host.read("/proc/meminfo") or ""), None),
            "disk": self.host.part("disk", self._disk, []),
            "cpu": self.host.part("cpu", self._cpu, None),
            "apt_sources": self.host.part("apt_sources", apt.sources, []),
            "apt": {
                "packages": packages.versions,
                "architecture": packages.architecture,
                "broken": packages.broken,
                "held": packages.held,
                "pins": self.host.part("pins", apt.pins, []),
                "lock_holder": self.host.part("lock_holder", apt.lock_holder, None),
                "offers": self.host.part("offers", lambda: apt.offers(self.offer_names), {}),
            },
            "python": self.host.part("python", lambda: self._python(packages.versions), []),
            "loader": self.host.part("loader", self._loader, {"entries": {}, "libraries": {}}),
            "clock": clock,
            "managed_files": self.host.part("managed_files", self._managed_files, {}),
            "environments": self.host.part("environments", self._environments, {}),
        }
        system, kernel = observation["os"] or {}, observation["kernel"] or {}
        observation["platform"] = platforms.system(system.get("id"), system.get("version"), kernel.get("machine") or "")
        observation["unread"] = self.host.unread
        return observation

    def _os(self) -> dict[str, t.Any]:
        release = platforms.release(self.host.read("/etc/os-release") or self.host.read("/usr/lib/os-release") or "")
        dgx = platforms.release(self.host.read("/etc/dgx-release") or "")
        return {
            "id": release.get("ID"),
            "version": release.get("VERSION_ID"),
            "codename": release.get("VERSION_CODENAME"),
            "like": release.get("ID_LIKE", "").split(),
            # An over-the-air update adds its own lines after the version that was flashed.
            "dgx": {
                "name": dgx.get("DGX_PRETTY_NAME") or dgx.get("DGX_NAME"),
                "version": dgx.get("DGX_OTA_VERSION") or dgx.get("DGX_SWBUILD_VERSION"),
            }
            if dgx
            else None,
        }

    def _kernel(self) -> dict[str, t.Any]:
        return {
            "release": self.host.release,
            "machine": self.host.machine,
            "cmdline": (self.host.read("/proc/cmdline") or "").strip() or None,
            "boot_id": (self.host.read("/proc/sys/kernel/random/boot_id") or "").strip() or None,
        }

    def _cpu(self) -> dict[str, t.Any]:
        count, models = parse_cpuinfo(self.host.read("/proc/cpuinfo") or "")
        return {"count": count or os.cpu_count(), "models": models}

    def _disk(self) -> list[dict[str, t.Any]]:
        rows: list[dict[str, t.Any]] = []
        for mount in parse_mountinfo(self.host.read("/proc/self/mountinfo") or ""):
            if self.host.live and not self.host.is_directory(mount["mount"]):
                continue  # a file bind-mounted by a container runtime, such as /etc/hosts
            total, available = self._sizes(mount)
            if total != 0:
                rows.append({**mount, "total_mib": total, "available_mib": available})
        return rows

    def _sizes(self, mount: dict[str, str]) -> tuple[int | None, int | None]:
        """Return the sizes of a file system in MiB: the total, and the space available to ordinary users."""
        ask = functools.partial(self.host.statvfs, mount["mount"])
        try:
            size = deadline.within(NETWORK_TIMEOUT, ask) if mount["fstype"] in NETWORK else ask()
        except TimeoutError:
            self.host.note(f"statvfs {mount['mount']}", "The file server does not answer.")
            return None, None
        except OSError as error:
            self.host.note(f"statvfs {mount['mount']}", error)
            return None, None
        return size.f_blocks * size.f_frsize // MIB, size.f_bavail * size.f_frsize // MIB

    def _python(self, packages: t.Mapping[str, str]) -> list[dict[str, t.Any]]:
        rows = []
        for prefix in ("/usr", "/usr/local"):
            for name in self.host.names(f"{prefix}/bin"):
                match = re.match(r"^python(3\.\d+)$", name)
                path = f"{prefix}/bin/{name}"
                if not match or not self.host.is_file(path):
                    continue
                minor = match.group(1)
                header = self.host.read(f"{prefix}/include/{name}/patchlevel.h")
                library = f"{prefix}/lib/{name}"
                rows.append(
                    {
                        "path": path,
                        "version": self._python_version(minor, header, packages if prefix == "/usr" else {}),
                        "headers": self.host.is_file(f"{prefix}/include/{name}/Python.h"),
                        # Debian's python3-venv provides ensurepip; the venv module alone cannot create an environment.
                        "venv": self.host.is_file(f"{library}/venv/__init__.py")
                        and self.host.is_file(f"{library}/ensurepip/__init__.py"),
                    }
                )
        return rows

    @staticmethod
    def _python_version(minor: str, header: str | None, packages: t.Mapping[str, str]) -> str:
        """Return the interpreter's version without running it, or only the minor version if nothing is more precise."""
        match = re.search(r'^#define\s+PY_VERSION\s+"(\d+\.\d+\.\d+)', header or "", re.MULTILINE)
        if match is None:
            match = re.match(r"(\d+\.\d+\.\d+)", packages.get(f"python{minor}-minimal", ""))
        return match.group(1) if match and match.group(1).startswith(minor + ".") else minor

    def _loader(self) -> dict[str, t.Any]:
        entries = {}
        folder = "/etc/ld.so.conf.d"
        for name in self.host.names(folder):
            if name.endswith(".conf"):
                lines = (self.host.read(f"{folder}/{name}") or "").splitlines()
                entries[f"{folder}/{name}"] = [
                    line.split("#", 1)[0].strip() for line in lines if line.split("#", 1)[0].strip()
                ]
        content = self.host.read_bytes("/etc/ld.so.cache")
        libraries: dict[str, str] = {}
        if content:
            try:
                for entry in ldcache.parse_cache(content):
                    # The loader uses the first entry.
                    libraries.setdefault(entry.soname, entry.path)
            except SparkforgeError as error:
                self.host.note("/etc/ld.so.cache", error)
        return {
            "entries": entries,
            "libraries": {
                name: path for name, path in sorted(libraries.items()) if LIBRARIES.match(name) and ".so." in name
            },
        }

    def _clock(self) -> dict[str, t.Any]:
        epoch = self.host.clock()
        synchronized: bool | None = True
        if not os.path.exists(self.host.path("/run/systemd/timesync/synchronized")):
            synchronized = self.synchronized()
        return {
            "epoch": round(epoch, 3),
            "synchronized": synchronized,
            "offset": None if self.controller_epoch is None else round(epoch - self.controller_epoch, 3),
        }

    def _managed_files(self) -> dict[str, str | None]:
        """Return the sha256 of each regular file named after this collection, or ``None`` if it is unreadable."""
        digests: dict[str, str | None] = {}
        for folder in MANAGED_FOLDERS:
            for parent, folders, names in os.walk(self.host.path(folder)):
                folders.sort()
                for name in names:
                    path = os.path.join(parent, name)
                    if MANAGED_NAME not in name or not stat.S_ISREG(os.lstat(path).st_mode):
                        continue
                    shown = path if self.host.live else path[len(self.host.root) :]
                    content = self.host.read_bytes(shown)
                    digests[shown] = None if content is None else hashlib.sha256(content).hexdigest()
        return dict(sorted(digests.items()))

    def _environments(self) -> dict[str, t.Any]:
        """Return the current environment for each name, and its receipt's record of stack, torch and host."""
        environments: dict[str, t.Any] = {}
        for name in self.host.names(f"{self.root}/envs"):
            directory = f"{self.root}/envs/{name}"
            # A dangling link, or one to an unfinished environment, does not count.
            try:
                current = os.readlink(self.host.path(f"{directory}/current"))
                receipt = json.loads(self.host.read(f"{directory}/{current}/receipt.json") or "null")
            except (OSError, ValueError):
                continue
            if isinstance(receipt, dict):
                torch = (receipt.get("packages") or {}).get("torch")
                environments[name] = {
                    "current": current,
                    "stack": receipt.get("stack") or {},
                    "torch": torch,
                    "host_packages": receipt.get("host_packages") or {},
                }
        return environments
