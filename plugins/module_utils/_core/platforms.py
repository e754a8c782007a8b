"""The names of a platform: for systems, for locks, and for NVIDIA's redist archives."""

from __future__ import annotations

import re


def system(os_id: str | None, version: str | None, machine: str) -> str:
    """Return the name of a system, such as ``ubuntu24.04-aarch64``, from os-release's ``ID`` and ``VERSION_ID``."""
    return f"{os_id or 'linux'}{version or ''}-{machine}"


def locked(python: str, machine: str) -> str:
    """Return the name of a platform in a lock: ``cp312-linux-aarch64`` for ``3.12`` and ``aarch64``."""
    return f"cp{python.replace('.', '')}-linux-{machine}"


def redist(machine: str) -> str:
    """Return the name in NVIDIA's redist manifests: ``linux-sbsa`` for ARM64 servers (``linux-aarch64`` is Tegra)."""
    return {"aarch64": "linux-sbsa"}.get(machine, f"linux-{machine}")


def release(text: str) -> dict[str, str]:
    """Parse ``KEY=value`` lines (os-release(5), ``/etc/dgx-release``); the last line for a key wins."""
    values = {}
    for line in text.splitlines():
        match = re.match(r"^\s*([A-Z][A-Z0-9_]*)=(.*)$", line)
        if match:
            values[match.group(1)] = match.group(2).strip().strip("\"'")
    return values
