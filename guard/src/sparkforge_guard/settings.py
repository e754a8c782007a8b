"""The guard's settings: a JSON file in which every key is optional."""

from __future__ import annotations

import json
import re
import typing as t

from . import policy
from ._shared.module_utils._core.errors import SparkforgeError

#: Each setting with its default. The README explains each.
DEFAULTS: dict[str, t.Any] = {
    "warn_percent": 10.0, "ask_percent": 6.0, "end_percent": 3.0, "protected": [], "first": [], "last": [], "units": [],
    "textfile": None, "power_cap": 0.0, "clock_cap": 0, "nvml": None, "state_directory": "/var/lib/sparkforge-guard",
}  # fmt: skip
#: Settings that only the installation reads; below them, for tests, paths that replace the kernel's.
INSTALLED: dict[str, t.Any] = {"root": "/opt/sparkforge", "starts": 4, "motd": True}
PLAYED: dict[str, t.Any] = {"proc": "/proc", "meminfo": None}


def read(path: str) -> dict[str, t.Any]:
    """Return all settings.

    :raises SparkforgeError: if the file cannot be read, or has an unknown or malformed setting.
    """
    known = {**DEFAULTS, **INSTALLED, **PLAYED}
    try:
        with open(path, encoding="utf-8") as stream:
            chosen = dict(json.load(stream))
    except (OSError, ValueError, TypeError) as error:
        raise SparkforgeError(
            f"The settings {path} cannot be read: {error}.", 'Write a JSON object, such as {"warn_percent": 10}.'
        ) from None
    for name, value in chosen.items():
        usual = known.get(name, known)
        kinds = (int, float) if isinstance(usual, float) else (str, type(None)) if usual is None else type(usual)
        if not isinstance(value, kinds):
            raise SparkforgeError(
                f"{path} sets {name} to {value!r}: unknown, or a wrong type.", f"The settings are {', '.join(known)}."
            )
    return {**known, **chosen}


def check(settings: t.Mapping[str, t.Any]) -> None:
    """Refuse invalid levels, and patterns that match no process or every process.

    :raises SparkforgeError: if a level or a pattern is invalid.
    """
    warn, ask, end = (settings[name] for name in ("warn_percent", "ask_percent", "end_percent"))
    if not 50 >= warn >= ask > end > 0:
        raise SparkforgeError(
            f"The levels {warn:g}, {ask:g} and {end:g} per cent are not in order.",
            "Set warn_percent to 50 at most, ask_percent below it, and end_percent below that.",
        )
    for name in ("protected", "first", "last"):
        wrong = policy.valid(settings[name])
        if wrong or any(not pattern for pattern in settings[name]):
            raise SparkforgeError(
                f"{name} has the pattern {wrong!r}, which matches everything or nothing.",
                "Name processes or units, such as ollama* or postgresql.service.",
            )
    for name in ("protected", "last"):
        paths = (pattern for pattern in settings[name] if "/" in pattern)
        if loose := next((path for path in paths if not re.match(r"/[\w.@-]", path)), ""):
            raise SparkforgeError(
                f"{name} has the pattern {loose!r}, which any user's control group could match.",
                "Begin it with its slice, such as /user.slice/user-1000.slice/user@1000.service/*/jupyter.service.",
            )
