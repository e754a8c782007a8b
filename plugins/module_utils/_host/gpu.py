"""Observe the NVIDIA GPUs, driver and CUDA toolkits on a host.

On GB10 the GPU shares the host's memory, so nvidia-smi reports ``[N/A]`` as its size, which is not an error. Such a
device gets ``None`` for its memory, and the host's ``MemAvailable`` is used instead.
"""

from __future__ import annotations

import json
import re
import typing as t

from .._core.versions import is_whole
from .reader import Host

QUERY_GPU = "index,name,uuid,compute_cap,memory.total,memory.used,driver_version"
QUERY_PROCESSES = "pid,process_name,used_memory"
FORMAT = "--format=csv,noheader,nounits"
NVIDIA_VENDOR = "0x10de"
#: The nvidia-smi exit status for valid output followed by a warning (its manual, Return Value).
INFOROM_CORRUPTED = 14

_VERSION = re.compile(r"\d+(?:\.\d+)+")


def mib(text: str) -> int | None:
    """Return the number of MiB from nvidia-smi, or ``None`` for ``[N/A]``, ``Not Supported`` and the like."""
    match = re.match(r"^(\d{1,18})(?: MiB)?$", text.strip())
    return int(match.group(1)) if match else None


def _known(text: str) -> str | None:
    text = text.strip()
    return None if not text or text.startswith("[") or text in ("N/A", "Not Supported") else text


def parse_devices(text: str) -> tuple[list[dict[str, t.Any]], str | None]:
    """Parse the output of ``nvidia-smi --query-gpu``: the devices and the driver's version."""
    devices = []
    driver = None
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 7 or not is_whole(fields[0]):
            continue
        index, name, uuid, capability, total, used, version = fields
        driver = _known(version) or driver
        devices.append(
            {
                "index": int(index),
                "name": name,
                "uuid": _known(uuid),
                "compute_capability": _known(capability),
                "memory_total_mib": mib(total),
                "memory_used_mib": mib(used),
            }
        )
    return devices, driver


def parse_processes(text: str) -> list[dict[str, t.Any]]:
    """Parse the output of ``nvidia-smi --query-compute-apps``; a command's name may contain commas."""
    rows = []
    for line in text.splitlines():
        match = re.match(r"^\s*(\d{1,18})\s*,(.*),([^,]*)$", line)
        if match:
            pid, name, used = match.groups()
            rows.append({"pid": int(pid), "name": name.strip(), "used_mib": mib(used)})
    return rows


def parse_proc_version(text: str) -> tuple[str | None, bool | None]:
    """Parse ``/proc/driver/nvidia/version``: the driver's version, and whether it is the open kernel module."""
    line = next((line for line in text.splitlines() if "Kernel Module" in line), None)
    if line is None:
        return None, None
    match = _VERSION.search(line.split("Kernel Module", 1)[1])
    return (match.group(0) if match else None), "Open Kernel Module" in line


