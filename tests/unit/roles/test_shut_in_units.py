"""Restrictions on the units of the proof's timer, nginx and a model server; tests/integration covers running units."""

import functools
import json
import os.path
import re
import typing as t
from pathlib import Path

import jinja2
import pytest

ROLES = Path(__file__).parents[3] / "roles"
UNITS = ["sparkforge-proof.service.j2", "sparkforge-proof-changed.service.j2"]
RIGHTS = "CAP_CHOWN CAP_KILL CAP_SETGID CAP_SETUID"
#: Restrictions on the units of the proof and nginx.
BOTH = {
    "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateMounts": "yes",
    "ProtectProc": "invisible", "ProtectClock": "yes", "ProtectControlGroups": "yes", "ProtectHostname": "yes",
    "ProtectKernelLogs": "yes", "ProtectKernelModules": "yes", "ProtectKernelTunables": "yes", "NoNewPrivileges": "yes",
    "KeyringMode": "private", "LockPersonality": "yes", "RestrictNamespaces": "yes", "RestrictRealtime": "yes",
    "RestrictSUIDSGID": "yes", "SystemCallArchitectures": "native", "SystemCallErrorNumber": "EPERM",
}  # fmt: skip
#: Restrictions on the model server, which is reachable over the network and reads untrusted models.
SERVER = {
    "ProtectSystem": ["strict"], "ProtectHome": ["tmpfs"], "PrivateTmp": ["true"], "ProtectProc": ["invisible"],
    "ProtectClock": ["true"], "ProtectControlGroups": ["true"], "ProtectHostname": ["true"],
    "ProtectKernelLogs": ["true"], "ProtectKernelModules": ["true"], "ProtectKernelTunables": ["true"],
    "NoNewPrivileges": ["true"], "CapabilityBoundingSet": [""], "LockPersonality": ["true"], "RemoveIPC": ["true"],
    "KeyringMode": ["private"], "RestrictNamespaces": ["true"], "RestrictRealtime": ["true"],
    "RestrictSUIDSGID": ["true"], "RestrictAddressFamilies": ["AF_INET AF_INET6 AF_UNIX AF_NETLINK"],
    "SystemCallArchitectures": ["native"], "SystemCallFilter": ["@system-service", "~@privileged"],
    "DevicePolicy": ["closed"], "DeviceAllow": ["{{ device }} rw"], "IPAddressDeny": ["any"],
    "IPAddressAllow": ["{{ network }}"], "UMask": ["0077"], "StateDirectoryMode": ["0700"],
    "LoadCredential": ["api_key:{{ __serving_key }}"], "LimitMEMLOCK": ["infinity"], "MemorySwapMax": ["0"],
    "MemoryMax": ["{{ serving_memory_max }}"], "StartLimitBurst": ["{{ serving_start_attempts }}"],
}  # fmt: skip
#: Restrictions on the unit that records why the server stopped; it reads a log and writes one file.
STOPPED = {
    "ProtectSystem": ["strict"], "ProtectHome": ["true"], "PrivateTmp": ["true"], "PrivateNetwork": ["true"],
    "NoNewPrivileges": ["true"],
}  # fmt: skip


def proof_unit(name: str, **changed: t.Any) -> dict[str, list[str]]:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROLES / "verify/templates"), trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(to_json=json.dumps, dirname=os.path.dirname, relpath=os.path.relpath)
    environment.tests["match"] = lambda text, pattern: re.match(pattern, text) is not None
    history = changed.pop("history", "/var/log/sparkforge/proof")
    variables = {
        "__verify_plan": {"steps": {"limits": {}, "scheduled": {"history": history}}},
        "__verify_proof": {"program": "/opt/sparkforge/proof/x.pyz"}, "__verify_settings": "/opt/sparkforge/x.json",
        "sparkforge_root": "/opt/sparkforge", "verify_textfile": None, "verify_python": None, **changed,
    }  # fmt: skip
    return lines_of(environment.get_template(name).render(variables))


def nginx_unit(**variables: t.Any) -> dict[str, list[str]]:
    template = jinja2.Template((ROLES / "wheelhouse/templates/unit.conf.j2").read_text())
    return lines_of(template.render({"wheelhouse_port": 8629, "sparkforge_root": "/opt/sparkforge", **variables}))


