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


def check_wheel_fits(wheel: WheelName, python: tuple[int, int], machine: str, glibc: str | None = None) -> None:
    """Refuse a wheel for another interpreter or machine before it is transferred.

    :param glibc: the host's glibc version; without it only pip checks that.
    :raises SparkforgeError: if a tag does not fit; the error names it.
    """
    interpreter_tag = f"cp{python[0]}{python[1]}"

    def fits_python(tag: str) -> bool:
        if tag in (f"py{python[0]}", interpreter_tag):
            return True
        match = re.fullmatch(r"(cp|py)(\d)(\d+)", tag)
        if match is None or int(match.group(2)) != python[0] or int(match.group(3)) > python[1]:
            return False
        return match.group(1) == "py" or "abi3" in wheel.abis

    reason = None
    # Before glibc 2.17 (manylinux2014), there are manylinux tags for x86 only; pip refuses them for other machines.
    too_old = r"manylinux(?:1|2010|_2_(?:\d|1[0-6]))_(?!x86_64|i686)"
    if not any(
        system == "any" or re.fullmatch(rf"(?!{too_old})(linux|manylinux\d*(_\d+_\d+)?)_{re.escape(machine)}", system)
        for system in wheel.platforms
    ):
        is_old = any(re.match(too_old + re.escape(machine), system) for system in wheel.platforms)
        reason = "pip accepts only manylinux2014 and newer on" if is_old else "this host is"
        reason = f"it is for {'.'.join(wheel.platforms)}, but {reason} linux_{machine}"
    elif not any(fits_python(tag) for tag in wheel.pythons) or not any(
        abi in ("none", "abi3", interpreter_tag) for abi in wheel.abis
    ):
        reason = f"it is for {'.'.join(wheel.pythons)}-{'.'.join(wheel.abis)}, but the interpreter is {interpreter_tag}"
    newer = [re.match(r"manylinux_2_(\d{1,4})_", system) for system in wheel.platforms]
    if glibc and not reason and all(tag and int(tag[1]) > int(glibc.split(".")[1]) for tag in newer):
        reason = f"it is for {'.'.join(wheel.platforms)}, but this host has glibc {glibc}"
    if reason:
        raise SparkforgeError(
            f"The wheel {wheel.file} is not for this platform: {reason}.",
            "Use a wheel built for this platform, or choose the Python that it was built for.",
        )
