"""Errors in variables that roles share: unusable values of the right type. preflight reports them before any change."""

from __future__ import annotations

import re
import typing as t

from .. import network_access

_ROOT = re.compile(r"(/[A-Za-z0-9._+-]+)+/?")
_ACCOUNT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def faults(settings: t.Mapping[str, t.Any]) -> list[dict[str, str]]:
    """Return the cause and the remedy of each error."""
    rows = []
    root = str(settings["sparkforge_root"])
    if not _ROOT.fullmatch(root) or ".." in root.split("/"):
        remedy = "Set it to an absolute path of letters, digits, '.', '_', '+' and '-', such as /opt/sparkforge."
        rows.append({"cause": f"sparkforge_root is {root!r}.", "remedy": remedy})
    for variable, default in (("sparkforge_user", "sparkforge"), ("verify_user", "nobody")):
        name = str(settings.get(variable, default))
        if not _ACCOUNT.fullmatch(name):
            rows.append({"cause": f"{variable} is {name!r}.", "remedy": f"Set it to an account such as {default}."})
    if settings["stack"].get("method") == "build" and settings.get("sparkforge_user") == "root":
        cause = "sparkforge_user is root, and a source's build scripts must not run as root."
        rows.append({"cause": cause, "remedy": "Set it to an unprivileged account; it is created if missing."})
    proxies, certificate = settings.get("sparkforge_proxies", {}), settings.get("sparkforge_ca_certificate", "")
    return [*rows, *(problem._asdict() for problem in network_access.problems(proxies, certificate))]
