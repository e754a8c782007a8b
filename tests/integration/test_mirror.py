# Copyright (c) 2026 The sparkforge maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The site on a host without a route out, from a directory that playbooks/mirror.yml collected."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab import bench as benches
from lab import image
from tests import upstream
from tests.integration.conftest import CHECKOUT, Host, Play, running
from tests.integration.test_build import VARIABLES, lock, write_stack

pytestmark = pytest.mark.long


@dataclass
class Site:
    """A host whose only way leads to the mirror, and how the mirror was collected."""

    host: Host
    directory: Path
    checked: Play
    collected: Play
    again: Play
    url: str

    def run(self, playbook: str, **variables: object) -> Play:
        extra = {**self.variables(), "sparkforge_mirror_url": self.url}
        return self.host.run(playbook, "-e", json.dumps({**VARIABLES, **variables, **extra}))

    def variables(self) -> dict[str, object]:
        return yaml.safe_load((self.directory / "mirror-vars.yml").read_text())


def collect(host: Host, directory: Path, *arguments: str, **variables: object) -> Play:
    """Run the playbook as a person does on the connected machine, which here reaches the lab's mirror by address."""
    mirror = host.mirror
    here = {
        **VARIABLES,
        "mirror_host": host.name,
        "mirror_directory": str(directory),
        "mirror_machines": [host.machine],
        "stack_meanwhile": "",
        "sparkforge_nvidia_url": mirror["url_here"],
        "mirror_index_url": "none",
        "mirror_find_links": [f"{mirror['url_here']}/wheels/"],
        "sparkforge_rewrite": {upstream.ELSEWHERE: f"{mirror['url_here']}/git/"},
    }
    return host.run("mirror", *arguments, **{**here, **variables})


def isolate(host: Host) -> None:
    """Leave the host one address that it can reach, this machine's on the bridge: no gateway, no neighbours."""
    process = image.podman("inspect", host.container, "--format", "{{.State.Pid}}").stdout.strip()
    gateway = benches.bridge_address()

    def ip(*words: str) -> str:
        done = subprocess.run(["nsenter", "-t", process, "-n", "ip", *words], check=True, capture_output=True, text=True)
        return done.stdout

    device = json.loads(ip("-j", "route", "get", gateway))[0]["dev"]
    # Before the rest goes: what answers this machine's ssh must be known.
    ip("route", "add", f"{gateway}/32", "dev", device)
    for route in json.loads(ip("-j", "route")):
        if route["dst"] != gateway:
            ip("route", "del", route["dst"])


def serve(host: Host, directory: Path) -> tuple[str, subprocess.Popen[bytes]]:
    """Serve a directory over HTTPS as plain files; return its URL, and the server that the caller ends."""
    bench = benches.Bench.load(host.bench)
    assert bench
    directory.mkdir(exist_ok=True)
    gateway = benches.bridge_address()
    port = benches._free_port(gateway)
    words = ["--root", directory, "--bind", gateway, "--port", port, "--name", benches.MIRROR_NAME]
    words += ["--cert", bench.folder / "mirror.pem", "--key", bench.folder / "mirror.key", "--ca", bench.folder / "ca.pem"]
    words += ["--log", directory.parent / "served.log"]
    command = [sys.executable, "-m", "lab.serve", *map(str, words)]
    with (directory.parent / "served.out").open("wb") as printed:
        process = subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed)
    benches._wait_for_server(gateway, port, process, directory.parent / "served.out")
    return f"https://{benches.MIRROR_NAME}:{port}", process
