"""The display of `sparkforge top`, fed by one connection per host that sends a line of figures each second."""

from __future__ import annotations

import json
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

GIB = float(1 << 30)
#: Seconds after which figures are outdated, and after which a host is queried again.
OLD, AGAIN = 5.0, 10.0
#: The maximum size of a line of figures in bytes; a host with 100 GPU processes sends 9 KiB.
LONGEST = 64 << 10
#: The maximum number of lines below the table per host, and of characters per line.
NOTES, NOTE = 6, 300


def command(name: str, variables: Mapping[str, Any], folder: Path, root: str = "/opt/sparkforge") -> list[str]:
    """Return the command that reads the figures of a host, over ssh or on this machine."""
    program = ["/usr/bin/python3", "-I", "-B", f"{root}/guard/guard.pyz", "figures", f"{root}/guard/settings.json"]
    if variables.get("ansible_connection") == "local":
        return program
    options = {"BatchMode": "yes", "ConnectTimeout": "5", "ServerAliveInterval": "5", "HostKeyAlias": name,
               "UserKnownHostsFile": f'"{folder / "known_hosts"}" ~/.ssh/known_hosts'}  # fmt: skip
    ssh = ["ssh", *(word for pair in options.items() for word in ("-o", "=".join(pair)))]
    # These arguments may specify a jump host. Values that contain templates are unknown here.
    if "{{" not in (ssh_arguments := str(variables.get("ansible_ssh_common_args") or "")):
        ssh += shlex.split(ssh_arguments)
    if variables.get("ansible_user"):
        ssh += ["-l", str(variables["ansible_user"])]
    if variables.get("ansible_port"):
        ssh += ["-p", str(variables["ansible_port"])]
    if variables.get("ansible_ssh_private_key_file"):
        ssh += ["-i", str(variables["ansible_ssh_private_key_file"])]
    return [*ssh, str(variables.get("ansible_host") or name), shlex.join(program)]


class Source(threading.Thread):
    """The figures of one host, queried again after the connection ends."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.name, self.command = name, command
        self.row: dict[str, Any] = {}
        self.time, self.problem = 0.0, "connecting"

    def run(self) -> None:
        """Read figures, reconnecting whenever the program exits."""
        while True:
            with subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                self.problem = self._read(process)
                process.kill()
            if "guard.pyz" in self.problem:
                self.problem = "no guard on this host: run playbooks/guard.yml"
            time.sleep(AGAIN)

    def _read(self, process: subprocess.Popen[bytes]) -> str:
        """Read figures until the connection ends, and return the reason."""
        assert process.stdout is not None and process.stderr is not None
        while line := process.stdout.readline(LONGEST):
            if not line.endswith(b"\n") and len(line) == LONGEST:
                return f"sent a line of more than {LONGEST >> 10} KiB: install this version's guard"
            try:
                row = json.loads(line, parse_int=_number, parse_float=_number, parse_constant=_number)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                self.row, self.time, self.problem = row, time.monotonic(), ""
        lines = process.stderr.read(LONGEST).decode(errors="replace").strip().splitlines()
        if lines:
            return lines[-1]
        try:
            return f"exited with status {process.wait(1)}"
        except subprocess.TimeoutExpired:
            return "closed its output"


def _number(text: str) -> float:
    """Return a finite number within range."""
    value = float(text)
    if not abs(value) < 2.0**63:
        raise ValueError(f"{text[:20]} is out of range")
    return value


def cells(source: Source) -> tuple[list[str], list[str]]:
    """Return a host's cells, and its lines below the table. Do not trust a host's figures: they can have any type."""
    row, none = source.row, [source.name, "", "", "", "", ""]
    if source.problem or time.monotonic() - source.time > OLD:
        return none, [source.problem or "no figures for 5 s"]
    try:
        memory, devices = row["memory"], row["devices"]
        share = 100 * memory["available"] / max(1, memory["total"])
        memory_text = f"{memory['available'] / GIB:.1f}/{memory['total'] / GIB:.0f} ({share:.0f} %)"
        users = ", ".join(f"{process['name']} {process['gpu'] / GIB:.1f}" for process in row["processes"])
        powers = [_of(device, "power", "limit", "W") for device in devices]
        clocks = [_of(device, "clock", "clock_max", "MHz") for device in devices]
        heat = [*(f"{device['temperature']:.0f} C" for device in devices if device.get("temperature")), *row["slowed"]]
        notes = [
            "its clocks are stuck: unplug it for a minute, do not reboot" for device in devices if device.get("sticks")
        ]
        notes += [f"{unit} is {state}" for unit, state in row["units"].items()]
        notes += [f"{unit} stays off: {why}" for unit, why in row["braked"].items()]
        notes += [str(row["down"])] if row.get("down") else []
        notes += [str(row["guard"])] if row["guard"] else []
        cached = f"{memory['cached'] / GIB:.1f}"
        texts = [source.name, memory_text, cached, users, " ".join([*powers, *clocks]), ", ".join(map(str, heat))]
        return [text[:NOTE] for text in texts], [text[:NOTE] for text in notes[:NOTES]]
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        return none, ["its figures cannot be read: install this version's guard"]


def _of(device: Mapping[str, Any], name: str, most: str, unit: str) -> str:
    value, limit = device.get(name), device.get(most)
    return "" if value is None else f"{value:.0f}" + (f"/{limit:.0f}" if limit else "") + f" {unit}"


def table(sources: Sequence[Source]) -> Group:
    """Return a table with one row per host, and the notes below it."""
    result = Table("Host", "Available, GiB", "Cache", "On the GPU, GiB", "Power, clock", "Heat")
    lines = []
    for source in sources:
        row, notes = cells(source)
        result.add_row(*row)
        lines += [f"{source.name}: {note}" for note in notes]
    return Group(result, *lines)


def show(
    hosts: Mapping[str, Mapping[str, Any]], folder: Path, console: Console, once: bool, root: str = "/opt/sparkforge"
) -> int:
    """Show all hosts, once or every second; return 1 if a host has no figures."""
    sources = [Source(name, command(name, variables or {}, folder, root)) for name, variables in hosts.items()]
    for source in sources:
        source.start()
    if once:
        end = time.monotonic() + AGAIN
        while any(not source.row and source.problem == "connecting" for source in sources) and time.monotonic() < end:
            time.sleep(0.1)
        console.print(table(sources))
        return int(any(not source.row for source in sources))
    with Live(table(sources), console=console, refresh_per_second=1, screen=True) as live:
        while True:
            time.sleep(1)
            live.update(table(sources))
