# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requirements and names of wheels: pinned, hashed, and whether they fit an interpreter."""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import urllib.parse

from .._core.errors import SparkforgeError
from .._core.redact import redact

SHA256 = re.compile(r"[0-9a-f]{64}")
_HASH_OPTION = re.compile(r"\s--hash=(?P<algorithm>[a-z0-9]+):(?P<digest>\S+)")
_NAME_ENDS = re.compile(r"[\s=<>!~;\[@]")
_VERSION = re.compile(r"[^\s=<>!~;\[@]+\s*(?:\[[^\]]*\])?\s*===?\s*([^\s;,]+)")
_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*"
    r"(?:===?\s*[A-Za-z0-9][A-Za-z0-9.!+_-]*|@\s*\S+)\s*(?:;[^#]*)?"
)


@dataclasses.dataclass(frozen=True, order=True)
class Requirement:
    """One line of a lock, or of a file of requirements, taken apart.

    :ivar name: normalised (PEP 503).
    :ivar pin: the line without its hashes: ``torch==2.9.1``.
    :ivar hashes: the sha256 of the files that it allows, sorted.
    """

    name: str
    pin: str
    hashes: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The whole line. It is canonical: the same pin always reads the same."""
        return " ".join([self.pin, *(f"--hash=sha256:{digest}" for digest in self.hashes)])

    @property
    def written(self) -> str:
        """The name as the line has it."""
        return _NAME_ENDS.split(self.pin, maxsplit=1)[0]

    @property
    def version(self) -> str:
        """The version that it pins, empty where it has a URL, a range or nothing instead."""
        found = _VERSION.match(self.pin)
        return found[1] if found else ""


@dataclasses.dataclass(frozen=True)
class WheelName:
    """What the file name of a wheel says (PEP 427)."""

    file: str
    distribution: str
    version: str
    pythons: tuple[str, ...]
    abis: tuple[str, ...]
    platforms: tuple[str, ...]


def normalised(name: str) -> str:
    """Return the name of a distribution as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def split(text: str) -> Requirement:
    """Take one line apart, whatever it is; what is no sha256 is no hash of it."""
    line = " ".join(text.replace("\\\n", " ").split())
    pin = _HASH_OPTION.sub("", f" {line}").strip()
    hashes = {found["digest"] for found in _HASH_OPTION.finditer(f" {line}") if found["algorithm"] == "sha256"}
    return Requirement(normalised(_NAME_ENDS.split(pin, maxsplit=1)[0]), pin, tuple(sorted(hashes)))


def parse_requirement(text: str) -> Requirement:
    """Read one requirement, which must be pinned and carry a sha256.

    :raises SparkforgeError: naming the requirement that is not.
    """
    found = split(text)
    line, pin = " ".join(text.replace("\\\n", " ").split()), found.pin
    remedy = "Write it as name==version --hash=sha256:<64 hex digits>, as playbooks/lock.yml does."
    match = _PINNED.fullmatch(pin)
    if "\n" in text.replace("\\\n", "") or " -" in f" {pin}" or match is None:
        raise SparkforgeError(f"The requirement {short(redact(text))!r} is not one pinned name.", remedy)
    if redact(pin) != pin:
        raise SparkforgeError(
            f"The requirement {short(redact(pin))!r} has a password or a token in its URL, which receipts would show.",
            "Move it to the index URL or to pip's configuration.",
        )
    options = list(_HASH_OPTION.finditer(f" {line}"))
    if not options:
        raise SparkforgeError(f"The requirement {redact(pin)!r} has no hash.", remedy)
    for option in options:
        if option["algorithm"] != "sha256" or not SHA256.fullmatch(option["digest"]):
            raise SparkforgeError(
                f"The requirement {redact(pin)!r} has the hash "
                f"{short(option['algorithm'] + ':' + option['digest'])!r}, which is not a sha256.",
                remedy,
            )
    return dataclasses.replace(found, name=normalised(match["name"]))


def place_option(option: str, place: str) -> str:
    """Return the line of a requirements file that says where to look: one option, whatever is in ``place``.

    :raises SparkforgeError: for a character that ends a line, behind which pip would read options of its own; for what
        cannot be a URL.
    """
    if re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029]", place):
        raise SparkforgeError(
            f"{option} has {short(redact(place))!r}, which contains a character that is invalid in URLs and paths.",
            f"Correct {option}.",
        )
    try:
        urllib.parse.urlsplit(place)
    except ValueError as error:
        raise SparkforgeError(
            f"{option} has {short(redact(place))!r}, which is not a URL: {error}.", f"Correct {option}."
        ) from error
    return f"--{option.replace('_', '-')} {shlex.quote(place)}"


def parse_wheel_name(file: str) -> WheelName:
    """Read the file name of a wheel.

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
        base,
        normalised(parts[0]),
        parts[1],
        tuple(python.split(".")),
        tuple(abi.split(".")),
        tuple(system.split(".")),
    )


def check_wheel_fits(wheel: WheelName, python: tuple[int, int], machine: str) -> None:
    """Refuse a wheel for another interpreter or machine before anything is transferred.

    :raises SparkforgeError: naming the tag that does not fit. pip has the last word on glibc versions.
    """
    ours = f"cp{python[0]}{python[1]}"

    def fits_python(tag: str) -> bool:
        if tag in (f"py{python[0]}", ours):
            return True
        match = re.fullmatch(r"(cp|py)(\d)(\d+)", tag)
        if match is None or int(match.group(2)) != python[0] or int(match.group(3)) > python[1]:
            return False
        return match.group(1) == "py" or "abi3" in wheel.abis

    reason = None
    if not any(
        system == "any" or re.fullmatch(rf"(linux|manylinux\d*(_\d+_\d+)?)_{re.escape(machine)}", system)
        for system in wheel.platforms
    ):
        reason = f"it is for {'.'.join(wheel.platforms)}, but this host is linux_{machine}"
    elif not any(fits_python(tag) for tag in wheel.pythons) or not any(
        abi in ("none", "abi3", ours) for abi in wheel.abis
    ):
        reason = f"it is for {'.'.join(wheel.pythons)}-{'.'.join(wheel.abis)}, but the interpreter is {ours}"
    if reason:
        raise SparkforgeError(
            f"The wheel {wheel.file} is not for this platform: {reason}.",
            "Use a wheel built for this platform, or choose the Python that it was built for.",
        )


def short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."
