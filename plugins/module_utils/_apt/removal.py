"""Determine which installed packages can be removed, from their dependencies and apt's own choices."""

from __future__ import annotations

import re
import typing as t

from .._host.apt_state import paragraphs
from .._host.dpkg import BROKEN, INSTALLED


class Installed(t.NamedTuple):
    """The fields of an installed package that affect removal."""

    depends: list[list[str]]  # a list of alternatives for each dependency
    provides: list[str]


def parse_dependencies(status: str, native: str | None = None) -> dict[str, Installed]:
    """Parse the dependencies of installed packages in dpkg's status file (Depends and Pre-Depends)."""
    packages = {}
    for stanza in status.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Architecture|Depends|Pre-Depends|Provides): *(.*)$", stanza, re.M))
        if "Package" not in fields or fields.get("Status", "").rpartition(" ")[2] not in INSTALLED | BROKEN:
            continue
        own = fields.get("Architecture", "all")
        name = fields["Package"] if native is None or own in ("all", native) else f"{fields['Package']}:{own}"
        relations = (part for field in ("Pre-Depends", "Depends") for part in fields.get(field, "").split(","))
        clauses = [[_bare(alternative) for alternative in part.split("|")] for part in relations if part.strip()]
        provides = [_bare(part) for part in fields.get("Provides", "").split(",") if part.strip()]
        packages[name] = Installed(clauses, provides)
    return packages


def _bare(relation: str) -> str:
    return re.split(r"[\s:(\[]", relation.strip(), maxsplit=1)[0]


def removable(brought: t.Iterable[str], installed: t.Mapping[str, Installed]) -> set[str]:
    """Return the packages in ``brought`` that no other package depends on, directly or indirectly."""
    removable_names = {name for name in brought if name in installed}
    while True:
        remaining_names = [name for name in installed if name not in removable_names]
        offered = {name.split(":")[0] for name in remaining_names}
        for name in remaining_names:
            offered.update(installed[name].provides)
        needed: set[str] = set()
        for name in remaining_names:
            for alternatives in installed[name].depends:
                if offered.isdisjoint(alternatives):
                    needed.update(
                        package
                        for package in removable_names
                        if package.split(":")[0] in alternatives
                        or not set(installed[package].provides).isdisjoint(alternatives)
                    )
        if not needed:
            return removable_names
        removable_names -= needed


def parse_extended_states(text: str) -> set[str]:
    """Return the packages that apt itself chose (``Auto-Installed: 1``), from its extended_states."""
    return {row["package"] for row in paragraphs(text) if row.get("auto-installed") == "1" and "package" in row}
