"""The names of distributions and wheel files, and whether a wheel fits an interpreter."""

from __future__ import annotations

import dataclasses
import os
import re

from .._core.errors import SparkforgeError


@dataclasses.dataclass(frozen=True)
class WheelName:
    """The parts of a wheel's file name (PEP 427)."""

    file: str
    distribution: str
    version: str
    pythons: tuple[str, ...]
    abis: tuple[str, ...]
    platforms: tuple[str, ...]


def normalised(name: str) -> str:
    """Return the name of a distribution in the form that PEP 503 compares."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_wheel_name(file: str) -> WheelName:
    """Parse the file name of a wheel.

    :raises SparkforgeError: if it is not ``name-version[-build]-python-abi-platform.whl``.
    """
    base = os.path.basename(file)
    parts = base[: -len(".whl")].split("-") if base.endswith(".whl") else []
    if len(parts) not in (5, 6) or not all(parts) or not re.fullmatch(r"[\w.+!]+", "".join(parts)):
        raise SparkforgeError(
            f"{base!r} is not a wheel file name.",
            "Use files named name-version-python-abi-platform.whl, as pip wheel creates them.",
        )
    python, abi, system = parts[-3:]
    return WheelName(
        base, normalised(parts[0]), parts[1], tuple(python.split(".")), tuple(abi.split(".")), tuple(system.split("."))
    )
