"""A host that preflight judges for a stack, and the format of its problems."""

from __future__ import annotations

import dataclasses
import typing as t

from ..stack.model import Stack

Problem = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Case:
    """A host that is judged for a stack.

    :ivar observation: the result of the module ``spark_info``.
    :ivar stack: the fact ``stack``.
    :ivar settings: ``gpu_required``, ``accept_license`` (bool),
        ``disk`` (list of ``path``, ``gib``, ``purpose``), ``memory_minimum_gib``, ``clock_tolerance`` (s),
        ``apt_wait`` (s), ``packages`` (apt packages that the stack needs), ``rdma`` (bool), ``cuda_url``.
    """

    observation: t.Mapping[str, t.Any]
    stack: Stack
    settings: t.Mapping[str, t.Any]

    def part(self, name: str) -> t.Mapping[str, t.Any]:
        return self.observation.get(name) or {}

    @property
    def name(self) -> str:
        return str(self.stack.get("name", "the stack"))

    @property
    def severity(self) -> str:
        """The severity of a GPU's fault: only a warning on a host that needs no GPU."""
        return "error" if self.settings.get("gpu_required", True) else "warning"

    @property
    def devices(self) -> list[t.Mapping[str, t.Any]]:
        return list(self.part("gpu").get("devices") or [])


def problem(check: str, cause: str, remedy: str, severity: str = "error") -> Problem:
    return {"check": check, "cause": cause, "remedy": remedy, "severity": severity}
