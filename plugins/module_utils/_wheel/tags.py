"""Whether a wheel fits an interpreter and a machine, according to its tags."""

from __future__ import annotations

import re

from .._core.errors import SparkforgeError
from .names import WheelName, parse_wheel_name

#: The old names of manylinux tags, by the minor version of their glibc.
OLD_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


def oldest_glibc(machine: str) -> int:
    """Return the minor version of the oldest glibc whose manylinux tags pip accepts on a machine."""
    return 5 if machine in ("x86_64", "i686") else 17


def _glibc_of(system: str) -> int | None:
    """Return the minor version of the glibc of a manylinux tag, or None for another tag."""
    if match := re.match(r"manylinux_2_(\d{1,4})_", system):
        return int(match[1])
    return next((minor for minor, name in OLD_NAMES.items() if system.startswith(f"{name}_")), None)


def check_wheel_fits(file: str, python: tuple[int, int], machine: str, glibc: str | None = None) -> WheelName:
    """Return the parsed name of a wheel; refuse one for another interpreter or machine before it is transferred.

    :param glibc: the host's glibc version; without it only pip checks that.
    :raises SparkforgeError: if a tag does not fit; the error names it.
    """
    wheel = parse_wheel_name(file)
    interpreter_tag = f"cp{python[0]}{python[1]}"

    def fits_python(tag: str) -> bool:
        if tag in (f"py{python[0]}", interpreter_tag):
            return True
        match = re.fullmatch(r"(cp|py)(\d)(\d+)", tag)
        if match is None or int(match.group(2)) != python[0] or int(match.group(3)) > python[1]:
            return False
        return match.group(1) == "py" or "abi3" in wheel.abis

    reason = None
    of_machine = re.compile(rf"any|(linux|manylinux\d*(_\d+_\d+)?)_{re.escape(machine)}")
    minors = [_glibc_of(system) for system in wheel.platforms if of_machine.fullmatch(system)]
    oldest = oldest_glibc(machine)
    if all(minor is not None and minor < oldest for minor in minors):
        reason = f"pip accepts only {OLD_NAMES[oldest]} and newer on" if minors else "the host is"
        reason = f"it is for {'.'.join(wheel.platforms)}, but {reason} linux_{machine}"
    elif not any(fits_python(tag) for tag in wheel.pythons) or not any(
        abi in ("none", "abi3", interpreter_tag) for abi in wheel.abis
    ):
        reason = f"it is for {'.'.join(wheel.pythons)}-{'.'.join(wheel.abis)}, but the interpreter is {interpreter_tag}"
    if glibc and not reason and all(minor and minor > int(glibc.split(".")[1]) for minor in minors):
        reason = f"it is for {'.'.join(wheel.platforms)}, but the host has glibc {glibc}"
    if reason:
        raise SparkforgeError(
            f"The wheel {wheel.file} is not for this platform: {reason}.",
            f"Use a wheel for {interpreter_tag} on linux_{machine}, or build one there from the project's source.",
        )
    return wheel
