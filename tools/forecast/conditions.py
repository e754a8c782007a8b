"""The conditions in a ledger's rule: check whether a host meets them, and return the evidence.

Each condition has one key. ``installs``, ``removes``, ``installed`` and ``after`` concern packages, and ``fact``
concerns a fact from :class:`facts.State`; ``any`` and ``not`` combine conditions. A version range, such as ``>= 7.0.0,
< 7.0.0-1025``, uses dpkg's order.
"""

from __future__ import annotations

import operator
import re
import typing as t

from ...plugins.module_utils._apt.deb_version import compare_versions
from . import patterns
from .facts import State

Condition = t.Mapping[str, t.Any]
#: The comparison for each operator on a fact in a rule.
_OPERATORS: dict[str, t.Callable[[int, int], bool]] = {
    ">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt, "==": operator.eq,
}  # fmt: skip
_TERM = re.compile(r"(>=|<=|==|<|>) *(\S+)")
#: The number of evidence entries to show; the rest are only counted.
SHOWN = 6


def within(version: str | None, text: str | None) -> bool:
    """Tell whether a version is in a range; no range means any version."""
    if text is None:
        return True
    terms = [_TERM.fullmatch(term.strip()) for term in text.split(",")]
    return version is not None and all(
        _OPERATORS[term[1]](compare_versions(version, term[2]), 0) for term in terms if term
    )


def met(conditions: t.Sequence[Condition], state: State) -> list[str] | None:
    """Return the host's evidence that all conditions are met, or None if one is not met."""
    evidence: list[str] = []
    for condition in conditions:
        matched = _evidence(condition, state)
        if matched is None:
            return None
        evidence += [word for word in matched if word not in evidence]
    return evidence


def _evidence(condition: Condition, state: State) -> list[str] | None:
    ((kind, operand),) = condition.items()
    if kind == "any":
        matches = [matched for matched in (met([inner], state) for inner in operand) if matched is not None]
        return [word for matched in matches for word in matched] if matches else None
    if kind == "not":
        return [] if met([operand], state) is None else None
    if kind == "fact":
        return _fact(operand, state)
    return _packages(kind, operand, state)


def _packages(kind: str, operand: Condition, state: State) -> list[str] | None:
    name, rows = operand["name"], []
    if kind in ("installs", "removes"):
        for step in state.installs if kind == "installs" else state.removes:
            old, new = step.get("previous"), step.get("version")
            is_in_range = within(new, operand.get("to")) and within(old, operand.get("from"))
            if is_in_range and patterns.matches(name, step["name"]):
                rows.append(f"{step['name']} {old} to {new}" if old and new else f"{step['name']} {new or old or ''}")
    else:
        packages = state.before if kind == "installed" else state.after
        rows = [
            f"{package} {version}"
            for package, version in packages.items()
            if patterns.matches(name, package) and within(version, operand.get("version"))
        ]
    return listed([row.strip() for row in rows]) if rows else None


def _fact(operand: Condition, state: State) -> list[str] | None:
    value = state.facts[operand["name"]]
    if "is" in operand:
        return [] if value == operand["is"] else None
    if "above" in operand:
        unit = {"mib": " MiB", "days": " days"}.get(operand["name"].rpartition("_")[2], "")
        return [f"{value}{unit}"] if value is not None and value > operand["above"] else None
    if "version" in operand:
        # A kernel's flavour, as in 6.17.0-1008-nvidia, is not part of its version.
        version = re.sub(r"-[a-z].*$", "", value) if isinstance(value, str) else None
        return [str(value)] if within(version, operand["version"]) else None
    values = value if isinstance(value, list) else [] if value in (None, False) else [value]
    if "matches" in operand:
        values = [value for value in values if patterns.matches(operand["matches"], str(value))]
    return (listed([str(value) for value in values]) if value is not True else []) if values else None


def listed(evidence: t.Sequence[str]) -> list[str]:
    """Return the first entries, and the number of further ones."""
    more = [f"{len(evidence) - SHOWN} more"] if len(evidence) > SHOWN else []
    return [*evidence[:SHOWN], *more]
