"""Whether a wheel fits an interpreter and a machine, according to its tags."""

from __future__ import annotations

import re

from .._core.errors import SparkforgeError
from .names import WheelName, parse_wheel_name


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
    return wheel