def lines_of(unit: str) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*?) *$", unit, re.M):
        lines.setdefault(name, []).append(value)
    return lines


@pytest.mark.parametrize("unit", [*(functools.partial(proof_unit, name) for name in UNITS), nginx_unit])
def test_units_of_proof_and_nginx_have_the_common_restrictions(unit: t.Callable[[], dict[str, list[str]]]) -> None:
    lines = unit()
    assert {name: lines.get(name) for name in BOTH} == {name: [value] for name, value in BOTH.items()}
    assert lines["SystemCallFilter"][0] == "@system-service"


@pytest.mark.parametrize("name", UNITS)
def test_unit_of_the_proof_allows_the_needs_of_a_proof(name: str) -> None:
    lines = proof_unit(name)
    assert lines["CapabilityBoundingSet"] == [RIGHTS] and lines["PrivateNetwork"] == ["yes"]
    assert lines["IPAddressAllow"] == ["localhost"] and "MemoryDenyWriteExecute" not in lines
    assert {"char-195 rw", "char-nvidia* rw", "/dev/nvmap rw"} <= set(lines["DeviceAllow"])
    assert lines["LogsDirectory"] == ["sparkforge/proof"]
    assert lines["ReadWritePaths"][0] == '"-/opt/sparkforge" "-/var/log/sparkforge"'


@pytest.mark.parametrize(
    ("changed", "name", "value"),
    [
        ({"verify_textfile": "/var/lib/a %n"}, "CapabilityBoundingSet", RIGHTS),
        ({"verify_textfile": "/srv/a %n"}, "ReadWritePaths", '"-/opt/sparkforge" "-/var/log/sparkforge" "-/srv/a %%n"'),
        ({"verify_python": "/srv/venv/bin/python"}, "CapabilityBoundingSet", f"{RIGHTS} CAP_DAC_OVERRIDE"),
        ({"verify_python": "/usr/bin/python3"}, "CapabilityBoundingSet", RIGHTS),
        ({"verify_python": "/home/ada/venv/bin/python"}, "ProtectHome", "read-only"),
        ({"sparkforge_root": "/home/sparkforge"}, "ProtectHome", "read-only"),
        ({"sparkforge_root": "/homestead"}, "ProtectHome", "yes"),
        ({"history": "/srv/reports"}, "ReadWritePaths", '"-/opt/sparkforge" "-/srv"'),
        ({"history": "/srv/reports"}, "LogsDirectory", None),
    ],
)
def test_unit_of_the_proof_allows_the_paths_of_its_variables(changed: dict[str, t.Any], name: str, value: str) -> None:
    assert proof_unit(UNITS[0], **changed).get(name, [None])[0] == value


def test_unit_of_nginx_may_only_bind_a_low_port() -> None:
    lines = nginx_unit()
    assert lines["User"] == ["www-data"] and lines["CapabilityBoundingSet"] == lines["AmbientCapabilities"] == [""]
    assert lines["MemoryDenyWriteExecute"] == lines["PrivateDevices"] == ["yes"]
    assert nginx_unit(wheelhouse_port=443)["AmbientCapabilities"] == ["CAP_NET_BIND_SERVICE"]
    assert nginx_unit(sparkforge_root="/home/spark")["ProtectHome"] == ["read-only"]


@pytest.mark.parametrize(("name", "expected"), [("serving.service.j2", SERVER), ("stopped.service.j2", STOPPED)])
def test_units_of_a_server_have_the_listed_restrictions(name: str, expected: dict[str, list[str]]) -> None:
    templates = ROLES / "serving/templates"
    shared = (templates / "sandbox.j2").read_text()
    lines = (templates / name).read_text().replace("{% include 'sandbox.j2' %}\n", shared)
    assert {key: re.findall(rf"^{key}=(.*)$", lines, re.M) for key in expected} == expected
    restriction = r"^((?:No|Protect|Private|Restrict|Capability|SystemCallF|IPAddress|Device)\w*)="
    assert set(re.findall(restriction, lines, re.M)) <= set(expected), "the unit has an unlisted restriction"
