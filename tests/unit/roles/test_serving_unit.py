# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the units of a server take from their processes, line by line; tests/integration has what runs asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[3] / "roles/serving/templates"
#: Of the server, which the network reaches and which reads what others made.
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
#: Of what says why the server stays off: it reads its log and writes one file.
STOPPED = {
    "ProtectSystem": ["strict"], "ProtectHome": ["true"], "PrivateTmp": ["true"], "PrivateNetwork": ["true"],
    "NoNewPrivileges": ["true"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), [("serving.service.j2", SERVER), ("stopped.service.j2", STOPPED)])
def test_nothing_that_a_unit_takes_from_its_processes_is_given_back(name: str, expected: dict[str, list[str]]) -> None:
    shared = (TEMPLATES / "sandbox.j2").read_text()
    lines = (TEMPLATES / name).read_text().replace("{% include 'sandbox.j2' %}\n", shared)
    found = {key: re.findall(rf"^{key}=(.*)$", lines, re.M) for key in expected}
    assert found == expected
    taking = r"^((?:No|Protect|Private|Restrict|Capability|SystemCallF|IPAddress|Device)\w*)="
    assert set(re.findall(taking, lines, re.M)) <= set(expected), "a line of the unit that no test names"