class Gpu:
    """Observe GPUs, driver and CUDA toolkits on one host; runs nvidia-smi at most three times."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._smi = host.command("nvidia-smi")
        self._smi_driver: str | None = None
        self._devices: list[dict[str, t.Any]] = []

    def _ask(self, *options: str) -> str:
        # Set a time limit, because a wedged driver makes nvidia-smi hang forever.
        argv = [self._smi or "nvidia-smi", *options]
        limit = self.host.command("timeout")
        if limit:
            argv = [limit, "--kill-after=5", "30", *argv]
        status, stdout, stderr = self.host.run(argv)
        if status != 0:
            # The output may still be valid (INFOROM_CORRUPTED, or one of several GPUs is faulty).
            warnings = "\n".join(re.findall("^WARNING.*", stdout, re.MULTILINE))
            self.host.note("nvidia-smi " + options[0], stderr or warnings or stdout or f"exit status {status}")
        return stdout

    def observe(self) -> dict[str, t.Any]:
        """Return the value for the key ``gpu``."""
        processes: list[dict[str, t.Any]] = []
        if self._smi:
            self._devices, self._smi_driver = parse_devices(self._ask(f"--query-gpu={QUERY_GPU}", FORMAT))
            if self._devices:
                processes = parse_processes(self._ask(f"--query-compute-apps={QUERY_PROCESSES}", FORMAT))
        return {
            "present": bool(self._devices),
            "hardware": bool(self._devices) or self._on_the_bus(),
            "unified_memory": any(device["memory_total_mib"] is None for device in self._devices),
            "devices": self._devices,
            "processes": processes,
        }

    def _on_the_bus(self) -> bool:
        """Tell whether the PCI bus has an NVIDIA display device (PCI class 0x03), with or without a driver."""
        bus = "/sys/bus/pci/devices"
        return any(
            self.host.stripped(f"{bus}/{name}/vendor") == NVIDIA_VENDOR
            and self.host.stripped(f"{bus}/{name}/class").startswith("0x03")
            for name in self.host.names(bus)
        )

    def version(self) -> str | None:
        """Return the driver's version; nvidia-smi is run only if the loaded module does not show it."""
        version, _open = parse_proc_version(self.host.read("/proc/driver/nvidia/version") or "")
        version = version or self.host.word("/sys/module/nvidia/version") or None
        if version is None and self._smi:
            version = parse_devices(self._ask(f"--query-gpu={QUERY_GPU}", FORMAT))[1]
        return version

    def driver(self) -> dict[str, t.Any]:
        """Return the value for the key ``driver``; call it after :meth:`observe`."""
        version, open_module = parse_proc_version(self.host.read("/proc/driver/nvidia/version") or "")
        loaded = (self.host.read("/sys/module/nvidia/version") or "").strip() or None
        modules = self.host.read("/proc/modules") or ""
        return {
            "version": self._smi_driver or version or loaded,
            "cuda_version": self._cuda_version() if self._devices else None,
            "open_kernel_module": open_module,
            "nvidia_fs": bool(re.search(r"^nvidia_fs ", modules, re.MULTILINE))
            or self.host.is_directory("/proc/driver/nvidia-fs"),
        }

    def _cuda_version(self) -> str | None:
        # Since driver 610 the version is printed for the user-mode driver (UMD), and the old field has no number.
        match = re.search(r"CUDA(?: UMD)? version\s*:\s*(\d+\.\d+)", self._ask("--version"), re.IGNORECASE)
        return match.group(1) if match else None

    def toolkits(self, packages: t.Mapping[str, str]) -> list[dict[str, t.Any]]:
        """Return the value for the key ``cuda_toolkits``: one row per real directory, oldest first; nvcc is not run."""
        rows: dict[str, dict[str, t.Any]] = {}
        for name in self.host.names("/usr/local"):
            if not re.match(r"^cuda(-\d+(\.\d+)*)?$", name) or not self.host.is_directory(f"/usr/local/{name}"):
                continue
            path = self.host.real(f"/usr/local/{name}")
            version, nvcc_version = self._toolkit_versions(path)
            if version is None:
                match = _VERSION.search(path.rsplit("/", 1)[-1])
                version = match.group(0) if match else None
            nvcc = f"{path}/bin/nvcc"
            if version and nvcc_version is None:
                nvcc_version = packages.get("cuda-nvcc-" + "-".join(version.split(".")[:2]))
            present = self.host.is_file(nvcc)
            rows[path] = {
                "version": version,
                "path": path,
                "nvcc": nvcc if present else None,
                "nvcc_version": nvcc_version.split("-")[0] if present and nvcc_version else None,
            }
        return sorted(rows.values(), key=lambda row: [int(part) for part in (row["version"] or "0").split(".")])

    def _toolkit_versions(self, path: str) -> tuple[str | None, str | None]:
        text = self.host.read(f"{path}/version.json")
        if text is None:
            return None, None
        try:
            parts = json.loads(text)
            return _part_version(parts, "cuda"), _part_version(parts, "cuda_nvcc")
        except ValueError as error:
            self.host.note(f"{path}/version.json", error)
            return None, None


def _part_version(parts: t.Any, name: str) -> str | None:
    part = parts.get(name) if isinstance(parts, dict) else None
    version = part.get("version") if isinstance(part, dict) else None
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else None
