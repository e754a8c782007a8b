"""NVIDIA's management library (NVML), or a file that replaces it: GPU memory by process, power, clocks, temperature.

Names and structures are from nvml.h of CUDA 13. A GB10 returns "not supported" for many queries, which is not an error.
"""

from __future__ import annotations

import ctypes
import json
import typing as t

LIBRARY = "libnvidia-ml.so.1"
NOT_AVAILABLE = (1 << 64) - 1
MOST_PROCESSES = 256
#: The bits of nvmlClocksEventReasons that indicate a fault; the others come from the owner's settings or an idle GPU.
SLOWED = {0x8: "hardware slowdown", 0x20: "software thermal", 0x40: "hardware thermal", 0x80: "power brake"}
CHOSEN = {0x2: "application clocks", 0x4: "software power cap"}

Device = dict[str, t.Any]


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute", ctypes.c_uint),
    )


class Nvml:
    """The driver's library.

    :raises OSError: if the library is missing or cannot be initialised.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(LIBRARY)
        code = self._library.nvmlInit_v2()
        if code:
            raise OSError(f"NVML does not start: error {code}.")
        self._devices = []
        for index in range(self._number("DeviceGetCount_v2") or 0):
            device = ctypes.c_void_p()
            if not self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
                self._devices.append(device)
        self._listed = (_Process * MOST_PROCESSES)()

    def _call(self, name: str, *arguments: t.Any) -> int:
        function = getattr(self._library, f"nvml{name}", None)
        return int(function(*arguments)) if function else 13

    def _number(self, name: str, *arguments: t.Any, kind: t.Any = ctypes.c_uint) -> int | None:
        value = kind()
        return None if self._call(name, *arguments, ctypes.byref(value)) else int(value.value)

    def processes(self) -> dict[int, int]:
        """Return each process's GPU memory in bytes, or 0 if the driver does not report it."""
        held: dict[int, int] = {}
        for device in self._devices:
            for kind in ("Compute", "Graphics"):
                count = ctypes.c_uint(MOST_PROCESSES)
                name = f"DeviceGet{kind}RunningProcesses_v3"
                if self._call(name, device, ctypes.byref(count), self._listed):
                    continue
                for row in self._listed[: count.value]:
                    size = 0 if row.memory == NOT_AVAILABLE else row.memory
                    held[row.pid] = max(held.get(row.pid, 0), size)
        return held

    def devices(self) -> list[Device]:
        """Return watts, MHz, degrees and reasons for each device; None for values that it does not report."""
        rows = []
        for device in self._devices:
            low, high = ctypes.c_uint(), ctypes.c_uint()
            bounded = not self._call(
                "DeviceGetPowerManagementLimitConstraints", device, ctypes.byref(low), ctypes.byref(high)
            )
            power = self._number("DeviceGetPowerUsage", device)
            limit = self._number("DeviceGetPowerManagementLimit", device)
            default = self._number("DeviceGetPowerManagementDefaultLimit", device)
            rows.append({
                "power": None if power is None else power / 1000,
                "limit": None if limit is None else limit / 1000,
                "limit_default": None if default is None else default / 1000,
                "limits": [low.value / 1000, high.value / 1000] if bounded else None,
                "clock": self._number("DeviceGetClockInfo", device, 1),
                "clock_max": self._number("DeviceGetMaxClockInfo", device, 1),
                "temperature": self._number("DeviceGetTemperature", device, 0),
                "reasons": self._number("DeviceGetCurrentClocksEventReasons", device, kind=ctypes.c_ulonglong),
                "busy": self._busy(device),
                "memory": self._memory(device),
            })  # fmt: skip
        return rows

    def _memory(self, device: t.Any) -> list[int] | None:
        """Return total and free bytes of the device's own memory; a GB10 has none and returns "not supported"."""
        value = (ctypes.c_ulonglong * 3)()
        return None if self._call("DeviceGetMemoryInfo", device, value) or not value[0] else [value[0], value[1]]

    def _busy(self, device: t.Any) -> int | None:
        value = (ctypes.c_uint * 2)()
        return None if self._call("DeviceGetUtilizationRates", device, value) else int(value[0])

    def set_power(self, index: int, watts: float) -> int:
        """Set the power limit of a device; return NVML's code, 0 for success."""
        return self._call("DeviceSetPowerManagementLimit", self._devices[index], int(watts * 1000))

    def set_clocks(self, index: int, most: int) -> int:
        """Limit a device's clocks to ``most`` MHz; 0 removes the limit."""
        if not most:
            return self._call("DeviceResetGpuLockedClocks", self._devices[index])
        return self._call("DeviceSetGpuLockedClocks", self._devices[index], 0, most)


class Recorded:
    """A file that stands in for NVML: ``{"processes": {"PID": BYTES}, "devices": [...]}``, read again on each call."""

    def __init__(self, path: str) -> None:
        self.path = path

    def _read(self) -> dict[str, t.Any]:
        try:
            with open(self.path, encoding="utf-8") as stream:
                content = json.load(stream)
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def processes(self) -> dict[int, int]:
        """Return each process's GPU memory in bytes."""
        return {int(pid): int(size) for pid, size in self._read().get("processes", {}).items()}

    def devices(self) -> list[Device]:
        """Return each device."""
        return list(self._read().get("devices", []))

    def set_power(self, index: int, watts: float) -> int:
        """Change the file."""
        return self._set(index, "limit", watts)

    def set_clocks(self, index: int, most: int) -> int:
        """Change the file."""
        return self._set(index, "clock_cap", most)

    def _set(self, index: int, key: str, value: float) -> int:
        content = self._read()
        content["devices"][index][key] = value
        with open(self.path, "w", encoding="utf-8") as stream:
            json.dump(content, stream)
        return 0


def connect(path: str = "") -> Nvml | Recorded | None:
    """Return NVML, the file that replaces it, or None on a host without a driver."""
    if path:
        return Recorded(path)
    try:
        return Nvml()
    except OSError:
        return None
