"""The state of one PyTorch build while its plan is computed, with the problems so far."""

from __future__ import annotations

import typing as t
from pathlib import Path

import yaml

from ...module_utils._core.versions import numbers
from ..stack.model import Stack

#: Facts about PyTorch's build that do not depend on the host.
KNOWN: dict[str, t.Any] = yaml.safe_load(Path(__file__).with_name("pytorch.yml").read_text(encoding="utf-8"))
_FALSE = ("0", "off", "no", "false", "n", "")


class Build:
    """One PyTorch build on one host, computed step by step; ``problems`` collects the errors."""

    def __init__(self, stack: Stack, observation: t.Mapping[str, t.Any], settings: t.Mapping[str, t.Any]) -> None:
        self.stack = stack
        self.settings = settings
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.missing: list[str] = []
        self.root = str(settings.get("root") or "/opt/sparkforge").rstrip("/")
        self.version = str(settings.get("version") or stack["versions"]["torch"])
        # A commit may begin with digits as well.
        self.release = numbers(self.version) if "." in self.version else ()
        self.cuda = bool(settings["cuda"])
        self.machine = str(observation["kernel"]["machine"])
        self.multiarch = f"{self.machine}-linux-gnu"
        self.packages: t.Mapping[str, str] = observation["apt"]["packages"]
        self.loader: t.Mapping[str, str] = (observation.get("loader") or {}).get("libraries") or {}
        self.toolkits: t.Sequence[t.Mapping[str, t.Any]] = observation.get("cuda_toolkits") or []
        self.devices: t.Sequence[t.Mapping[str, t.Any]] = (observation.get("gpu") or {}).get("devices") or []
        #: The unit's options from the stack and the user.
        self.unit: t.Mapping[str, t.Any] = settings.get("unit") or {}
        self.given: dict[str, str] = {}
        self.toolkit = ""
        self.environment: dict[str, str] = {}
        self.edits: list[dict[str, t.Any]] = []
        self.depends: list[str] = []  # units that it is linked with
        self.architectures: list[str] = []
        self.libraries: list[str] = []  # SONAMEs that some built file must be linked with
        self.against: dict[str, dict[str, str]] = {}  # the host's libraries, as in the unit's option libraries
        self.cache: dict[str, str] = {}
        self.unit_of_role: dict[str, t.Any] = {}


def asks_for(build: Build, name: str) -> bool:
    """Tell whether a library is requested; the user's own setting takes precedence."""
    word = (build.unit.get("environment") or {}).get(f"USE_{name.upper()}")
    if word is None:
        return build.cuda and name in (build.settings["libraries"] or [])
    return true(word)


def true(value: t.Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _FALSE
    return bool(value)
