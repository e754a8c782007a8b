"""Plans: the pending work of a role on an observed host, computed once by a pure function per role."""

from __future__ import annotations

import dataclasses
import hashlib
import typing as t

from ...module_utils._apt.request import missing

#: The variables with which a site changes a unit, and the role whose plan combines it with the other layers.
CHANGED_BY = {
    "llvm_unit": "llvm",
    "triton_unit": "triton",
    "pytorch_unit": "pytorch",
    "torch_extensions": "torch_extensions",
}


@dataclasses.dataclass(frozen=True)
class Plan:
    """The plan of a role: its tasks act on it, and status.yml prints it.

    :ivar steps: the input of each task, by step name; a task without a step does not run.
    :ivar reasons: descriptions of the steps: ``install cmake``.
    :ivar refusals: the reasons against any change, each with ``cause`` and ``remedy``.
    :ivar notes: further facts that a user may want to know.
    """

    steps: t.Mapping[str, t.Any] = dataclasses.field(default_factory=dict)
    reasons: t.Sequence[str] = ()
    refusals: t.Sequence[t.Mapping[str, str]] = ()
    notes: t.Sequence[str] = ()

    def as_result(self) -> dict[str, t.Any]:
        """Return the plan in the format for tasks.

        ``refused`` contains all refusals in one text; ``settled`` tells that there is neither a step nor a refusal.
        """
        refused = "\n".join(f"{refusal['cause']} {refusal['remedy']}".strip() for refusal in self.refusals)
        return {**dataclasses.asdict(self), "refused": refused, "settled": not self.steps and not refused}


def for_wheels(settings: t.Mapping[str, t.Any]) -> bool:
    """Tell whether the host gets only the parts that official wheels lack."""
    return bool((settings.get("stack") or {}).get("libraries") == "wheels")


def is_written(path: str, content: str, observation: t.Mapping[str, t.Any]) -> bool:
    """Tell whether a file written by the collection has this content on the host."""
    digest = observation.get("managed_files", {}).get(path)
    return bool(digest == hashlib.sha256(content.encode()).hexdigest())


def packages(names: t.Sequence[str], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the plan that installs ``names`` if some of them are missing."""
    missing_names = missing(names, observation["apt"]["packages"])
    return Plan({"packages": list(names)} if missing_names else {}, [f"install {name}" for name in missing_names])
