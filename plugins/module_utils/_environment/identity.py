"""The identity of the requested environment: its interpreter, its wheels, and the resulting id."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import typing as t

from .._core.errors import SparkforgeError
from .._wheel import requirement, tags
from .._wheel.environment import fingerprint
from .._wheel.wheel import Wheel
from . import observation
from .model import ENGLISH, Options, Run

#: The oldest interpreter whose venv and pip are supported.
OLDEST_PYTHON = (3, 9)


class UndeterminedError(Exception):
    """In check mode, the id depends on an earlier step that has not run."""


@dataclasses.dataclass(frozen=True)
class Identity:
    """The identity of the requested environment.

    :ivar version: the version of the interpreter; unknown for an existing environment.
    """

    environment_id: str
    fingerprint: str
    python: str
    version: tuple[int, int] = (0, 0)
    wheels: t.Sequence[Wheel] = ()


def identify(options: Options, run: Run) -> Identity:
    """Return the identity of the requested environment.

    An ``environment_id`` with nothing to install refers to an existing environment, for a rollback.

    :raises SparkforgeError: if that environment is missing, or the interpreter or a wheel is unusable.
    :raises UndeterminedError: in check mode.
    """
    target = options.environment_id
    if not options.installs:
        receipt = observation.own_receipt(options.paths, target) if target else None
        if target is None or receipt is None:
            cause = "Neither requirements nor wheels are set, so there is nothing to install."
            if target:
                cause = f"There is no environment {target} of {options.paths.name}, and no wheels to create it from."
            raise SparkforgeError(
                cause,
                "Set the lock's requirements; installed here: "
                f"{', '.join(observation.environments(options.paths)) or 'nothing'}.",
            )
        return Identity(target, receipt["fingerprint"], receipt["python"]["path"])
    python, version = _find_python(options, run)
    wheels = _read_wheels(options, version)
    pins = options.requirements
    # A wheel whose hash a requirement lists adds nothing: the same wheel from an index gives the same environment.
    own = (
        wheel.sha256
        for wheel in wheels
        if not any(pin.name == wheel.name and wheel.sha256 in pin.hashes for pin in pins)
    )
    identity = fingerprint(version, options.machine, (pin.line for pin in pins), own)
    return Identity(target or identity[:12], identity, python, version, wheels)


def _find_python(options: Options, run: Run) -> tuple[str, tuple[int, int]]:
    """Find the interpreter and its version, taken from its file name if possible."""
    option = options.python
    if "/" in option:
        path: str | None = option if os.access(option, os.X_OK) and os.path.isfile(option) else None
    else:
        program = option if option.startswith("python") else f"python{option}"
        search = os.pathsep.join(["/usr/bin", "/usr/local/bin", os.environ.get("PATH", "")])
        path = shutil.which(program, path=search)
    match = re.fullmatch(r"(?:python)?(\d+)\.(\d+)", os.path.basename(os.path.realpath(path) if path else option))
    if path is None and options.check_mode and not match:
        raise UndeterminedError
    if path is None and not options.check_mode:
        label = option if "/" in option or option.startswith("python") else f"Python {option}"
        package = f"python{match.group(1)}.{match.group(2)}-venv" if match else "the python3-venv of your system"
        raise SparkforgeError(
            f"The interpreter {label} is not on this host.", f"Run the role build_toolchain, or: apt install {package}"
        )
    python = path or option
    if match is None:
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        rc, out, err = run([python, "-I", "-c", code], environ_update=ENGLISH)
        match = re.fullmatch(r"(\d+)\.(\d+)\s*", out) if rc == 0 else None
        if match is None:
            message = requirement.clip((err or out).strip())
            raise SparkforgeError(
                f"{python} does not report its Python version: {message}.",
                "Set the path or the version of a CPython interpreter.",
            )
    version = (int(match.group(1)), int(match.group(2)))
    if version < OLDEST_PYTHON:
        raise SparkforgeError(
            f"{python} is Python {version[0]}.{version[1]}; "
            f"{OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} is the oldest supported version.",
            "Choose a newer interpreter from the stack's version range.",
        )
    return python, version


def _read_wheels(options: Options, version: tuple[int, int]) -> list[Wheel]:
    wheels = []
    for item in options.wheels:
        entry = {"path": item} if isinstance(item, str) else dict(item)
        # Use only the file name; the path is one on the controller, which sends the file.
        path, digest = str(entry.get("path") or entry.get("file") or ""), str(entry.get("sha256") or "").lower()
        if set(entry) not in ({"path"}, {"path", "sha256"}, {"file", "sha256"}) or not path:
            raise SparkforgeError(
                f"The wheel {item!r} is neither a path nor a mapping of path and sha256.", "Correct the option wheels."
            )
        name = tags.check_wheel_fits(path, version, options.machine)
        if digest and not requirement.SHA256.fullmatch(digest):
            raise SparkforgeError(
                f"{digest!r} is not the sha256 of {name.file}.", "Use the 64 hexadecimal digits that sha256sum prints."
            )
        if not digest:
            raise SparkforgeError(f"The wheel {name.file} has no sha256.", "Run this module through its action plugin.")
        path = os.path.join(options.paths.wheels, digest, name.file)
        wheels.append(Wheel(name.file, digest, name.distribution, name.version, path=path))
    return wheels
