"""The plan of the `network_access` role: apt's proxies, the proxies with a password, and the corporate CA."""

from __future__ import annotations

import typing as t

from .. import network_access
from . import Plan


def plan(settings: t.Mapping[str, t.Any], observation: t.Mapping[str, t.Any]) -> Plan:
    """Return the files to write and to remove; their content may include a password."""
    proxies, certificate = settings["sparkforge_proxies"], settings["sparkforge_ca_certificate"]
    faults = network_access.problems(proxies, certificate)
    if faults:
        return Plan(refusals=[fault._asdict() for fault in faults])
    steps: dict[str, t.Any] = {"write": [], "remove": []}
    reasons = []
    managed = observation["managed_files"]
    for path, file in network_access.files(proxies or {}, certificate or "").items():
        is_ca = path == network_access.CA_FILE
        if not file["sha256"]:
            if path in managed:
                reasons.append(f"remove {path}")
                steps["distrust" if is_ca else "remove"] = path if is_ca else [*steps["remove"], path]
        elif managed.get(path) != file["sha256"]:
            reasons.append(f"write {path}")
            row = {"path": path, "content": file["content"], "mode": file["mode"]}
            steps["trust" if is_ca else "write"] = row if is_ca else [*steps["write"], row]
        if is_ca and file["sha256"] and "ca-certificates" not in observation["apt"]["packages"]:
            steps["ca_certificates"] = True
            reasons.insert(0, "install ca-certificates")
    return Plan({name: step for name, step in steps.items() if step}, reasons)
