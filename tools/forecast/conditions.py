# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions of a ledger's rule: whether a host meets them, and what on it does.

Each condition has one key. ``installs``, ``removes``, ``installed`` and ``after`` are about packages, ``fact`` about a
fact of :class:`facts.State`; ``any`` and ``not`` combine. A range of versions is ``>= 7.0.0, < 7.0.0-1025``, in the
order of dpkg.
"""

from __future__ import annotations

import operator
import re
import typing as t

from ...plugins.module_utils._apt.deb_version import compare_versions
from . import patterns
from .facts import State

Condition = t.Mapping[str, t.Any]
#: A fact compared with a word of a rule: how, and what a rule writes for it.
_OPERATORS: dict[str, t.Callable[[int, int], bool]] = {
    ">=": operator.ge, "<=": operator.le, "<": operator.lt, ">": operator.gt, "==": operator.eq,
}  # fmt: skip
_TERM = re.compile(r"(>=|<=|==|<|>) *(\S+)")
#: Of a list of evidence, before the rest is only counted.
SHOWN = 6


def within(version: str | None, text: str | None) -> bool:
    """Tell whether a version is in a range; nothing stands for any."""
    if text is None:
        return True
    terms = [_TERM.fullmatch(term.strip()) for term in text.split(",")]
    return version is not None and all(
        _OPERATORS[term[1]](compare_versions(version, term[2]), 0) for term in terms if term
    )


def met(conditions: t.Sequence[Condition], state: State) -> list[str] | None:
    """Return what on the host meets all of the conditions, in words, or None if one is not met."""
    evidence: list[str] = []
    for condition in conditions:
        found = _one(condition, state)
        if found is None:
            return None
        evidence += [word for word in found if word not in evidence]
    return evidence


def _one(condition: Condition, state: State) -> list[str] | None:
    ((kind, wanted),) = condition.items()
    if kind == "any":
        found = [one for one in (met([inner], state) for inner in wanted) if one is not None]
        return [word for one in found for word in one] if found else None
    if kind == "not":
        return [] if met([wanted], state) is None else None
    if kind == "fact":
        return _fact(wanted, state)
    return _packages(kind, wanted, state)


def _packages(kind: str, wanted: Condition, state: State) -> list[str] | None:
    name, rows = wanted["name"], []
    if kind in ("installs", "removes"):
        for step in state.installs if kind == "installs" else state.removes:
            old, new = step.get("previous"), step.get("version")
            fits = within(new, wanted.get("to")) and within(old, wanted.get("from"))
            if fits and patterns.matches(name, step["name"]):
                rows.append(f"{step['name']} {old} to {new}" if old and new else f"{step['name']} {new or old or ''}")
    else:
        packages = state.before if kind == "installed" else state.after
        rows = [
            f"{package} {version}"
            for package, version in packages.items()
            if patterns.matches(name, package) and within(version, wanted.get("version"))
        ]
    return listed([row.strip() for row in rows]) if rows else None


def _fact(wanted: Condition, state: State) -> list[str] | None:
    value = state.facts[wanted["name"]]
    if "is" in wanted:
        return [] if value == wanted["is"] else None
    if "above" in wanted:
        return [str(value)] if value is not None and value > wanted["above"] else None
    if "version" in wanted:
        # A kernel's flavour is no part of its version: 6.17.0-1008-nvidia.
        bare = re.sub(r"-[a-z].*$", "", value) if isinstance(value, str) else None
        return [str(value)] if within(bare, wanted["version"]) else None
    values = value if isinstance(value, list) else [] if value in (None, False) else [value]
    if "matches" in wanted:
        values = [one for one in values if patterns.matches(wanted["matches"], str(one))]
    return (listed([str(one) for one in values]) if value is not True else []) if values else None


def listed(words: t.Sequence[str]) -> list[str]:
    """Return the first words, and how many more there are."""
    more = [f"{len(words) - SHOWN} more"] if len(words) > SHOWN else []
    return [*words[:SHOWN], *more]
