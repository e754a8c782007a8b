"""Read a host's packages from dpkg's own files, without a subprocess."""

from __future__ import annotations

import re
import typing as t

from .reader import Host

DPKG = "/var/lib/dpkg"
INSTALLED = frozenset({"installed", "triggers-awaited", "triggers-pending"})
BROKEN = frozenset({"half-installed", "half-configured", "unpacked"})

_STATUS_FIELD = re.compile(r"^(Package|Status|Architecture|Version): *(.*)$", re.MULTILINE)


class Packages(t.NamedTuple):
    """The content of ``/var/lib/dpkg/status``."""

    versions: dict[str, str]
    broken: list[dict[str, str]]
    held: list[str]
    architecture: str | None


def parse_status(text: str, architecture: str | None = None) -> Packages:
    """Parse dpkg's status file.

    A package for a foreign architecture is called ``name:architecture``, as in dpkg. Unless the caller passes the
    native architecture, it is taken from dpkg's own stanza.
    """
    rows: list[dict[str, str]] = []
    for field, value in _STATUS_FIELD.findall(text):
        if field == "Package":
            rows.append({})
        if rows:
            # The first occurrence wins; a later one is in a description.
            rows[-1].setdefault(field, value.strip())
    if architecture is None:
        architecture = next((row.get("Architecture") for row in rows if row.get("Package") == "dpkg"), None)
    versions: dict[str, str] = {}
    broken: list[dict[str, str]] = []
    held_packages: list[str] = []
    for row in rows:
        fields = row.get("Status", "").split()
        if len(fields) != 3:
            continue
        want, flag, state = fields
        own = row.get("Architecture", "all")
        name = row["Package"] if own in ("all", architecture) else f"{row['Package']}:{own}"
        if state in INSTALLED and flag == "ok":
            versions[name] = row.get("Version", "")
        if state in BROKEN or flag == "reinstreq":
            broken.append({"name": name, "state": state if flag == "ok" else f"{state}, {flag}"})
        if want == "hold":
            held_packages.append(name)
    return Packages(versions, broken, sorted(held_packages), architecture)


def packages(host: Host) -> Packages:
    """Return the installed, broken and held packages; an interrupted dpkg counts as broken."""
    native = (host.read(f"{DPKG}/arch") or "").split()
    status = parse_status(host.read(f"{DPKG}/status") or "", native[0] if native else None)
    # dpkg writes its journal to updates/; apt refuses to work until `dpkg --configure -a` has merged it.
    if any(name.isdigit() for name in host.names(f"{DPKG}/updates")):
        status.broken.append({"name": "dpkg", "state": "interrupted"})
    return status
